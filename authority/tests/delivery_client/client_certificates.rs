//! Receivers that ask for a certificate in the TLS handshake: who gets which, and that no connection is shared.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use authority::dispatch::client::{DeliveryClient, DeliveryLimits};
use authority::dispatch::identity::ClientIdentity;
use authority_domain::AttemptOutcome;
use authority_domain::endpoint::url::TargetUrl;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Empty};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::server::WebPkiClientVerifier;
use rustls::{HandshakeKind, RootCertStore, ServerConfig, SupportedProtocolVersion};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::scripted_receiver::*;
use super::tls::{Authority, trusting};

/// How a receiver listens.
#[derive(Clone, Copy, Debug)]
struct Way {
    version: &'static SupportedProtocolVersion,
    http2: bool,
    /// It takes clients without a certificate too.
    optional: bool,
    /// It closes the connection after each answer.
    closes: bool,
}

const TLS13: Way = Way { version: &rustls::version::TLS13, http2: false, optional: false, closes: false };

/// A request: its path, the certificate of the connection it came on, that connection's number and handshake.
type Arrival = (String, Option<CertificateDer<'static>>, usize, HandshakeKind);

/// A receiver that asks for a certificate of its authority.
struct Receiver {
    authority: Authority,
    listener: TcpListener,
    port: u16,
    acceptor: TlsAcceptor,
    way: Way,
    arrivals: Arc<Mutex<Vec<Arrival>>>,
}

impl Receiver {
    async fn start(way: Way) -> Self {
        let authority = Authority::new();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(authority.pem.as_bytes()).unwrap()).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let verifier = if way.optional { verifier.allow_unauthenticated() } else { verifier };
        let (certificate, key) = authority.localhost();
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[way.version])
            .unwrap()
            .with_client_cert_verifier(verifier.build().unwrap())
            .with_single_cert(vec![certificate], key)
            .unwrap();
        if way.http2 {
            config.alpn_protocols = vec![b"h2".to_vec()];
        }
        let (listener, port) = listener().await;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Self { authority, listener, port, acceptor, way, arrivals: Arc::default() }
    }

    fn client(&self) -> DeliveryClient {
        trusting(Some(&self.authority.pem), DeliveryLimits::default())
    }

    fn at(&self, path: &str) -> TargetUrl {
        endpoint(&format!("https://localhost:{}/{path}", self.port))
    }

    /// Answers every request with 200.
    async fn serve(&self) {
        for number in 0.. {
            let connection = self.listener.accept().await.unwrap().0;
            let Ok(connection) = self.acceptor.accept(connection).await else { continue };
            let tls = connection.get_ref().1;
            let kind = tls.handshake_kind().unwrap();
            let peer = tls.peer_certificates().and_then(|chain| chain.first().cloned());
            let (arrivals, way) = (Arc::clone(&self.arrivals), self.way);
            let answer = service_fn(move |request: Request<Incoming>| {
                let (arrivals, peer) = (Arc::clone(&arrivals), peer.clone());
                async move {
                    let path = request.uri().path().trim_start_matches('/').to_owned();
                    assert_eq!(request.into_body().collect().await.unwrap().to_bytes(), BODY);
                    arrivals.lock().unwrap().push((path, peer, number, kind));
                    Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
                }
            });
            let stream = TokioIo::new(connection);
            tokio::spawn(async move {
                if way.http2 {
                    let builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                    let _ended = builder.serve_connection(stream, answer).await;
                } else {
                    let mut builder = hyper::server::conn::http1::Builder::new();
                    let _ended = builder.keep_alive(!way.closes).serve_connection(stream, answer).await;
                }
            });
        }
    }

    /// Runs a test while the receiver serves.
    async fn during<T>(&self, test: impl Future<Output = T>) -> T {
        during(self.serve(), test).await
    }
}

fn identity((certificate, key): &(String, String)) -> Arc<ClientIdentity> {
    Arc::new(ClientIdentity::of_pem(certificate, key).unwrap())
}

fn der((certificate, _): &(String, String)) -> CertificateDer<'static> {
    CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()
}

/// Also where the receiver tells its refusal after the handshake (TLS 1.3), and however the alert and the end of the
/// connection cross the request.
#[tokio::test]
async fn a_receiver_gets_the_certificate_that_it_asks_for_and_refuses_all_others() {
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        for http2 in [false, true] {
            let receiver = Receiver::start(Way { version, http2, ..TLS13 }).await;
            let (client, url) = (receiver.client(), receiver.at("hook"));
            let own = receiver.authority.client();
            let accepted = identity(&own);
            let other = identity(&Authority::new().client());
            receiver
                .during(async {
                    for n in 0..20 {
                        for refused in [None, Some(&other)] {
                            let report = attempt_as(&client, &url, refused).await;
                            let said = (report.outcome, report.status);
                            assert_eq!(said, (AttemptOutcome::TlsError, None), "{version:?} {http2} {n}");
                        }
                        let report = attempt_as(&client, &url, Some(&accepted)).await;
                        assert_eq!((report.outcome, report.status), SUCCESS);
                    }
                })
                .await;
            let arrivals = receiver.arrivals.lock().unwrap();
            assert!(arrivals.iter().all(|(_, peer, _, _)| *peer == Some(der(&own))));
            assert_eq!(arrivals.len(), 20);
        }
    }
}

#[tokio::test]
async fn no_connection_serves_two_identities_or_one_and_none() {
    for http2 in [false, true] {
        let receiver = Receiver::start(Way { http2, optional: true, ..TLS13 }).await;
        let client = receiver.client();
        let pairs = [receiver.authority.client(), receiver.authority.client()];
        let [a, b] = [identity(&pairs[0]), identity(&pairs[1])];
        // Set anew: the same certificate, but another connection.
        let again = identity(&pairs[0]);
        let whose = [
            ("a", Some(&a), Some(der(&pairs[0]))),
            ("b", Some(&b), Some(der(&pairs[1]))),
            ("nobody", None, None),
            ("again", Some(&again), Some(der(&pairs[0]))),
        ];
        receiver
            .during(async {
                for round in 0..3 {
                    let attempts = whose.iter().map(async |(path, identity, _)| {
                        let report = attempt_as(&client, &receiver.at(path), *identity).await;
                        assert_eq!(report.outcome, AttemptOutcome::Success, "{path} {round}");
                    });
                    futures_util::future::join_all(attempts).await;
                }
            })
            .await;
        let arrivals = receiver.arrivals.lock().unwrap();
        assert_eq!(arrivals.len(), 12);
        let mut connections = Vec::new();
        for (path, _, expected) in &whose {
            let of_path = || arrivals.iter().filter(|(at, ..)| at == path);
            assert!(of_path().all(|(_, peer, ..)| peer == expected), "{path}");
            let mut numbers: Vec<usize> = of_path().map(|(_, _, number, _)| *number).collect();
            numbers.dedup();
            assert_eq!(numbers.len(), 1, "{path} has one connection: {numbers:?}");
            connections.extend(numbers);
        }
        connections.sort_unstable();
        connections.dedup();
        assert_eq!(connections.len(), whose.len(), "nobody shares");
    }
}

#[tokio::test]
async fn no_tls_session_is_resumed_as_somebody_else() {
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let receiver = Receiver::start(Way { version, optional: true, closes: true, ..TLS13 }).await;
        let client = receiver.client();
        let pairs = [receiver.authority.client(), receiver.authority.client()];
        let [a, b] = [identity(&pairs[0]), identity(&pairs[1])];
        let [of_a, of_b] = [Some(der(&pairs[0])), Some(der(&pairs[1]))];
        let in_turn = [
            (Some(&a), &of_a, HandshakeKind::Full),
            (None, &None, HandshakeKind::Full),
            (Some(&b), &of_b, HandshakeKind::Full),
            (Some(&a), &of_a, HandshakeKind::Resumed),
            (None, &None, HandshakeKind::Resumed),
            (Some(&b), &of_b, HandshakeKind::Resumed),
        ];
        receiver
            .during(async {
                for (identity, _, _) in &in_turn {
                    let report = attempt_as(&client, &receiver.at("hook"), *identity).await;
                    assert_eq!(report.outcome, AttemptOutcome::Success);
                }
            })
            .await;
        let arrivals = receiver.arrivals.lock().unwrap();
        assert_eq!(arrivals.len(), in_turn.len());
        for ((_, peer, _, kind), (_, expected, handshake)) in arrivals.iter().zip(in_turn) {
            assert_eq!((peer, *kind), (expected, handshake), "{version:?}");
        }
    }
}

/// Over plain http there is nobody to show it to.
#[tokio::test]
async fn an_identity_does_nothing_over_plain_http() {
    let (listener, client, url) = plain(DeliveryLimits::default()).await;
    let identity = identity(&Authority::new().client());
    let receiver = async {
        use tokio::io::AsyncWriteExt as _;
        let mut connection = listener.accept().await.unwrap().0;
        for _ in 0..2 {
            read_request(&mut connection).await;
            connection.write_all(OK).await.unwrap();
        }
    };
    let attempts = async {
        for identity in [Some(&identity), None] {
            assert_eq!(attempt_as(&client, &url, identity).await.outcome, AttemptOutcome::Success);
        }
    };
    bounded(async { tokio::join!(attempts, receiver) }).await;
}
