//! Encoders compared, audited and shown, for rows in memory.
//!
//! [`Parts`] are rows for the encoder, for the attackers and for the test. A [`Plan`] fits our encoders
//! and other methods on the first, lets the same attackers learn from the second, and tests them on the
//! third: [`Compared`] has the figures as JSON, as a table, as a chart and as a page. A [`Subject`] is
//! one fit as a front with a slider, and an [`AuditCurve`] what attackers predict along it.
//!
//! Nothing here reads files or prints. Progress and interruption go through [`Watch`].
//!
//! ```
//! use faer::Mat;
//! use sarl::FitParams;
//! use sarl_eval::{Labels, probes};
//! use sarl_lab::{Files, Method, Parts, Plan, Rows, Silent, Wanted};
//!
//! let x = Mat::from_fn(400, 2, |i, j| ((i * (7 + 6 * j) + j) % 29) as f64 - 14.0);
//! let class = |of: fn(f64, f64) -> bool| Labels::Classes {
//!     codes: (0..400).map(|i| u32::from(of(x[(i, 0)], x[(i, 1)]))).collect(),
//!     count: 2,
//! };
//! let rows = Rows {
//!     targets: vec![class(|a, b| a + b > 0.0)],
//!     sensitives: vec![class(|a, _| a > 0.0)],
//!     names: vec!["sum".into(), "first".into()],
//!     classes: vec![vec!["no".into(), "yes".into()]; 2],
//!     ..Rows::new(x)
//! };
//! let parts = Parts::new(rows, None, true, None, Files::default(), 0)?;
//! let plan = Plan {
//!     encoders: vec![(Method::Linear, FitParams::default())],
//!     leakages: vec![0.0],
//!     rivals: Wanted::new(&["leace".to_owned()])?,
//!     hiding: Vec::new(),
//!     probes: vec![&probes::Linear],
//!     seeds: vec![0],
//! };
//! let compared = plan.run(parts, &Silent)?;
//! assert_eq!(compared.json()["entries"].as_array().map(Vec::len), Some(3));
//! # Ok::<(), sarl_lab::Error>(())
//! ```

pub mod certificate;
mod compare;
mod comparison;
pub mod criterion;
mod error;
pub mod fairness;
pub mod findings;
pub mod goals;
mod mean;
mod page;
mod parts;
mod plain;
mod rows;
mod table;
mod watch;
pub mod words;

pub use certificate::Certified;
pub use compare::{CHART, Compared, Method, Ours, PageOf, Plan, Wanted};
pub use comparison::{Comparison, Probing, Run, RunOutcome, Scored, Sides, best_at_no_more};
pub use criterion::SCHEMA;
pub use error::{Error, Result};
pub use mean::Mean;
pub use page::{
    AuditCurve, Audited, CertifiedFront, Command, Input, Inputs, Made, POINTS, PageText, Row,
    Shown, Subject, facts, front_rows, spreads,
};
pub use parts::{Files, Parts, Split, choose};
pub use plain::{plain, plain_json, plain_lines};
pub use rows::{Reservoir, Rows, fit, standardise};
pub use table::Table;
pub use watch::{Silent, Watch};
