//! What the npm package's sources export is explained where it is declared: editors show it to whoever uses it.
//!
//! Constants that stand together, each on a line of its own, may share the comment of the first. Only the presence of
//! a comment can be checked here, as for the stories of modules. The comments of the generated types come from the
//! records.

use super::Finding;
use super::files::SourceFile;

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
        assert_eq!(
            found.iter().map(|finding| finding.place.as_str()).collect::<Vec<_>>(),
            ["pkg/src/a.ts:5"]
        );
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
}
