//! The subscription's state machine against contract 3.8: every status, every report.

use authority_domain::subscription::state_machine::SubscriptionOutcome;
use authority_domain::subscription::{SubscriptionCancelReason, SubscriptionStatus};
use authority_domain::{ErrorCode, MemberCode, subscription};
use proptest::prelude::*;
use serde_json::json;
use verify_core::catalog::EventType;

use crate::fixtures::{check_machine, noon};
use crate::refused_bodies::errors;
use crate::subscription_fixtures::{changed, changed_at, in_status, opened, reported_at};

#[test]
fn every_report_on_every_status_has_the_outcome_of_the_table() {
    // c: changed, the report's status is taken over. =: nothing happens. x: refused. Columns and rows in the order of
    // SubscriptionStatus::ALL: incomplete trialing active past_due paused cancelled
    let table = [
        (SubscriptionStatus::Incomplete, "= c c x x c"),
        (SubscriptionStatus::Trialing, "x = c c x c"),
        (SubscriptionStatus::Active, "x x = c c c"),
        (SubscriptionStatus::PastDue, "x x c = c c"),
        (SubscriptionStatus::Paused, "x x c x = c"),
        (SubscriptionStatus::Cancelled, "x x x x x ="),
    ];
    check_machine(&table, ErrorCode::InvalidStateTransition, |from, to| {
        let before = in_status(from);
        assert_eq!(before.record.status, from);
        Ok(match reported_at(&before, &json!({"status": to}), noon())? {
            SubscriptionOutcome::Unchanged => "=",
            SubscriptionOutcome::Changed(next) => {
                let version = before.record.resource_version + 1;
                assert_eq!((next.record.status, next.record.resource_version), (to, version));
                let event = match to {
                    SubscriptionStatus::Cancelled => EventType::SubscriptionCancelled,
                    _ => EventType::SubscriptionUpdated,
                };
                assert_eq!(next.told().event_type, event);
                "c"
            }
            SubscriptionOutcome::Renewing(_) => panic!("nobody asked for the next period"),
        })
    });
}

#[test]
fn pausing_and_being_late_leave_the_period() {
    let active = in_status(SubscriptionStatus::Active);
    for status in ["past_due", "paused"] {
        let next = changed(&active, json!({"status": status}));
        assert_eq!(next.record.current_period_end, active.record.current_period_end);
        let again = changed(&next, json!({"status": "active"}));
        let expected = authority_domain::subscription::Subscription {
            resource_version: 3,
            updated_at: noon().plus_ms(1),
            ..active.record.clone()
        };
        assert_eq!(again.record, expected, "{status} and back");
    }
}

#[test]
fn ending_leaves_its_marks_and_nothing_comes_after() {
    let active = in_status(SubscriptionStatus::Active);
    let ended = changed(
        &active,
        json!({"status": "cancelled", "cancel_reason": "payment_failed", "occurred_at": noon()}),
    );
    let record = &ended.record;
    assert_eq!(record.cancelled_at, Some(noon()));
    assert_eq!(record.cancel_reason, Some(SubscriptionCancelReason::PaymentFailed));
    for body in [
        json!({"renew": true}),
        json!({"items": [{"name": "x", "quantity": 1, "unit_amount": 1}]}),
        json!({"cancel_at_period_end": true}),
        json!({"status": "active"}),
    ] {
        let refusal = reported_at(&ended, &body, noon()).unwrap_err();
        assert_eq!(refusal.code, ErrorCode::InvalidStateTransition, "{body}");
    }
    let again = json!({"status": "cancelled", "cancel_reason": "other", "cancel_at_period_end": true});
    assert!(matches!(reported_at(&ended, &again, noon()), Ok(SubscriptionOutcome::Unchanged)));
}

#[test]
fn items_keep_their_ids_as_long_as_they_are_the_same() {
    let active = in_status(SubscriptionStatus::Active);
    let [cup, filter] = &*active.record.items else { panic!("two items") };
    // More cups, the filter under another name, and something new that is called like the filter was.
    let next = changed(
        &active,
        json!({"items": [
            {"name": "Filter", "quantity": 9, "unit_amount": 1},
            {"id": filter.id, "name": "Paper", "quantity": 1, "unit_amount": 200},
            {"name": "Cup", "sku": "CUP", "quantity": 3, "unit_amount": 950},
        ]}),
    );
    let ids: Vec<_> = next.record.items.iter().map(|item| &item.id).collect();
    assert_eq!(&ids[1..], [&filter.id, &cup.id]);
    assert!(![&cup.id, &filter.id].contains(&ids[0]));
    assert_eq!(next.record.amount, 9 + 200 + 3 * 950);
    assert_eq!(next.record.current_period_end, active.record.current_period_end);

    let same = json!({"items": [
        {"name": "Cup", "sku": "CUP", "quantity": 2, "unit_amount": 900},
        {"name": "Filter", "quantity": 1, "unit_amount": 250},
    ]});
    assert!(matches!(reported_at(&active, &same, noon()), Ok(SubscriptionOutcome::Unchanged)));
    for items in [
        json!([{"id": "li_00000000000000000000000000", "name": "x", "quantity": 1, "unit_amount": 1}]),
        json!([{"id": cup.id, "name": "x", "quantity": 1, "unit_amount": 1},
               {"id": cup.id, "name": "y", "quantity": 1, "unit_amount": 1}]),
    ] {
        let refusal = reported_at(&active, &json!({ "items": items }), noon()).unwrap_err();
        assert_eq!(refusal.members[0].code, MemberCode::UnknownReference);
    }
    let dear = json!({"items": [{"name": "x", "quantity": 100_000, "unit_amount": 10_000_000}]});
    assert_eq!(reported_at(&active, &dear, noon()).unwrap_err().members[0].pointer, "/items");
}

#[test]
fn reports_that_say_nothing_or_contradict_themselves_are_refused() {
    let active = in_status(SubscriptionStatus::Active);
    let table = [
        (json!({}), " required"),
        (json!({"occurred_at": noon()}), " required"),
        (json!({"status": "active", "cancel_reason": "other"}), "/cancel_reason inconsistent"),
        (json!({"status": "cancelled", "renew": true}), "/renew inconsistent"),
        (json!({"status": "active", "occurred_at": noon().plus_ms(300_001)}), "/occurred_at out_of_range"),
        (
            json!({"status": "paused", "occurred_at": noon().plus_ms(-86_400_001)}),
            "/occurred_at out_of_range",
        ),
        (json!({"renew": 1}), "/renew wrong_type"),
        (json!({"renew": {"order_number": "-"}}), "/renew/order_number invalid_value"),
        (json!({"renew": {"amount": 1}}), "/renew/amount unknown_field"),
        (json!({"status": "active", "amount": 1}), "/amount field_not_writable"),
    ];
    for (body, error) in table {
        let refusal = reported_at(&active, &body, noon()).unwrap_err();
        assert_eq!(errors(&refusal), [error], "{body}");
    }
    assert!(matches!(
        reported_at(&active, &json!({"renew": false}), noon()),
        Ok(SubscriptionOutcome::Unchanged)
    ));
}

proptest! {
    /// Whatever is reported in whatever order: a terminal status stays, versions count up by one, a refusal and a
    /// report of what is so change nothing, and a period that is there lies the right way round.
    #[test]
    fn no_sequence_of_reports_breaks_a_rule(
        begins in prop::sample::select(vec!["incomplete", "trialing", "active"]),
        reports in prop::collection::vec(
            (prop::option::of(prop::sample::select(SubscriptionStatus::ALL)), prop::option::of(0_usize..4),
             prop::option::of(any::<bool>()), prop::option::of(0_i64..3), 0_i64..40), 1..30),
    ) {
        let mut now = noon();
        let mut beginning = json!({"status": begins});
        if begins != "active" {
            beginning["trial_end"] = json!(now.plus_ms(5 * 86_400_000));
        }
        let mut ongoing = opened(beginning);
        for (status, renew, ends, quantity, days) in reports {
            now = now.plus_ms(days * 86_400_000);
            let mut report = json!({"status": status, "cancel_at_period_end": ends});
            report.as_object_mut().unwrap().retain(|_, value| !value.is_null());
            if let Some(renew) = renew {
                let end = ongoing.record.current_period_end.unwrap_or(now);
                report["renew"] = match renew {
                    0 => json!(true),
                    1 => json!({"period_start": end}),
                    2 => json!({"period_start": end.plus_ms(-86_400_000)}),
                    _ => json!({"period_start": end, "period_end": end.plus_ms(86_400_000)}),
                };
            }
            if let Some(quantity) = quantity {
                report["items"] = json!([{"name": "Cup", "sku": "CUP", "quantity": quantity + 1, "unit_amount": 900}]);
            }
            let before = ongoing.clone();
            let told = match reported_at(&before, &report, now) {
                Err(_) | Ok(SubscriptionOutcome::Unchanged) => continue,
                Ok(_) => changed_at(&before, &report, now),
            };
            ongoing = told.0;
            let (old, new) = (&before.record, &ongoing.record);
            prop_assert_ne!(old.status, SubscriptionStatus::Cancelled, "I14");
            prop_assert!(new.status == old.status || subscription::state_machine::may_follow(old.status, new.status));
            prop_assert_eq!(new.resource_version, old.resource_version + 1);
            let sum: i64 = new.items.iter().map(|item| item.quantity * item.unit_amount).sum();
            prop_assert_eq!(new.amount, sum);
            match new.current_period_start.zip(new.current_period_end) {
                Some((start, end)) => prop_assert!(start < end && old.current_period_start.is_none_or(|old| old <= start)),
                None => prop_assert!(matches!(new.status, SubscriptionStatus::Incomplete | SubscriptionStatus::Cancelled)),
            }
        }
    }
}
