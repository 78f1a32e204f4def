//! Several limits with a ridge.
//!
//! The encoder is that of the penalised problem, the limits are those of unregularised adversaries
//! and predictors. So the limits of the penalised problem are moved, each by the ratio between what
//! was asked and what was measured, until what is measured meets what was asked.

use faer::Mat;

use super::limits::fits;
use super::{Limited, Limits, Reached, Search};
use crate::Result;

/// Rounds of moving the limits.
const ROUNDS: usize = 40;
/// Measured limits this near to what was asked are met well enough.
const NEAR: f64 = 1e-9;

impl Search<'_> {
    pub(super) fn along_ridge(&self) -> Result<Option<Reached>> {
        let asked = self.limits;
        let mut inner = asked.clone();
        let mut best: Option<(Reached, f64)> = None;
        for round in 0..ROUNDS {
            let Some(found) = self.best(&inner)? else { break };
            let shares = self.measured(&found.subspace);
            if fits(asked, &shares) {
                let value = self.value(&found.subspace);
                if best.as_ref().is_none_or(|(_, most)| value > *most) {
                    best = Some((found, value));
                }
            }
            if !self.adjust(&mut inner, &shares, round) {
                break;
            }
        }
        if best.is_none() {
            best = self.safe(inner)?;
        }
        Ok(best.map(|(found, _)| found))
    }

    /// Moves each limit towards what meets the one asked for; whether there was anything to move.
    fn adjust(&self, inner: &mut Limits, shares: &[f64], round: usize) -> bool {
        let mut moved = false;
        // Later rounds aim further inside, so that they end there.
        let inside = NEAR * 1.5_f64.powi(round as i32).min(1e6);
        for ((inner, asked), share) in inner.shares.iter_mut().zip(&self.limits.shares).zip(shares)
        {
            let (Some(inner), Some(asked)) = (inner, asked) else { continue };
            let aim = match self.limits.side {
                Limited::Sensitive => asked * (1.0 - inside),
                Limited::Target => (asked * (1.0 + inside)).min(1.0),
            };
            if *asked == 0.0 || *share <= 0.0 {
                continue;
            }
            let ratio = (aim / share).clamp(0.25, 4.0);
            let next = (*inner * ratio).min(1.0);
            moved |= (next - *inner).abs() > 1e-12 * *inner;
            *inner = next;
        }
        moved
    }

    /// Tightens all limits until they are met.
    fn safe(&self, mut inner: Limits) -> Result<Option<(Reached, f64)>> {
        for _ in 0..60 {
            inner = match self.limits.side {
                Limited::Sensitive => inner.times(0.5),
                Limited::Target => Limits {
                    side: inner.side,
                    shares: inner.shares.iter().map(|s| s.map(|s| 0.5 * (1.0 + s))).collect(),
                },
            };
            let Some(found) = self.best(&inner)? else { return Ok(None) };
            if fits(self.limits, &self.measured(&found.subspace)) {
                let value = self.value(&found.subspace);
                return Ok(Some((found, value)));
            }
        }
        Ok(None)
    }

    fn measured(&self, g: &Mat<f64>) -> Vec<f64> {
        match self.limits.side {
            Limited::Sensitive => self.reduced.leakages(g.as_ref()),
            Limited::Target => self.reduced.utilities(g.as_ref()),
        }
    }

    fn value(&self, g: &Mat<f64>) -> f64 {
        let losses = self.reduced.losses(g.as_ref());
        match self.limits.side {
            Limited::Sensitive => -losses.jy,
            Limited::Target => losses.js,
        }
    }
}
