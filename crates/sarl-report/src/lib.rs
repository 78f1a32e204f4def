//! Results as figures.
//!
//! A [`Figure`] is plain data: panels in a grid, each with two axes and the marks in it.
//! It serialises with serde, and it draws itself:
//!
//! | call | result |
//! |---|---|
//! | [`Figure::svg`] | an `<svg>` element: a file, or part of a page as it has no ids |
//! | [`Figure::png`] | the same picture at twice the size |
//! | [`Figure::csv`] | every number in it, in long form |
//! | [`Figure::files`] | all three, under the figure's name |
//!
//! A [`page::Page`] holds figures, tables and fronts to play with, and is one HTML file. Its
//! charts are the same SVG, in the colours of its style sheet.
//!
//! The data flow one way: figure → axes (ranges, ticks) → layout → scene → SVG, PNG or page. A
//! scene is a list of paths, markers and texts in pixels. All writers take the same
//! scene and lines are clipped before they enter it, so that the files cannot differ
//! but by the rasteriser.
//!
//! Nothing is read from the system: the font (DejaVu Sans) is compiled in, the same input
//! gives the same bytes. Numbers that are not finite are left out, and so are those beyond
//! ±1e300 and those not above 1e-300 on a logarithmic axis; a line has a gap there. Text is
//! escaped and control characters in it become spaces. Letters are set one by one,
//! from left to right: in the PNG, scripts which need more than that are not shaped, and
//! what the font does not have is a box.
//!
//! ```
//! use sarl_report::{Axis, Figure, Line, Panel, Rule, Style};
//!
//! let front = Line::new("linear", vec![(0.52, 0.71), (0.60, 0.80), (0.71, 0.84)]);
//! let (x, y) = (Axis::new("adversary accuracy"), Axis::new("target accuracy"));
//! let figure = Figure::new("front", "What is kept against what leaks").panel(
//!     Panel::new("", x.percent(), y.percent())
//!         .mark(front.style(Style::nth(0)))
//!         .mark(Rule::vertical("chance", 0.5)),
//! );
//! assert!(figure.svg()?.starts_with("<svg "));
//! let names: Vec<String> = figure.files()?.into_iter().map(|(name, _)| name).collect();
//! assert_eq!(names, ["front.svg", "front.png", "front.csv"]);
//! # Ok::<(), sarl_report::ReportError>(())
//! ```

mod build;
mod check;
mod clip;
mod error;
mod figure;
mod font;
mod format;
mod labels;
mod layout;
mod legend;
mod mark;
mod marks;
pub mod page;
mod panel;
mod png;
mod range;
mod scene;
mod style;
mod svg;
mod table;
mod ticks;
mod view;

pub use build::even_edges;
pub use error::{ReportError, Result};
pub use figure::{Axis, Figure, Format, Legend, Panel, Scale};
pub use mark::{
    Bars, Cross, Direction, Histogram, Line, Mark, Points, Region, Rule, Spread, Steps,
};
pub use style::{Colour, Dash, Shape, Style};
