//! Receivers in private networks (contract 7.6), seen from a service in production on a machine of its own: what the
//! operator has listed is reached, and nothing else is, whatever names lead to.

mod network;

use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::thread;

use rcgen::{CertificateParams, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::PrivateKeyDer;
use serde_json::json;
use tests::gateway::carry;
use tests::{Arrivals, Authority, Merchant, Receiver, eventually, retries, text};
use tokio::runtime::Builder;
use tokio_rustls::TlsAcceptor;

use self::network::{NAME_SERVER, Names, Network};

const LISTED: Ipv4Addr = Ipv4Addr::new(10, 20, 0, 5);
const UNLISTED: Ipv4Addr = Ipv4Addr::new(10, 30, 0, 5);
const METADATA: Ipv4Addr = Ipv4Addr::new(169, 254, 169, 254);
/// A metadata service within a network that is listed.
const LISTED_METADATA: Ipv4Addr = Ipv4Addr::new(100, 100, 100, 200);
const PUBLIC: Ipv4Addr = Ipv4Addr::new(93, 184, 215, 14);
const TLS_PORT: u16 = 8443;

/// A certificate for these names that is its own authority, as PEM, and what serves it.
fn certificate(names: &[&str]) -> (String, TlsAcceptor) {
    let key = KeyPair::generate().unwrap();
    let names = names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let certificate = CertificateParams::new(names).unwrap().self_signed(&key).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    (certificate.pem(), TlsAcceptor::from(Arc::new(config)))
}

/// The service as an operator runs it in such a network.
async fn authority(roots: &str) -> Authority {
    let mut authority = Authority::start(&[
        ("AUTHORITY_ENV", "production"),
        ("AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS", "false"),
        ("AUTHORITY_PRIVATE_RECEIVERS", "10.20.0.0/16,100.64.0.0/10,corp.example"),
        ("AUTHORITY_PLATFORM_PRIVATE_RECEIVERS", "10.20.0.0/16,svc.cluster.local"),
        retries("0,1,1,1,1,1"),
    ])
    .await;
    authority.terminate().await;
    let roots = authority.put("roots.pem", roots);
    authority.set("AUTHORITY_EXTRA_ROOTS", &roots);
    authority.restart_asking(NAME_SERVER).await;
    authority
}

fn nobody_came(listeners: &[TcpListener]) {
    for listener in listeners {
        let came = listener.accept().map(|(_, from)| from);
        assert_eq!(came.unwrap_err().kind(), ErrorKind::WouldBlock, "{listener:?}");
    }
}

/// The thread that moves to another machine is the test's own, since the one of the test program may run others.
#[test]
fn what_the_operator_lists_is_reached_and_nothing_else() {
    let test =
        || Builder::new_current_thread().enable_all().build().unwrap().block_on(listed_receivers_only());
    thread::scope(|scope| scope.spawn(test).join()).unwrap();
}

async fn listed_receivers_only() {
    let Some(network) = Network::to(&[LISTED, UNLISTED, METADATA, LISTED_METADATA, PUBLIC]) else {
        eprintln!("not run: this machine refuses network namespaces");
        return;
    };
    let names = Names::default();
    names.serve().await;
    for (name, address) in [
        ("hooks.svc.cluster.local", LISTED),
        ("hooks.corp.example", LISTED),
        ("unlisted.corp.example", UNLISTED),
        ("metadata.corp.example", METADATA),
        ("listed-metadata.corp.example", LISTED_METADATA),
        ("public.corp.example", PUBLIC),
        ("itself.corp.example", Ipv4Addr::LOCALHOST),
        ("hostile.example.com", LISTED),
    ] {
        names.lead(name, address);
    }
    let receiver = Receiver::accepting().await;
    let (roots, tls) = certificate(&["hooks.corp.example", "*.rebound.corp.example"]);
    for (port, tls) in [(TLS_PORT, Some(tls)), (80, None)] {
        let listener = tokio::net::TcpListener::from_std(network.listener(LISTED, port)).unwrap();
        carry(listener, tls, &receiver);
    }
    let mut elsewhere: Vec<TcpListener> = [UNLISTED, METADATA, LISTED_METADATA, PUBLIC]
        .map(|address| network.listener(address, TLS_PORT))
        .into();
    elsewhere.push(TcpListener::bind((Ipv4Addr::LOCALHOST, TLS_PORT)).unwrap());
    elsewhere.iter().for_each(|listener| listener.set_nonblocking(true).unwrap());

    let authority = authority(&roots).await;
    let merchant = Merchant::create(&authority, "private").await;
    for (host, code) in [
        ("unlisted.corp.example", "url_address_blocked"),
        ("metadata.corp.example", "url_address_blocked"),
        ("listed-metadata.corp.example", "url_address_blocked"),
        ("public.corp.example", "url_address_blocked"),
        ("itself.corp.example", "url_address_blocked"),
        ("hostile.example.com", "url_address_blocked"),
        ("hooks.svc.cluster.local", "url_host_denied"),
        ("10.20.0.5", "url_host"),
    ] {
        let body = json!({ "url": format!("https://{host}:{TLS_PORT}/"), "enabled_events": ["*"] });
        let refused =
            merchant.api.post("/webhook-endpoints", &body).await.refused(422, "endpoint_url_forbidden");
        assert_eq!(refused["errors"][0]["code"], code, "{host}");
    }

    // The platform's own receiver, over plain http, and a merchant's.
    let sink =
        json!({ "url": "http://hooks.svc.cluster.local/sink", "enabled_events": ["checkout.created"] });
    let sink = text(&authority.operator().post("/sink", &sink).await.expect(201), "secret");
    let endpoint = merchant.endpoint(&format!("https://hooks.corp.example:{TLS_PORT}/hook"), &["*"]).await;
    merchant.checkout().await;
    let both = |arrivals: &Arrivals| arrivals.accepted("/hook") == 1 && arrivals.accepted("/sink") == 1;
    let arrivals = receiver.until("the event at both", both).await;
    for (path, secret) in [("/hook", &endpoint.secret), ("/sink", &sink)] {
        assert!(arrivals.at(path).all(|arrival| arrival.verify(secret).is_ok()), "{path}");
    }

    // Names that led to the receiver lead elsewhere when they are connected to, and back in the end.
    let rebound = [METADATA, UNLISTED, LISTED_METADATA, PUBLIC, Ipv4Addr::LOCALHOST];
    let mut endpoints = Vec::new();
    for (at, address) in rebound.iter().enumerate() {
        let name = format!("{at}.rebound.corp.example");
        names.lead(&name, LISTED);
        endpoints.push(merchant.endpoint(&format!("https://{name}:{TLS_PORT}/{at}"), &["*"]).await);
        names.lead(&name, *address);
    }
    merchant.checkout().await;
    for (endpoint, address) in endpoints.iter().zip(rebound) {
        let delivery = eventually(format!("an attempt at {address}"), async || {
            let delivery = text(merchant.deliveries(endpoint).await.first()?, "id");
            let delivery = merchant.delivery(&delivery).await;
            (delivery["attempt_count"] != 0).then_some(delivery)
        })
        .await;
        assert_eq!(delivery["attempts"][0]["outcome"], "blocked_address", "{address}");
    }
    for (at, _) in rebound.iter().enumerate() {
        names.lead(&format!("{at}.rebound.corp.example"), LISTED);
    }
    receiver
        .until("the event at all", |arrivals| {
            (0..rebound.len()).all(|at| arrivals.accepted(&format!("/{at}")) == 1)
        })
        .await;
    nobody_came(&elsewhere);
}
