//! What an encoder's figures are about, in words: all of an attribute, or what tells it among rows of
//! the same target.

use std::collections::BTreeMap;

use sarl::{Criterion, Erasing, Label as Column, LabelKind, Model, Role};
use serde_json::{Value, json};

use crate::plain;
use crate::table::{Label, LabelValues, Table};

/// Where a model keeps the schema of its table.
pub const SCHEMA: &str = "schema";

/// A criterion other than parity, as it is said.
pub struct Judged {
    /// What follows the name of an attribute: `among rows of the same income`.
    pub among: String,
    /// What the criterion does not ask for.
    pub allowed: String,
}

/// What hides attributes: an encoder, or an erasure.
pub trait Hides {
    /// What of them is hidden.
    fn criterion(&self) -> Criterion;
    /// What is kept and hidden.
    fn labels(&self) -> &[Column];
    /// Texts that it carries.
    fn texts(&self) -> &BTreeMap<String, String>;
}

impl Hides for Model {
    fn criterion(&self) -> Criterion {
        self.params().map(|p| p.criterion).unwrap_or_default()
    }

    fn labels(&self) -> &[Column] {
        self.labels()
    }

    fn texts(&self) -> &BTreeMap<String, String> {
        &self.extra
    }
}

impl Hides for Erasing {
    fn criterion(&self) -> Criterion {
        self.criterion()
    }

    fn labels(&self) -> &[Column] {
        self.labels()
    }

    fn texts(&self) -> &BTreeMap<String, String> {
        self.extra()
    }
}

/// The criterion of a model.
pub fn criterion(model: &impl Hides) -> Criterion {
    model.criterion()
}

/// What the figures of a model are about, where it is not all of an attribute.
pub fn judged(model: &impl Hides) -> Option<Judged> {
    let of = |role: Role| {
        let labels = model.labels().iter().filter(|l| l.role == role);
        labels.map(|l| plain(&l.name)).collect::<Vec<_>>().join(" and ")
    };
    let hidden = of(Role::Sensitive);
    // Where the features are kept, the model itself does not know beside what.
    let keeps = model.labels().iter().any(|l| l.kind == LabelKind::Features);
    let table = model.texts().get(SCHEMA).and_then(|text| Table::from_json(text).ok());
    let (target, numbers) = match table.filter(|_| keeps) {
        Some(table) => {
            let names: Vec<_> = table.targets.iter().map(|l| plain(&l.name)).collect();
            let number = |l: &Label| matches!(l.values, LabelValues::Number { .. });
            (names.join(" and "), table.targets.iter().any(number))
        }
        None if keeps => ("target".to_owned(), false),
        None => {
            let mut kept = model.labels().iter().filter(|l| l.role == Role::Target);
            (of(Role::Target), kept.any(|l| !matches!(l.kind, LabelKind::Class { .. })))
        }
    };
    match criterion(model) {
        Criterion::Parity => None,
        Criterion::EqualizedOdds if numbers => Some(Judged {
            among: format!(" beside {target}"),
            allowed: format!(
                "What {target} itself tells of {hidden} is not hidden: equalized odds allows it."
            ),
        }),
        Criterion::EqualizedOdds => Some(Judged {
            among: format!(" among rows of the same {target}"),
            allowed: format!(
                "Between rows of different {target} z may tell {hidden}: equalized odds allows it."
            ),
        }),
        Criterion::EqualOpportunity { favourable } => {
            let class = class(model, favourable);
            Some(Judged {
                among: format!(" among rows whose {target} is `{}`", plain(&class)),
                allowed: format!(
                    "Among all other rows z may tell {hidden}: equal opportunity allows it."
                ),
            })
        }
    }
}

/// The criterion as JSON has it.
pub fn json(model: &impl Hides) -> Value {
    let criterion = criterion(model);
    let mut value = json!({ "criterion": criterion.name() });
    if let Some(code) = criterion.favourable() {
        value["favourable"] = json!(class(model, code));
    }
    value
}

/// The name of a class of the first target.
fn class(model: &impl Hides, code: u32) -> String {
    let table = model.texts().get(SCHEMA).and_then(|text| Table::from_json(text).ok());
    let name = table.and_then(|table| match &table.targets.first()?.values {
        LabelValues::Class { values, .. } => values.get(code as usize).cloned(),
        LabelValues::Number { .. } => None,
    });
    name.unwrap_or_else(|| code.to_string())
}
