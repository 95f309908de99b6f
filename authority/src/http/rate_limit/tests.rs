//! The buckets as requests see them, under a clock that the test turns.

use std::sync::Mutex;

use authority_domain::MerchantId;
use http::HeaderMap;
use proptest::prelude::*;

use super::*;

pub(super) const PLATFORMS: Limits = Limits {
    read_live_per_second: None,
    read_test_per_second: None,
    write_live_per_second: None,
    write_test_per_second: None,
    delivery_per_minute: None,
    endpoints: None,
    max_in_flight: None,
    dispatch_share_percent: None,
};

/// A clock that the test sets.
#[derive(Default)]
pub(super) struct Hand(Mutex<Duration>);

impl Hand {
    fn turn(&self, by: Duration) {
        *self.0.lock().unwrap() += by;
    }
}

impl Clock for Hand {
    fn now_ms(&self) -> i64 {
        0
    }

    fn monotonic(&self) -> Duration {
        *self.0.lock().unwrap()
    }
}

pub(super) fn limiter() -> (Arc<Hand>, RateLimiter) {
    let clock = Arc::new(Hand::default());
    (clock.clone(), RateLimiter::new(Some(RateLimits::default()), clock))
}

pub(super) fn tenant(merchant: &str, livemode: bool) -> Tenant {
    Tenant { merchant_id: MerchantId::from_store(merchant.to_owned()), livemode }
}

pub(super) fn fields(standing: RateLimitStatus) -> (String, String) {
    let mut headers = HeaderMap::new();
    standing.write(&mut headers);
    let text = |name| headers[name].to_str().unwrap().to_owned();
    (text("RateLimit-Policy"), text("RateLimit"))
}

#[test]
fn each_policy_and_mode_has_the_numbers_of_the_contract() {
    let (_, limiter) = limiter();
    let table = [
        (Policy::Read, true, "\"read\";q=100;w=1", "\"read\";r=199;t=1", 200),
        (Policy::Read, false, "\"read\";q=25;w=1", "\"read\";r=49;t=1", 50),
        (Policy::Write, true, "\"write\";q=25;w=1", "\"write\";r=49;t=1", 50),
        (Policy::Write, false, "\"write\";q=10;w=1", "\"write\";r=19;t=1", 20),
        (Policy::Delivery, true, "\"delivery\";q=60;w=60", "\"delivery\";r=59;t=1", 60),
        (Policy::Delivery, false, "\"delivery\";q=60;w=60", "\"delivery\";r=59;t=1", 60),
    ];
    for (policy, livemode, policy_field, first, burst) in table {
        let tenant = tenant("mer_a", livemode);
        let (standing, allowed) = limiter.check(&tenant, &PLATFORMS, policy);
        assert_eq!(allowed, Ok(()));
        assert_eq!(fields(standing), (policy_field.to_owned(), first.to_owned()));
        let allowed = (1..1_000).take_while(|_| limiter.check(&tenant, &PLATFORMS, policy).1.is_ok()).count();
        assert_eq!(allowed + 1, burst, "{policy:?} livemode {livemode}");
    }
}

#[test]
fn an_empty_bucket_refuses_tells_when_and_refills() {
    let (clock, limiter) = limiter();
    let tenant = tenant("mer_a", false);
    while limiter.check(&tenant, &PLATFORMS, Policy::Write).1.is_ok() {}
    let (standing, refused) = limiter.check(&tenant, &PLATFORMS, Policy::Write);
    let refusal = refused.unwrap_err();
    assert_eq!((refusal.code, refusal.retry_after_s), (ErrorCode::RateLimited, Some(1)));
    assert_eq!(fields(standing).1, "\"write\";r=0;t=2");
    clock.turn(Duration::from_millis(99));
    assert!(limiter.check(&tenant, &PLATFORMS, Policy::Write).1.is_err());
    clock.turn(Duration::from_millis(1));
    assert!(limiter.check(&tenant, &PLATFORMS, Policy::Write).1.is_ok());
    assert!(limiter.check(&tenant, &PLATFORMS, Policy::Write).1.is_err());
    clock.turn(Duration::from_secs(3_600));
    assert_eq!(fields(limiter.check(&tenant, &PLATFORMS, Policy::Write).0).1, "\"write\";r=19;t=1");
}

#[test]
fn merchants_modes_and_policies_do_not_share() {
    let (_, limiter) = limiter();
    while limiter.check(&tenant("mer_a", false), &PLATFORMS, Policy::Write).1.is_ok() {}
    assert!(limiter.check(&tenant("mer_a", true), &PLATFORMS, Policy::Write).1.is_ok());
    assert!(limiter.check(&tenant("mer_a", false), &PLATFORMS, Policy::Read).1.is_ok());
    assert!(limiter.check(&tenant("mer_b", false), &PLATFORMS, Policy::Write).1.is_ok());
}

#[test]
fn failed_authentication_is_counted_by_address_and_by_ipv6_subscriber() {
    let (clock, limiter) = limiter();
    let ip = |text: &str| text.parse::<IpAddr>().unwrap();
    for n in 0..20 {
        assert_eq!(limiter.authentication_failed(Failure::WrongCredential, ip("192.0.2.1")), Ok(()), "{n}");
        assert_eq!(
            limiter.authentication_failed(Failure::WrongCredential, ip(&format!("2001:db8::{n}"))),
            Ok(()),
            "{n}"
        );
    }
    for refused in ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::ffff:1"] {
        let refusal = limiter.authentication_failed(Failure::WrongCredential, ip(refused)).unwrap_err();
        assert_eq!((refusal.code, refusal.retry_after_s), (ErrorCode::RateLimited, Some(3)), "{refused}");
    }
    assert_eq!(limiter.authentication_failed(Failure::WrongCredential, ip("192.0.2.2")), Ok(()));
    assert_eq!(limiter.authentication_failed(Failure::WrongCredential, ip("2001:db8:0:1::1")), Ok(()));
    // Requests without a credential have a bucket of their own.
    assert_eq!(limiter.authentication_failed(Failure::NoCredential, ip("192.0.2.1")), Ok(()));
    clock.turn(Duration::from_secs(3));
    assert_eq!(limiter.authentication_failed(Failure::WrongCredential, ip("192.0.2.1")), Ok(()));
}

#[test]
fn switched_off_nothing_is_counted_or_told() {
    let limiter = RateLimiter::new(None, Arc::new(Hand::default()));
    let mut headers = HeaderMap::new();
    for _ in 0..10_000 {
        let (standing, allowed) = limiter.check(&tenant("mer_a", true), &PLATFORMS, Policy::Delivery);
        assert_eq!(allowed, Ok(()));
        standing.write(&mut headers);
        assert_eq!(
            limiter.authentication_failed(Failure::WrongCredential, IpAddr::V6(Ipv6Addr::LOCALHOST)),
            Ok(())
        );
    }
    assert!(headers.is_empty());
}

#[test]
fn full_buckets_are_forgotten() {
    let (clock, limiter) = limiter();
    let buckets = limiter.buckets.load_full().unwrap();
    for n in 0..SWEEP_EVERY - 1 {
        assert_eq!(
            limiter.authentication_failed(Failure::WrongCredential, IpAddr::from(n.to_be_bytes())),
            Ok(())
        );
    }
    assert_eq!(buckets.auth.lock().len(), 4_095);
    clock.turn(Duration::from_secs(60));
    for n in 0..2_u32 {
        assert_eq!(
            limiter.authentication_failed(Failure::WrongCredential, IpAddr::from(n.to_be_bytes())),
            Ok(())
        );
    }
    assert_eq!(buckets.auth.lock().len(), 2);
}

proptest! {
    #[test]
    fn never_more_than_burst_plus_refill(gaps in prop::collection::vec(0_u64..200, 1..300)) {
        let (clock, limiter) = limiter();
        let tenant = tenant("mer_a", false);
        let mut allowed = 0_u64;
        for gap_ms in &gaps {
            clock.turn(Duration::from_millis(*gap_ms));
            allowed += u64::from(limiter.check(&tenant, &PLATFORMS, Policy::Write).1.is_ok());
        }
        let elapsed_ms: u64 = gaps.iter().sum();
        prop_assert!(allowed <= 20 + elapsed_ms / 100);
    }
}
