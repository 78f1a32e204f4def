//! One fit: from blocks of rows to every trade-off.
//!
//! ```text
//! FitParams ──► Fit ──(sample*)──► choose ──push*, merge──► finish ──► Fitted ──solve──► Model
//! ```
//!
//! Linear encoders need one pass. Kernels need one before it, which lets the rows pass by, and then
//! landmarks are chosen. Moments of other rows, on other machines, can be merged.
//!
//! ```
//! use sarl::{Block, Fit, FitParams, Goal, Layout, Role};
//! let x = faer::Mat::from_fn(200, 2, |i, j| ((i * (7 + 4 * j)) % 31) as f64 - 15.0);
//! let y: Vec<u32> = (0..200).map(|i| u32::from(x[(i, 0)] > 0.0)).collect();
//! let s: Vec<u32> = (0..200).map(|i| u32::from(x[(i, 0)] + x[(i, 1)] > 0.0)).collect();
//! let layout = Layout::dense(2).class("y", Role::Target, 2).class("s", Role::Sensitive, 2);
//! let mut fit = Fit::new(FitParams::default(), layout)?;
//! fit.push(&Block::new(x.as_ref()).class(&y).class(&s))?;
//! let model = fit.finish()?.solve(Goal::Leakage(0.01))?;
//! assert!(model.point().leakage <= 0.01);
//! assert_eq!(model.encoder().encode(x.as_ref())?.ncols(), 1);
//! # Ok::<(), sarl::Error>(())
//! ```

mod demand;
mod file;
mod fitted;
mod merge;
mod pack;
mod params;
mod sample;

pub use file::Chosen;
pub use fitted::{Fitted, UsedRidge};
pub use params::{Approximation, EXACT_ROWS, Features, FitParams, KernelParams, Ridge, Scale};

use std::sync::Arc;

use crate::encoder::Erasing;
use crate::engine::{Engine, Placed};
use crate::features::{FeatureMap, Scaling, Spanned, Wide};
use crate::labels::{LabelMap, LabelSample};
use crate::moments::{Block, Element, Layout, Moments, Over};
use crate::{Error, Result};
use sample::Sampling;

/// A fit that rows are still added to; see the [module](self).
#[derive(Clone, Debug)]
pub struct Fit {
    params: FitParams,
    layout: Layout,
    /// What labels become before they are added up; nothing where they stay what they are, or where
    /// that is not known yet.
    labels: Option<Arc<LabelMap>>,
    /// Rows from which the features of labels are chosen.
    sample: Option<LabelSample>,
    /// How many rows will come, if that is known.
    expected: Option<u64>,
    /// What adds up the rows, if the processor does not.
    engine: Option<Arc<dyn Engine>>,
    /// Rows that the engine may count on.
    coming: u64,
    state: State,
}

const NOT_CHOSEN: &str =
    "the landmarks of a kernel are not chosen yet: let rows pass by, then choose";

/// What rows have become so far.
#[derive(Clone, Debug)]
enum State {
    /// Rows pass by before a kernel's landmarks are chosen.
    Sampling(Box<Sampling>),
    /// Rows pass by before the features of labels are chosen.
    Waiting,
    /// They are held, because there are fewer of them than features.
    Held(Arc<Wide>),
    /// They were added up.
    Sums { map: Arc<FeatureMap>, moments: Arc<Moments>, spreads: Option<Vec<(f64, f64)>> },
}

impl State {
    /// Rows pushed so far.
    fn rows(&self) -> u64 {
        match self {
            State::Sampling(_) | State::Waiting => 0,
            State::Held(wide) => wide.rows(),
            State::Sums { moments, .. } => moments.rows(),
        }
    }
}

impl Fit {
    /// No rows yet. The layout is that of the rows as they come.
    pub fn new(params: FitParams, layout: Layout) -> Result<Self> {
        params.check()?;
        // The same checks, and the same errors, before any row is read.
        LabelMap::check(&layout, params.criterion)?;
        params.moments().check()?;
        let (criterion, seed) = (params.criterion, params.seed);
        let sample = LabelMap::needs_sample(&layout, criterion)
            .then(|| LabelSample::new(&layout, params.fold_by, seed));
        let needed = LabelMap::is_needed(&layout, criterion) && sample.is_none();
        let labels = match needed {
            true => Some(Arc::new(LabelMap::new(&layout, criterion, None, seed)?)),
            false => None,
        };
        let state = match &params.features {
            Features::Kernel(kernel) => {
                State::Sampling(Box::new(Sampling::new(kernel, &layout, &params)))
            }
            Features::Linear => State::Waiting,
        };
        let (expected, engine, coming) = (None, None, 0);
        let mut fit = Fit { params, layout, labels, sample, expected, engine, coming, state };
        fit.begin()?;
        Ok(fit)
    }

    /// A linear fit takes rows as soon as it is known what their labels become.
    fn begin(&mut self) -> Result<()> {
        if self.sample.is_some() || !matches!(self.state, State::Waiting) {
            return Ok(());
        }
        let added = self.added();
        let held = Wide::suits(self.expected.unwrap_or(1), self.layout.features());
        self.state = match held {
            true => {
                let rows = self.expected.and_then(|rows| usize::try_from(rows).ok()).unwrap_or(0);
                State::Held(Arc::new(Wide::new(added, self.params.moments(), rows)?))
            }
            false => Self::sums(&self.params, &added)?,
        };
        Ok(())
    }

    /// The layout of what is added up.
    fn added(&self) -> Layout {
        match &self.labels {
            Some(labels) => labels.layout(&self.layout),
            None => self.layout.clone(),
        }
    }

    /// The same, where it is known how many rows will come: fewer than features are then held in
    /// memory of just their size, more are never held.
    pub fn expecting(mut self, rows: u64) -> Result<Self> {
        self.check_memory(rows)?;
        self.expected = Some(rows);
        if let State::Held(wide) = &self.state
            && wide.rows() == 0
        {
            self.state = State::Waiting;
            self.begin()?;
        }
        Ok(self)
    }

    /// Refuses so many rows where there is no memory for what they become.
    fn check_memory(&self, rows: u64) -> Result<()> {
        let (dense, columns) = (self.layout.dense_features(), self.layout.features());
        self.params.check_memory(rows, dense as u64, columns as u64)
    }

    /// Empty moments of the features themselves.
    fn sums(params: &FitParams, layout: &Layout) -> Result<State> {
        let (dense, columns) = (layout.dense_features() as u64, layout.features() as u64);
        params.check_memory(columns, dense, columns)?;
        let map = FeatureMap::coded(layout.dense_features(), layout.categories());
        let moments = Arc::new(map.moments(layout, params.moments())?);
        Ok(State::Sums { map: Arc::new(map), moments, spreads: None })
    }

    /// Lets an engine add up the rows that are pushed from now on. The processor does what it cannot:
    /// rows that are held because there are fewer of them than features, among others.
    pub fn on(mut self, engine: Arc<dyn Engine>) -> Self {
        self.engine = Some(engine);
        self
    }

    /// At least so many rows will be pushed: an engine that may leave them to the processor asks for it.
    pub fn coming(&mut self, rows: u64) {
        self.coming = rows;
    }

    /// The device that has added up rows, if one has.
    pub fn device_name(&self) -> Option<String> {
        match &self.state {
            State::Sums { moments, .. } => moments.device_name(),
            _ => None,
        }
    }

    /// Why the engine leaves the rows to the processor, if it does.
    pub fn refused(&self) -> Option<&str> {
        match &self.state {
            State::Sums { moments, .. } => moments.refused(),
            _ => None,
        }
    }

    /// The most rows that a device takes at a time, once one adds them up.
    pub fn device_rows(&self) -> Option<usize> {
        match &self.state {
            State::Sums { moments, .. } => Some(moments.device_capacity()).filter(|rows| *rows > 0),
            _ => None,
        }
    }

    /// Takes what a device has added up, and leaves its memory free.
    pub fn settle(&mut self) -> Result<()> {
        match &mut self.state {
            State::Sums { moments, .. } if moments.has_engine() => Arc::make_mut(moments).settle(),
            _ => Ok(()),
        }
    }

    /// How it is fitted.
    pub fn params(&self) -> &FitParams {
        &self.params
    }

    /// What the columns of the rows are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Rows pushed so far.
    pub fn rows(&self) -> u64 {
        self.state.rows()
    }

    /// Whether rows must pass by [`Fit::sample`] before they are pushed.
    pub fn needs_sample(&self) -> bool {
        self.sample.is_some() || matches!(self.state, State::Sampling(_))
    }

    /// Lets rows pass by from which a kernel takes its width, its scaling and its landmarks, with
    /// their labels where these have a kernel too.
    pub fn sample<T: Element>(&mut self, block: &Block<'_, T>) -> Result<()> {
        if let Some(sample) = &mut self.sample {
            sample.push(block)?;
        }
        match &mut self.state {
            State::Sampling(sampling) => sampling.push(block),
            _ => Ok(()),
        }
    }

    /// Rows from which landmarks are taken, instead of those that passed by.
    pub fn candidates<T: Element>(&mut self, block: &Block<'_, T>) -> Result<()> {
        match (&mut self.state, &self.params.features) {
            (State::Sampling(sampling), Features::Kernel(kernel)) => {
                sampling.candidates(block, kernel.sample_size(), self.params.seed)
            }
            _ => Err(Error::Unavailable("landmarks are those of a kernel that has none yet")),
        }
    }

    /// Chooses the landmarks of kernels; given up with [`Error::Interrupted`] when `stop`, asked
    /// now and then, says so. Nothing happens where there is nothing to choose.
    pub fn choose(&mut self, stop: &dyn Fn() -> bool) -> Result<()> {
        let (criterion, seed) = (self.params.criterion, self.params.seed);
        let labels = match &self.sample {
            Some(sample) if sample.rows() == 0 => return Err(Error::TooFewRows { rows: 0 }),
            Some(sample) => {
                Some(Arc::new(LabelMap::new(&self.layout, criterion, Some(sample), seed)?))
            }
            None => self.labels.clone(),
        };
        let mut chosen = Fit { labels, sample: None, ..self.clone() };
        chosen.begin()?;
        if let (State::Sampling(sampling), Features::Kernel(kernel)) =
            (&self.state, &self.params.features)
        {
            if sampling.rows() == 0 {
                return Err(Error::TooFewRows { rows: 0 });
            }
            self.params.check_rows(sampling.rows())?;
            self.check_memory(sampling.rows())?;
            let on = (stop, self.engine.as_deref());
            let (map, spreads) = sampling.map(kernel, self.params.scale, self.params.seed, on)?;
            self.params.check_features(map.outputs() as u64)?;
            chosen.state = State::Sums {
                moments: Arc::new(map.moments(&chosen.added(), self.params.moments())?),
                map: Arc::new(map),
                spreads: Some(spreads),
            };
        }
        *self = chosen;
        Ok(())
    }

    /// The map of a kernel, once its landmarks are chosen.
    pub fn map(&self) -> Option<&FeatureMap> {
        match &self.state {
            State::Sums { map, .. } => Some(map),
            _ => None,
        }
    }

    /// Adds the rows of a block. A block that is refused leaves the fit as it was.
    pub fn push<T: Element>(&mut self, block: &Block<'_, T>) -> Result<()> {
        let after = self.rows() + block.rows() as u64;
        if matches!(self.state, State::Held(_)) && !Wide::suits(after, self.layout.features()) {
            self.add_up()?;
        }
        if let (Some(engine), State::Sums { moments, .. }) = (&self.engine, &mut self.state)
            && !moments.has_engine()
        {
            let moments = Arc::make_mut(moments);
            moments.on(Arc::clone(engine))?;
            moments.expect(self.expected.unwrap_or(0).max(self.coming));
        }
        match &self.labels {
            None => Self::push_into(&mut self.state, block),
            Some(labels) => {
                let (first, state) = (self.state.rows(), &mut self.state);
                labels.with(block, &self.layout, first, |block| Self::push_into(state, block))
            }
        }
    }

    /// Adds rows whose features lie on a device, with everything else of them in `block`, which has no
    /// features. Only linear fits take them, by an engine of that device ([`Fit::on`]); whether they were
    /// added, see [`Moments::push_placed`].
    pub fn push_placed(&mut self, x: &Placed, block: &Block<'_, f64>) -> Result<bool> {
        self.add_up()?;
        let first = self.state.rows();
        let State::Sums { map, moments, .. } = &mut self.state else {
            return Err(Error::Unavailable(NOT_CHOSEN));
        };
        map.check_maps_rows()?;
        if !map.is_linear() {
            let why = "features of kernels need rows in host memory: copy them there first";
            return Err(Error::Unavailable(why));
        }
        let moments = Arc::make_mut(moments);
        if let Some(engine) = self.engine.as_ref().filter(|_| !moments.has_engine()) {
            moments.on(Arc::clone(engine))?;
        }
        match &self.labels {
            None => moments.push_placed(x, block),
            Some(labels) => {
                labels.with(block, &self.layout, first, |block| moments.push_placed(x, block))
            }
        }
    }

    fn push_into<T: Element>(state: &mut State, block: &Block<'_, T>) -> Result<()> {
        match state {
            State::Sampling(_) | State::Waiting => Err(Error::Unavailable(NOT_CHOSEN)),
            State::Held(wide) => Arc::make_mut(wide).push(block),
            State::Sums { map, moments, .. } => map.push(Arc::make_mut(moments), block),
        }
    }

    /// Turns rows that are held into sums, which rows of other machines can be added to.
    pub fn add_up(&mut self) -> Result<()> {
        let State::Held(wide) = &self.state else { return Ok(()) };
        let State::Sums { map, .. } = Self::sums(&self.params, &self.added())? else {
            return Ok(());
        };
        let moments = Arc::new(wide.added_up()?);
        self.state = State::Sums { map, moments, spreads: None };
        Ok(())
    }

    /// The same rows with another ridge and other dimensions and, where that comes after the rows,
    /// another scale.
    pub fn with(self, params: &FitParams) -> Result<Self> {
        params.check()?;
        let linear = self.params.features == Features::Linear;
        let scale = if linear { params.scale } else { self.params.scale };
        let (ridge, dimensions) = (params.ridge, params.dimensions);
        Ok(Fit { params: FitParams { scale, ridge, dimensions, ..self.params }, ..self })
    }

    /// All rows are there: what can be known of them.
    pub fn finish(mut self) -> Result<Fitted> {
        self.settle()?;
        let Fit { params, layout, labels, state, .. } = self;
        let layout = labels.map_or(layout.clone(), |labels| labels.described(&layout));
        let scaled = params.scale == Scale::Standard;
        let (map, moments, spreads, known) = match state {
            State::Sampling(_) | State::Waiting => {
                return Err(Error::TooFewRows { rows: 0 });
            }
            State::Held(wide) => {
                let wide = Arc::unwrap_or_clone(wide);
                let Spanned { map, moments, spreads } = wide.spanned(scaled)?;
                (map, Arc::new(moments), spreads, None)
            }
            State::Sums { map, moments, spreads: Some(spreads) } => {
                return Ok(Fitted::new(params, layout, map, moments, spreads));
            }
            State::Sums { map, mut moments, spreads: None } => {
                let spreads = match scaled {
                    true => Some(Arc::make_mut(&mut moments).standardise()?),
                    false => None,
                };
                let once = map.is_linear() && Erasing::keeps_features(moments.layout());
                let covariances = moments.covariances_over(Over { once, ..Over::default() })?;
                let spreads = spreads.unwrap_or_else(|| moments.spreads_of(&covariances));
                (Arc::unwrap_or_clone(map), moments, spreads, Some(covariances))
            }
        };
        let map = match scaled {
            true => {
                let scaling = Some(Scaling::standard(&spreads));
                map.over(layout.dense_features(), layout.categories(), scaling)?
            }
            false => map,
        };
        let fitted = Fitted::new(params, layout, Arc::new(map), moments, spreads);
        Ok(match known {
            Some(covariances) => fitted.knowing(covariances),
            None => fitted,
        })
    }
}
