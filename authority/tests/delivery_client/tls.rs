//! TLS: whom the client trusts, and HTTP/2 over it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use authority::clock::SystemClock;
use authority::dispatch::client::{DeliveryClient, DeliveryClientError, DeliveryLimits, Egress};
use authority::dispatch::transport::AttemptReport;
use authority_domain::AttemptOutcome;
use bytes::Bytes;
use http::{Request, Response, Version};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::scripted_receiver::*;

/// A private authority: its PEM text, and what signs with its key.
pub(crate) struct Authority {
    pub(crate) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// A certificate of this authority for a client, and its key, in PEM.
    pub(crate) fn client(&self) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![]).unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    /// A certificate of this authority for `localhost`, and its key.
    pub(crate) fn localhost(&self) -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
        let key = KeyPair::generate().unwrap();
        let certificate = for_localhost().signed_by(&key, &self.issuer).unwrap();
        (certificate.der().clone(), PrivateKeyDer::try_from(key.serialize_der()).unwrap())
    }

    /// A server's settings with a certificate of this authority.
    pub(crate) fn server(&self, params: CertificateParams) -> ServerConfig {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        server_config(certificate.der().clone(), &key)
    }
}

fn server_config(certificate: CertificateDer<'static>, key: &KeyPair) -> ServerConfig {
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap()
}

pub(crate) fn for_localhost() -> CertificateParams {
    CertificateParams::new(vec!["localhost".to_owned()]).unwrap()
}

pub(crate) fn trusting(pem: Option<&str>, limits: DeliveryLimits) -> DeliveryClient {
    let pem = pem.map(str::as_bytes);
    let egress = Egress { extra_roots_pem: pem, ..Egress::default() };
    DeliveryClient::new(limits, egress, loopback(), Arc::new(SystemClock::new())).unwrap()
}

/// Accepts one connection and answers one request, if the handshake gets that far; the name the client asked for.
async fn serve_one(listener: &TcpListener, config: ServerConfig) -> Option<String> {
    let (connection, _) = listener.accept().await.unwrap();
    let mut connection = TlsAcceptor::from(Arc::new(config)).accept(connection).await.ok()?;
    read_request(&mut connection).await;
    connection.write_all(OK).await.unwrap();
    connection.get_ref().1.server_name().map(str::to_owned)
}

/// One attempt at `https://localhost`, served with these settings.
async fn attempt_over_tls(config: ServerConfig, trusted: Option<&str>) -> (AttemptReport, Option<String>) {
    let (listener, port) = listener().await;
    let client = trusting(trusted, DeliveryLimits::default());
    let url = endpoint(&format!("https://localhost:{port}/hook"));
    bounded(async { tokio::join!(attempt(&client, &url), serve_one(&listener, config)) }).await
}

#[tokio::test]
async fn a_certificate_of_a_trusted_authority_is_accepted_for_its_name() {
    let authority = Authority::new();
    let (report, name) = attempt_over_tls(authority.server(for_localhost()), Some(&authority.pem)).await;
    assert_eq!((report.outcome, report.status), SUCCESS);
    assert_eq!(name.as_deref(), Some("localhost"));
}

#[tokio::test]
async fn every_other_certificate_is_refused() {
    let authority = Authority::new();
    let trusted = Some(authority.pem.as_str());
    let another_name = CertificateParams::new(vec!["hooks.example.com".to_owned()]).unwrap();
    let mut expired = for_localhost();
    expired.not_before = rcgen::date_time_ymd(2020, 1, 1);
    expired.not_after = rcgen::date_time_ymd(2021, 1, 1);
    let key = KeyPair::generate().unwrap();
    let self_signed = for_localhost().self_signed(&key).unwrap();
    let table = [
        ("of an unknown authority", authority.server(for_localhost()), None),
        ("of another authority", Authority::new().server(for_localhost()), trusted),
        ("for another name", authority.server(another_name), trusted),
        ("expired", authority.server(expired), trusted),
        ("self-signed", server_config(self_signed.der().clone(), &key), trusted),
    ];
    for (what, config, trusted) in table {
        let (report, name) = attempt_over_tls(config, trusted).await;
        assert_eq!((report.outcome, report.status), (AttemptOutcome::TlsError, None), "{what}");
        assert_eq!(name, None, "no request was sent to a receiver whose certificate is {what}");
    }
}

#[tokio::test]
async fn a_receiver_that_speaks_plain_text_on_its_tls_port_is_a_tls_error() {
    let (listener, port) = listener().await;
    let client = trusting(None, DeliveryLimits::default());
    let url = endpoint(&format!("https://localhost:{port}/hook"));
    let receiver = async {
        let mut connection = listener.accept().await.unwrap().0;
        connection.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        closed(&mut connection).await;
    };
    let (report, ()) = bounded(async { tokio::join!(attempt(&client, &url), receiver) }).await;
    assert_eq!((report.outcome, report.status), (AttemptOutcome::TlsError, None));
}

#[tokio::test]
async fn a_handshake_that_stands_still_ends_at_the_connect_timeout() {
    let limits = DeliveryLimits { connect_timeout: Duration::from_millis(300), ..DeliveryLimits::default() };
    let (listener, port) = listener().await;
    let client = trusting(None, limits);
    let url = endpoint(&format!("https://localhost:{port}/hook"));
    let receiver = async {
        let mut connection = listener.accept().await.unwrap().0;
        closed(&mut connection).await;
    };
    let (report, ()) = bounded(async { tokio::join!(attempt(&client, &url), receiver) }).await;
    assert_eq!((report.outcome, report.status), (AttemptOutcome::Timeout, None));
    assert!((300..15_000).contains(&report.duration_ms), "{}", report.duration_ms);
}

#[tokio::test]
async fn a_receiver_that_offers_http_2_gets_it() {
    let authority = Authority::new();
    let mut config = authority.server(for_localhost());
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let (listener, port) = listener().await;
    let patient = DeliveryLimits { success_moment: Duration::from_secs(600), ..DeliveryLimits::default() };
    let client = trusting(Some(&authority.pem), patient);
    let url = endpoint(&format!("https://localhost:{port}/hook"));
    let receiver = async {
        let (connection, _) = listener.accept().await.unwrap();
        let connection = TlsAcceptor::from(Arc::new(config)).accept(connection).await.unwrap();
        hyper::server::conn::http2::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(connection), service_fn(answer_over_http_2))
            .await
    };
    let attempts = async {
        let mut reports = Vec::new();
        for _ in 0..2 {
            reports.push(attempt(&client, &url).await);
        }
        // Dropping the pool closes the connection, and that ends the receiver.
        drop(client);
        reports
    };
    let (reports, served) = bounded(async { tokio::join!(attempts, receiver) }).await;
    served.unwrap();
    for report in reports {
        assert_eq!((report.outcome, report.status), SUCCESS);
        assert_eq!(report.excerpt.as_deref(), Some("HTTP/2.0"));
    }
    assert!(nobody_came(listener), "both requests took one connection");
}

async fn answer_over_http_2(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    assert_eq!(request.version(), Version::HTTP_2);
    assert_eq!(request.headers()["content-length"], BODY.len().to_string());
    assert_eq!(request.uri().path(), "/hook");
    let version = format!("{:?}", request.version());
    assert_eq!(request.into_body().collect().await.unwrap().to_bytes(), BODY);
    Ok(Response::new(Full::new(Bytes::from(version))))
}

#[test]
fn extra_roots_must_be_pem_certificates() {
    for pem in ["", "no certificates", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let made = DeliveryClient::new(
            DeliveryLimits::default(),
            Egress { extra_roots_pem: Some(pem.as_bytes()), ..Egress::default() },
            loopback(),
            Arc::new(SystemClock::new()),
        );
        assert_eq!(made.err(), Some(DeliveryClientError::ExtraRoots), "{pem:?}");
    }
}
