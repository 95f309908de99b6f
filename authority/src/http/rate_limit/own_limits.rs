//! Limits that the operator set for one merchant, and instances that share them.

use super::tests::{PLATFORMS, fields, limiter, tenant};
use super::*;

#[test]
fn a_merchants_own_limits_hold_for_it_alone_and_at_once() {
    let (_, limiter) = limiter();
    let own = Limits {
        read_live_per_second: Some(7),
        read_test_per_second: Some(6),
        write_live_per_second: Some(5),
        write_test_per_second: Some(4),
        delivery_per_minute: Some(3),
        ..PLATFORMS
    };
    let table = [
        (Policy::Read, true, "\"read\";q=7;w=1", "\"read\";r=13;t=1", "read_live_per_second", 7, 14),
        (Policy::Read, false, "\"read\";q=6;w=1", "\"read\";r=11;t=1", "read_test_per_second", 6, 12),
        (Policy::Write, true, "\"write\";q=5;w=1", "\"write\";r=9;t=1", "write_live_per_second", 5, 10),
        (Policy::Write, false, "\"write\";q=4;w=1", "\"write\";r=7;t=1", "write_test_per_second", 4, 8),
        (
            Policy::Delivery,
            true,
            "\"delivery\";q=3;w=60",
            "\"delivery\";r=2;t=20",
            "delivery_per_minute",
            3,
            3,
        ),
    ];
    for (policy, livemode, policy_field, first, name, limit, burst) in table {
        let tenant = tenant("mer_a", livemode);
        let (standing, allowed) = limiter.check(&tenant, &own, policy);
        assert_eq!(allowed, Ok(()));
        assert_eq!(fields(standing), (policy_field.to_owned(), first.to_owned()));
        let more = (1..1_000).take_while(|_| limiter.check(&tenant, &own, policy).1.is_ok()).count();
        assert_eq!(more + 1, burst, "{policy:?} livemode {livemode}");
        let refusal = limiter.check(&tenant, &own, policy).1.unwrap_err();
        assert_eq!(refusal.extra, [("limit", name.into()), ("limit_value", limit.into())]);
    }
    let other = tenant("mer_b", true);
    let (standing, _) = limiter.check(&other, &PLATFORMS, Policy::Read);
    assert_eq!(fields(standing), ("\"read\";q=100;w=1".to_owned(), "\"read\";r=199;t=1".to_owned()));
    let refused = limiter.check(&tenant("mer_a", true), &own, Policy::Write).1.unwrap_err();
    assert_eq!(
        refused.detail,
        "Too many requests: this merchant's limit write_live_per_second is 5, 10 at once. Try again later; the \
         platform's operator can raise it."
    );
}

#[test]
fn instances_share_what_a_merchant_may_have() {
    let (_, limiter) = limiter();
    limiter.share_among(4);
    let (standing, _) = limiter.check(&tenant("mer_a", true), &PLATFORMS, Policy::Read);
    assert_eq!(fields(standing), ("\"read\";q=100;w=1".to_owned(), "\"read\";r=49;t=1".to_owned()));
    // Zero counts as one instance.
    limiter.share_among(0);
    let (standing, _) = limiter.check(&tenant("mer_b", true), &PLATFORMS, Policy::Read);
    assert_eq!(fields(standing).1, "\"read\";r=199;t=1");
}
