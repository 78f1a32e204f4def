//! How the command ends: exit codes, and errors as people read them.

use std::process::ExitCode;

use sarl_data::{DataError, ExitClass};

use crate::output::say;
use crate::terminal::Tone;

/// The exit codes of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The request cannot be met.
    Unreachable = 1,
    /// Wrong usage.
    Usage = 2,
    /// Bad input data.
    Data = 3,
    /// The machine could not.
    Machine = 4,
    /// A fault of the program itself.
    Fault = 70,
    /// Ctrl-C.
    Interrupted = 130,
}

/// An error with its exit code and what to do about it.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
    pub hint: Option<String>,
    /// The reader of a pipe has gone: no error at all.
    pub broken_pipe: bool,
    /// A cell is missing, and only the first was looked at.
    pub missing: bool,
    /// The data have no rows that can be used.
    pub no_rows: bool,
}

/// The result of a command.
pub type Outcome<T = ()> = Result<T, Failure>;

impl Failure {
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        let (hint, broken_pipe, missing, no_rows) = (None, false, false, false);
        Failure { exit, message: message.into(), hint, broken_pipe, missing, no_rows }
    }

    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    pub fn interrupted() -> Self {
        Self::new(Exit::Interrupted, "interrupted")
    }

    pub fn hint(self, hint: impl Into<String>) -> Self {
        Failure { hint: Some(hint.into()), ..self }
    }

    /// Says it on stderr and gives the exit code.
    pub fn report(&self) -> ExitCode {
        if self.broken_pipe {
            return ExitCode::SUCCESS;
        }
        say("error:", Tone::Bad, &self.message);
        if let Some(hint) = &self.hint {
            say("hint:", Tone::Strong, hint);
        }
        ExitCode::from(self.exit as u8)
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        let exit = match (&error, error.exit_class()) {
            (DataError::Interrupted, _) => Exit::Interrupted,
            (_, ExitClass::Usage) => Exit::Usage,
            (_, ExitClass::Data) => Exit::Data,
            (_, ExitClass::Machine) => Exit::Machine,
        };
        Failure {
            exit,
            message: error.to_string(),
            hint: error.hint(),
            broken_pipe: error.is_broken_pipe(),
            missing: matches!(error, DataError::MissingCell { .. }),
            no_rows: matches!(error, DataError::NoRows { .. } | DataError::AllRowsDropped { .. }),
        }
    }
}

impl From<sarl::Error> for Failure {
    fn from(error: sarl::Error) -> Self {
        use sarl::Error;
        let (exit, hint) = match &error {
            Error::Unreachable { goal: "alpha", .. } => {
                (Exit::Unreachable, Some("the upper end hides everything; less is always met"))
            }
            Error::Unreachable { .. } => (
                Exit::Unreachable,
                Some("ask for less, or fit with a smaller --ridge or a larger --dim"),
            ),
            Error::Uncertifiable { .. } | Error::NoCells { .. } => {
                (Exit::Unreachable, Some("allow more, or give more rows"))
            }
            Error::NoGroups { .. } => (Exit::Usage, Some("name a column of classes, or COL:class")),
            Error::NoTarget => (Exit::Usage, Some("name a --target that is a column")),
            Error::Argument { .. }
            | Error::EqualRows
            | Error::ZeroKernel
            | Error::TooLarge { .. }
            | Error::NoRandomFeatures
            | Error::Criterion { .. }
            | Error::UnknownLabel { .. } => (Exit::Usage, None),
            Error::NoConvergence { .. } => (Exit::Machine, None),
            Error::Device { .. } => (Exit::Machine, Some("use --device cpu")),
            Error::Memory(_) => (Exit::Machine, Some("use fewer columns, --landmarks or --folds")),
            Error::TooManyRows { .. } => {
                (Exit::Machine, Some("use --approx landmarks, or fewer rows"))
            }
            Error::Unstable => (
                Exit::Unreachable,
                Some("try a larger --ridge, fewer --landmarks, or --scale standard"),
            ),
            Error::Interrupted => (Exit::Interrupted, None),
            Error::ConstantLabel { .. } => {
                (Exit::Data, Some("choose another label, or data in which it varies"))
            }
            Error::ConstantWithin { .. } => (
                Exit::Data,
                Some("the target decides the attribute: use --criterion parity, or another target"),
            ),
            Error::NoVariation => (Exit::Data, Some("name other --features")),
            _ => (Exit::Data, None),
        };
        let failure = Failure::new(exit, error.to_string());
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<sarl_eval::Error> for Failure {
    fn from(error: sarl_eval::Error) -> Self {
        use sarl_eval::Error;
        match error {
            Error::Interrupted => Failure::interrupted(),
            Error::Core(error) => error.into(),
            Error::Probe { .. } => Failure::new(Exit::Machine, error.to_string()),
            _ => Failure::new(Exit::Data, error.to_string()),
        }
    }
}

impl From<sarl_lab::Error> for Failure {
    fn from(error: sarl_lab::Error) -> Self {
        use sarl_lab::Error;
        let message = error.to_string();
        match error {
            Error::Interrupted => Failure::interrupted(),
            Error::Core(error) => error.into(),
            Error::Eval(error) => error.into(),
            Error::Rival(error) => error.into(),
            Error::TooFewRows { .. } => Failure::new(Exit::Data, message)
                .hint("give more rows, another --test-share, or --test FILE"),
            Error::Unknown { known, .. } => {
                Failure::usage(message).hint(format!("there are: {}", known.join(", ")))
            }
            Error::StandsAlone { .. } => Failure::usage(format!("--rivals: {message}")),
            Error::Unfit { name, error } => {
                Failure::from(error).hint(format!("leave {name} out of --rivals"))
            }
            Error::NoEncoderRows => Failure::usage(message),
            _ => Failure::new(Exit::Machine, message),
        }
    }
}

impl From<sarl_rivals::Error> for Failure {
    fn from(error: sarl_rivals::Error) -> Self {
        use sarl_rivals::Error;
        match error {
            Error::Interrupted => Failure::interrupted(),
            Error::Core(error) => error.into(),
            Error::Eval(error) => error.into(),
            Error::Unfit { .. } | Error::Hiding { .. } => Failure::usage(error.to_string()),
            Error::Shape { .. } | Error::Empty => Failure::new(Exit::Data, error.to_string()),
            _ => Failure::new(Exit::Machine, error.to_string()),
        }
    }
}

impl From<sarl_paper::Error> for Failure {
    fn from(error: sarl_paper::Error) -> Self {
        use sarl_paper::Error;
        let message = error.to_string();
        match error {
            Error::Data(error) => error.into(),
            Error::Lab(error) => error.into(),
            Error::Absent { advice, .. } => Failure::new(Exit::Data, message).hint(advice),
            Error::NotClasses { .. } | Error::NoRows { .. } => Failure::new(Exit::Data, message),
            Error::NoSeeds => Failure::usage(message),
            _ => Failure::new(Exit::Machine, message),
        }
    }
}

impl From<sarl_report::ReportError> for Failure {
    fn from(error: sarl_report::ReportError) -> Self {
        Self::new(Exit::Machine, error.to_string())
    }
}

impl From<csv::Error> for Failure {
    fn from(error: csv::Error) -> Self {
        Self::new(Exit::Machine, error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let broken_pipe = error.kind() == std::io::ErrorKind::BrokenPipe;
        Failure { broken_pipe, ..Self::new(Exit::Machine, error.to_string()) }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        match error.io_error_kind() {
            Some(kind) => std::io::Error::from(kind).into(),
            None => Self::new(Exit::Machine, error.to_string()),
        }
    }
}
