//! The files of an audit: the report, and what was predicted of each row.

use sarl_data::Schema;
use sarl_eval::{Labels, Told};
use sarl_lab::{Audited, Inputs, Subject};

use super::report::Report;
use crate::args::{Audit, Global};
use crate::failure::{Exit, Failure, Outcome};
use crate::given::Given;
use crate::inquiry::Files;
use crate::page::{TableReport, table};
use crate::terminal;
use crate::typed::Typed;

impl Report {
    /// The report, if one was asked for.
    pub fn page(
        &self,
        options: &Audit,
        schema: &Schema,
        files: &Files,
        global: &Global,
    ) -> Outcome {
        let (Some(_), Some(model)) = (&options.page.html, self.model.model()) else {
            return Ok(());
        };
        let rows = self.rows();
        let audited = Audited {
            attributes: &self.attributes,
            control: self.control.as_ref(),
            z: &self.z,
            what: format!("z of {}", terminal::path(&options.model)),
            leakage: model.point().leakage,
            rows: rows.trim_end(),
        };
        let (table, retune) = (table(schema)?, Typed::retune(&options.model));
        let inputs = Inputs::of_rows(&table, self.split.parts.probes.x.as_ref());
        let command = |_: &_, option: &str| retune.with_goal(option);
        let subject = Subject {
            inputs: Some(&inputs),
            audited: Some(&audited),
            ..Subject::new("The trade-off", model, &command)
        };
        let report = TableReport {
            command: "audit",
            given: &Given::Files(files.data.clone()),
            schema,
            table,
            subject,
            warnings: Vec::new(),
            seed: options.seed,
        };
        report.write(&options.page, global)?;
        Ok(())
    }

    /// The test rows with their labels and what the best attacker predicts of the target.
    pub fn predictions(&self) -> Outcome<Vec<u8>> {
        let Some(target) = self.z.targets.first() else {
            return Err(Failure::usage("--predictions: the model has no target to predict"));
        };
        let mut header = vec!["row".to_owned()];
        header.extend(self.attributes.all.iter().map(|a| a.name.clone()));
        header.push(format!("{}_predicted", target.attribute));
        let class = |names: &[String], code: u32| {
            names.get(code as usize).cloned().unwrap_or_else(|| code.to_string())
        };
        let cell = |labels: &Labels, names: &[String], i: usize| match labels {
            Labels::Classes { codes, .. } => class(names, codes[i]),
            Labels::Numbers(values) => values[i].to_string(),
        };
        let mut csv = csv::Writer::from_writer(Vec::new());
        csv.write_record(&header)?;
        for (i, place) in self.split.parts.test.places.iter().enumerate() {
            let mut line = vec![place.to_string()];
            line.extend(self.attributes.all.iter().map(|a| cell(&a.test, &a.classes, i)));
            line.push(match &target.best.told {
                Told::Classes(codes) => class(&self.attributes.all[0].classes, codes[i]),
                Told::Numbers(values) => values[i].to_string(),
            });
            csv.write_record(&line)?;
        }
        csv.into_inner().map_err(|e| Failure::new(Exit::Machine, e.to_string()))
    }
}
