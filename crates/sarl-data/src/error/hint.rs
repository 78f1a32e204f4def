//! How to go on after an error.

use std::io::ErrorKind;
use std::path::Path;

use super::{DataError, Unusable, WhyUnusable};
use crate::place::is_address;

impl DataError {
    /// One line on how to go on, where there is something to say.
    pub fn hint(&self) -> Option<String> {
        use DataError::*;
        Some(match self {
            UnknownColumn { nearest: Some(name), .. } | NoColumn { nearest: Some(name), .. } => {
                format!("did you mean `{name}`?")
            }
            UnknownColumn { available, .. } => format!("the columns are: {}", some_of(available)),
            TwoRoles { column, .. } => format!("give `{column}` one role only"),
            NoFeatures => "name features with --features, or drop fewer columns".to_owned(),
            CannotKeep { .. } => "write .csv, .parquet or .arrow to keep columns".to_owned(),
            Ragged { .. } => "check the quoting and the delimiters of that line".to_owned(),
            BadCell { column, expected, .. } if expected.starts_with("a ") => {
                format!("correct the cell, or treat the column as categories with `{column}:class`")
            }
            TooLarge { .. } => {
                "correct the cell, or leave it empty and use --missing drop or mean".to_owned()
            }
            MissingCell { .. } => {
                "fill the cell in, or fit again with --missing drop or --missing mean".to_owned()
            }
            MissingValues { .. } => {
                "use --missing drop to leave such rows out, or --missing mean to fill them in"
                    .to_owned()
            }
            AllMissing { .. } => "choose another column".to_owned(),
            AllRowsDropped { .. } => {
                "use --missing mean, or --drop the columns with gaps".to_owned()
            }
            UnusableColumns { columns, gaps, .. } => unusable_hint(columns, *gaps),
            TooManyClasses { column, .. } => {
                format!("choose another label; if they are classes, say `{column}:class`")
            }
            EitherDate { .. } => "write them as 2013-04-03".to_owned(),
            UnseenCategory { .. } => {
                "use --unseen ignore to encode new categories as all zeros".to_owned()
            }
            NoArray { .. } => {
                "save the features as `X`, the target as `y`, the sensitive attribute as `s`"
                    .to_owned()
            }
            WrongArray { array, .. } => format!(
                "`{array}` must be a plain array of numbers; reshape or convert it before saving"
            ),
            WrongType { column, .. } => {
                format!("convert the column, or leave it out with --drop {column}")
            }
            OneClass { .. } | ConstantLabel { .. } => {
                "choose another label, or data in which it varies".to_owned()
            }
            Fetch { url, folder, kept: 0, .. } => {
                format!("download {url} by hand and put it into {}", folder.display())
            }
            Fetch { kept, .. } => format!("run the command again to go on after {kept} bytes"),
            WrongFile { .. } => "it was not kept; run the command again, and if it stays so the \
                                 source has changed or something on the way changes it"
                .to_owned(),
            NotFound { path } | NoDataInFolder { path } if is_address(path) => {
                "check the address, and that the credentials may list the bucket".to_owned()
            }
            NoDataInFolder { .. } => {
                "give a .csv, .tsv, .txt (.gz too), .parquet, .arrow, .npz, .npy or .safetensors file".to_owned()
            }
            Read { path, source } | Write { path, source }
                if is_address(path) && source.kind() == ErrorKind::PermissionDenied =>
            {
                credentials(path)
            }
            Read { path, .. } | Write { path, .. } if is_address(path) => {
                format!("check the network; {}", credentials(path))
            }
            Changed { .. } => "run the command again when nobody writes to it".to_owned(),
            NoMatch { .. } => "quote the pattern, and check where it begins".to_owned(),
            Spool { .. } => "make room there, or set TMPDIR to another folder".to_owned(),
            LongRow { .. } => "check the ends of lines, and whether a quote is not closed".to_owned(),
            Memory { .. } => "give more with --memory, or name fewer columns".to_owned(),
            ByHand { advice, .. } => advice.clone(),
            _ => return None,
        })
    }
}

/// Where a store takes its credentials from.
fn credentials(path: &Path) -> String {
    let names =
        match path.to_str().and_then(|text| text.split_once("://")).map(|(scheme, _)| scheme) {
            Some("s3") => {
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; AWS_REGION and AWS_ENDPOINT_URL; \
             AWS_SKIP_SIGNATURE=true for public buckets"
            }
            Some("gs") => {
                "GOOGLE_APPLICATION_CREDENTIALS; GOOGLE_SKIP_SIGNATURE=true for public buckets"
            }
            Some("az") => "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY or a SAS token",
            _ => return "check the address and what the server allows".to_owned(),
        };
    format!("check the credentials in the environment: {names}")
}

fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let mut text = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN {
        text.push_str(&format!(", … ({} in all)", names.len()));
    }
    text
}

fn unusable_hint(columns: &[Unusable], gaps: bool) -> String {
    let names = columns.iter().map(|c| c.column.as_str()).collect::<Vec<_>>().join(",");
    let it = if columns.len() == 1 { "it" } else { "them" };
    let mut hint = format!("leave {it} out: --drop {}", quoted(&names));
    if columns.iter().any(|c| c.why != WhyUnusable::Empty) {
        hint.push_str("; or keep the most frequent values: --max-categories 50");
    }
    if gaps {
        hint.push_str("; other columns have missing values: add --missing drop or --missing mean");
    }
    hint
}

/// A word as a shell wants it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.,:/=+@".contains(c);
    match word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
