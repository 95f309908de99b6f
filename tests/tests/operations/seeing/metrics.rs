//! `GET /metrics`: everything that contract 15.11 names is there, and nothing in it names anybody.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use tests::{Answer, Database, Merchant, Receiver, eventually, on_both_databases, retries, text};

on_both_databases!(every_family_of_the_contract_is_there_and_no_label_names_anybody);

/// The families with their types, by what contract 15.11 calls them.
const FAMILIES: [(&str, &str); 19] = [
    // requests by route and status, and their latency
    ("authority_http_requests", "counter"),
    ("authority_http_request_seconds", "histogram"),
    // events committed
    ("authority_events_committed", "counter"),
    // deliveries by outcome class
    ("authority_delivery_attempts", "counter"),
    // commit to first attempt
    ("authority_delivery_first_attempt_wait_seconds", "histogram"),
    // attempt duration
    ("authority_delivery_attempt_seconds", "histogram"),
    // due, scheduled, leased
    ("authority_deliveries_pending", "gauge"),
    // oldest due age
    ("authority_oldest_due_delivery_age_seconds", "gauge"),
    // endpoints by health
    ("authority_endpoints", "gauge"),
    // database pool
    ("authority_database_connections", "gauge"),
    ("authority_database_up", "gauge"),
    // the process and its build, as every exporter names them
    ("authority_build", "info"),
    ("process_cpu_seconds", "counter"),
    ("process_start_time_seconds", "gauge"),
    ("process_resident_memory_bytes", "gauge"),
    ("process_virtual_memory_bytes", "gauge"),
    ("process_threads", "gauge"),
    ("process_open_fds", "gauge"),
    ("process_max_fds", "gauge"),
];

/// The values of a label that come from a closed set; a route is a template of the program.
fn allowed(label: &str, value: &str) -> bool {
    match label {
        "api" => ["merchant-api", "operator-api"].contains(&value),
        "method" => ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS", "other"].contains(&value),
        "route" => {
            let template = |segment: &str| {
                segment.starts_with('{') && segment.ends_with('}')
                    || segment.chars().all(|c| c.is_ascii_lowercase() || c == '-' || c == '_')
            };
            value == "other"
                || value.strip_prefix("/v1/").is_some_and(|rest| rest.split('/').all(template))
                || ["/metrics", "/healthz", "/readyz"].contains(&value)
        }
        "status" => value.parse::<u16>().is_ok_and(|status| (100..600).contains(&status)),
        "class" => ["success", "gone", "retryable", "rejected", "blocked"].contains(&value),
        "state" => [
            "due",
            "scheduled",
            "leased",
            "unknown",
            "healthy",
            "degraded",
            "failing",
            "disabled",
            "idle",
            "busy",
            "limit",
        ]
        .contains(&value),
        "outcome" => ["applied", "refused"].contains(&value),
        "pool" => value.chars().all(|c| c.is_ascii_lowercase() || c == '_'),
        "version" | "api_version" => value.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '-'),
        "le" => value == "+Inf" || value.parse::<f64>().is_ok(),
        _ => false,
    }
}

/// Every label of every sample, as pairs.
fn labels(text: &str) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((_, rest)) = line.split_once('{') else { continue };
        let (inside, _) = rest.rsplit_once('}').unwrap();
        for pair in inside.split("\",") {
            let (label, value) = pair.split_once("=\"").unwrap();
            found.insert((label.to_owned(), value.trim_end_matches('"').to_owned()));
        }
    }
    found
}

async fn every_family_of_the_contract_is_there_and_no_label_names_anybody(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[retries("0,3600")], "named-nowhere").await;
    let receiver =
        Receiver::start(|arrival| Answer::status(if arrival.path == "/bad" { 500 } else { 200 })).await;
    let good = merchant.endpoint(&receiver.url("/good"), &["*"]).await;
    let bad = merchant.endpoint(&receiver.url("/bad"), &["checkout.created"]).await;
    let order = merchant.paid_order().await;
    merchant.order(&order).await;
    merchant.api.get(&format!("/orders/{}", merchant.key)).await.refused(404, "not_found");
    merchant.api.get("/secret-path/named-nowhere").await.refused(404, "route_not_found");
    merchant.api.post("/webhook-endpoints", &json!({})).await.refused(422, "validation_failed");
    receiver.until("every first attempt", |arrivals| arrivals.all.len() == 7).await;
    let text_now = eventually("figures of after the attempts", async || {
        let reply = authority.probe("/metrics").await;
        assert_eq!(reply.status, 200);
        let text = reply.text().to_owned();
        (text.contains("authority_deliveries_pending{state=\"scheduled\"} 1\n")
            && text.contains("authority_delivery_attempts_total{class=\"retryable\"} 1\n"))
        .then_some(text)
    })
    .await;
    let types: BTreeMap<&str, &str> =
        text_now.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect();
    for (family, kind) in FAMILIES {
        assert_eq!(types.get(family), Some(&kind), "{family} in\n{text_now}");
        let sampled = text_now.lines().any(|line| line.starts_with(family));
        assert!(sampled, "{family} has no sample");
    }
    let value = |name: &str| {
        let line = text_now.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in\n{text_now}")).parse::<f64>().unwrap()
    };
    let seconds = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
    // Within the minutes that a test may take on a slow machine; the kernel counts from its own boot.
    assert!((seconds - value("process_start_time_seconds")).abs() < 600.0);
    assert!(value("process_resident_memory_bytes") > 1e6);
    assert!(value("process_open_fds") < value("process_max_fds"));
    for (label, value) in labels(&text_now) {
        assert!(allowed(&label, &value), "{label}={value}");
    }
    let event = text(&merchant.events().await[0], "id");
    let host = receiver.url("").replace("http://", "");
    for name in [&merchant.id, &merchant.key, &order, &good.id, &bad.id, &good.secret, &event, &host] {
        assert!(!text_now.contains(name.as_str()), "{name}");
    }
    assert!(!text_now.contains("named-nowhere") && text_now.ends_with("# EOF\n"));
}
