//! The page: one HTML file with everything in it, which asks nothing of the network.
//!
//! A [`Page`] is plain data. It is written as text, tables and SVG, all drawn here: the file can be
//! read with scripts off. The scripts in it only move what follows the slider of an [`Explorer`].
//! Names and labels come from anybody's data: they only ever become text, never markup.

mod chart;
mod explorer;
mod fields;
mod groups;
mod html;
mod pack;
mod render;
mod rows;
mod slider;
mod steps;
mod summary;
mod table;
mod trade_off;
mod weights;

pub use explorer::{
    Bound, Chart, Column, Cursor, Embedding, Explorer, Front, HeldOut, Position, Values, Weights,
};

/// Everything that a report says.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// What it is about, in a few words.
    pub title: String,
    /// What made it, on what.
    pub subtitle: String,
    /// What came of it in one line, where it is not that of an encoder.
    pub verdict: Option<Verdict>,
    /// What is kept, hidden and guaranteed, where it is not that of an encoder at a slider.
    pub summary: Vec<Note>,
    /// What the reader should beware of.
    pub warnings: Vec<Note>,
    /// Frames, of which a slider shows one.
    pub steps: Option<Steps>,
    /// Fronts with a slider, one for each kind of encoder.
    pub explorers: Vec<Explorer>,
    /// What else was found, in order; those that lead stand before the fronts.
    pub sections: Vec<Section>,
    /// Data, versions, seeds, the command line.
    pub about: Vec<Fact>,
}

/// What came of it, in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// How bad it is.
    pub state: State,
    /// The line.
    pub text: String,
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// As it should be, as far as was looked at.
    Good,
    /// Something is left open, or not quite as it should be.
    Open,
    /// Not as it should be.
    Bad,
}

/// A part of the summary.
#[derive(Debug, Clone)]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// A few words.
    pub title: String,
    /// Sentences.
    pub text: Vec<Words>,
}

/// What a note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    /// As it is.
    Text(String),
    /// What a position of the slider says under this name: one of the figures of [`Position`], or
    /// of its [`Position::says`].
    Live(&'static str),
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

/// Charts and tables under a heading.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// Paragraphs before the charts.
    pub text: Vec<String>,
    /// Charts.
    pub charts: Vec<Chart>,
    /// Tables.
    pub tables: Vec<Table>,
    /// Whether it is what the command was asked for, and stands first.
    pub lead: bool,
    /// For which positions of a slider it holds; for all where nothing is said.
    pub holds: Option<Holds>,
}

/// For which positions of a slider something holds.
#[derive(Debug, Clone)]
pub struct Holds {
    /// Of which explorer.
    pub explorer: usize,
    /// For each position, whether it does.
    pub at: Vec<bool>,
    /// Which position that is, in words that follow `this is about`.
    pub words: String,
}

/// Frames of which a slider shows one; without scripts they stand one after the other.
#[derive(Debug, Clone)]
pub struct Steps {
    /// The heading.
    pub title: String,
    /// Paragraphs before the slider.
    pub text: Vec<String>,
    /// The name of the slider.
    pub label: String,
    /// What lies at its left and right end.
    pub ends: [String; 2],
    /// What stands still; its cursors follow the slider.
    pub chart: Chart,
    /// What the slider shows, in order.
    pub frames: Vec<Frame>,
    /// Where it stands at first.
    pub start: usize,
    /// What that place is, in a few words.
    pub start_is: String,
}

/// What is shown at one place of a slider.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// Its heading.
    pub title: String,
    /// Figures that stay in view beside the slider: what, and how much.
    pub keys: Vec<(String, String)>,
    /// Paragraphs.
    pub text: Vec<String>,
    /// Charts.
    pub charts: Vec<Chart>,
    /// Tables.
    pub tables: Vec<Table>,
}

/// A table.
#[derive(Debug, Clone, Default)]
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
#[derive(Debug, Clone)]
pub struct Fact {
    /// What.
    pub name: String,
    /// The value.
    pub value: String,
    /// Whether it is something to type, so that it can be copied.
    pub code: bool,
}
