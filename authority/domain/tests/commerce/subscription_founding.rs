//! Checkouts of mode `subscription` (contract 2.7, 3.4): what they agree on, and what they make when they complete.

use authority_domain::checkout::{CheckoutMode, CheckoutRequest, NewCheckout};
use authority_domain::event::change::Record;
use authority_domain::order::OrderSource;
use authority_domain::subscription::{AnchoredSubscription, SubscriptionStatus};
use authority_domain::transitions::founding::Founding;
use authority_domain::transitions::payment::Surroundings;
use authority_domain::{Change, Checkout, ConfirmOn, PaymentStatus, SubscriptionId, Timestamp, transitions};
use serde_json::{Value, json};

use crate::fixtures::{
    checkout_body, dice, event_names, last_order, last_payment, new_payment, noon, order_number, report,
    reported,
};
use crate::refused_bodies::errors;

fn body(terms: Value) -> Value {
    let mut body = checkout_body();
    body["mode"] = json!("subscription");
    body["customer"] = json!({"reference": "c-77"});
    body["subscription"] = terms;
    body["subscription"].as_object_mut().unwrap().retain(|_, term| !term.is_null());
    body
}

fn new(body: &Value) -> NewCheckout {
    CheckoutRequest::read(body).unwrap().into_new(noon(), &mut dice()).unwrap()
}

fn founding(new: &NewCheckout) -> Founding {
    let id = SubscriptionId::generate(noon(), &mut dice());
    Founding { id, terms: new.subscription.clone().unwrap() }
}

/// The changes when a payment of the whole reaches `status`.
fn completed(body: &Value, status: PaymentStatus) -> (Checkout, Vec<Change>) {
    let new = new(body);
    let founding = founding(&new);
    let checkout = Checkout::open(new, false, noon());
    let created = transitions::payment::start(&checkout, false, new_payment(&checkout), noon()).unwrap();
    let Record::Payment(payment) = created.record else { panic!("a payment") };
    let next = reported((*payment).clone(), &report(status), noon());
    let surroundings = Surroundings::Completing {
        checkout: Box::new(checkout.clone()),
        order_number: order_number(),
        subscription: Some(Box::new(founding)),
    };
    (checkout, transitions::payment::settle(&payment, next, surroundings, ConfirmOn::Paid, noon()))
}

fn made(changes: &[Change]) -> AnchoredSubscription {
    let found = changes.iter().find_map(|change| match &change.record {
        Record::Subscription(made) => Some((**made).clone()),
        _ => None,
    });
    found.unwrap()
}

#[test]
fn a_payment_makes_one_order_and_one_subscription() {
    let (checkout, changes) = completed(&body(json!({"interval": "month"})), PaymentStatus::Succeeded);
    assert_eq!(checkout.mode, CheckoutMode::Subscription);
    let (subscription, order, payment) =
        (made(&changes).record, last_order(&changes).unwrap(), last_payment(&changes).unwrap());
    assert_eq!(order.subscription_id.as_ref(), Some(&subscription.id));
    assert_eq!(payment.subscription_id.as_ref(), Some(&subscription.id));
    assert_eq!((order.source, order.checkout_id), (OrderSource::Checkout, Some(checkout.id)));
    assert_eq!(subscription.latest_order_number, Some(order_number()));
    assert_eq!(Some(subscription.customer), checkout.customer);
    assert_eq!((subscription.currency, subscription.livemode), (checkout.currency, false));
    // Per period the lines cost what they cost; discount and shipping were the purchase's.
    assert_eq!(subscription.amount, 2 * 2400 + 3 * 100 + 900);
    let items: Vec<_> = subscription.items.iter().map(|item| (&item.id, item.quantity)).collect();
    let lines: Vec<_> = order.line_items.iter().map(|line| (&line.id, line.quantity)).collect();
    assert_eq!(items, lines);
    let month = Timestamp::parse("2026-10-01T12:00:00Z");
    assert_eq!((subscription.current_period_start, subscription.current_period_end), (Some(noon()), month));
}

#[test]
fn it_is_active_when_the_money_is_there_and_trialing_with_a_trial() {
    use SubscriptionStatus::{Active, Incomplete, Trialing};
    let trial_end = noon().plus_ms(14 * 86_400_000);
    let table = [
        (PaymentStatus::Pending, json!(null), Incomplete, None, "payment.pending"),
        (PaymentStatus::Authorized, json!(null), Incomplete, None, "payment.authorized"),
        (PaymentStatus::Succeeded, json!(null), Active, Some(noon()), "payment.succeeded"),
        (PaymentStatus::Pending, json!(14), Trialing, Some(trial_end), "payment.pending"),
        (PaymentStatus::Succeeded, json!(14), Trialing, Some(trial_end), "payment.succeeded"),
    ];
    for (payment, days, status, anchor, event) in table {
        let (_, changes) = completed(&body(json!({"interval": "week", "trial_days": days})), payment);
        let made = made(&changes);
        assert_eq!((made.record.status, made.anchor), (status, anchor), "{payment} {days}");
        assert_eq!(made.record.trial_end, (!days.is_null()).then_some(trial_end));
        assert_eq!(made.record.current_period_end.is_some(), status != SubscriptionStatus::Incomplete);
        assert_eq!(
            event_names(&changes)[..4],
            ["checkout.completed", "subscription.created", "order.created", event]
        );
    }
}

#[test]
fn what_is_free_is_completed_by_the_operator() {
    let mut free = body(json!({"interval": "year", "metadata": {"plan": "gold"}}));
    for member in ["discount", "shipping"] {
        free[member] = json!(0);
    }
    free["line_items"] = json!([{"name": "Try", "quantity": 1, "unit_amount": 0}]);
    let new = new(&free);
    let founding = founding(&new);
    let checkout = Checkout::open(new, false, noon());
    let changes =
        transitions::checkout::complete(checkout, order_number(), Some(founding), ConfirmOn::Paid, noon())
            .unwrap();
    let made = made(&changes).record;
    assert_eq!((made.status, made.amount, &*made.metadata["plan"]), (SubscriptionStatus::Active, 0, "gold"));
    assert_eq!(last_order(&changes).unwrap().subscription_id, Some(made.id));
}

#[test]
fn the_terms_may_name_other_items_than_the_purchase() {
    let new = new(&body(json!({"interval": "month", "interval_count": 3,
                               "items": [{"name": "Refill", "sku": "R", "quantity": 2, "unit_amount": 700}]})));
    let terms = new.subscription.unwrap();
    let (items, amount) = terms.items.into_parts();
    assert_eq!((items.len(), &*items[0].name, amount, terms.interval_count), (1, "Refill", 1400, 3));
    assert!(new.line_items.iter().all(|line| line.id != items[0].id));
}

#[test]
fn mode_and_terms_belong_together() {
    let month = || json!({"interval": "month"});
    let without = |member: &str| {
        let mut body = body(month());
        body.as_object_mut().unwrap().remove(member);
        body
    };
    let mut payment = body(month());
    payment["mode"] = json!("payment");
    let mut many = body(month());
    many["line_items"] = json!(vec![json!({"name": "x", "quantity": 1, "unit_amount": 1}); 21]);
    many["discount"] = json!(0);
    let dear = json!([{"name": "x", "quantity": 100_000, "unit_amount": 10_000_000}]);
    let table = [
        (without("subscription"), "/subscription required"),
        (without("customer"), "/customer required"),
        (without("mode"), "/subscription inconsistent"),
        (payment, "/subscription inconsistent"),
        (body(json!({})), "/subscription/interval required"),
        (body(json!({"interval": "month", "trial_days": 0})), "/subscription/trial_days out_of_range"),
        (body(json!({"interval": "month", "items": []})), "/subscription/items too_short"),
        (body(json!({"interval": "month", "items": dear})), "/subscription/items out_of_range"),
        (body(json!({"interval": "month", "amount": 1})), "/subscription/amount unknown_field"),
        (many, "/subscription/items required"),
    ];
    for (body, error) in table {
        let new = CheckoutRequest::read(&body).and_then(|request| request.into_new(noon(), &mut dice()));
        assert_eq!(errors(&new.unwrap_err()), [error], "{body}");
    }
}
