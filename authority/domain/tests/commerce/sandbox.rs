//! The sandbox's shorthand and its demonstration stories (contract 6.3).

use std::collections::BTreeSet;

use authority_domain::checkout::CheckoutRequest;
use authority_domain::payment::PaymentReportRequest;
use authority_domain::refund::RefundReportRequest;
use authority_domain::sandbox::advances::{
    PaymentAdvance, RefundAdvance, ShipmentAdvance, SubscriptionAdvance,
};
use authority_domain::sandbox::demo_story::{Plot, story};
use authority_domain::sandbox::requests::{PayRequest, SeedRequest, read_order};
use authority_domain::shipment::ShipmentReport;
use authority_domain::subscription::SubscriptionReportRequest;
use authority_domain::{Refund, RefundStatus, Timestamp};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::{Map, Value, json};

use crate::fixtures::{dice, noon};
use crate::refunds::{ask, sold};
use crate::refused_bodies::Edit::{Drop, Each, Set};
use crate::refused_bodies::{check, errors};

/// What is told, as the operator would tell it.
fn told(mut report: Map<String, Value>) -> Value {
    report.insert("processor_event_id".into(), json!("evt-1"));
    Value::Object(report)
}

#[test]
fn bodies() {
    let pay = json!({"outcome": "failed", "failure_code": "lost_card", "method": {"type": "cash"}});
    let table = [
        (Drop("/outcome"), "required, /failure_code inconsistent"),
        (Set("/outcome", json!("refunded")), "invalid_value, /failure_code inconsistent"),
        (Set("/outcome", json!("pending")), "/failure_code inconsistent"),
        (Set("/failure_code", json!("x".repeat(65))), "too_long"),
        (Set("/method/last4", json!("42")), "too_short"),
        (Set("/amount", json!(1)), "unknown_field"),
    ];
    check(&pay, PayRequest::read, &table);

    let payment = json!({"to": "succeeded", "amount_captured": 5});
    let table = [
        (Set("/to", json!("pending")), "/amount_captured inconsistent"),
        (Set("/to", json!("refunded")), "invalid_value, /amount_captured inconsistent"),
        (Set("/failure_code", json!("x")), "inconsistent"),
    ];
    check(&payment, PaymentAdvance::read, &table);
    let refund = json!({"to": "failed", "failure_code": "x"});
    let table = [
        (Set("/to", json!("requested")), "invalid_value, /failure_code inconsistent"),
        (Set("/to", json!("completed")), "/failure_code inconsistent"),
    ];
    check(&refund, RefundAdvance::read, &table);
    let shipment = json!({"to": "exception", "exception": {"code": "x"}});
    let table = [
        (Drop("/to"), "required"),
        (Set("/exception", json!({})), "/exception/code required"),
        (Set("/occurred_at", json!(noon())), "unknown_field"),
    ];
    check(&shipment, ShipmentAdvance::read, &table);
    let seed = json!({"orders": 1000, "seed": -1});
    let table = [(Each("/orders", json!([1001, 0])), "out_of_range"), (Drop("/seed"), "required")];
    check(&seed, SeedRequest::read, &table);
    for (body, expected) in [
        (json!({}), Some("/to required")),
        (json!({"to": "active", "renew": true}), Some("/renew inconsistent")),
        (json!({"renew": false}), Some("/renew invalid_value")),
        (json!({"to": "lost"}), Some("/to invalid_value")),
        (json!({"to": "active"}), None),
        (json!({"renew": true}), None),
    ] {
        let found = SubscriptionAdvance::read(&body).err().map(|refusal| errors(&refusal).remove(0));
        assert_eq!(found.as_deref(), expected, "{body}");
    }
    let both = read_order(&json!({"pay": "paid", "payments": []})).unwrap_err();
    assert_eq!(errors(&both), ["/pay inconsistent"]);
    assert_eq!(errors(&read_order(&json!([])).unwrap_err()), [" wrong_type"]);
}

#[test]
fn what_is_spelled_out_is_what_the_operator_may_say() {
    for outcome in ["succeeded", "authorized", "pending", "failed"] {
        let report = told(PayRequest::read(&json!({"outcome": outcome})).unwrap().report());
        assert_eq!(report["status"], outcome);
        assert!(PaymentReportRequest::read(&report, noon()).is_ok(), "{report}");
    }
    for to in ["pending", "authorized", "succeeded", "failed", "cancelled"] {
        let report = told(PaymentAdvance::read(&json!({"to": to})).unwrap().report());
        assert!(PaymentReportRequest::read(&report, noon()).is_ok(), "{report}");
    }
    for to in ["processing", "completed", "failed"] {
        let report = told(RefundAdvance::read(&json!({"to": to})).unwrap().report());
        assert!(RefundReportRequest::read(&report).is_ok(), "{report}");
    }
    let held =
        ShipmentAdvance::read(&json!({"to": "exception", "exception": {"code": "x"}})).unwrap().report();
    assert!(ShipmentReport::read(&held, noon()).is_ok(), "{held}");
    for body in [json!({"to": "past_due"}), json!({"renew": true})] {
        let report = SubscriptionAdvance::read(&body).unwrap().report();
        assert!(SubscriptionReportRequest::read(&report, noon()).is_ok(), "{report}");
    }
}

fn refund_of(amount: i64) -> Refund {
    let (order, payment) = sold();
    let asked = ask(&order, &[payment], &[], json!({"amount": amount})).unwrap().refund;
    Refund { created_at: noon(), ..asked }
}

#[test]
fn a_refund_moves_by_itself_a_second_at_a_time() {
    let step = |refund: &Refund, now: Timestamp| {
        RefundAdvance::by_itself(refund, now).map(|step| Value::Object(step.report()))
    };
    let at = |ms: i64| noon().plus_ms(ms);
    for (amount, end) in [
        (100, json!({"status": "completed"})),
        (13, json!({"status": "failed", "failure": {"code": "insufficient_funds"}})),
        (1313, json!({"status": "failed", "failure": {"code": "insufficient_funds"}})),
        (130, json!({"status": "completed"})),
    ] {
        let mut refund = refund_of(amount);
        assert_eq!(step(&refund, at(999)), None);
        assert_eq!(step(&refund, at(1000)), Some(json!({"status": "processing"})));
        (refund.status, refund.processing_at) = (RefundStatus::Processing, Some(at(1500)));
        assert_eq!(step(&refund, at(2499)), None);
        assert_eq!(step(&refund, at(2500)), Some(end), "{amount}");
        for ended in [RefundStatus::Completed, RefundStatus::Failed] {
            refund.status = ended;
            assert_eq!(step(&refund, at(9000)), None);
        }
    }
}

#[test]
fn every_story_can_be_told_and_every_plot_occurs() {
    let tell = |seed| story("EUR", &mut StdRng::seed_from_u64(seed));
    let mut plots = BTreeSet::new();
    for seed in 0..1000 {
        let told = tell(seed);
        assert_eq!(told, tell(seed), "the same dice tell the same story");
        CheckoutRequest::read(&told.basket).unwrap().into_new(noon(), &mut dice()).unwrap();
        let lines = told.basket["line_items"].as_array().unwrap();
        let skus: BTreeSet<&str> = lines.iter().map(|line| line["sku"].as_str().unwrap()).collect();
        assert_eq!(skus.len(), lines.len(), "no line twice");
        let ships = lines.iter().any(|line| line["requires_shipping"] == true);
        assert_eq!(ships, told.plot != Plot::AtTheTill, "{told:?}");
        plots.insert(told.plot);
    }
    assert_eq!(plots.into_iter().collect::<Vec<_>>(), Plot::ALL);
    assert_ne!(tell(1), tell(2));
}
