//! Functions of one number, and their slopes.

use crate::matrix::Matrix;

/// What is done to each value of a matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Function {
    /// `a x + b`
    Line(f32, f32),
    /// `max(x, 0)`
    Relu,
    /// `eˣ`
    Exp,
    /// `log(1 + eˣ)`
    Softplus,
    /// `cos x`
    Cos,
    /// `x²`
    Square,
    /// `min(max(x, a), b)`
    Clamp(f32, f32),
}

impl Function {
    /// The function of each value. NaN stays NaN, so that a training that diverges is seen.
    pub(crate) fn of(self, x: &Matrix) -> Matrix {
        match self {
            Self::Line(a, b) => x.map(|x| a * x + b),
            Self::Relu => x.map(|x| if x <= 0.0 { 0.0 } else { x }),
            Self::Exp => x.map(f32::exp),
            // The larger part outside of the logarithm, so that nothing overflows.
            Self::Softplus => x.map(|x| if x > 0.0 { x } else { 0.0 } + (-x.abs()).exp().ln_1p()),
            Self::Cos => x.map(f32::cos),
            Self::Square => x.map(|x| x * x),
            Self::Clamp(a, b) => x.map(|x| x.clamp(a, b)),
        }
    }

    /// The gradient of what goes in from that of what comes out: `g f'(x)`, where `y = f(x)`.
    pub(crate) fn back(self, g: &Matrix, x: &Matrix, y: &Matrix) -> Matrix {
        match self {
            Self::Line(a, _) => g.map(|g| g * a),
            Self::Relu => g.zip(y, |g, y| if y > 0.0 { g } else { 0.0 }),
            Self::Exp => g.zip(y, |g, y| g * y),
            Self::Softplus => g.zip(x, |g, x| g / (1.0 + (-x).exp())),
            Self::Cos => g.zip(x, |g, x| -g * x.sin()),
            Self::Square => g.zip(x, |g, x| 2.0 * g * x),
            Self::Clamp(a, b) => g.zip(x, |g, x| if x >= a && x <= b { g } else { 0.0 }),
        }
    }
}
