//! The page: from fits and audits to a report.

mod attackers;
mod audit;
mod embedding;
mod explorer;
mod facts;
mod figures;
mod inputs;
mod level;
mod table;
mod verdict;
mod words;

pub use self::audit::{AuditCurve, Audited};
pub use self::embedding::Shown;
pub(crate) use self::embedding::values;
pub use self::explorer::{Command, Made, POINTS, Row, Subject, front_rows};
pub use self::facts::{fact, facts};
pub use self::inputs::{Input, Inputs, spreads};
pub use self::table::PageText;
