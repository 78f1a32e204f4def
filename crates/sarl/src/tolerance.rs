//! Every threshold of the library, in one place. All are relative.

/// A feature whose variance is explained by the others up to this share adds no direction to the
/// basis. It lies far above the rounding of double-precision moments (about `m · 1e-16`) and
/// above the squared rounding of single-precision inputs, far below any real signal.
pub const RANK: f64 = 1e-11;

/// The same, for moments whose products were formed in single precision.
pub const RANK_SINGLE: f64 = 1e-5;

/// A variance under this share of the second moment that it was subtracted from is the rounding of
/// that subtraction: it is about `n/256 · 1e-16` for products of 256 rows at a time.
pub const FLOOR: f64 = 1e-13;

/// The same, for moments whose products were formed in single precision.
pub const FLOOR_SINGLE: f64 = 1e-6;

/// The share of a direction's standard deviation that may be rounding of the features. What would
/// be noisier adds no direction to the basis: z could not be computed again to these digits.
pub const NOISE: f64 = 1e-7;

/// What z of rows of single precision may lose of its standard deviation by a shift that is taken off
/// after the products.
pub const LOST_SINGLE: f64 = 1e-11;

/// A standard deviation under this share of the mean's magnitude is the rounding of a constant.
pub const CONSTANT: f64 = 8.0 * f64::EPSILON;

/// A multiple correlation under this is zero: it would explain 1e-16 of a variance.
pub const SPAN: f64 = 1e-8;

/// What is erased and what is preserved share a direction where the sine of the angle between them
/// is no more than this: the change of x grows with one over its square.
pub const OVERLAP: f64 = 1e-6;

/// λ this near to 0 or 1 means the limit.
pub const LIMIT: f64 = 1e-12;

/// Eigenvalues this near to each other, relative to the largest, are one eigenspace.
pub const TIE: f64 = 1e-9;

/// A goal that overshoots the reachable range by no more than this share is at its end: people
/// paste bounds that were printed with eight digits.
pub const REACH: f64 = 1e-8;

/// What is added to the variance of each feature of a target, as a share of their mean, before an
/// attribute is regressed on them: they may depend on each other.
pub const GIVEN: f64 = 1e-6;

/// Features of a label's kernel are added until this share of the kernel's trace is left.
pub const LABEL_KERNEL: f64 = 1e-4;
