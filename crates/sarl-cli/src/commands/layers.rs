//! `sarl info` of a file with the erasures of a network's layers.

use std::path::Path;

use sarl::{Layer, Layers};
use serde_json::{Value, json};

use crate::args::Global;
use crate::failure::{Exit, Failure, Outcome};
use crate::output;
use crate::terminal::{self, wrap};

/// The layers of a file, if it says that it has any.
pub fn read(path: &Path, bytes: &[u8]) -> Outcome<Option<Layers>> {
    if !Layers::is_file(bytes) {
        return Ok(None);
    }
    let layers = Layers::from_bytes(bytes).map_err(|e| {
        Failure::new(Exit::Data, format!("{}: {e}", path.display()))
            .hint("such files are written by `sarl.torch.Scrubber` in Python")
    })?;
    Ok(Some(layers))
}

pub fn print(path: &Path, layers: &Layers, global: &Global) -> Outcome {
    if global.json {
        let all: Vec<Value> = layers.layers().iter().map(described).collect();
        return output::print_json(&json!({ "order": layers.order(), "layers": all }));
    }
    output::print(&wrap(&format!(
        "{}: erasures of {} layers of a network, fitted in the order `{}`\n",
        terminal::path(path),
        layers.layers().len(),
        sarl_lab::plain(layers.order())
    )))?;
    let header =
        ["layer", "at", "width", "erased", "rows", "concept", "limit", "held out", "leakage"];
    let rows = layers.layers().iter().flat_map(rows).collect();
    output::print(&output::table(&header, rows, |column| matches!(column, 2 | 3 | 4 | 6..)))?;
    output::print(&wrap(
        "\nWidths and erased directions are those of the matrices in the file, checked. Leakages are \
         those that the fit has found and stored: the share of a concept's variance that a linear \
         adversary explains, on rows that were not fitted on (held out) and on those that were.",
    ))
}

fn described(layer: &Layer) -> Value {
    let about = layer.about();
    json!({
        "name": about.name,
        "at": about.at,
        "width": layer.width(),
        "directions": layer.directions(),
        "rows": about.rows,
        "concepts": about.concepts,
    })
}

/// A line for each concept of a layer.
fn rows(layer: &Layer) -> Vec<Vec<String>> {
    let about = layer.about();
    let figure = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), output::digits);
    let line = |(i, concept): (usize, &sarl::Concept)| {
        let first = |text: String| if i == 0 { text } else { String::new() };
        vec![
            first(sarl_lab::plain(&about.name).into()),
            first(about.at.clone()),
            first(layer.width().to_string()),
            first(layer.directions().to_string()),
            first(about.rows.to_string()),
            sarl_lab::plain(&concept.name).into(),
            figure(concept.limit),
            figure(concept.heldout),
            output::digits(concept.leakage),
        ]
    };
    about.concepts.iter().enumerate().map(line).collect()
}
