//! `sarl data`.

use std::path::PathBuf;

use sarl_data::Places;
use serde_json::{Value, json};

use crate::args::{Data, DataAction, Global};
use crate::failure::Outcome;
use crate::progress::Download;
use crate::sheet::Sheet;
use crate::{output, terminal};

pub fn run(options: &Data, global: &Global) -> Outcome {
    match &options.action {
        DataAction::List => list(global),
        DataAction::Get { name } => get(name, global),
    }
}

fn list(global: &Global) -> Outcome {
    let all = sarl_data::datasets();
    if global.json {
        let sets: Vec<_> = all
            .iter()
            .map(|d| {
                let file = |f: &sarl_data::DatasetFile| {
                    let remote = f.remote.as_ref();
                    json!({
                        "name": f.name,
                        "url": remote.map(|r| r.url),
                        "bytes": remote.map(|r| r.bytes),
                        "sha256": remote.map(|r| r.sha256),
                        "path": d.find(f.name).as_deref().map(output::path_json),
                    })
                };
                let table = |t: &sarl_data::DatasetTable| {
                    json!({ "name": t.name, "from": t.from, "path": d.find(t.name).as_deref().map(output::path_json) })
                };
                json!({
                    "name": d.name,
                    "description": d.description,
                    "source": d.source,
                    "licence": d.licence,
                    "files": d.files.iter().map(file).collect::<Vec<_>>(),
                    "tables": d.tables.iter().map(table).collect::<Vec<_>>(),
                })
            })
            .collect();
        return output::print_json(&json!({ "datasets": sets }));
    }
    let rows = all.iter().map(|d| {
        let all = d.files.iter().map(|f| f.name).chain(d.tables.iter().map(|t| t.name));
        let here = all.clone().filter(|name| d.find(name).is_some()).count();
        let here = format!("{here} of {} files", all.count());
        vec![d.name.to_owned(), here, d.description.to_owned(), d.source.to_owned()]
    });
    let header = ["name", "here", "what it is", "source"];
    // An address is copied: it stays in one line.
    output::print(&Sheet::new(&header, rows.collect(), |_| false).plain())?;
    let folders = sarl_data::data_folders();
    let folders: Vec<String> = folders.iter().map(|f| terminal::path(f)).collect();
    output::print(&format!("looked for in {}", folders.join(", ")))
}

fn get(name: &str, global: &Global) -> Outcome {
    let dataset = sarl_data::dataset(name)?;
    let mut download = Download::new(global.quiet);
    let fetched = dataset
        .fetch(&Places::from_env(), &mut |file, t| download.at(file.name, t.done, t.total))?;
    drop(download);
    if let Some(advice) = &fetched.advice {
        let missing = fetched.missing.join(" and ");
        output::note(global, &format!("{missing} cannot be downloaded; {advice}"));
    }
    if global.json {
        return output::print_json(&json!({
            "name": name,
            "files": paths_json(&fetched.files),
            "tables": paths_json(&fetched.tables),
            "missing": fetched.missing,
            "advice": fetched.advice,
        }));
    }
    let paths = fetched.files.iter().chain(&fetched.tables);
    let lines: Vec<String> = paths.map(|p| terminal::path(p)).collect();
    output::print(&lines.join("\n"))
}

fn paths_json(paths: &[PathBuf]) -> Vec<Value> {
    paths.iter().map(|path| output::path_json(path)).collect()
}
