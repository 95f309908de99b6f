//! A page's events, sorted by the inbox that owns them.
//!
//! The list is not signed: its events are genuine because the key opened the connection to the API. So what a delivery
//! is asked of its headers (contract 10.2, 1 to 6 and 15) does not apply, and every rule of the event itself (7 to 14)
//! does. An entry that breaks one is what a delivery with it would have been: refused, noted, and no reason to stop.

use verify_core::VerificationCode;
use verify_core::event;

use crate::shard::{self, SHARDS};

/// The entries of one page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sorted<'p> {
    /// For each inbox that is concerned, its number and its events in the order of the list, as they are written:
    /// what a delivery of them carries.
    pub by_shard: Vec<(u8, Vec<&'p str>)>,
    /// Entries that are no events: their place in the page, from 0, and the rule that they break.
    pub refused: Vec<(usize, VerificationCode)>,
}

/// Sorts the entries of a page.
#[must_use]
pub fn sort<'p>(entries: &[&'p str]) -> Sorted<'p> {
    let mut by_shard: Vec<(u8, Vec<&'p str>)> = (0..SHARDS).map(|shard| (shard, Vec::new())).collect();
    let mut refused = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        match event::read(entry.as_bytes()) {
            Ok(envelope) => {
                if let Some((_, own)) = by_shard.get_mut(usize::from(shard::of(&envelope.id))) {
                    own.push(entry);
                }
            }
            Err(code) => refused.push((place, code)),
        }
    }
    by_shard.retain(|(_, own)| !own.is_empty());
    Sorted { by_shard, refused }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: &str) -> String {
        format!(
            r#"{{"id":"{id}","type":"order.created","api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z","merchant":{{"id":"mer_1","slug":"a"}},"data":{{"object":{{}}}}}}"#
        )
    }

    #[test]
    fn every_entry_goes_to_its_inbox_or_is_refused() {
        // By the map that is frozen: inboxes 13, 7 and 13 again.
        let (one, two, again) = (event("evt_1"), event("evt_2"), event("evt_1"));
        let wrong_type = event("evt_3").replace("order.created", "Order");
        let sorted = sort(&[&one, "7", &two, &wrong_type, &again]);
        assert_eq!(sorted.by_shard, [(7, vec![two.as_str()]), (13, vec![one.as_str(), again.as_str()])]);
        assert_eq!(
            sorted.refused,
            [(1, VerificationCode::InvalidPayload), (3, VerificationCode::InvalidEventType)]
        );
        assert_eq!(sort(&[]), Sorted { by_shard: Vec::new(), refused: Vec::new() });
    }
}
