//! One binary for every target. libFuzzer brings `main`; `SARL_FUZZ_TARGET` chooses, and
//! `SARL_FUZZ_SEEDS` only writes the first inputs of that target into a folder.
//!
//! A panic ends the process and is a find, except where the readers of other crates panic on a
//! damaged file: that is caught and becomes an error (`sarl_data::READER_THREAD`).
#![no_main]

use std::path::Path;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use sarl_fuzz::{TARGETS, Target, seeds};

static TARGET: OnceLock<Target> = OnceLock::new();

fn begin() {
    let name = std::env::var("SARL_FUZZ_TARGET").unwrap_or_default();
    let found = TARGETS.iter().find(|(known, _)| *known == name);
    let Some((_, target)) = found else {
        println!("{}", TARGETS.map(|(name, _)| name).join("\n"));
        std::process::exit(if name.is_empty() { 0 } else { 2 });
    };
    if let Some(folder) = std::env::var_os("SARL_FUZZ_SEEDS") {
        seeds::write(&name, Path::new(&folder));
        std::process::exit(0);
    }
    let _ = TARGET.set(*target);
    let ends = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() != Some(sarl_data::READER_THREAD) {
            ends(panic);
        }
    }));
}

fuzz_target!(init: begin(), |bytes: &[u8]| {
    if let Some(target) = TARGET.get() {
        target(bytes);
    }
});
