//! How encoders show in the ring, over seeds or shuffles.

use sarl_eval::Finding;
use sarl_lab::{Mean, Probing, Run, RunOutcome, Scored, best_at_no_more};
use sarl_rivals::Rival;
use serde_json::{Value, json};

use crate::Result;
use crate::split::{Findings, Split, accuracy, balanced};

/// A rival at a weight of hiding.
pub type Weighted = (&'static dyn Rival, f64);

/// What was found of one encoder, for each seed or shuffle.
#[derive(Default)]
pub struct Summary {
    pub name: String,
    /// The weight of hiding, of a rival that has one.
    pub weight: Option<f64>,
    pub found: Vec<Findings>,
    /// Linear leakage on the training rows.
    pub leakages: Vec<f64>,
    /// Seconds of each fit.
    pub seconds: Vec<f64>,
    pub dim: usize,
    pub diverged: usize,
}

impl Summary {
    pub fn named(name: impl Into<String>) -> Self {
        Summary { name: name.into(), ..Default::default() }
    }

    /// Takes in what came of an encoder.
    pub fn add(&mut self, scored: Scored) -> Result<()> {
        self.leakages.extend(&scored.leakages);
        self.seconds.push(scored.seconds);
        self.dim = scored.dim;
        self.found.push(Findings::new(scored.found)?);
        Ok(())
    }

    /// Takes in what another has for more seeds or shuffles.
    pub fn absorb(&mut self, other: Self) {
        self.found.extend(other.found);
        self.leakages.extend(other.leakages);
        self.seconds.extend(other.seconds);
        self.dim = self.dim.max(other.dim);
        self.diverged += other.diverged;
    }

    /// Of each run.
    pub fn mean(&self, of: impl Fn(&Findings) -> f64) -> Mean {
        Mean::of(&self.found.iter().map(of).collect::<Vec<_>>())
    }

    /// The target's accuracy: over the runs, or over the probe's seeds of one run.
    pub fn target(&self, probe: &str) -> Mean {
        Mean::score(&self.found.iter().map(|f| &f.target).collect::<Vec<_>>(), probe)
    }

    /// The same of what was to be hidden.
    pub fn adversary(&self, probe: &str) -> Mean {
        Mean::score(&self.found.iter().map(|f| &f.sensitive).collect::<Vec<_>>(), probe)
    }

    /// The probe that predicts most of what was to be hidden, over the runs.
    pub fn worst(&self) -> Mean {
        self.adversary(self.worst_probe())
    }

    pub fn worst_probe(&self) -> &str {
        let probes = self.found.first().map(|t| &t.sensitive.probes[..]).unwrap_or_default();
        let mean = |name: &str| self.adversary(name).mean;
        let names = probes.iter().map(|t| t.probe.as_str());
        names.max_by(|a, b| mean(a).total_cmp(&mean(b))).unwrap_or("")
    }

    /// A cell that says so where no run came to an end.
    pub fn cell(&self, mean: Mean) -> String {
        match (self.found.len(), self.diverged) {
            (0, 0) => "–".to_owned(),
            (0, _) => "diverged".to_owned(),
            _ => mean.percent(),
        }
    }

    /// The worst case, and whose it is.
    pub fn worst_cell(&self) -> String {
        match self.found.is_empty() {
            true => String::new(),
            false => format!("{} ({})", self.worst().percent(), self.worst_probe()),
        }
    }

    /// The name, with the setting where there is one.
    pub fn full_name(&self) -> String {
        match self.setting() {
            setting if setting.is_empty() => self.name.clone(),
            setting => format!("{} ({setting})", self.name),
        }
    }

    /// Seconds to fit.
    pub fn time(&self) -> String {
        match self.seconds.is_empty() {
            true => String::new(),
            false => seconds(Mean::of(&self.seconds).mean),
        }
    }

    /// The weight, and how many runs diverged.
    pub fn setting(&self) -> String {
        let weight = self.weight.map(|w| format!("λ {w}"));
        let diverged = (self.diverged > 0)
            .then(|| format!("{} of {} diverged", self.diverged, self.diverged + self.found.len()));
        weight.into_iter().chain(diverged).collect::<Vec<_>>().join(", ")
    }

    pub fn json(&self) -> Value {
        let of = |finding: fn(&Findings) -> &Finding| {
            let probes = self.found.first().map(|f| &finding(f).probes[..]).unwrap_or_default();
            let mean = |name: &str| {
                json!({
                    "accuracy": self.mean(|f| accuracy(finding(f), name)),
                    "balanced_accuracy": self.mean(|f| balanced(finding(f), name)),
                })
            };
            let each = probes.iter().map(|t| (t.probe.clone(), mean(&t.probe)));
            each.collect::<serde_json::Map<_, _>>()
        };
        json!({
            "method": self.name,
            "weight": self.weight,
            "runs": self.found.len(),
            "diverged": self.diverged,
            "dim": self.dim,
            "target": of(|f| &f.target),
            "sensitive": of(|f| &f.sensitive),
            "worst_case": self.worst(),
            "linear_leakage": Mean::of(&self.leakages),
            "fit_seconds": Mean::of(&self.seconds),
        })
    }
}

/// A time with as many digits as it deserves.
pub fn seconds(time: f64) -> String {
    match time {
        t if t < 0.0005 => "< 0.001".to_owned(),
        t if t < 0.0995 => format!("{t:.3}"),
        t => format!("{t:.1}"),
    }
}

/// Rivals by their names, at their weights of hiding.
pub fn weighted<'a>(names: impl IntoIterator<Item = (&'a str, &'a [f64])>) -> Vec<Weighted> {
    let known = names.into_iter().filter_map(|(name, at)| Some((sarl_rivals::find(name)?, at)));
    known.flat_map(|(rival, weights)| weights.iter().map(move |&w| (rival, w))).collect()
}

/// Lets rivals fit on the rows to learn from, each with every seed.
pub fn rivals(
    split: &Split<'_>,
    settings: &[Weighted],
    seeds: &[u64],
    probes: Probing<'_>,
) -> Result<Vec<Summary>> {
    let seeds_of = |rival: &dyn Rival| if rival.about().is_random { seeds } else { &seeds[..1] };
    let run = |&(rival, hiding): &Weighted| {
        seeds_of(rival).iter().map(move |&seed| Run { rival, hiding, seed })
    };
    let runs: Vec<Run> = settings.iter().flat_map(run).collect();
    let mut outcomes = split.run(&runs, probes)?.into_iter();
    let mut all = Vec::new();
    for &(rival, hiding) in settings {
        let mut summary = Summary::named(rival.title());
        summary.weight = rival.hiding().map(|_| hiding);
        for outcome in outcomes.by_ref().take(seeds_of(rival).len()) {
            match outcome {
                RunOutcome::Failed(_) => summary.diverged += 1,
                RunOutcome::Scored(scored) => summary.add(*scored)?,
            }
        }
        all.push(summary);
    }
    Ok(all)
}

/// The best target of ours whose worst case is not above this one's, and by how much it is better.
pub fn at_no_more(theirs: &Summary, ours: &[&Summary], probe: &str) -> Option<(f64, f64)> {
    let ours = ours.iter().filter(|o| !o.found.is_empty());
    let ours = ours.map(|o| ((), o.worst().mean, o.target(probe).mean));
    let (_, best) = best_at_no_more(theirs.worst().mean, ours)?;
    (!theirs.found.is_empty()).then(|| (best, best - theirs.target(probe).mean))
}

/// [`at_no_more`] as a cell.
pub fn at_no_more_cell(theirs: &Summary, ours: &[&Summary], probe: &str) -> String {
    match at_no_more(theirs, ours, probe) {
        _ if theirs.found.is_empty() => String::new(),
        None => "none leaks as little".to_owned(),
        Some((best, more)) => format!("{:.1} ({:+.1})", 100.0 * best, 100.0 * more),
    }
}

/// How often ours is better and how often theirs, at no more than their worst case.
pub fn balance<'a>(
    theirs: impl Iterator<Item = &'a Summary>,
    ours: &[&Summary],
    probe: &str,
) -> String {
    /// Half a point is within the noise of any of these test sets.
    const EVEN: f64 = 0.005;
    let (mut better, mut even, mut worse) = (Vec::new(), Vec::new(), Vec::new());
    for one in theirs.filter(|t| !t.found.is_empty()) {
        match at_no_more(one, ours, probe) {
            Some((_, more)) if more > EVEN => better.push(one.name.clone()),
            Some((_, more)) if more >= -EVEN => even.push(one.name.clone()),
            _ => worse.push(one.name.clone()),
        }
    }
    let list = |names: Vec<String>| match names.is_empty() {
        true => "none".to_owned(),
        false => names.join(", "),
    };
    format!(
        "Against a worst case that is no higher, ours keeps at least half a point more of the target than {}; within half a point: {}; the rival keeps more, or leaks less than any of ours: {}.",
        list(better),
        list(even),
        list(worse)
    )
}

/// Whether a cell of the paper is met: at least its target accuracy, and an adversary that is at
/// most as far from guessing, both as the paper rounds them.
pub fn verdict(
    target: f64,
    paper_target: f64,
    beyond: f64,
    paper_beyond: f64,
    digits: i32,
) -> String {
    let unit = 10f64.powi(-digits);
    let round = |v: f64| (v / unit).round() * unit;
    let (kept, leaked) = (round(target) - paper_target, round(beyond) - paper_beyond);
    let digits = digits as usize;
    match (kept < -unit / 2.0, leaked > unit / 2.0) {
        (false, false) => "met".to_owned(),
        (true, false) => format!("target short by {:.digits$}", -kept),
        (false, true) => format!("adversary {leaked:.digits$} above"),
        (true, true) => {
            format!("target short by {:.digits$}, adversary {leaked:.digits$} above", -kept)
        }
    }
}
