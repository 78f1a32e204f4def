//! `sarl front --certified`: what cells keep over what no adversary exceeds.

use std::path::Path;

use sarl::cells::{Adversary, Ask, Limits};
use sarl_lab::Certified;
use serde_json::{Value, json};

use super::{cut, fitted, no_audit, report};
use crate::args::{Front, Global};
use crate::failure::Outcome;
use crate::output::{self, percent};
use crate::sheet::{Sheet, Step};
use crate::{certificate, plot, terminal};

/// Points of a certified front.
const POINTS: usize = 12;

pub fn front(options: &Front, outputs: &[&Path], global: &Global) -> Outcome {
    no_audit(options.audit)?;
    let goal = options.cells.goal(Adversary::Advantage, Limits::Each(1.0))?;
    let table = fitted(&options.fitting, outputs, global)?;
    let seed = options.fitting.encoder.seed;
    let models = cut(&table, vec![Ask::Front(goal.clone(), POINTS)], seed, global)?.concat();
    let points: Vec<Value> =
        models.iter().filter_map(Certified::new).map(|point| point.json()).collect();
    if let Some(path) = &options.csv {
        sarl_data::write_file(path, csv(&points).as_bytes())?;
    }
    let mut value = json!({ "confidence": goal.confidence, "certified": points });
    if let Some(path) = &options.page.html {
        value["certified"] = report("front", &models, None, &goal, &table, path, seed)?.into();
        value["html"] = output::path_json(path);
    }
    if global.json {
        return output::print_json(&value);
    }
    output::print(&front_table(&points))?;
    output::print(&format!("\n{}\n", drawing(&points)))?;
    output::print(&crate::terminal::wrap(&format!(
        "No adversary that sees only the cell exceeds these limits; they hold together with {} \
         confidence. {}",
        percent(goal.confidence),
        certificate::LIMITS
    )))?;
    match &options.page.html {
        Some(path) => output::print(&format!("\nreport written to {}", terminal::path(path))),
        None => Ok(()),
    }
}

fn number(point: &Value, name: &str) -> f64 {
    point[name].as_f64().unwrap_or(f64::NAN)
}

fn front_table(points: &[Value]) -> String {
    let row = |point: &Value| {
        let certificate = &point["certificate"];
        vec![
            percent(number(point, "advantage")),
            percent(number(point, "utility")),
            certificate["cells"].to_string(),
        ]
    };
    let header = ["advantage, at most", "target score, rows apart", "cells"];
    Sheet::new(&header, points.iter().map(row).collect(), |_| true).text(&[Step::Stack])
}

/// The target's score over the certified advantage.
fn drawing(points: &[Value]) -> String {
    let at = |p: &Value| (number(p, "advantage"), number(p, "utility"));
    let curve = points.iter().map(at).collect();
    let axes = ("certified advantage", "target score");
    plot::draw(axes, plot::Top::Largest, &[('•', "no adversary has more", curve)])
}

fn csv(points: &[Value]) -> String {
    let rows = points.iter().map(|p| {
        let cells = &p["certificate"]["cells"];
        format!("{},{},{cells}\n", number(p, "advantage"), number(p, "utility"))
    });
    std::iter::once("advantage,utility,cells\n".to_owned()).chain(rows).collect()
}
