//! What the npm package's sources export is explained where it is declared: editors show it to whoever uses it. And an
//! example in the documentation of a crate is run.
//!
//! Constants that stand together, each on a line of its own, may share the comment of the first. Only the presence of
//! a comment can be checked here, as for the stories of modules. The comments of the generated types come from the
//! records.

use super::Finding;
use super::files::SourceFile;
use crate::workspace::Workspace;

/// What an exported declaration begins with.
const DECLARATIONS: [&str; 8] = ["const", "let", "function", "async", "class", "interface", "type", "enum"];

/// Every declaration that a file below `pkg/src` exports has a comment that editors show.
pub(super) fn exports_explained(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.path.starts_with("pkg/src/") && file.extension() == "ts") {
        let mut explained = false;
        for (number, line) in file.lines() {
            let declares = is_declaration(line);
            if declares && !explained {
                let message = "an export of the package needs a comment that editors show (/** … */)";
                findings.push(Finding::in_line(file, number, message));
            }
            explained = line.trim_end().ends_with("*/") || explained && declares && line.ends_with(';');
        }
    }
    findings
}

/// The folders of the libraries whose manifest says `doctest = false`, so that looking for examples costs nothing.
pub(super) fn without_examples(workspace: &Workspace) -> Vec<String> {
    let packages = workspace.packages().iter();
    let libraries = packages.flat_map(|package| package.targets.iter().filter(|target| target.is_lib()));
    let folders =
        libraries.filter(|library| !library.doctest).filter_map(|library| library.src_path.parent());
    let relative = folders.filter_map(|folder| folder.strip_prefix(workspace.root()).ok());
    relative.map(|folder| format!("{folder}/")).collect()
}

/// No library that is said to have no examples has one.
pub(super) fn examples_run(without: &[String], files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| without.iter().any(|folder| file.path.starts_with(folder))) {
        let mut inside = false;
        for (number, line) in file.lines() {
            let line = line.trim_start();
            let Some(fence) = ["/// ```", "//! ```"].iter().find_map(|fence| line.strip_prefix(fence)) else {
                continue;
            };
            inside = !inside;
            if inside && matches!(fence, "" | "rust" | "should_panic" | "no_run") {
                let message = "this example is never run: its crate's manifest says `doctest = false`";
                findings.push(Finding::in_line(file, number, message));
            }
        }
    }
    findings
}

/// `export type { … }` and `export * from` pass on what is explained elsewhere.
fn is_declaration(line: &str) -> bool {
    let Some(exported) = line.strip_prefix("export ") else { return false };
    let exported = ["declare ", "abstract ", "default "]
        .iter()
        .fold(exported, |rest, word| rest.strip_prefix(word).unwrap_or(rest));
    let Some((word, rest)) = exported.split_once(' ') else { return false };
    DECLARATIONS.contains(&word) && !rest.starts_with(['{', '*'])
}

#[cfg(test)]
mod tests {
    use super::super::places;
    use super::*;

    #[test]
    fn an_export_without_a_comment_is_found() {
        for line in [
            "export const a = 1;",
            "export async function b() {}",
            "export declare class C {}",
            "export interface D {",
            "export type E = string;",
        ] {
            let bare = SourceFile::new("pkg/src/stores/a.ts", &format!("// Story.\n\n{line}\n"));
            assert_eq!(exports_explained(&[bare]).len(), 1, "{line}");
            let explained = SourceFile::new("pkg/src/a.ts", &format!("// Story.\n\n/** Why. */\n{line}\n"));
            assert_eq!(exports_explained(&[explained]), [], "{line}");
        }
        let group = "/** Both. */\nexport const A = 1;\nexport const B = 2;\n\nexport const C = 3;\n";
        let found = exports_explained(&[SourceFile::new("pkg/src/a.ts", group)]);
        assert_eq!(places(found), ["pkg/src/a.ts:5"]);
        for (path, line) in [
            ("pkg/src/a.ts", "export type { A } from \"./b.js\";"),
            ("pkg/src/a.ts", "export type * from \"./b.js\";"),
            ("pkg/src/a.ts", "export { a };"),
            ("pkg/src/a.ts", "const a = 1;"),
            ("pkg/test/a.ts", "export const a = 1;"),
        ] {
            assert_eq!(exports_explained(&[SourceFile::new(path, line)]), [], "{path}: {line}");
        }
    }

    #[test]
    fn an_example_that_is_never_run_is_found() {
        let source =
            "//! Story.\n//!\n//! ```text\n//! a\n//! ```\n\n/// ```\n/// b();\n/// ```\nfn b() {}\n";
        let file = || SourceFile::new("core/src/a.rs", source);
        let found = examples_run(&["core/src/".to_owned()], &[file()]);
        assert_eq!(places(found), ["core/src/a.rs:7"]);
        assert_eq!(examples_run(&["other/src/".to_owned()], &[file()]), []);
    }
}
