//! The memory of the machine, or of the part of it that this process may use.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Where nothing is known of the machine.
const USUAL: u64 = 8_000_000_000;

/// Four fifths of what there is: the rest is for others and for what is not counted.
pub(crate) fn share() -> u64 {
    let there = total().into_iter().chain(allowed(Path::new("/sys/fs/cgroup"))).min();
    there.unwrap_or(USUAL) / 5 * 4
}

fn total() -> Option<u64> {
    let text = read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()?.saturating_mul(1024))
}

/// The least limit of our control group and of those above it, of either version.
fn allowed(root: &Path) -> Option<u64> {
    let groups = read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mut least = None;
    for line in groups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (base, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            "memory" => (root.join("memory"), "memory.limit_in_bytes"),
            _ => continue,
        };
        for limit in limits(&base, path.trim_start_matches('/'), file) {
            least = Some(least.map_or(limit, |least: u64| least.min(limit)));
        }
    }
    least
}

fn limits(base: &Path, path: &str, file: &str) -> Vec<u64> {
    let own: PathBuf = base.join(path);
    let folders = own.ancestors().take_while(|folder| folder.starts_with(base));
    let number = |folder: &Path| read_to_string(folder.join(file)).ok()?.trim().parse().ok();
    // Version 1 says "no limit" by a number near the largest.
    folders.filter_map(number).filter(|limit: &u64| *limit > 0 && *limit < 1 << 60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_all_groups_above() {
        let root = std::env::temp_dir().join(format!("sarl-groups-{}", std::process::id()));
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("memory.max"), "max\n").unwrap();
        std::fs::write(root.join("a/memory.max"), "1000\n").unwrap();
        std::fs::write(root.join("a/b/memory.max"), "9223372036854771712\n").unwrap();
        assert_eq!(limits(&root, "a/b", "memory.max"), [1000]);
        std::fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn a_share_of_this_machine() {
        let share = share();
        assert!(share > 0 && total().is_none_or(|total| share < total));
    }
}
