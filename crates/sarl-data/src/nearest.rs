//! The name that a person most likely meant.

/// The closest name, if it differs by no more than about a third of its letters.
pub(crate) fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    let wanted_lower = wanted.to_lowercase();
    names
        .map(|name| (distance(&wanted_lower, &name.to_lowercase()), name))
        .filter(|(d, name)| *d <= 1 + name.chars().count().max(wanted.chars().count()) / 3)
        .min_by_key(|(d, _)| *d)
        .map(|(_, name)| name.to_owned())
}

/// The Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let next = (corner + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            corner = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}
