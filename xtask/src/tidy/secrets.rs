//! No signing secret, API key or private key in what is shipped. Tests and documents may show made-up ones.

use super::files::{Part, SourceFile};
use super::{Finding, in_lines};

/// What issued keys and secrets begin with (contract 1.2), and how many characters make a real one.
const PREFIXES: [&str; 4] = ["whsec_", "svc_live_", "svc_test_", "svc_op_"];
const RANDOM_CHARS_MIN: usize = 16;

const PRIVATE_KEY: &str = concat!("PRIVATE ", "KEY-----");

/// Looks for issued secrets outside tests and documents.
pub(super) fn none_in_sources(files: &[SourceFile]) -> Vec<Finding> {
    let sources = files.iter().filter(|file| file.extension() != "md" && !file.path.starts_with("docs/"));
    in_lines(sources, Part::Shipped, "looks like a secret", holds_secret)
}

fn holds_secret(line: &str) -> bool {
    let issued = PREFIXES.iter().any(|prefix| {
        line.match_indices(prefix).any(|(at, prefix)| {
            let random = line[at + prefix.len()..].chars().take_while(char::is_ascii_alphanumeric);
            random.count() >= RANDOM_CHARS_MIN
        })
    });
    issued || line.contains(PRIVATE_KEY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_in_sources_only() {
        for prefix in PREFIXES {
            let line = format!("let key = \"{prefix}{}\";", "aB3".repeat(14));
            assert_eq!(none_in_sources(&[SourceFile::new("a/src/b.rs", &line)]).len(), 1, "{line}");
            assert_eq!(none_in_sources(&[SourceFile::new(".env", &line)]).len(), 1, "{line}");
            assert_eq!(none_in_sources(&[SourceFile::new("tests/src/b.rs", &line)]), [], "{line}");
            assert_eq!(none_in_sources(&[SourceFile::new("docs/b.md", &line)]), [], "{line}");
        }
        let key = format!("-----BEGIN {PRIVATE_KEY}");
        assert_eq!(none_in_sources(&[SourceFile::new("a/key.pem", &key)]).len(), 1);
    }

    #[test]
    fn a_prefix_alone_is_no_secret() {
        for line in ["const PREFIX: &str = \"whsec_\";", "whsec_…q3M", "svc_live_<KEY>"] {
            assert_eq!(none_in_sources(&[SourceFile::new("a/src/b.rs", line)]), [], "{line}");
        }
    }
}
