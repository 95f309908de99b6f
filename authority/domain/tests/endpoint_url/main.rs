//! Endpoint URLs against contract 7.6 rules 1 to 3.

mod exceptions;

use authority_domain::endpoint::url::{
    MAX_URL_BYTES, NetworkScope, TargetUrl, UrlPolicy, UrlRefusal, UrlRules,
};
use proptest::prelude::*;

const LIVE: bool = true;
const TEST: bool = false;

fn public(text: &str) -> Result<TargetUrl, UrlRefusal> {
    UrlRules::new(UrlPolicy::Public).parse(text, LIVE)
}

fn development(text: &str) -> Result<TargetUrl, UrlRefusal> {
    UrlRules::new(UrlPolicy::Development).parse(text, TEST)
}

#[test]
fn what_is_allowed_comes_out_normalised() {
    let table = [
        ("https://example.com", "https://example.com/"),
        ("https://example.com/hooks?a=1&b=%20", "https://example.com/hooks?a=1&b=%20"),
        ("https://example.com?a", "https://example.com/?a"),
        ("HTTPS://Hooks.EXAMPLE.com:443/A/../b", "https://hooks.example.com/b"),
        ("https://example.com:1024/", "https://example.com:1024/"),
        ("https://example.com:65535/", "https://example.com:65535/"),
        ("https://example.com:/", "https://example.com/"),
        ("https://example.com./hook", "https://example.com/hook"),
        ("https://bücher.example/ü", "https://xn--bcher-kva.example/%C3%BC"),
        ("https://a_b.example.com/", "https://a_b.example.com/"),
        ("https://example.com/a@b:c", "https://example.com/a@b:c"),
        ("https://example.com/?to=http://10.0.0.1/", "https://example.com/?to=http://10.0.0.1/"),
        ("https://notlocalhost.com/", "https://notlocalhost.com/"),
        ("https://mylocal.example/", "https://mylocal.example/"),
        ("https://localhost.example.com/", "https://localhost.example.com/"),
        ("https://127.0.0.1.example.com/", "https://127.0.0.1.example.com/"),
    ];
    for (text, normalised) in table {
        let target = public(text).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
        assert_eq!(target.as_str(), normalised);
        assert_eq!(target.scope(), NetworkScope::Public);
        assert_eq!(public(target.as_str()).as_ref(), Ok(&target), "normalising {text} twice changes nothing");
    }
}

#[test]
fn every_ip_literal_is_refused() {
    let hosts = "127.0.0.1 127.0.0.1. 127.1 127.0.1 0 0.0.0.0 10.0.0.1 8.8.8.8 0x7f.1 0X7F.0.0.1 0x7f000001 \
        0177.0.0.1 017700000001 2130706433 2130706433. 1.2.3 256.1.1.1 1.2.3.4.5 4294967296 example.1 \
        %31%32%37.0.0.1 １２７.０.０.１ 127。0。0。1 ①②⑦.0.0.1 [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] \
        [0:0:0:0:0:ffff:127.0.0.1] [2001:4860:4860::8888] [64:ff9b::7f00:1] [fe80::1%25eth0] [::1 [v1.x]";
    for host in hosts.split(' ') {
        for text in [format!("https://{host}/"), format!("https://{host}:8443/hook")] {
            assert_eq!(public(&text), Err(UrlRefusal::IpLiteral), "{text}");
        }
    }
}

#[test]
fn everything_else_that_is_forbidden_has_its_code() {
    let long_label = format!("https://{}.example.com/", "a".repeat(64));
    let long_name = format!("https://{}example.com/", "abcdefg.".repeat(31));
    let table = [
        ("", UrlRefusal::NotAbsolute),
        ("example.com", UrlRefusal::NotAbsolute),
        ("/hooks", UrlRefusal::NotAbsolute),
        ("//example.com/", UrlRefusal::NotAbsolute),
        ("https:example.com", UrlRefusal::NotAbsolute),
        ("https:/example.com", UrlRefusal::NotAbsolute),
        ("https:///example.com", UrlRefusal::NotAbsolute),
        ("https://", UrlRefusal::NotAbsolute),
        ("https://?a", UrlRefusal::NotAbsolute),
        ("mailto:a@example.com", UrlRefusal::NotAbsolute),
        ("data:text/plain,a", UrlRefusal::NotAbsolute),
        ("1http://example.com", UrlRefusal::NotAbsolute),
        ("://example.com", UrlRefusal::NotAbsolute),
        (" https://example.com/", UrlRefusal::Malformed),
        ("https://example.com/ ", UrlRefusal::Malformed),
        ("https://exam\tple.com/", UrlRefusal::Malformed),
        ("https://example.com/a\nb", UrlRefusal::Malformed),
        ("https://example.com\r\nHost:x/", UrlRefusal::Malformed),
        ("https://example.com/\0", UrlRefusal::Malformed),
        ("https:\\\\example.com\\", UrlRefusal::Malformed),
        ("https://example.com\\@evil.example/", UrlRefusal::Malformed),
        ("https://exam\u{3000}ple.com/", UrlRefusal::Malformed),
        ("http://example.com/", UrlRefusal::SchemeNotHttps),
        ("http://127.0.0.1/", UrlRefusal::SchemeNotHttps),
        ("http://localhost:8080/", UrlRefusal::SchemeNotHttps),
        ("ftp://example.com/", UrlRefusal::SchemeNotHttps),
        ("ws://example.com/", UrlRefusal::SchemeNotHttps),
        ("file:///etc/passwd", UrlRefusal::NotAbsolute),
        ("file://example.com/etc/passwd", UrlRefusal::SchemeNotHttps),
        ("https+unix://example.com/", UrlRefusal::SchemeNotHttps),
        ("https://user@example.com/", UrlRefusal::Userinfo),
        ("https://user:secret@example.com/", UrlRefusal::Userinfo),
        ("https://:@example.com/", UrlRefusal::Userinfo),
        ("https://@example.com/", UrlRefusal::Userinfo),
        ("https://example.com@127.0.0.1/", UrlRefusal::Userinfo),
        ("https://example.com/#", UrlRefusal::Fragment),
        ("https://example.com#a", UrlRefusal::Fragment),
        ("https://example.com/?a#b", UrlRefusal::Fragment),
        ("https://exa%20mple.com/", UrlRefusal::HostInvalid),
        ("https://exa<mple.com/", UrlRefusal::HostInvalid),
        ("https://exa%00mple.com/", UrlRefusal::HostInvalid),
        ("https://exa!mple.com/", UrlRefusal::HostInvalid),
        ("https://*.example.com/", UrlRefusal::HostInvalid),
        ("https://example..com/", UrlRefusal::HostInvalid),
        ("https://example.com../", UrlRefusal::HostInvalid),
        ("https://.example.com/", UrlRefusal::HostInvalid),
        ("https://1.2.3.4../", UrlRefusal::HostInvalid),
        ("https://-a.example.com/", UrlRefusal::HostInvalid),
        ("https://a-.example.com/", UrlRefusal::HostInvalid),
        ("https://./", UrlRefusal::HostInvalid),
        (&long_label, UrlRefusal::HostInvalid),
        (&long_name, UrlRefusal::HostInvalid),
        ("https://com/", UrlRefusal::HostNotPublic),
        ("https://intranet:8443/", UrlRefusal::HostNotPublic),
        ("https://localhost/", UrlRefusal::HostNotPublic),
        ("https://LOCALHOST./", UrlRefusal::HostNotPublic),
        ("https://a.localhost/", UrlRefusal::HostNotPublic),
        ("https://loc%61lhost/", UrlRefusal::HostNotPublic),
        ("https://ⓛocalhost/", UrlRefusal::HostNotPublic),
        ("https://printer.local/", UrlRefusal::HostNotPublic),
        ("https://a.b.Local./", UrlRefusal::HostNotPublic),
        ("https://metadata.google.internal/", UrlRefusal::HostNotPublic),
        ("https://home.arpa/", UrlRefusal::HostNotPublic),
        ("https://nas.home.arpa/", UrlRefusal::HostNotPublic),
        ("https://example.com:0/", UrlRefusal::PortForbidden),
        ("https://example.com:22/", UrlRefusal::PortForbidden),
        ("https://example.com:80/", UrlRefusal::PortForbidden),
        ("https://example.com:442/", UrlRefusal::PortForbidden),
        ("https://example.com:444/", UrlRefusal::PortForbidden),
        ("https://example.com:1023/", UrlRefusal::PortForbidden),
        ("https://example.com:65536/", UrlRefusal::PortForbidden),
        ("https://example.com:x/", UrlRefusal::PortForbidden),
    ];
    for (text, refusal) in table {
        assert_eq!(public(text), Err(refusal), "{text:?}");
        let development_live = UrlRules::new(UrlPolicy::Development).parse(text, LIVE);
        assert_eq!(development_live, Err(refusal), "{text:?} in live mode of a development process");
        let public_test = UrlRules::new(UrlPolicy::Public).parse(text, TEST);
        assert_eq!(public_test, Err(refusal), "{text:?} in test mode of a production process");
    }
}

#[test]
fn the_length_is_that_of_the_text_and_of_what_it_becomes() {
    let of_length = |length: usize| format!("https://example.com/{}", "a".repeat(length - 20));
    assert!(public(&of_length(MAX_URL_BYTES)).is_ok());
    assert_eq!(public(&of_length(MAX_URL_BYTES + 1)), Err(UrlRefusal::TooLong));
    // 1,000 umlauts are 2,000 bytes here and 6,000 when percent-encoded.
    let umlauts = format!("https://example.com/{}", "ü".repeat(1_000));
    assert!(umlauts.len() <= MAX_URL_BYTES);
    assert_eq!(public(&umlauts), Err(UrlRefusal::TooLong));
}

#[test]
fn own_host_names_are_refused_with_everything_below_them() {
    let rules = UrlRules::new(UrlPolicy::Public).deny_host("API.service.example.");
    for text in
        ["https://api.service.example/", "https://api.service.example./", "https://v1.API.service.example/"]
    {
        assert_eq!(rules.parse(text, LIVE), Err(UrlRefusal::HostDenied), "{text}");
    }
    for text in ["https://service.example/", "https://myapi.service.example/"] {
        assert!(rules.parse(text, LIVE).is_ok(), "{text}");
    }
}

#[test]
fn the_debug_form_shows_no_path_and_no_query() {
    let target = public("https://example.com:8443/hooks/tok_3n?key=s3cret").unwrap();
    assert_eq!(format!("{target:?}"), "TargetUrl(Public, https://example.com:8443)");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn no_text_panics_and_what_passes_keeps_the_rules(
        text in "(https?://)?[a-z0-9.\\-:@\\[\\]%#/?\u{ff11}\u{3002}\\\\ ]{0,40}",
    ) {
        for (policy, livemode) in [(UrlPolicy::Public, LIVE), (UrlPolicy::Development, TEST)] {
            let Ok(target) = UrlRules::new(policy).parse(&text, livemode) else { continue };
            let url = url::Url::parse(target.as_str()).unwrap();
            prop_assert!(url.username().is_empty() && url.password().is_none() && url.fragment().is_none());
            match target.scope() {
                NetworkScope::Public => {
                    prop_assert_eq!(url.scheme(), "https");
                    prop_assert!(url.domain().is_some_and(|name| name.contains('.') && !name.ends_with('.')));
                }
                NetworkScope::Loopback => {
                    prop_assert!(matches!(url.host_str(), Some("127.0.0.1" | "[::1]" | "localhost")));
                }
                NetworkScope::Private(_) | NetworkScope::Anywhere => prop_assert!(false, "no rules allow that"),
            }
        }
    }

    #[test]
    fn every_ipv4_address_as_one_number_is_refused(bits in any::<u32>()) {
        for host in [format!("{bits}"), format!("0x{bits:x}"), format!("0{bits:o}"), format!("{}.{}", bits >> 24, bits & 0xff_ffff)] {
            let text = format!("https://{host}/");
            prop_assert_eq!(public(&text), Err(UrlRefusal::IpLiteral));
        }
    }
}
