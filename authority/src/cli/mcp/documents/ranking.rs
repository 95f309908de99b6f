//! Full text over the sections of the documents, ranked by BM25: a section is better the more of the query's words it
//! has, the rarer they are, and the shorter it is. Words of its headings count more.
//!
//! A word is a run of letters, digits, `_`, `-` and `.`, so that codes, members, headers and event types are words;
//! their parts are found too. There are some hundred sections: every search looks at all of them.

use std::collections::BTreeMap;

use crate::documentation::{Document, Section};

/// How quickly more of the same word counts less, and how much length counts; the usual values.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// How often a word of a heading counts.
const HEADING_WEIGHT: f64 = 4.0;

/// The characters of an excerpt, about.
const EXCERPT_CHARS: usize = 400;

/// The sections of documents, ready to be searched.
pub(super) struct Index {
    entries: Vec<Entry>,
    /// In how many sections a word occurs.
    spread: BTreeMap<String, f64>,
    mean_length: f64,
}

struct Entry {
    document: &'static Document,
    section: &'static Section,
    counts: BTreeMap<String, f64>,
    length: f64,
}

/// A section that fits.
pub(super) struct Hit {
    pub(super) document: &'static Document,
    pub(super) section: &'static Section,
    /// The lines around the first words that were looked for.
    pub(super) excerpt: String,
}

impl Index {
    /// The index of all sections of these documents.
    pub(super) fn of(documents: impl Iterator<Item = &'static Document>) -> Self {
        let entries: Vec<Entry> = documents
            .flat_map(|document| document.sections.iter().map(move |section| Entry::of(document, section)))
            .collect();
        let mut spread = BTreeMap::new();
        for word in entries.iter().flat_map(|entry| entry.counts.keys()) {
            *spread.entry(word.clone()).or_insert(0.0) += 1.0;
        }
        let mean_length =
            entries.iter().map(|entry| entry.length).sum::<f64>() / count(entries.len()).max(1.0);
        Self { entries, spread, mean_length }
    }

    /// The best sections, at most `limit`.
    pub(super) fn search(&self, query: &str, limit: usize) -> Vec<Hit> {
        let mut wanted: Vec<String> = words(query).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut found: Vec<(f64, &Entry)> = self
            .entries
            .iter()
            .map(|entry| (wanted.iter().map(|word| self.weight(word, entry)).sum::<f64>(), entry))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        // Of equals the one that stands first: the sort is stable.
        found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        found.into_iter().take(limit).map(|(_, entry)| entry.hit(&wanted)).collect()
    }

    fn weight(&self, word: &str, entry: &Entry) -> f64 {
        let Some(times) = entry.counts.get(word) else { return 0.0 };
        let (all, having) = (count(self.entries.len()), self.spread.get(word).copied().unwrap_or(0.0));
        let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
        let length = 1.0 - B + B * entry.length / self.mean_length;
        rarity * times * (K1 + 1.0) / (times + K1 * length)
    }
}

impl Entry {
    fn of(document: &'static Document, section: &'static Section) -> Self {
        let mut counts = BTreeMap::new();
        let mut length = 0.0;
        for word in words(document.text_of(section)) {
            *counts.entry(word).or_insert(0.0) += 1.0;
            length += 1.0;
        }
        for word in words(section.title) {
            *counts.entry(word).or_insert(0.0) += HEADING_WEIGHT;
        }
        Self { document, section, counts, length }
    }

    fn hit(&self, wanted: &[String]) -> Hit {
        let Self { document, section, .. } = *self;
        Hit { document, section, excerpt: excerpt(document.text_of(section), wanted) }
    }
}

/// The words of a text in lower case, and the parts of those that are put together.
fn words(text: &str) -> impl Iterator<Item = String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    text.split(move |c: char| !is_part(c)).flat_map(|word| {
        let word = word.trim_matches(['.', '-', '_']).to_lowercase();
        let parts: Vec<String> = word.split(['.', '-', '_']).map(str::to_owned).collect();
        let parts = if parts.len() > 1 { parts } else { Vec::new() };
        [word].into_iter().chain(parts).map(singular).filter(|word| word.len() > 1)
    })
}

/// Orders and order are the same word.
fn singular(word: String) -> String {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem.to_owned(),
        _ => word,
    }
}

/// The lines from the one that has the most of the wanted words on.
fn excerpt(text: &str, wanted: &[String]) -> String {
    let lines: Vec<&str> = text.lines().skip(1).filter(|line| !line.trim().is_empty()).collect();
    let has = |line: &&str| words(line).filter(|word| wanted.contains(word)).count();
    let best = lines.iter().map(has).max().unwrap_or_default();
    let from = lines.iter().position(|line| has(line) == best).unwrap_or_default();
    let shown = lines.get(from..).unwrap_or_default().join("\n");
    let cut: String = shown.chars().take(EXCERPT_CHARS).collect();
    if cut.len() < shown.len() { format!("{cut} …") } else { cut }
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documentation::of_merchants;

    #[test]
    fn a_question_finds_the_section_that_answers_it() {
        let index = Index::of(of_merchants());
        let first = |query: &str| {
            let hit = index.search(query, 1).pop().unwrap();
            format!("{}#{}", hit.document.name, hit.section.anchor)
        };
        assert_eq!(first("why does my signature not match"), "package#why-does-my-signature-not-match");
        assert_eq!(first("Idempotency-Key"), "contract#43-idempotency-key");
        assert_eq!(first("refund_amount_exceeded refundsRequest"), "api#post-v1merchantordersorderrefunds");
        assert_eq!(first("backup restore"), "operations#backup-and-restore");
        assert!(index.search("xyzzy", 5).is_empty());
    }

    #[test]
    fn an_excerpt_shows_what_was_looked_for_and_is_short() {
        let wanted: Vec<String> = words("cursor_expired").collect();
        let long = format!("# Head\n\nOne.\n\nTwo cursor_expired. {}", "x".repeat(600));
        let excerpt = excerpt(&long, &wanted);
        assert!(excerpt.starts_with("Two cursor_expired. ") && excerpt.ends_with("x …"), "{excerpt}");
    }
}
