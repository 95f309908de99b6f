//! Reads the credential of a request (contract 5.3): `Authorization: Bearer <key>` and nothing else.
//!
//! Only the form is checked here, so that a malformed key costs no database read; the caller looks up whether the
//! key exists, is revoked or belongs to this API. Deliberately absent: every other transport (query parameter,
//! Basic, cookie), and anything that would tell a client which rule its key broke.

use authority_domain::merchant::api_key::ApiKey;
use authority_domain::{ErrorCode, Refusal, Result};
use http::HeaderMap;
use http::header::AUTHORIZATION;

/// The key a request carries.
///
/// # Errors
/// `missing_credential` without an `Authorization` line; `invalid_api_key` with two, with another scheme, or with
/// something that is not a well-formed key.
pub fn read(headers: &HeaderMap) -> Result<ApiKey> {
    let mut lines = headers.get_all(AUTHORIZATION).iter();
    let Some(line) = lines.next() else {
        return Err(Refusal::new(ErrorCode::MissingCredential, "The request has no Authorization header."));
    };
    if lines.next().is_some() {
        return Err(invalid());
    }
    let (scheme, key) = line.to_str().ok().and_then(|text| text.split_once(' ')).ok_or_else(invalid)?;
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(invalid());
    }
    ApiKey::parse(key.trim_matches(' ')).map_err(|_| invalid())
}

/// The one refusal for every invalid key, whatever is wrong with it.
#[must_use]
pub fn invalid() -> Refusal {
    Refusal::new(ErrorCode::InvalidApiKey, "The credential is not a valid API key for this service.")
}

#[cfg(test)]
mod tests {
    use authority_domain::merchant::api_key::KeyKind;
    use http::HeaderValue;

    use super::*;

    fn headers(lines: &[&str]) -> HeaderMap {
        lines.iter().map(|line| (AUTHORIZATION, HeaderValue::from_str(line).unwrap())).collect()
    }

    #[test]
    fn takes_bearer_in_any_case_with_any_number_of_spaces() {
        for kind in KeyKind::ALL {
            let key = ApiKey::generate(*kind, &[5; 32]);
            for scheme in ["Bearer ", "bearer ", "BEARER    "] {
                let read = read(&headers(&[&format!("{scheme}{}", key.expose())])).unwrap();
                assert_eq!((read.kind(), read.hash()), (*kind, key.hash()));
            }
        }
    }

    #[test]
    fn refuses_everything_else_without_saying_why() {
        let key = ApiKey::generate(KeyKind::Live, &[5; 32]).expose().to_owned();
        let bearer = format!("Bearer {key}");
        let mut typing_error = bearer.clone();
        typing_error.replace_range(12..13, if &bearer[12..13] == "x" { "y" } else { "x" });
        let table: &[&[&str]] = &[
            &[""],
            &["Bearer"],
            &["Bearer "],
            &[&key],
            &[&format!("Bearer\t{key}")],
            &[&format!("Basic {key}")],
            &[&format!("Bearer {key} {key}")],
            &[&format!("Bearer \"{key}\"")],
            &[&format!("Bearer {key},")],
            &[&typing_error],
            &[&bearer, &bearer],
        ];
        for lines in table {
            let refusal = read(&headers(lines)).unwrap_err();
            assert_eq!(refusal, invalid(), "{lines:?}");
            assert!(!refusal.to_string().contains(&key));
        }
        assert_eq!(read(&headers(&[])).unwrap_err().code, ErrorCode::MissingCredential);
    }
}
