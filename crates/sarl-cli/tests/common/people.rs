//! A made-up table with every kind of column.

use std::fmt::Write;

pub const ROWS: usize = 240;

/// Numbers between 0 and 1 that look random and are the same everywhere.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Self {
        Numbers(seed)
    }

    pub fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / (1u64 << 24) as f64
    }

    /// About normal, mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.next()).sum::<f64>() - 6.0
    }
}

pub const HEADER: &str = "id,age,hours,work,citizen,income,sex,score,weight";

/// The rows of the table, without the header.
pub fn rows(count: usize) -> Vec<String> {
    let mut numbers = Numbers::new(7);
    (0..count).map(|i| row(i, &mut numbers)).collect()
}

fn row(i: usize, numbers: &mut Numbers) -> String {
    let (a, b, c) = (numbers.normal(), numbers.normal(), numbers.normal());
    let age = (40.0 + 9.0 * a + 3.0 * c).round();
    let hours = 38.0 + 6.0 * b + 2.0 * c;
    let work = ["private", "public", "self"]
        [(numbers.next() * 2.2 + f64::from(u8::from(b > 0.5))) as usize % 3];
    let citizen = numbers.next() < 0.8;
    let income = if a + 0.5 * b + numbers.normal() > 0.3 { "high" } else { "low" };
    let sex = if b + c + 0.7 * numbers.normal() > 0.0 { "m" } else { "f" };
    let score = 10.0 * a + numbers.normal();
    let weight = 0.5 + numbers.next();
    format!("p{i},{age},{hours:.3},{work},{citizen},{income},{sex},{score:.3},{weight:.3}")
}

pub fn csv(count: usize) -> String {
    table(HEADER, &rows(count))
}

/// A header and rows as CSV.
pub fn table<T: AsRef<str>>(header: &str, rows: &[T]) -> String {
    let mut text = format!("{header}\n");
    for row in rows {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", row.as_ref());
    }
    text
}

/// The table with one cell replaced; rows are counted from 1, the header is row 0.
pub fn with_cell(row: usize, column: &str, cell: &str) -> String {
    let at = HEADER.split(',').position(|c| c == column).unwrap();
    let text = csv(ROWS);
    let lines = text.lines().enumerate().map(|(i, line)| {
        let cells = line.split(',').enumerate();
        let cells: Vec<&str> =
            cells.map(|(j, old)| if i == row && j == at { cell } else { old }).collect();
        cells.join(",")
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

/// The table with a whole column replaced.
pub fn with_column(column: &str, cell: &str) -> String {
    let at = HEADER.split(',').position(|c| c == column).unwrap();
    let rows = rows(ROWS).into_iter().map(|row| {
        let cells = row.split(',').enumerate();
        let cells: Vec<&str> = cells.map(|(j, old)| if j == at { cell } else { old }).collect();
        cells.join(",")
    });
    table(HEADER, &rows.collect::<Vec<_>>())
}
