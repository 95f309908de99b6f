//! The connection's state machine against its table, and shares (contract 2.14, 4.14).

use authority_domain::partner::connection::{
    ConnectionDirection, ConnectionSide, ConnectionStatus, INVITE_MS, PartnerConnection,
};
use authority_domain::partner::share::{OrderShare, SharePermission, ShareStatus, ShareTerms};
use authority_domain::{ConnectionId, ShareId, Timestamp};
use proptest::prelude::*;

use super::fixtures::{dice, merchant, noon, order_number};

fn side(slug: &str) -> ConnectionSide {
    ConnectionSide { merchant: merchant(slug), label: Some(format!("of {slug}")) }
}

fn invited() -> PartnerConnection {
    PartnerConnection::invite(ConnectionId::generate(noon(), &mut dice()), false, side("inviter"), noon())
}

fn accepted() -> PartnerConnection {
    invited().accept(side("partner"), noon()).unwrap()
}

fn revoked(connection: PartnerConnection) -> PartnerConnection {
    connection.revoke(noon()).unwrap().unwrap()
}

#[test]
fn every_state_answers_every_action_as_the_table_says() {
    use ConnectionStatus::{Active, Expired, Pending, Revoked};
    let (soon, late) = (noon().plus_ms(INVITE_MS - 1), noon().plus_ms(INVITE_MS));
    // The state, when, what it is then, whether another and whether the inviter can accept; what revoking makes of it:
    // `None` changes nothing, an error is refused.
    let table = [
        (invited(), soon, Pending, true, Ok(Some(Revoked))),
        (invited(), late, Expired, false, Err("expired")),
        (accepted(), soon, Active, false, Ok(Some(Revoked))),
        (accepted(), late, Active, false, Ok(Some(Revoked))),
        (revoked(invited()), soon, Revoked, false, Ok(None)),
        (revoked(accepted()), late, Revoked, false, Ok(None)),
    ];
    for (connection, now, status, can_accept, revoking) in table {
        assert_eq!(connection.status(now), status);
        let made = connection.clone().accept(side("other"), now);
        assert_eq!(made.is_some(), can_accept, "{status} accepted");
        assert!(connection.clone().accept(side("inviter"), now).is_none(), "nobody connects with itself");
        if let Some(made) = made {
            assert_eq!((made.status(now), made.resource_version), (Active, connection.resource_version + 1));
        }
        match (connection.clone().revoke(now), revoking) {
            (Ok(Some(ended)), Ok(Some(expected))) => {
                assert_eq!(
                    (ended.status(now), ended.resource_version),
                    (expected, connection.resource_version + 1)
                );
                assert_eq!(ended.partner(), connection.partner());
            }
            (Ok(None), Ok(None)) => {}
            (Err(refusal), Err(current)) => {
                assert_eq!(refusal.code.as_str(), "invalid_state_transition");
                assert_eq!(refusal.extra[0], ("current_status", current.into()));
            }
            (done, expected) => panic!("{status}: {done:?} instead of {expected:?}"),
        }
    }
}

#[test]
fn each_side_sees_its_own() {
    let connection = accepted();
    let (inviter, partner) = (merchant("inviter"), merchant("partner"));
    let (one, other) = (connection.seen_by(&inviter.id, noon()), connection.seen_by(&partner.id, noon()));
    assert_eq!((one.direction, one.label.as_deref()), (ConnectionDirection::Outgoing, Some("of inviter")));
    assert_eq!(
        (other.direction, other.label.as_deref()),
        (ConnectionDirection::Incoming, Some("of partner"))
    );
    for seen in [&one, &other] {
        assert_eq!((&seen.inviter, &seen.partner), (&inviter, &Some(partner.clone())));
        assert_eq!(seen.accepted_at, Some(noon()));
    }
    assert_eq!(connection.other_side(&inviter.id), Some(&side("partner")));
    assert_eq!(connection.other_side(&partner.id), Some(&side("inviter")));
    assert_eq!(connection.other_side(&merchant("third").id), None);
    assert_eq!(invited().other_side(&inviter.id), None);
    assert_eq!(invited().seen_by(&inviter.id, noon()).partner, None);
}

#[derive(Clone, Copy, Debug)]
enum Action {
    Accept(u8),
    Revoke,
}

proptest! {
    /// Whatever is tried in whatever order: ends are never left, versions count the changes, and who accepted stays.
    #[test]
    fn ends_are_never_left(
        actions in prop::collection::vec(
            (0..INVITE_MS * 2, prop_oneof![(0u8..3).prop_map(Action::Accept), Just(Action::Revoke)]), 0..12)
    ) {
        let (mut connection, mut now) = (invited(), noon());
        for (later, action) in actions {
            now = now.plus_ms(later / 4);
            let before = connection.clone();
            let after = match action {
                Action::Accept(0) => connection.clone().accept(side("inviter"), now),
                Action::Accept(n) => connection.clone().accept(side(&format!("partner-{n}")), now),
                Action::Revoke => connection.clone().revoke(now).unwrap_or(None),
            };
            let Some(after) = after else { continue };
            let ended = [ConnectionStatus::Revoked, ConnectionStatus::Expired].contains(&before.status(now));
            prop_assert!(!ended, "{:?} was left", before.status(now));
            prop_assert_eq!(after.resource_version, before.resource_version + 1);
            if let Some(partner) = before.partner() {
                prop_assert_eq!(after.partner(), Some(partner));
            }
            prop_assert!(after.partner().is_none_or(|partner| partner.merchant != after.inviter.merchant));
            connection = after;
        }
    }
}

#[test]
fn a_share_ends_once_and_with_its_connection() {
    let at = |s: i64| Timestamp::from_ms(noon().as_ms() + s * 1000);
    let share = OrderShare::new(
        ShareId::generate(noon(), &mut dice()),
        accepted().id,
        order_number(),
        (merchant("inviter"), merchant("partner")),
        ShareTerms::default(),
        false,
        noon(),
    );
    assert_eq!(
        (share.status, share.permissions.as_slice()),
        (ShareStatus::Active, [SharePermission::Read].as_slice())
    );
    let ended = share.clone().revoked(at(5));
    assert_eq!(
        (ended.status, ended.revoked_at, ended.resource_version),
        (ShareStatus::Revoked, Some(at(5)), 2)
    );
    assert_eq!(ended.clone().revoked(at(9)), ended);
    assert_eq!(share.clone().on_connection(None), share);
    assert_eq!(share.on_connection(Some(at(5))), ended);
    assert_eq!(ended.clone().on_connection(Some(at(9))), ended);
}
