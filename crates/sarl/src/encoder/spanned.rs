//! A problem that was reduced in the span of its rows, told in the features themselves.

use std::ops::Range;

use faer::{ColRef, Mat, MatRef};

use crate::features::Span;
use crate::moments::{LabelKind, Layout, Role};
use crate::spectral::Reduced;
use crate::spectral::problem::Problem;
use crate::spectral::ridged::Ridged;

/// The same reduced problem over the inputs of a span. `layout` is that of the inputs.
pub(super) fn over_inputs(reduced: Reduced, span: &Span, layout: &Layout) -> Reduced {
    let basis = span.unfold(reduced.basis.as_ref());
    let mean = span.mean();
    let around = basis.transpose() * ColRef::from_slice(&mean);
    let centre = around.iter().zip(&reduced.centre).map(|(a, b)| a + b).collect();
    let inputs = reduced.inputs.map(|(cross, _)| {
        let cross = span.unfold(cross.transpose());
        (cross.transpose().to_owned(), mean.clone())
    });
    let target = Target { span, layout };
    Reduced {
        features: span.inputs(),
        problem: target.problem(reduced.problem),
        ridged: reduced.ridged.map(|ridged| Ridged {
            exact: ridged
                .exact
                .into_inner()
                .map(|exact| target.problem(exact).into())
                .unwrap_or_default(),
            target: target.columns(ridged.target.as_ref()),
            ..ridged
        }),
        basis,
        centre,
        target_mean: target.values(&reduced.target_mean, &mean),
        inputs,
        ..reduced
    }
}

/// A target that may be the features themselves: coordinates in the span, or inputs.
struct Target<'a> {
    span: &'a Span,
    layout: &'a Layout,
}

impl Target<'_> {
    /// The first column of the features among those of the target.
    fn place(&self) -> Option<usize> {
        let mut at = 0;
        for label in self.layout.labels().iter().filter(|l| l.role == Role::Target) {
            if label.kind == LabelKind::Features {
                return Some(at);
            }
            at += self.layout.label_width(label);
        }
        None
    }

    /// A column for each input in place of those for coordinates.
    fn columns(&self, a: MatRef<'_, f64>) -> Mat<f64> {
        let Some(at) = self.place() else { return a.to_owned() };
        let (k, d) = (self.span.size(), self.span.inputs());
        let (before, after) = (a.subcols(0, at), a.subcols(at + k, a.ncols() - at - k));
        let mut wide = Mat::zeros(a.nrows(), a.ncols() - k + d);
        wide.as_mut().subcols_mut(0, at).copy_from(before);
        let inputs = self.span.unfold(a.subcols(at, k).transpose());
        wide.as_mut().subcols_mut(at, d).copy_from(inputs.transpose());
        wide.as_mut().subcols_mut(at + d, after.ncols()).copy_from(after);
        wide
    }

    /// A value for each input in place of those for coordinates.
    fn values(&self, of: &[f64], inputs: &[f64]) -> Vec<f64> {
        let Some(at) = self.place() else { return of.to_vec() };
        let after = &of[at + self.span.size()..];
        of[..at].iter().chain(inputs).chain(after).copied().collect()
    }

    fn problem(&self, problem: Problem) -> Problem {
        let Some(at) = self.place() else { return problem };
        let target = &problem.target;
        let (k, d) = (self.span.size(), self.span.inputs());
        let mut attributes = target.attributes.clone();
        let mut scale = 1.0;
        for attribute in &mut attributes {
            let Range { start, end } = attribute.columns;
            if start == at {
                scale = attribute.scale;
                attribute.columns = at..at + d;
            } else if start > at {
                attribute.columns = start - k + d..end - k + d;
            }
        }
        let own: Vec<f64> = self.span.variance().iter().map(|v| v / scale).collect();
        let cross = self.columns(target.cross.as_ref());
        let variance = self.values(&target.variance, &own);
        problem.with_target(cross, variance, attributes)
    }
}
