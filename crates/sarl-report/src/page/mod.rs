//! The page: one HTML file with everything in it, which asks nothing of the network.
//!
//! A [`Page`] is plain data. It goes into the file as JSON, and the scripts beside it draw it in
//! the reader's browser: charts by Observable Plot, tables behind them, and a slider over each
//! [`Explorer`] that everything else follows. Names and labels come from anybody's data: they
//! only ever become text, never markup.

mod explorer;
mod pack;
mod render;

use serde::Serialize;

pub use explorer::{
    Bound, Chart, Column, Cursor, Embedding, Explorer, Front, HeldOut, Position, Values, Weights,
};
pub use pack::{floats, shorts};
pub use render::{D3_VERSION, PLOT_VERSION};

/// Everything that a report says.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Page {
    /// What it is about, in a few words.
    pub title: String,
    /// What made it, on what.
    pub subtitle: String,
    /// What the reader should beware of.
    pub warnings: Vec<Note>,
    /// Fronts with a slider, one for each kind of encoder.
    pub explorers: Vec<Explorer>,
    /// What else was found, in order.
    pub sections: Vec<Section>,
    /// Data, versions, seeds, the command line.
    pub about: Vec<Fact>,
}

/// A part of the summary.
#[derive(Debug, Clone, Serialize)]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// A few words.
    pub title: String,
    /// Sentences.
    pub text: Vec<Words>,
}

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NoteKind {
    /// What is kept.
    Kept,
    /// What is hidden.
    Hidden,
    /// What is guaranteed, and against whom.
    Guaranteed,
    /// What is not.
    NotGuaranteed,
    /// What the reader should beware of.
    Warning,
}

/// A piece of a sentence.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Words {
    /// As it is.
    Text(String),
    /// A figure of the position that the slider of the shown explorer is at.
    Live {
        /// Which.
        live: Live,
    },
}

/// A figure that follows the slider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Live {
    /// As a percentage.
    Utility,
    /// As a percentage.
    Leakage,
    /// As a percentage, with its spread.
    HeldoutUtility,
    /// As a percentage, with its spread.
    HeldoutLeakage,
    /// A count with its noun.
    Dimensions,
    /// The gap to the dual bound.
    Gap,
}

impl From<&str> for Words {
    fn from(text: &str) -> Self {
        Words::Text(text.to_owned())
    }
}

impl From<String> for Words {
    fn from(text: String) -> Self {
        Words::Text(text)
    }
}

impl From<Live> for Words {
    fn from(live: Live) -> Self {
        Words::Live { live }
    }
}

/// Charts and tables under a heading.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// Paragraphs before the charts.
    pub text: Vec<String>,
    /// Charts.
    pub charts: Vec<Chart>,
    /// Tables.
    pub tables: Vec<Table>,
}

/// A table.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Table {
    /// Its caption.
    pub title: String,
    /// The names of its columns.
    pub header: Vec<String>,
    /// Its cells.
    pub rows: Vec<Vec<String>>,
    /// So many of the first columns are text; the others are figures.
    pub names: usize,
}

/// Something about the run.
#[derive(Debug, Clone, Serialize)]
pub struct Fact {
    /// What.
    pub name: String,
    /// The value.
    pub value: String,
    /// Whether it is something to type, so that it can be copied.
    pub code: bool,
}
