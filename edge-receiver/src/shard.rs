//! Which inbox owns an event id.
//!
//! One Durable Object takes about a thousand requests a second, so the ids are spread over [`SHARDS`] of them.
//! Every delivery of an id must meet the same object: the map is a pure function of the id, and neither it nor
//! the number may change while claims are kept, or old events would be claimed again.

use sha2::{Digest as _, Sha256};

/// How many inboxes there are. A power of two, at most 256.
pub const SHARDS: u8 = 16;

/// The number of the inbox that owns `event_id`, below [`SHARDS`].
#[must_use]
pub fn of(event_id: &str) -> u8 {
    // A digest, because ids of one millisecond differ in their random part only and a sender may choose others.
    let [first, ..] = <[u8; 32]>::from(Sha256::digest(event_id.as_bytes()));
    first % SHARDS
}

/// The name of the Durable Object that owns `event_id`: `inbox-00` to `inbox-15`.
#[must_use]
pub fn name(event_id: &str) -> String {
    name_of(of(event_id))
}

/// The names of all of them, in order.
pub fn names() -> impl Iterator<Item = String> {
    (0..SHARDS).map(name_of)
}

/// The name of the inbox with this number.
pub(crate) fn name_of(shard: u8) -> String {
    format!("inbox-{shard:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change here would make every deployed receiver forget what it has claimed.
    #[test]
    fn the_map_is_frozen() {
        for (id, shard) in
            [("evt_1", "inbox-13"), ("evt_2", "inbox-07"), ("evt_01k3zqa7s5e8x9v2t4m6n8p0rw", "inbox-06")]
        {
            assert_eq!(name(id), shard, "{id}");
        }
    }

    #[test]
    fn every_inbox_has_its_name() {
        let names: Vec<_> = names().collect();
        assert_eq!(names.len(), 16);
        assert_eq!((names[0].as_str(), names[15].as_str()), ("inbox-00", "inbox-15"));
    }

    #[test]
    fn ids_spread_evenly() {
        let mut load = [0_u32; SHARDS as usize];
        for n in 0..16_000 {
            load[usize::from(of(&format!("evt_{n}")))] += 1;
        }
        assert!(load.iter().all(|&ids| (850..1150).contains(&ids)), "{load:?}");
    }
}
