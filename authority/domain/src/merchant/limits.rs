//! How much of the platform one merchant may use (contract 18.4-9).
//!
//! The platform has a default for every limit. An operator may set others for a merchant ([`Limits`]); those it does
//! not set stay at the default. The limits in force are shown beside them ([`EffectiveLimits`]). Deliberately
//! absent: counting anything. That happens where requests are accepted, endpoints are created and deliveries are
//! sent.

use serde::{Deserialize, Serialize};

use crate::refusal::{MemberCode, Refusal, Result};

/// The most that a rate can be set to: one request each microsecond.
pub const RATE_MAX: i64 = 1_000_000;

/// How many endpoints a merchant may have per mode, unless the operator says otherwise.
pub const ENDPOINTS_DEFAULT: i64 = 16;

/// How many endpoints an operator can allow a merchant, per mode.
pub const ENDPOINTS_MAX: i64 = 1_000;

/// Requests in flight to one endpoint, where neither the endpoint nor its merchant has a number of its own.
pub const IN_FLIGHT_DEFAULT: i64 = 128;

/// The most requests in flight to one endpoint.
pub const IN_FLIGHT_MAX: i64 = 256;

/// What a merchant may hold of each instance's delivery slots, in percent, unless the operator says otherwise.
pub const DISPATCH_SHARE_DEFAULT: i64 = 25;

#[cfg(feature = "schema")]
const fn rules() -> crate::schema::Members {
    crate::schema::members!(
        "read_live_per_second": Between(1, RATE_MAX),
        "read_test_per_second": Between(1, RATE_MAX),
        "write_live_per_second": Between(1, RATE_MAX),
        "write_test_per_second": Between(1, RATE_MAX),
        "delivery_per_minute": Between(1, RATE_MAX),
        "endpoints": Between(1, ENDPOINTS_MAX),
        "max_in_flight": Between(1, IN_FLIGHT_MAX),
        "dispatch_share_percent": Between(1, 100),
    )
}

/// What an operator allows a merchant. `None`: the platform's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)] // a merchant that was stored before a limit existed has its default
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "MerchantLimits", transform = rules())
)]
pub struct Limits {
    /// GET and HEAD with a live key, per second; twice that at once.
    pub read_live_per_second: Option<i64>,
    /// GET and HEAD with a test key, per second; twice that at once.
    pub read_test_per_second: Option<i64>,
    /// Other methods with a live key, per second; twice that at once.
    pub write_live_per_second: Option<i64>,
    /// Other methods with a test key, per second; twice that at once.
    pub write_test_per_second: Option<i64>,
    /// Test events, replays and recoveries per minute and mode; as many at once.
    pub delivery_per_minute: Option<i64>,
    /// Webhook endpoints per mode.
    pub endpoints: Option<i64>,
    /// Requests in flight to one endpoint: what its endpoints have at most, and those that set no number of their own.
    pub max_in_flight: Option<i64>,
    /// How much of each instance's delivery slots the merchant may hold, in percent.
    pub dispatch_share_percent: Option<i64>,
}

/// The limits that hold for a merchant: its own, and the platform's defaults for the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "EffectiveMerchantLimits", transform = rules())
)]
pub struct EffectiveLimits {
    /// GET and HEAD with a live key, per second; null when rate limits are switched off.
    pub read_live_per_second: Option<i64>,
    /// GET and HEAD with a test key, per second; null when rate limits are switched off.
    pub read_test_per_second: Option<i64>,
    /// Other methods with a live key, per second; null when rate limits are switched off.
    pub write_live_per_second: Option<i64>,
    /// Other methods with a test key, per second; null when rate limits are switched off.
    pub write_test_per_second: Option<i64>,
    /// Test events, replays and recoveries per minute and mode; null when rate limits are switched off.
    pub delivery_per_minute: Option<i64>,
    /// Webhook endpoints per mode.
    pub endpoints: i64,
    /// The most that one endpoint can have in flight.
    pub max_in_flight: i64,
    /// How much of each instance's delivery slots the merchant may hold, in percent.
    pub dispatch_share_percent: i64,
}

/// The platform's rates for every merchant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct DefaultRates {
    pub read_live_per_second: i64,
    pub read_test_per_second: i64,
    pub write_live_per_second: i64,
    pub write_test_per_second: i64,
    pub delivery_per_minute: i64,
}

impl Limits {
    /// The limits in force for the merchant; `platform` is `None` when rate limits are switched off.
    #[must_use]
    pub fn effective(&self, platform: Option<&DefaultRates>) -> EffectiveLimits {
        let rate = |own: Option<i64>, default: fn(&DefaultRates) -> i64| {
            platform.map(|platform| own.unwrap_or(default(platform)))
        };
        EffectiveLimits {
            read_live_per_second: rate(self.read_live_per_second, |rates| rates.read_live_per_second),
            read_test_per_second: rate(self.read_test_per_second, |rates| rates.read_test_per_second),
            write_live_per_second: rate(self.write_live_per_second, |rates| rates.write_live_per_second),
            write_test_per_second: rate(self.write_test_per_second, |rates| rates.write_test_per_second),
            delivery_per_minute: rate(self.delivery_per_minute, |rates| rates.delivery_per_minute),
            endpoints: self.endpoints_max(),
            max_in_flight: self.max_in_flight.unwrap_or(IN_FLIGHT_MAX),
            dispatch_share_percent: self.dispatch_share_percent.unwrap_or(DISPATCH_SHARE_DEFAULT),
        }
    }

    /// How many endpoints the merchant may have per mode.
    #[must_use]
    pub fn endpoints_max(&self) -> i64 {
        self.endpoints.unwrap_or(ENDPOINTS_DEFAULT)
    }
}

/// How many requests may be in flight to one endpoint. Written as the one number that holds ([`MaxInFlight::get`]); the
/// claim of the store computes the same in SQL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "i64", into = "i64")]
pub struct MaxInFlight {
    /// What was set for the endpoint.
    pub own: Option<i64>,
    /// What the operator allows its merchant, if anything was set.
    pub of_merchant: Option<i64>,
}

#[cfg(feature = "schema")]
crate::schema::written_as!(MaxInFlight, i64);

impl MaxInFlight {
    /// The number that holds: the endpoint's own, but not more than its merchant's; else its merchant's; else the
    /// platform's default.
    #[must_use]
    pub fn get(self) -> i64 {
        match (self.own, self.of_merchant) {
            (Some(own), Some(of_merchant)) => own.min(of_merchant),
            (own, of_merchant) => own.or(of_merchant).unwrap_or(IN_FLIGHT_DEFAULT),
        }
    }

    /// The most that may be set for the endpoint.
    #[must_use]
    pub fn highest(self) -> i64 {
        self.of_merchant.unwrap_or(IN_FLIGHT_MAX)
    }

    /// The same with another number for the endpoint; `None` leaves it to the default.
    ///
    /// # Errors
    /// `validation_failed` when it is more than the merchant may have.
    pub fn set(self, own: Option<i64>) -> Result<Self> {
        let highest = self.highest();
        if own.is_some_and(|own| own > highest) {
            let detail = format!(
                "This merchant's limit max_in_flight is {highest}; the platform's operator can raise it."
            );
            return Err(Refusal::member("/max_in_flight", MemberCode::OutOfRange, detail));
        }
        Ok(Self { own, ..self })
    }
}

impl From<i64> for MaxInFlight {
    fn from(own: i64) -> Self {
        Self { own: Some(own), of_merchant: None }
    }
}

impl From<MaxInFlight> for i64 {
    fn from(max: MaxInFlight) -> Self {
        max.get()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLATFORM: DefaultRates = DefaultRates {
        read_live_per_second: 100,
        read_test_per_second: 25,
        write_live_per_second: 26,
        write_test_per_second: 10,
        delivery_per_minute: 60,
    };

    /// The limits in their order.
    fn in_force(limits: Limits, platform: Option<&DefaultRates>) -> (Vec<Option<i64>>, [i64; 3]) {
        let EffectiveLimits {
            read_live_per_second,
            read_test_per_second,
            write_live_per_second,
            write_test_per_second,
            delivery_per_minute,
            endpoints,
            max_in_flight,
            dispatch_share_percent,
        } = limits.effective(platform);
        let read = [read_live_per_second, read_test_per_second];
        let write = [write_live_per_second, write_test_per_second];
        let rates = [read, write].concat().into_iter().chain([delivery_per_minute]).collect();
        (rates, [endpoints, max_in_flight, dispatch_share_percent])
    }

    #[test]
    fn what_is_not_set_is_the_platforms() {
        let rates = [100, 25, 26, 10, 60].map(Some).to_vec();
        assert_eq!(in_force(Limits::default(), Some(&PLATFORM)), (rates, [16, 256, 25]));
    }

    #[test]
    fn what_is_set_holds_and_rates_only_where_there_are_rates() {
        let limits = Limits {
            read_live_per_second: Some(1),
            read_test_per_second: Some(2),
            write_live_per_second: Some(3),
            write_test_per_second: Some(4),
            delivery_per_minute: Some(5),
            endpoints: Some(6),
            max_in_flight: Some(7),
            dispatch_share_percent: Some(8),
        };
        assert_eq!(in_force(limits, Some(&PLATFORM)), ([1, 2, 3, 4, 5].map(Some).to_vec(), [6, 7, 8]));
        assert_eq!(in_force(limits, None), (vec![None; 5], [6, 7, 8]));
    }

    #[test]
    fn in_flight_is_the_endpoints_then_the_merchants_then_the_platforms() {
        // Own, the merchant's, what holds, the most that can be set.
        let table = [
            (None, None, 128, 256),
            (None, Some(40), 40, 40),
            (None, Some(256), 256, 256),
            (Some(1), None, 1, 256),
            (Some(256), None, 256, 256),
            (Some(30), Some(40), 30, 40),
            (Some(40), Some(40), 40, 40),
            (Some(50), Some(40), 40, 40),
        ];
        for (own, of_merchant, holds, highest) in table {
            let max = MaxInFlight { own, of_merchant };
            assert_eq!((max.get(), max.highest()), (holds, highest), "{max:?}");
        }
    }

    proptest! {
        #[test]
        fn what_holds_never_exceeds_what_may_be_set(
            own in prop::option::of(1..=IN_FLIGHT_MAX),
            of_merchant in prop::option::of(1..=IN_FLIGHT_MAX),
        ) {
            let max = MaxInFlight { own, of_merchant };
            prop_assert!((1..=max.highest()).contains(&max.get()));
            if own.is_some_and(|own| own <= max.highest()) {
                prop_assert_eq!(Some(max.get()), own);
            }
        }
    }
}
