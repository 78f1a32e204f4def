//! Whether a figure can be drawn at all.

use crate::error::{ReportError, Result};
use crate::figure::{Axis, Figure, Panel, Scale};
use crate::mark::{Bars, Histogram, Mark, Points};
use crate::range;

/// Checks everything that the drawing relies on.
pub(crate) fn figure(figure: &Figure) -> Result<()> {
    if figure.panels.is_empty() {
        return Err(ReportError::NoPanels { name: figure.name.clone() });
    }
    figure.panels.iter().try_for_each(panel)
}

fn panel(panel: &Panel) -> Result<()> {
    axis(&panel.x)?;
    axis(&panel.y)?;
    panel.all().try_for_each(|mark| match mark {
        Mark::Histogram(mark) => histogram(mark),
        Mark::Bars(mark) => bars(mark, &panel.x),
        Mark::Points(mark) => points(mark),
        _ => Ok(()),
    })
}

fn axis(axis: &Axis) -> Result<()> {
    let Some((low, high)) = axis.range else { return Ok(()) };
    let log = axis.scale == Scale::Log && axis.categories.is_empty();
    let drawable = range::usable(low, log) && range::usable(high, log) && low < high;
    if !drawable || range::widened(low, high) != (low, high) {
        return Err(ReportError::Range { axis: axis.label.clone(), low, high });
    }
    Ok(())
}

fn histogram(mark: &Histogram) -> Result<()> {
    if !(mark.counts.is_empty() && mark.edges.is_empty()) {
        length(&mark.name, "edges", mark.edges.len(), mark.counts.len() + 1)?;
    }
    let increasing = |i: usize| i == 0 || mark.edges[i - 1] < mark.edges[i];
    match (0..mark.edges.len()).find(|&i| !mark.edges[i].is_finite() || !increasing(i)) {
        Some(index) => Err(ReportError::Edges { mark: mark.name.clone(), index }),
        None => Ok(()),
    }
}

fn points(mark: &Points) -> Result<()> {
    let lists =
        [("errors", mark.errors.len()), ("labels", mark.labels.len()), ("tips", mark.tips.len())];
    lists
        .into_iter()
        .filter(|(_, found)| *found > 0)
        .try_for_each(|(what, found)| length(&mark.name, what, found, mark.points.len()))
}

fn bars(mark: &Bars, x: &Axis) -> Result<()> {
    let bars = mark.values.len();
    if !x.categories.is_empty() {
        length(&mark.name, "bars", bars, x.categories.len())?;
    }
    if !mark.whiskers.is_empty() {
        length(&mark.name, "errors", mark.whiskers.len(), bars)?;
    }
    match mark.highlight {
        Some(index) if index >= bars => {
            Err(ReportError::Highlight { mark: mark.name.clone(), index, bars })
        }
        _ => Ok(()),
    }
}

fn length(mark: &str, what: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(ReportError::Length { mark: mark.to_owned(), what, found, expected })
}
