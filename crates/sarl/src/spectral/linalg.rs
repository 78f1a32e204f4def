//! The few decompositions that the method needs, with errors instead of panics.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt_pivoting::factor as pivoted;
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Mat, MatMut, MatRef, Par};

pub(crate) use super::cholesky::{cholesky, cholesky_of};
use crate::{Error, Result};

/// Matrices up to this size are decomposed by one thread: they come by the thousand, and the
/// thousand are spread over the threads instead.
const SMALL: usize = 192;

/// Eigenvalues in ascending order and their vectors, of the lower triangle of a symmetric matrix.
pub(crate) fn eigh(a: MatRef<'_, f64>) -> Result<(Vec<f64>, Mat<f64>)> {
    let n = a.nrows();
    if n == 0 {
        return Ok((Vec::new(), Mat::new()));
    }
    let par = if n <= SMALL { Par::Seq } else { Par::rayon(0) };
    let mut values = Diag::zeros(n);
    let mut vectors = Mat::zeros(n, n);
    let need =
        self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, par, Default::default());
    let failed = Error::NoConvergence { what: "symmetric eigendecomposition" };
    self_adjoint_evd(
        a,
        values.as_mut(),
        Some(vectors.as_mut()),
        par,
        MemStack::new(&mut MemBuffer::new(need)),
        Default::default(),
    )
    .map_err(|_| failed)?;
    Ok((values.column_vector().iter().copied().collect(), vectors))
}

/// `P A Pᵀ = L Lᵀ` with the largest remaining diagonal taken first, up to the first pivot under
/// `tolerance`: the picked indices in order and the square factor over them.
pub(crate) fn pivoted_cholesky(mut a: Mat<f64>, tolerance: f64) -> Result<(Vec<usize>, Mat<f64>)> {
    let n = a.nrows();
    if n == 0 {
        return Ok((Vec::new(), a));
    }
    let (mut forward, mut backward) = (vec![0usize; n], vec![0usize; n]);
    let par = Par::rayon(0);
    let need = pivoted::cholesky_in_place_scratch::<usize, f64>(n, par, Default::default());
    let (info, _) = pivoted::cholesky_in_place(
        a.as_mut(),
        &mut forward,
        &mut backward,
        par,
        MemStack::new(&mut MemBuffer::new(need)),
        Default::default(),
    )
    .map_err(|_| Error::NoConvergence { what: "pivoted Cholesky decomposition" })?;
    let enough = |j: &usize| a[(*j, *j)] * a[(*j, *j)] > tolerance;
    let rank = (0..info.rank).take_while(enough).count();
    forward.truncate(rank);
    let factor = Mat::from_fn(rank, rank, |i, j| if i >= j { a[(i, j)] } else { 0.0 });
    Ok((forward, factor))
}

/// `L⁻¹ b`, in place.
pub(crate) fn solve_lower(l: MatRef<'_, f64>, b: MatMut<'_, f64>) {
    solve_lower_triangular_in_place(l, b, Par::rayon(0));
}

/// `L⁻ᵀ b`, in place.
pub(crate) fn solve_lower_transposed(l: MatRef<'_, f64>, b: MatMut<'_, f64>) {
    solve_upper_triangular_in_place(l.transpose(), b, Par::rayon(0));
}

/// An orthogonal matrix whose first `rank` columns span the columns of `a`, which must be scaled
/// so that 1 is a large norm; smaller pivots than `tolerance` do not count. With `complete` the
/// other columns are there too.
pub(crate) fn span(a: MatRef<'_, f64>, tolerance: f64, complete: bool) -> (Mat<f64>, usize) {
    let rows = a.nrows();
    if rows == 0 || a.ncols() == 0 {
        return (Mat::identity(rows, if complete { rows } else { 0 }), 0);
    }
    let qr = a.col_piv_qr();
    let r = qr.thin_R();
    let size = rows.min(a.ncols());
    let rank = (0..size).take_while(|&i| r[(i, i)].abs() > tolerance).count();
    let q = if complete { qr.compute_Q() } else { qr.compute_thin_Q() };
    (q, rank)
}

/// How far from orthonormal a basis may be.
const ORTHONORMAL: f64 = 1e-13;

/// An orthonormal basis of the span of columns that are independent of each other. Two rounds of
/// Cholesky are products, which run on all threads; reflections are for columns that would lose digits
/// there.
pub(crate) fn orthonormal(a: Mat<f64>) -> Mat<f64> {
    by_cholesky(&a).unwrap_or_else(|| a.qr().compute_thin_Q())
}

fn by_cholesky(a: &Mat<f64>) -> Option<Mat<f64>> {
    let mut q = a.clone();
    for _ in 0..2 {
        let factor = cholesky_of(q.transpose() * &q).ok()?;
        solve_lower(factor.as_ref(), q.as_mut().transpose_mut());
    }
    let off = q.transpose() * &q - Mat::<f64>::identity(q.ncols(), q.ncols());
    (off.norm_max() <= ORTHONORMAL).then_some(q)
}

/// The sum of the squares of all entries.
pub(crate) fn squares(a: MatRef<'_, f64>) -> f64 {
    a.squared_norm_l2()
}

/// `a aᵀ`.
pub(crate) fn gram(a: MatRef<'_, f64>) -> Mat<f64> {
    a * a.transpose()
}

/// `gᵀ a g` for a symmetric `a`.
pub(crate) fn congruence(g: MatRef<'_, f64>, a: MatRef<'_, f64>) -> Mat<f64> {
    g.transpose() * (a * g)
}

/// The columns of `a` picked by `order`.
pub(crate) fn pick_columns(a: MatRef<'_, f64>, order: &[usize]) -> Mat<f64> {
    Mat::from_fn(a.nrows(), order.len(), |i, j| a[(i, order[j])])
}

/// Two matrices side by side.
pub(crate) fn beside(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut both = Mat::zeros(a.nrows(), a.ncols() + b.ncols());
    both.as_mut().subcols_mut(0, a.ncols()).copy_from(a);
    both.as_mut().subcols_mut(a.ncols(), b.ncols()).copy_from(b);
    both
}
