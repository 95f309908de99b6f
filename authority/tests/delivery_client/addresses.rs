//! Names and addresses: what cannot be reached, and what must not be.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use authority::clock::SystemClock;
use authority::dispatch::client::{DeliveryClient, DeliveryLimits, Egress};
use authority::dispatch::connector::Resolve;
use authority::dispatch::transport::AttemptReport;
use authority_domain::endpoint::private_receivers::{EndpointOwner, PrivateReceivers, ReceiverList};
use authority_domain::endpoint::url::{TargetUrl, UrlPolicy, UrlRules, UrlRulesByOwner};
use authority_domain::{AttemptOutcome, MerchantId, Tenant};
use proptest::prelude::*;
use tokio::net::TcpSocket;

use super::scripted_receiver::*;

#[tokio::test]
async fn a_port_that_nobody_listens_on_is_a_connect_error() {
    // Bound and never listening: it refuses, and nobody else on this machine can be given the port meanwhile.
    let deaf = TcpSocket::new_v4().unwrap();
    deaf.bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
    let client = client(DeliveryLimits::default(), loopback());
    let report = attempt(&client, &endpoint(&format!("http://{}/", deaf.local_addr().unwrap()))).await;
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
        let report = public_attempt(port, Answers(addresses(answer))).await;
        assert_eq!((report.outcome, report.status), (AttemptOutcome::BlockedAddress, None), "{answer}");
    }
    assert!(nobody_came(listener));
}

#[tokio::test]
async fn the_development_exception_is_for_loopback_addresses_only() {
    let (listener, port) = listener().await;
    let url = endpoint(&format!("http://localhost:{port}/"));
    for answer in ["93.184.215.14", "127.0.0.1 93.184.215.14", "127.0.0.1 10.0.0.1"] {
        let client = client(DeliveryLimits::default(), Arc::new(Answers(addresses(answer))));
        assert_eq!(attempt(&client, &url).await.outcome, AttemptOutcome::BlockedAddress, "{answer}");
    }
    assert!(nobody_came(listener));
}

/// A deployment whose merchants and platform may have these private receivers.
struct Deployment(PrivateReceivers);

impl Deployment {
    fn new(merchants: &str, platform: &str) -> Self {
        Self(PrivateReceivers {
            merchants: ReceiverList::parse(EndpointOwner::Merchant, merchants).unwrap(),
            platform: ReceiverList::parse(EndpointOwner::Platform, platform).unwrap(),
        })
    }

    fn url(&self, owner: EndpointOwner, url: &str) -> TargetUrl {
        let merchant_id = match owner {
            EndpointOwner::Merchant => MerchantId::from_store("mer_01".to_owned()),
            EndpointOwner::Platform => Tenant::operator().merchant_id,
        };
        UrlRulesByOwner::new(UrlPolicy::Public, &self.0).of(&merchant_id).parse(url, true).unwrap()
    }

    fn client(&self, names: impl Resolve + 'static) -> DeliveryClient {
        let limits =
            DeliveryLimits { connect_timeout: Duration::from_millis(300), ..DeliveryLimits::default() };
        let egress = Egress { private: Some(&self.0), ..Egress::default() };
        DeliveryClient::new(limits, egress, Arc::new(names), Arc::new(SystemClock::new())).unwrap()
    }
}

/// The addresses of a text, with blanks between them.
fn addresses(answer: &str) -> Vec<IpAddr> {
    answer.split(' ').map(|address| address.parse().unwrap()).collect()
}

/// A name server whose answer is another one every time it is asked.
struct Changing(Mutex<Vec<&'static str>>);

#[async_trait]
impl Resolve for Changing {
    async fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        Ok(addresses(self.0.lock().unwrap().pop().expect("asked once per connection")))
    }
}

#[tokio::test]
async fn a_private_receiver_of_the_platform_is_reached_at_its_listed_address_only() {
    let deployment = Deployment::new("10.0.0.0/8,corp.example", "127.0.0.0/8,hooks.internal");
    let (listener, port) = listener().await;
    let url = deployment.url(EndpointOwner::Platform, &format!("http://hooks.internal:{port}/"));
    let client = deployment.client(Changing(Mutex::new(vec!["169.254.169.254", "10.0.0.1", "127.0.0.1"])));
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let receiver = async { drop(answer_one(&listener, answer).await) };
    let (report, ()) = tokio::join!(attempt(&client, &url), receiver);
    assert_eq!((report.outcome, report.status), SUCCESS);
    // The name server changes its answer: to the network of the merchants' list, then to a cloud's metadata.
    for _ in 0..2 {
        assert_eq!(attempt(&client, &url).await.outcome, AttemptOutcome::BlockedAddress);
    }
    assert!(nobody_came(listener));
}

#[tokio::test]
async fn a_private_receiver_of_a_merchant_is_nowhere_else_and_no_other_name_leads_there() {
    let deployment = Deployment::new("10.0.0.0/8,100.64.0.0/10,corp.example", "127.0.0.0/8,hooks.internal");
    let (listener, port) = listener().await;
    let outcome = async |host: &str, answer: &str| {
        let url = deployment.url(EndpointOwner::Merchant, &format!("https://{host}:{port}/"));
        attempt(&deployment.client(Answers(addresses(answer))), &url).await.outcome
    };
    let elsewhere = [
        "127.0.0.1",
        "::ffff:127.0.0.1",
        "10.0.0.1 127.0.0.1",
        "10.0.0.1 93.184.215.14",
        "93.184.215.14",
        "192.168.0.1",
        "100.100.100.200",
        "169.254.169.254",
        "168.63.129.16",
        "0.0.0.0",
    ];
    for answer in elsewhere {
        assert_eq!(outcome("a.corp.example", answer).await, AttemptOutcome::BlockedAddress, "{answer}");
    }
    for host in ["hooks.example.com", "acorp.example", "corp.example.com"] {
        assert_eq!(outcome(host, "10.0.0.1").await, AttemptOutcome::BlockedAddress, "{host}");
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
