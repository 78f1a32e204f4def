//! What a model file gives away of the rows that it was fitted on.

use sarl::{Map, Model};
use sarl_data::{FeatureValues, Schema};

use crate::provenance::Provenance;

/// More categories than this are worth a word when a model is written.
const MANY: usize = 50;

/// Landmarks that are rows of the data.
fn landmarks(model: &Model, about: &Provenance) -> usize {
    match model.encoder().map() {
        Map::Kernel { landmarks, .. } if !about.public_landmarks => landmarks.nrows(),
        _ => 0,
    }
}

/// The columns whose categories are stored, each with how many.
fn categories(about: &Provenance) -> impl Iterator<Item = (&str, usize)> {
    about.schema.iter().flat_map(Schema::features).filter_map(|f| match &f.values {
        FeatureValues::Category { values, .. } => Some((f.name.as_str(), values.len())),
        FeatureValues::Number { .. } => None,
    })
}

/// What to say when a model is written.
pub fn notes(model: &Model, about: &Provenance) -> Vec<String> {
    let mut notes = Vec::new();
    let rows = landmarks(model, about);
    if rows > 0 {
        notes.push(format!(
            "the model file holds {rows} rows of the data as landmarks; --approx random-features \
             stores none, --landmarks-from FILE those of a file that may be known"
        ));
    }
    let many: Vec<String> = categories(about)
        .filter(|(_, values)| *values > MANY)
        .map(|(name, values)| format!("the {values} values of `{name}`"))
        .collect();
    if !many.is_empty() {
        notes.push(format!("the model file holds {}", many.join(", ")));
    }
    notes
}

/// What a file holds, in a line for `sarl info`.
pub fn line(model: &Model, about: &Provenance) -> String {
    let rows = match (landmarks(model, about), model.encoder().map()) {
        (0, Map::Kernel { landmarks, .. }) => {
            format!("no row of the data ({} landmarks of another file)", landmarks.nrows())
        }
        (0, _) => "no row of the data".into(),
        (rows, _) => format!("{rows} rows of the data as landmarks"),
    };
    let values: usize = categories(about).map(|c| c.1).sum();
    let columns = categories(about).count();
    let cells = match columns {
        0 => "no value of a cell".into(),
        1 => format!("{values} values of a column of categories"),
        _ => format!("{values} values of {columns} columns of categories"),
    };
    format!("the file holds {rows}, {cells}, and means and products of columns over all rows")
}

/// The same for programs.
pub fn json(model: &Model, about: &Provenance) -> serde_json::Value {
    let values: usize = categories(about).map(|c| c.1).sum();
    serde_json::json!({ "rows": landmarks(model, about), "category_values": values })
}
