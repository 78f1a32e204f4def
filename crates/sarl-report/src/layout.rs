//! Where title, panels and legend stand.

use crate::clip::Rect;
use crate::figure::{Figure, Legend, Panel};
use crate::font::Fonts;
use crate::legend::Key;
use crate::panel::{Margins, Plot};
use crate::scene::{Point, Scene, Text, Weight};

const TITLE_SIZE: f64 = 17.0;
const TITLE_LINE: f64 = 23.0;
/// Space at the edge of the picture.
const EDGE: f64 = 16.0;
/// Space between panels.
const GAP: f64 = 20.0;
/// Space above a legend.
const ABOVE_LEGEND: f64 = 8.0;

/// The size of a panel with its labels: smaller where there are many, as letters keep
/// their size and a page its width.
fn panel_size(columns: usize) -> (f64, f64) {
    match columns {
        1 => (640.0, 420.0),
        2 => (470.0, 350.0),
        3 => (380.0, 300.0),
        _ => (310.0, 250.0),
    }
}

/// The figure as a scene.
pub(crate) fn scene(figure: &Figure, fonts: &Fonts) -> Scene {
    let grid = Grid::new(figure, fonts);
    let title = fonts.wrap(&figure.title, TITLE_SIZE, Weight::Bold, grid.width, 3);
    let top =
        EDGE + title.len() as f64 * TITLE_LINE + if title.is_empty() { 0.0 } else { ABOVE_LEGEND };
    let mut scene = Scene {
        width: grid.width + 2.0 * EDGE,
        height: top + grid.height + EDGE,
        title: figure.title.clone(),
        description: figure.caption.clone(),
        items: Vec::new(),
    };
    for (i, line) in title.into_iter().enumerate() {
        let baseline = EDGE + i as f64 * TITLE_LINE + TITLE_SIZE;
        scene.text(Text::new(line, (EDGE, baseline), TITLE_SIZE).bold());
    }
    grid.draw((EDGE, top), fonts, &mut scene);
    let data = grid.cells.first().map_or((0.0, 0.0), |cell| (cell.rect.left, cell.rect.top));
    shared(figure, (EDGE + data.0, top + data.1), fonts, &mut scene);
    scene
}

/// One panel of a page: the data with ticks, without the words around them.
pub(crate) struct Single<'a> {
    plot: Plot<'a>,
    pub(crate) rect: Rect,
    pub(crate) scene: Scene,
}

impl<'a> Single<'a> {
    /// A panel of this size.
    pub(crate) fn new(panel: &'a Panel, size: (f64, f64), fonts: &Fonts) -> Self {
        let plot = Plot::new(panel, size, fonts).bare();
        let margins = bounded(plot.margins(size.0, fonts), size);
        let rect = Rect {
            left: margins.left,
            top: margins.top,
            right: size.0 - margins.right,
            bottom: size.1 - margins.bottom,
        };
        let (width, height) = size;
        let (title, description) = (panel.title.clone(), String::new());
        let mut scene = Scene { width, height, title, description, items: Vec::new() };
        plot.draw(rect, margins, fonts, &mut scene);
        Self { plot, rect, scene }
    }

    /// Where a point lies, if it is inside; without y, the foot of an upright line.
    pub(crate) fn place(&self, x: f64, y: Option<f64>) -> Option<Point> {
        match y {
            Some(y) => self.plot.place(self.rect, (x, y)),
            None => self.plot.across(self.rect, x).map(|x| (x, self.rect.bottom)),
        }
    }

    /// How high a value of y lies.
    pub(crate) fn place_up(&self, y: f64) -> Option<f64> {
        self.plot.up(self.rect, y)
    }
}

/// The legend of the whole figure, for which the scene grows.
fn shared(figure: &Figure, (left, top): Point, fonts: &Fonts, scene: &mut Scene) {
    let key = match figure.legend {
        Legend::Below | Legend::Right => Key::of(&figure.panels, scene.width, fonts),
        Legend::EachPanel | Legend::Hidden => return,
    };
    if key.is_empty() {
        return;
    }
    if figure.legend == Legend::Below {
        let block = key.beside(scene.width - left - EDGE, fonts);
        key.draw(&block, (left, scene.height - EDGE + ABOVE_LEGEND), scene);
        scene.height += block.height + ABOVE_LEGEND;
    } else {
        let block = key.stacked();
        key.draw(&block, (scene.width - EDGE + GAP, top), scene);
        scene.width += block.width + GAP;
        scene.height = scene.height.max(top + block.height + EDGE);
    }
}

/// A panel in its place.
struct Cell<'a> {
    plot: Plot<'a>,
    margins: Margins,
    /// Of the data, from the corner of the grid.
    rect: Rect,
    legend: Key,
}

/// Panels in rows and columns. Data have the same size everywhere; margins are the same
/// in a column and in a row, so that axes line up.
struct Grid<'a> {
    cells: Vec<Cell<'a>>,
    width: f64,
    height: f64,
}

impl<'a> Grid<'a> {
    fn new(figure: &'a Figure, fonts: &Fonts) -> Self {
        let columns = figure.columns.clamp(1, figure.panels.len().max(1));
        let size = panel_size(columns);
        let legend = |panel| match figure.legend {
            Legend::EachPanel => Key::of([panel], size.0, fonts),
            _ => Key::default(),
        };
        let cell = |panel| {
            let plot = Plot::new(panel, size, fonts);
            let margins = bounded(plot.margins(size.0, fonts), size);
            Cell { plot, margins, rect: Rect::default(), legend: legend(panel) }
        };
        let cells = figure.panels.iter().map(cell).collect();
        let mut grid = Self { cells, width: 0.0, height: 0.0 };
        grid.place(columns, size, fonts);
        grid
    }

    fn place(&mut self, columns: usize, size: (f64, f64), fonts: &Fonts) {
        let most = |cells: &mut dyn Iterator<Item = &Cell>| {
            cells.map(|c| c.margins).fold(Margins::default(), Margins::max)
        };
        let largest = most(&mut self.cells.iter());
        let data = (size.0 - largest.left - largest.right, size.1 - largest.top - largest.bottom);
        let of_column: Vec<Margins> =
            (0..columns).map(|c| most(&mut self.cells.iter().skip(c).step_by(columns))).collect();
        let mut y = 0.0;
        for row in self.cells.chunks_mut(columns) {
            let of_row = most(&mut row.iter());
            let (mut x, mut legend) = (0.0, 0.0_f64);
            for (cell, of_column) in row.iter_mut().zip(&of_column) {
                cell.margins = Margins { left: of_column.left, right: of_column.right, ..of_row };
                let (left, top) = (x + of_column.left, y + of_row.top);
                cell.rect = Rect { left, top, right: left + data.0, bottom: top + data.1 };
                x = cell.rect.right + of_column.right + GAP;
                legend = legend.max(cell.legend.beside(data.0 + of_column.right, fonts).height);
            }
            self.width = self.width.max(x - GAP);
            y += of_row.top
                + data.1
                + of_row.bottom
                + if legend > 0.0 { legend + ABOVE_LEGEND } else { 0.0 }
                + GAP;
        }
        self.height = y - GAP;
    }

    fn draw(&self, (left, top): Point, fonts: &Fonts, scene: &mut Scene) {
        for cell in &self.cells {
            let rect = cell.rect.moved(left, top);
            cell.plot.draw(rect, cell.margins, fonts, scene);
            let block = cell.legend.beside(rect.width() + cell.margins.right, fonts);
            cell.legend.draw(
                &block,
                (rect.left, rect.bottom + cell.margins.bottom + ABOVE_LEGEND),
                scene,
            );
        }
    }
}

/// Margins that leave about half of a panel to the data, whatever the labels.
fn bounded(margins: Margins, (width, height): (f64, f64)) -> Margins {
    Margins {
        left: margins.left.min(width * 0.45),
        right: margins.right.min(width * 0.1),
        top: margins.top.min(height * 0.15),
        bottom: margins.bottom.min(height * 0.45),
    }
}
