//! The columns that are added up for the labels of a layout.

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::Criterion;
use super::kernel::{LabelKernel, LabelSample, is_numeric};
use crate::moments::{Block, Element, Label, LabelBlock, LabelKind, Layout, Made, Role};
use crate::{Error, Result};

/// See the [module](super).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LabelMap {
    criterion: Criterion,
    /// Labels as rows bring them.
    given: Vec<Label>,
    /// The features of each label that has a kernel.
    kernels: Vec<Option<LabelKernel>>,
    /// What is added up.
    added: Vec<(Source, Label)>,
}

/// Where an added label comes from, by places among those that are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Same(usize),
    Kernel(usize),
    Joint { target: usize, hidden: usize },
    Masked { target: usize, hidden: usize },
    Residual { target: usize, hidden: usize },
}

/// What a map is made of again.
#[derive(Serialize, Deserialize)]
struct Stored {
    criterion: Criterion,
    labels: Vec<Label>,
    kernels: Vec<Option<LabelKernel>>,
}

/// New classes of an added label, and where the old ones are among them.
#[derive(Clone, Debug)]
pub(crate) struct Reclassed {
    /// The place of the added label.
    pub(crate) label: usize,
    pub(crate) to: Vec<u32>,
    /// What the label is then made of; its own classes if nothing.
    pub(crate) joint: Option<Made>,
}

/// A label of some rows.
enum Held<'a> {
    Same(LabelBlock<'a>),
    Classes(Vec<u32>),
    Numbers(Mat<f64>),
}

impl Held<'_> {
    fn block(&self) -> LabelBlock<'_> {
        match self {
            Held::Same(label) => *label,
            Held::Classes(codes) => LabelBlock::Class(codes),
            Held::Numbers(values) => LabelBlock::Number(values.as_ref()),
        }
    }
}

impl LabelMap {
    /// Whether labels are not simply their own columns.
    pub(crate) fn is_needed(layout: &Layout, criterion: Criterion) -> bool {
        let kernel = |l: &Label| matches!(l.kind, LabelKind::Kernel { .. });
        criterion != Criterion::Parity || layout.labels().iter().any(kernel)
    }

    /// Whether rows must pass by before it is known which columns are added up.
    pub(crate) fn needs_sample(layout: &Layout, criterion: Criterion) -> bool {
        layout.labels().iter().any(|l| has_kernel(l, criterion))
    }

    /// Refuses a criterion that does not suit the labels.
    pub(crate) fn check(layout: &Layout, criterion: Criterion) -> Result<()> {
        layout.check()?;
        let wrong = |problem| Err(Error::Criterion { criterion: criterion.name(), problem });
        if criterion == Criterion::Parity {
            return Ok(());
        }
        let targets = layout.labels().iter().filter(|l| is_beside(l));
        if targets.clone().next().is_none() {
            return wrong("needs a target: the features themselves are none");
        }
        let Some(favourable) = criterion.favourable() else { return Ok(()) };
        let kinds: Vec<&LabelKind> = targets.map(|l| &l.kind).collect();
        match kinds[..] {
            [LabelKind::Class { classes }] if (favourable as usize) < *classes => Ok(()),
            [LabelKind::Class { .. }] => wrong("is about a class that the target does not have"),
            [_] => wrong("needs a target with classes: it is about one of them"),
            _ => wrong("needs one target: it is about one of its classes"),
        }
    }

    /// The columns of labels, once a sample is known where one is needed.
    pub(crate) fn new(
        layout: &Layout,
        criterion: Criterion,
        sample: Option<&LabelSample>,
        seed: u64,
    ) -> Result<Self> {
        Self::check(layout, criterion)?;
        let kernel = |(i, label): (usize, &Label)| match (has_kernel(label, criterion), sample) {
            (false, _) => Ok(None),
            (true, Some(sample)) => sample.kernel(i, seed).map(Some),
            (true, None) => Err(Error::Unavailable("the features of a label are not chosen yet")),
        };
        let kernels = layout.labels().iter().enumerate().map(kernel).collect::<Result<_>>()?;
        Self::of(layout.labels().to_vec(), criterion, kernels)
    }

    fn of(
        given: Vec<Label>,
        criterion: Criterion,
        kernels: Vec<Option<LabelKernel>>,
    ) -> Result<Self> {
        let mut map = LabelMap { criterion, given, kernels, added: Vec::new() };
        let mut added = Vec::new();
        let targets: Vec<usize> =
            (0..map.given.len()).filter(|&i| is_beside(&map.given[i])).collect();
        // Where the features are kept, other targets only say beside what attributes are judged.
        let keeps = map.given.iter().any(|l| l.kind == LabelKind::Features);
        let beside = |l: &Label| keeps && criterion != Criterion::Parity && is_beside(l);
        for (i, label) in map.given.iter().enumerate() {
            let conditional = label.role == Role::Sensitive && criterion != Criterion::Parity;
            let sources: Vec<Source> = match (conditional, &label.kind) {
                _ if beside(label) => Vec::new(),
                (true, _) => targets.iter().map(|&target| map.beside(target, i)).collect(),
                (false, LabelKind::Kernel { .. }) => vec![Source::Kernel(i)],
                (false, _) => vec![Source::Same(i)],
            };
            added.extend(sources.into_iter().map(|source| (source, map.label(source))));
        }
        map.added = added;
        Ok(map)
    }

    /// How an attribute is judged beside a target.
    fn beside(&self, target: usize, hidden: usize) -> Source {
        match (&self.given[target].kind, &self.given[hidden].kind) {
            (LabelKind::Class { .. }, LabelKind::Class { .. }) => Source::Joint { target, hidden },
            (LabelKind::Class { .. }, _) => Source::Masked { target, hidden },
            _ => Source::Residual { target, hidden },
        }
    }

    /// The label that is added up for a source.
    fn label(&self, source: Source) -> Label {
        let only = self.criterion.favourable();
        let (of, kind, made) = match source {
            Source::Same(of) => (of, self.given[of].kind.clone(), None),
            Source::Kernel(of) => (of, LabelKind::Number { width: self.columns(of) }, None),
            Source::Joint { target, hidden } => {
                let (classes, groups) = (self.columns(target), self.columns(hidden));
                let kind = LabelKind::Class { classes: classes.saturating_mul(groups) };
                (hidden, kind, Some(Made::Joint { classes, groups, only }))
            }
            Source::Masked { target, hidden } => {
                let (classes, width) = (self.columns(target), self.columns(hidden));
                let kind = LabelKind::Number { width: classes.saturating_mul(width + 1) };
                (hidden, kind, Some(Made::Masked { classes, width, only }))
            }
            Source::Residual { target, hidden } => {
                let (width, given) = (self.columns(hidden), self.features_given(target));
                let kind = LabelKind::Number { width: width + given };
                (hidden, kind, Some(Made::Residual { width, given }))
            }
        };
        Label { made, kind, ..self.given[of].clone() }
    }

    /// The columns of a label: its classes, its numbers or its features.
    fn columns(&self, label: usize) -> usize {
        match (&self.given[label].kind, &self.kernels[label]) {
            (LabelKind::Class { classes }, _) => *classes,
            (LabelKind::Kernel { .. }, Some(kernel)) => kernel.width(),
            (LabelKind::Number { width } | LabelKind::Kernel { columns: width }, _) => *width,
            (LabelKind::Features, _) => 0,
        }
    }

    fn features_given(&self, target: usize) -> usize {
        self.kernels[target].as_ref().map_or(0, LabelKernel::width)
    }

    /// The layout of what is added up, over the features of `layout`.
    pub(crate) fn layout(&self, layout: &Layout) -> Layout {
        layout.relabelled(self.added.iter().map(|(_, label)| label.clone()).collect())
    }

    /// The labels that are kept or hidden, with the number of columns that stand for each.
    pub(crate) fn described(&self, layout: &Layout) -> Layout {
        let described = |(i, label): (usize, &Label)| {
            let mine = self.added.iter().filter(|(source, _)| source.about() == i);
            mine.clone().next()?;
            let made = mine.clone().any(|(source, _)| !matches!(source, Source::Same(_)));
            let width = mine.map(|(_, label)| label.width(0)).sum();
            Some(Label { made: made.then_some(Made::Columns { width }), ..label.clone() })
        };
        layout.relabelled(self.given.iter().enumerate().filter_map(described).collect())
    }

    /// Hands the rows of a block on with the labels that are added up. `first` is the number of the
    /// first row, `layout` that of the rows as they come.
    pub(crate) fn with<T: Element, R>(
        &self,
        block: &Block<'_, T>,
        layout: &Layout,
        first: u64,
        work: impl FnOnce(&Block<'_, T>) -> Result<R>,
    ) -> Result<R> {
        block.check_beside(layout, first)?;
        let brings = |label: &Label| label.kind != LabelKind::Features;
        let added = self.added.iter().filter(|(_, label)| brings(label));
        let held: Vec<Held<'_>> =
            added.map(|(source, _)| self.held(*source, &block.labels)).collect();
        // Shorter than the block's own lifetime, which labels that are made here do not have.
        let Block { dense, codes, inputs, weights, keys, hashes, .. } = block.clone();
        work(&Block {
            dense,
            codes,
            inputs,
            weights,
            keys,
            hashes,
            labels: held.iter().map(Held::block).collect(),
        })
    }

    fn held<'a>(&self, source: Source, labels: &[LabelBlock<'a>]) -> Held<'a> {
        // The features themselves bring nothing.
        let brought = |i: usize| {
            let without = self.given[..i].iter().filter(|l| l.kind == LabelKind::Features);
            labels[i - without.count()]
        };
        match source {
            Source::Same(i) => Held::Same(brought(i)),
            Source::Kernel(i) => Held::Numbers(self.values(i, brought(i))),
            Source::Joint { target, hidden } => match (brought(target), brought(hidden)) {
                (LabelBlock::Class(classes), LabelBlock::Class(groups)) => {
                    let count = self.columns(hidden) as u32;
                    let joint = classes.iter().zip(groups).map(|(c, g)| c * count + g);
                    Held::Classes(joint.collect())
                }
                _ => Held::Classes(Vec::new()),
            },
            Source::Masked { target, hidden } => {
                let values = self.values(hidden, brought(hidden));
                let (classes, width) = (self.columns(target), values.ncols());
                let LabelBlock::Class(codes) = brought(target) else {
                    return Held::Numbers(Mat::new());
                };
                let mut masked = Mat::zeros(values.nrows(), classes * (width + 1));
                for (i, &class) in codes.iter().enumerate() {
                    let at = class as usize * (width + 1);
                    (0..width).for_each(|j| masked[(i, at + j)] = values[(i, j)]);
                    masked[(i, at + width)] = 1.0;
                }
                Held::Numbers(masked)
            }
            Source::Residual { target, hidden } => {
                let values = self.values(hidden, brought(hidden));
                let given = match (&self.kernels[target], brought(target)) {
                    (Some(kernel), LabelBlock::Number(numbers)) => kernel.features(numbers),
                    _ => Mat::zeros(values.nrows(), 0),
                };
                let width = values.ncols();
                let both = Mat::from_fn(values.nrows(), width + given.ncols(), |i, j| {
                    match j.checked_sub(width) {
                        None => values[(i, j)],
                        Some(j) => given[(i, j)],
                    }
                });
                Held::Numbers(both)
            }
        }
    }

    /// The columns of a label as numbers.
    fn values(&self, label: usize, brought: LabelBlock<'_>) -> Mat<f64> {
        match (brought, &self.given[label].kind, &self.kernels[label]) {
            (LabelBlock::Number(numbers), LabelKind::Kernel { .. }, Some(kernel)) => {
                kernel.features(numbers)
            }
            (LabelBlock::Number(numbers), ..) => numbers.to_owned(),
            (LabelBlock::Class(codes), ..) => {
                let classes = self.columns(label);
                let is = |i: usize, j: usize| if codes[i] as usize == j { 1.0 } else { 0.0 };
                Mat::from_fn(codes.len(), classes, is)
            }
        }
    }

    /// The same where class `k` of a label has become class `to[k]` of `classes`, and what becomes
    /// of the labels that are added up.
    pub(crate) fn reclassed(
        &self,
        label: usize,
        to: &[u32],
        classes: usize,
    ) -> Result<(Self, Vec<Reclassed>)> {
        let mut given = self.given.clone();
        let Some(LabelKind::Class { classes: before }) = self.given.get(label).map(|l| &l.kind)
        else {
            let name = self.given.get(label).map_or("", |l| &l.name).to_owned();
            return Err(Error::LabelKind { name, found: "numbers", expected: "classes" });
        };
        if to.len() != *before {
            let name = &self.given[label].name;
            return Err(Error::shape(format!("classes of label `{name}`"), to.len(), *before));
        }
        given[label].kind = LabelKind::Class { classes };
        let is_target = given[label].role == Role::Target;
        let criterion = match self.criterion {
            Criterion::EqualOpportunity { favourable } if is_target => {
                let favourable = to.get(favourable as usize).copied().unwrap_or(favourable);
                Criterion::EqualOpportunity { favourable }
            }
            criterion => criterion,
        };
        let new = Self::of(given, criterion, self.kernels.clone())?;
        let mut changes = Vec::new();
        for (at, (source, _)) in self.added.iter().enumerate() {
            let joint = new.added[at].1.made;
            match *source {
                Source::Same(i) if i == label => {
                    changes.push(Reclassed { label: at, to: to.to_vec(), joint: None });
                }
                Source::Joint { target, hidden } if target == label => {
                    let groups = self.columns(hidden) as u32;
                    let each = |c: &u32| {
                        let c = *c;
                        (0..groups).map(move |g| c * groups + g)
                    };
                    changes.push(Reclassed {
                        label: at,
                        to: to.iter().flat_map(each).collect(),
                        joint,
                    });
                }
                Source::Joint { target, hidden } if hidden == label => {
                    let groups = classes as u32;
                    let joined = (0..self.columns(target) as u32)
                        .flat_map(|c| to.iter().map(move |g| c * groups + g));
                    changes.push(Reclassed { label: at, to: joined.collect(), joint });
                }
                Source::Masked { target: i, .. } | Source::Residual { hidden: i, .. }
                    if i == label =>
                {
                    let message = "classes that come later cannot be added beside numbers: the \
                                   first rows must have all of them";
                    return Err(Error::Unavailable(message));
                }
                _ => {}
            }
        }
        Ok((new, changes))
    }

    pub(crate) fn criterion(&self) -> Criterion {
        self.criterion
    }

    /// As a text that travels with moments.
    pub(crate) fn to_json(&self) -> Result<String> {
        let (criterion, labels) = (self.criterion, self.given.clone());
        let stored = Stored { criterion, labels, kernels: self.kernels.clone() };
        let failed = |e: serde_json::Error| Error::File { kind: "moments", problem: e.to_string() };
        serde_json::to_string(&stored).map_err(failed)
    }

    /// The inverse of [`LabelMap::to_json`], with the layout of the rows as they come: `added` is
    /// that of what was added up.
    pub(crate) fn from_json(text: &str, added: &Layout) -> Result<(Self, Layout)> {
        let wrong = |problem: String| Error::File { kind: "moments", problem };
        let stored: Stored = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
        let Stored { criterion, labels, kernels } = stored;
        let layout = added.relabelled(labels);
        Self::check(&layout, criterion)?;
        let fits = |(label, kernel): (&Label, &Option<LabelKernel>)| {
            let columns = match label.kind {
                LabelKind::Number { width } | LabelKind::Kernel { columns: width } => width,
                _ => 0,
            };
            has_kernel(label, criterion) == kernel.is_some()
                && kernel.as_ref().is_none_or(|k| k.is_sound() && k.columns() == columns)
        };
        let sound = kernels.len() == layout.labels().len()
            && layout.labels().iter().zip(&kernels).all(fits)
            && layout.labels().iter().all(|l| l.made.is_none());
        if !sound {
            return Err(wrong("the features of its labels are not those of its labels".into()));
        }
        let map = Self::of(layout.labels().to_vec(), criterion, kernels)?;
        match map.layout(&layout) == *added {
            true => Ok((map, layout)),
            false => Err(wrong("its labels are not those that were added up".into())),
        }
    }
}

impl Source {
    /// The label that it is about.
    fn about(self) -> usize {
        match self {
            Source::Same(i) | Source::Kernel(i) => i,
            Source::Joint { hidden, .. }
            | Source::Masked { hidden, .. }
            | Source::Residual { hidden, .. } => hidden,
        }
    }
}

/// Whether attributes can be judged beside a label.
fn is_beside(label: &Label) -> bool {
    label.role == Role::Target && label.kind != LabelKind::Features
}

/// Whether features of a label's numbers are needed: as its columns, or to judge attributes beside it.
fn has_kernel(label: &Label, criterion: Criterion) -> bool {
    let judged = criterion != Criterion::Parity && label.role == Role::Target;
    matches!(label.kind, LabelKind::Kernel { .. }) || (judged && is_numeric(&label.kind))
}
