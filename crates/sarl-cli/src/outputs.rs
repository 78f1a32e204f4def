//! What is checked about outputs before any work is done.

use std::path::Path;

use sarl_data::{is_address, is_stdout, same_file};

use crate::args::Global;
use crate::failure::{Exit, Failure, Outcome};
use crate::output;

/// Refuses outputs that cannot be written, that are one file, or that are also an input. Where one
/// of them is stdout, nothing else is printed there.
pub fn check<'a, 'b>(
    outputs: impl IntoIterator<Item = &'a Path>,
    inputs: impl IntoIterator<Item = &'b Path>,
    global: &Global,
) -> Outcome {
    let inputs: Vec<&Path> = inputs.into_iter().collect();
    let mut before: Vec<&Path> = Vec::new();
    for output in outputs {
        folder(output)?;
        if inputs.iter().any(|input| same_file(input, output)) {
            let message = format!("{}: the output is also an input", output.display());
            return Err(Failure::usage(message).hint("write to another file"));
        }
        let same =
            |other: &&&Path| same_file(other, output) || (is_stdout(other) && is_stdout(output));
        if let Some(other) = before.iter().find(same) {
            let (one, other) = (other.display(), output.display());
            return Err(Failure::usage(format!("the outputs {one} and {other} are the same file"))
                .hint("give each output a file of its own"));
        }
        if is_stdout(output) {
            stdout(output, global)?;
        }
        before.push(output);
    }
    Ok(())
}

/// The folder of an output must be there.
fn folder(output: &Path) -> Outcome {
    if is_address(output) {
        return Ok(());
    }
    let folder = output.parent().filter(|f| !f.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|f| !f.is_dir()) {
        let message = format!("{}: there is no folder `{}`", output.display(), folder.display());
        return Err(Failure::new(Exit::Machine, message).hint("make it first"));
    }
    Ok(())
}

/// A folder that is written to is one of this machine.
pub fn local(folder: &Path) -> Outcome {
    if is_address(folder) {
        let message = format!("{}: a folder of results must be on this machine", folder.display());
        return Err(Failure::usage(message).hint("write it here, and copy it"));
    }
    Ok(())
}

fn stdout(output: &Path, global: &Global) -> Outcome {
    if global.json {
        let message = format!("--json and the output {} both want stdout", output.display());
        return Err(Failure::usage(message).hint("write to a file, or leave --json out"));
    }
    output::give_stdout_away();
    Ok(())
}
