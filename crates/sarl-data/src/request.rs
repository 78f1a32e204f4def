//! What a person asks of a data set: which columns, in which roles, and how.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::column::{Column, ColumnKind, ColumnRef, MatrixArray, Treat};
use crate::error::{DataError, Result};
use crate::format::trimmed;
use crate::nearest::nearest;
use crate::source::{Source, kind_or_text};
use crate::text::{DateOrder, Written};

/// What the representation is to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Targets {
    /// These columns; none for a pass without targets.
    Columns(Vec<ColumnRef>),
    /// The features themselves: erasure. The columns are not kept: attributes are hidden beside
    /// them, where the criterion is one of that kind.
    Features(Vec<ColumnRef>),
}

impl Targets {
    /// Column references, with the word `:features` among them or not.
    pub fn parse<S: AsRef<str>>(names: &[S]) -> Result<Self> {
        let is_features = |name: &&S| name.as_ref() == ":features";
        let columns = names.iter().filter(|n| !is_features(n)).map(|n| n.as_ref().parse());
        let columns = columns.collect::<Result<_>>()?;
        Ok(match names.iter().any(|n| is_features(&n)) {
            true => Self::Features(columns),
            false => Self::Columns(columns),
        })
    }

    /// The columns among them.
    pub fn columns(&self) -> &[ColumnRef] {
        match self {
            Self::Columns(columns) | Self::Features(columns) => columns,
        }
    }

    /// Whether the features themselves are kept.
    pub fn are_features(&self) -> bool {
        matches!(self, Self::Features(_))
    }
}

/// What happens to missing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// They are an error that names the column, the count and the first rows.
    #[default]
    Error,
    /// Rows with one are left out.
    Drop,
    /// A numeric feature gets its mean, a categorical one its most frequent category;
    /// rows without a label or a weight are left out.
    Mean,
}

/// Which columns to use, in which roles, and how.
#[derive(Clone, Debug)]
pub struct Request {
    /// What to keep.
    pub targets: Targets,
    /// What to hide.
    pub sensitives: Vec<ColumnRef>,
    /// What to learn from. Without it: every column without another role, and in a
    /// matrix file the columns of `X`.
    pub features: Option<Vec<ColumnRef>>,
    /// Features whose integers are codes of categories, besides those written `COL:class`.
    pub categorical: Vec<String>,
    /// Columns to leave out.
    pub drop: Vec<String>,
    /// The column of row weights.
    pub weight: Option<String>,
    /// What happens to missing values.
    pub missing: Missing,
    /// More cells that stand for a missing value, in every column.
    pub missing_values: Vec<String>,
    /// The most categories of a feature: the most frequent values, and all others as one.
    /// Without it a feature with very many is refused.
    pub max_categories: Option<usize>,
    /// Whether these rows are a part of a data set. Then a label may have one class or be constant,
    /// and [`Schema::check_whole`](crate::Schema::check_whole) judges all parts together.
    pub part: bool,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            targets: Targets::Columns(Vec::new()),
            sensitives: Vec::new(),
            features: None,
            categorical: Vec::new(),
            drop: Vec::new(),
            weight: None,
            missing: Missing::default(),
            missing_values: Vec::new(),
            max_categories: None,
            part: false,
        }
    }
}

/// How a column is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum How {
    Class,
    Number,
    /// Its cells decide.
    Open,
}

/// A column with its role decided.
#[derive(Clone, Debug)]
pub(crate) struct Selected {
    pub(crate) name: String,
    pub(crate) how: How,
    pub(crate) kind: ColumnKind,
    /// How its numbers are written.
    pub(crate) written: Written,
    /// Whether the request said `:class` or `:number`.
    pub(crate) explicit: bool,
    /// What else it said.
    pub(crate) treat: Option<Treat>,
}

/// How a label is made of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Of one column.
    One,
    /// Of the numbers of several.
    Together,
    /// Of the combinations of classes of several.
    Combination,
}

/// A label with the columns that it is made of.
#[derive(Clone, Debug)]
pub(crate) struct LabelOf<C> {
    pub(crate) name: String,
    pub(crate) form: Form,
    pub(crate) columns: Vec<C>,
}

/// The columns that a request selects.
#[derive(Clone, Debug)]
pub(crate) struct Selection {
    pub(crate) features: Vec<Selected>,
    pub(crate) targets: Vec<LabelOf<Selected>>,
    pub(crate) sensitives: Vec<LabelOf<Selected>>,
    pub(crate) weight: Option<String>,
}

impl Selection {
    pub(crate) fn new(source: &Source, request: &Request) -> Result<Self> {
        let selection = Self {
            targets: labels(source, request.targets.columns())?,
            sensitives: labels(source, &request.sensitives)?,
            weight: request
                .weight
                .as_ref()
                .map(|w| Ok(find(source, w)?.name.clone()))
                .transpose()?,
            features: Vec::new(),
        };
        for name in request.drop.iter().chain(&request.categorical) {
            find(source, name)?;
        }
        selection.check_roles(request)?;
        let features = selection.features(source, request)?;
        Ok(Self { features, ..selection })
    }

    /// All columns that are looked into.
    pub(crate) fn columns_mut(&mut self) -> impl Iterator<Item = &mut Selected> {
        let labels = self.targets.iter_mut().chain(&mut self.sensitives);
        self.features.iter_mut().chain(labels.flat_map(|l| &mut l.columns))
    }

    pub(crate) fn labels_mut(&mut self) -> impl Iterator<Item = &mut Selected> {
        self.targets.iter_mut().chain(&mut self.sensitives).flat_map(|l| &mut l.columns)
    }

    fn check_roles(&self, request: &Request) -> Result<()> {
        // A column may be a label by itself and part of another of the same role.
        let uses = |labels: &[LabelOf<Selected>], name: &str| {
            let own = labels.iter().filter(|l| l.name == name).count();
            let used = labels.iter().any(|l| l.columns.iter().any(|c| c.name == name));
            own.max(usize::from(used))
        };
        let role = |name: &str| {
            [
                (uses(&self.targets, name), "a target"),
                (uses(&self.sensitives, name), "a sensitive column"),
                (usize::from(self.weight.as_deref() == Some(name)), "the weight"),
                (usize::from(is_among(&request.drop, name)), "dropped"),
            ]
        };
        let labels = self.targets.iter().chain(&self.sensitives);
        let columns = labels.clone().flat_map(|l| l.columns.iter().map(|c| c.name.as_str()));
        let names = labels.map(|l| l.name.as_str()).chain(columns);
        for name in names.chain(self.weight.as_deref()) {
            let roles = role(name);
            let mut held =
                roles.iter().flat_map(|(count, role)| std::iter::repeat_n(*role, *count));
            if let (Some(first), Some(second)) = (held.next(), held.next()) {
                return Err(DataError::TwoRoles { column: name.to_owned(), first, second });
            }
        }
        Ok(())
    }

    fn features(&self, source: &Source, request: &Request) -> Result<Vec<Selected>> {
        let mut refs = match &request.features {
            Some(refs) => expand(source, refs)?,
            None => self.other_columns(source),
        };
        refs.retain(|r| !is_among(&request.drop, &r.name));
        let mut features: Vec<Selected> = Vec::new();
        let mut seen = HashSet::new();
        for mut r in refs {
            if is_among(&request.categorical, &r.name) {
                r.treat = Some(Treat::Class);
            }
            if !seen.insert(r.name.clone()) {
                return Err(DataError::TwoRoles {
                    column: r.name,
                    first: "a feature",
                    second: "a feature again",
                });
            }
            features.push(select(source, &r, Role::Feature)?);
        }
        match features.is_empty() {
            true => Err(DataError::NoFeatures),
            false => Ok(features),
        }
    }

    /// Every column without another role; of a matrix file, those of `X`.
    fn other_columns(&self, source: &Source) -> Vec<ColumnRef> {
        let labels: Vec<&str> = self
            .targets
            .iter()
            .chain(&self.sensitives)
            .flat_map(|l| l.columns.iter().map(|c| c.name.as_str()))
            .chain(self.weight.as_deref())
            .collect();
        let free = |c: &&Column| {
            matches!(c.array, None | Some(MatrixArray::X)) && !labels.contains(&c.name.as_str())
        };
        source.columns().iter().filter(free).map(|c| ColumnRef::new(&c.name)).collect()
    }
}

/// Whether a column is among names as people write them.
pub(crate) fn is_among(names: &[String], column: &str) -> bool {
    names.iter().any(|name| trimmed(name) == column)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Feature,
    Label,
}

fn labels(source: &Source, refs: &[ColumnRef]) -> Result<Vec<LabelOf<Selected>>> {
    let selected = |label: LabelOf<ColumnRef>| {
        let LabelOf { name, form, columns } = label;
        let columns = columns.iter().map(|r| select(source, r, Role::Label));
        Ok(LabelOf { name, form, columns: columns.collect::<Result<_>>()? })
    };
    label_columns(source, refs)?.into_iter().map(selected).collect()
}

/// The columns of each label. A name that a column has is that column, whatever is in it.
pub(crate) fn label_columns(
    source: &Source,
    refs: &[ColumnRef],
) -> Result<Vec<LabelOf<ColumnRef>>> {
    let of = |r: ColumnRef| {
        let name = r.name.clone();
        let parts = |by: char| name.split(by).map(trimmed).collect::<Vec<_>>();
        let bad = |problem| Err(DataError::BadLabel { text: r.to_string(), problem });
        let known = |names: &[&str]| names.iter().all(|n| source.column(n).is_some());
        let made = |names: Vec<&str>, treat: Treat| {
            let of = |name: &&str| ColumnRef { name: (*name).to_owned(), treat: Some(treat) };
            names.iter().map(of).collect::<Vec<_>>()
        };
        let (stars, sums) = (parts('*'), parts('+'));
        let (form, columns) = if source.column(&name).is_some() {
            (Form::One, vec![r])
        } else if stars.len() > 1 && known(&stars) {
            if !matches!(r.treat, None | Some(Treat::Class)) {
                return bad("a combination is one of classes");
            }
            (Form::Combination, made(stars, Treat::Class))
        } else if sums.len() > 1 && known(&sums) {
            if r.treat != Some(Treat::Kernel) {
                return bad("numbers of several columns go together in one kernel: add `:kernel`");
            }
            (Form::Together, made(sums, Treat::Kernel))
        } else {
            // Names the column that there is not.
            let parts = if stars.len() > 1 { stars } else { sums };
            let missing = parts.iter().find(|n| source.column(n).is_none());
            return Err(unknown_column(source, missing.copied().unwrap_or(&name)));
        };
        let repeated = columns.iter().enumerate().any(|(i, c)| columns[..i].contains(c));
        match repeated {
            true => Err(DataError::BadLabel { text: name, problem: "a column comes twice" }),
            false => Ok(LabelOf { name, form, columns }),
        }
    };
    expand(source, refs)?.into_iter().map(of).collect()
}

/// `y` stands for `y0`, `y1`, … where the file's `y` has several columns.
pub(crate) fn expand(source: &Source, refs: &[ColumnRef]) -> Result<Vec<ColumnRef>> {
    let mut all = Vec::new();
    for r in refs {
        let array = [MatrixArray::X, MatrixArray::Y, MatrixArray::S]
            .into_iter()
            .find(|a| a.name() == r.name);
        let several = array.map(|a| source.array_columns(a)).unwrap_or_default();
        if source.column(&r.name).is_some() || several.is_empty() {
            all.push(r.clone());
        } else {
            all.extend(several.into_iter().map(|name| ColumnRef { name, treat: r.treat }));
        }
    }
    Ok(all)
}

pub(crate) fn find<'a>(source: &'a Source, name: &str) -> Result<&'a Column> {
    source.column(name).ok_or_else(|| unknown_column(source, name))
}

/// The error for a name that no column has.
pub(crate) fn unknown_column(source: &Source, name: &str) -> DataError {
    DataError::UnknownColumn {
        column: name.to_owned(),
        nearest: nearest(name, source.columns().iter().map(|c| c.name.as_str())),
        available: source.columns().iter().map(|c| c.name.clone()).collect(),
    }
}

fn select(source: &Source, r: &ColumnRef, role: Role) -> Result<Selected> {
    let column = find(source, &r.name)?;
    if column.kind == ColumnKind::Other {
        return Err(DataError::WrongType {
            path: source.path(0).to_owned(),
            column: column.name.clone(),
            found: column.type_name.clone(),
            expected: "text, booleans, dates or numbers".to_owned(),
        });
    }
    if let (Role::Feature, Some(Treat::Kernel | Treat::Bins(_))) = (role, r.treat) {
        let problem = "only a target or a sensitive column can be treated like this";
        return Err(DataError::BadLabel { text: r.to_string(), problem });
    }
    let text = matches!(column.kind, ColumnKind::Text | ColumnKind::Written | ColumnKind::Empty);
    let how = match (r.treat, column.kind, role) {
        (Some(Treat::Class), ..) | (None, ColumnKind::Bool, _) => How::Class,
        (_, _, _) if text => How::Open,
        (None, ColumnKind::Integer, Role::Label) => How::Open,
        _ => How::Number,
    };
    Ok(Selected {
        name: column.name.clone(),
        how,
        kind: kind_or_text(column.kind),
        written: written(column),
        explicit: r.treat.is_some(),
        treat: r.treat,
    })
}

/// How a text file would write what a typed column holds.
fn written(column: &Column) -> Written {
    let is = |types: &[&str]| types.iter().any(|name| column.type_name.starts_with(name));
    match column.kind {
        ColumnKind::Date if is(&["Date", "Timestamp"]) => Written::Date { order: DateOrder::Ymd },
        ColumnKind::Date if is(&["Time32", "Time64"]) => Written::Time,
        _ => Written::Plain,
    }
}
