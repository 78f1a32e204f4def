//! From the options of an encoder to its feature map and its ridge.

use faer::MatRef;
use sarl::{
    Choice, Family, FeatureMap, Kernel, LandmarkOptions, Moments, best_ridge, default_ridge,
    median_gamma,
};

use crate::args::{Approximation, EncoderOptions, KernelName, NumberOrAuto, Sampling};
use crate::data::Remark;
use crate::failure::{Exit, Failure, Outcome};
use crate::progress;

/// More rows than this are too many for the exact kernel method: its memory is their square.
pub const EXACT_ROWS: usize = 20_000;

/// The family of a kernel; a linear encoder has none.
pub fn family(kernel: KernelName) -> Option<Family> {
    match kernel {
        KernelName::Linear => None,
        KernelName::Rbf => Some(Family::Rbf),
        KernelName::Laplacian => Some(Family::Laplacian),
        KernelName::Polynomial => Some(Family::Polynomial),
    }
}

/// Options whose combination clap cannot judge.
pub fn check_options(encoder: &EncoderOptions) -> Outcome {
    let approximated = encoder.approx != Approximation::Landmarks;
    if encoder.kernel == KernelName::Linear && approximated {
        return Err(Failure::usage("--approx needs a --kernel: a linear encoder is exact")
            .hint("add --kernel rbf, or leave --approx out"));
    }
    if encoder.landmarks_from.is_some() && (encoder.kernel == KernelName::Linear || approximated) {
        return Err(Failure::usage("--landmarks-from needs a --kernel with --approx landmarks")
            .hint("other encoders hold no rows: leave it out"));
    }
    if encoder.kernel == KernelName::Polynomial && encoder.approx == Approximation::RandomFeatures {
        return Err(Failure::usage("there are no random Fourier features of a polynomial kernel")
            .hint("use --approx landmarks"));
    }
    for (name, value, least) in
        [("--gamma", Some(encoder.gamma), "above 0"), ("--ridge", encoder.ridge, "0 or more")]
    {
        let Some(NumberOrAuto::Number(number)) = value else { continue };
        let fine = number.is_finite() && (number > 0.0 || (name == "--ridge" && number == 0.0));
        if !fine {
            let message =
                format!("{name} is {number}: expected a finite number, {least}, or `auto`");
            return Err(Failure::usage(message));
        }
    }
    if let Some(tolerance) = encoder.tolerance.filter(|t| !(0.0..1.0).contains(t)) {
        let message = format!("--tolerance is {tolerance}: expected 0 or more, below 1");
        return Err(Failure::usage(message));
    }
    Ok(())
}

/// Refuses the exact kernel method on too many rows.
pub fn check_exact(options: &EncoderOptions, rows: u64) -> Outcome {
    if options.approx != Approximation::Exact || rows <= EXACT_ROWS as u64 {
        return Ok(());
    }
    let message = format!("the exact kernel method needs memory for the square of {rows} rows");
    Err(Failure::new(Exit::Machine, message)
        .hint(format!("use --approx landmarks, or at most {EXACT_ROWS} rows")))
}

/// The feature map of a kernel, from rows that stand for all.
pub fn map_of_sample(
    sample: MatRef<'_, f64>,
    family: Family,
    options: &EncoderOptions,
    remarks: &mut Vec<Remark>,
) -> Outcome<FeatureMap> {
    let gamma = match options.gamma {
        NumberOrAuto::Number(gamma) => gamma,
        NumberOrAuto::Auto => median_gamma(family, sample)?,
    };
    let kernel = match family {
        Family::Rbf => Kernel::Rbf { gamma },
        Family::Laplacian => Kernel::Laplacian { gamma },
        Family::Polynomial => {
            Kernel::Polynomial { gamma, coef0: options.coef0, degree: options.degree }
        }
    };
    let choice = match (options.approx, options.sampling) {
        (Approximation::RandomFeatures, _) => {
            let count = options.landmarks.next_multiple_of(2) as usize;
            return Ok(FeatureMap::random_features(kernel, sample.ncols(), count, options.seed)?);
        }
        (Approximation::Exact, _) => Choice::Exact,
        (Approximation::Landmarks, Sampling::Uniform) => Choice::Uniform,
        (Approximation::Landmarks, Sampling::Adaptive) => Choice::Adaptive,
    };
    let (cap, seed) = (options.landmarks as usize, options.seed);
    let tolerance = options.tolerance.unwrap_or(LandmarkOptions::default().tolerance);
    let landmarks = LandmarkOptions { choice, cap, tolerance, seed };
    let map = FeatureMap::landmarks_until(kernel, sample, &landmarks, &progress::interrupted)?;
    let asked = options.tolerance.filter(|_| choice != Choice::Exact);
    if let Some(tolerance) = asked.filter(|&tolerance| map.residual() > tolerance) {
        remarks.push(Remark::Warning(format!(
            "{} landmarks leave {:.1e} of the kernel unexplained, more than the tolerance of \
             {tolerance:.0e}; raise --landmarks or --tolerance",
            map.outputs(),
            map.residual()
        )));
    }
    Ok(map)
}

/// The ridge that was asked for, or the one that does best on held-out rows: where that is asked
/// for, and where nothing is said and an encoder without a ridge would fit the noise of its rows.
pub fn ridge(
    options: &EncoderOptions,
    moments: &Moments,
    cap: Option<usize>,
    remarks: &mut Vec<Remark>,
) -> Outcome<f64> {
    let best = match options.ridge {
        Some(NumberOrAuto::Number(ridge)) => return Ok(ridge),
        Some(NumberOrAuto::Auto) => best_ridge(moments, cap)?,
        None => match default_ridge(moments, cap)? {
            Some(best) => best,
            None => return Ok(0.0),
        },
    };
    let end = if best.largest { ", the largest that was tried" } else { "" };
    remarks.push(Remark::Note(match best.ridge > 0.0 {
        true => format!("ridge {:.3e}, chosen by held-out losses{end}", best.ridge),
        false => "no ridge: held-out losses are best without".to_owned(),
    }));
    Ok(best.ridge)
}
