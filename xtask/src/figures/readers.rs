//! From what a command prints to tables.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::jobs::{Table, stem};
use super::stored::Stored;

/// Shorter headings than those of the command.
const HEADINGS: [(&str, &str); 3] = [
    ("ours at no more", "best sarl row at the same or lower worst case"),
    ("seconds to fit", "fit, s"),
    ("beside the paper", "against the paper"),
];

fn heading(key: &str) -> &str {
    HEADINGS.iter().find(|h| h.0 == key).map_or(key, |h| h.1)
}

pub(super) type Tables = Vec<(String, Stored)>;

pub(super) fn stored(measured: &str, columns: &[&str], rows: Vec<Vec<String>>) -> Stored {
    let columns = columns.iter().map(|c| (*c).to_owned()).collect();
    Stored { measured: measured.into(), title: String::new(), columns, rows }
}

/// The tables of `sarl reproduce --json`: the worst case stands before everything else.
pub(super) fn reproduced(measured: &str, found: &Value, tables: &[Table]) -> Result<Tables> {
    let all = found["tables"].as_array().context("no `tables`")?;
    let one = |table: &Table| -> Result<(String, Stored)> {
        let has_name = |t: &&Value| t["file"].as_str().map(stem) == Some(table.file);
        let names = || all.iter().map(|t| t["file"].to_string()).collect::<Vec<_>>().join(", ");
        let from = all.iter().find(has_name);
        let from = from.with_context(|| format!("no table `{}` in {}", table.file, names()))?;
        let rows = from["rows"].as_array().context("no `rows`")?;
        let first = rows.first().and_then(Value::as_object).context("no rows")?;
        let mut keys: Vec<&str> =
            first.keys().map(String::as_str).filter(|k| !table.skipped.contains(k)).collect();
        if let Some(worst) = keys.iter().position(|k| k.starts_with("worst")) {
            keys[1..=worst].rotate_right(1);
        }
        let cell = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let columns: Vec<&str> = keys.iter().map(|k| heading(k)).collect();
        let cells = rows.iter().map(|row| keys.iter().map(|k| cell(row, k)).collect()).collect();
        let title = from["title"].as_str().unwrap_or_default().to_owned();
        Ok((table.name.to_owned(), Stored { title, ..stored(measured, &columns, cells) }))
    };
    tables.iter().map(one).collect()
}

pub(super) fn number(value: &Value) -> Result<f64> {
    value.as_f64().with_context(|| format!("`{value}` is not a number"))
}

fn percent(value: &Value) -> Result<String> {
    Ok(format!("{:.1} %", 100.0 * number(value)?))
}

/// The encoder of Adult with a leakage of 1 %: `sarl fit --json` and `sarl audit --json`.
pub(super) fn example(fit: &Value, audit: &Value) -> Result<Tables> {
    let fitted = "`sarl fit train.csv -t income -s sex --missing drop --max-leakage 0.01`";
    let audited =
        format!("{fitted}, then `sarl audit model.safetensors train.csv --test test.csv`");
    let held = &fit["heldout"];
    let share = |held: &Value, sd: &Value| -> Result<String> {
        Ok(format!("{:.2} ± {:.2} %", 100.0 * number(held)?, 100.0 * number(sd)?))
    };
    // A spread of shares of the target's variance, as one of what the features give.
    let (bounds, kept) = (&fit["bounds"], number(&held["kept_sd"])?);
    let variance = number(&bounds["target_variance"])?;
    let spread = Value::from(kept * variance / (variance - number(&bounds["gamma_min"])?));
    let two = |value: &Value| Ok::<_, anyhow::Error>(format!("{:.2} %", 100.0 * number(value)?));
    let goal = vec![
        vec![
            "sex: leakage to the best linear attacker".to_owned(),
            share(&held["leakage"], &held["leaked_sd"])?,
            two(&fit["leakage"])?,
        ],
        vec![
            "income: utility".to_owned(),
            share(&held["utility"], &spread)?,
            two(&fit["utility"])?,
        ],
    ];
    let (hidden, raw) = (&audit["sensitive"], &audit["control"]["sensitive"]);
    let probes = hidden["probes"].as_array().context("no `probes`")?;
    let mut rows = Vec::new();
    for probe in probes {
        let name = probe["probe"].as_str().context("a probe without a name")?;
        let control = raw["probes"].as_array().into_iter().flatten();
        let control = control.filter(|p| p["probe"] == probe["probe"]).map(|p| &p["advantage"]);
        let row = vec![
            name.to_owned(),
            percent(&probe["advantage"])?,
            format!("{:.3}", number(&probe["auc"])?),
            percent(&probe["balanced_accuracy"])?,
            percent(&probe["accuracy"])?,
            control.map(percent).next().unwrap_or(Ok("–".into()))?,
        ];
        rows.push((number(&probe["advantage"])?, row));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut rows: Vec<Vec<String>> = rows.into_iter().map(|r| r.1).collect();
    let mut guess = vec!["always guessing the most frequent class".to_owned()];
    let nothing = ["0.0 %", "0.500", "50.0 %"].map(str::to_owned);
    guess.extend(nothing);
    guess.extend([percent(&hidden["majority"])?, "0.0 %".to_owned()]);
    rows.push(guess);
    let columns = [
        "attacker on sex",
        "advantage over guessing, z",
        "AUC",
        "balanced accuracy",
        "accuracy",
        "advantage, raw features",
    ];
    let fairness = |name: &str, key: &str| -> Result<Vec<String>> {
        let of = |found: &Value| Ok::<_, anyhow::Error>(format!("{:.3}", number(&found[key])?));
        Ok(vec![name.into(), of(&audit["fairness"])?, of(&audit["control"]["fairness"])?])
    };
    let fairness = vec![
        fairness("equal opportunity difference", "equal_opportunity")?,
        fairness("equalized odds difference", "equalized_odds")?,
        fairness("demographic parity difference", "demographic_parity")?,
    ];
    Ok(vec![
        ("adult-goal".into(), stored(fitted, &["", "held-out rows", "training rows"], goal)),
        ("adult-audit".into(), stored(&audited, &columns, rows)),
        (
            "adult-fairness".into(),
            stored(&audited, &["of the best predictor of income", "z", "raw features"], fairness),
        ),
    ])
}

const SPEED: [&str; 4] = ["work", "sarl", "peer", "ratio"];

/// Lines of `what  0.1234 s   peer 0.5678 s   ratio 0.217`, or of `what: figures`. An indented line belongs
/// to the one above it.
pub(super) fn core(text: &str) -> Result<Tables> {
    let mut rows = Vec::new();
    let mut above = String::new();
    for line in text.lines().filter(|l| !l.trim().is_empty() && !l.contains("threads;")) {
        let own = line.trim_start();
        let what = if own.len() < line.len() { format!("{above}: {own}") } else { own.to_owned() };
        if own.len() == line.len() {
            above = own.split("  ").next().unwrap_or(own).trim_end_matches(':').to_owned();
        }
        let parts: Vec<&str> =
            what.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect();
        rows.push(match parts.as_slice() {
            [what, ours, "peer", peer, ratio] => {
                let ratio = ratio.trim_start_matches("ratio ");
                [*what, *ours, *peer, ratio].map(str::to_owned).to_vec()
            }
            // The authors' procedure is the peer.
            [what, peer] if what.contains("authors'") => {
                [what.trim_end_matches(':'), "", peer, ""].map(str::to_owned).to_vec()
            }
            [what, ours, rest @ ..] => {
                vec![(*what).to_owned(), (*ours).to_owned(), rest.join(", "), String::new()]
            }
            [one] => {
                let (what, figures) = one.rsplit_once(": ").unwrap_or((one, ""));
                vec![what.to_owned(), figures.to_owned(), String::new(), String::new()]
            }
            [] => continue,
        });
    }
    if rows.is_empty() {
        bail!("the benchmark printed nothing");
    }
    let measured = "`cargo xtask figures --only core`, medians of 7 runs in turns";
    Ok(vec![("speed-core".into(), stored(measured, &SPEED, rows))])
}

/// `sarl fit   2.60 s   ratio 1.31 to scan + matrix work, peak 197 MB`, and the bare work before it.
pub(super) fn out_of_core(text: &str) -> Result<Tables> {
    let mut rows = Vec::new();
    let mut about = "";
    for line in text.lines().filter(|l| !l.trim().is_empty()) {
        let parts: Vec<&str> =
            line.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect();
        match parts.as_slice() {
            [one] => about = one,
            [what, time] => {
                let cells = [*what, *time, "", ""];
                rows.push(cells.map(str::to_owned).to_vec());
            }
            [what, time, rest] => {
                let (ratio, peak) = rest.split_once(", peak ").unwrap_or((rest, ""));
                let ratio = ratio.trim_start_matches("ratio ").split(' ').next().unwrap_or("");
                let cells = [*what, *time, ratio, peak];
                rows.push(cells.map(str::to_owned).to_vec());
            }
            _ => bail!("cannot read `{line}`"),
        }
    }
    let measured = format!("`cargo xtask figures --only out-of-core`, {about}");
    let columns = ["work", "time", "ratio to the bare work", "peak memory"];
    Ok(vec![("speed-files".into(), stored(&measured, &columns, rows))])
}

/// `python/benches/fit.py --json`: jobs with their best times and memory.
pub(super) fn python(found: &Value) -> Result<Tables> {
    let jobs = found["jobs"].as_object().context("no `jobs`")?;
    let (mut fits, mut transforms) = (Vec::new(), Vec::new());
    for (key, job) in jobs {
        let name = job["name"].as_str().context("a job without a name")?.to_owned();
        let time = format!("{:.3}", number(&job["best_s"])?);
        let ratio = format!("{:.2}", number(&job["ratio_best"])?);
        let memory = job["extra_mb"].as_f64().map_or("unknown".into(), |mb| format!("{mb:.0} MB"));
        let transform = ["transform", "numpy-erasure", "numpy-encoding"];
        let to = match transform.iter().any(|word| key.contains(word)) {
            true => &mut transforms,
            false => &mut fits,
        };
        to.push(vec![name, time, ratio, memory]);
    }
    let measured = "`cargo xtask figures --only python`, the best of 15 runs";
    let columns = ["work", "s", "ratio to the first row of its kind", "memory beside X"];
    Ok(vec![
        ("speed-python-fit".into(), stored(measured, &columns, fits)),
        ("speed-python-transform".into(), stored(measured, &columns, transforms)),
    ])
}

/// `python/benches/scrub.py --json`: times and memory of one layer, beside those of another library.
pub(super) fn scrub(found: &Value) -> Result<Tables> {
    let methods = found["methods"].as_object().context("no `methods`")?;
    let mut rows = Vec::new();
    for result in methods.values() {
        let name = result["name"].as_str().context("a method without a name")?.to_owned();
        let ratio =
            |of: &str| Ok::<_, anyhow::Error>(format!("{:.2}", number(&result["ratios"][of])?));
        rows.push(vec![
            name,
            format!("{:.1}", number(&result["fit_s"])?),
            ratio("fit_s")?,
            format!("{:.2}", number(&result["apply_s"])?),
            ratio("apply_s")?,
            format!("{:.0}", number(&result["extra_mb"])?),
            ratio("extra_mb")?,
        ]);
    }
    let (tokens, width) = (number(&found["tokens"])?, number(&found["width"])?);
    let measured = format!(
        "`cargo xtask figures --only scrub`, one layer, {tokens} rows of {width} columns in single \
         precision, {} cores, each method in a process of its own",
        number(&found["cores"])?
    );
    let columns =
        ["method", "fit, s", "ratio", "apply, s", "ratio", "memory of the fit, MB", "ratio"];
    Ok(vec![("networks-speed".into(), stored(&measured, &columns, rows))])
}

/// `python/benches/wide.py --json`: times beside those of a peer.
pub(super) fn wide(found: &Value) -> Result<Tables> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let seconds = |value: &Value| -> Result<String> { Ok(format!("{:.3} s", number(value)?)) };
    let lines = found["lines"].as_array().context("no `lines`")?.iter().map(|line| {
        let ratio = format!("{:.2}", number(&line["ratio"])?);
        let (ours, peer) = (seconds(&line["seconds"])?, seconds(&line["seconds_peer"])?);
        let beside = format!("`{}` {peer}", text(&line["peer"]));
        Ok(vec![text(&line["size"]), format!("`{}`", text(&line["work"])), ours, beside, ratio])
    });
    let turns = number(&found["turns"])?;
    let cores = number(&found["cores"])?;
    let measured = format!("`python/benches/wide.py`, medians of {turns}, {cores} cores");
    let columns = ["float32 rows", "work", "time", "beside", "ratio"];
    Ok(vec![("speed-wide".into(), stored(&measured, &columns, lines.collect::<Result<_>>()?))])
}

/// `python/benches/single.py --json`: what erasure leaves in each precision.
pub(super) fn single(found: &Value) -> Result<Tables> {
    let lines = found["lines"].as_array().context("no `lines`")?.iter().map(|line| {
        let rows = line["rows"].as_str().unwrap_or_default().to_owned();
        let keys = ["left_double", "left_single", "apart"];
        let figures = keys.map(|key| Ok(format!("{:.0e}", number(&line[key])?)));
        std::iter::once(Ok(rows)).chain(figures).collect::<Result<Vec<String>>>()
    });
    let columns = ["rows", "left, double", "left, single", "erased rows apart"];
    let how = "`cargo xtask figures --only single`";
    Ok(vec![("single-error".into(), stored(how, &columns, lines.collect::<Result<_>>()?))])
}

/// In how many of the lines with ExponentiatedGradient one of ours is as good, and of how many.
fn level_with_fairlearn(measured: &[Value]) -> Result<(usize, usize)> {
    let (mut level, mut of) = (0, 0);
    for theirs in measured.iter().filter(|r| r["method"] == "ExponentiatedGradient") {
        let (accuracy, gap) = (number(&theirs["accuracy"])?, number(&theirs["gap"])?);
        let mut ours = measured.iter().filter(|r| {
            let is_ours = ["SARL", "KernelSARL", "Eraser", "CertifiedSARL"];
            let method = r["method"].as_str().unwrap_or_default();
            let same = r["set"] == theirs["set"] && r["criterion"] == theirs["criterion"];
            same && is_ours.contains(&method)
        });
        let as_good = |r: &Value| {
            r["accuracy"].as_f64().is_some_and(|a| a >= accuracy - 0.001)
                && r["gap"].as_f64().is_some_and(|g| g <= gap + 0.01)
        };
        level += usize::from(ours.any(as_good));
        of += 1;
    }
    Ok((level, of))
}

/// Accuracies and gaps of `python/benches/fairness.py`, a row for each data set and criterion.
pub(super) fn fairness(found: &Value) -> Result<Tables> {
    const METHODS: [&str; 7] = [
        "raw features",
        "SARL",
        "KernelSARL",
        "Eraser",
        "CertifiedSARL",
        "ExponentiatedGradient",
        "ThresholdOptimizer",
    ];
    let measured = found["methods"].as_array().context("no `methods`")?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for result in measured {
        let key = [text(&result["set"]), text(&result["criterion"])];
        let cell = format!("{} · {:.3}", percent(&result["accuracy"])?, number(&result["gap"])?);
        let at = METHODS.iter().position(|m| result["method"] == *m);
        let at = at.with_context(|| format!("an unknown method: {}", result["method"]))?;
        if rows.last().is_none_or(|row| row[..2] != key) {
            rows.push(key.into_iter().chain(METHODS.map(|_| "–".to_owned())).collect());
        }
        if let Some(row) = rows.last_mut() {
            row[2 + at] = cell;
        }
    }
    let limit = number(&found["limit"])?;
    let how = "`cargo xtask figures --only beside-fairlearn`";
    let (level, of) = level_with_fairlearn(measured)?;
    let settings = format!(
        "{how}; accuracy · gap, settings for a gap of {limit} on validation rows. One of ours is level \
         with ExponentiatedGradient or better (accuracy within 0.1 points, gap within 0.01) in {level} \
         of {of} lines"
    );
    let columns: Vec<&str> = ["data, attribute", "criterion"].into_iter().chain(METHODS).collect();
    let age = found["age"].as_array().context("no `age`")?.iter().map(|row| {
        let leakage = row["leakage"].as_f64().map_or("–".to_owned(), |l| format!("{l:.0e}"));
        let spread = format!("{:.3}", number(&row["spread"])?);
        Ok(vec![text(&row["label"]), leakage, percent(&row["accuracy"])?, spread])
    });
    let columns_of_age = [
        "age is hidden as",
        "leakage",
        "accuracy",
        "spread of the selection rate over fifths of age",
    ];
    Ok(vec![
        ("fairness".into(), stored(&settings, &columns, rows)),
        ("acs-age".into(), stored(how, &columns_of_age, age.collect::<Result<_>>()?)),
    ])
}

/// `what: figure` on each line.
pub(super) fn page(text: &str) -> Result<Tables> {
    let pair = |line: &str| -> Result<Vec<String>> {
        let (what, figure) =
            line.split_once(": ").with_context(|| format!("cannot read `{line}`"))?;
        Ok(vec![what.trim().to_owned(), figure.trim().to_owned()])
    };
    let rows: Vec<Vec<String>> =
        text.lines().filter(|l| !l.trim().is_empty()).map(pair).collect::<Result<_>>()?;
    let measured = "`cargo xtask figures --only page`, medians of 5 openings";
    Ok(vec![("speed-page".into(), stored(measured, &["work", "time"], rows))])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "these are tests")]

    use serde_json::json;

    use super::*;

    fn rows(tables: &Tables) -> &[Vec<String>] {
        &tables[0].1.rows
    }

    #[test]
    fn reproduced_tables_begin_with_the_worst_case() {
        let found = json!({"tables": [{"file": "t.csv", "title": "T", "rows": [
            {"method": "A", "target %": "84.1", "Δ": "1", "worst case %": "68.2", "seconds to fit": "1"}
        ]}]});
        let tables = [Table { name: "one", file: "t", skipped: &["Δ"] }];
        let read = reproduced("`x`", &found, &tables).unwrap();
        assert_eq!(read[0].1.columns, ["method", "worst case %", "target %", "fit, s"]);
        assert_eq!(rows(&read), [["A", "68.2", "84.1", "1"]]);
        let missing = [Table { name: "one", file: "other", skipped: &[] }];
        assert!(reproduced("`x`", &found, &missing).is_err());
    }

    #[test]
    fn methods_beside_each_other() {
        let one = |method: &str, gap: f64| json!({"set": "A", "criterion": "parity", "method": method, "accuracy": 0.8, "gap": gap});
        let found = json!({
            "limit": 0.03,
            "methods": [one("SARL", 0.02), one("Eraser", 0.0251)],
            "age": [{"label": "x", "leakage": null, "accuracy": 0.7, "spread": 0.3}],
        });
        let read = fairness(&found).unwrap();
        assert_eq!(
            rows(&read)[0][..6],
            ["A", "parity", "–", "80.0 % · 0.020", "–", "80.0 % · 0.025"]
        );
        assert_eq!(read[1].1.rows, [["x", "–", "70.0 %", "0.300"]]);
    }

    #[test]
    fn lines_of_the_benchmarks_are_read() {
        let text = "2 threads; medians of 7 alternating runs\n\n\
            moments, f64, against dsyrk        0.6600 s   peer    0.7300 s   ratio 0.890\n  \
            80.0 G multiply-adds/s, 77 % of a 4096-cube gemm's\n\
            a front of 1,000 points, t = 2      0.0010 s   0.20 % of the fit\n\
            the Gaussian job, 13 values of lambda: 0.0330 s, 92 landmarks\n  \
            the authors' procedure in numpy, one value of lambda:    16.80 s measured, 218 s for 13\n";
        let read = core(text).unwrap();
        assert_eq!(
            rows(&read)[0],
            ["moments, f64, against dsyrk", "0.6600 s", "0.7300 s", "0.890"]
        );
        assert!(rows(&read)[1][1].starts_with("80.0 G"));
        assert_eq!(rows(&read)[2][2], "0.20 % of the fit");
        assert_eq!(
            rows(&read)[3][..2],
            ["the Gaussian job, 13 values of lambda", "0.0330 s, 92 landmarks"]
        );
        assert_eq!(rows(&read)[4][1..3], ["", "16.80 s measured, 218 s for 13"]);

        let text = "5000000 x 100 floats, medians of 5 runs in turns\n\
            bare scan by the parquet crate         1.20 s\n\
            sarl fit                               2.60 s   ratio 1.31 to scan + matrix work, peak 197 MB\n";
        let read = out_of_core(text).unwrap();
        assert_eq!(rows(&read)[1], ["sarl fit", "2.60 s", "1.31", "197 MB"]);
        let read = page("ratio to (a): 3.40\n").unwrap();
        assert_eq!(rows(&read)[0], ["ratio to (a)", "3.40"]);
    }

    #[test]
    fn jobs_of_the_python_benchmark_are_read() {
        let found = json!({"jobs": {"sarl": {"name": "SARL.fit", "best_s": 0.294, "ratio_best": 1.03,
            "extra_mb": 14.2}, "sarl-transform": {"name": "t", "best_s": 0.1, "ratio_best": 1.0, "extra_mb": null}}});
        let read = python(&found).unwrap();
        assert_eq!(rows(&read), [["SARL.fit", "0.294", "1.03", "14 MB"]]);
        assert_eq!(read[1].1.rows[0][3], "unknown");
    }
}
