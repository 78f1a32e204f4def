//! `sarl data`.

use serde_json::json;

use crate::args::{Data, DataAction, Global};
use crate::failure::Outcome;
use crate::output;

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
                    json!({ "name": f.name, "url": f.url, "path": d.find(f.name) })
                };
                json!({
                    "name": d.name,
                    "description": d.description,
                    "source": d.source,
                    "licence": d.licence,
                    "files": d.files.iter().map(file).collect::<Vec<_>>(),
                })
            })
            .collect();
        return output::print_json(&json!({ "datasets": sets }));
    }
    let rows = all.iter().map(|d| {
        let here = d.files.iter().filter(|f| d.find(f.name).is_some()).count();
        let here = format!("{here} of {} files", d.files.len());
        vec![d.name.to_owned(), here, d.description.to_owned(), d.source.to_owned()]
    });
    let header = ["name", "here", "what it is", "source"];
    output::print(&output::table(&header, rows.collect(), |_| false))?;
    let folders = sarl_data::data_folders();
    let folders: Vec<String> = folders.iter().map(|f| f.display().to_string()).collect();
    output::print(&format!("looked for in {}", folders.join(", ")))
}

fn get(name: &str, global: &Global) -> Outcome {
    let paths = sarl_data::dataset(name)?.fetch()?;
    if global.json {
        return output::print_json(&json!({ "name": name, "files": paths }));
    }
    let lines: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    output::print(&lines.join("\n"))
}
