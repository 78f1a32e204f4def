//! `sarl audit`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use faer::Mat;
use sarl::{Encoder, Model};
use sarl_data::{BlockOptions, LabelValues, Schema, Source, Unseen};
use sarl_eval::{
    Attribute, Baseline, Fairness, Finding, Labels, Options, Probe, Score, Told, Trial, View,
    probes,
};
use serde_json::{Value, json};

use super::encode::schema_of;
use super::retune::load;
use crate::args::{Audit, Global, UnseenPolicy};
use crate::data::check_output;
use crate::failure::{Exit, Failure, Outcome};
use crate::memory::{Rows, scaled_columns, standardise};
use crate::origin::Origin;
use crate::output;
use crate::progress::{self, Count};

pub fn run(options: &Audit, global: &Global) -> Outcome {
    let start = Instant::now();
    if !(options.test_share > 0.0 && options.test_share < 1.0) {
        let message = format!("--test-share is {}: expected above 0, below 1", options.test_share);
        return Err(Failure::usage(message));
    }
    let who = choose(&options.probes)?;
    let model = load(&options.model)?;
    let schema = schema_of(&model, &options.model)?;
    let source = Source::open(&options.data)?.with_threads(rayon::current_num_threads());
    let test = match options.test.is_empty() {
        true => None,
        false => Some(Source::open(&options.test)?.with_threads(rayon::current_num_threads())),
    };
    if let Some(output) = &options.predictions {
        let inputs = source.paths().chain(test.iter().flat_map(Source::paths));
        check_output(output, inputs.chain([options.model.as_path()]))?;
    }
    let origin = Origin::load(&model)?;
    let split =
        Split::new(&source, test.as_ref(), &schema, &model, origin.as_ref(), options, global)?;
    let attributes = Attributes::new(&schema, &split);
    let views = views(&split, options.no_control);
    let seeds: Vec<u64> =
        (0..u64::from(options.seeds)).map(|i| options.seed.wrapping_add(i)).collect();
    let count = Count::new("probing", global.quiet);
    let found = sarl_eval::audit(
        &views,
        &attributes.asked(),
        &Options {
            probes: &who,
            seeds: &seeds,
            threads: rayon::current_num_threads(),
            stop: &progress::interrupted,
            progress: &|done, all| count.at(done, all),
        },
    )?;
    drop(count);
    progress::check()?;
    let mut found = found.into_iter().map(|f| Side::new(f, &attributes));
    let Some(z) = found.next() else { return Err(Failure::interrupted()) };
    let report = Report { z, control: found.next(), split, attributes, model, origin, seeds };
    if let Some(path) = &options.predictions {
        sarl_data::write_file(path, &report.predictions()?)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    if global.json {
        return output::print_json(&report.json(options, seconds));
    }
    output::print(&report.text(options, seconds))
}

/// The probes of these names.
fn choose(names: &[String]) -> Outcome<Vec<&'static dyn Probe>> {
    let all = probes::all();
    if names.is_empty() {
        return Ok(all.to_vec());
    }
    let find = |name: &String| {
        all.iter().copied().find(|p| p.name() == name).ok_or_else(|| {
            let known: Vec<&str> = all.iter().map(|p| p.name()).collect();
            Failure::usage(format!("there is no probe `{name}`"))
                .hint(format!("there are: {}", known.join(", ")))
        })
    };
    names.iter().map(find).collect()
}

/// Rows to learn from, rows to be tested on, and an encoder that has not seen the latter.
struct Split {
    train: Rows,
    test: Rows,
    /// The encoder was fitted anew, on the rows to learn from.
    anew: Option<Encoder>,
    /// The rows to be tested on are a file of their own.
    apart: bool,
}

impl Split {
    fn new(
        source: &Source,
        test: Option<&Source>,
        schema: &Schema,
        model: &Model,
        origin: Option<&Origin>,
        options: &Audit,
        global: &Global,
    ) -> Outcome<Self> {
        let reading = BlockOptions {
            unseen: match options.unseen {
                UnseenPolicy::Error => Unseen::Error,
                UnseenPolicy::Ignore => Unseen::Ignore,
            },
            ..Default::default()
        };
        let cap = options.rows as usize;
        let read =
            |source: &Source, seed| Rows::read(source, schema, model, &reading, cap, seed, global);
        let seen = |source: &Source| -> Outcome<Option<PathBuf>> {
            let seen = origin.map(|o| o.saw(source.paths())).transpose()?.flatten();
            Ok(seen.map(Path::to_owned))
        };
        let Some(test) = test else {
            let (mut train, mut test) =
                read(source, options.seed)?.split(options.test_share, options.seed)?;
            let anew = match (seen(source)?, origin) {
                (Some(_), Some(origin)) => {
                    Some(refit(&mut train, &mut test, schema, model, origin)?)
                }
                _ => None,
            };
            return Ok(Split { train, test, anew, apart: false });
        };
        if let Some(path) = seen(test)? {
            let message = format!(
                "{}: the encoder was fitted on these rows, so it cannot be tested on them",
                path.display()
            );
            return Err(Failure::new(Exit::Unreachable, message)
                .hint("give other rows, or leave --test out: the encoder is then fitted anew on a part of DATA"));
        }
        if let Some(path) = test.paths().find(|t| source.paths().any(|s| s == *t)) {
            let message = format!("{}: is DATA and --test at the same time", path.display());
            return Err(Failure::usage(message).hint("leave --test out to split DATA"));
        }
        let (train, test) = (read(source, options.seed)?, read(test, options.seed)?);
        for (rows, source) in [(&train, "DATA"), (&test, "--test")] {
            if rows.len() == 0 {
                return Err(Failure::new(Exit::Data, format!("{source} has no rows")));
            }
        }
        Ok(Split { train, test, anew: None, apart: true })
    }
}

/// Fits the encoder anew on the rows to learn from, with the options and the goal of the model.
fn refit(
    train: &mut Rows,
    test: &mut Rows,
    schema: &Schema,
    model: &Model,
    origin: &Origin,
) -> Outcome<Encoder> {
    standardise(&mut train.x, &mut test.x, scaled_columns(schema));
    let encoder = train.fit(schema.target_is_features(), &origin.encoder, model.goal())?.encoder();
    train.z = encoder.encode(train.x.as_ref())?;
    test.z = encoder.encode(test.x.as_ref())?;
    Ok(encoder)
}

fn views(split: &Split, no_control: bool) -> Vec<View<'_>> {
    let view = |of: fn(&Rows) -> &Mat<f64>| View {
        train: of(&split.train).as_ref(),
        test: of(&split.test).as_ref(),
    };
    let z = view(|rows| &rows.z);
    if no_control { vec![z] } else { vec![z, view(|rows| &rows.x)] }
}

/// A label of the schema with its values.
struct Asked {
    name: String,
    classes: Vec<String>,
    train: Labels,
    test: Labels,
}

/// What is to be told: targets first.
struct Attributes {
    all: Vec<Asked>,
    targets: usize,
}

impl Attributes {
    fn new(schema: &Schema, split: &Split) -> Self {
        let labels = |labels: &[sarl_data::Label], of: fn(&Rows) -> &[Labels]| {
            let values = of(&split.train).iter().zip(of(&split.test));
            let asked = labels.iter().zip(values).map(|(label, (train, test))| Asked {
                name: label.name.clone(),
                classes: match &label.values {
                    LabelValues::Class { values, .. } => values.clone(),
                    LabelValues::Number { .. } => Vec::new(),
                },
                train: train.clone(),
                test: test.clone(),
            });
            asked.collect::<Vec<_>>()
        };
        let mut all = labels(schema.targets(), |rows| &rows.targets);
        let targets = all.len();
        all.extend(labels(schema.sensitives(), |rows| &rows.sensitives));
        Attributes { all, targets }
    }

    fn asked(&self) -> Vec<Attribute<'_>> {
        let all = self.all.iter();
        all.map(|a| Attribute { name: &a.name, train: &a.train, test: &a.test }).collect()
    }
}

/// What was found out in one view.
struct Side {
    targets: Vec<Finding>,
    sensitives: Vec<Finding>,
    /// For the first target and each sensitive class.
    fairness: Vec<(usize, Fairness)>,
}

impl Side {
    fn new(mut findings: Vec<Finding>, attributes: &Attributes) -> Self {
        let sensitives = findings.split_off(attributes.targets);
        let told = findings.first().map(|f| &f.best.told);
        let truth = attributes.all.first().map(|a| &a.test);
        let fairness = match (told, truth) {
            (Some(Told::Classes(told)), Some(Labels::Classes { codes, count })) => {
                let hidden = attributes.all[attributes.targets..].iter().enumerate();
                let fair = |(i, hidden): (usize, &Asked)| match &hidden.test {
                    Labels::Classes { codes: groups, .. } => {
                        Some((i, Fairness::new(codes, told, *count, groups).ok()?))
                    }
                    Labels::Numbers(_) => None,
                };
                hidden.filter_map(fair).collect()
            }
            _ => Vec::new(),
        };
        Side { targets: findings, sensitives, fairness }
    }

    /// The sensitive attribute that is told best beyond what can be told without looking.
    fn worst(&self) -> Option<(usize, &Finding)> {
        let beyond = |f: &Finding| f.best.score.value() - blind(&f.baseline);
        let all = self.sensitives.iter().enumerate();
        all.max_by(|a, b| beyond(a.1).total_cmp(&beyond(b.1)))
    }

    fn json(&self, attributes: &Attributes) -> Value {
        let finding = |f: &Finding, role: usize| {
            let mut value = serde_json::to_value(f).unwrap_or_default();
            value["classes"] = json!(attributes.all.get(role).map(|a| &a.classes));
            if let Some((trial, balanced)) = f.best_balanced() {
                value["best_balanced"] =
                    json!({ "probe": trial.probe, "balanced_accuracy": balanced });
            }
            value
        };
        let hidden = |i: usize| finding(&self.sensitives[i], attributes.targets + i);
        let fair = |i: usize| {
            let fairness = self.fairness.iter().find(|(at, _)| *at == i)?;
            let names = &attributes.all[attributes.targets + i].classes;
            let mut value = serde_json::to_value(&fairness.1).unwrap_or_default();
            value["attribute"] = json!(self.sensitives[i].attribute);
            value["probe"] = json!(self.targets.first()?.best.probe);
            if let Some(groups) = value["groups"].as_array_mut() {
                for group in groups {
                    group["name"] = json!(names.get(group["group"].as_u64().unwrap_or(0) as usize));
                }
            }
            Some(value)
        };
        let worst = self.worst().map_or(0, |w| w.0);
        let mut value = json!({
            "target": self.targets.first().map(|f| finding(f, 0)),
            "sensitive": self.sensitives.get(worst).map(|_| hidden(worst)),
            "fairness": fair(worst),
        });
        if self.targets.len() > 1 {
            let all = self.targets.iter().enumerate().map(|(i, f)| finding(f, i));
            value["targets"] = all.collect();
        }
        if self.sensitives.len() > 1 {
            value["sensitives"] = (0..self.sensitives.len()).map(hidden).collect();
            value["fairness_by"] = (0..self.sensitives.len()).filter_map(fair).collect();
        }
        value
    }
}

/// What can be told without looking.
fn blind(baseline: &Baseline) -> f64 {
    match *baseline {
        Baseline::Class { guess, majority, .. } => guess.max(majority),
        Baseline::Number { .. } => 0.0,
    }
}

struct Report {
    z: Side,
    control: Option<Side>,
    split: Split,
    attributes: Attributes,
    model: Model,
    origin: Option<Origin>,
    seeds: Vec<u64>,
}

impl Report {
    fn dim(&self) -> usize {
        self.split.train.z.ncols()
    }

    fn json(&self, options: &Audit, seconds: f64) -> Value {
        let side = |rows: &Rows, files: &[PathBuf]| json!({ "files": files, "rows": rows.len(), "of": rows.of });
        let tested = if self.split.apart { &options.test } else { &options.data };
        let mut value = json!({
            "model": options.model,
            "n_train": self.split.train.len(),
            "n_test": self.split.test.len(),
            "rows": {
                "train": side(&self.split.train, &options.data),
                "test": side(&self.split.test, tested),
                "test_share": (!self.split.apart).then_some(options.test_share),
                "seed": options.seed,
            },
            "encoder": {
                "dim": self.dim(),
                "fitted_on": match (&self.split.anew, &self.origin) {
                    (Some(_), _) => json!("the rows to learn from"),
                    (None, Some(origin)) => json!(origin.names()),
                    (None, None) => Value::Null,
                },
                "refitted": self.split.anew.is_some(),
                "leakage": self.model.point().leakage,
            },
            "seeds": self.seeds,
        });
        if let (Value::Object(all), Value::Object(more)) =
            (&mut value, self.z.json(&self.attributes))
        {
            all.extend(more);
        }
        value["control"] = json!(self.control.as_ref().map(|c| c.json(&self.attributes)));
        value["seconds"] = json!({ "total": seconds });
        value
    }

    fn text(&self, options: &Audit, seconds: f64) -> String {
        let mut text = self.rows(options);
        for (i, asked) in self.attributes.all.iter().enumerate() {
            let of = |side: &'_ Side| -> Finding {
                match i.checked_sub(self.attributes.targets) {
                    None => side.targets[i].clone(),
                    Some(i) => side.sensitives[i].clone(),
                }
            };
            let role = if i < self.attributes.targets { "to keep" } else { "to hide" };
            text += &format!(
                "\n── {} ({role}) ──\n{}\n",
                asked.name,
                table(&of(&self.z), self.control.as_ref().map(of).as_ref())
            );
        }
        text += &self.fairness();
        text += &self.words();
        text += &format!("\n{seconds:.1} s");
        text
    }

    /// Which rows were used for what.
    fn rows(&self, options: &Audit) -> String {
        let files = |paths: &[PathBuf]| {
            let names = paths.iter().map(|p| p.display().to_string());
            names.collect::<Vec<_>>().join(", ")
        };
        let (train, test) = (&self.split.train, &self.split.test);
        let drawn = |rows: &Rows, part: usize| match rows.of > part as u64 {
            true => format!(" (drawn from {})", rows.of),
            false => String::new(),
        };
        let mut text = match self.split.apart {
            true => format!(
                "Probes learnt on {} rows of {}{}, tested on {} rows of {}{}.\n",
                train.len(),
                files(&options.data),
                drawn(train, train.len()),
                test.len(),
                files(&options.test),
                drawn(test, test.len()),
            ),
            false => format!(
                "Probes learnt on {} rows of {}{}, tested on {} others of it (seed {}).\n",
                train.len(),
                files(&options.data),
                drawn(train, train.len() + test.len()),
                test.len(),
                options.seed,
            ),
        };
        text += &match (&self.split.anew, &self.origin) {
            (Some(_), _) => "The encoder has seen this file, so it was fitted anew, with the same \
                             options and goal, on the rows that the probes learnt from.\n"
                .to_owned(),
            (None, Some(origin)) => {
                format!(
                    "The encoder is that of the model, fitted on {}.\n",
                    origin.names().join(", ")
                )
            }
            (None, None) => "The model does not say which rows it was fitted on.\n".to_owned(),
        };
        text
    }

    fn fairness(&self) -> String {
        let Some(target) = self.z.targets.first() else { return String::new() };
        let mut text = String::new();
        for (i, fair) in &self.z.fairness {
            let hidden = &self.attributes.all[self.attributes.targets + i];
            let raw = self.control.as_ref().and_then(|c| c.fairness.iter().find(|f| f.0 == *i));
            let row = |name: &str, of: fn(&Fairness) -> f64| {
                let mut row = vec![name.to_owned()];
                row.extend(raw.map(|r| format!("{:.3}", of(&r.1))));
                row.push(format!("{:.3}", of(fair)));
                row
            };
            let mut rows = vec![
                row("demographic parity difference", |f| f.demographic_parity),
                row("equalized odds difference", |f| f.equalized_odds),
                row("equal opportunity difference", |f| f.equal_opportunity),
            ];
            for (g, group) in fair.groups.iter().enumerate() {
                let name = hidden.classes.get(group.group as usize).map_or("?", String::as_str);
                let mut row =
                    vec![format!("accuracy, {} = {name} ({} rows)", hidden.name, group.rows)];
                let raw = raw.and_then(|r| r.1.groups.get(g));
                row.extend(raw.map(|r| output::percent(r.accuracy)));
                row.push(output::percent(group.accuracy));
                rows.push(row);
            }
            let mut header = vec![""];
            header.extend(raw.map(|_| "raw features"));
            header.push("z");
            text += &format!(
                "\n── Fairness of the best predictor of {} ({}) between groups of {} ──\n{}\n",
                target.attribute,
                target.best.probe,
                hidden.name,
                output::table(&header, rows, |i| i > 0)
            );
        }
        text
    }

    /// What is and what is not promised.
    fn words(&self) -> String {
        let Some((_, worst)) = self.z.worst() else { return String::new() };
        let [low, high] = worst.best.ci;
        let value = worst.best.score.value();
        let found = match worst.baseline {
            Baseline::Class { majority, guess, .. } => {
                let blind = guess.max(majority);
                let points = 100.0 * (value - blind);
                let beyond = match low > blind {
                    true => format!("{points:.1} points more than"),
                    false => "no more, within its interval, than".to_owned(),
                };
                format!(
                    "{} tells {} in {} of the rows (95 %: {} to {}), {beyond} the majority guess of {}",
                    worst.best.probe,
                    worst.attribute,
                    output::percent(value),
                    output::percent(low),
                    output::percent(high),
                    output::percent(blind),
                )
            }
            Baseline::Number { .. } => format!(
                "{} explains {} of the variance of {} (95 %: {} to {})",
                worst.best.probe,
                output::percent(value),
                worst.attribute,
                output::percent(low),
                output::percent(high),
            ),
        };
        format!(
            "\nWorst case: {found}.\nThe certificate of the encoder is about linear adversaries: they explain {} of the sensitive \
             variance in the rows that it was fitted on. What others find is measured here, not bounded.\n",
            output::percent(self.model.point().leakage)
        )
    }

    /// The test rows with their labels and what the best target probe told.
    fn predictions(&self) -> Outcome<Vec<u8>> {
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
        let failed = |e: csv::Error| Failure::new(Exit::Machine, e.to_string());
        csv.write_record(&header).map_err(failed)?;
        for (i, place) in self.split.test.places.iter().enumerate() {
            let mut line = vec![place.to_string()];
            line.extend(self.attributes.all.iter().map(|a| cell(&a.test, &a.classes, i)));
            line.push(match &target.best.told {
                Told::Classes(codes) => class(&self.attributes.all[0].classes, codes[i]),
                Told::Numbers(values) => values[i].to_string(),
            });
            csv.write_record(&line).map_err(failed)?;
        }
        csv.into_inner().map_err(|e| Failure::new(Exit::Machine, e.to_string()))
    }
}

/// Every probe before and after.
fn table(z: &Finding, raw: Option<&Finding>) -> String {
    let star = |probe: &str| if probe == z.best.probe { " *" } else { "" };
    let row = |trial: &Trial| {
        let mut row = vec![format!("{}{}", trial.probe, star(trial.probe))];
        if let Some(raw) = raw {
            row.push(raw.trial(trial.probe).map_or("–".to_owned(), |t| spread(&t.score)));
        }
        row.push(spread(&trial.score));
        row.push(format!("{} to {}", output::percent(trial.ci[0]), output::percent(trial.ci[1])));
        if let Score::Class { balanced_accuracy, auc, .. } = trial.score {
            row.push(output::percent(balanced_accuracy));
            row.push(auc.map_or("–".to_owned(), |a| format!("{a:.3}")));
        }
        row
    };
    let mut rows: Vec<Vec<String>> = z.probes.iter().map(row).collect();
    let mut header = vec!["probe"];
    match z.baseline {
        Baseline::Class { majority, guess, chance, .. } => {
            header.extend(raw.map(|_| "raw features"));
            header.extend(["z", "95 % interval", "balanced", "AUC"]);
            let mut guesses = vec![("majority of the test rows", majority)];
            if (guess - majority).abs() > 1e-12 {
                guesses.push(("majority of the training rows", guess));
            }
            for (name, share) in guesses {
                let mut row = vec![name.to_owned()];
                row.extend(raw.map(|_| output::percent(share)));
                row.extend([output::percent(share), String::new(), output::percent(chance)]);
                rows.push(row);
            }
        }
        Baseline::Number { .. } => {
            header.extend(raw.map(|_| "raw features, R²"));
            header.extend(["z, R²", "95 % interval"]);
        }
    }
    output::table(&header, rows, |i| i > 0)
}

fn spread(score: &Score) -> String {
    match score.spread() {
        0.0 => output::percent(score.value()),
        sd => format!("{:.2} ± {:.2} %", 100.0 * score.value(), 100.0 * sd),
    }
}
