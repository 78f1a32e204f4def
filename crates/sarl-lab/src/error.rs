//! What can go wrong.

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller asked for an end.
    #[error("interrupted")]
    Interrupted,
    /// There are too few rows for all parts.
    #[error("{rows} rows are too few to be parted {parts} ways")]
    TooFewRows {
        /// How many there are.
        rows: usize,
        /// How many parts were asked for.
        parts: usize,
    },
    /// No rows are known that the encoder may be fitted on.
    #[error("there are no rows for the encoder")]
    NoEncoderRows,
    /// A name that nothing has.
    #[error("there is no {what} `{name}`")]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// The name.
        name: String,
        /// The names that there are.
        known: Vec<&'static str>,
    },
    /// `all` or `none` among other names.
    #[error("`{word}` stands alone")]
    StandsAlone {
        /// Which of them.
        word: String,
    },
    /// A method that was asked for by name has no answer for these labels.
    #[error("{error}")]
    Unfit {
        /// The name of the method.
        name: &'static str,
        /// What it said.
        error: sarl_rivals::Error,
    },
    /// A description of a table that cannot be read.
    #[error("the description of the columns cannot be read: {0}")]
    Table(#[from] serde_json::Error),
    /// The spectral core could not do its part.
    #[error(transparent)]
    Core(#[from] sarl::Error),
    /// An attacker could not do its part.
    #[error(transparent)]
    Eval(#[from] sarl_eval::Error),
    /// Another method could not do its part.
    #[error(transparent)]
    Rival(#[from] sarl_rivals::Error),
    /// A figure or a page cannot be drawn.
    #[error(transparent)]
    Report(#[from] sarl_report::ReportError),
}

/// The result of this crate's functions.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Whether the caller asked for an end.
    pub fn is_interruption(&self) -> bool {
        use {sarl::Error as Core, sarl_eval::Error as Eval, sarl_rivals::Error as Rival};
        let of_eval = |e: &Eval| matches!(e, Eval::Interrupted | Eval::Core(Core::Interrupted));
        match self {
            Error::Interrupted | Error::Core(Core::Interrupted) => true,
            Error::Rival(Rival::Interrupted | Rival::Core(Core::Interrupted)) => true,
            Error::Eval(error) | Error::Rival(Rival::Eval(error)) => of_eval(error),
            _ => false,
        }
    }
}
