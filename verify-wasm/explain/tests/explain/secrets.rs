//! Secrets that are not what the sender signed with.

use crate::case::{BODY, Case, NOW, S1, S2, signature};

/// Everything that can be wrong with a secret or with how it was used.
pub(crate) fn cases() -> Vec<Case> {
    [unusable(), mistaken()].concat()
}

fn configured(name: &str, secret: &str, cause: &str) -> Case {
    Case::right().when(name, |case| case.secrets = vec![secret.to_owned()], "invalid_secret", &[cause])
}

fn unusable() -> Vec<Case> {
    let several = |case: &mut Case| case.secrets = vec![S1.to_owned(), format!("{S2}\n"), String::new()];
    vec![
        Case::right().when("no secret", |case| case.secrets.clear(), "invalid_secret", &["secret_missing"]),
        configured("an empty secret", "", "secret_missing"),
        configured("a blank secret", " \n", "secret_missing"),
        configured("nothing but the prefix", "whsec_", "secret_missing"),
        configured("a secret with a line feed", &format!("{S1}\n"), "secret_blanks"),
        configured("a secret with CR LF", &format!("{S1}\r\n"), "secret_blanks"),
        configured("a secret with a blank in front", &format!(" {S1}"), "secret_blanks"),
        configured("a secret behind a byte order mark", &format!("\u{feff}{S1}"), "secret_blanks"),
        configured("a secret in quotation marks", &format!("\"{S1}\""), "secret_quoted"),
        configured(
            "a secret without its prefix",
            S1.strip_prefix("whsec_").unwrap(),
            "secret_prefix_missing",
        ),
        configured("a secret with its variable", &format!("SIGNING_SECRET={S1}"), "secret_prefix_missing"),
        configured("a secret in capitals", &S1.to_uppercase(), "secret_prefix_missing"),
        configured(
            "a secret with a line end inside",
            &format!("{}\n{}", &S1[..20], &S1[20..]),
            "secret_characters",
        ),
        configured("a secret with a letter beyond ASCII", &format!("{S1}é"), "secret_characters"),
        configured(
            "a secret that is far too long",
            &format!("whsec_{}", "a".repeat(507)),
            "secret_characters",
        ),
        Case::right().when(
            "two of three secrets are unusable",
            several,
            "invalid_secret",
            &["secret_blanks", "secret_missing"],
        ),
    ]
}

fn mistaken() -> Vec<Case> {
    let failed = "invalid_signature";
    let made = |name, damage: fn(&mut Case), cause| Case::right().when(name, damage, failed, &[cause]);
    vec![
        made(
            "a secret with a quotation mark behind it",
            |case| case.secrets = vec![format!("{S1}\"")],
            "secret_stray_end",
        ),
        made(
            "a secret with a written line end behind it",
            |case| case.secrets = vec![format!("{S1}\\n")],
            "secret_stray_end",
        ),
        made(
            "a secret with its prefix twice",
            |case| case.secrets = vec![format!("whsec_{S1}")],
            "secret_stray_end",
        ),
        made(
            "the key is the text behind the prefix",
            |case| sign(case, &[&S1.as_bytes()[6..]], &signed()),
            "key_without_prefix",
        ),
        made("the key is decoded base64", |case| sign(case, &[&base64(&S1[6..])], &signed()), "key_decoded"),
        made(
            "the key is decoded hexadecimal",
            |case| {
                case.secrets = vec!["whsec_00ff10a0".to_owned()];
                sign(case, &[&[0, 0xff, 0x10, 0xa0]], &signed());
            },
            "key_decoded",
        ),
        made(
            "the last character of the secret is missing",
            |case| case.secrets = vec![S1[..S1.len() - 1].to_owned()],
            "secret_cut_off",
        ),
        made(
            "the first character of the secret is missing",
            |case| case.secrets = vec![format!("whsec_{}", &S1[7..])],
            "secret_cut_off",
        ),
        made(
            "the sender's secret is cut off",
            |case| sign(case, &[&S1.as_bytes()[..20]], &signed()),
            "secret_cut_off",
        ),
        made(
            "the sender's secret lacks its beginning",
            |case| sign(case, &[b"whsec_", &S1.as_bytes()[9..]], &signed()),
            "secret_cut_off",
        ),
        Case::right().when(
            "several characters of the secret are missing",
            |case| case.secrets = vec![S1[..40].to_owned()],
            failed,
            &["secret_cut_off", "other_secret_or_bytes"],
        ),
        made(
            "the sender's secret is in lowercase",
            |case| sign(case, &[S1.to_lowercase().as_bytes()], &signed()),
            "secret_case",
        ),
        made(
            "the sender's secret is in capitals",
            |case| sign(case, &[S1.to_uppercase().as_bytes()], &signed()),
            "secret_case",
        ),
        made(
            "the sender's secret has capitals behind the prefix",
            |case| sign(case, &[b"whsec_", S1[6..].to_uppercase().as_bytes()], &signed()),
            "secret_case",
        ),
        Case::right().when(
            "the configured secret is in lowercase",
            |case| case.secrets = vec![S1.to_lowercase()],
            failed,
            &["secret_case", "other_secret_or_bytes"],
        ),
        made(
            "the sender encodes what follows the prefix",
            |case| sign(case, &[b"whsec_", encoded(&S1[6..]).as_bytes()], &signed()),
            "key_encoded",
        ),
        made(
            "the sender encodes the whole secret",
            |case| sign(case, &[encoded(S1).trim_end_matches('=').as_bytes()], &signed()),
            "key_encoded",
        ),
        made(
            "the sender writes hexadecimal digits",
            |case| sign(case, &[b"whsec_", hex::encode(&S1[6..]).as_bytes()], &signed()),
            "key_encoded",
        ),
        made(
            "the configured secret has its rest in base64",
            |case| case.secrets = vec![format!("whsec_{}", encoded(&S1[6..]))],
            "key_encoded",
        ),
        made(
            "the configured secret is the whole one in base64",
            |case| case.secrets = vec![format!("whsec_{}", encoded(S1))],
            "key_encoded",
        ),
        made(
            "the configured secret has percent signs",
            |case| {
                case.secrets = vec!["whsec_a%2Bb%2Fc".to_owned()];
                sign(case, &[b"whsec_a+b/c"], &signed());
            },
            "key_encoded",
        ),
        made(
            "the sender's key has a line feed",
            |case| sign(case, &[S1.as_bytes(), b"\n"], &signed()),
            "secret_blanks",
        ),
        made(
            "the sender's key has quotation marks",
            |case| sign(case, &[b"\"", S1.as_bytes(), b"\""], &signed()),
            "secret_quoted",
        ),
        made(
            "the body alone was signed",
            |case| sign(case, &[S1.as_bytes()], BODY.as_bytes()),
            "signed_other_string",
        ),
        made(
            "the full stop was left out",
            |case| sign(case, &[S1.as_bytes()], format!("{NOW}{BODY}").as_bytes()),
            "signed_other_string",
        ),
        made(
            "signed as Standard Webhooks do",
            |case| sign(case, &[S1.as_bytes()], format!("evt_1.{NOW}.{BODY}").as_bytes()),
            "signed_other_string",
        ),
        made(
            "signed with the previous secret",
            |case| {
                case.signature = Some(signature(S2, BODY.as_bytes()));
                case.other_secrets = vec!["whsec_a".to_owned(), format!("{S2}\n")];
            },
            "other_secret",
        ),
    ]
}

fn signed() -> Vec<u8> {
    format!("{NOW}.{BODY}").into_bytes()
}

fn sign(case: &mut Case, key: &[&[u8]], signed: &[u8]) {
    case.signature = Some(format!("v1={}", hex::encode(hmac(&key.concat(), signed))));
}

fn hmac(key: &[u8], signed: &[u8]) -> [u8; 32] {
    use hmac::{Hmac, KeyInit as _, Mac as _};
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(key).unwrap();
    mac.update(signed);
    mac.finalize().into_bytes().into()
}

fn encoded(text: &str) -> String {
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    BASE64_STANDARD.encode(text)
}

/// Leniently, as senders decode what was never meant to be decoded.
fn base64(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    let config = base64::engine::GeneralPurposeConfig::new()
        .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    base64::engine::GeneralPurpose::new(&base64::alphabet::STANDARD, config).decode(text).unwrap()
}
