//! From what was named to files: folders, patterns and partition folders, here and in object stores.
//!
//! A folder stands for the data files in it and in its partition folders: those called `NAME=VALUE`,
//! as Hive, Spark and others write them. A pattern (`*`, `?`, `[…]`, `**`) stands for what it matches.
//! Of a path, the parts that were found and not typed tell the partitions.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use glob::{MatchOptions, Pattern};
use percent_encoding::percent_decode_str;

use crate::column::ColumnKind;
use crate::error::{DataError, Result};
use crate::format::{Format, Value};
use crate::input::Input;
use crate::remote::{self, Address, Scheme};

/// The value of a partition that is missing.
const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";
/// Partition folders within each other; more are taken for a loop of links.
const DEEPEST: usize = 64;
/// As a shell matches: neither slashes nor leading dots by a wildcard.
const AS_SHELL: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

/// A data file, and the names and values of the partition folders that it is in.
pub(crate) struct FoundFile {
    pub(crate) input: Input,
    pub(crate) partitions: Vec<(String, Option<String>)>,
}

/// The files that the given names stand for.
pub(crate) fn expand<P: AsRef<Path>>(paths: &[P]) -> Result<Vec<FoundFile>> {
    let paths: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    let found = |path: &&Path| match remote::is_address(path) {
        true => objects(path),
        false => files(path),
    };
    let found = match paths.len() > 1 && paths.iter().any(|path| remote::is_address(path)) {
        true => remote::each(&paths, found),
        false => paths.iter().map(found).collect(),
    };
    let found: Vec<_> = found.into_iter().collect::<Result<Vec<_>>>()?;
    let found: Vec<FoundFile> = found.into_iter().flatten().collect();
    if found.is_empty() { Err(DataError::NoFiles) } else { Ok(found) }
}

/// The values of the partitions of each file. Those of a name are integers if all of them are.
pub(crate) fn values(found: &[FoundFile]) -> Vec<Vec<(String, Value)>> {
    let mut kinds: HashMap<&str, ColumnKind> = HashMap::new();
    for (name, text) in found.iter().flat_map(|file| &file.partitions) {
        let kind = kinds.entry(name).or_insert(ColumnKind::Empty);
        match text.as_ref().map(|text| text.parse::<i64>().is_ok()) {
            Some(true) if *kind == ColumnKind::Empty => *kind = ColumnKind::Integer,
            Some(false) => *kind = ColumnKind::Text,
            _ => {}
        }
    }
    let value = |(name, text): &(String, Option<String>)| {
        let kind = kinds.get(name.as_str()).copied().unwrap_or(ColumnKind::Text);
        let integer = text.as_ref().and_then(|text| text.parse().ok());
        let value = match (text, integer) {
            (Some(_), Some(integer)) if kind == ColumnKind::Integer => Value::Integer(integer),
            (Some(text), _) => Value::Text(text.clone()),
            (None, _) => Value::Missing(kind),
        };
        (name.clone(), value)
    };
    found.iter().map(|file| file.partitions.iter().map(value).collect()).collect()
}

/// The files of a name on this machine.
fn files(path: &Path) -> Result<Vec<FoundFile>> {
    if path.is_dir() {
        return folder(path, path);
    }
    match path.to_str().filter(|text| is_pattern(text) && !path.exists()) {
        Some(pattern) => matching(path, pattern),
        None => Ok(vec![FoundFile { input: Input::new(path)?, partitions: Vec::new() }]),
    }
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

fn matching(path: &Path, pattern: &str) -> Result<Vec<FoundFile>> {
    let problem =
        |e: glob::PatternError| DataError::BadPattern { path: path.to_owned(), problem: e.msg };
    let fixed = |part: &Component<'_>| !part.as_os_str().to_str().is_some_and(is_pattern);
    let base: PathBuf = path.components().take_while(fixed).collect();
    let mut found = Vec::new();
    for entry in glob::glob_with(pattern, AS_SHELL).map_err(problem)? {
        let entry = entry.map_err(|e| DataError::read(path, e.into()))?;
        if entry.is_dir() {
            found.extend(folder(&entry, &base)?);
        } else if Format::of(&entry).is_some() {
            found.push(file(&entry, &base)?);
        }
    }
    some(found, DataError::NoMatch { path: path.to_owned() })
}

/// A file, with the partitions of its path below `base`.
fn file(path: &Path, base: &Path) -> Result<FoundFile> {
    let below = path.strip_prefix(base).unwrap_or(path).parent().unwrap_or(Path::new(""));
    let names = below.components().filter_map(|part| part.as_os_str().to_str());
    Ok(FoundFile { input: Input::new(path)?, partitions: partitions(names) })
}

fn folder(path: &Path, base: &Path) -> Result<Vec<FoundFile>> {
    let mut paths = Vec::new();
    walk(path, 0, &mut paths)?;
    paths.sort();
    let found = paths.iter().map(|path| file(path, base)).collect::<Result<Vec<_>>>()?;
    some(found, DataError::NoDataInFolder { path: path.to_owned() })
}

fn some(found: Vec<FoundFile>, none: DataError) -> Result<Vec<FoundFile>> {
    if found.is_empty() { Err(none) } else { Ok(found) }
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<()> {
    let fail = |e| DataError::read(folder, e);
    if depth > DEEPEST {
        return Err(fail(std::io::Error::other("too many folders within each other")));
    }
    for entry in fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if is_partition(name) && path.is_dir() {
            walk(&path, depth + 1, files)?;
        } else if is_data(&path) && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// Whether a file of a folder is taken for data.
fn is_data(path: &Path) -> bool {
    let hidden = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
    !hidden && Format::in_folder(path).is_some()
}

fn is_partition(name: &str) -> bool {
    name.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.starts_with('.'))
}

/// The partitions that names of folders stand for; the innermost of a name counts.
fn partitions<'a>(names: impl Iterator<Item = &'a str>) -> Vec<(String, Option<String>)> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let mut partitions: Vec<(String, Option<String>)> = Vec::new();
    for (name, value) in names.filter(|n| is_partition(n)).filter_map(|n| n.split_once('=')) {
        let (name, value) = (decoded(name), (value != MISSING).then(|| decoded(value)));
        partitions.retain(|(before, _)| *before != name);
        partitions.push((name, value));
    }
    partitions
}

/// The files of an address.
fn objects(path: &Path) -> Result<Vec<FoundFile>> {
    let address = Address::parse(path)?;
    let one = || Ok(vec![FoundFile { input: Input::new(path)?, partitions: Vec::new() }]);
    if address.scheme == Scheme::Web {
        return one();
    }
    if is_pattern(&address.key) {
        return matching_objects(path, &address);
    }
    let is_folder = address.key.is_empty() || address.key.ends_with('/');
    if !is_folder && Format::of(path).is_some() {
        match one() {
            // Spark writes folders that are called like files.
            Err(DataError::NotFound { .. }) => {}
            found => return found,
        }
    }
    let found = listed(&address, address.key.trim_end_matches('/'), &in_partitions)?;
    let none = match !is_folder && Format::of(path).is_some() {
        true => DataError::NotFound { path: path.to_owned() },
        false => DataError::NoDataInFolder { path: path.to_owned() },
    };
    some(found, none)
}

fn matching_objects(path: &Path, address: &Address) -> Result<Vec<FoundFile>> {
    let parts: Vec<&str> = address.key.split('/').collect();
    let typed = parts.iter().take_while(|part| !is_pattern(part)).count();
    let (base, rest) = (parts[..typed].join("/"), parts[typed..].join("/"));
    let problem =
        |e: glob::PatternError| DataError::BadPattern { path: path.to_owned(), problem: e.msg };
    let pattern = Pattern::new(rest.trim_end_matches('/')).map_err(problem)?;
    let is_wanted = |name: &str| {
        let whole = pattern.matches_with(name, AS_SHELL) && Format::of(Path::new(name)).is_some();
        let below = |at: usize| {
            pattern.matches_with(&name[..at], AS_SHELL) && in_partitions(&name[at + 1..])
        };
        let mut folders = name.match_indices('/').map(|(at, _)| at);
        whole || folders.any(below)
    };
    some(listed(address, &base, &is_wanted)?, DataError::NoMatch { path: path.to_owned() })
}

/// Whether a name is that of a data file in partition folders, or in none.
fn in_partitions(name: &str) -> bool {
    let (folders, file) = name.rsplit_once('/').unwrap_or(("", name));
    is_data(Path::new(file)) && (folders.is_empty() || folders.split('/').all(is_partition))
}

fn listed(
    address: &Address,
    folder: &str,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<FoundFile>> {
    let mut objects = remote::list(address, folder)?;
    objects.retain(|(name, _)| is_wanted(name));
    objects.sort_by(|(one, _), (other, _)| Path::new(one).cmp(Path::new(other)));
    let found = |(name, object): (String, _)| {
        let folders = name.rsplit_once('/').map_or("", |(folders, _)| folders);
        FoundFile { input: Input::listed(object), partitions: partitions(folders.split('/')) }
    };
    Ok(objects.into_iter().map(found).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folders() {
        let found = partitions(
            ["a=1", "x", "b%20c=d%2Fe", "a=2", "n=__HIVE_DEFAULT_PARTITION__", "=3"].into_iter(),
        );
        let text = |value: &str| Some(value.to_owned());
        let expected = [("b c", text("d/e")), ("a", text("2")), ("n", None)];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value)));
        assert!(in_partitions("a=1/b=/x.csv") && in_partitions("x.parquet"));
        assert!(
            !in_partitions("sub/x.csv") && !in_partitions("a=1/.x.csv") && !in_partitions("a=1/x")
        );
    }
}
