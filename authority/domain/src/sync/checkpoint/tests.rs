//! Moves of a checkpoint, what it shows, and names.

use proptest::prelude::*;

use super::*;

fn said(position: i64, force: bool) -> Acknowledged {
    let (name, stream) = ("orders-projection".to_owned(), CheckpointStream::Orders);
    Acknowledged { name, stream, cursor: format!("at {position}"), position, force }
}

fn at(position: i64) -> Checkpoint {
    let id = CheckpointId::from_store("ckp_1".to_owned());
    Checkpoint::begin(id, said(position, false), true, Timestamp::from_ms(5))
}

#[test]
fn a_checkpoint_moves_forward_stays_and_goes_back_only_by_force() {
    let now = Timestamp::from_ms(9);
    for (from, to, force) in [(3, 4, false), (3, 4, true), (3, 2, true), (3, 0, true)] {
        let moved = at(from).moved(said(to, force), now).unwrap().unwrap();
        let expected = Checkpoint {
            cursor: format!("at {to}"),
            position: to,
            resource_version: 2,
            updated_at: now,
            ..at(from)
        };
        assert_eq!(moved, expected, "{from} to {to}");
    }
    for force in [false, true] {
        assert_eq!(at(3).moved(said(3, force), now), Ok(None));
    }
    let refusal = at(3).moved(said(2, false), now).unwrap_err();
    assert_eq!(refusal.code, ErrorCode::CheckpointRegression);
    assert_eq!(refusal.extra, [("current_position", 3.into())]);
}

#[test]
fn a_checkpoint_is_shown_as_the_contract_writes_it() {
    let shown = serde_json::to_value(at(3).seen_at(10)).unwrap();
    let expected = serde_json::json!({
        "object": "checkpoint", "id": "ckp_1", "name": "orders-projection", "stream": "orders", "cursor": "at 3",
        "position": 3, "lag_events": 7, "acknowledged_at": "1970-01-01T00:00:00.005Z", "resource_version": 1,
        "livemode": true, "created_at": "1970-01-01T00:00:00.005Z", "updated_at": "1970-01-01T00:00:00.005Z",
    });
    assert_eq!(shown, expected);
}

#[test]
fn a_stream_that_ends_before_its_checkpoint_leaves_no_lag() {
    assert_eq!([at(3).lag(3), at(3).lag(2), at(0).lag(0), at(0).lag(7)], [0, 0, 0, 7]);
}

#[test]
fn names_are_what_the_contract_allows() {
    let long = "a".repeat(64);
    for name in ["a", "0", "orders-projection", "a.b_c-9", &long] {
        assert!(is_checkpoint_name(name), "{name:?}");
    }
    let longer = "a".repeat(65);
    for name in ["", "-a", ".a", "_a", "A", "aB", "a b", "a\n", "é", "a/b", &longer] {
        assert!(!is_checkpoint_name(name), "{name:?}");
    }
}

proptest! {
    /// Without force the position never decreases, and every accepted move is one version.
    #[test]
    fn acknowledgements_in_any_order_end_at_the_highest(positions in prop::collection::vec(0_i64..50, 1..40)) {
        let mut checkpoint = at(positions[0]);
        for position in &positions[1..] {
            let before = checkpoint.clone();
            match checkpoint.clone().moved(said(*position, false), Timestamp::from_ms(9)) {
                Ok(Some(next)) => {
                    prop_assert!(next.position > before.position);
                    prop_assert_eq!(next.resource_version, before.resource_version + 1);
                    checkpoint = next;
                }
                Ok(None) => prop_assert_eq!(*position, before.position),
                Err(refusal) => {
                    prop_assert!(*position < before.position);
                    prop_assert_eq!(refusal.code, ErrorCode::CheckpointRegression);
                }
            }
        }
        prop_assert_eq!(Some(checkpoint.position), positions.iter().copied().max());
    }
}
