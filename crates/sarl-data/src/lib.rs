//! Tables and matrices as streams of blocks.
//!
//! Files go in, blocks of numbers come out; memory does not grow with the number of
//! rows. Two passes are made:
//!
//! 1. [`Schema::learn`] finds the categories, the means and the standard deviations of
//!    the columns that a [`Request`] selects. The schema is small, goes into the model
//!    file, and turns other data into the same features later.
//! 2. [`Source::blocks`] converts: numeric features become a dense matrix row by row
//!    categorical ones become codes, labels become classes or numbers.
//!
//! Reading and converting happen on a thread of their own, so that they overlap with
//! what is done with the blocks. The same data give the same bits in every format.
//!
//! | extension | what it is |
//! |---|---|
//! | `.csv`, `.tsv`, `.tab`, `.psv`, `.txt`, and these with `.gz` | text with a header; comma, semicolon, tab or bar |
//! | `.parquet` | Parquet; only the columns used are decoded |
//! | `.arrow`, `.feather`, `.ipc` | Arrow IPC, file or stream |
//! | `.npz` | arrays `X` (rows by features) and, if there, `y` and `s` |
//! | `.npy` | `X` alone |
//! | `.safetensors` | tensors `X`, `y`, `s` |
//!
//! What a column is taken for depends on all of its cells:
//!
//! | cells | as a feature | as a label |
//! |---|---|---|
//! | reals, whole numbers | a number | a number; up to 20 different whole numbers are classes |
//! | numbers as text: `1,234.50`, `$5`, `12 %`, `(3.5)` | a number | the same |
//! | dates and times | days since 1970 | days since 1970 |
//! | words, booleans | categories (one-hot) | classes |
//!
//! `COL:class` and `COL:number` overrule that. Words with very many different values are
//! identifiers or free text: they are refused, or pooled. Missing are NaN, nulls and, in
//! text files, empty cells and the usual spellings (`NA`, `N/A`, `null`, `?`, …); where all
//! other cells are numbers or dates, also `-`, `.`, `None` and their like.
//!
//! ```
//! use std::ops::ControlFlow;
//! use sarl_data::{BlockOptions, Request, Schema, Source, Targets};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = folder.path().join("people.csv");
//! std::fs::write(&path, "age,work,income,sex\n30,private,high,f\n40,public,low,m\n50,private,high,m\n").unwrap();
//!
//! let source = Source::open(&[&path])?;
//! let request = Request {
//!     targets: Targets::parse(&["income"])?,
//!     sensitives: vec!["sex".parse()?],
//!     ..Request::default()
//! };
//! let schema = Schema::learn(&source, &request, &mut |_| ControlFlow::Continue(()))?;
//! assert_eq!(schema.feature_names(), ["age", "work=private", "work=public"]);
//!
//! for block in source.blocks(&schema, &BlockOptions::default())? {
//!     let block = block?;
//!     assert_eq!(block.rows, 3);
//!     assert_eq!(block.dense[1], 40.0);
//!     assert_eq!(block.codes[0].codes, [0, 1, 0]);
//! }
//! # Ok::<(), sarl_data::DataError>(())
//! ```

mod ahead;
mod atomic;
mod blocks;
mod cells;
mod column;
mod datasets;
mod error;
mod format;
mod found;
mod guard;
mod input;
mod inspect;
mod nearest;
mod opened;
mod part;
mod picks;
mod place;
mod remote;
mod request;
mod rows;
mod schema;
mod source;
mod text;
mod web;
mod write;

/// The Arrow types that appear in this crate's interface.
pub use arrow_array;

pub use atomic::{AtomicFile, write_file};
pub use blocks::{BlockOptions, Blocks, CodeColumn, DataBlock, Gaps, LabelColumn, Labels, Unseen};
pub use column::{Column, ColumnKind, ColumnRef, MatrixArray, Treat};
pub use datasets::{
    Dataset, DatasetFile, DatasetTable, DownloadOptions, Fetched, Places, RawForm, Remote,
    Transfer, data_folders, dataset, datasets, download, fetch_folder, tidy,
};
pub use error::{DataError, ExitClass, Result, Unusable, WhyUnusable, quoted};
pub use format::RowsHint;
pub use guard::READER_THREAD;
pub use input::Input;
pub use inspect::{ColumnReport, ColumnRole, Holds, Inspection, Refused};
pub use opened::Opened;
pub use part::remove_parts;
pub use place::{is_address, is_stdout, same_file};
pub use request::{Missing, Request, Targets};
pub use schema::{
    ClassColumn, ClassesOf, Feature, FeatureValues, Label, LabelFigures, LabelValues, NumberColumn,
    PartsDiffer, Progress, Renumbered, Renumbering, SCHEMA_VERSION, Schema, UNSEEN,
};
pub use source::Source;
pub use text::{DateOrder, Decimal, Written};
pub use write::{Writer, with_codes};
