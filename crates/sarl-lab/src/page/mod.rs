//! The page: from fits and audits to a report.

mod attackers;
mod audit;
mod cells;
mod certified;
mod embedding;
mod explorer;
mod facts;
mod fairness;
mod figures;
mod inputs;
mod level;
mod subject;
mod verdict;
mod words;

pub use self::audit::{AuditCurve, Audited};
pub use self::certified::CertifiedFront;
pub use self::embedding::Shown;
pub(crate) use self::embedding::values;
pub use self::explorer::Made;
pub use self::facts::facts;
pub use self::inputs::{Input, Inputs, spreads};
pub use self::subject::{Command, POINTS, PageText, Row, Subject, front_rows};
