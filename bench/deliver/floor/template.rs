//! Real bodies with the places of their ids known: what the floor writes again and again.

use authority_domain::{CheckoutId, EventId};

/// A text with gaps.
#[derive(Debug)]
pub(super) struct Template {
    /// What stands before each gap.
    pieces: Vec<(String, Gap)>,
    rest: String,
}

/// What goes into a gap.
#[derive(Clone, Copy, Debug)]
enum Gap {
    Checkout,
    Event,
    Sequence,
}

impl Template {
    /// Takes `body` apart at its checkout's id, its event's id and its sequence.
    pub(super) fn new(body: &str) -> Self {
        let sequence = "\"sequence\":";
        let mut pieces = Vec::new();
        let mut rest = body;
        let find = |rest: &str| {
            let id = |prefix: &str, gap| {
                let mark = format!("\"{prefix}_");
                rest.find(&mark).map(|at| (at + 1, prefix.len() + 1 + 26, gap))
            };
            let number = rest.find(sequence).map(|at| {
                let at = at + sequence.len();
                let digits = rest[at..].bytes().take_while(u8::is_ascii_digit).count();
                (at, digits, Gap::Sequence)
            });
            [id(CheckoutId::PREFIX, Gap::Checkout), id(EventId::PREFIX, Gap::Event), number]
                .into_iter()
                .flatten()
                .min_by_key(|(at, ..)| *at)
        };
        while let Some((at, length, gap)) = find(rest) {
            pieces.push((rest[..at].to_owned(), gap));
            rest = &rest[at + length..];
        }
        Self { pieces, rest: rest.to_owned() }
    }

    pub(super) fn render(&self, checkout: &str, event: &str, sequence: i64) -> String {
        let mut text = String::with_capacity(2048);
        for (before, gap) in &self.pieces {
            text.push_str(before);
            match gap {
                Gap::Checkout => text.push_str(checkout),
                Gap::Event => text.push_str(event),
                Gap::Sequence => {
                    use std::fmt::Write as _;
                    write!(text, "{sequence}").unwrap();
                }
            }
        }
        text.push_str(&self.rest);
        text
    }
}
