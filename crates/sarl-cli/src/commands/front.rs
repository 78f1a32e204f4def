//! `sarl front`.

use std::fmt::Write as _;
use std::path::Path;

use sarl::{HeldOutLosses, Point};
use serde_json::json;

use crate::args::{Front, Global};
use crate::failure::Outcome;
use crate::{data, output, plot};

/// Rows of the table that people see.
const SHOWN: usize = 11;

pub fn run(options: &Front, global: &Global) -> Outcome {
    let outputs: Vec<&Path> = options.csv.iter().map(|p| p.as_path()).collect();
    let fitted = data::fit(&options.data, &options.encoder, &outputs, global)?;
    let front = sarl::Front::new(&fitted.reduced, fitted.cap)?;
    output::warn_about(&fitted, &front, global);
    let count = options.points as usize;
    let points = front.points(count)?;
    let heldout = match output::heldout(&fitted, global)? {
        Some(heldout) => heldout.points(count)?.into_iter().map(Some).collect(),
        None => vec![None; count],
    };
    let rows: Vec<Row> = points.into_iter().zip(heldout).collect();
    let breakpoints = front.breakpoints()?;
    if let Some(path) = &options.csv {
        sarl_data::write_file(path, csv(&rows).as_bytes())?;
    }
    if global.json {
        let points: Vec<_> = rows.iter().map(|(p, h)| output::point_json(p, h.as_ref())).collect();
        return output::print_json(&json!({
            "bounds": output::bounds_json(&fitted.reduced, front.bounds()),
            "breakpoints": breakpoints,
            "points": points,
        }));
    }
    output::print(&output::bounds_table(&fitted.reduced, front.bounds()))?;
    output::print(&format!("\n{}", table(&rows, front.bounds())))?;
    if !breakpoints.is_empty() {
        let ends = (breakpoints.first(), breakpoints.last());
        if let (Some(first), Some(last)) = ends {
            let count = breakpoints.len();
            let lost = if count == 1 { "dimension is" } else { "dimensions are" };
            output::print(&format!("{count} {lost} lost between lambda {first:.6} and {last:.6}"))?;
        }
    }
    output::print(&format!("\n{}", drawing(&rows, front.bounds())))
}

type Row = (Point, Option<HeldOutLosses>);

/// The points for people.
pub fn table(rows: &[Row], bounds: &sarl::Bounds) -> String {
    let last = rows.len() - 1;
    let steps = SHOWN.min(rows.len()) - 1;
    let shown = (0..=steps).map(|i| &rows[i * last / steps.max(1)]);
    let cells = shown.map(|(p, h)| {
        let held = |share: Option<f64>| share.map_or("-".into(), output::percent);
        vec![
            format!("{:.2}", p.lambda),
            p.dim.to_string(),
            output::figure(p.losses.jy),
            output::figure(p.losses.js),
            output::percent(p.utility),
            output::percent(p.leakage),
            held(h.map(|h| bounds.utility(h.jy))),
            held(h.map(|h| bounds.leakage(h.js))),
        ]
    });
    let header =
        ["lambda", "dim", "Jy", "Js", "utility", "leakage", "held-out utility", "held-out leakage"];
    output::table(&header, cells.collect(), |_| true)
}

/// Utility over leakage, training and held-out.
pub fn drawing(rows: &[Row], bounds: &sarl::Bounds) -> String {
    let training = rows.iter().map(|(p, _)| (p.leakage, p.utility)).collect();
    let held: Vec<_> = rows
        .iter()
        .filter_map(|(_, h)| h.map(|h| (bounds.leakage(h.js), bounds.utility(h.jy))))
        .collect();
    let mut curves = vec![('•', "training", training)];
    if !held.is_empty() {
        curves.insert(0, ('o', "held-out", held));
    }
    plot::draw(&curves)
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
