//! Ctrl-C, a killed process, a reader that leaves, a full disk: an output is whole or absent.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod common;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use common::Folder;

const ROWS: usize = 200_000;
const WIDTH: usize = 30;

/// A folder with a table that takes a while, and a model of it; made once.
fn large() -> &'static Folder {
    static LARGE: OnceLock<Folder> = OnceLock::new();
    LARGE.get_or_init(|| {
        let folder = Folder::new();
        let mut text = (0..WIDTH).map(|j| format!("x{j},")).collect::<String>() + "y,s\n";
        for i in 0..ROWS {
            for j in 0..WIDTH {
                let v = (i * (j + 3) * 7919 + j * 104_729) % 1999;
                text.push_str(&format!("{}.{:03},", v % 7, v % 997));
            }
            text.push_str(&format!("{},{}\n", i % 3, (i / 3) % 2));
        }
        folder.write("large.csv", text);
        folder.sarl(&format!("{FIT} -o model.safetensors --quiet")).succeeded();
        folder
    })
}

const FIT: &str = "fit large.csv -t y -s s --max-leakage 0.5";
const ENCODE: &str = "encode model.safetensors large.csv";

fn signal(child: &Child, name: &str) {
    // It may have ended by itself.
    let _ = Command::new("sh").args(["-c", &format!("kill -{name} {}", child.id())]).output();
}

/// Waits for the end, which must come soon.
fn ended(mut child: Child) -> (ExitStatus, String, Duration) {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(20), "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
    let took = start.elapsed();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap(), said, took)
}

/// Starts the command in a folder of its own, with the large files in reach.
fn start(folder: &Folder, line: &str) -> Child {
    for name in ["large.csv", "model.safetensors"] {
        let link = folder.path(name);
        if !link.exists() {
            std::os::unix::fs::symlink(large().path(name), link).unwrap();
        }
    }
    folder.command(line).spawn().unwrap()
}

fn part_files(folder: &Folder) -> Vec<String> {
    folder.names().into_iter().filter(|n| n.ends_with(".part")).collect()
}

/// Moments from the first millisecond to about the end.
fn moments() -> impl Iterator<Item = Duration> {
    [1, 15, 30, 50, 80, 120, 200, 350, 600].into_iter().map(Duration::from_millis)
}

fn model_is_whole_or_absent(folder: &Folder, name: &str) {
    if folder.path(name).exists() {
        folder.sarl(&format!("info {name}")).succeeded();
    }
}

fn rows_are_whole_or_absent(folder: &Folder, name: &str) {
    if folder.path(name).exists() {
        assert_eq!(folder.text(name).lines().count(), ROWS + 1, "{name}");
    }
}

#[test]
fn ctrl_c_ends_promptly_and_leaves_nothing() {
    let folder = Folder::new();
    let mut stopped = 0;
    for line in [format!("{FIT} -o m.safetensors"), format!("{ENCODE} -o z.csv")] {
        for (moment, name) in moments().zip(["INT", "TERM"].into_iter().cycle()) {
            let child = start(&folder, &line);
            std::thread::sleep(moment);
            signal(&child, name);
            let (status, said, took) = ended(child);
            assert!(took < Duration::from_secs(3), "it took {took:?} to end");
            assert_eq!(part_files(&folder), [""; 0], "{line} after {moment:?}");
            match status.code() {
                Some(130) => {
                    stopped += 1;
                    assert_eq!(said, "error: interrupted\n");
                    assert!(!folder.path("m.safetensors").exists());
                    assert!(!folder.path("z.csv").exists());
                }
                // Before it listened, or after it was done.
                code => assert!(code.is_none() || code == Some(0), "{status} {said}"),
            }
            for name in ["m.safetensors", "z.csv"] {
                let _ = std::fs::remove_file(folder.path(name));
            }
        }
    }
    assert!(stopped >= 4, "only {stopped} runs were caught at work");
}

/// Choosing landmarks takes seconds between two looks at the flag.
#[test]
fn ctrl_c_ends_a_kernel_fit_promptly_too() {
    let folder = Folder::new();
    for moment in [100, 900, 1800].map(Duration::from_millis) {
        let child = start(&folder, &format!("{FIT} --kernel rbf -o m.safetensors"));
        std::thread::sleep(moment);
        signal(&child, "INT");
        let (status, said, took) = ended(child);
        assert!(took < Duration::from_secs(3), "it took {took:?} to end");
        assert_eq!(status.code(), Some(130), "{said}");
        let left = folder.names();
        assert_eq!(left, ["large.csv", "model.safetensors"], "after {moment:?}");
    }
}

#[test]
fn a_killed_command_leaves_no_file_that_loads_wrongly() {
    let folder = Folder::new();
    for line in [format!("{FIT} -o m.safetensors"), format!("{ENCODE} -o z.csv")] {
        for moment in moments() {
            let child = start(&folder, &line);
            std::thread::sleep(moment);
            signal(&child, "KILL");
            ended(child);
            model_is_whole_or_absent(&folder, "m.safetensors");
            rows_are_whole_or_absent(&folder, "z.csv");
        }
    }
    // What a killed command leaves behind is no data for the next one.
    for name in part_files(&folder) {
        assert!(name.starts_with(".sarl-"), "{name}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let folder = Folder::new();
    let mut child = start(&folder, &format!("{ENCODE} -o -"));
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut header = String::new();
    reader.read_line(&mut header).unwrap();
    assert!(header.starts_with("z0"), "{header}");
    drop(reader);
    let (status, said, _) = ended(child);
    assert_eq!((status.code(), said.as_str()), (Some(0), ""));
}

/// Runs `sarl` in a shell that did something first.
fn in_shell(folder: &Folder, first: &str, line: &str) -> (Option<i32>, String) {
    let script = format!("{first}; exec {} {line}", env!("CARGO_BIN_EXE_sarl"));
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", &script]).current_dir(folder.path("")).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// A limit on the size of files ends a write as a full disk does.
#[test]
fn a_write_that_fails_leaves_nothing() {
    let folder = Folder::with_model();
    let before = folder.names();
    for line in [
        "fit people.csv -t income -s sex --drop id --lambda 0.5 -o m.safetensors",
        "encode model.safetensors people.csv -o z.csv",
        "encode model.safetensors people.csv -o z.parquet",
        "encode model.safetensors people.csv -o z.arrow",
        "encode model.safetensors people.csv -o z.npy",
        "retune model.safetensors --lambda 0.5 -o model.safetensors",
    ] {
        let (code, said) = in_shell(&folder, "trap '' XFSZ; ulimit -f 1", line);
        assert_eq!(code, Some(4), "{line}: {said}");
        let output = line.rsplit(' ').next().unwrap();
        assert!(said.starts_with(&format!("error: {output}: cannot write: ")), "{said}");
        assert_eq!(folder.names(), before, "{line}");
    }
    folder.sarl("info model.safetensors").succeeded();
}

/// A file system of a few pages, seen by this one process only, where we may make one.
#[test]
fn a_full_disk_is_named() {
    let folder = Folder::with_model();
    std::fs::create_dir(folder.path("tiny")).unwrap();
    let mount = "mount -t tmpfs -o size=4k none tiny";
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c", script]);
        command.current_dir(folder.path("")).output()
    };
    if !unshare(mount).is_ok_and(|o| o.status.success()) {
        eprintln!("skipped: no small file system can be mounted here");
        return;
    }
    let sarl = env!("CARGO_BIN_EXE_sarl");
    let line = format!(
        "{mount}; {sarl} encode model.safetensors people.csv --keep id,work -o tiny/z.csv; echo $?; ls -A tiny"
    );
    let output = unshare(&line).unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "4\n", "the exit code, and no file");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: tiny/z.csv: cannot write: No space left"), "{said}");
}

#[test]
fn stdout_on_a_full_disk_is_an_error() {
    if !std::path::Path::new("/dev/full").exists() {
        eprintln!("skipped: no /dev/full");
        return;
    }
    let folder = Folder::with_model();
    for line in ["encode model.safetensors people.csv -o -", "info model.safetensors --json"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let child = folder.command(line).stdout(full).spawn().unwrap();
        let (status, said, _) = ended(child);
        assert_eq!(status.code(), Some(4), "{line}: {said}");
        assert!(said.starts_with("error: ") && said.to_lowercase().contains("space"), "{said}");
    }
}
