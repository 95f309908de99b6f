//! `cargo xtask tidy`: the house rules that a program can check, so that nobody has to remember them.
//!
//! Reads every file that git would take into account, once, and hands the list to one small function per rule;
//! each returns what it found, with file and line. Everything found is printed before the command fails, so
//! that one run shows all there is to mend.
//!
//! A rule belongs here when it can be decided by looking at names and text. What the compiler or clippy can
//! check is left to them. Every rule has a test in which it fails.

use anyhow::{Result, bail};

use crate::workspace::Workspace;

mod arrows;
mod dependencies;
mod documented;
mod documents;
mod files;
mod generated;
mod layers;
mod manners;
mod modules;
mod secrets;
mod sections;
mod size;
mod story;

use files::{Part, SourceFile};

/// Something that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    /// Path relative to the root, with the line where there is one.
    place: String,
    message: String,
}

impl Finding {
    /// A fault in a line of a file, counted from 1.
    fn in_line(file: &SourceFile, line: usize, message: impl Into<String>) -> Self {
        Self { place: format!("{}:{line}", file.path), message: message.into() }
    }

    /// A fault of a file as a whole.
    fn in_file(path: &str, message: impl Into<String>) -> Self {
        Self { place: path.to_owned(), message: message.into() }
    }
}

/// A finding with this message for each line of this part that is broken.
fn in_lines<'f>(
    files: impl Iterator<Item = &'f SourceFile>,
    part: Part,
    message: &str,
    broken: impl Fn(&str) -> bool,
) -> Vec<Finding> {
    files
        .flat_map(|file| file.lines_of(part).map(move |(number, line)| (file, number, line)))
        .filter(|(_, _, line)| broken(line))
        .map(|(file, number, _)| Finding::in_line(file, number, message))
        .collect()
}

/// Where faults were found.
#[cfg(test)]
fn places(findings: Vec<Finding>) -> Vec<String> {
    findings.into_iter().map(|finding| finding.place).collect()
}

/// Checks the whole checkout.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let files = files::load(workspace.root())?;
    let crates = dependencies::crates(workspace);
    let findings: Vec<Finding> = [
        size::lengths(&files),
        size::names(&files),
        size::comments(&files),
        story::opens_modules(&files),
        documented::exports_explained(&files),
        documented::examples_run(&documented::without_examples(workspace), &files),
        documents::links_lead_somewhere(&files),
        documents::tables_are_whole(&files),
        manners::no_sleep_in_tests(&files),
        manners::no_unfinished_work(&files),
        manners::no_machine_paths(&files),
        secrets::none_in_sources(&files),
        sections::named_exist(&files),
        layers::crate_edges(&crates),
        layers::database_in_store_only(&files),
        layers::module_edges(&files),
        modules::one_style(&files),
        modules::closed_aggregates(&files),
        modules::no_circles(&files),
        dependencies::all_used(&crates, &files),
        dependencies::all_shared_versions_used(&files),
        generated::none_committed(workspace.root())?,
    ]
    .into_iter()
    .flatten()
    .collect();
    for finding in &findings {
        println!("fault: {}: {}", finding.place, finding.message);
    }
    let faults = findings.len();
    println!("{} files looked at, {faults} faults", files.len());
    if faults > 0 { bail!("the house rules are broken in {faults} places") } else { Ok(()) }
}
