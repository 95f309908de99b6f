//! What a run tells of itself: numbers and closed codes, kept for `GET /health` and written to the log.

use super::trouble::Trouble;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The end of the event list was reached.
    Complete,
    /// What one run may do was done; the next goes on from there.
    Paused,
    /// The run ended early, and with which status of the API, if that is the reason.
    Failed(Trouble, Option<u16>),
}

/// One run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// When it began, Unix milliseconds.
    pub started_at_ms: i64,
    /// When it ended, Unix milliseconds.
    pub ended_at_ms: i64,
    /// How it ended.
    pub outcome: Outcome,
    /// What it did until then.
    pub counts: Counts,
}

/// What a run did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Pages whose events are durable.
    pub pages: u32,
    /// Events of these pages that the inbox did not have.
    pub first: u32,
    /// Events of these pages that it had.
    pub duplicates: u32,
    /// Events of these pages that were created before what the inbox remembers, and were not taken in.
    pub too_old: u32,
    /// Entries of these pages that are no events by contract 10.3 and 10.4; a delivery of them would have been refused
    /// as well.
    pub refused: u32,
}

impl Counts {
    /// Adds what a page came to.
    pub fn add(&mut self, page: Self) {
        self.pages += page.pages;
        self.first += page.first;
        self.duplicates += page.duplicates;
        self.too_old += page.too_old;
        self.refused += page.refused;
    }
}

impl Report {
    /// The report as one JSON object.
    #[must_use]
    pub fn json(&self) -> String {
        let (outcome, trouble, status) = match self.outcome {
            Outcome::Complete => ("complete", None, None),
            Outcome::Paused => ("paused", None, None),
            Outcome::Failed(trouble, status) => ("failed", Some(trouble.code()), status),
        };
        let trouble = trouble.map_or_else(|| "null".to_owned(), |code| format!("\"{code}\""));
        let status = status.map_or_else(|| "null".to_owned(), |status| status.to_string());
        let Counts { pages, first, duplicates, too_old, refused } = self.counts;
        let (started, ended) = (self.started_at_ms, self.ended_at_ms);
        format!(
            r#"{{"outcome":"{outcome}","trouble":{trouble},"api_status":{status},"started_at_ms":{started},"ended_at_ms":{ended},"pages":{pages},"first":{first},"duplicates":{duplicates},"too_old":{too_old},"refused":{refused}}}"#
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports() {
        let counts = Counts { pages: 3, first: 250, duplicates: 1, too_old: 7, refused: 2 };
        let report = |outcome| Report { started_at_ms: 5, ended_at_ms: 7, outcome, counts }.json();
        let rest = r#""started_at_ms":5,"ended_at_ms":7,"pages":3,"first":250,"duplicates":1,"too_old":7,"refused":2}"#;
        for (outcome, beginning) in [
            (Outcome::Complete, r#"{"outcome":"complete","trouble":null,"api_status":null,"#),
            (Outcome::Paused, r#"{"outcome":"paused","trouble":null,"api_status":null,"#),
            (
                Outcome::Failed(Trouble::CursorExpired, Some(410)),
                r#"{"outcome":"failed","trouble":"cursor_expired","api_status":410,"#,
            ),
            (
                Outcome::Failed(Trouble::StorageUnavailable, None),
                r#"{"outcome":"failed","trouble":"storage_unavailable","api_status":null,"#,
            ),
        ] {
            assert_eq!(report(outcome), format!("{beginning}{rest}"));
        }
    }
}
