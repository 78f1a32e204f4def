//! Ends that no command asked for: a fault of the program, and memory beyond the limit.

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use sarl_memory::Exceeded;

use crate::failure::{Exit, Failure, Outcome};

/// What the last panic said.
static SAID: Mutex<Option<String>> = Mutex::new(None);

/// Panics say nothing when they happen: readers of damaged files turn them into errors, and
/// [`without_panic`] reports the others.
pub fn prepare() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic.payload_as_str().unwrap_or("no message");
        let place = panic.location().map(|l| format!(" ({}:{})", l.file(), l.line()));
        let text = format!("{text}{}", place.unwrap_or_default());
        if let Ok(mut said) = SAID.try_lock() {
            *said = Some(text.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }));
}

/// Runs a command; a panic in it is a fault of ours, with an exit code of its own. Unwinding has
/// removed what was half written.
pub fn without_panic(command: impl FnOnce() -> Outcome) -> Outcome {
    catch_unwind(AssertUnwindSafe(command)).unwrap_or_else(|_| {
        let said = SAID.try_lock().ok().and_then(|mut said| said.take());
        let said = said.unwrap_or_else(|| "no message".to_owned());
        Err(Failure::new(Exit::Fault, format!("a fault in sarl: {said}"))
            .hint("please report it with the command and, if you can, the data"))
    })
}

/// Ends the program, on whatever thread asked for too much.
pub fn out_of_memory(exceeded: Exceeded) -> ! {
    let hint = match exceeded.limit < sarl_memory::limit() {
        true => "the machine gives no more; ask for less",
        false => "give more with --memory, or ask for less",
    };
    let text = format!("error: {exceeded}\nhint: {hint}\n");
    // No lock is taken: another thread may hold it.
    say(text.as_bytes());
    sarl_data::remove_parts();
    std::process::exit(Exit::Machine as i32)
}

#[cfg(unix)]
fn say(text: &[u8]) {
    use std::os::fd::AsFd;
    if let Ok(stderr) = std::io::stderr().as_fd().try_clone_to_owned() {
        // Nothing can be done about a closed stderr.
        let _ = std::fs::File::from(stderr).write_all(text);
    }
}

#[cfg(not(unix))]
fn say(text: &[u8]) {
    let _ = std::io::stderr().write_all(text);
}
