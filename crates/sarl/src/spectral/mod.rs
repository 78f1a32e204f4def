//! From covariances to a problem the size of the labels, and its spectrum.
//!
//! Whiten the features, `WᵀCW = I_k` on the numerical range of `C` (a pivoted Cholesky of the
//! correlation matrix; `C + ρI` with a ridge), and keep of the whitened space what correlates with a
//! label:
//!
//! ```text
//! Q  = orthonormal basis of the columns of [WᵀCs WᵀCy]        k×t,  t ≤ min(k, p+q)
//! Ky = QᵀWᵀCy   Ay = Ky Kyᵀ        Ks = QᵀWᵀCs   As = Ks Ksᵀ   t×t, positive semidefinite
//! ```
//!
//! An encoder is an orthonormal `G` (t×r): `z = Gᵀ QᵀWᵀ(φ(x) − mean φ)`, and by Lemma 1
//!
//! ```text
//! Jy(G) = ty − tr GᵀAyG        Js(G) = ts − tr GᵀAsG        Cov(z) = I  (ρ = 0)
//! ```
//!
//! By Theorem 3 the optimum at λ is spanned by the eigenvectors of `B(λ) = λAs − (1−λ)Ay` with
//! negative eigenvalues, smallest first. The ends are limits: λ → 1 is the null space of `As` and
//! in it what helps the target most, λ → 0 the range of `Ay`. An eigenvalue turns positive where
//! `Ay v = λ(Ay + As)v`, one generalised eigenproblem for all the steps of the dimensionality.
//!
//! Where a side has several labels, each label's columns are divided by the root of its own variance
//! (see `attribute`): `As = Σ Asᵢ`, losses are sums of shares, and `ts` is the number of labels.
//!
//! With a ridge the encoder is chosen by the penalised problem, but losses, bounds and certificates
//! are those of unregularised predictors and adversaries, always.
//!
//! Cost: one Cholesky of size m, then nothing larger than t. Reference: Sadeghi, Yu, Boddeti,
//! *On the Global Optima of Kernelized Adversarial Representation Learning*, ICCV 2019.
//!
//! ```
//! use sarl::{Block, Layout, Moments, MomentsOptions, Reduced, Role};
//! let layout = Layout::dense(3).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
//! let mut moments = Moments::new(layout, MomentsOptions::default())?;
//! let x = faer::Mat::from_fn(40, 3, |i, j| ((i * (j + 5) + j) % 13) as f64);
//! let y: Vec<u32> = (0..40).map(|i| u32::from(x[(i, 0)] > 6.0)).collect();
//! let s: Vec<u32> = (0..40).map(|i| u32::from(x[(i, 1)] > 6.0)).collect();
//! moments.push(&Block::new(x.as_ref()).class(&y).class(&s))?;
//! let reduced = Reduced::new(&moments.covariances()?, 0.0)?;
//! assert_eq!((reduced.basis(), reduced.size()), (3, 2)); // two binary labels: t = 2
//! # Ok::<(), sarl::Error>(())
//! ```

pub(crate) mod attribute;
mod cholesky;
pub(crate) mod directions;
pub(crate) mod linalg;
pub(crate) mod problem;
pub(crate) mod reduced;
pub(crate) mod removal;
pub(crate) mod ridged;
pub(crate) mod secular;
pub(crate) mod spread;
pub(crate) mod whiten;

pub use reduced::{Losses, Reduced};
