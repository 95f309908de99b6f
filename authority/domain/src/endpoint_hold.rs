//! When an endpoint gets another request (contract 7.4, 15.4 and 15.6).
//!
//! Before a delivery is taken, [`room`] says how many requests its endpoint may have beside those in flight: none while
//! the endpoint is held back, one while it is being probed or is `failing`, otherwise as many as are configured. The
//! claim of the store is the same rule in SQL, and whoever hands a fresh delivery over asks it here.
//!
//! Deliberately absent: the waits of a single delivery, which are [`crate::retry`]'s.

use crate::endpoint::HealthState;
use crate::time::Timestamp;

/// How far an endpoint is held back, as it is stored beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hold {
    /// No request begins before this time.
    pub until: Option<Timestamp>,
    /// How often the hold was lengthened since the last success. Above 0, one request at a time.
    pub step: i64,
    /// When it was last lengthened or lifted. What began before says nothing new.
    pub since: Option<Timestamp>,
}

/// How many more requests an endpoint may have at `now` beside the `in_flight` ones; `cap` is the configured number of
/// requests at a time, at least 1. Never negative: what is in flight may be more than a cap that has become smaller.
#[must_use]
pub fn room(hold: &Hold, health: HealthState, cap: i64, in_flight: i64, now: Timestamp) -> i64 {
    if hold.until.is_some_and(|until| until > now) {
        return 0;
    }
    let cap = if hold.step > 0 || health == HealthState::Failing { 1 } else { cap };
    (cap - in_flight).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_has_room_as_its_hold_and_health_say() {
        let now = Timestamp::from_ms(1_000);
        let at = |ms: i64| Some(Timestamp::from_ms(ms));
        // (held until, step, state, in flight) → room under a cap of 8.
        let table = [
            (None, 0, HealthState::Unknown, 0, 8),
            (None, 0, HealthState::Healthy, 7, 1),
            (None, 0, HealthState::Degraded, 8, 0),
            (None, 0, HealthState::Healthy, 9, 0),
            (at(1_001), 0, HealthState::Healthy, 0, 0),
            (at(1_001), 1, HealthState::Failing, 0, 0),
            (at(1_000), 0, HealthState::Healthy, 0, 8),
            (at(1_000), 1, HealthState::Healthy, 0, 1),
            (at(999), 7, HealthState::Degraded, 1, 0),
            (None, 0, HealthState::Failing, 0, 1),
            (None, 0, HealthState::Failing, 1, 0),
            (None, 3, HealthState::Unknown, 5, 0),
        ];
        for (until, step, health, in_flight, expected) in table {
            let hold = Hold { until, step, since: None };
            assert_eq!(room(&hold, health, 8, in_flight, now), expected, "{hold:?} {health:?} {in_flight}");
        }
    }
}
