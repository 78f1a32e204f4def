//! Valid files to begin with: a table in every format, and models of it.

use std::path::Path;
use std::process::Command;

use rand::{Rng, RngExt};

use crate::seeds;

/// A file to be damaged.
#[derive(Clone)]
pub(super) struct Input {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    pub(super) is_model: bool,
}

/// All files.
pub(super) struct Inputs {
    all: Vec<Input>,
    table: Vec<u8>,
    model: Vec<u8>,
}

/// What models are made with.
const MODELS: [&str; 5] = [
    "-t y -s s --max-leakage 0.1",
    "-t y -s s --max-leakage 0.1 --kernel rbf --landmarks 8",
    "-t y -s s --max-leakage 0.2 --criterion equalized-odds --scale none",
    "-t :features -s s --max-leakage 0",
    "-t y -s s,x0:kernel --max-leakage 0.3",
];

impl Inputs {
    pub(super) fn new(sarl: &Path, folder: &Path) -> Self {
        let text = seeds::people(60);
        let (table, model) = (folder.join("table.csv"), folder.join("model.safetensors"));
        std::fs::write(&table, &text).expect("a table can be written");
        let works = |command: &mut Command| {
            let output = command.output().expect("the command can be started");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        let mut all = Vec::new();
        for options in MODELS {
            let mut command = Command::new(sarl);
            command.arg("fit").arg(&table).args(options.split(' '));
            works(command.arg("-o").arg(&model).arg("--quiet"));
            let bytes = std::fs::read(&model).expect("there is a model");
            all.push(Input { name: "input.safetensors".to_owned(), bytes, is_model: true });
        }
        let model = all[0].bytes.clone();
        let endings = ["csv", "csv.gz", "parquet", "arrow", "npy", "npz", "safetensors"];
        let tables = endings.map(|ending| (ending, seeds::table(&text, ending)));
        let packed = seeds::packed(&tables[3].1).map(|bytes| ("arrow", bytes));
        for (ending, bytes) in tables.into_iter().chain(packed) {
            let name = format!("input.{ending}");
            let path = folder.join(&name);
            std::fs::write(&path, &bytes).expect("a table can be written");
            works(Command::new(sarl).arg("inspect").arg(path));
            all.push(Input { name, bytes, is_model: false });
        }
        Inputs { all, table: text.into_bytes(), model }
    }

    pub(super) fn draw(&self, random: &mut impl Rng) -> Input {
        self.all[random.random_range(0..self.all.len())].clone()
    }

    /// The table and the model that are not damaged.
    pub(super) fn place(&self, folder: &Path) {
        std::fs::write(folder.join("table.csv"), &self.table).expect("a table can be written");
        std::fs::write(folder.join("model.safetensors"), &self.model).expect("a model can be");
    }
}
