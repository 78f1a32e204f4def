//! The points of a front: for people, and as CSV.

use std::fmt::Write as _;

use sarl_lab::Row;

use crate::sheet::{Sheet, Step};
use crate::{output, plot, verdict};

/// Rows of the table that people see.
const SHOWN: usize = 11;
/// Columns that a narrow table leaves out.
const LOSSES: &[&str] = &["target loss", "attacker loss"];

/// The points for people.
pub fn table(rows: &[Row]) -> String {
    let last = rows.len() - 1;
    let steps = SHOWN.min(rows.len()) - 1;
    let shown = (0..=steps).map(|i| &rows[i * last / steps.max(1)]);
    let cells = shown.map(|(p, h)| {
        let held = |share: Option<String>| share.unwrap_or("-".into());
        vec![
            format!("{:.2}", p.lambda),
            p.dim.to_string(),
            held(h.map(|h| output::percent(h.utility))),
            held(h.map(|h| verdict::leakage(h.leakage))),
            output::percent(p.utility),
            output::percent(p.leakage),
            output::digits(p.losses.jy),
            output::digits(p.losses.js),
        ]
    });
    let header = [
        "lambda",
        "dim",
        "utility, new rows",
        "leakage, new rows",
        "utility, training",
        "leakage, training",
        LOSSES[0],
        LOSSES[1],
    ];
    let sheet = Sheet::new(&header, cells.collect(), |_| true);
    sheet.text(&[Step::Stack, Step::Drop(LOSSES)])
}

/// Utility over leakage, training and held-out.
pub fn drawing(rows: &[Row]) -> String {
    let training = rows.iter().map(|(p, _)| (p.leakage, p.utility)).collect();
    let held: Vec<_> = rows.iter().filter_map(|(_, h)| h.map(|h| (h.leakage, h.utility))).collect();
    let mut curves = vec![('•', "training", training)];
    if !held.is_empty() {
        curves.insert(0, ('o', "held-out", held));
    }
    plot::draw(("leakage", "utility"), plot::Top::All, &curves)
}

/// Every point, full precision.
pub fn csv(rows: &[Row]) -> String {
    let mut text = String::from(
        "lambda,dim,jy,js,utility,leakage,heldout_jy,heldout_js,heldout_jy_sd,heldout_js_sd\n",
    );
    for (p, h) in rows {
        let held =
            h.map_or(",,,".to_owned(), |h| format!("{},{},{},{}", h.jy, h.js, h.jy_sd, h.js_sd));
        let (jy, js) = (p.losses.jy, p.losses.js);
        // Writing to a String cannot fail.
        let _ =
            writeln!(text, "{},{},{jy},{js},{},{},{held}", p.lambda, p.dim, p.utility, p.leakage);
    }
    text
}
