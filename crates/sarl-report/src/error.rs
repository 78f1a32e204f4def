//! What can be wrong with a figure.

/// The result of drawing.
pub type Result<T, E = ReportError> = std::result::Result<T, E>;

/// Why a figure cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A figure needs at least one panel.
    #[error("figure `{name}` has no panels")]
    NoPanels {
        /// The figure's name.
        name: String,
    },
    /// The name becomes a file name.
    #[error("figure name `{name}` is no file stem: a-z, A-Z, 0-9, `-` and `_` were expected")]
    Name {
        /// The name found.
        name: String,
    },
    /// A range that was asked for cannot be drawn.
    #[error(
        "axis `{axis}` has the range {low} to {high}: finite, increasing bounds were expected, \
         above zero where logarithmic"
    )]
    Range {
        /// The axis's label.
        axis: String,
        /// The lower bound found.
        low: f64,
        /// The upper bound found.
        high: f64,
    },
    /// Two lists that belong together differ in length.
    #[error("mark `{mark}` has {found} {what}, expected {expected}")]
    Length {
        /// The mark's name.
        mark: String,
        /// What is counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// The edges of a histogram do not increase.
    #[error("histogram `{mark}`: edge {index} is not finite or not above the one before")]
    Edges {
        /// The mark's name.
        mark: String,
        /// The first edge at fault, from zero.
        index: usize,
    },
    /// The bar to highlight does not exist.
    #[error("bars `{mark}`: bar {index} is to be highlighted, but there are {bars}")]
    Highlight {
        /// The mark's name.
        mark: String,
        /// The bar asked for, from zero.
        index: usize,
        /// How many bars there are.
        bars: usize,
    },
    /// The picture would not fit into memory.
    #[error(
        "a picture of {width} × {height} pixels is above the limit of {limit} pixels: \
         use fewer panels"
    )]
    TooLarge {
        /// Width in pixels.
        width: f64,
        /// Height in pixels.
        height: f64,
        /// The most pixels a picture may have.
        limit: f64,
    },
    /// The compiled-in font cannot be read.
    #[error("the compiled-in font cannot be read: {0}")]
    Font(String),
    /// The PNG cannot be encoded.
    #[error("the PNG cannot be encoded: {0}")]
    Png(String),
    /// The page cannot be written.
    #[error("the page cannot be written: {0}")]
    Page(String),
    /// The CSV cannot be written.
    #[error("the CSV cannot be written: {0}")]
    Csv(String),
}
