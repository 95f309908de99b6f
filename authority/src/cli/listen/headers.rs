//! `--header NAME:VALUE`: what a receiver behind a gateway may need besides the headers of a delivery.
//!
//! The headers that make a request a delivery cannot be set: a receiver that accepts a delivery here has to accept it
//! in service, too. No message repeats a value, which may be a credential.

use http::{HeaderMap, HeaderName, HeaderValue};

use super::Failure;

/// Set by the sender for each request, or about the connection.
const RESERVED: &str = "accept-encoding connection content-encoding content-length content-type expect host keep-alive \
                        proxy-connection te trailer transfer-encoding upgrade user-agent";

/// The values of all `--header` options.
pub(super) fn parse(options: &[String]) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    for option in options {
        let (name, value) = one(option).ok_or_else(|| {
            Failure::Usage("--header must be NAME:VALUE, such as X-Tenant:acme, in ASCII".to_owned())
        })?;
        if RESERVED.split(' ').any(|reserved| name == reserved) || name.as_str().starts_with("service-") {
            return Err(Failure::Usage(format!("--header cannot set {name}: the delivery sets it itself")));
        }
        headers.append(name, value);
    }
    Ok(headers)
}

fn one(option: &str) -> Option<(HeaderName, HeaderValue)> {
    let (name, value) = option.split_once(':')?;
    Some((name.trim().parse().ok()?, value.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(options: &[&str]) -> Result<HeaderMap, Failure> {
        parse(&options.iter().map(|option| (*option).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn headers_are_added_each_as_often_as_it_is_given() {
        let headers = parsed(&["X-Tenant: acme", "authorization:Bearer a:b", "x-tenant:other"]).unwrap();
        assert_eq!(headers.get_all("x-tenant").iter().collect::<Vec<_>>(), ["acme", "other"]);
        assert_eq!(headers["authorization"], "Bearer a:b");
    }

    #[test]
    fn what_is_no_header_or_belongs_to_the_delivery_is_refused() {
        for option in ["X-Tenant", ":acme", "X Tenant:acme", "X-Tenant:a\nb", ""] {
            let line = "--header must be NAME:VALUE, such as X-Tenant:acme, in ASCII".to_owned();
            assert_eq!(parsed(&[option]), Err(Failure::Usage(line)), "{option:?}");
        }
        for name in ["Service-Signature", "service-anything", "Content-Type", "host"] {
            let refused = parsed(&[&format!("{name}:secret")]);
            let Err(Failure::Usage(line)) = refused else { panic!("{name}: {refused:?}") };
            assert!(line.starts_with("--header cannot set ") && !line.contains("secret:"), "{line}");
        }
    }
}
