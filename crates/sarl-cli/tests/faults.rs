//! A machine that fails: writes that end at some byte, kills at any moment, inputs that change,
//! closed streams, few threads, little memory. No panic, no half of a file, a documented exit code.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "these are tests")]

mod common;

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use common::people::{self, Numbers};
use common::{FIT, Folder};

/// The end of a command that nobody interrupts.
const CODES: [i32; 5] = [0, 1, 2, 3, 4];

/// Runs `sarl` in a shell that did something first, under `prlimit` with these options. Nothing
/// where there is no such program.
fn limited(folder: &Folder, limits: &str, line: &str) -> Option<Output> {
    let prlimit = Command::new("prlimit").arg("--version").output();
    if !prlimit.is_ok_and(|o| o.status.success()) {
        eprintln!("skipped: there is no prlimit");
        return None;
    }
    let sarl = env!("CARGO_BIN_EXE_sarl");
    let script = format!("trap '' XFSZ; exec prlimit --core=0 {limits} {sarl} {line}");
    let mut shell = Command::new("sh");
    Some(shell.args(["-c", &script]).current_dir(folder.path("")).output().unwrap())
}

/// The exit code of a run that did not panic, and what it said.
fn sound(output: &Output, what: &str) -> (i32, String) {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!said.contains("panicked") && !said.contains("a fault in sarl"), "{what}: {said}");
    let code = output.status.code();
    let code = code.unwrap_or_else(|| panic!("{what}: {}\n{said}", output.status));
    assert!(CODES.contains(&code), "{what}: exit code {code}\n{said}");
    assert!(code == 0 || said.contains("error: "), "{what}: it says nothing");
    (code, said)
}

/// Every place near the ends of a file, and some between.
fn places(size: u64) -> impl Iterator<Item = u64> {
    let near = move |k: &u64| *k < 24 || *k + 12 > size || k.is_multiple_of(size / 40 + 1);
    (0..size).filter(near)
}

#[test]
fn a_write_that_fails_at_any_byte_leaves_nothing() {
    let folder = Folder::with_model();
    let encode = "encode model.safetensors people.csv -o";
    for line in [
        format!("fit people.csv {FIT} -o m.safetensors"),
        format!("{encode} z.csv"),
        format!("{encode} z.parquet"),
        format!("{encode} z.arrow"),
        format!("{encode} z.npy"),
        "front people.csv -t income -s sex --drop id,weight --csv front.csv".to_owned(),
    ] {
        let name = line.rsplit(' ').next().unwrap();
        folder.sarl(&line).succeeded();
        let (whole, size) = (folder.read(name), folder.read(name).len() as u64);
        std::fs::remove_file(folder.path(name)).unwrap();
        let before = folder.names();
        for place in places(size) {
            let what = format!("{line}, {place} of {size} bytes");
            let Some(output) = limited(&folder, &format!("--fsize={place}"), &line) else { return };
            let (code, said) = sound(&output, &what);
            assert_eq!(code, 4, "{what}: {said}");
            assert!(said.contains(&format!("error: {name}: cannot write: ")), "{what}: {said}");
            assert_eq!(folder.names(), before, "{what}");
        }
        let output = limited(&folder, &format!("--fsize={size}"), &line).unwrap();
        assert_eq!(sound(&output, &line).0, 0);
        assert_eq!(folder.read(name), whole, "{line}");
        std::fs::remove_file(folder.path(name)).unwrap();
    }
}

/// A table that takes some time to read.
fn slow() -> Folder {
    let folder = Folder::with_model();
    folder.write("large.csv", people::csv(20_000));
    folder
}

fn ended(mut child: Child) -> Output {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(60), "it does not end");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.wait_with_output().unwrap()
}

#[test]
fn kills_at_any_moment_leave_whole_files_and_the_next_run_clears_up() {
    let folder = slow();
    let lines = [
        format!("fit large.csv {FIT} -o m.safetensors --json"),
        "encode model.safetensors large.csv -o z.csv".to_owned(),
        "retune model.safetensors --max-leakage 0.01 -o m.safetensors --json".to_owned(),
    ];
    let mut numbers = Numbers::new(3);
    for round in 0..48 {
        let line = &lines[round % lines.len()];
        let signal = ["KILL", "TERM", "INT", "HUP"][round / 3 % 4];
        let child = folder.command(line).spawn().unwrap();
        std::thread::sleep(Duration::from_micros((numbers.next().powi(2) * 250e3) as u64));
        let kill = format!("kill -{signal} {}", child.id());
        let _ = Command::new("sh").args(["-c", &kill]).output();
        let output = ended(child);
        let said = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(code.is_none_or(|c| c == 0 || c == 130), "{line}, {signal}: {code:?} {said}");
        assert!(!said.contains("panicked"), "{line}, {signal}: {said}");
        if folder.path("m.safetensors").exists() {
            folder.sarl("info m.safetensors").succeeded();
        }
        if folder.path("z.csv").exists() {
            assert_eq!(folder.text("z.csv").lines().count(), 20_001, "{line}, {signal}");
        }
        for name in ["m.safetensors", "z.csv"] {
            let _ = std::fs::remove_file(folder.path(name));
        }
    }
    folder.sarl(&format!("{} --quiet", lines[2])).succeeded();
    let left = folder.names().into_iter().filter(|n| n.ends_with(".part"));
    assert_eq!(left.collect::<Vec<_>>(), [""; 0], "temporary files of killed processes stay");
}

#[test]
fn an_input_that_changes_is_read_or_refused() {
    let folder = slow();
    let whole = folder.read("large.csv");
    for round in 0..12u32 {
        folder.write("large.csv", &whole);
        let line = match round % 2 {
            0 => format!("fit large.csv {FIT} -o m.safetensors"),
            _ => "encode model.safetensors large.csv -o z.parquet".to_owned(),
        };
        let child = folder.command(&line).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(u64::from(5 + 9 * round)));
        let file = std::fs::OpenOptions::new().write(true).open(folder.path("large.csv")).unwrap();
        file.set_len(whole.len() as u64 * u64::from(round % 5) / 3).unwrap();
        let (code, said) = sound(&ended(child), &line);
        let written = ["m.safetensors", "z.parquet"].map(|name| folder.path(name).exists());
        assert_eq!(written.contains(&true), code == 0, "{line}: {said}");
        for name in ["m.safetensors", "z.parquet"] {
            let _ = std::fs::remove_file(folder.path(name));
        }
    }
}

#[test]
fn a_fifo_that_gives_a_few_bytes_at_a_time_is_read() {
    let folder = Folder::with_model();
    folder.sarl("encode model.safetensors people.csv -o whole.csv").succeeded();
    let made = Command::new("mkfifo").arg(folder.path("pipe.csv")).status();
    assert!(made.unwrap().success());
    let rows = folder.read("people.csv");
    for share in [1.0, 0.5] {
        let child = folder.command("encode model.safetensors pipe.csv -o z.csv").spawn().unwrap();
        let pipe = std::fs::OpenOptions::new().write(true).open(folder.path("pipe.csv"));
        let mut pipe = pipe.unwrap();
        // A reader that has seen enough may leave.
        let given = &rows[..(rows.len() as f64 * share) as usize];
        let _ = given.chunks(37).try_for_each(|chunk| pipe.write_all(chunk));
        drop(pipe);
        let (found, said) = sound(&ended(child), "a FIFO");
        if share == 1.0 {
            assert_eq!(found, 0, "{said}");
            assert_eq!(folder.read("z.csv"), folder.read("whole.csv"));
            std::fs::remove_file(folder.path("z.csv")).unwrap();
        }
        assert!(found == 0 || !folder.path("z.csv").exists(), "{said}");
    }
}

#[test]
fn closed_and_full_streams_are_no_panic() {
    let folder = Folder::with_model();
    let fit = format!("fit people.csv {FIT} -o m.safetensors");
    let missing = "fit nothing.csv -t a -s b --max-leakage 0.1 -o m.safetensors".to_owned();
    for (line, streams, code) in [
        (&fit, ">&- 2>&-", 0),
        (&fit, "2>&-", 0),
        (&fit, "2>/dev/full", 0),
        (&missing, "2>&-", 3),
        (&missing, ">&- 2>/dev/full", 3),
    ] {
        let _ = std::fs::remove_file(folder.path("m.safetensors"));
        let script = format!("exec {} {line} {streams}", env!("CARGO_BIN_EXE_sarl"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(folder.path("")).stdin(Stdio::null());
        let output = shell.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{line} {streams}");
        assert_eq!(folder.path("m.safetensors").exists(), code == 0, "{line} {streams}");
        if code == 0 {
            folder.sarl("info m.safetensors").succeeded();
        }
    }
}

#[test]
fn few_threads_are_enough_or_an_error() {
    let folder = Folder::with_model();
    let sarl = env!("CARGO_BIN_EXE_sarl");
    // The limit counts the threads of a user, and does not bind root: another user tries.
    let open = |path| std::fs::set_permissions(path, PermissionsExt::from_mode(0o777));
    open(folder.path("")).and(open(folder.path("..").canonicalize().unwrap())).unwrap();
    let run = |threads: usize, line: &str| {
        let limit = "setpriv --reuid=64123 --clear-groups prlimit --core=0";
        let limit = format!("exec {limit} --nproc={threads} {line}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &limit]).current_dir(folder.path("")).output().unwrap()
    };
    let works = run(100, &format!("{sarl} --version")).status.success();
    if !works || run(1, "sh -c '(true); (true)'").status.success() {
        eprintln!("skipped: threads cannot be limited here");
        return;
    }
    for threads in [1, 2, 3, 4, 6, 10] {
        for line in [
            format!("fit people.csv {FIT} -o m.safetensors"),
            format!("fit people.csv {FIT} --kernel rbf -o m.safetensors --threads 4"),
            "encode model.safetensors people.csv -o z.csv".to_owned(),
            "audit model.safetensors people.csv --probes linear,trees --seeds 1".to_owned(),
        ] {
            let output = run(threads, &format!("{sarl} {line}"));
            let (code, said) = sound(&output, &format!("{line}, {threads} threads"));
            assert!(code == 0 || code == 4, "{line}, {threads} threads: {said}");
        }
    }
}

#[test]
fn little_address_space_is_enough_or_an_error() {
    let folder = Folder::with_model();
    // Less than the program itself takes ends it before it begins.
    for megabytes in [90u64, 110, 130, 160, 200, 300, 500, 900] {
        for line in [
            format!("fit people.csv {FIT} -o m.safetensors"),
            format!("fit people.csv {FIT} --kernel rbf --html page.html -o m.safetensors"),
            "encode model.safetensors people.csv -o z.parquet".to_owned(),
            "info model.safetensors".to_owned(),
        ] {
            let limit = format!("--as={}", megabytes << 20);
            let Some(output) = limited(&folder, &limit, &line) else { return };
            let what = format!("{line}, {megabytes} MB");
            let (code, said) = sound(&output, &what);
            assert!(code == 0 || code == 4, "{what}: {said}");
            let name = line.rsplit(' ').next().unwrap();
            let made = code == 0 || name == "model.safetensors";
            assert_eq!(folder.path(name).exists(), made, "{what}");
            if name != "model.safetensors" {
                let _ = std::fs::remove_file(folder.path(name));
            }
        }
    }
}
