//! What holds for every delivery, whatever was done to it.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use verify_core::json::{Duplicates, MAX_DEPTH, check};
use verify_core::{Headers, Secret, Tolerance, Verifier, secret, sign};
use verify_explain::{Delivery, HeaderLine, Trust, explain};

use crate::case::{BODY, Case, NOW};
use crate::table;

/// Something done to a body.
fn damaged(body: &[u8], damage: u8, at: Index) -> Vec<u8> {
    let mut body = body.to_vec();
    let place = at.index(body.len());
    match damage {
        0 => {}
        1 => body.push(b'\n'),
        2 => body.insert(0, 0xef),
        3 => body.truncate(place),
        4 => body[place] ^= 1,
        5 => body.insert(place, b' '),
        6 => body = String::from_utf8_lossy(&body).replace(',', ", ").into_bytes(),
        7 => body = body.iter().copied().map(char::from).collect::<String>().into_bytes(),
        _ => body = serde_json::to_vec(&String::from_utf8_lossy(&body)).unwrap(),
    }
    body
}

/// Every way in which the digest of these bytes could be written, for each of these secrets and what is made of them.
fn digests(secrets: &[String], bodies: &[&[u8]]) -> Vec<String> {
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    let mut digests = Vec::new();
    for text in secrets {
        let Ok(secret) = Secret::parse(text.trim()) else { continue };
        for body in bodies {
            let digest = String::from_utf8(secret.sign(NOW.to_string().as_bytes(), body).to_vec()).unwrap();
            digests.push(BASE64_STANDARD.encode(hex::decode(&digest).unwrap()));
            digests.push(digest);
        }
    }
    digests
}

/// No eight characters in a row of any of these stand in the text.
fn assert_silent(text: &str, secrets: &[String], digests: &[String]) {
    let lower = text.to_lowercase();
    let parts = secrets
        .iter()
        .map(|secret| secret.trim_start_matches("whsec_"))
        .chain(digests.iter().map(String::as_str));
    for part in parts {
        for window in part.as_bytes().windows(8) {
            let window = String::from_utf8_lossy(window).to_lowercase();
            assert!(!lower.contains(&window), "{window} stands in {text}");
        }
    }
}

proptest! {
    #[test]
    fn the_verdict_is_that_of_the_core_and_nothing_is_given_away(
        seeds in vec(any::<[u8; 32]>(), 1..4),
        signed_with in any::<Index>(),
        damage in 0_u8..9,
        at in any::<Index>(),
        secret_ends in vec(select(vec!["", "", "", "\n", " ", "\"", "é"]), 3),
        timestamp in option::weighted(0.9, select(vec!["1788264000", "1788263000", "1788264000000", ""])),
        write in 0_u8..6,
        event_id in option::weighted(0.9, select(vec!["evt_1", "\"evt_1\"", "evt_2"])),
        lines in vec((select(vec!["Content-Length", "X-Service-Signature", "content-encoding", "Authorization"]), "\\PC{0,20}"), 0..3),
    ) {
        let generated: Vec<String> = seeds.iter().map(|seed| secret::generate(*seed)).collect();
        let key = Secret::parse(&generated[signed_with.index(generated.len())]).unwrap();
        let header = sign::signature_header([&key], &NOW.to_string(), BODY.as_bytes());
        let signature = match write {
            0 => header.to_uppercase(),
            1 => header.replace("v1=", ""),
            2 => header[..30].to_owned(),
            3 => format!("\"{header}\""),
            _ => header,
        };
        let body = damaged(BODY.as_bytes(), damage, at);
        let secrets: Vec<String> =
            generated.iter().zip(secret_ends).map(|(secret, end)| format!("{secret}{end}")).collect();
        let case = Case {
            body: Some(body.clone()),
            timestamp: timestamp.map(str::to_owned),
            signature: Some(signature),
            event_id: event_id.map(str::to_owned),
            lines: lines.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            secrets: secrets[..1].to_vec(),
            other_secrets: secrets[1..].to_vec(),
            ..Case::right()
        };
        let explanation = case.explanation();
        let verifier = Verifier::new(&case.secrets, Tolerance::DEFAULT).unwrap();
        prop_assert_eq!(explanation.verdict, verifier.verify(Some(&body), &case.headers(), NOW).map(|_| ()));
        prop_assert_eq!(explanation.causes.is_empty(), explanation.verdict.is_ok());
        assert_silent(&explanation.to_json(), &generated, &digests(&generated, &[&body, BODY.as_bytes()]));
    }

    #[test]
    fn no_bytes_make_it_panic(
        body in option::of(vec(any::<u8>(), 0..200)),
        text in "[\\[\\]{}\",:\\\\u0-9a-z \\n\u{feff}-]{0,60}",
        (wrapped, at) in (0_u8..5, any::<Index>()),
        timestamp in option::of(vec(any::<u8>(), 0..20)),
        signature in option::of(vec(any::<u8>(), 0..100)),
        event_id in option::of(vec(any::<u8>(), 0..20)),
        secrets in vec("\\PC*", 0..4),
        now: i64,
        line in ("\\PC{0,20}", vec(any::<u8>(), 0..20)),
    ) {
        // Arbitrary bytes as they come, and behind a good signature.
        let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
        let lines = [HeaderLine { name: &line.0, value: &line.1 }];
        let headers = Headers {
            timestamp: timestamp.as_deref(), signature: signature.as_deref(), event_id: event_id.as_deref(),
        };
        let trust = Trust { secrets: &secrets, other_secrets: &secrets, tolerance: Tolerance::DEFAULT, now };
        let delivery = Delivery { body: body.as_deref(), headers, lines: &lines };
        let explanation = explain(&delivery, &trust).unwrap();
        prop_assert_eq!(explanation.causes.is_empty(), explanation.verdict.is_ok());
        let text = damaged(format!("{text}x").as_bytes(), wrapped, at);
        for mut case in [Case::of(&text), Case::right()] {
            case.body = Some(text.clone());
            let explanation = case.explanation();
            prop_assert_eq!(explanation.causes.is_empty(), explanation.verdict.is_ok());
            let parsed: serde_json::Value = serde_json::from_str(&explanation.to_json()).unwrap();
            prop_assert_eq!(&parsed["code"], explanation.code());
        }
    }

    #[test]
    fn the_place_of_a_fault_is_found_whenever_there_is_one(
        text in prop_oneof!["[\\[\\]{}\",:\\\\u0-9a-f eE+.\\-]{0,40}", "\\PC{0,20}"],
        at in any::<Index>(),
        byte: u8,
        mutate: bool,
    ) {
        let mut body = if mutate { BODY.as_bytes().to_vec() } else { text.into_bytes() };
        if mutate {
            let place = at.index(body.len());
            body[place] = byte;
        }
        prop_assume!(!body.is_empty());
        let mut case = Case::of(&body);
        case.event_id = None;
        let explanation = case.explanation();
        let is_json = check(&body, MAX_DEPTH, Duplicates::Allowed).is_ok();
        prop_assert_eq!(explanation.code() != "invalid_json", is_json);
        if !is_json {
            let evidence = &explanation.causes[0].evidence;
            prop_assert!(evidence.contains(" at byte ") || evidence.contains("byte order mark"), "{}", evidence);
        }
    }
}

#[test]
fn no_case_of_the_table_gives_anything_away() {
    for case in table::cases() {
        let secrets: Vec<String> = [case.secrets.clone(), case.other_secrets.clone()].concat();
        let real: Vec<String> = secrets.into_iter().filter(|secret| secret.len() > 30).collect();
        let trimmed: Vec<String> =
            real.iter().map(|secret| secret.trim_matches(['"', '\n', '\\', 'n']).to_owned()).collect();
        let body = case.body.clone().unwrap_or_default();
        let digests = digests(&trimmed, &[&body, BODY.as_bytes(), body.trim_ascii()]);
        assert_silent(&case.explanation().to_json(), &real, &digests);
    }
}
