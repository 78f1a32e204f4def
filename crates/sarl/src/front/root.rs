//! Where a quantity changes sign.

use crate::Result;

/// A bracket around a change of sign: `inside` is where the quantity is not negative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bracket {
    pub(super) inside: f64,
    pub(super) outside: f64,
}

/// Narrows `bracket` around the point where `slack` turns negative, until it is as narrow as
/// doubles allow or `slack` inside is at most `enough`.
///
/// Every other step halves the bracket, so a jump costs no more than bisection; the steps between
/// follow the Illinois rule, so a smooth crossing is found in about ten.
pub(super) fn narrow(
    mut bracket: Bracket,
    enough: f64,
    mut slack: impl FnMut(f64) -> Result<f64>,
) -> Result<Bracket> {
    let mut at_inside = slack(bracket.inside)?;
    let (mut near, mut far) = (at_inside, slack(bracket.outside)?);
    for step in 0..160 {
        let width = (bracket.outside - bracket.inside).abs();
        if at_inside <= enough || width <= 2.0 * f64::EPSILON {
            break;
        }
        // Without a change of sign the secant leads out of the bracket.
        let secant = step % 2 == 0 && near >= 0.0 && far < 0.0;
        let share = if secant { near / (near - far) } else { 0.5 };
        let next = bracket.inside + share * (bracket.outside - bracket.inside);
        if next == bracket.inside || next == bracket.outside {
            if secant {
                continue;
            }
            break;
        }
        let value = slack(next)?;
        if value >= 0.0 {
            bracket.inside = next;
            (at_inside, near, far) = (value, value, 0.5 * far);
        } else {
            bracket.outside = next;
            (near, far) = (0.5 * near, value);
        }
    }
    Ok(bracket)
}
