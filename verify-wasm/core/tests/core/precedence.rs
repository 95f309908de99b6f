//! The order of the codes (contract 10.2): whatever else is wrong, the first condition that holds answers.

use crate::delivery::{BODY, Delivery, NOW};
use verify_core::{BodyLimit, Headers, Secret, Tolerance, VerificationCode, Verifier, sign};

/// Breaks the body so that this code applies. Later members stay as they are.
fn break_body(code: VerificationCode, body: &str) -> String {
    use VerificationCode as Code;
    match code {
        Code::InvalidJson => format!("{body}}}"),
        Code::InvalidPayload => body.replacen('{', r#"{"x":0,"\u0078":0,"#, 1),
        Code::InvalidEventId => body.replace("evt_1", "evt_ 1"),
        Code::InvalidEventType => body.replace("webhook.test", "webhook"),
        Code::InvalidApiVersion => body.replace("2026-09-01\"", "2026-09-31\""),
        Code::InvalidCreatedAt => body.replace("T12:00:00.000Z", "T12:00:00Z"),
        Code::InvalidMerchant => body.replace("mer_1", "mer_"),
        Code::InvalidData => body.replace(r#"{"object":{}}"#, r#"{"object":[]}"#),
        _ => body.to_owned(),
    }
}

/// A delivery to which exactly these codes apply, as far as they can apply together.
fn broken(codes: &[VerificationCode]) -> Delivery {
    use VerificationCode as Code;
    let has = |code| codes.contains(&code);

    let body = codes.iter().fold(BODY.to_owned(), |body, code| break_body(*code, &body));
    let mut delivery = Delivery::of(&body);
    if has(Code::StaleTimestamp) {
        let stale = (NOW - 301).to_string();
        let secret = Secret::parse(crate::delivery::S1).unwrap();
        delivery.signature = Some(sign::signature_header([&secret], &stale, body.as_bytes()).into_bytes());
        delivery.timestamp = Some(stale.into_bytes());
    }
    if has(Code::EventIdMismatch) {
        delivery.event_id = Some(b"evt_2".to_vec());
    }
    if has(Code::InvalidSignature) {
        delivery.signature = Some([b"v1=".as_slice(), &[b'0'; 64]].concat());
    }
    if has(Code::MissingSignature) {
        delivery.signature = None;
    }
    if has(Code::InvalidTimestamp) {
        delivery.timestamp = None;
    }
    if has(Code::InvalidSecret) {
        delivery.secrets.push("whsec_".to_owned());
    }
    if has(Code::MissingBody) {
        delivery.body = None;
    }
    delivery
}

#[test]
fn the_first_code_wins_in_every_combination() {
    for set in 0_u32..1 << 15 {
        let codes: Vec<_> =
            (0..15).filter(|bit| set >> bit & 1 == 1).map(|bit| VerificationCode::ALL[bit]).collect();
        let expected = codes.first().map_or("ok", |code| code.as_str());
        assert_eq!(broken(&codes).verdict(), expected, "{codes:?}");
    }
}

#[test]
fn what_the_contract_names_as_worth_a_test() {
    let mut no_header = Delivery::of(BODY);
    (no_header.timestamp, no_header.signature, no_header.event_id) = (None, None, None);
    assert_eq!(no_header.verdict(), "invalid_timestamp");

    let mut forged_and_not_json = Delivery::of(BODY);
    forged_and_not_json.body = Some(b"{".to_vec());
    assert_eq!(forged_and_not_json.verdict(), "invalid_signature");

    let mut mismatch_and_type = Delivery::of(BODY.replace("webhook.test", "test"));
    mismatch_and_type.event_id = None;
    assert_eq!(mismatch_and_type.verdict(), "invalid_event_type");
}

#[test]
fn the_order_of_the_codes_is_that_of_the_contract() {
    let names: Vec<_> = VerificationCode::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(
        names,
        [
            "missing_body",
            "invalid_secret",
            "invalid_timestamp",
            "stale_timestamp",
            "missing_signature",
            "invalid_signature",
            "invalid_json",
            "invalid_payload",
            "invalid_event_id",
            "invalid_event_type",
            "invalid_api_version",
            "invalid_created_at",
            "invalid_merchant",
            "invalid_data",
            "event_id_mismatch",
        ]
    );
    for code in VerificationCode::ALL {
        assert_eq!(VerificationCode::from_str(code.as_str()), Some(code));
    }
    assert_eq!(VerificationCode::from_str("resource_version_conflict"), None);
}

#[test]
fn a_body_above_the_bound_is_refused_by_its_length_alone() {
    let refused = Err(VerificationCode::InvalidPayload);
    let limit = BodyLimit::new(1000).unwrap();
    let delivery = Delivery::of(format!("{BODY:1000}"));
    let (headers, body) = (delivery.headers(), delivery.body.as_deref().unwrap());
    let longer = [body, b" "].concat();
    let verifier = Verifier::new(&delivery.secrets, Tolerance::DEFAULT).unwrap().with_body_limit(limit);
    assert_eq!(
        verifier.verify(Some(body), &headers, NOW).map(|event| event.id.into_owned()),
        Ok("evt_1".into())
    );
    assert_eq!(verifier.verify(Some(&longer), &headers, NOW), refused);
    // Whatever else is wrong, there being no secret included.
    let nothing = Verifier::new::<&str>(&[], Tolerance::DEFAULT).unwrap();
    let sixteen_mebibytes = vec![b' '; 16 << 20];
    for (verifier, body, expected) in [
        (&nothing, &sixteen_mebibytes[..], Err(VerificationCode::InvalidSecret)),
        (&nothing, &[&sixteen_mebibytes[..], b" "].concat(), refused.clone()),
        (&verifier, &longer, refused),
    ] {
        assert_eq!(verifier.verify(Some(body), &Headers::default(), NOW), expected);
    }
}
