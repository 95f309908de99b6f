//! A receiver that lets nobody in without a certificate of its authority (contract 4.10, 7), on both databases: what an
//! endpoint has is shown, a change helps what waits, and what cannot be opened is not done without.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use serde_json::{Value, json};
use tests::damage::execute;
use tests::gateway::carry;
use tests::{
    Authority, Database, Endpoint, Merchant, Receiver, eventually, on_both_databases, retries, text,
};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// A private authority.
struct PrivateAuthority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl PrivateAuthority {
    fn new() -> Self {
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// A client's certificate, as an endpoint is given it.
    fn client(&self) -> Value {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new(vec![]).unwrap().signed_by(&key, &self.issuer).unwrap();
        json!({ "certificate": certificate.pem(), "private_key": key.serialize_pem() })
    }

    /// What serves `localhost` to clients of this authority.
    fn acceptor(&self) -> TlsAcceptor {
        let provider = Arc::new(default_provider());
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()).unwrap();
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_client_cert_verifier(verifier.build().unwrap())
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        TlsAcceptor::from(Arc::new(config))
    }
}

/// Stands before a receiver as a gateway; its port.
async fn gateway(tls: TlsAcceptor, receiver: &Receiver) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    carry(listener, Some(tls), receiver);
    port
}

/// The outcome of the newest delivery's attempt with this number.
async fn outcome(merchant: &Merchant, endpoint: &Endpoint, attempt: i64) -> Value {
    eventually(format!("attempt {attempt}"), async || {
        let newest = merchant.deliveries(endpoint).await.remove(0);
        (newest["attempt_count"] == attempt).then(|| newest["last_outcome"].clone())
    })
    .await
}

async fn the_receiver_lets_in_whom_it_knows(database: Database) {
    let known = PrivateAuthority::new();
    let mut authority = Authority::on(database, &[retries("0,3600,3600,3600,3600,3600")]).await;
    authority.terminate().await;
    let roots = authority.put("roots.pem", &known.pem);
    authority.set("AUTHORITY_EXTRA_ROOTS", &roots);
    authority.restart().await;
    let receiver = Receiver::accepting().await;
    let port = gateway(known.acceptor(), &receiver).await;
    let merchant = Merchant::create(&authority, "mutual").await;
    let body = json!({ "url": format!("https://localhost:{port}/hook"), "enabled_events": ["checkout.*"] });
    let endpoint = merchant.endpoint_with(body).await;
    let path = endpoint.path("");
    merchant.checkout().await;
    assert_eq!(outcome(&merchant, &endpoint, 1).await, "tls_error");
    let stranger = PrivateAuthority::new().client();
    let right = known.client();
    let damage = |source: &str| {
        format!(
            "UPDATE webhook_endpoints SET client_certificate_sealed = {source} WHERE id = '{}'",
            endpoint.id
        )
    };
    let of_secret = damage("(SELECT sealed FROM endpoint_secrets WHERE endpoint_id = webhook_endpoints.id)");
    let steps = [
        (json!({ "client_certificate": stranger }), None, "tls_error"),
        (json!({ "client_certificate": right, "headers": { "a": "1" } }), Some(of_secret), "protocol_error"),
        (json!({ "description": "headers" }), Some(damage("headers_sealed")), "protocol_error"),
        (json!({ "client_certificate": right }), None, "success"),
    ];
    for (n, (body, sql, expected)) in steps.into_iter().enumerate() {
        merchant.api.patch(&path, &body).await.expect(200);
        if let Some(sql) = sql {
            execute(authority.database_url(), &sql).await;
        }
        let newest = text(&merchant.deliveries(&endpoint).await[0], "id");
        merchant.api.post(&format!("/deliveries/{newest}/retry"), &json!({})).await.expect(202);
        let attempt = i64::try_from(n).unwrap() + 2;
        assert_eq!(outcome(&merchant, &endpoint, attempt).await, expected, "step {n}");
    }
    assert_eq!(receiver.arrivals().accepted("/hook"), 1);
    // Without it again nobody is let in, though a connection was there a moment ago.
    merchant.api.patch(&path, &json!({ "client_certificate": null })).await.expect(200);
    merchant.checkout().await;
    assert_eq!(outcome(&merchant, &endpoint, 1).await, "tls_error");
    assert_eq!(receiver.arrivals().accepted("/hook"), 1);
}

on_both_databases!(the_receiver_lets_in_whom_it_knows);
