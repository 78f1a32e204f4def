//! What a linear attacker explains of a label from z: least squares, from the rows alone, with no
//! code of the crate that is tested.

use faer::MatRef;

/// A direction of z under this share of its column's length is rounding.
const NOISE: f64 = 1e-8;

/// The share of the weighted variance of some columns that z explains; nothing where they have none.
pub(crate) fn explained(z: MatRef<'_, f64>, columns: &[Vec<f64>], weights: &[f64]) -> Option<f64> {
    let basis = orthonormal(z, weights);
    let (mut total, mut found) = (0.0, 0.0);
    for column in columns {
        let centred = centred(column, weights);
        total += dot(&centred, &centred);
        found += basis.iter().map(|b| dot(b, &centred).powi(2)).sum::<f64>();
    }
    (total > 0.0).then(|| found / total)
}

/// An orthonormal basis of the columns of z, less their means.
fn orthonormal(z: MatRef<'_, f64>, weights: &[f64]) -> Vec<Vec<f64>> {
    let columns = (0..z.ncols()).map(|j| centred(&values(z, j), weights));
    let mut left: Vec<Vec<f64>> = columns.filter_map(unit).collect();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    // The longest remainder first; projected out twice, which is enough.
    while let Some(at) = longest(&left) {
        let column = left.swap_remove(at);
        if dot(&column, &column).sqrt() < NOISE {
            break;
        }
        let Some(mut direction) = unit(column) else { break };
        basis.iter().for_each(|b| project_out(&mut direction, b));
        let Some(direction) = unit(direction) else { break };
        left.iter_mut().for_each(|c| (0..2).for_each(|_| project_out(c, &direction)));
        basis.push(direction);
    }
    basis
}

fn longest(columns: &[Vec<f64>]) -> Option<usize> {
    let lengths = columns.iter().map(|c| dot(c, c)).enumerate();
    lengths.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
}

fn project_out(column: &mut [f64], direction: &[f64]) {
    let along = dot(column, direction);
    column.iter_mut().zip(direction).for_each(|(c, d)| *c -= along * d);
}

fn unit(mut column: Vec<f64>) -> Option<Vec<f64>> {
    let length = dot(&column, &column).sqrt();
    column.iter_mut().for_each(|c| *c /= length);
    (length > 0.0 && length.is_finite()).then_some(column)
}

/// A column less its weighted mean, times the roots of the weights.
fn centred(column: &[f64], weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    let mean = |less: f64| column.iter().zip(weights).map(|(v, w)| (v - less) * (w / total)).sum();
    // Twice: the first mean of large numbers has lost digits.
    let first: f64 = mean(0.0);
    let rest: f64 = mean(first);
    column.iter().zip(weights).map(|(v, w)| (v - first - rest) * w.sqrt()).collect()
}

fn values(z: MatRef<'_, f64>, column: usize) -> Vec<f64> {
    z.col(column).iter().copied().collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
