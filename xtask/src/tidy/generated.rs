//! Nothing that a build writes is committed: what `.gitignore` names must not be in the index.

use std::path::Path;

use anyhow::Result;

use super::Finding;
use crate::process;

/// Asks git for files that are both ignored and committed. Outside a repository there is nothing to ask.
pub(super) fn none_committed(root: &Path) -> Result<Vec<Finding>> {
    if !root.join(".git").exists() {
        return Ok(Vec::new());
    }
    let mut git = std::process::Command::new("git");
    git.current_dir(root).args(["ls-files", "--cached", "--ignored", "--exclude-standard"]);
    let paths = process::read(&mut git)?;
    Ok(paths.lines().map(|path| Finding::in_file(path, "is generated, and committed all the same")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_committed_file_that_is_ignored_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| {
            process::read(std::process::Command::new("git").current_dir(folder.path()).args(arguments))
                .unwrap();
        };
        git(&["init", "--quiet"]);
        std::fs::write(folder.path().join(".gitignore"), "dist/\n").unwrap();
        std::fs::create_dir(folder.path().join("dist")).unwrap();
        std::fs::write(folder.path().join("dist/index.js"), "").unwrap();
        git(&["add", "--all"]);
        assert_eq!(none_committed(folder.path()).unwrap(), []);
        git(&["add", "--force", "dist/index.js"]);
        let found = none_committed(folder.path()).unwrap();
        assert_eq!(found.first().map(|finding| finding.place.as_str()), Some("dist/index.js"));
    }

    #[test]
    fn outside_a_repository_nothing_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(none_committed(folder.path()).unwrap(), []);
    }
}
