//! The metrics that a monitoring system can read (contract 15.11): counters and durations of this process.
//!
//! The HTTP layer records every request when it is answered, the dispatcher every attempt when it ends. `GET
//! /metrics` writes them out, together with figures from the database ([`crate::app::figures`]). No label carries a
//! URL, a key, a slug or an id: the labels of a request are its route's template, its method and its status, so the
//! program bounds the number of labels, not its users.

use std::fmt;
use std::time::Duration;

use authority_domain::delivery::outcome::OutcomeClass;
use http::Method;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Buckets of the request histogram, in seconds: from a read out of memory to the longest that a client waits.
const REQUEST_SECONDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// The same for attempts, up to the longest deadline.
const ATTEMPT_SECONDS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 50.0];

/// The same for the time from an event's commit to its first attempt: normally under a second (contract 7.2).
const WAIT_SECONDS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 60.0, 300.0];

/// The label for an unknown route, and for a method that HTTP does not define.
const NONE_OF_OURS: &str = "other";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    api: &'static str,
    method: &'static str,
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    api: &'static str,
    method: &'static str,
    route: String,
    status: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AttemptLabels {
    class: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReloadLabels {
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ApiLabels {
    api: &'static str,
}

/// The counters of this process.
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Family<RouteLabels, Histogram, fn() -> Histogram>,
    attempts: Family<AttemptLabels, Counter>,
    attempt_seconds: Histogram,
    first_attempt_wait_seconds: Histogram,
    config_reloads: Family<ReloadLabels, Counter>,
    live_pages: Family<ApiLabels, Gauge>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let request_histogram: fn() -> Histogram = || Histogram::new(REQUEST_SECONDS);
        let metrics = Self {
            registry: Registry::with_prefix("authority"),
            requests: Family::default(),
            request_seconds: Family::new_with_constructor(request_histogram),
            attempts: Family::default(),
            attempt_seconds: Histogram::new(ATTEMPT_SECONDS),
            first_attempt_wait_seconds: Histogram::new(WAIT_SECONDS),
            config_reloads: Family::default(),
            live_pages: Family::default(),
        };
        metrics.registered()
    }
}

impl Metrics {
    fn registered(mut self) -> Self {
        let registry = &mut self.registry;
        registry.register("http_requests", "Requests answered, by route and status", self.requests.clone());
        let help = "Time from the end of a request's head to its answer";
        registry.register("http_request_seconds", help, self.request_seconds.clone());
        let help = "Delivery attempts that have ended, by the class of their outcome";
        registry.register("delivery_attempts", help, self.attempts.clone());
        let help = "How long delivery attempts took";
        registry.register("delivery_attempt_seconds", help, self.attempt_seconds.clone());
        let help = "Time from making a delivery to its first attempt";
        registry.register(
            "delivery_first_attempt_wait_seconds",
            help,
            self.first_attempt_wait_seconds.clone(),
        );
        // Counted from 0: an alert could not see a counter's first increase if the counter came with it.
        for class in CLASSES {
            let _ = self.attempts.get_or_create(&AttemptLabels { class: class_label(class) });
        }
        for outcome in ["applied", "refused"] {
            let _ = self.config_reloads.get_or_create(&ReloadLabels { outcome });
        }
        let help = "Reloads of the configuration, by their outcome";
        registry.register("config_reloads", help, self.config_reloads.clone());
        let help = "Pages of the portal and of the console that keep themselves up to date";
        registry.register("live_pages", help, self.live_pages.clone());
        self
    }

    /// Records an answered request. `route` is the template that it matched, if any.
    pub fn request(
        &self,
        api: &'static str,
        method: &Method,
        route: Option<&str>,
        status: u16,
        took: Duration,
    ) {
        let method = method_label(method);
        let route = route.unwrap_or(NONE_OF_OURS).to_owned();
        let labels = RouteLabels { api, method, route: route.clone() };
        self.request_seconds.get_or_create(&labels).observe(took.as_secs_f64());
        self.requests.get_or_create(&RequestLabels { api, method, route, status: status.into() }).inc();
    }

    /// Records an attempt that has ended.
    pub fn attempt(&self, class: OutcomeClass, took: Duration) {
        self.attempts.get_or_create(&AttemptLabels { class: class_label(class) }).inc();
        self.attempt_seconds.observe(took.as_secs_f64());
    }

    /// Records how long a delivery waited for its first attempt.
    pub fn first_attempt(&self, waited: Duration) {
        self.first_attempt_wait_seconds.observe(waited.as_secs_f64());
    }

    /// Records a reload of the configuration.
    pub fn reload(&self, applied: bool) {
        let outcome = if applied { "applied" } else { "refused" };
        self.config_reloads.get_or_create(&ReloadLabels { outcome }).inc();
    }

    /// The number of pages at one of the listening sockets that keep themselves up to date.
    pub fn live_pages(&self, api: &'static str) -> Gauge {
        self.live_pages.get_or_create_owned(&ApiLabels { api })
    }

    /// Writes everything in the OpenMetrics text format, followed by `others`.
    ///
    /// # Errors
    /// None in practice: writing into memory does not fail.
    pub fn write(&self, others: &[&Registry]) -> Result<String, fmt::Error> {
        let mut text = String::with_capacity(16 * 1024);
        encode_registry(&mut text, &self.registry)?;
        for registry in others {
            encode_registry(&mut text, registry)?;
        }
        encode_eof(&mut text)?;
        Ok(text)
    }
}

const CLASSES: [OutcomeClass; 5] = [
    OutcomeClass::Success,
    OutcomeClass::Gone,
    OutcomeClass::Retryable,
    OutcomeClass::Rejected,
    OutcomeClass::Blocked,
];

fn class_label(class: OutcomeClass) -> &'static str {
    match class {
        OutcomeClass::Success => "success",
        OutcomeClass::Gone => "gone",
        OutcomeClass::Retryable => "retryable",
        OutcomeClass::Rejected => "rejected",
        OutcomeClass::Blocked => "blocked",
    }
}

/// A method may be any token, so all methods that HTTP does not define share one label.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PATCH => "PATCH",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => NONE_OF_OURS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_told_by_route_and_never_by_what_a_client_made_up() {
        let metrics = Metrics::default();
        let took = Duration::from_millis(3);
        metrics.request("merchant-api", &Method::GET, Some("/v1/merchant/orders/{order}"), 200, took);
        metrics.request("merchant-api", &Method::GET, Some("/v1/merchant/orders/{order}"), 200, took);
        let made_up = Method::from_bytes(b"BREW").unwrap();
        metrics.request("merchant-api", &made_up, None, 404, took);
        let text = metrics.write(&[]).unwrap();
        let route = "api=\"merchant-api\",method=\"GET\",route=\"/v1/merchant/orders/{order}\"";
        for line in [
            format!("authority_http_requests_total{{{route},status=\"200\"}} 2"),
            "authority_http_requests_total{api=\"merchant-api\",method=\"other\",route=\"other\",status=\"404\"} 1"
                .to_owned(),
            format!("authority_http_request_seconds_bucket{{le=\"0.0025\",{route}}} 0"),
            format!("authority_http_request_seconds_bucket{{le=\"0.005\",{route}}} 2"),
            format!("authority_http_request_seconds_count{{{route}}} 2"),
        ] {
            assert!(text.lines().any(|found| found == line), "no {line} in\n{text}");
        }
        assert!(text.ends_with("# EOF\n"));
    }

    #[test]
    fn attempts_are_told_by_class() {
        let metrics = Metrics::default();
        for class in [OutcomeClass::Success, OutcomeClass::Success, OutcomeClass::Blocked] {
            metrics.attempt(class, Duration::from_millis(30));
        }
        metrics.first_attempt(Duration::from_millis(7));
        let text = metrics.write(&[]).unwrap();
        for line in [
            "authority_delivery_attempts_total{class=\"success\"} 2",
            "authority_delivery_attempts_total{class=\"blocked\"} 1",
            "authority_delivery_attempts_total{class=\"gone\"} 0",
            "authority_config_reloads_total{outcome=\"refused\"} 0",
            "authority_delivery_attempt_seconds_bucket{le=\"0.025\"} 0",
            "authority_delivery_attempt_seconds_bucket{le=\"0.05\"} 3",
            "authority_delivery_first_attempt_wait_seconds_bucket{le=\"0.01\"} 1",
        ] {
            assert!(text.lines().any(|found| found == line), "no {line} in\n{text}");
        }
    }
}
