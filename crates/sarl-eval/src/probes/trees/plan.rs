//! How much work is worth while.

/// Cells that all boosters together look at in a round, at most. Rows are drawn beyond.
const CELLS: usize = 1 << 25;
/// What a row costs in a round besides its cells, in cells.
const ROW: usize = 4;
/// Rows for a booster, where there are so many classes that the bound leaves less; fewer cost no less,
/// because the bins have their cost too.
const ROWS: usize = 1000;
/// Rows up to which each fifth is held out in turn; beyond, a tenth is held out once.
pub(super) const SMALL: usize = 10_000;
/// Columns of all boosters together up to which a second shape is tried.
const NARROW: usize = 4;
/// Depth of the second shape, and the bins of all columns together.
const CLOSE: (usize, usize) = (8, 8192);

/// The shape of the trees.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) depth: usize,
    pub(super) bins: usize,
}

/// How the boosters of a task are fitted.
pub(super) struct Plan {
    /// Rows of a booster, at most.
    pub(super) most: usize,
    /// Boosters whose voices are averaged.
    pub(super) voices: usize,
    /// One of so many rows is held out.
    pub(super) parts: usize,
    /// Trees at most.
    pub(super) rounds: usize,
    /// The step along each tree.
    pub(super) rate: f32,
    /// Tried one after the other; the better on the held-out rows speaks.
    pub(super) shapes: Vec<Shape>,
    /// Whether a booster has threads of its own: there are few beside it.
    pub(super) alone: bool,
}

impl Plan {
    pub(super) fn new(rows: usize, columns: usize, boosters: usize) -> Self {
        let width = columns + ROW;
        let cells = rows.max(ROWS).saturating_mul(width).saturating_mul(boosters);
        let most = (CELLS / width / boosters).max(ROWS);
        let (rounds, rate, shape) = if cells <= CELLS / 2 {
            (300, 0.1, Shape { depth: 5, bins: 256 })
        } else {
            (100, 0.2, Shape { depth: 4, bins: 64 })
        };
        let mut shapes = vec![shape];
        if columns * boosters <= NARROW {
            shapes.push(Shape { depth: CLOSE.0, bins: CLOSE.1 / columns.max(1) });
        }
        let is_small = rows <= SMALL && cells <= CELLS / 5;
        let (voices, parts) = if is_small { (5, 5) } else { (1, 10) };
        Plan {
            most,
            voices,
            parts,
            rounds,
            rate,
            shapes,
            alone: boosters < rayon::current_num_threads(),
        }
    }
}
