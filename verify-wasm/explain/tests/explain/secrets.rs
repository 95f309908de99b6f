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
    let right = Case::right;
    // This secret is configured; the sender has S1.
    let trusts = |name: &str, secret: &str, causes: &[&str]| {
        right().when(name, |case| case.secrets = vec![secret.to_owned()], failed, causes)
    };
    // S1 is configured; the sender makes this key of it.
    let keyed = |name: &str, key: &[&[u8]], cause: &str| {
        right().when(name, |case| sign(case, key, &signed()), failed, &[cause])
    };
    // The sender signs this text.
    let signs = |name: &str, text: &str| {
        let damage = |case: &mut Case| sign(case, &[S1.as_bytes()], text.as_bytes());
        right().when(name, damage, failed, &["signed_other_string"])
    };
    // This secret is configured, and the sender makes this key of it.
    let both = |name: &str, secret: &str, key: &[u8], cause: &str| {
        let damage = |case: &mut Case| {
            case.secrets = vec![secret.to_owned()];
            sign(case, &[key], &signed());
        };
        right().when(name, damage, failed, &[cause])
    };
    let previous = |case: &mut Case| {
        case.signature = Some(signature(S2, BODY.as_bytes()));
        case.other_secrets = vec!["whsec_a".to_owned(), format!("{S2}\n")];
    };
    let (key, rest) = (S1.as_bytes(), &S1[6..]);
    let behind_prefix = |rest: &str| format!("whsec_{rest}");
    let [stray, cut_off, letters, encoded_key] =
        ["secret_stray_end", "secret_cut_off", "secret_case", "key_encoded"];
    let unsure = "other_secret_or_bytes";
    vec![
        trusts("a secret with a quotation mark behind it", &format!("{S1}\""), &[stray]),
        trusts("a secret with a written line end behind it", &format!("{S1}\\n"), &[stray]),
        trusts("a secret with its prefix twice", &behind_prefix(S1), &[stray]),
        keyed("the key is the text behind the prefix", &[rest.as_bytes()], "key_without_prefix"),
        keyed("the key is decoded base64", &[&base64(rest)], "key_decoded"),
        both("the key is decoded hexadecimal", "whsec_00ff10a0", &[0, 0xff, 0x10, 0xa0], "key_decoded"),
        trusts("the last character of the secret is missing", &S1[..S1.len() - 1], &[cut_off]),
        trusts("the first character of the secret is missing", &behind_prefix(&S1[7..]), &[cut_off]),
        keyed("the sender's secret is cut off", &[&key[..40]], cut_off),
        keyed("the sender's secret lacks its beginning", &[b"whsec_", &key[9..]], cut_off),
        // So short a key could be guessed, and a signature by it would tell whether it was guessed right.
        keyed("the first 21 characters of the secret are no key", &[&key[..27]], unsure),
        keyed(
            "the last 21 characters of the secret are no key",
            &[b"whsec_", &key[key.len() - 21..]],
            unsure,
        ),
        trusts("several characters of the secret are missing", &S1[..40], &[cut_off, unsure]),
        keyed("the sender's secret is in lowercase", &[S1.to_lowercase().as_bytes()], letters),
        keyed("the sender's secret is in capitals", &[S1.to_uppercase().as_bytes()], letters),
        keyed(
            "the sender's secret has capitals behind the prefix",
            &[b"whsec_", rest.to_uppercase().as_bytes()],
            letters,
        ),
        trusts("the configured secret is in lowercase", &S1.to_lowercase(), &[letters, unsure]),
        keyed(
            "the sender encodes what follows the prefix",
            &[b"whsec_", encoded(rest).as_bytes()],
            encoded_key,
        ),
        keyed(
            "the sender encodes the whole secret",
            &[encoded(S1).trim_end_matches('=').as_bytes()],
            encoded_key,
        ),
        keyed(
            "the sender writes hexadecimal digits",
            &[b"whsec_", hex::encode(rest).as_bytes()],
            encoded_key,
        ),
        trusts(
            "the configured secret has its rest in base64",
            &behind_prefix(&encoded(rest)),
            &[encoded_key],
        ),
        trusts(
            "the configured secret is the whole one in base64",
            &behind_prefix(&encoded(S1)),
            &[encoded_key],
        ),
        both("the configured secret has percent signs", "whsec_a%2Bb%2Fc", b"whsec_a+b/c", encoded_key),
        keyed("the sender's key has a line feed", &[key, b"\n"], "secret_blanks"),
        keyed("the sender's key has quotation marks", &[b"\"", key, b"\""], "secret_quoted"),
        signs("the body alone was signed", BODY),
        signs("the full stop was left out", &format!("{NOW}{BODY}")),
        signs("signed as Standard Webhooks do", &format!("evt_1.{NOW}.{BODY}")),
        right().when("signed with the previous secret", previous, failed, &["other_secret"]),
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
