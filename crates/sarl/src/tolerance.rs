//! Every threshold of the library, in one place. All are relative.

/// A feature whose variance is explained by the others up to this share adds no direction to the
/// basis. It lies far above the rounding of double-precision moments (about `m · 1e-16`) and
/// above the squared rounding of single-precision inputs, far below any real signal.
pub const RANK: f64 = 1e-11;

/// The same, for moments whose products were formed in single precision.
pub const RANK_SINGLE: f64 = 1e-5;

/// A standard deviation under this share of the mean's magnitude is the rounding of a constant.
pub const CONSTANT: f64 = 8.0 * f64::EPSILON;

/// A multiple correlation under this is zero: it would explain 1e-16 of a variance.
pub const SPAN: f64 = 1e-8;

/// λ this near to 0 or 1 means the limit.
pub const LIMIT: f64 = 1e-12;

/// Eigenvalues this near to each other, relative to the largest, are one eigenspace.
pub const TIE: f64 = 1e-9;

/// A goal that overshoots the reachable range by no more than this share is at its end: people
/// paste bounds that were printed with eight digits.
pub const REACH: f64 = 1e-8;
