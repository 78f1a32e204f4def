//! An experiment as files: tables, figures, models, the report and `results.json`.

use std::path::Path;

use sarl_report::page::Page;
use serde_json::{Value, json};

use crate::{Effort, Error, Experiment, Name, Result, Table};

/// The report of an experiment.
const REPORT: &str = "report.html";
const RESULTS: &str = "results.json";

/// What is typed, for the report.
pub struct Commands<'a> {
    /// What made the experiment.
    pub own: String,
    /// What makes another encoder of a model file; the second is the option of the goal.
    pub retune: &'a dyn Fn(&Path, &str) -> String,
}

impl Experiment {
    /// Writes everything to a folder; gives what `results.json` has.
    pub fn write(
        &self,
        name: Name,
        folder: &Path,
        effort: &Effort<'_>,
        commands: &Commands<'_>,
        seconds: f64,
    ) -> Result<Value> {
        let failed = |error| Error::Folder { folder: folder.to_owned(), error };
        std::fs::create_dir_all(folder).map_err(failed)?;
        for table in &self.tables {
            sarl_data::write_file(&folder.join(table.file()), &table.csv()?)?;
        }
        let mut figures = Vec::new();
        for figure in &self.figures {
            let files = figure.files()?;
            for (file, bytes) in &files {
                sarl_data::write_file(&folder.join(file), bytes)?;
            }
            let files: Vec<&String> = files.iter().map(|f| &f.0).collect();
            figures
                .push(json!({ "title": figure.title, "caption": figure.caption, "files": files }));
        }
        let results = json!({
            "name": name.word(),
            "protocol": self.protocol,
            "version": env!("CARGO_PKG_VERSION"),
            "seeds": effort.seeds,
            "rivals": effort.rivals,
            "tables": self.tables.iter().map(Table::json).collect::<Vec<_>>(),
            "figures": figures,
            "html": REPORT,
            "words": self.words,
            "results": self.results,
            "seconds": seconds,
        });
        let page: Page = self.page(name, folder, effort, commands)?;
        sarl_data::write_file(&folder.join(REPORT), page.html()?.as_bytes())?;
        let text =
            serde_json::to_string_pretty(&results).map_err(|e| Error::Text(e.to_string()))?;
        sarl_data::write_file(&folder.join(RESULTS), text.as_bytes())?;
        Ok(results)
    }

    /// The files that are written, for people.
    pub fn files(&self) -> Vec<String> {
        let mut files = vec![REPORT.to_owned(), RESULTS.to_owned()];
        files.extend(self.tables.iter().map(Table::file));
        files.extend(self.figures.iter().map(|f| format!("{}.svg, .png, .csv", f.name)));
        files
    }
}

impl Table {
    fn file(&self) -> String {
        format!("{}.csv", self.name)
    }

    fn csv(&self) -> Result<Vec<u8>> {
        let failed = |error: csv::Error| Error::Text(error.to_string());
        let mut csv = csv::Writer::from_writer(Vec::new());
        csv.write_record(&self.header).map_err(failed)?;
        for row in &self.rows {
            csv.write_record(row).map_err(failed)?;
        }
        csv.into_inner().map_err(|e| Error::Text(e.to_string()))
    }

    fn json(&self) -> Value {
        let row = |row: &Vec<String>| -> Value {
            let cells = self.header.iter().zip(row).map(|(h, c)| ((*h).to_owned(), json!(c)));
            Value::Object(cells.collect())
        };
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        json!({ "title": self.title, "file": self.file(), "rows": rows })
    }
}
