//! Every kind of key in every form; and all that no handshake can be made with.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use rcgen::{CertificateParams, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ED25519};

use super::*;

/// A certificate and its key, in PEM.
fn pair(algorithm: &'static rcgen::SignatureAlgorithm) -> (String, String) {
    let key = KeyPair::generate_for(algorithm).unwrap();
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.not_after = rcgen::date_time_ymd(2031, 2, 3);
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

/// The same key as SEC1 writes it: the last 109 bytes of a PKCS#8 key on P-256 are that.
fn sec1(pkcs8: &str) -> String {
    let body: String = pkcs8.lines().filter(|line| !line.starts_with('-')).collect();
    let der = BASE64_STANDARD.decode(body).unwrap();
    let inner = BASE64_STANDARD.encode(der.last_chunk::<109>().unwrap());
    format!("-----BEGIN EC PRIVATE KEY-----\n{inner}\n-----END EC PRIVATE KEY-----\n")
}

const RSA: &str = include_str!("fixtures/rsa-2048.crt.pem");
const RSA_KEY: &str = include_str!("fixtures/rsa-2048.key.base64");
const SHORT_RSA: &str = include_str!("fixtures/rsa-1024.crt.pem");
const SHORT_RSA_KEY: &str = include_str!("fixtures/rsa-1024.key.base64");

/// A section of PEM.
fn section(label: &str, body: &str) -> String {
    format!("-----BEGIN {label}-----\n{body}-----END {label}-----\n")
}

#[test]
fn every_kind_of_key_is_read_in_every_form() {
    let p256 = pair(&PKCS_ECDSA_P256_SHA256);
    let as_sec1 = (p256.0.clone(), sec1(&p256.1));
    let with_parameters = (
        p256.0.clone(),
        format!(
            "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n{}",
            as_sec1.1
        ),
    );
    let pkcs1 = (RSA.to_owned(), section("RSA PRIVATE KEY", RSA_KEY));
    let table = [p256, as_sec1, with_parameters, pair(&PKCS_ECDSA_P384_SHA384), pair(&PKCS_ED25519)];
    for (n, (certificate, key)) in table.iter().enumerate() {
        let read = read(certificate, key).map_err(|fault| format!("{n}: {fault:?}")).unwrap();
        assert_eq!(read.shown.expires_at.to_string(), "2031-02-03T00:00:00.000Z");
        assert_eq!(read.shown.fingerprint_sha256, hex::encode(Sha256::digest(&read.key.cert[0])));
    }
    assert_eq!(read(&pkcs1.0, &pkcs1.1).unwrap().key.cert.len(), 1);
}

#[test]
fn what_stands_around_the_sections_does_not_matter() {
    let (leaf, key) = pair(&PKCS_ECDSA_P256_SHA256);
    let (issuer, _) = pair(&PKCS_ED25519);
    let chain = format!("subject=CN = client\r\n{}\r\n# the issuer\n{issuer}", leaf.replace('\n', "\r\n"));
    let alone = read(&leaf, &key).unwrap();
    let read = read(&chain, &format!("\n\nkey\n{key}\n")).unwrap();
    assert_eq!((read.key.cert.len(), read.shown), (2, alone.shown));
}

#[test]
fn everything_else_is_refused() {
    let (leaf, key) = pair(&PKCS_ECDSA_P256_SHA256);
    let (other, other_key) = pair(&PKCS_ECDSA_P256_SHA256);
    let public_key = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n";
    let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    let no_key = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n";
    let no_certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let open = "-----BEGIN CERTIFICATE-----\nAAAA\n";
    let no_base64 = "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n";
    let longer = leaf.lines().next().map(|begin| {
        let body: String = leaf.lines().filter(|line| !line.starts_with('-')).collect();
        let mut der = BASE64_STANDARD.decode(body).unwrap();
        der.push(0);
        format!("{begin}\n{}\n-----END CERTIFICATE-----\n", BASE64_STANDARD.encode(der))
    });
    let table = [
        (String::new(), key.clone(), Fault::NotCertificates),
        ("no PEM".to_owned(), key.clone(), Fault::NotCertificates),
        (key.clone(), key.clone(), Fault::NotCertificates),
        (format!("{leaf}{key}"), key.clone(), Fault::NotCertificates),
        (open.to_owned(), key.clone(), Fault::NotCertificates),
        (no_base64.to_owned(), key.clone(), Fault::NotCertificates),
        (leaf.repeat(9), key.clone(), Fault::TooManyCertificates),
        (no_certificate.to_owned(), key.clone(), Fault::Malformed),
        (format!("{leaf}{no_certificate}"), key.clone(), Fault::Malformed),
        (longer.unwrap(), key.clone(), Fault::Malformed),
        (leaf.clone(), String::new(), Fault::NotOneKey),
        (leaf.clone(), leaf.clone(), Fault::NotOneKey),
        (leaf.clone(), format!("{key}{key}"), Fault::NotOneKey),
        (leaf.clone(), format!("{key}{other}"), Fault::NotOneKey),
        (leaf.clone(), format!("{other}{key}"), Fault::NotOneKey),
        (leaf.clone(), format!("{key}{no_base64}"), Fault::NotOneKey),
        (leaf.clone(), public_key.to_owned(), Fault::NotOneKey),
        (leaf.clone(), encrypted.to_owned(), Fault::NotOneKey),
        (leaf.clone(), no_key.to_owned(), Fault::UnsupportedKey),
        (SHORT_RSA.to_owned(), section("PRIVATE KEY", SHORT_RSA_KEY), Fault::UnsupportedKey),
        (leaf.clone(), other_key.clone(), Fault::OtherKey),
        (format!("{other}{leaf}"), key.clone(), Fault::OtherKey),
        (RSA.to_owned(), key.clone(), Fault::OtherKey),
    ];
    for (n, (certificate, key, fault)) in table.iter().enumerate() {
        assert_eq!(read(certificate, key).err(), Some(*fault), "{n}");
    }
    assert!(read(&leaf.repeat(8), &key).is_ok());
}
