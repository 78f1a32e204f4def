//! How fair predictions of the target are, as tables and in sentences: for the terminal and for the page.
//!
//! What became worse is named first.

use std::borrow::Cow;

use sarl_eval::{Attributes, Change, Fairness, Judged, Outcome, Rates, Side};
use sarl_report::page::Table;

use crate::plain;
use crate::words::{capital, percent};

/// The measure of a gap, its value from the raw features and from z, and its change.
type Moved<'a> = (&'static str, f64, f64, &'a Change);

/// A figure without a sign on zero.
fn shown(value: f64) -> String {
    // Adding zero turns -0 into 0.
    format!("{:.3}", value + 0.0)
}

/// A figure with its interval.
fn with_interval(value: f64, [low, high]: [f64; 2]) -> String {
    format!("{} [{}–{}]", shown(value), shown(low), shown(high))
}

/// The name of the attribute whose groups these are.
fn hidden<'a>(judged: &Judged, attributes: &'a Attributes) -> Cow<'a, str> {
    let asked = attributes.all.get(attributes.targets + judged.hidden);
    asked.map_or(Cow::Borrowed("?"), |asked| plain(&asked.name))
}

/// `groups of sex`, `fifths of age`.
pub fn between(judged: &Judged, attributes: &Attributes) -> String {
    let what = if judged.fifths { "fifths" } else { "groups" };
    format!("{what} of {}", hidden(judged, attributes))
}

/// Two tables for each hidden attribute: the gaps, and each group.
pub fn tables(z: &Side, attributes: &Attributes) -> Vec<[Table; 2]> {
    let Some(target) = z.targets.first() else { return Vec::new() };
    let who = z.predictor.as_deref().unwrap_or_default();
    let one = |judged: &Judged| {
        let between = between(judged, attributes);
        let positive = match &judged.positive[..] {
            [one] => format!("{} = {one}", target.attribute),
            [] => format!("{}, in standard deviations", target.attribute),
            _ => format!("{}, the worst class", target.attribute),
        };
        let title = format!("Fairness between {between}: best predictor of {positive} ({who})");
        [gaps(judged, title), groups(judged, capital(&between))]
    };
    z.fairness.iter().map(one).collect()
}

fn gaps(judged: &Judged, title: String) -> Table {
    let listed = |fair: &Fairness| -> Vec<String> {
        fair.gaps
            .each()
            .zip(fair.ci.each())
            .map(|((_, v), (_, ci))| with_interval(*v, *ci))
            .collect()
    };
    let mut header = vec!["largest gap", "z [95 %]"];
    let names = judged.fairness.gaps.each().map(|(name, _)| name.to_owned());
    let mut columns = vec![names.collect(), listed(&judged.fairness)];
    if let Some(raw) = &judged.raw {
        header.push("raw features [95 %]");
        columns.push(listed(raw));
    }
    if let Some(change) = &judged.change {
        header.push("z is");
        columns.push(change.each().map(|(_, c)| c.outcome.words().to_owned()).collect());
    }
    table(title, header, &columns)
}

fn groups(judged: &Judged, title: String) -> Table {
    let (fair, raw) = (&judged.fairness, judged.raw.as_ref());
    let name = |g: &sarl_eval::fairness::Group| judged.name(g.group);
    let mut header = vec!["group".to_owned(), "rows".to_owned()];
    let mut columns: Vec<Vec<String>> = vec![
        fair.groups.iter().map(name).collect(),
        fair.groups.iter().map(|g| g.rows.to_string()).collect(),
    ];
    let mut add = |what: &str, of: &dyn Fn(&Rates) -> Option<String>| {
        let list = |fair: &Fairness| -> Option<Vec<String>> {
            fair.groups.iter().map(|g| of(&g.rates)).collect()
        };
        let Some(z) = list(fair) else { return };
        header.push(format!("{what}, z"));
        columns.push(z);
        if let Some(raw) = raw.and_then(list) {
            header.push(format!("{what}, raw"));
            columns.push(raw);
        }
    };
    let first = |rates: &[f64]| match rates {
        [one] => Some(percent(*one)),
        _ => None,
    };
    add("accuracy", &|rates| match rates {
        Rates::Class { accuracy, .. } => Some(percent(*accuracy)),
        Rates::Number { .. } => None,
    });
    let positive = judged.positive.first().map_or("", String::as_str);
    add(&format!("predicted {positive}"), &|rates| match rates {
        Rates::Class { selected, .. } => first(selected),
        Rates::Number { .. } => None,
    });
    add("mean prediction", &|rates| match rates {
        Rates::Class { .. } => None,
        Rates::Number { mean_prediction, .. } => Some(format!("{mean_prediction:.4}")),
    });
    table(title, header, &columns)
}

fn table<H: Into<String>>(title: String, header: Vec<H>, columns: &[Vec<String>]) -> Table {
    let count = columns.first().map_or(0, Vec::len);
    let row = |i: usize| columns.iter().map(|c| c.get(i).cloned().unwrap_or_default()).collect();
    let header = header.into_iter().map(Into::into).collect();
    Table { title, header, rows: (0..count).map(row).collect(), names: 1 }
}

/// The gaps of an attribute before and after, what became worse first.
fn moved(judged: &Judged) -> Option<Vec<Moved<'_>>> {
    let (raw, change) = (judged.raw.as_ref()?, judged.change.as_ref()?);
    let after = judged.fairness.gaps.each();
    let each = raw.gaps.each().zip(after).zip(change.each());
    let mut all: Vec<Moved<'_>> =
        each.map(|(((name, from), (_, to)), (_, change))| (name, *from, *to, change)).collect();
    all.sort_by_key(|moved| moved.3.outcome);
    Some(all)
}

/// A sentence for each hidden attribute, what became worse first.
pub fn sentences(z: &Side, attributes: &Attributes) -> Vec<String> {
    let one = |judged: &Judged| {
        let between = between(judged, attributes);
        let Some(moved) = moved(judged) else {
            let gaps = judged.fairness.gaps.each();
            let gaps: Vec<String> =
                gaps.map(|(name, gap)| format!("{name} {}", shown(*gap))).collect();
            return format!("Largest gaps between {between} (0 is fair): {}.", gaps.join(", "));
        };
        let said = |(name, from, to, change): &Moved<'_>| {
            let verb = if change.outcome == Outcome::Unclear { "shows" } else { "is" };
            format!("{name} {verb} {} ({} → {})", change.outcome.words(), shown(*from), shown(*to))
        };
        let said: Vec<String> = moved.iter().map(said).collect();
        format!("Against raw features, between {between}: {}.", said.join(", "))
    };
    z.fairness.iter().map(one).collect()
}

/// All attributes in one sentence, what became worse first; nothing where the raw features were not
/// looked at.
pub fn in_short(z: &Side, attributes: &Attributes) -> Option<String> {
    let target = plain(&z.targets.first()?.attribute);
    let mut all: Vec<(Moved<'_>, Cow<'_, str>)> = Vec::new();
    for judged in &z.fairness {
        let of = hidden(judged, attributes);
        all.extend(moved(judged)?.into_iter().map(|one| (one, of.clone())));
    }
    if all.is_empty() {
        return None;
    }
    let list = |outcome: Outcome| {
        let of = all.iter().filter(|((.., change), _)| change.outcome == outcome);
        let said = of.map(|((name, from, to, _), hidden)| match outcome {
            Outcome::Unclear => format!("{name} of {hidden}"),
            _ => format!("{name} of {hidden} ({} → {})", shown(*from), shown(*to)),
        });
        let said: Vec<String> = said.collect();
        (!said.is_empty()).then(|| format!("{}: {}", outcome.words(), said.join(", ")))
    };
    let said: Vec<String> =
        [Outcome::Worse, Outcome::Better, Outcome::Unclear].into_iter().filter_map(list).collect();
    Some(format!(
        "Fairness of predicting {target} against raw features (gaps between groups, 0 is fair): {}.",
        said.join("; ")
    ))
}

#[cfg(test)]
mod tests;
