//! Names and addresses: what cannot be reached, and what must not be.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use authority::dispatch::client::DeliveryLimits;
use authority::dispatch::connector::Resolve;
use authority::dispatch::transport::AttemptReport;
use authority_domain::delivery::outcome::AttemptOutcome;
use authority_domain::endpoint::url::{UrlPolicy, UrlRules};
use proptest::prelude::*;

use super::scripted_receiver::*;

#[tokio::test]
async fn a_port_that_nobody_listens_on_is_a_connect_error() {
    let (listener, port) = listener().await;
    drop(listener);
    let client = client(DeliveryLimits::default(), loopback());
    let report = attempt(&client, &endpoint(&format!("http://127.0.0.1:{port}/"))).await;
    assert_eq!((report.outcome, report.status), (AttemptOutcome::ConnectError, None));
    assert_eq!((report.excerpt, report.retry_after_ms), (None, None));
}

/// A name server that is asked and fails, or is asked and never answers.
enum Broken {
    Fails,
    IsSilent,
}

#[async_trait]
impl Resolve for Broken {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        assert_eq!(host, "hooks.example.com");
        match self {
            Self::Fails => Err(io::Error::other("no such name")),
            Self::IsSilent => std::future::pending().await,
        }
    }
}

/// An attempt at a public endpoint on this port, with this name server.
async fn public_attempt(port: u16, resolver: impl Resolve + 'static) -> AttemptReport {
    let limits = DeliveryLimits { connect_timeout: Duration::from_millis(300), ..DeliveryLimits::default() };
    let client = client(limits, Arc::new(resolver));
    let url = format!("https://hooks.example.com:{port}/hook");
    attempt(&client, &UrlRules::new(UrlPolicy::Public).parse(&url, true).unwrap()).await
}

#[tokio::test]
async fn a_name_that_does_not_resolve_is_a_dns_error() {
    assert_eq!(public_attempt(443, Broken::Fails).await.outcome, AttemptOutcome::DnsError);
    assert_eq!(public_attempt(443, Answers(vec![])).await.outcome, AttemptOutcome::DnsError);
}

#[tokio::test]
async fn a_name_server_that_never_answers_is_bounded_by_the_connect_timeout() {
    let report = bounded(public_attempt(443, Broken::IsSilent)).await;
    assert_eq!(report.outcome, AttemptOutcome::Timeout);
    assert!((300..15_000).contains(&report.duration_ms), "{}", report.duration_ms);
}

#[tokio::test]
async fn one_private_answer_among_public_ones_blocks_the_attempt() {
    let (listener, port) = listener().await;
    let answers = [
        "93.184.215.14 127.0.0.1",
        "127.0.0.1 93.184.215.14",
        "127.0.0.1",
        "2606:2800:21f:cb07:6820:80da:af6b:8b2c ::1",
        "93.184.215.14 ::ffff:127.0.0.1",
        "93.184.215.14 1.1.1.1 8.8.8.8 9.9.9.9 8.8.4.4 127.0.0.1",
        "169.254.169.254",
        "0.0.0.0",
    ];
    for answer in answers {
        let addresses = answer.split(' ').map(|address| address.parse().unwrap()).collect();
        let report = public_attempt(port, Answers(addresses)).await;
        assert_eq!((report.outcome, report.status), (AttemptOutcome::BlockedAddress, None), "{answer}");
    }
    assert!(nobody_came(listener));
}

#[tokio::test]
async fn the_development_exception_is_for_loopback_addresses_only() {
    let (listener, port) = listener().await;
    let url = endpoint(&format!("http://localhost:{port}/"));
    for answer in ["93.184.215.14", "127.0.0.1 93.184.215.14", "127.0.0.1 10.0.0.1"] {
        let addresses = answer.split(' ').map(|address| address.parse().unwrap()).collect();
        let client = client(DeliveryLimits::default(), Arc::new(Answers(addresses)));
        assert_eq!(attempt(&client, &url).await.outcome, AttemptOutcome::BlockedAddress, "{answer}");
    }
    assert!(nobody_came(listener));
}

proptest! {
    /// The URL rules read URLs as browsers do, the HTTP client by RFC 3986: what passes one must pass the other.
    #[test]
    fn every_allowed_url_can_be_requested(rest in "[!-~ü€]{0,60}") {
        if let Ok(url) = UrlRules::new(UrlPolicy::Public).parse(&format!("https://a.example/{rest}"), true) {
            let uri: http::Uri = url.as_str().parse().unwrap();
            prop_assert_eq!(uri.host(), Some("a.example"));
        }
    }
}
