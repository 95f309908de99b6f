//! How a subscription begins, and where its first periods lie (contract 3.8).

use authority_domain::subscription::SubscriptionStatus;
use serde_json::json;

use crate::fixtures::{event_names, noon};
use crate::refused_bodies::errors;
use crate::subscription_fixtures::{at, changed, changed_at, opened, opened_at, period, reported_at};

#[test]
fn it_begins_as_the_platform_says() {
    use SubscriptionStatus::{Active, Incomplete, Trialing};
    let (early, trial_end) = (at("2026-08-31"), noon().plus_ms(7 * 86_400_000));
    let (trial, free) = (Some((noon(), trial_end)), Some(trial_end));
    let until = |end| Some((noon(), at(end)));
    let chosen = at("2026-09-15");
    // status, period, trial_end, anchor
    let table = [
        (json!({}), Active, until("2026-10-01"), None, Some(noon())),
        (json!({"interval_count": 2}), Active, until("2026-11-01"), None, Some(noon())),
        (json!({"current_period_start": early}), Active, Some((early, at("2026-09-30"))), None, Some(early)),
        (json!({"current_period_end": chosen}), Active, until("2026-09-15"), None, Some(chosen)),
        (json!({"trial_days": 7}), Trialing, trial, free, free),
        (json!({"status": "trialing", "trial_end": trial_end}), Trialing, trial, free, free),
        (json!({"status": "incomplete"}), Incomplete, None, None, None),
        (json!({"status": "incomplete", "trial_days": 7}), Incomplete, None, free, None),
    ];
    for (more, status, bounds, trial_end, anchor) in table {
        let made = opened(more.clone());
        let record = &made.record;
        assert_eq!(record.status, status, "{more}");
        assert_eq!(period(&made), bounds, "{more}");
        assert_eq!((record.trial_end, made.anchor), (trial_end, anchor), "{more}");
        assert_eq!((record.amount, record.resource_version, record.livemode), (2050, 1, false));
        assert_eq!(event_names(&[made.told()]), ["subscription.created"]);
    }
}

#[test]
fn a_beginning_that_contradicts_itself_is_refused() {
    let table = [
        (json!({"status": "trialing"}), "/trial_end required"),
        (json!({"status": "active", "trial_days": 7}), "/status inconsistent"),
        (json!({"status": "paused"}), "/status invalid_value"),
        (json!({"trial_days": 7, "trial_end": at("2026-10-01")}), "/trial_days inconsistent"),
        (json!({"trial_end": at("2026-08-01")}), "/trial_end out_of_range"),
        (json!({"trial_days": 0}), "/trial_days out_of_range"),
        (json!({"trial_days": 731}), "/trial_days out_of_range"),
        (
            json!({"trial_days": 7, "current_period_end": at("2026-10-01")}),
            "/current_period_end inconsistent",
        ),
        (
            json!({"status": "incomplete", "current_period_start": noon()}),
            "/current_period_start inconsistent",
        ),
        (json!({"current_period_start": noon().plus_ms(300_001)}), "/current_period_start out_of_range"),
        (json!({"current_period_end": noon()}), "/current_period_end out_of_range"),
        (json!({"interval_count": 37}), "/interval_count out_of_range"),
        (json!({"interval": "hour"}), "/interval invalid_value"),
        (json!({"items": []}), "/items too_short"),
        (json!({"customer": null}), "/customer required"),
        (json!({"amount": 2050}), "/amount field_not_writable"),
        (
            json!({"items": [{"name": "x", "quantity": 100_000, "unit_amount": 10_000_000}]}),
            "/items out_of_range",
        ),
    ];
    for (more, error) in table {
        let refusal = opened_at(more.clone(), noon()).unwrap_err();
        assert_eq!(errors(&refusal), [error], "{more}");
    }
}

#[test]
fn an_incomplete_one_begins_when_it_becomes_more() {
    let waiting = opened(json!({"status": "incomplete"}));
    let begun = changed(&waiting, json!({"status": "active", "occurred_at": at("2026-08-31")}));
    assert_eq!(period(&begun), Some((at("2026-08-31"), at("2026-09-30"))));
    assert_eq!(begun.anchor, Some(at("2026-08-31")));

    let refusal = reported_at(&waiting, &json!({"status": "trialing"}), noon()).unwrap_err();
    assert_eq!(refusal.members[0].pointer, "/trial_end");
    let trial = changed(
        &waiting,
        json!({"status": "trialing", "trial_end": at("2026-09-08"), "occurred_at": noon()}),
    );
    assert_eq!(period(&trial), Some((noon(), at("2026-09-08"))));
    assert_eq!(trial.record.trial_end, Some(at("2026-09-08")));
    // The end that was agreed on before.
    let agreed = opened(json!({"status": "incomplete", "trial_end": at("2026-09-05")}));
    let trial = changed(&agreed, json!({"status": "trialing"}));
    assert_eq!(trial.record.current_period_end, Some(at("2026-09-05")));
}

#[test]
fn the_first_period_follows_the_trial_or_ends_it_early() {
    let trial = opened(json!({"trial_end": at("2026-09-30")}));
    for status in ["active", "past_due"] {
        let (on_time, _) = changed_at(&trial, &json!({"status": status}), at("2026-10-02"));
        assert_eq!(period(&on_time), Some((at("2026-09-30"), at("2026-10-30"))));
        let end = Some(at("2026-09-30"));
        assert_eq!((on_time.record.trial_end, on_time.anchor), (end, end));
    }
    let (early, _) = changed_at(&trial, &json!({"status": "active"}), at("2026-09-11"));
    assert_eq!(period(&early), Some((at("2026-09-11"), at("2026-10-11"))));
    assert_eq!(early.record.trial_end, Some(at("2026-09-11")));
    let refusal = reported_at(&trial, &json!({"status": "active", "trial_end": at("2026-10-05")}), noon());
    assert_eq!(refusal.unwrap_err().members[0].pointer, "/trial_end");
}
