//! `deploy/monitoring`: the alert rules and the dashboard name metrics that exist, and every alert is in the runbook.
//!
//! The proof (`cargo xtask prove monitoring`) goes further: a Prometheus scrapes a live authority, evaluates every
//! rule, and answers the query of every panel.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::process::Stdio;

use serde_json::Value;
use tests::{Api, Authority, Merchant, Receiver, eventually, ports};
use tokio::process::Command;

const ALERTS: &str = include_str!("../../../deploy/monitoring/alerts.yml");
const DASHBOARD: &str = include_str!("../../../deploy/monitoring/dashboard.json");
const RUNBOOK: &str = include_str!("../../../docs/runbook.md");

/// An authority that has answered a merchant and delivered events.
async fn at_work() -> Authority {
    let (authority, merchant) = Merchant::alone("watched").await;
    let receiver = Receiver::accepting().await;
    merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    merchant.paid_order().await;
    receiver.until("six events", |arrivals| arrivals.accepted("/hook") == 6).await;
    authority
}

/// The names of the alerts.
fn alerts() -> Vec<&'static str> {
    ALERTS.lines().filter_map(|line| line.trim_start().strip_prefix("- alert: ")).collect()
}

/// The queries of the dashboard's panels, for the job `authority`.
fn panel_queries() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let filled = |query: &str| query.replace("$job", "authority").replace("$__rate_interval", "10s");
    targets.map(|target| filled(target["expr"].as_str().unwrap())).collect()
}

/// The metrics that a text names.
fn metrics_in(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("authority_") || word.starts_with("process_")).collect()
}

#[test]
fn every_alert_has_its_section_in_the_runbook() {
    let named = alerts();
    assert_eq!(named.len(), 14);
    let sections: Vec<&str> = RUNBOOK.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let of_alerts: Vec<&str> =
        sections.into_iter().filter(|section| section.starts_with("Authority")).collect();
    assert_eq!(of_alerts, named, "the sections of the runbook, in the order of the rules");
    for alert in named {
        let link = format!("runbook: docs/runbook.md#{}\n", alert.to_lowercase());
        assert_eq!(ALERTS.matches(&link).count(), 1, "{alert}");
    }
}

#[tokio::test]
async fn rules_and_panels_name_metrics_that_exist() {
    let authority = at_work().await;
    let queries = panel_queries().join("\n");
    let rules: String =
        ALERTS.lines().filter(|line| !line.contains("summary:")).collect::<Vec<_>>().join("\n");
    let named: BTreeSet<&str> = metrics_in(&rules).union(&metrics_in(&queries)).copied().collect();
    assert!(named.len() > 15, "{named:?}");
    let text = authority.probe("/metrics").await.text().to_owned();
    for metric in named {
        let sampled = |line: &str| line.strip_prefix(metric).is_some_and(|rest| rest.starts_with(['{', ' ']));
        assert!(text.lines().any(sampled), "no {metric} in\n{text}");
    }
}

fn percent_encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        write!(encoded, "%{byte:02X}").unwrap();
        encoded
    })
}

#[tokio::test]
#[ignore = "needs Prometheus: cargo xtask prove monitoring"]
async fn a_live_prometheus_evaluates_all_of_it() {
    let authority = at_work().await;

    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("alerts.yml"), ALERTS).unwrap();
    let config = format!(
        "global: {{ scrape_interval: 1s, evaluation_interval: 1s }}\nrule_files: [alerts.yml]\nscrape_configs:\n  \
         - job_name: authority\n    static_configs:\n      - targets: [\"{}\"]\n",
        authority.operator_address()
    );
    fs::write(folder.path().join("prometheus.yml"), config).unwrap();
    // Prometheus does not say which port it got.
    let address = format!("127.0.0.1:{}", ports::unclaimed());
    let prometheus = Command::new("prometheus")
        .args(["--config.file=prometheus.yml", "--storage.tsdb.path=data"])
        .arg(format!("--web.listen-address={address}"))
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn();
    let _prometheus = prometheus.expect("Prometheus is needed (on Debian: `apt install prometheus`)");
    let api = Api::at(&format!("http://{address}/api/v1"), "");

    let mut queries = panel_queries();
    queries.push("up{job=\"authority\"} == 1".to_owned());
    for query in &queries {
        let path = format!("/query?query={}", percent_encoded(query));
        eventually(query, async || {
            let reply = api.call(http::Method::GET, &path).try_send().await.ok()?;
            // A wrong query is wrong for ever.
            assert_ne!(reply.status, 400, "{}", reply.text());
            let result = (reply.status == 200).then(|| reply.json())?;
            (!result["data"]["result"].as_array()?.is_empty()).then_some(())
        })
        .await;
    }
    let rules = eventually("every rule evaluated", async || {
        let groups = api.get("/rules").await.json()["data"]["groups"].clone();
        let rules = groups[0]["rules"].as_array()?.clone();
        rules.iter().all(|rule| rule["health"] != "unknown").then_some(rules)
    })
    .await;
    let names: Vec<&str> = rules.iter().map(|rule| rule["name"].as_str().unwrap()).collect();
    assert_eq!(names, alerts());
    for rule in &rules {
        assert_eq!((&rule["health"], &rule["state"]), (&"ok".into(), &"inactive".into()), "{rule}");
    }
    println!("{} queries of panels answered, {} rules evaluated", queries.len() - 1, rules.len());
}
