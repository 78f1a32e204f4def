//! Tables that fit the terminal.

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width,
};
use console::measure_text_width;
use sarl_lab::plain;
use sarl_report::page;

use crate::terminal;

/// A rule under the header, and nothing else.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─'));

/// A header that is stacked is no narrower than this.
const NARROW: usize = 8;

/// Longer words are broken where a table does not fit.
const LONG: usize = 16;

/// A table before it is laid out.
#[derive(Clone)]
pub struct Sheet {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Which columns hold figures: they are aligned to the right and never broken.
    figures: Vec<bool>,
}

/// What may be done to make a table narrower.
#[derive(Clone, Copy)]
pub enum Step {
    /// Break headings over several lines.
    Stack,
    /// Leave these columns out.
    Drop(&'static [&'static str]),
    /// Leave the spreads of figures out: `82.51 ± 0.13 %` becomes `82.51 %`.
    NoSpread,
    /// Use shorter words for this, in headings and cells.
    Say(&'static str, &'static str),
}

impl Sheet {
    /// The columns that `figures` names hold figures.
    pub fn new<H: ToString>(
        header: &[H],
        rows: Vec<Vec<String>>,
        figures: impl Fn(usize) -> bool,
    ) -> Self {
        let figures = (0..header.len()).map(figures).collect();
        let header = header.iter().map(|name| plain(&name.to_string()).into_owned()).collect();
        let mut sheet = Sheet { header, rows, figures };
        sheet.cells(|cell| plain(cell).into_owned());
        sheet
    }

    /// The table, made narrower step by step until it fits.
    pub fn text(self, steps: &[Step]) -> String {
        self.text_in(steps, terminal::width())
    }

    /// The same for so many columns.
    fn text_in(mut self, steps: &[Step], width: usize) -> String {
        for step in steps {
            if widest(&self.plain()) <= width {
                break;
            }
            self.apply(*step);
        }
        let plain = self.plain();
        if widest(&plain) <= width || self.figures_alone() > width {
            return plain;
        }
        let mut table = self.table();
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
        for (i, column) in table.column_iter_mut().enumerate() {
            column.set_constraint(match self.figures.get(i) {
                Some(true) => ColumnConstraint::ContentWidth,
                // Two of padding.
                _ => ColumnConstraint::LowerBoundary(Width::Fixed(self.longest_word(i) + 2)),
            });
        }
        table.trim_fmt()
    }

    /// The longest word of a column, if it is no novel.
    fn longest_word(&self, column: usize) -> u16 {
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        let words = cells.flat_map(|cell| cell.split_whitespace()).map(measure_text_width);
        u16::try_from(words.max().unwrap_or(0).min(LONG)).unwrap_or(0)
    }

    /// The width without any of the words but a few letters of each column.
    fn figures_alone(&self) -> usize {
        let wide = |(i, figures): (usize, &bool)| match figures {
            true => {
                let cells = self.rows.iter().filter_map(|row| row.get(i)).chain([&self.header[i]]);
                cells.map(|cell| widest(cell)).max().unwrap_or(0)
            }
            false => NARROW,
        };
        // Three between columns.
        self.figures.iter().enumerate().map(wide).map(|w| w + 3).sum()
    }

    /// As wide as it is.
    pub fn plain(&self) -> String {
        self.table().trim_fmt()
    }

    fn table(&self) -> Table {
        let mut table = Table::new();
        table.load_style(STYLE).set_header(&self.header).add_rows(&self.rows);
        for (column, _) in table.column_iter_mut().zip(&self.figures).filter(|c| *c.1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        table
    }

    fn apply(&mut self, step: Step) {
        match step {
            Step::Stack => {
                for (i, heading) in self.header.iter_mut().enumerate() {
                    let cells = self.rows.iter().filter_map(|row| row.get(i));
                    let wide = cells.map(|cell| measure_text_width(cell)).max().unwrap_or(0);
                    *heading = terminal::wrap_to(heading, wide.max(NARROW));
                }
            }
            Step::Drop(names) => {
                let kept: Vec<bool> = self
                    .header
                    .iter()
                    .map(|heading| !names.contains(&heading.replace('\n', " ").as_str()))
                    .collect();
                only(&mut self.header, &kept);
                only(&mut self.figures, &kept);
                self.rows.iter_mut().for_each(|row| only(row, &kept));
            }
            Step::NoSpread => self.cells(|cell| match cell.split_once(" ± ") {
                Some((value, rest)) => format!("{value}{}", unit(rest)),
                None => cell.to_owned(),
            }),
            Step::Say(long, short) => {
                self.header.iter_mut().for_each(|heading| *heading = heading.replace(long, short));
                self.cells(|cell| cell.replace(long, short));
            }
        }
    }

    fn cells(&mut self, change: impl Fn(&str) -> String) {
        self.rows.iter_mut().flatten().for_each(|cell| *cell = change(cell));
    }
}

/// What attackers found, with a title.
pub fn listed(table: &page::Table) -> String {
    const STEPS: [Step; 5] = [
        Step::Drop(&["95 % interval"]),
        Step::Say("raw features", "raw"),
        Step::NoSpread,
        Step::Say("encoder's rows", "own rows"),
        Step::Stack,
    ];
    let text = Sheet::new(&table.header, table.rows.clone(), |i| i > 0).text(&STEPS);
    format!("\n{}\n{text}\n", terminal::title(&table.title))
}

/// The gaps between groups, with a title. The verdicts may be broken, intervals are not.
pub fn fair(table: &page::Table) -> String {
    const STEPS: [Step; 3] = [
        Step::Say("raw features [", "raw ["),
        Step::Say("no clear difference", "no clear\ndifference"),
        Step::Stack,
    ];
    let words = |i: usize| table.header.get(i).is_none_or(|name| !name.contains("95 %"));
    let text = Sheet::new(&table.header, table.rows.clone(), |i| !words(i)).text(&STEPS);
    format!("\n{}\n{text}\n", terminal::title(&table.title))
}

/// Leaves what is marked.
fn only<T>(list: &mut Vec<T>, kept: &[bool]) {
    let mut marks = kept.iter();
    list.retain(|_| marks.next().copied().unwrap_or(true));
}

/// What stands after a number.
fn unit(text: &str) -> &str {
    text.find(' ').map_or("", |at| &text[at..])
}

fn widest(text: &str) -> usize {
    text.lines().map(measure_text_width).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Sheet, Step, widest};

    #[test]
    fn a_table_takes_only_the_steps_that_it_needs() {
        let rows = vec![vec!["trees".to_owned(), "82.51 ± 0.13 %".to_owned(), "0.6".to_owned()]];
        let sheet = Sheet::new(&["who", "z", "seconds of a fit"], rows, |i| i > 0);
        let steps = [Step::Stack, Step::NoSpread, Step::Drop(&["seconds of a fit"])];
        let in_columns = |width| sheet.clone().text_in(&steps, width);
        assert!(in_columns(80).contains("seconds of a fit"));
        let stacked = in_columns(40);
        assert!(stacked.contains("seconds\n") && stacked.contains("± 0.13 %"), "{stacked}");
        assert!(in_columns(32).contains("82.51 %"));
        let least = in_columns(20);
        assert!(widest(&least) <= 20 && !least.contains("seconds"), "{least}");
    }
}
