//! Which goal.

use clap::{Args, ValueEnum};
use sarl::cells::{Adversary, CellGoal, CellUtility, Limits, MOST_CELLS};
use sarl::{Goal, NamedLimits};

use crate::failure::{Failure, Outcome};

/// Exactly one of these.
#[derive(Clone, Debug, Args)]
#[group(required = true, multiple = false)]
#[command(next_help_heading = "Goal (exactly one)")]
pub struct GoalOptions {
    /// Weight of the adversary, 0 to 1; the ends are limits
    #[arg(long, value_name = "L")]
    pub lambda: Option<f64>,
    /// Least loss of the adversary
    #[arg(long, value_name = "A")]
    pub alpha: Option<f64>,
    /// Most leakage: the share of each sensitive attribute's variance that an adversary explains,
    /// 0 to 1; `sex=0.01,age=0.05` limits those named and no others
    #[arg(long, value_name = "L|NAME=L,…", value_parser = shares)]
    pub max_leakage: Option<Shares>,
    /// Least utility: the share that each target keeps of what all the features give, 0 to 1;
    /// `income=0.9` is for those named and no others
    #[arg(long, value_name = "U|NAME=U,…", value_parser = shares)]
    pub min_utility: Option<Shares>,
    /// A guarantee against every adversary: how far its balanced accuracy may be above guessing,
    /// 0 to 1; `sex=0.05,race=0.1` limits those named and no others
    #[arg(long, value_name = "A|NAME=A,…", value_parser = shares)]
    pub max_advantage: Option<Shares>,
    /// The same for its accuracy
    #[arg(long, value_name = "A|NAME=A,…", value_parser = shares)]
    pub max_adversary_accuracy: Option<Shares>,
}

/// How the guarantee against every adversary is made.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Guarantee against every adversary")]
pub struct CellOptions {
    /// How sure the guarantee is [default: 0.95]
    #[arg(long, value_name = "C")]
    pub confidence: Option<f64>,
    /// The most cells that z is cut into [default: 8]
    #[arg(long, value_name = "K")]
    pub cells: Option<u32>,
    /// What the cells keep of a target with classes: how well it is predicted, or also how likely
    /// each class is [default: accuracy]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub cell_utility: Option<UtilityName>,
}

/// What cells keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum UtilityName {
    /// Accuracy: one cell for each class
    Accuracy,
    /// Explained variance: more cells
    Variance,
}

/// One share for each label, or shares of labels by name.
#[derive(Clone, Debug, PartialEq)]
pub enum Shares {
    Each(f64),
    Named(NamedLimits),
}

fn shares(text: &str) -> Result<Shares, String> {
    if let Ok(share) = text.parse() {
        return Ok(Shares::Each(share));
    }
    let mut named = NamedLimits::new();
    for part in text.split(',') {
        // A name may hold an equals sign, a number does not.
        let (name, share) = part
            .rsplit_once('=')
            .ok_or_else(|| "expected a number, or NAME=NUMBER,…".to_owned())?;
        let share: f64 =
            share.trim().parse().map_err(|_| format!("`{share}` of `{name}` is not a number"))?;
        if named.insert(name.trim().to_owned(), share).is_some() {
            return Err(format!("`{}` has two limits", name.trim()));
        }
    }
    Ok(Shares::Named(named))
}

impl CellOptions {
    /// The goal with these limits.
    pub fn goal(&self, adversary: Adversary, limits: Limits) -> Outcome<CellGoal> {
        let confidence = self.confidence.unwrap_or(0.95);
        let cells = self.cells.unwrap_or(8) as usize;
        if !(confidence > 0.0 && confidence < 1.0) {
            let message = format!("--confidence is {confidence}: expected above 0, below 1");
            return Err(Failure::usage(message));
        }
        if !(2..=MOST_CELLS).contains(&cells) {
            let message = format!("--cells is {cells}: expected 2 to {MOST_CELLS}");
            return Err(Failure::usage(message));
        }
        let utility = match self.cell_utility {
            Some(UtilityName::Variance) => CellUtility::Variance,
            Some(UtilityName::Accuracy) | None => CellUtility::Accuracy,
        };
        Ok(CellGoal { adversary, limits, utility, confidence, cells })
    }

    /// Refuses options that have no effect.
    pub fn check_unused(&self) -> Outcome {
        let given = [
            ("--confidence", self.confidence.is_some()),
            ("--cells", self.cells.is_some()),
            ("--cell-utility", self.cell_utility.is_some()),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => {
                Err(Failure::usage(format!("{option} is for a guarantee against every adversary"))
                    .hint("add --max-advantage (fit) or --certified (front)"))
            }
            None => Ok(()),
        }
    }
}

impl GoalOptions {
    /// The limits of every adversary, if such a goal was given.
    pub fn certified(&self, options: &CellOptions) -> Outcome<Option<CellGoal>> {
        let given = [
            (&self.max_advantage, "--max-advantage", Adversary::Advantage),
            (&self.max_adversary_accuracy, "--max-adversary-accuracy", Adversary::Accuracy),
        ];
        let given = given.into_iter().find_map(|(s, option, of)| Some((s.as_ref()?, option, of)));
        let Some((shares, option, adversary)) = given else {
            options.check_unused()?;
            return Ok(None);
        };
        let limits = match shares {
            Shares::Each(value) => {
                checked(Goal::Leakage(*value), option, *value, "0 to 1")?;
                Limits::Each(*value)
            }
            Shares::Named(named) => {
                for (name, value) in named {
                    checked(
                        Goal::Leakage(*value),
                        &format!("{option} of `{name}`"),
                        *value,
                        "0 to 1",
                    )?;
                }
                Limits::Named(named.clone())
            }
        };
        options.goal(adversary, limits).map(Some)
    }

    /// The goal, if its value can be asked for at all; clap has seen to it that there is one.
    pub fn goal(&self) -> Outcome<Goal> {
        if let Some(value) = self.lambda {
            return checked(Goal::Lambda(value), "--lambda", value, "0 to 1");
        }
        if let Some(value) = self.alpha {
            return checked(Goal::Alpha(value), "--alpha", value, "a finite number");
        }
        type Of = (fn(f64) -> Goal, fn(NamedLimits) -> Goal);
        let leakage: Of = (Goal::Leakage, Goal::LeakageOf);
        let utility: Of = (Goal::Utility, Goal::UtilityOf);
        let given = [
            (&self.max_leakage, "--max-leakage", leakage),
            (&self.min_utility, "--min-utility", utility),
        ];
        let given = given
            .into_iter()
            .find_map(|(shares, option, of)| shares.as_ref().map(|shares| (shares, option, of)));
        match given {
            None => Err(Failure::usage("a guarantee against every adversary needs rows")
                .hint("use `sarl fit`")),
            Some((Shares::Each(value), option, (each, _))) => {
                checked(each(*value), option, *value, "0 to 1")
            }
            Some((Shares::Named(named), option, (_, of))) => {
                for (name, value) in named {
                    let option = format!("{option} of `{name}`");
                    checked(Goal::Leakage(*value), &option, *value, "0 to 1")?;
                }
                Ok(of(named.clone()))
            }
        }
    }
}

fn checked(goal: Goal, option: &str, value: f64, range: &str) -> Outcome<Goal> {
    if goal.check().is_ok() {
        return Ok(goal);
    }
    let failure = Failure::usage(format!("{option} is {value}: expected {range}"));
    Err(match option.starts_with("--m") && value > 1.0 && value <= 100.0 {
        true => {
            failure.hint(format!("shares go from 0 to 1; for {value} % write {}", value / 100.0))
        }
        false => failure,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "these are tests")]

    use super::{Shares, shares};

    #[test]
    fn limits_are_read() {
        assert_eq!(shares("0.05").unwrap(), Shares::Each(0.05));
        let named = [("sex", 0.01), ("a=b", 0.5)].map(|(n, l)| (n.to_owned(), l));
        assert_eq!(shares("sex=0.01, a=b=0.5").unwrap(), Shares::Named(named.into()));
        assert_eq!(shares("sex").unwrap_err(), "expected a number, or NAME=NUMBER,…");
        assert_eq!(shares("sex=x").unwrap_err(), "`x` of `sex` is not a number");
        assert_eq!(shares("sex=0.1,sex=0.2").unwrap_err(), "`sex` has two limits");
    }
}
