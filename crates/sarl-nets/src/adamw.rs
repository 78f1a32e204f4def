//! AdamW.

use crate::layers::Weights;
use crate::matrix::Matrix;

/// How fast the two moments forget.
const FORGET: (f32, f32) = (0.9, 0.999);
/// Keeps the divisor from zero.
const EPSILON: f32 = 1e-5;

/// Adam with decoupled decay of the weights (Loshchilov, Hutter 2019). With `g` the gradient of a
/// parameter `w`, `η` the learning rate and `t` the number of the step,
///
/// ```text
/// g ← g · min(1, c / ‖g‖)          where gradients are clipped, each parameter for itself
/// m ← β₁ m + (1 − β₁) g            v ← β₂ v + (1 − β₂) g²
/// w ← (1 − η δ) w − η · (m / (1 − β₁ᵗ)) / (√(v / (1 − β₂ᵗ)) + ε)
/// ```
///
/// `β₁` = 0.9, `β₂` = 0.999, `ε` = 1e-5.
pub struct AdamW {
    decay: f32,
    clip: Option<f32>,
    steps: i32,
    /// m and v of each parameter.
    moments: Vec<(Vec<f32>, Vec<f32>)>,
}

impl AdamW {
    /// With this decay `δ`, and gradients clipped to this norm `c`.
    pub fn new(decay: f32, clip: Option<f32>) -> Self {
        AdamW { decay, clip, steps: 0, moments: Vec::new() }
    }

    /// A step of these weights along their gradients at this learning rate. Those without a
    /// gradient stay as they are.
    pub fn step(&mut self, weights: &mut Weights, gradients: &[Option<Matrix>], rate: f64) {
        self.steps += 1;
        self.moments.resize_with(weights.parameters_mut().len(), Default::default);
        let (b1, b2) = FORGET;
        // One over what the moments have taken in so far.
        let whole = (1.0 / (1.0 - b1.powi(self.steps)), 1.0 / (1.0 - b2.powi(self.steps)));
        let (kept, rate) = ((1.0 - rate * f64::from(self.decay)) as f32, rate as f32);
        let each = weights.parameters_mut().iter_mut().zip(gradients).zip(&mut self.moments);
        for ((parameter, gradient), (m, v)) in each {
            let Some(gradient) = gradient else { continue };
            let scale = self.clip.map_or(1.0, |most| shrink(gradient, most));
            m.resize(gradient.values().len(), 0.0);
            v.resize(gradient.values().len(), 0.0);
            let values = parameter.values_mut().iter_mut().zip(gradient.values());
            for ((w, g), (m, v)) in values.zip(m.iter_mut().zip(v)) {
                let g = g * scale;
                *m = b1 * *m + (1.0 - b1) * g;
                *v = b2 * *v + (1.0 - b2) * (g * g);
                *w = *w * kept - rate * (*m * whole.0 / ((*v * whole.1).sqrt() + EPSILON));
            }
        }
    }
}

/// What brings a gradient down to this norm.
fn shrink(gradient: &Matrix, most: f32) -> f32 {
    let square: f64 = gradient.values().iter().map(|&g| f64::from(g).powi(2)).sum();
    let norm = square.sqrt() as f32;
    // A norm that is no number makes everything that: the training has diverged, and is to show it.
    if norm <= most { 1.0 } else { most / norm }
}
