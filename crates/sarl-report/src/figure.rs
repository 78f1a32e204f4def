//! The description of a figure.

use serde::{Deserialize, Serialize};

use crate::error::{ReportError, Result};
use crate::font::Fonts;
use crate::mark::Mark;
use crate::{check, layout, png, svg, table};

/// A figure: panels in a grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// The stem of its files.
    pub name: String,
    /// Drawn at the top unless empty.
    pub title: String,
    /// What it shows, in sentences. Not drawn: it is the description inside the SVG, and
    /// stands under the figure in a page or paper.
    pub caption: String,
    /// Panels side by side; at least one, at most as many as there are panels.
    pub columns: usize,
    /// Where the legend goes.
    pub legend: Legend,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
}

/// Where the legend goes. It never covers data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Legend {
    /// One for the whole figure, under it. What is equal in several panels stands once.
    #[default]
    Below,
    /// One for the whole figure, to its right.
    Right,
    /// One under each panel.
    EachPanel,
    /// None.
    Hidden,
}

/// One pair of axes and what is drawn between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// Drawn above the panel unless empty.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, later over earlier.
    pub marks: Vec<Mark>,
    /// Drawn under the others; a page shows them where the reader asks for them.
    #[serde(default)]
    pub experts: Vec<Mark>,
}

/// An axis.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Drawn beside it unless empty.
    pub label: String,
    /// What it covers; from the data where not given, and always for names. Data outside
    /// are cut off.
    #[serde(default)]
    pub range: Option<(f64, f64)>,
    /// It covers at least this much where its range comes from the data, so that noise does not
    /// look like a difference.
    #[serde(default)]
    pub least: f64,
    /// How values are spaced.
    #[serde(default)]
    pub scale: Scale,
    /// How values are written.
    #[serde(default)]
    pub format: Format,
    /// Names instead of numbers: the i-th stands at i, from zero. The axis is linear then.
    #[serde(default)]
    pub categories: Vec<String>,
}

/// How the values of an axis are spaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// By logarithm; values that are not positive are left out.
    Log,
}

/// How the values of an axis are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// 0.8
    #[default]
    Number,
    /// 0.8 as 80 %
    Percent,
    /// Counts: ticks at whole numbers only
    Whole,
}

impl Figure {
    /// A figure without panels, in one column, with the legend below.
    pub fn new(name: impl Into<String>, title: impl Into<String>) -> Self {
        let (caption, legend, panels) = (String::new(), Legend::default(), Vec::new());
        Self { name: name.into(), title: title.into(), caption, columns: 1, legend, panels }
    }

    /// The same with a caption.
    pub fn caption(self, caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), ..self }
    }

    /// The same with panels side by side.
    pub fn columns(self, columns: usize) -> Self {
        Self { columns, ..self }
    }

    /// The same with the legend elsewhere.
    pub fn legend(self, legend: Legend) -> Self {
        Self { legend, ..self }
    }

    /// The same with one more panel.
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// The figure as an `<svg>` element, which is a file of its own and may stand in a page.
    pub fn svg(&self) -> Result<String> {
        check::figure(self)?;
        Ok(svg::render(&layout::scene(self, &Fonts::load()?)))
    }

    /// The figure as PNG, two pixels for each of the SVG.
    pub fn png(&self) -> Result<Vec<u8>> {
        check::figure(self)?;
        let fonts = Fonts::load()?;
        png::render(&layout::scene(self, &fonts), &fonts)
    }

    /// Every number of the figure, in the columns `panel,mark,kind,x,y,low,high`.
    ///
    /// A panel without a title is given by its number. A histogram has a row per edge, with
    /// the count of the bin that starts there; a bar has its category as x.
    pub fn csv(&self) -> Result<String> {
        check::figure(self)?;
        table::csv(self)
    }

    /// Names and contents of `NAME.svg`, `NAME.png` and `NAME.csv`.
    pub fn files(&self) -> Result<Vec<(String, Vec<u8>)>> {
        let name = &self.name;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(ReportError::Name { name: name.clone() });
        }
        Ok(vec![
            (format!("{name}.svg"), self.svg()?.into_bytes()),
            (format!("{name}.png"), self.png()?),
            (format!("{name}.csv"), self.csv()?.into_bytes()),
        ])
    }
}

impl Panel {
    /// A panel without marks.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, marks: Vec::new(), experts: Vec::new() }
    }

    /// The same with one more mark.
    pub fn mark(mut self, mark: impl Into<Mark>) -> Self {
        self.marks.push(mark.into());
        self
    }

    /// The same with one more mark for experts.
    pub fn expert(mut self, mark: impl Into<Mark>) -> Self {
        self.experts.push(mark.into());
        self
    }

    /// Every mark, in the order in which they are drawn.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Mark> {
        self.experts.iter().chain(&self.marks)
    }
}

impl Axis {
    /// A linear axis of numbers, as long as the data.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }

    /// The same over a given range.
    pub fn range(self, low: f64, high: f64) -> Self {
        Self { range: Some((low, high)), ..self }
    }

    /// The same over at least this much.
    pub fn least(self, span: f64) -> Self {
        Self { least: span, ..self }
    }

    /// The same on a logarithmic scale.
    pub fn log(self) -> Self {
        Self { scale: Scale::Log, ..self }
    }

    /// The same in percent.
    pub fn percent(self) -> Self {
        Self { format: Format::Percent, ..self }
    }

    /// The same at whole numbers.
    pub fn whole(self) -> Self {
        Self { format: Format::Whole, ..self }
    }

    /// An axis of names.
    pub fn categories<T: Into<String>>(self, names: impl IntoIterator<Item = T>) -> Self {
        Self { categories: names.into_iter().map(Into::into).collect(), ..self }
    }
}
