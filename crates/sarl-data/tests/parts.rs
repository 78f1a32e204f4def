//! An end without destructors. Alone in its process: it removes what others would be writing.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::io::Write;

use sarl_data::AtomicFile;

#[test]
fn what_is_half_written_can_be_removed_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("z.csv");
    sarl_data::write_file(&path, b"whole").unwrap();
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"half").unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    sarl_data::remove_parts();
    std::mem::forget(file);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(std::fs::read(&path).unwrap(), b"whole");
}
