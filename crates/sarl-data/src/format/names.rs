//! The names of columns: without space around them, and no two alike.

use std::collections::{HashMap, HashSet};

use crate::column::Column;

/// Takes spaces off that nobody sees, also those that are not ASCII.
pub(crate) fn trimmed(name: &str) -> &str {
    name.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}'))
}

/// Gives a column whose name another one has the next free name `NAME.1`, `NAME.2`, … as
/// pandas does, and returns these names.
pub(super) fn tell_apart(columns: &mut [Column]) -> Vec<String> {
    for (i, column) in columns.iter_mut().enumerate() {
        let name = trimmed(&column.name);
        let name = if name.is_empty() { format!("Unnamed: {i}") } else { name.to_owned() };
        column.name = name;
    }
    let all: HashSet<String> = columns.iter().map(|c| c.name.clone()).collect();
    if all.len() == columns.len() {
        return Vec::new();
    }
    let mut taken = all;
    let mut times: HashMap<String, usize> = HashMap::new();
    let mut renamed = Vec::new();
    for column in columns {
        let time = times.entry(column.name.clone()).or_insert(0);
        if *time > 0 {
            let mut name = format!("{}.{time}", column.name);
            while !taken.insert(name.clone()) {
                *time += 1;
                name = format!("{}.{time}", column.name);
            }
            column.name.clone_from(&name);
            renamed.push(name);
        }
        *time += 1;
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::column::ColumnKind;

    #[test]
    fn no_two_alike() {
        let column = |name: &&str| Column {
            name: (*name).to_owned(),
            kind: ColumnKind::Text,
            type_name: String::new(),
            array: None,
        };
        let mut columns: Vec<Column> =
            ["a", "b\u{a0}", "a", "a.1", "a", " b", ""].iter().map(column).collect();
        let renamed = tell_apart(&mut columns);
        let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "a.2", "a.1", "a.3", "b.1", "Unnamed: 6"]);
        assert_eq!(renamed, ["a.2", "a.3", "b.1"]);
    }
}
