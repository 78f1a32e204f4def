//! Where outputs go: devices, FIFOs, links, files that are there already; and what is said where
//! nobody can hear it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use std::ffi::{OsStr, OsString};
use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::process::{Command, Stdio};

use common::{FIT, Folder};

fn fit(more: &str) -> String {
    format!("fit people.csv {FIT} {more}")
}

fn fifo(folder: &Folder, name: &str) {
    let made = Command::new("mkfifo").arg(folder.path(name)).status().unwrap();
    assert!(made.success());
}

#[test]
fn devices_and_fifos_are_written_to() {
    let folder = Folder::with_model();
    folder.sarl(&fit("-o /dev/null")).succeeded();
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    folder.sarl("encode model.safetensors people.csv -o /dev/null --json").succeeded();

    fifo(&folder, "pipe.csv");
    let mut reader =
        Command::new("cat").arg(folder.path("pipe.csv")).stdout(Stdio::piped()).spawn().unwrap();
    folder.sarl("encode model.safetensors people.csv -o pipe.csv").succeeded();
    let mut piped = String::new();
    std::io::Read::read_to_string(&mut reader.stdout.take().unwrap(), &mut piped).unwrap();
    reader.wait().unwrap();
    assert!(fs::metadata(folder.path("pipe.csv")).unwrap().file_type().is_fifo());
    folder.sarl("encode model.safetensors people.csv -o z.csv").succeeded();
    assert_eq!(piped, folder.text("z.csv"));

    // What goes to stdout goes there alone.
    let run = folder.sarl("encode model.safetensors people.csv -o /dev/stdout").succeeded();
    assert_eq!(run.stdout, piped);
    folder.fails("encode model.safetensors people.csv -o /dev/stdout --json", 2);
    folder.fails("encode model.safetensors people.csv -o - --json", 2);
}

#[test]
fn links_and_permissions_stay() {
    let folder = Folder::with_people();
    folder.write("real.safetensors", "before");
    fs::set_permissions(folder.path("real.safetensors"), Permissions::from_mode(0o600)).unwrap();
    symlink("real.safetensors", folder.path("link.safetensors")).unwrap();
    symlink("later.safetensors", folder.path("dangling.safetensors")).unwrap();
    folder.sarl(&fit("-o link.safetensors")).succeeded();
    folder.sarl(&fit("-o dangling.safetensors")).succeeded();
    for link in ["link.safetensors", "dangling.safetensors"] {
        assert!(folder.path(link).symlink_metadata().unwrap().is_symlink(), "{link}");
    }
    let real = fs::metadata(folder.path("real.safetensors")).unwrap();
    assert_eq!(real.permissions().mode() & 0o777, 0o600);
    assert_eq!(folder.read("real.safetensors"), folder.read("later.safetensors"));
}

#[test]
fn one_file_is_not_written_twice_and_inputs_are_not_written() {
    let folder = Folder::with_model();
    symlink("m.safetensors", folder.path("soft")).unwrap();
    folder.write("hard", "");
    fs::hard_link(folder.path("hard"), folder.path("other")).unwrap();
    fs::hard_link(folder.path("people.csv"), folder.path("people2.csv")).unwrap();
    for line in [
        fit("-o m.safetensors --html m.safetensors"),
        fit("-o m.safetensors --html ./m.safetensors"),
        fit("-o m.safetensors --html ../here/m.safetensors"),
        fit("-o m.safetensors --html soft"),
        fit("-o hard --html other"),
        fit("-o people2.csv"),
        "front people.csv -t income -s sex --csv f --html ./f".to_owned(),
        "encode model.safetensors people.csv -o people2.csv".to_owned(),
        "audit model.safetensors people.csv --predictions a.csv --html ./a.csv".to_owned(),
        "compare people.csv -t income -s sex -o . --html results.json".to_owned(),
    ] {
        folder.fails(&line, 2);
    }
}

#[test]
fn what_killed_processes_left_is_removed() {
    let folder = Folder::with_people();
    folder.write(".sarl-abc.part", "half");
    folder.write(".sarl-def.part", "half");
    let alive = fs::File::open(folder.path(".sarl-def.part")).unwrap();
    alive.lock().unwrap();
    folder.sarl(&fit("-o m.safetensors")).succeeded();
    assert_eq!(folder.names(), [".sarl-def.part", "m.safetensors", "people.csv"]);
}

#[test]
fn a_stderr_that_cannot_be_written_to_ends_nothing() {
    let folder = Folder::with_people();
    for (name, stderr) in [("closed", "2>&-"), ("full", "2>/dev/full")] {
        let line = format!("exec \"$0\" {} {stderr}", fit(&format!("-o {name}.safetensors")));
        let mut shell = Command::new("sh");
        shell.args(["-c", &line, env!("CARGO_BIN_EXE_sarl")]).current_dir(folder.path(""));
        assert_eq!(shell.stdout(Stdio::null()).status().unwrap().code(), Some(0), "{name}");
        assert!(folder.path(&format!("{name}.safetensors")).exists());
        let line = format!("exec \"$0\" fit nothing.csv -t y -s s --lambda 0 -o x {stderr}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &line, env!("CARGO_BIN_EXE_sarl")]).current_dir(folder.path(""));
        assert_eq!(shell.status().unwrap().code(), Some(3), "{name}");
    }
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let run = folder.command(&fit("-o m.safetensors --quiet")).stdout(full).output().unwrap();
    let said = String::from_utf8(run.stderr).unwrap();
    assert_eq!((run.status.code(), said.contains("stdout")), (Some(4), true), "{said}");
}

/// Threads with such a stack cannot be started.
#[cfg(target_os = "linux")]
#[test]
fn without_threads_everything_is_done_on_one() {
    let folder = Folder::with_model();
    for line in [
        &fit("-o m.safetensors"),
        "encode model.safetensors people.csv -o z.csv",
        "audit model.safetensors people.csv --probes linear,trees,rbf --seeds 1",
        "front people.csv -t income -s sex --drop id,weight --kernel rbf --threads 8",
    ] {
        let run = folder.command(line).env("RUST_MIN_STACK", "70368744177664").output().unwrap();
        let said = String::from_utf8(run.stderr).unwrap();
        assert_eq!(run.status.code(), Some(0), "{line}\n{said}");
        assert!(said.contains("the system allows 1 of"), "{said}");
    }
    let model = folder.read("m.safetensors");
    folder.sarl(&fit("-o m.safetensors")).succeeded();
    assert_eq!(model, folder.read("m.safetensors"), "the result does not depend on the threads");
}

#[test]
fn paths_need_not_be_utf8() {
    let folder = Folder::with_people();
    let name = |text: &str| {
        let mut bytes = b"\xff-".to_vec();
        bytes.extend(text.bytes());
        OsString::from_vec(bytes)
    };
    if fs::copy(folder.path("people.csv"), folder.path("").join(name("p.csv"))).is_err() {
        eprintln!("skipped: this file system has UTF-8 names only");
        return;
    }
    let run = |line: &str| {
        let words = line.split(' ').map(|word| match word.strip_prefix('@') {
            Some(word) => name(word),
            None => OsStr::from_bytes(word.as_bytes()).to_owned(),
        });
        let run = folder.command("").args(words).output().unwrap();
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(0), "{line}\n{said}");
        if line.contains("--json") {
            let _: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
        }
    };
    for json in ["--json", "--quiet"] {
        run(&format!("fit @p.csv {FIT} -o @m.safetensors --html @r.html {json}"));
        run(&format!("info @m.safetensors {json}"));
        run(&format!("retune @m.safetensors --lambda 0.5 -o @n.safetensors {json}"));
        run(&format!("encode @m.safetensors @p.csv -o @z.csv {json}"));
        run(&format!("audit @m.safetensors @p.csv --probes linear --html @a.html {json}"));
        run(&format!("inspect @p.csv {json}"));
        run(&format!("front @p.csv -t income -s sex --drop id --csv @f.csv --html @f.html {json}"));
        run(&format!(
            "compare @p.csv -t income -s sex --drop id,weight --rivals leace --probes linear \
             --seeds 1 --leakages 0.1 -o @folder --html @c.html {json}"
        ));
    }
}
