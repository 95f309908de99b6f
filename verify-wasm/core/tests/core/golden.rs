//! The golden vectors of contract 10.8: fixed digests that no change of ours may move.

use crate::delivery::{BODY, Delivery, NOW, S1, S2};
use verify_core::{Secret, sign};

fn digest(secret: &str, body: &[u8]) -> String {
    let secret = Secret::parse(secret).unwrap();
    String::from_utf8(secret.sign(NOW.to_string().as_bytes(), body).to_vec()).unwrap()
}

#[test]
fn digests_are_those_of_the_contract() {
    assert_eq!(BODY.len(), 161);
    let with_lf = format!("{BODY}\n");
    let utf8 = BODY.replace(r#""slug":"a""#, r#""slug":"café 🛒""#);
    assert_eq!(utf8.len(), 170);
    let golden = [
        (S1, BODY, "885c9a72f68a9c6eb1d1e063bc1795894d0fcfe1b1417a571e569d957ee16abe"),
        (S2, BODY, "2a742b6f437dce72605ba70d533604586fce1d552f6300a952ee9ba1ded9fc1f"),
        (S1, &with_lf, "444047454f819b1e6cc5318819003900fdeb51f7da1480f7752e463e0b6f456b"),
        (S1, &utf8, "9ae5c8621af277b8e6052d90c7ca72a8ef73b421c1b1dfadf680ef18860d00f5"),
        (S1, "", "18101f105b3e09f7643d2b9338b01b9c3db82e5e6949d047895b2d714d1e3ece"),
    ];
    for (secret, body, expected) in golden {
        assert_eq!(digest(secret, body.as_bytes()), expected, "{body}");
    }
}

#[test]
fn golden_digests_verify_and_the_empty_body_stays_missing() {
    let mut delivery = Delivery::of(BODY);
    delivery.signature =
        Some(b"v1=885c9a72f68a9c6eb1d1e063bc1795894d0fcfe1b1417a571e569d957ee16abe".to_vec());
    assert_eq!(delivery.verdict(), "ok");
    assert_eq!(Delivery::of("").verdict(), "missing_body");
}

#[test]
fn other_readings_of_the_secret_do_not_verify() {
    let wrong = [
        ("base64 after the prefix", "2e76e03702c9528a15f9d46211c1e5b0e8e34ca29b244526b311d06ce9bd6c42"),
        ("text after the prefix", "887366bbf77cd63b31728da14c2f9dd5f0346308b21cf5236b5079ab76d7e17e"),
    ];
    for (reading, digest) in wrong {
        let mut delivery = Delivery::of(BODY);
        delivery.signature = Some(format!("v1={digest}").into_bytes());
        assert_eq!(delivery.verdict(), "invalid_signature", "{reading}");
    }
}

#[test]
fn the_header_holds_one_signature_per_secret_newest_first() {
    let [new, old] = [S2, S1].map(|text| Secret::parse(text).unwrap());
    let header = sign::signature_header([&new, &old], &NOW.to_string(), BODY.as_bytes());
    assert_eq!(
        header,
        "v1=2a742b6f437dce72605ba70d533604586fce1d552f6300a952ee9ba1ded9fc1f,\
         v1=885c9a72f68a9c6eb1d1e063bc1795894d0fcfe1b1417a571e569d957ee16abe"
    );
    // Rotation: a receiver that knows only one of them, either one, or both.
    for trusted in [vec![S1], vec![S2], vec![S1, S2]] {
        let mut delivery = Delivery::of(BODY);
        delivery.signature = Some(header.clone().into_bytes());
        delivery.secrets = trusted.iter().map(ToString::to_string).collect();
        assert_eq!(delivery.verdict(), "ok", "{trusted:?}");
    }
    let mut retired = Delivery::of(BODY);
    retired.secrets = vec![S2.to_owned()];
    assert_eq!(retired.verdict(), "invalid_signature");
}
