//! The readers of tables: open, inspect, learn a schema, read all blocks, as the command does.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::OnceLock;

use sarl_data::{
    BlockOptions, ColumnRef, Missing, Request, Result, Schema, Source, Targets, Unseen,
};

/// Readers take paths: a file of this process, in memory where the machine has such a place.
fn place(ending: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let shared = PathBuf::from("/dev/shm");
        let base = if shared.is_dir() { shared } else { std::env::temp_dir() };
        let folder = std::env::var_os("SARL_FUZZ_SCRATCH").map_or(base, PathBuf::from);
        let folder = folder.join(format!("sarl-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder for the input can be made");
        folder
    });
    folder.join(format!("input.{ending}"))
}

/// One file with this ending.
pub(crate) fn table(ending: &str, bytes: &[u8]) {
    let path = place(ending);
    std::fs::write(&path, bytes).expect("the input can be written");
    let Ok(source) = Source::open(&[&path]) else { return };
    for missing in [Missing::Error, Missing::Mean] {
        let _ = read(&source, missing);
    }
}

/// The last two columns are the labels; all others are features.
fn read(source: &Source, missing: Missing) -> Result<()> {
    let mut names = source.columns().iter().rev().map(|c| ColumnRef::new(c.name.clone()));
    let sensitives = Vec::from_iter(names.next());
    let targets = Targets::Columns(Vec::from_iter(names.next()));
    let request =
        Request { targets, sensitives, missing, max_categories: Some(4), ..Request::default() };
    let go_on = &mut |_| ControlFlow::Continue(());
    source.inspect(&request, go_on)?;
    let schema = Schema::learn(source, &request, go_on)?;
    let again = Schema::from_json(&schema.to_json()?);
    let again = again.expect("a schema that was written is read");
    assert_eq!(again.feature_names(), schema.feature_names());
    let (dense, width) = (schema.dense_width(), schema.width());
    assert!(dense <= width);
    let keep = source.columns().iter().take(1).map(|c| c.name.clone()).collect();
    let options = BlockOptions { rows: 7, unseen: Unseen::Ignore, keep, ..BlockOptions::default() };
    let mut rows = 0;
    for block in source.blocks(&schema, &options)? {
        let block = block?;
        rows += block.rows as u64;
        assert_eq!(block.dense.len(), block.rows * dense);
        assert!(block.dense.iter().all(|v| v.is_finite()));
        assert!(block.codes.iter().all(|c| c.codes.len() == block.rows));
    }
    assert_eq!(rows, schema.rows(), "both passes see the same rows");
    Ok(())
}
