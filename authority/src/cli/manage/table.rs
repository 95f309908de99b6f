//! A list for people: a row of headings, and below it a row for each record, in columns of equal width.
//!
//! With `--json` a list is one JSON line per record, without headings.

use super::{print_record, read, shown};
use crate::cli::style::{Tone, cell};
use crate::cli::{Failure, Process};

/// Prints records: all of each as JSON, or only the named members as a table.
pub(super) fn print_list(
    records: &[String],
    members: &[&str],
    json: bool,
    process: &mut Process<'_>,
) -> Result<(), Failure> {
    if json {
        return records.iter().try_for_each(|record| print_record(record, members, true, process));
    }
    let mut rows = vec![members.iter().map(|member| heading(member)).collect()];
    for record in records {
        let record = read(record)?;
        rows.push(members.iter().map(|member| shown(record.get(*member))).collect());
    }
    process.stdout.write_all(aligned(&rows, process.colour).as_bytes())?;
    process.stdout.flush()?;
    Ok(())
}

/// A member's name for people.
pub(in crate::cli) fn heading(member: &str) -> String {
    match member {
        // The beginning of a key, which is all that is ever shown of it.
        "display" => "KEY".to_owned(),
        other => other.replace('_', " ").to_uppercase(),
    }
}

/// Pads every cell but the last of a row to the width of its column. The first row has the headings.
pub(in crate::cli) fn aligned(rows: &[Vec<String>], colour: bool) -> String {
    let width_of = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns).map(width_of).collect();
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let tone = |text: &str| if index == 0 { Some(Tone::Heading) } else { Tone::of(text) };
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(text, width)| cell(text, *width, tone(text), colour)).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// The headings of a list that goes on, whose widths are fixed because the next record is not known yet.
pub(super) fn headings<const N: usize>(columns: &[(&str, usize); N], colour: bool) -> String {
    let cells = columns.map(|(member, _)| (heading(member), Some(Tone::Heading)));
    row(columns, &cells, colour)
}

/// A row of such a list.
pub(super) fn row<const N: usize>(
    columns: &[(&str, usize); N],
    cells: &[(String, Option<Tone>); N],
    colour: bool,
) -> String {
    let cells: Vec<String> = columns
        .iter()
        .zip(cells)
        .map(|((_, width), (text, tone))| cell(text, *width, *tone, colour))
        .collect();
    cells.join("  ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_headings_and_equal_widths() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let headings = ["id", "disabled_reason", "display"].map(heading).to_vec();
        let rows = [headings, row(&["we_1", "-", "ä"]), row(&["we_123456", "gone", ""])];
        assert_eq!(
            aligned(&rows, false),
            "ID         DISABLED REASON  KEY\nwe_1       -                ä\nwe_123456  gone\n"
        );
    }
}
