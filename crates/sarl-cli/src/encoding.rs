//! From the options of an encoder to the parameters of a fit, and what is said of the result.

use sarl::{Criterion, Family, Features, FitParams, Fitted, KernelParams, Ridge, Scale};

use sarl_data::{LabelValues, Schema, Targets};

use crate::args::{
    Approximation, CriterionName, EncoderOptions, KernelName, NumberOrAuto, Sampling, ScalePolicy,
};
use crate::data::Remark;
use crate::failure::{Failure, Outcome};

/// The parameters that the options ask for, for rows whose numbers are scaled or not.
pub fn params(options: &EncoderOptions, scale: ScalePolicy) -> Outcome<FitParams> {
    check_options(options)?;
    let features = match family(options.kernel) {
        None => Features::Linear,
        Some(family) => Features::Kernel(kernel(options, family)),
    };
    Ok(FitParams {
        features,
        scale: match scale {
            ScalePolicy::None => Scale::None,
            ScalePolicy::Standard => Scale::Standard,
        },
        ridge: match options.ridge {
            None => Ridge::Default,
            Some(NumberOrAuto::Auto) => Ridge::Auto,
            Some(NumberOrAuto::Number(ridge)) => Ridge::Fixed(ridge),
        },
        dimensions: options.dim.map(|d| d as usize),
        folds: options.folds as usize,
        seed: options.seed,
        ..Default::default()
    })
}

/// Refuses a target beside the features where no criterion needs it.
pub fn check_targets(options: &EncoderOptions, targets: &Targets) -> Outcome {
    let twice = targets.are_features() && !targets.columns().is_empty();
    if twice && options.criterion == CriterionName::Parity {
        let message = "a target column was given together with `:features` as the target";
        return Err(Failure::usage(message).hint(
            "leave it out; with --criterion equalized-odds it says beside what attributes are hidden",
        ));
    }
    Ok(())
}

/// The criterion that the options ask for, in a table whose classes are known; with what was assumed.
pub fn criterion(
    options: &EncoderOptions,
    schema: &Schema,
) -> Outcome<(Criterion, Option<Remark>)> {
    let given = options.favourable.as_deref();
    match (options.criterion, given) {
        (CriterionName::EqualOpportunity, _) => {}
        (_, Some(_)) => {
            return Err(Failure::usage("--favourable needs --criterion equal-opportunity"));
        }
        (CriterionName::Parity, None) => return Ok((Criterion::Parity, None)),
        (CriterionName::EqualizedOdds, None) => return Ok((Criterion::EqualizedOdds, None)),
    }
    let target = match schema.targets() {
        [target] => target,
        _ => {
            let message = "equal-opportunity needs one target: it is about one of its classes";
            return Err(Failure::usage(message).hint("name one column with --target"));
        }
    };
    let LabelValues::Class { values, .. } = &target.values else {
        let message =
            format!("`{}` holds numbers: equal-opportunity is about a class", target.name);
        return Err(Failure::usage(message)
            .hint(format!("use --criterion equalized-odds, or `{}:bins=2`", target.name)));
    };
    let (name, classes) = (&target.name, values.join(", "));
    let found = match given {
        Some(class) => values.iter().position(|v| v == class.trim()).ok_or_else(|| {
            Failure::usage(format!("--favourable {class}: `{name}` has no such class"))
                .hint(format!("its classes are: {classes}"))
        })?,
        None if values.len() == 2 => 1,
        None => {
            return Err(Failure::usage(format!(
                "--favourable is missing: `{name}` has more than two classes"
            ))
            .hint(format!("name one of: {classes}")));
        }
    };
    let note = format!(
        "the favourable class of `{name}` is `{}`; --favourable names another",
        values[found]
    );
    let remark = given.is_none().then_some(Remark::Note(note));
    Ok((Criterion::EqualOpportunity { favourable: found as u32 }, remark))
}

fn family(kernel: KernelName) -> Option<Family> {
    match kernel {
        KernelName::Linear => None,
        KernelName::Rbf => Some(Family::Rbf),
        KernelName::Laplacian => Some(Family::Laplacian),
        KernelName::Polynomial => Some(Family::Polynomial),
    }
}

fn kernel(options: &EncoderOptions, family: Family) -> KernelParams {
    let default = KernelParams::new(family);
    KernelParams {
        gamma: match options.gamma {
            NumberOrAuto::Number(gamma) => Some(gamma),
            NumberOrAuto::Auto => None,
        },
        degree: options.degree,
        coef0: options.coef0,
        approximation: match (options.approx, options.sampling) {
            (Approximation::RandomFeatures, _) => sarl::Approximation::RandomFeatures,
            (Approximation::Exact, _) => sarl::Approximation::Exact,
            (Approximation::Landmarks, Sampling::Uniform) => sarl::Approximation::UniformLandmarks,
            (Approximation::Landmarks, Sampling::Adaptive) => sarl::Approximation::Landmarks,
        },
        landmarks: options.landmarks as usize,
        tolerance: options.tolerance.unwrap_or(default.tolerance),
        ..default
    }
}

/// Options whose combination clap cannot judge.
fn check_options(encoder: &EncoderOptions) -> Outcome {
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

/// What was chosen, and what was asked for and not reached.
pub fn remarks(fitted: &Fitted, options: &EncoderOptions) -> Outcome<Vec<Remark>> {
    let mut remarks = Vec::new();
    let exact = options.approx == Approximation::Exact;
    let residual = fitted.map().residual();
    let asked = options.tolerance.filter(|&tolerance| !exact && residual > tolerance);
    if let Some(tolerance) = asked {
        remarks.push(Remark::Warning(format!(
            "{} landmarks leave {residual:.1e} of the kernel unexplained, more than the tolerance \
             of {tolerance:.0e}; raise --landmarks or --tolerance",
            fitted.map().outputs(),
        )));
    }
    let used = fitted.ridge()?;
    if used.chosen {
        let end = if used.largest { ", the largest that was tried" } else { "" };
        remarks.push(Remark::Note(match used.ridge > 0.0 {
            true => format!("ridge {:.3e}, chosen by held-out losses{end}", used.ridge),
            false => "no ridge: held-out losses are best without".to_owned(),
        }));
    }
    Ok(remarks)
}
