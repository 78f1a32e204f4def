//! Erasure of rows whose label is known: what it takes off a row depends on the label of that row.
//!
//! ```text
//! oracle      x̂ = x − Cov(x, s) Cov(s)⁺ (s − s̄)            Cov(x̂, s) = 0
//! quadratic   x̂ = x̄ + A_k (x − x̄_k)   in class k            class means and covariances are equal
//! ```
//!
//! Both change x least among *all* x̂ that do so, not only among functions of x: see [`Oracle`] and
//! [`Quadratic`]. Both need the true label of every row that is erased. With a label that is guessed
//! from x, or withheld, nothing is promised. Nonlinear adversaries may still find the label: an
//! oracle erasure leaves the covariances of the classes as they are, a quadratic one everything
//! beyond covariances.
//!
//! Rows are added in blocks; sums of other rows merge by Chan's update of means and scatters.
//!
//! ```
//! use sarl::{Block, Layout, OracleSums, Role};
//! let x = faer::Mat::from_fn(90, 3, |i, j| ((i * (5 + 2 * j)) % 17) as f64);
//! let s: Vec<u32> = (0..90).map(|i| u32::from(x[(i, 0)] > 8.0)).collect();
//! let layout = Layout::dense(3).keep_features().class("s", Role::Sensitive, 2);
//! let mut sums = OracleSums::new(layout)?;
//! sums.push(&Block::new(x.as_ref()).class(&s))?;
//! let oracle = sums.solve()?;
//! let erased = oracle.apply(&Block::new(x.as_ref()).class(&s))?;
//! let mean = |k: u32| {
//!     let rows: Vec<usize> = (0..90).filter(|&i| s[i] == k).collect();
//!     rows.iter().map(|&i| erased[3 * i]).sum::<f64>() / rows.len() as f64
//! };
//! assert!((mean(0) - mean(1)).abs() < 1e-12);
//! # Ok::<(), sarl::Error>(())
//! ```

mod barycentre;
mod file;
mod oracle;
mod quadratic;
mod scatter;

pub use oracle::{Oracle, OracleSums};
pub use quadratic::{Quadratic, QuadraticSums};

use crate::moments::{Block, Element, Label, LabelKind, Layout, Role};
use crate::{Error, Result};

/// Rows that one worker erases at a time.
const ROWS: usize = 512;

/// The labels of a layout of dense features whose attributes are classes and numbers.
fn labels_of(layout: &Layout) -> Result<Vec<Label>> {
    layout.check()?;
    let hidden = layout.labels().iter().filter(|l| l.role == Role::Sensitive);
    let labels: Vec<Label> = hidden.cloned().collect();
    let plain = |l: &Label| matches!(l.kind, LabelKind::Class { .. } | LabelKind::Number { .. });
    let features = layout.labels().iter().filter(|l| l.kind == LabelKind::Features).count();
    let others = layout.labels().len() - labels.len() - features;
    if !layout.categories().is_empty() || others > 0 || !labels.iter().all(plain) {
        let message = "erasure by known labels takes numeric features, and classes or numbers to \
                       erase; it keeps no target";
        return Err(Error::Unavailable(message));
    }
    Ok(labels)
}

/// Refuses a block that is not of the layout; `first` is the number of its first row.
fn checked<T: Element>(block: &Block<'_, T>, layout: &Layout, first: u64) -> Result<()> {
    block.check(layout, first)
}

/// The layout of `inputs` features and these labels.
fn layout_for(inputs: usize, labels: &[Label]) -> Layout {
    let layout = Layout::dense(inputs).keep_features();
    labels.iter().fold(layout, |layout, label| match label.kind {
        LabelKind::Class { classes } => layout.class(&label.name, label.role, classes),
        LabelKind::Number { width } | LabelKind::Kernel { columns: width } => {
            layout.number(&label.name, label.role, width)
        }
        LabelKind::Features => layout,
    })
}
