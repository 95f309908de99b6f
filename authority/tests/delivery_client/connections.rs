//! How many connections are kept, and the proxy that they may have to go through.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use async_trait::async_trait;
use authority::clock::SystemClock;
use authority::config::EgressProxy;
use authority::dispatch::client::{DeliveryClient, DeliveryLimits, Egress};
use authority::names::Resolve;
use authority_domain::AttemptOutcome;
use authority_domain::endpoint::url::{TargetUrl, UrlPolicy, UrlRules};
use futures_util::FutureExt as _;
use http::HeaderValue;
use rcgen::CertificateParams;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::kept::Counted;
use super::scripted_receiver::*;
use super::tls::Authority;

/// With as many connections open as may be kept, a further one serves a single request.
#[tokio::test]
async fn connections_beyond_those_that_are_kept_serve_once() {
    for (kept_connections, expected) in [(0, 3), (1, 1)] {
        let limits = DeliveryLimits { kept_connections, ..DeliveryLimits::default() };
        let (listener, client, url) = plain(limits).await;
        let receiver = async {
            let (mut connections, mut served) = (0, 0);
            while served < 3 {
                let mut connection = listener.accept().await.unwrap().0;
                connections += 1;
                while served < 3 {
                    read_request(&mut connection).await;
                    connection.write_all(OK).await.unwrap();
                    served += 1;
                    if kept_connections == 0 {
                        closed(&mut connection).await;
                        break;
                    }
                }
            }
            connections
        };
        let attempts = async {
            for _ in 0..3 {
                assert_eq!(attempt(&client, &url).await.outcome, AttemptOutcome::Success);
            }
        };
        let (connections, ()) = bounded(async { tokio::join!(receiver, attempts) }).await;
        assert_eq!(connections, expected, "{kept_connections} are kept");
    }
}

/// 256 requests at a time are 256 connections, and the next 256 make no new ones.
#[tokio::test]
async fn as_many_connections_are_kept_as_one_endpoint_may_use() {
    let (listener, port) = listener().await;
    let names = Arc::new(Counted::default());
    let asked = Arc::clone(&names) as Arc<dyn Resolve>;
    let client = client(DeliveryLimits::default(), asked);
    let url = endpoint(&format!("http://localhost:{port}/hook"));
    // Answers when all have come.
    let together = Arc::new(tokio::sync::Barrier::new(256));
    let receiver = async {
        loop {
            let mut connection = listener.accept().await.unwrap().0;
            let together = Arc::clone(&together);
            tokio::spawn(async move {
                while next_request(&mut connection).await.is_some() {
                    together.wait().await;
                    connection.write_all(OK).await.unwrap();
                }
            });
        }
    };
    let attempts = async {
        for _ in 0..2 {
            let all = (0..256).map(|_| attempt(&client, &url));
            let reports = futures_util::future::join_all(all).await;
            assert!(reports.iter().all(|report| report.outcome == AttemptOutcome::Success));
        }
    };
    during(receiver, attempts).await;
    assert_eq!(names.asked(), 256);
}

/// With as many open as are kept, a connection to another receiver takes the place of the one that is idle for longest.
#[tokio::test]
async fn a_further_connection_takes_the_place_of_an_idle_one() {
    let limits = DeliveryLimits { kept_connections: 2, ..DeliveryLimits::default() };
    let client = client(limits, loopback());
    let mut kept = Vec::new();
    for _ in 0..3 {
        let (listener, port) = listener().await;
        let url = endpoint(&format!("http://127.0.0.1:{port}/hook"));
        let receiver = answer_one(&listener, OK);
        let (report, connection) = bounded(async { tokio::join!(attempt(&client, &url), receiver) }).await;
        assert_eq!(report.outcome, AttemptOutcome::Success);
        kept.push(connection);
    }
    bounded(closed(&mut kept[0])).await;
    assert_eq!(kept[1].read(&mut [0]).now_or_never().map(Result::unwrap), None, "the second is kept");
}

/// A name server that nobody may ask.
struct Nobody;

#[async_trait]
impl Resolve for Nobody {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        unreachable!("{host} is the proxy's to resolve")
    }
}

fn public_url() -> TargetUrl {
    UrlRules::new(UrlPolicy::Public).parse("https://hooks.example.com/hook", true).unwrap()
}

fn behind(port: u16, authority: &Authority, names: Arc<dyn Resolve>) -> DeliveryClient {
    let proxy = EgressProxy {
        address: format!("http://127.0.0.1:{port}/").parse().unwrap(),
        authorization: Some(HeaderValue::from_static("Basic YTpi")),
    };
    let (limits, clock) = (DeliveryLimits::default(), Arc::new(SystemClock::new()));
    let extra_roots_pem = Some(authority.pem.as_bytes());
    let egress = Egress { proxy: Some(&proxy), extra_roots_pem, private: None };
    DeliveryClient::new(limits, egress, names, clock).unwrap()
}

/// Accepts as a proxy, and reads what it is asked for.
async fn asked(listener: &TcpListener) -> (TcpStream, String) {
    let mut connection = listener.accept().await.unwrap().0;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(connection.read_u8().await.unwrap());
    }
    (connection, String::from_utf8(head).unwrap().to_ascii_lowercase())
}

#[tokio::test]
async fn a_public_receiver_is_reached_through_the_proxy_alone() {
    let authority = Authority::new();
    let params = CertificateParams::new(vec!["hooks.example.com".to_owned()]).unwrap();
    let config = authority.server(params);
    let (listener, port) = listener().await;
    let client = behind(port, &authority, Arc::new(Nobody));
    let proxy = async {
        let (mut connection, head) = asked(&listener).await;
        connection.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.unwrap();
        // From here on it is the receiver, whose certificate counts.
        let mut connection = TlsAcceptor::from(Arc::new(config)).accept(connection).await.unwrap();
        let request = read_request(&mut connection).await;
        connection.write_all(OK).await.unwrap();
        (head, request)
    };
    let url = public_url();
    let (report, (head, request)) = bounded(async { tokio::join!(attempt(&client, &url), proxy) }).await;
    assert_eq!((report.outcome, report.status), SUCCESS);
    assert!(head.starts_with("connect hooks.example.com:443 http/1.1\r\n"), "{head}");
    assert!(head.contains("proxy-authorization: basic ytpi\r\n"), "{head}");
    assert!(request.starts_with("POST /hook HTTP/1.1\r\n"), "{request}");
    assert!(!request.to_ascii_lowercase().contains("proxy-authorization"), "the receiver does not see it");
}

#[tokio::test]
async fn a_proxy_that_refuses_is_no_connection() {
    for answer in ["HTTP/1.1 403 Forbidden", "HTTP/1.1 407 Proxy Authentication Required", "SSH-2.0-x"] {
        let (listener, port) = listener().await;
        let client = behind(port, &Authority::new(), Arc::new(Nobody));
        let proxy = async {
            let (mut connection, _) = asked(&listener).await;
            connection.write_all(format!("{answer}\r\n\r\n").as_bytes()).await.unwrap();
            closed(&mut connection).await;
        };
        let url = public_url();
        let (report, ()) = bounded(async { tokio::join!(attempt(&client, &url), proxy) }).await;
        assert_eq!((report.outcome, report.status), (AttemptOutcome::ConnectError, None), "{answer}");
    }
}

/// The development exception is about this machine, which no proxy is asked for.
#[tokio::test]
async fn loopback_endpoints_are_reached_beside_the_proxy() {
    let (proxy, proxy_port) = listener().await;
    let (listener, port) = listener().await;
    let client = behind(proxy_port, &Authority::new(), loopback());
    let url = endpoint(&format!("http://localhost:{port}/hook"));
    let receiver = answer_one(&listener, OK);
    let (report, _connection) = bounded(async { tokio::join!(attempt(&client, &url), receiver) }).await;
    assert_eq!(report.outcome, AttemptOutcome::Success);
    assert!(nobody_came(proxy));
}
