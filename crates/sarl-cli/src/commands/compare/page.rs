//! The comparison as a report.

use sarl_data::Schema;
use sarl_report::page::{Chart, Holds, Page, Section, State, Table, Verdict};

use super::entry::{Entry, Method};
use super::figure::figure;
use super::ours::Fitted;
use super::report::Report;
use super::words;
use crate::args::Global;
use crate::commands::fit::POINTS;
use crate::commands::front;
use crate::failure::Outcome;
use crate::inquiry::Split;
use crate::page::{Heard, Inputs, Shown, Subject, THIS, Typed, facts, labels, of_tested};

/// Our encoders to play with, the comparison, the audits of ours in detail.
pub fn page(
    report: &Report<'_>,
    ours: &[Fitted],
    schema: &Schema,
    global: &Global,
) -> Outcome<Page> {
    let kept = match report.attributes.targets {
        0 => "the features".to_owned(),
        targets => named(&report.attributes.all[..targets]),
    };
    let hidden = named(&report.attributes.all[report.attributes.targets..]);
    let shown = shown(report, schema);
    let inputs = Inputs::of_rows(schema, report.parts.probes.x.as_ref());
    let heard: Vec<Heard> = ours.iter().map(|fitted| heard(report, fitted.method)).collect();
    let mut explorers = Vec::new();
    let mut details = Vec::new();
    for (fitted, heard) in ours.iter().zip(&heard) {
        let points = front::rows(&fitted.model.front()?, fitted.folds.as_ref(), POINTS)?;
        let subject = Subject {
            name: fitted.method.title().to_owned(),
            kept: &kept,
            hidden: &hidden,
            model: &fitted.model,
            heldout: fitted.folds.as_ref(),
            points: &points,
            own: false,
            shown: shown.as_ref(),
            inputs: Some(&inputs),
            command: command(fitted),
            // Without test rows of their own, the encoders here learnt on a part of the data.
            makes: if report.parts.split == Split::Test {
                THIS
            } else {
                "Command for such an encoder of all rows"
            },
            heard: Some(heard),
            audited: None,
            advice: "",
        };
        let explorer = subject.explorer(global.quiet)?.explorer;
        let at = explorer.positions.get(explorer.start).map_or(0.0, |p| p.leakage);
        details.extend(heard.audited(at).map(|audited| {
            let title = format!("The audit of {}", fitted.method.title());
            let holds = Holds {
                explorer: explorers.len(),
                at: heard.holds(at, &explorer.positions),
                words: audited.what.clone(),
            };
            Section { title, holds: Some(holds), ..audited.section() }
        }));
        explorers.push(explorer);
    }
    let mut sections = vec![comparison(report)];
    sections.extend(details);
    let models: Vec<_> = ours.iter().map(|f| &f.model).collect();
    let data = &report.options.data.data;
    Ok(Page {
        title: format!("Keep {kept}, hide {hidden}: methods compared"),
        subtitle: "sarl compare".to_owned(),
        verdict: words::line(report).map(|(best, text)| Verdict {
            state: if best { State::Good } else { State::Open },
            text,
        }),
        explorers,
        sections,
        about: facts(data, Some(schema), &models, report.options.encoder.seed),
        ..Page::default()
    })
}

fn named(attributes: &[sarl_eval::Asked]) -> String {
    attributes.iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Test rows, as many as were asked for.
fn shown(report: &Report<'_>, schema: &Schema) -> Option<Shown> {
    let test = &report.parts.test;
    let count = test.len().min(report.options.page.html_rows as usize);
    if count == 0 {
        return None;
    }
    // Evenly over all of them.
    let which: Vec<usize> = (0..count).map(|i| i * test.len() / count).collect();
    let rows = test.select(&which);
    let words = of_tested(count, test.len());
    Some(Shown { labels: labels(schema, &rows), x: rows.x, words })
}

/// What was found along the front of a method of ours, beside the others.
fn heard(report: &Report<'_>, method: Method) -> Heard {
    let mine = report.entries.iter().filter(|e| e.method.name() == method.name());
    let levels = mine.filter_map(|e| Some((e.found.as_ref()?.leakage, e.side.clone()?)));
    let raw = report.entries.iter().find(|e| matches!(e.method, Method::Raw));
    let mut rivals: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for entry in report.entries.iter().filter(|e| e.method.is_rival()) {
        let Some(place) = place(report, entry) else { continue };
        match rivals.iter_mut().find(|r| r.0 == entry.method.title()) {
            Some(rival) => rival.1.push(place),
            None => rivals.push((entry.method.title().to_owned(), vec![place])),
        }
    }
    let options = report.options;
    Heard {
        who: method.title().to_owned(),
        attributes: report.attributes.clone(),
        control: raw.and_then(|e| e.side.clone()),
        levels: levels.collect(),
        rivals,
        rows: report.parts.words(&options.data.data, &options.probing, options.encoder.seed),
    }
}

/// What leaks and what is kept.
fn place(report: &Report<'_>, entry: &Entry) -> Option<(f64, f64)> {
    Some((report.worst_place(entry.found.as_ref()?), entry.target()?))
}

/// The fit of one of ours on all rows.
fn command(fitted: &Fitted) -> Typed {
    match fitted.method {
        Method::Linear => Typed::fit(&["kernel", "approx"]),
        _ => match Typed::was_given("kernel") {
            true => Typed::fit(&[]),
            false => Typed::fit(&["ridge"]).with(&["--kernel", "rbf", "--ridge", "auto"]),
        },
    }
}

fn comparison(report: &Report<'_>) -> Section {
    let (header, rows) = report.listed();
    // A page has room for words that a terminal has not.
    let header = header.into_iter().map(|name| match name.as_str() {
        "ours at no more" => "best sarl result at the same or lower worst case".to_owned(),
        _ => name,
    });
    // What the verdict says is not said again.
    let line = words::line(report).map_or(String::new(), |(_, line)| line);
    let mut text: Vec<String> =
        words::sentences(report).into_iter().filter(|s| !line.contains(s.as_str())).collect();
    text.extend(report.kinds.iter().cloned());
    let title = "Every method at every setting, on test rows".to_owned();
    Section {
        title: "The comparison".to_owned(),
        text,
        charts: vec![Chart { wide: true, ..figure(report).into() }],
        tables: vec![Table { title, header: header.collect(), rows, names: 2 }],
        lead: true,
        holds: None,
    }
}
