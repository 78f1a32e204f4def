//! What the columns of a data set are.

use serde::{Deserialize, Serialize};

use super::made::Made;
use super::renumber::check_places;
use crate::{Error, Result};

/// Whether a label is to be kept or to be hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Keep it predictable.
    Target,
    /// Hide it.
    Sensitive,
}

/// What a label holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelKind {
    /// One of `classes` classes; stands for that many one-hot columns, which are never formed.
    Class {
        /// How many classes there are.
        classes: usize,
    },
    /// `width` plain numbers.
    Number {
        /// How many columns.
        width: usize,
    },
    /// `columns` numbers that stand for the features of one Gaussian kernel over them. Only a
    /// [`Fit`](crate::Fit) knows these features: it chooses them from a sample.
    Kernel {
        /// How many numbers a row brings.
        columns: usize,
    },
    /// The features themselves (erasure without a target). Brings no data of its own.
    Features,
}

/// A label: its name, its role and its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// The name, for messages and reports.
    pub name: String,
    /// Keep or hide.
    pub role: Role,
    /// Classes, numbers or the features themselves.
    pub kind: LabelKind,
    /// The columns that are kept or hidden, where they are not those of the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) made: Option<Made>,
}

impl Label {
    /// A label whose columns are those of its kind.
    pub fn new(name: &str, role: Role, kind: LabelKind) -> Self {
        Label { name: name.to_owned(), role, kind, made: None }
    }

    /// The number of columns that stand for it; `inputs` where they are the features themselves.
    pub(crate) fn width(&self, inputs: usize) -> usize {
        match (self.made, &self.kind) {
            (Some(made), _) => made.width(),
            (None, LabelKind::Class { classes }) => *classes,
            (None, LabelKind::Number { width } | LabelKind::Kernel { columns: width }) => *width,
            (None, LabelKind::Features) => inputs,
        }
    }
}

/// Where the inputs x are, for reconstructing them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Inputs {
    /// They are the features.
    Features,
    /// This many columns beside features that are a map of them.
    Kept(usize),
    /// Nowhere: the features are a map of them.
    Gone,
    /// So many, in the span of whose rows the features are coordinates.
    Span(usize),
}

impl Inputs {
    /// How many columns they take beside the features.
    pub(crate) fn kept(self) -> usize {
        match self {
            Inputs::Kept(width) => width,
            Inputs::Features | Inputs::Gone | Inputs::Span(_) => 0,
        }
    }
}

/// The columns of a data set: `dense` numeric features, then class-coded features (each standing
/// for its one-hot columns), then labels.
///
/// ```
/// use sarl::{Layout, Role};
/// let layout = Layout::dense(14).class("income", Role::Target, 2).class("sex", Role::Sensitive, 2);
/// assert_eq!(layout.features(), 14);
/// assert_eq!(layout.width(Role::Target), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    pub(crate) dense: usize,
    pub(crate) codes: Vec<usize>,
    pub(crate) inputs: Inputs,
    /// A map of these features keeps them beside its own.
    #[serde(default)]
    keeps: bool,
    pub(crate) labels: Vec<Label>,
}

/// More columns than this are refused before anything is allocated.
const MOST_COLUMNS: usize = 1 << 20;

/// More class-coded features than this are refused: each pair of them has a table.
const MOST_CODED: usize = 1 << 12;

impl Layout {
    /// `width` numeric features and, so far, no labels.
    pub fn dense(width: usize) -> Self {
        let (codes, labels) = (Vec::new(), Vec::new());
        Layout { dense: width, codes, inputs: Inputs::Features, keeps: false, labels }
    }

    /// Adds class-coded features with the given numbers of categories; each becomes that many
    /// one-hot columns after the dense ones, without a one-hot matrix being formed.
    pub fn coded(mut self, categories: &[usize]) -> Self {
        self.codes.extend_from_slice(categories);
        self
    }

    /// Adds a label of `classes` classes.
    pub fn class(self, name: &str, role: Role, classes: usize) -> Self {
        self.label(name, role, LabelKind::Class { classes })
    }

    /// Adds a numeric label of `width` columns.
    pub fn number(self, name: &str, role: Role, width: usize) -> Self {
        self.label(name, role, LabelKind::Number { width })
    }

    /// Makes the features themselves the target: keep everything that can be kept.
    pub fn keep_features(self) -> Self {
        self.label(":features", Role::Target, LabelKind::Features)
    }

    /// Keeps the inputs beside features that are a map of them, so that an encoder with a kernel
    /// can reconstruct them too. They are always there where they are the features or the target.
    pub fn keep_inputs(mut self) -> Self {
        self.keeps = true;
        self
    }

    /// Adds a label of `columns` numbers that stand for the features of one Gaussian kernel.
    pub fn kernel(self, name: &str, role: Role, columns: usize) -> Self {
        self.label(name, role, LabelKind::Kernel { columns })
    }

    fn label(mut self, name: &str, role: Role, kind: LabelKind) -> Self {
        self.labels.push(Label::new(name, role, kind));
        self
    }

    /// The same labels without features.
    pub(crate) fn labels_only(&self) -> Self {
        Layout { labels: self.labels.clone(), ..Layout::dense(0) }
    }

    /// The same features with other labels.
    pub(crate) fn relabelled(&self, labels: Vec<Label>) -> Self {
        Layout { labels, ..self.clone() }
    }

    /// The same with another number of classes of a label.
    pub(crate) fn reclassed(&self, label: usize, classes: usize) -> Self {
        let mut layout = self.clone();
        if let Some(label) = layout.labels.get_mut(label) {
            label.kind = LabelKind::Class { classes };
        }
        layout
    }

    /// The same with another number of categories of a class-coded feature, whose old ones have the
    /// places `to`.
    pub(crate) fn recoded(&self, category: usize, to: &[u32], size: usize) -> Result<Self> {
        let name = format!("class-coded feature {category}");
        let mut layout = self.clone();
        match layout.codes.get_mut(category) {
            Some(before) if *before == to.len() => *before = size,
            before => {
                let expected = before.map_or(0, |before| *before);
                return Err(Error::shape(format!("categories of {name}"), to.len(), expected));
            }
        }
        check_places(&name, to, size)?;
        layout.check()?;
        Ok(layout)
    }

    /// The same labels over `width` features that are a map of these ones. The inputs are kept
    /// beside them when they are the target, or when that was asked for.
    pub(crate) fn mapped(&self, width: usize) -> Self {
        let keeps = self.keeps || self.labels.iter().any(|l| l.kind == LabelKind::Features);
        Layout {
            dense: width,
            codes: Vec::new(),
            inputs: if keeps { Inputs::Kept(self.features()) } else { Inputs::Gone },
            keeps,
            labels: self.labels.clone(),
        }
    }

    /// The same labels over `size` coordinates in the span of rows of these features.
    pub(crate) fn spanned(&self, size: usize) -> Self {
        let (codes, inputs) = (Vec::new(), Inputs::Span(self.features()));
        Layout { dense: size, codes, inputs, keeps: false, labels: self.labels.clone() }
    }

    /// The number of inputs whose variance the features carry: their own, unless they are
    /// coordinates of more of them.
    pub(crate) fn carried(&self) -> usize {
        match self.inputs {
            Inputs::Span(inputs) => inputs,
            _ => self.features(),
        }
    }

    /// The number of features, one-hot columns included.
    pub fn features(&self) -> usize {
        self.codes.iter().fold(self.dense, |sum, &n| sum.saturating_add(n))
    }

    /// Whether the features are a map of the inputs.
    pub(crate) fn is_mapped(&self) -> bool {
        self.inputs != Inputs::Features
    }

    /// The number of dense features.
    pub fn dense_features(&self) -> usize {
        self.dense
    }

    /// The numbers of categories of the class-coded features.
    pub fn categories(&self) -> &[usize] {
        &self.codes
    }

    /// The labels, in the order in which blocks bring them.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The number of columns that all labels of a role stand for: p for the target, q for the
    /// sensitive one.
    pub fn width(&self, role: Role) -> usize {
        self.labels.iter().filter(|l| l.role == role).map(|l| self.label_width(l)).sum()
    }

    pub(crate) fn label_width(&self, label: &Label) -> usize {
        label.width(match self.inputs {
            Inputs::Kept(width) => width,
            Inputs::Features | Inputs::Gone | Inputs::Span(_) => self.features(),
        })
    }

    /// The numeric columns that go through the product: dense features, kept inputs, numbers.
    pub(crate) fn columns(&self) -> usize {
        self.dense + self.inputs.kept() + self.numbers().map(|(_, w)| w).sum::<usize>()
    }

    /// The numeric labels with their widths.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.labels.iter().enumerate().filter_map(|(i, l)| match l.kind {
            LabelKind::Number { width } | LabelKind::Kernel { columns: width } => Some((i, width)),
            _ => None,
        })
    }

    /// The sizes of the class-coded columns: features first, then labels.
    pub(crate) fn groups(&self) -> Vec<usize> {
        let labels = self.labels.iter().filter_map(|l| match l.kind {
            LabelKind::Class { classes } => Some(classes),
            _ => None,
        });
        self.codes.iter().copied().chain(labels).collect()
    }

    /// The pairs of class-coded columns whose joint counts are features' covariances.
    pub(crate) fn pairs(&self) -> Vec<(usize, usize)> {
        let groups = self.groups().len();
        (0..self.codes.len()).flat_map(|a| (a + 1..groups).map(move |b| (a, b))).collect()
    }

    /// The group and the number of classes of a label, if it is a class.
    pub(super) fn class_group(&self, label: usize) -> Option<(usize, usize)> {
        let LabelKind::Class { classes } = self.labels.get(label)?.kind else { return None };
        let is_class = |l: &&Label| matches!(l.kind, LabelKind::Class { .. });
        Some((self.codes.len() + self.labels[..label].iter().filter(is_class).count(), classes))
    }

    /// Whether this describes a problem at all.
    pub fn check(&self) -> Result<()> {
        let widths = self.codes.iter().copied().chain([self.inputs.kept()]);
        let labels = self.labels.iter().map(|l| match l.kind {
            LabelKind::Class { classes } => classes,
            LabelKind::Number { width } | LabelKind::Kernel { columns: width } => width,
            LabelKind::Features => 0,
        });
        let total = widths.chain(labels).try_fold(self.dense, usize::checked_add);
        if total.is_none_or(|t| t > MOST_COLUMNS) {
            return Err(Error::TooManyColumns { most: MOST_COLUMNS });
        }
        if self.codes.len() > MOST_CODED {
            return Err(Error::TooManyCoded { most: MOST_CODED });
        }
        if self.features() == 0 {
            return Err(Error::NoFeatures);
        }
        for label in &self.labels {
            let (name, role) = (&label.name, label.role);
            match label.kind {
                LabelKind::Class { classes } if classes < 2 => {
                    return Err(Error::ConstantLabel { name: name.clone() });
                }
                LabelKind::Number { width: 0 } | LabelKind::Kernel { columns: 0 } => {
                    return Err(Error::NoColumns { name: name.clone() });
                }
                LabelKind::Features if role == Role::Sensitive => {
                    return Err(Error::FeaturesHidden);
                }
                _ => {}
            }
        }
        for (role, word) in [(Role::Target, "target"), (Role::Sensitive, "sensitive")] {
            if !self.labels.iter().any(|l| l.role == role) {
                return Err(Error::NoLabel { role: word });
            }
        }
        Ok(())
    }
}
