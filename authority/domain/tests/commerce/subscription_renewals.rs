//! Renewals (contract 3.8): the next period, its order, and what makes a renewal count once.

use authority_domain::event::change::Record;
use authority_domain::order::OrderSource;
use authority_domain::order::payment_status::PaymentStatus;
use authority_domain::subscription::AnchoredSubscription;
use authority_domain::subscription::state_machine::SubscriptionOutcome;
use authority_domain::{ConfirmOn, ErrorCode, Order, OrderStatus, Timestamp};
use serde_json::{Value, json};

use crate::fixtures::{event_names, last_order, noon, order_number};
use crate::refused_bodies::errors;
use crate::subscription_fixtures::{at, changed_at, opened, opened_at, period, reported_at};

fn renewed_at(ongoing: &AnchoredSubscription, renew: Value, now: Timestamp) -> (AnchoredSubscription, Order) {
    let (next, changes) = changed_at(ongoing, &json!({ "renew": renew }), now);
    (next, last_order(&changes).unwrap())
}

#[test]
fn a_renewal_tells_of_the_subscription_and_then_of_its_order() {
    let mut active = opened(json!({"metadata": {"plan": "gold"}}));
    let (_, changes) = changed_at(&active, &json!({"renew": true}), at("2026-10-01"));
    assert_eq!(event_names(&changes), ["subscription.updated", "order.created"]);
    let Record::Subscription(told) = &changes[0].record else { panic!("the subscription comes first") };
    assert_eq!(told.record.latest_order_number, Some(order_number()), "named in the same change");
    let order = last_order(&changes).unwrap();
    assert_eq!((order.status, order.payment_status), (OrderStatus::Pending, PaymentStatus::Unpaid));
    assert_eq!(
        (order.source, order.subscription_id.as_ref()),
        (OrderSource::Subscription, Some(&active.record.id))
    );
    assert_eq!((order.amounts.total, order.payment_summary.due), (2050, 2050));
    assert_eq!(order.customer.as_ref(), Some(&active.record.customer));
    assert_eq!((order.metadata["plan"].as_str(), &order.currency), ("gold", &active.record.currency));
    let lines: Vec<_> =
        order.line_items.iter().map(|line| (&line.id, line.quantity, line.total_amount)).collect();
    let items: Vec<_> = active
        .record
        .items
        .iter()
        .map(|item| (&item.id, item.quantity, item.quantity * item.unit_amount))
        .collect();
    assert_eq!(lines, items);

    // Nothing to pay, nothing to wait for.
    active.record.items.iter_mut().for_each(|item| item.unit_amount = 0);
    let (_, changes) = changed_at(&active, &json!({"renew": true}), at("2026-10-01"));
    assert_eq!(event_names(&changes), ["subscription.updated", "order.created", "order.confirmed"]);
    let order = last_order(&changes).unwrap();
    assert_eq!(
        (order.status, order.payment_status, order.resource_version),
        (OrderStatus::Confirmed, PaymentStatus::Paid, 2)
    );
}

#[test]
fn the_order_costs_what_the_renewal_says() {
    let active = opened(json!({}));
    let renew = json!({"shipping": 500, "shipping_tax": 50, "discount": 100, "metadata": {"k": "v"},
                       "shipping_address": {"line1": "1 Main St", "country": "GB"}});
    let (_, order) = renewed_at(&active, renew, noon());
    assert_eq!(order.amounts.total, 2050 + 500 + 50 - 100);
    assert_eq!(order.shipping_address.unwrap().line1, "1 Main St");
    assert_eq!(order.metadata["k"], "v");
    let Ok(SubscriptionOutcome::Renewing(renewing)) =
        reported_at(&active, &json!({"renew": {"discount": 2051}}), noon())
    else {
        panic!("a renewal")
    };
    let refusal = renewing.into_changes(order_number(), None, ConfirmOn::Paid, noon()).unwrap_err();
    assert_eq!(errors(&refusal), ["/renew out_of_range"]);
}

#[test]
fn the_lines_of_the_order_may_be_other_than_the_items() {
    let active = opened(json!({}));
    let lines = json!([{"name": "Usage", "quantity": 7, "unit_amount": 30, "tax_amount": 40, "requires_shipping": false}]);
    let (next, order) = renewed_at(&active, json!({ "line_items": lines }), noon());
    assert_eq!((order.amounts.total, order.line_items[0].requires_shipping), (250, false));
    assert_eq!(next.record.amount, 2050);
    let dear = json!([{"name": "x", "quantity": 1, "unit_amount": 1, "discount_amount": 2}]);
    let refusal = reported_at(&active, &json!({"renew": {"line_items": dear}}), noon()).unwrap_err();
    assert_eq!(refusal.members[0].pointer, "/renew/line_items/0/discount_amount");
}

#[test]
fn an_order_goes_where_the_last_one_went_and_ships_as_it_did() {
    let active = opened(json!({}));
    let (next, mut latest) =
        renewed_at(&active, json!({"shipping_address": {"line1": "1 Main St", "country": "GB"}}), noon());
    assert!(latest.line_items.iter().all(|line| line.requires_shipping), "as every line by default");
    latest.line_items[0].requires_shipping = false;
    let report = json!({"renew": true, "items": [
        {"name": "Cup", "sku": "CUP", "quantity": 1, "unit_amount": 900},
        {"name": "Lid", "quantity": 1, "unit_amount": 1},
    ]});
    let Ok(SubscriptionOutcome::Renewing(renewing)) = reported_at(&next, &report, at("2026-11-01")) else {
        panic!("a renewal")
    };
    let (_, changes) =
        renewing.into_changes(order_number(), Some(&latest), ConfirmOn::Paid, at("2026-11-01")).unwrap();
    let order = last_order(&changes).unwrap();
    assert_eq!(order.shipping_address, latest.shipping_address);
    let ships: Vec<bool> = order.line_items.iter().map(|line| line.requires_shipping).collect();
    assert_eq!(ships, [false, true]);
    assert_eq!(order.amounts.total, 901, "by the items as they are from now on");
}

#[test]
fn periods_follow_each_other_by_the_calendar() {
    let mut ongoing = opened_at(json!({}), at("2027-01-31")).unwrap();
    assert_eq!(period(&ongoing), Some((at("2027-01-31"), at("2027-02-28"))));
    // However late the renewals are, the periods are those of the calendar.
    for (start, end) in
        [("2027-02-28", "2027-03-31"), ("2027-03-31", "2027-04-30"), ("2027-04-30", "2027-05-31")]
    {
        ongoing = renewed_at(&ongoing, json!(true), at("2027-06-15")).0;
        assert_eq!(period(&ongoing), Some((at(start), at(end))));
    }
    assert_eq!(ongoing.record.resource_version, 4);
}

#[test]
fn another_interval_counts_from_the_next_period() {
    let active = opened_at(json!({}), at("2027-01-31")).unwrap();
    let (next, _) = changed_at(&active, &json!({"interval": "year"}), at("2027-02-01"));
    assert_eq!(period(&next), period(&active));
    let (next, _) = renewed_at(&next, json!(true), at("2027-02-28"));
    assert_eq!(period(&next), Some((at("2027-02-28"), at("2028-02-28"))));
    // In one report with the renewal as well.
    let (next, _) = changed_at(
        &active,
        &json!({"interval": "week", "interval_count": 2, "renew": true}),
        at("2027-02-28"),
    );
    assert_eq!(period(&next), Some((at("2027-02-28"), at("2027-03-14"))));
}

#[test]
fn a_renewal_that_names_its_period_counts_once() {
    let active = opened(json!({}));
    let report = json!({"renew": {"period_start": at("2026-10-01")}});
    let (next, _) = changed_at(&active, &report, at("2026-10-01"));
    assert_eq!(period(&next), Some((at("2026-10-01"), at("2026-11-01"))));
    assert!(matches!(reported_at(&next, &report, at("2026-10-02")), Ok(SubscriptionOutcome::Unchanged)));
    // Long after, and together with what it was reported with.
    let (later, _) = renewed_at(&next, json!(true), at("2026-11-01"));
    let both = json!({"status": "active", "renew": {"period_start": at("2026-10-01")}});
    assert!(matches!(reported_at(&later, &both, at("2026-11-02")), Ok(SubscriptionOutcome::Unchanged)));
    // Also when it has ended since; a new period does not begin then.
    let (ended, _) = changed_at(&next, &json!({"status": "cancelled"}), at("2026-10-03"));
    assert!(matches!(reported_at(&ended, &report, at("2026-10-04")), Ok(SubscriptionOutcome::Unchanged)));
    let later = json!({"renew": {"period_start": at("2026-11-01")}});
    assert!(reported_at(&ended, &later, at("2026-11-01")).is_err());
}

#[test]
fn the_platform_may_choose_a_periods_bounds() {
    let active = opened(json!({}));
    let (next, _) = renewed_at(&active, json!({"period_start": at("2026-10-10")}), at("2026-10-10"));
    assert_eq!(period(&next), Some((at("2026-10-10"), at("2026-11-10"))));
    let (next, _) = renewed_at(&next, json!({"period_end": at("2026-12-31")}), at("2026-11-10"));
    assert_eq!(period(&next), Some((at("2026-11-10"), at("2026-12-31"))));
    let (next, _) = renewed_at(&next, json!(true), at("2026-12-31"));
    assert_eq!(period(&next), Some((at("2026-12-31"), at("2027-01-31"))));
    let (next, _) = renewed_at(&next, json!(true), at("2027-01-31"));
    assert_eq!(period(&next), Some((at("2027-01-31"), at("2027-02-28"))), "the 31st is the anchor");

    for (renew, error) in [
        (json!({"period_start": at("2027-02-27")}), "/renew/period_start inconsistent"),
        (json!({"period_end": at("2027-02-28")}), "/renew/period_end out_of_range"),
    ] {
        let refusal = reported_at(&next, &json!({ "renew": renew }), at("2027-02-28")).unwrap_err();
        assert_eq!(errors(&refusal), [error]);
    }
}

#[test]
fn no_period_is_left_out_but_by_a_pause() {
    let active = opened(json!({}));
    let late = changed_at(&active, &json!({"status": "past_due"}), noon()).0;
    let november = json!({"renew": {"period_start": at("2026-11-01")}});
    // The report of November overtakes that of October, of which an order is to be made.
    for ongoing in [&active, &late] {
        for more in [json!({}), json!({"status": "active"})] {
            let mut report = november.clone();
            report.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let refusal = reported_at(ongoing, &report, at("2026-11-01")).unwrap_err();
            assert_eq!(errors(&refusal), ["/renew/period_start inconsistent"], "{report}");
        }
    }
    let october = json!({"period_start": at("2026-10-01")});
    let (next, _) = renewed_at(&active, october, at("2026-11-01"));
    let (next, _) = changed_at(&next, &november, at("2026-11-01"));
    assert_eq!(period(&next), Some((at("2026-11-01"), at("2026-12-01"))));
    // What counts is the period as it is agreed on by then.
    let weekly = json!({"interval": "week", "renew": {"period_start": at("2026-10-08")}});
    let refusal = reported_at(&active, &weekly, at("2026-10-08")).unwrap_err();
    assert_eq!(errors(&refusal), ["/renew/period_start inconsistent"]);

    let (paused, _) = changed_at(&active, &json!({"status": "paused"}), noon());
    let (resumed, _) = changed_at(
        &paused,
        &json!({"status": "active", "renew": {"period_start": at("2026-12-24")}}),
        at("2026-12-24"),
    );
    assert_eq!(period(&resumed), Some((at("2026-12-24"), at("2027-01-24"))));
}

/// The report that ends the pause and the one that renews may be two.
#[test]
fn the_first_period_after_a_pause_begins_where_the_pause_ended() {
    let (paused, _) = changed_at(&opened(json!({})), &json!({"status": "paused"}), noon());
    let resume = json!({"status": "active", "occurred_at": at("2026-12-24")});
    let (resumed, _) = changed_at(&paused, &resume, at("2026-12-26"));
    let from = |date: &str| json!({"period_start": at(date)});
    for renew in [json!(true), from("2026-12-24")] {
        let (next, _) = renewed_at(&resumed, renew, at("2026-12-27"));
        assert_eq!(period(&next), Some((at("2026-12-24"), at("2027-01-24"))));
        let (next, _) = renewed_at(&next, json!(true), at("2027-01-24"));
        assert_eq!(period(&next), Some((at("2027-01-24"), at("2027-02-24"))));
    }
    // That period's report is overtaken by the one after it.
    let overtaking = json!({"renew": from("2027-01-24")});
    let refusal = reported_at(&resumed, &overtaking, at("2027-01-24")).unwrap_err();
    assert_eq!(errors(&refusal), ["/renew/period_start inconsistent"]);
    // A period from before the pause is reported late: the rest of the pause is left out all the same.
    let (late, _) = renewed_at(&resumed, from("2026-10-01"), at("2026-12-27"));
    assert_eq!(period(&late), Some((at("2026-10-01"), at("2026-11-01"))));
    let (next, _) = renewed_at(&late, json!(true), at("2026-12-27"));
    assert_eq!(period(&next), Some((at("2026-12-24"), at("2027-01-24"))));

    // A pause within a period leaves nothing out, and one that ends with a renewal nothing more than that does.
    let (within, _) = changed_at(&paused, &json!({"status": "active"}), at("2026-09-20"));
    let refusal = reported_at(&within, &json!({"renew": from("2026-11-01")}), at("2026-11-01")).unwrap_err();
    assert_eq!(errors(&refusal), ["/renew/period_start inconsistent"]);
    assert_eq!(
        period(&renewed_at(&within, json!(true), at("2026-12-24")).0),
        Some((at("2026-10-01"), at("2026-11-01")))
    );
    let both = json!({"status": "active", "renew": from("2026-10-01")});
    let (both, _) = changed_at(&paused, &both, at("2026-12-24"));
    assert_eq!(
        period(&renewed_at(&both, json!(true), at("2026-12-24")).0),
        Some((at("2026-11-01"), at("2026-12-01")))
    );
}

#[test]
fn only_what_goes_on_renews() {
    let trial = opened(json!({"trial_end": at("2026-09-30")}));
    let paused = changed_at(&opened(json!({})), &json!({"status": "paused"}), noon()).0;
    let ending = changed_at(&opened(json!({})), &json!({"cancel_at_period_end": true}), noon()).0;
    for (ongoing, report) in [
        (&trial, json!({"renew": true})),
        (&paused, json!({"renew": true})),
        (&ending, json!({"renew": true})),
        (&opened(json!({})), json!({"status": "paused", "renew": true})),
        (&opened(json!({})), json!({"cancel_at_period_end": true, "renew": true})),
    ] {
        let refusal = reported_at(ongoing, &report, noon()).unwrap_err();
        assert_eq!(refusal.code, ErrorCode::InvalidStateTransition, "{report}");
    }
    let (begun, order) = {
        let (begun, changes) =
            changed_at(&trial, &json!({"status": "active", "renew": true}), at("2026-10-01"));
        (begun, last_order(&changes).unwrap())
    };
    assert_eq!(period(&begun), Some((at("2026-09-30"), at("2026-10-30"))));
    assert_eq!(order.amounts.total, 2050);
    // A pause may outlast the period: then the next one begins when it is over.
    let (resumed, _) = changed_at(&paused, &json!({"status": "active", "renew": true}), at("2026-12-24"));
    assert_eq!(period(&resumed), Some((at("2026-12-24"), at("2027-01-24"))));
    let (on, _) = changed_at(&ending, &json!({"cancel_at_period_end": false, "renew": true}), noon());
    assert!(!on.record.cancel_at_period_end);
    let late = changed_at(&opened(json!({})), &json!({"status": "past_due"}), noon()).0;
    assert_eq!(period(&renewed_at(&late, json!(true), noon()).0), Some((at("2026-10-01"), at("2026-11-01"))));
}

#[test]
fn an_incomplete_ones_first_order_comes_before_its_first_period_and_once() {
    let waiting = opened(json!({"status": "incomplete"}));
    let (ordered, order) = renewed_at(&waiting, json!(true), noon());
    assert_eq!((period(&ordered), order.amounts.total), (None, 2050));
    for report in [json!({"renew": true}), json!({"status": "active", "renew": true})] {
        let refusal = reported_at(&ordered, &report, noon()).unwrap_err();
        assert_eq!(refusal.code, ErrorCode::InvalidStateTransition, "{report}");
    }
    let named = json!({"renew": {"period_start": noon()}});
    assert_eq!(reported_at(&waiting, &named, noon()).unwrap_err().members[0].pointer, "/renew");
    let (begun, changes) = changed_at(&ordered, &json!({"status": "active"}), noon());
    assert_eq!(event_names(&changes), ["subscription.updated"]);
    assert_eq!(begun.record.latest_order_number, Some(order.order_number));
    let (both, changes) = changed_at(&waiting, &json!({"status": "active", "renew": true}), noon());
    assert_eq!(event_names(&changes), ["subscription.updated", "order.created"]);
    assert_eq!(period(&both), Some((noon(), at("2026-10-01"))));
}
