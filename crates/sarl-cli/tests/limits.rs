//! Memory within its limit, whatever is asked for.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod common;

use common::Folder;

const FIT: &str =
    "fit people.csv -t income -s sex --drop id,weight --max-leakage 0.05 -o m.safetensors";

#[test]
fn what_would_not_fit_is_refused_before_it_is_allocated() {
    let folder = Folder::with_people();
    let random = "--kernel rbf --approx random-features --landmarks 100000";
    let run = folder.sarl(&format!("{FIT} {random}"));
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    assert!(run.stderr.contains("TB of memory, and the limit is"), "{}", run.stderr);
    assert!(run.stderr.contains("hint: use fewer --landmarks"), "{}", run.stderr);
    assert!(!folder.path("m.safetensors").exists());
    let run = folder.sarl(&format!("{FIT} --memory 10M"));
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    assert!(run.stderr.contains("and the limit is 10 MB"), "{}", run.stderr);
    folder.sarl(&format!("{FIT} --memory 200M")).succeeded();
}

#[test]
fn what_nobody_foresaw_ends_at_the_limit() {
    let folder = Folder::with_people();
    let run = folder.sarl(
        "front people.csv -t income -s sex --drop id,weight --points 1000000 --json --memory 40M",
    );
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    let said: Vec<&str> = run.stderr.lines().filter(|l| l.starts_with("error:")).collect();
    assert_eq!(said.len(), 1, "{}", run.stderr);
    assert!(said[0].contains("memory are needed, and the limit is 40 MB"), "{}", run.stderr);
    assert!(run.stdout.is_empty());
}

#[test]
fn sizes_that_are_none() {
    let run = Folder::new().sarl("demo --memory 3X");
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("such as 800M, 4G or 16GiB"), "{}", run.stderr);
}
