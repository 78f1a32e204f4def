//! Engines without a device: one that does by plain formulas what a device does after the last row, and
//! ones that fail where a device can fail.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use faer::linalg::solvers::Llt;
use faer::prelude::Solve;
use faer::{Mat, MatRef, Side};
use sarl::engine::{
    Accumulator, Candidates, DeviceSums, EncodePlan, Encoding, Engine, Factor, Factored,
    FeaturePlan, Folds, FoldsPlan, Rows, SumsPlan, Together, Values,
};
use sarl::{
    Block, Error, Family, Features, Fit, FitParams, Fitted, Goal, Kernel, KernelParams, Layout,
    Moments, Result, Ridge, Role,
};

/// Where an engine fails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fails {
    Never,
    /// It has no device that is supported.
    Unsupported,
    /// At the second block of rows.
    Rows,
    /// When its sums are read.
    Sums,
    /// When the sums of the folds are brought there.
    Folds,
    /// At the third factor.
    Factor,
}

#[derive(Debug)]
struct Made {
    fails: Fails,
    optional: bool,
    factors: Arc<AtomicUsize>,
}

fn made(fails: Fails, optional: bool) -> Arc<Made> {
    Arc::new(Made { fails, optional, factors: Arc::default() })
}

fn failed<T>(words: &str) -> Result<T> {
    Err(Error::Device { device: "made-up:0".to_owned(), message: words.to_owned() })
}

impl Engine for Made {
    fn name(&self) -> String {
        "made-up:0".to_owned()
    }

    fn is_optional(&self) -> bool {
        self.optional
    }

    fn pays(&self, _: &FeaturePlan<'_>, _: u64) -> bool {
        matches!(self.fails, Fails::Unsupported | Fails::Rows | Fails::Sums)
    }

    fn accumulators(&self, plan: &SumsPlan<'_>) -> Result<Vec<Box<dyn Accumulator>>> {
        match self.fails {
            Fails::Unsupported => failed("the device has compute capability 5.2"),
            _ => Ok(vec![Box::new(Counting {
                fails: self.fails,
                blocks: 0,
                shape: (plan.columns(), plan.groups.clone(), plan.folds),
            })]),
        }
    }

    fn candidates(
        &self,
        _: Kernel,
        _: MatRef<'_, f64>,
        _: usize,
    ) -> Result<Option<Box<dyn Candidates>>> {
        match self.fails {
            Fails::Unsupported => failed("the device has compute capability 5.2"),
            _ => Ok(None),
        }
    }

    fn folds(&self, plan: &FoldsPlan<'_>) -> Result<Option<Box<dyn Folds>>> {
        if self.fails == Fails::Folds {
            return failed("out of memory");
        }
        let scatters = plan.scatters.iter().map(|scatter| scatter.to_owned()).collect();
        let l = plan.factor.map(|l| l.to_owned());
        let count = Arc::clone(&self.factors);
        Ok(Some(Box::new(Plain { scatters, l, fails: self.fails, count })))
    }

    fn encoding(&self, _: &EncodePlan<'_>) -> Result<Box<dyn Encoding>> {
        failed("it encodes nothing")
    }
}

/// An accumulator that fails, and adds nothing up.
struct Counting {
    fails: Fails,
    blocks: usize,
    shape: (usize, Vec<usize>, usize),
}

impl Accumulator for Counting {
    fn capacity(&self) -> usize {
        1000
    }

    fn push<'a>(
        &mut self,
        _: Values<'_>,
        rows: &(dyn Fn() -> Rows<'a> + Sync),
    ) -> Result<Option<usize>> {
        self.blocks += 1;
        if self.fails == Fails::Rows && self.blocks == 2 {
            return failed("the driver refuses: an illegal address");
        }
        assert!(rows().ends.last().is_some_and(|&end| end == rows().order.len()));
        Ok(None)
    }

    fn sums(&mut self) -> Result<(Vec<f64>, Vec<DeviceSums>)> {
        assert!(!self.shape.1.is_empty() && self.shape.0 > 0 && self.shape.2 > 0);
        failed("the driver refuses: the device is lost")
    }
}

/// The sums of the folds here, by plain formulas.
#[derive(Debug)]
struct Plain {
    scatters: Vec<Mat<f64>>,
    l: Option<Mat<f64>>,
    fails: Fails,
    count: Arc<AtomicUsize>,
}

impl Plain {
    fn covariance(&self, of: &Together) -> Mat<f64> {
        let m = of.delta.len();
        Mat::from_fn(m, m, |i, j| {
            let (row, column) = (i.max(j), i.min(j));
            let sums = self.scatters.iter().zip(&of.shares);
            sums.map(|(s, share)| s[(row, column)] * share).sum::<f64>() - of.delta[i] * of.delta[j]
        })
    }
}

/// `M` and the factor of `MᵀA M`.
struct Within(Mat<f64>, Mat<f64>);

impl Folds for Plain {
    fn product(&self, of: &Together, b: MatRef<'_, f64>) -> Result<Mat<f64>> {
        Ok(self.covariance(of) * b)
    }

    fn factor(&self, of: &Together, how: &Factored<'_>) -> Result<Option<Box<dyn Factor>>> {
        if self.count.fetch_add(1, Ordering::Relaxed) == 2 && self.fails == Fails::Factor {
            return failed("the driver refuses: the device is lost");
        }
        let c = self.covariance(of);
        let scale = |i: usize| how.scale.get(i).copied().unwrap_or(1.0);
        let a = Mat::from_fn(c.nrows(), c.ncols(), |i, j| {
            c[(i, j)] * scale(i) * scale(j) + if i == j { how.diagonal[i] } else { 0.0 }
        });
        // By reflections: an orthonormal basis of the known rows of L.
        let m = match (how.known, &self.l) {
            (Some(known), Some(l)) => {
                let rows = Mat::from_fn(l.nrows(), known.len(), |i, k| l[(known[k], i)]);
                rows.qr().compute_thin_Q()
            }
            _ => Mat::identity(c.nrows(), c.ncols()),
        };
        let inner = m.transpose() * &a * &m;
        let Ok(llt) = Llt::new(inner.as_ref(), Side::Lower) else { return Ok(None) };
        Ok(Some(Box::new(Within(m, llt.L().to_owned()))))
    }
}

impl Factor for Within {
    fn basis(&self) -> usize {
        self.1.nrows()
    }

    fn least(&self) -> f64 {
        (0..self.1.nrows()).map(|j| self.1[(j, j)]).fold(f64::INFINITY, f64::min)
    }

    fn whiten(&mut self, a: MatRef<'_, f64>) -> Result<Mat<f64>> {
        Ok(self.1.as_ref().partial_piv_lu().solve(self.0.transpose() * a))
    }

    fn unwhiten(&mut self, q: MatRef<'_, f64>) -> Result<Mat<f64>> {
        Ok(&self.0 * self.1.transpose().partial_piv_lu().solve(q))
    }
}

struct Data {
    x: Vec<f64>,
    y: Vec<u32>,
    s: Vec<u32>,
    weights: Vec<f64>,
}

const WIDTH: usize = 6;

impl Data {
    fn new(rows: usize) -> Self {
        let noise = |i: usize, j: usize| {
            ((i * 31 + j * 17) as f64 * 0.618_034 + (i * j) as f64 * 0.414_214).fract() - 0.5
        };
        let x = (0..rows * WIDTH).map(|at| noise(at / WIDTH, at % WIDTH)).collect();
        let class = |i: usize, j: usize| u32::from(noise(i, j) + 0.4 * noise(i + 3, j + 90) > 0.0);
        Data {
            x,
            y: (0..rows).map(|i| class(i, 0)).collect(),
            s: (0..rows).map(|i| class(i, 1) + u32::from(i % 7 == 0)).collect(),
            weights: (0..rows)
                .map(|i| if i % 11 == 0 { 0.0 } else { 0.5 + (i % 3) as f64 })
                .collect(),
        }
    }

    fn block(&self) -> Block<'_, f64> {
        let x = MatRef::from_row_major_slice(&self.x, self.y.len(), WIDTH);
        Block::new(x).class(&self.y).class(&self.s).weighted(&self.weights)
    }
}

fn layout() -> Layout {
    Layout::dense(WIDTH).class("y", Role::Target, 2).class("s", Role::Sensitive, 3)
}

fn fitted(
    data: &Data,
    (family, ridge): (Option<Family>, Ridge),
    engine: Option<Arc<Made>>,
) -> Result<Fitted> {
    let features = family.map_or(Features::Linear, |family| {
        Features::Kernel(KernelParams { landmarks: 80, ..KernelParams::new(family) })
    });
    let mut fit = Fit::new(FitParams { features, ridge, ..Default::default() }, layout())?;
    if let Some(engine) = engine {
        fit = fit.on(engine);
    }
    if fit.needs_sample() {
        fit.sample(&data.block())?;
        fit.choose(&|| false)?;
    }
    fit.push(&data.block())?;
    fit.finish()
}

/// All figures of a fit that a device could have a part in.
fn figures(fitted: &Fitted) -> Result<Vec<f64>> {
    let (front, heldout) = (fitted.front()?, fitted.heldout()?);
    let bounds = *front.bounds();
    let mut all = vec![fitted.ridge()?.ridge, bounds.gamma_min, bounds.alpha_min, bounds.alpha_max];
    all.extend(front.points(7)?.iter().flat_map(|p| [p.losses.jy, p.losses.js]));
    all.extend(heldout.points(7)?.iter().flat_map(|l| [l.jy, l.js, l.jy_sd, l.js_sd]));
    let found = heldout.solve(Goal::Utility(0.9), &front)?;
    all.extend([found.jy, found.js]);
    Ok(all)
}

fn apart(one: &[f64], other: &[f64]) -> f64 {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).map(|(a, b)| (a - b).abs() / a.abs().max(1.0)).fold(0.0, f64::max)
}

const WAYS: [(Option<Family>, Ridge); 6] = [
    (Some(Family::Rbf), Ridge::Fixed(1e-3)),
    (Some(Family::Rbf), Ridge::Auto),
    (Some(Family::Laplacian), Ridge::Auto),
    (Some(Family::Polynomial), Ridge::Auto),
    (None, Ridge::Fixed(0.0)),
    (None, Ridge::Fixed(0.1)),
];

#[test]
fn an_engine_for_the_folds_gives_the_figures_of_the_processor() {
    let data = Data::new(900);
    for way in WAYS {
        let engine = made(Fails::Never, false);
        let here = figures(&fitted(&data, way, None).unwrap()).unwrap();
        let there = figures(&fitted(&data, way, Some(Arc::clone(&engine))).unwrap()).unwrap();
        assert!(engine.factors.load(Ordering::Relaxed) > 0, "{way:?}: it was not asked");
        assert!(apart(&here, &there) < 1e-9, "{way:?}: {}", apart(&here, &there));
    }
}

#[test]
fn an_engine_that_fails_after_the_rows_is_named_or_replaced_by_the_processor() {
    let data = Data::new(900);
    for way in [WAYS[0], WAYS[1]] {
        let here = figures(&fitted(&data, way, None).unwrap()).unwrap();
        for fails in [Fails::Folds, Fails::Factor] {
            let named = fitted(&data, way, Some(made(fails, false))).unwrap();
            let error = figures(&named).unwrap_err();
            assert!(matches!(error, Error::Device { .. }), "{way:?}, {fails:?}: {error}");
            let optional = fitted(&data, way, Some(made(fails, true))).unwrap();
            let found = figures(&optional).unwrap();
            assert!(apart(&here, &found) < 1e-9, "{way:?}, {fails:?}: {}", apart(&here, &found));
        }
    }
}

#[test]
fn an_unsupported_device_is_an_error_where_it_was_named() {
    let data = Data::new(900);
    for (family, kind) in [(None, "linear"), (Some(Family::Rbf), "kernel")] {
        let way = (family, Ridge::Fixed(1e-3));
        let error = fitted(&data, way, Some(made(Fails::Unsupported, false))).unwrap_err();
        assert!(error.to_string().contains("compute capability 5.2"), "{kind}: {error}");
        let optional = fitted(&data, way, Some(made(Fails::Unsupported, true))).unwrap();
        let why = optional.moments().refused().map(str::to_owned);
        assert!(why.is_some_and(|why| why.contains("compute capability 5.2")), "{kind}");
        let here = fitted(&data, way, None).unwrap();
        let (here, found) = (figures(&here).unwrap(), figures(&optional).unwrap());
        assert_eq!(here, found, "{kind}: the processor has done all of it");
    }
}

#[test]
fn sums_in_which_rows_are_missing_are_never_given_out() {
    let data = Data::new(3000);
    for optional in [false, true] {
        let mut moments = Moments::new(layout(), Default::default()).unwrap();
        moments.on(made(Fails::Rows, optional)).unwrap();
        let error = moments.push(&data.block()).unwrap_err();
        assert!(error.to_string().contains("an illegal address"), "{error}");
        for error in [moments.settle().unwrap_err(), moments.push(&data.block()).unwrap_err()] {
            assert!(error.to_string().contains("its sums are lost"), "{error}");
        }
        assert!(moments.covariances().is_err() && moments.splits().is_err());
    }
}

#[test]
fn a_device_that_is_lost_before_its_sums_are_read_ends_the_fit() {
    let data = Data::new(900);
    let error = fitted(&data, WAYS[4], Some(made(Fails::Sums, true))).unwrap_err();
    assert!(error.to_string().contains("the device is lost"), "{error}");
    let mut moments = Moments::new(layout(), Default::default()).unwrap();
    moments.on(made(Fails::Sums, false)).unwrap();
    moments.push(&data.block()).unwrap();
    assert!(moments.settle().is_err());
    assert!(moments.covariances().is_err(), "rows are still on the device");
}
