//! What a statement does, as far as its text shows: which tables it names after which word.

use std::collections::BTreeSet;

/// A statement, in short.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Statement {
    /// The tables it may write.
    pub(super) writes: BTreeSet<String>,
    /// What it does, in a few words.
    pub(super) brief: String,
}

/// Words that begin a statement of which the text itself says enough.
const CONTROL: [&str; 6] = ["BEGIN", "START", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE"];
/// What may stand where a table is named.
const NO_NAMES: [&str; 5] = ["select", "values", "lateral", "unnest", "with"];
/// So much of such a text is shown.
const SHOWN: usize = 60;

impl Statement {
    pub(super) fn read(sql: &str) -> Self {
        let words: Vec<&str> = sql
            .split(|c: char| c.is_whitespace() || "(),;".contains(c))
            .filter(|word| !word.is_empty())
            .collect();
        let is = |at: usize, word: &str| words.get(at).is_some_and(|found| found.eq_ignore_ascii_case(word));
        if CONTROL.iter().any(|word| is(0, word)) {
            return Self { writes: BTreeSet::new(), brief: sql.chars().take(SHOWN).collect() };
        }
        let mut parts: Vec<String> = Vec::new();
        let mut writes = BTreeSet::new();
        for at in 0..words.len() {
            let after = |more: usize| words.get(at + more).map(|word| word.to_lowercase());
            let before = |word| at > 0 && is(at - 1, word);
            let (verb, table) = if is(at, "INSERT") && is(at + 1, "INTO") {
                ("insert", after(2))
            } else if is(at, "DELETE") && is(at + 1, "FROM") {
                ("delete", after(2))
            } else if is(at, "UPDATE") && !["FOR", "KEY", "DO"].into_iter().any(before) {
                ("update", after(1))
            } else if (is(at, "FROM") && !before("DELETE") && !before("DISTINCT")) || is(at, "JOIN") {
                ("read", after(1))
            } else {
                continue;
            };
            let is_name = |table: &String| {
                table.starts_with(|c: char| c.is_alphabetic()) && !NO_NAMES.contains(&table.as_str())
            };
            let Some(table) = table.filter(is_name) else { continue };
            let part = format!("{verb} {table}");
            if verb != "read" {
                writes.insert(table);
            }
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        let brief = if parts.is_empty() { sql.chars().take(SHOWN).collect() } else { parts.join(", ") };
        Self { writes, brief }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_shows_what_it_writes() {
        for (sql, brief, writes) in [
            ("SELECT a FROM orders WHERE b FOR UPDATE", "read orders", &[][..]),
            ("SELECT 1 FROM a JOIN b ON TRUE FOR NO KEY UPDATE SKIP LOCKED", "read a, read b", &[]),
            (
                "WITH w0 AS (INSERT INTO events SELECT * FROM UNNEST($1) ON CONFLICT (id) DO UPDATE SET a = 1)",
                "insert events",
                &["events"],
            ),
            ("delete from x where y in (select z from v)", "delete x, read v", &["x"]),
            (
                "WITH v AS (SELECT 1) UPDATE deliveries SET a = 1 FROM v",
                "update deliveries, read v",
                &["deliveries"],
            ),
            ("BEGIN; SELECT 1 FROM turns FOR UPDATE", "BEGIN; SELECT 1 FROM turns FOR UPDATE", &[]),
            ("SELECT $1::TEXT", "SELECT $1::TEXT", &[]),
        ] {
            let statement = Statement::read(sql);
            assert_eq!(statement.brief, brief, "{sql}");
            assert_eq!(statement.writes, writes.iter().map(|table| (*table).to_owned()).collect(), "{sql}");
        }
    }
}
