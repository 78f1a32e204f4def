//! Which fold a row goes to: `--fold-by`.

use sarl::cells::Part;
use sarl::{FoldBy, category_key, text_key};
use sarl_data::{DataBlock, FeatureValues, Request, Schema};

use crate::args::EncoderOptions;
use crate::failure::{Exit, Failure, Outcome};

/// What was asked for.
pub struct Folding {
    by: FoldBy,
    /// The column of keys, if there is one.
    column: Vec<String>,
}

impl Folding {
    /// What the options say, or else the default of the command.
    pub fn new(options: &EncoderOptions, default: FoldBy) -> Self {
        let (by, column) = match options.fold_by.as_deref() {
            None => (default, None),
            Some("position") => (FoldBy::Position, None),
            Some("content") => (FoldBy::Content, None),
            Some(column) => (FoldBy::Key, Some(column.to_owned())),
        };
        Folding { by, column: column.into_iter().collect() }
    }

    /// The same for rows whose keys are in a column, by its name.
    pub fn of(by: FoldBy, column: Option<String>) -> Self {
        Folding { by, column: column.into_iter().collect() }
    }

    pub fn by(&self) -> FoldBy {
        self.by
    }

    /// The column of keys, which is handed through.
    pub fn columns(&self) -> &[String] {
        &self.column
    }

    /// Refuses a column where rows are picked by their position.
    pub fn check_part(&self, part: Option<Part>) -> Outcome {
        match (part, self.column.first()) {
            (Some(_), Some(column)) => {
                let message = format!(
                    "--fold-by {column} has no place beside a guarantee against every adversary"
                );
                Err(Failure::usage(message).hint("use --fold-by content, or leave it out"))
            }
            _ => Ok(()),
        }
    }

    /// A column of keys is no feature, unless somebody names it as one.
    pub fn without_column(&self, mut request: Request) -> Request {
        if let Some(column) = self.column.first() {
            let mut labels = request.targets.columns().iter().chain(&request.sensitives);
            let is_label = labels.any(|label| label.name == *column);
            let named = request.features.is_some() || request.weight.as_ref() == Some(column);
            if !is_label && !named {
                request.drop.push(column.clone());
            }
        }
        request
    }

    /// The keys of rows of this schema.
    pub fn keys(&self, schema: &Schema) -> Keys {
        let categories = schema.features().iter().filter_map(|f| match &f.values {
            FeatureValues::Category { values, .. } => Some(values),
            FeatureValues::Number { .. } => None,
        });
        let table = |(place, values): (usize, &Vec<String>)| {
            values.iter().map(|value| category_key(place, value)).collect()
        };
        let tables = categories.enumerate().map(table).collect();
        Keys { by: self.by, column: self.column.first().cloned(), tables }
    }
}

/// The keys of rows.
pub struct Keys {
    by: FoldBy,
    column: Option<String>,
    /// For each categorical feature that of each category.
    tables: Vec<Vec<u64>>,
}

impl Keys {
    /// Those of a block; nothing where folds go by position.
    pub fn of(&self, block: &DataBlock) -> Outcome<Option<Vec<u64>>> {
        match (self.by, &self.column) {
            (FoldBy::Position, _) => Ok(None),
            (FoldBy::Key, Some(column)) => {
                let texts = block.kept_texts().into_iter().enumerate();
                let key = |(row, text): (usize, Option<String>)| match text {
                    Some(text) => Ok(text_key(&text)),
                    None => Err(no_key(column, block.first_row + row as u64)),
                };
                texts.map(key).collect::<Outcome<_>>().map(Some)
            }
            _ => Ok(Some(self.categories(block))),
        }
    }

    /// What the categories of each row add.
    fn categories(&self, block: &DataBlock) -> Vec<u64> {
        let mut keys = vec![0u64; block.rows];
        for (column, table) in block.codes.iter().zip(&self.tables) {
            for (key, &code) in keys.iter_mut().zip(&column.codes) {
                *key = key.wrapping_add(table.get(code as usize).copied().unwrap_or(0));
            }
        }
        keys
    }
}

fn no_key(column: &str, row: u64) -> Failure {
    let message = format!("--fold-by {column}: row {} has no text or number there", row + 1);
    Failure::new(Exit::Data, message).hint("use --fold-by content, or another column")
}
