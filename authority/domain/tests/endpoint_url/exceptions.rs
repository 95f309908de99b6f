//! Who may be sent to without a public host: this machine in development, what a developer names, and the private
//! receivers that the operator lists (contract 7.6).

use authority_domain::endpoint::private_receivers::{EndpointOwner, PrivateReceivers, ReceiverList};
use authority_domain::endpoint::url::{
    NetworkScope, TargetUrl, UrlPolicy, UrlRefusal, UrlRules, UrlRulesByOwner,
};
use authority_domain::{MerchantId, Tenant};

use crate::{LIVE, TEST, development, public};

#[test]
fn the_development_exception_is_for_three_hosts_in_test_mode() {
    let table = [
        ("http://127.0.0.1", "http://127.0.0.1/"),
        ("http://127.0.0.1:8080/hook?a=1", "http://127.0.0.1:8080/hook?a=1"),
        ("https://127.0.0.1:1/", "https://127.0.0.1:1/"),
        ("http://localhost:80/", "http://localhost/"),
        ("https://LOCALHOST:8443/", "https://localhost:8443/"),
        ("http://[::1]:9000/", "http://[::1]:9000/"),
        ("http://[::1]/", "http://[::1]/"),
    ];
    for (text, normalised) in table {
        let target = development(text).unwrap_or_else(|refusal| panic!("{text}: {refusal}"));
        assert_eq!((target.as_str(), target.scope()), (normalised, NetworkScope::Loopback));
        assert!(public(text).is_err(), "{text} in production");
        assert!(
            UrlRules::new(UrlPolicy::Public).parse(text, TEST).is_err(),
            "{text} in production, test mode"
        );
        assert!(UrlRules::new(UrlPolicy::Development).parse(text, LIVE).is_err(), "{text} in live mode");
    }
    let refused = [
        ("http://127.1/", UrlRefusal::SchemeNotHttps),
        ("https://127.1/", UrlRefusal::IpLiteral),
        ("https://2130706433/", UrlRefusal::IpLiteral),
        ("https://127.0.0.2/", UrlRefusal::IpLiteral),
        ("https://[0:0:0:0:0:0:0:1]/", UrlRefusal::IpLiteral),
        ("https://[::ffff:127.0.0.1]/", UrlRefusal::IpLiteral),
        ("http://10.0.0.1/", UrlRefusal::SchemeNotHttps),
        ("https://a.localhost/", UrlRefusal::HostNotPublic),
        ("http://example.com/", UrlRefusal::SchemeNotHttps),
        ("ftp://127.0.0.1/", UrlRefusal::SchemeNotHttps),
        ("http://user@127.0.0.1/", UrlRefusal::SchemeNotHttps),
        ("https://user@localhost/", UrlRefusal::Userinfo),
        ("http://localhost/#", UrlRefusal::Fragment),
        ("http://localhost:0/", UrlRefusal::PortForbidden),
    ];
    for (text, refusal) in refused {
        assert_eq!(development(text), Err(refusal), "{text}");
    }
    assert_eq!(development("https://example.com/").unwrap().scope(), NetworkScope::Public);
}

#[test]
fn a_url_of_a_developers_own_may_have_any_host() {
    for text in [
        "http://10.0.0.1/",
        "http://web:3000/hook?a=b",
        "https://example.com/",
        "http://127.0.0.1/",
        "http://[fd00::1]:81/",
    ] {
        let target = TargetUrl::anywhere(text).unwrap();
        assert_eq!((target.as_str(), target.scope()), (text, NetworkScope::Anywhere));
    }
    for (text, refusal) in [
        ("ftp://example.com/", UrlRefusal::SchemeNotHttps),
        ("http://user@example.com/", UrlRefusal::Userinfo),
        ("http://example.com/#a", UrlRefusal::Fragment),
        ("http://example.com:0/", UrlRefusal::PortForbidden),
        ("http:///hook", UrlRefusal::NotAbsolute),
        ("web:3000", UrlRefusal::NotAbsolute),
        ("http://a b/", UrlRefusal::Malformed),
    ] {
        assert_eq!(TargetUrl::anywhere(text), Err(refusal), "{text}");
    }
}

/// Rules with private receivers: `corp.example` for merchants, `app`, `localhost` and `svc.cluster.local` for the
/// platform.
fn with_private_receivers(owner: EndpointOwner, text: &str) -> Result<TargetUrl, UrlRefusal> {
    let list = |owner, list: &str| ReceiverList::parse(owner, list).unwrap_or_default();
    let private = PrivateReceivers {
        merchants: list(EndpointOwner::Merchant, "10.0.0.0/8,corp.example"),
        platform: list(EndpointOwner::Platform, "10.0.0.0/8,127.0.0.1,app,localhost,svc.cluster.local"),
    };
    let rules = UrlRulesByOwner::new(UrlPolicy::Public, &private).deny_host("own.corp.example");
    let merchant_id = match owner {
        EndpointOwner::Merchant => MerchantId::from_store("mer_01".to_owned()),
        EndpointOwner::Platform => Tenant::operator().merchant_id,
    };
    rules.of(&merchant_id).parse(text, LIVE)
}

#[test]
fn private_receivers_are_those_that_the_operator_lists_for_the_owner() {
    let merchant = |text: &str| with_private_receivers(EndpointOwner::Merchant, text);
    let platform = |text: &str| with_private_receivers(EndpointOwner::Platform, text);
    let private = |owner, normalised: &'static str| Ok((normalised, NetworkScope::Private(owner)));
    let seen = |target: Result<TargetUrl, UrlRefusal>| target.map(|it| (it.as_str().to_owned(), it.scope()));
    let table = [
        ("https://a.CORP.example./x", private(EndpointOwner::Merchant, "https://a.corp.example/x")),
        ("https://corp.example:8443/", private(EndpointOwner::Merchant, "https://corp.example:8443/")),
        ("https://corp.example.com/", Ok(("https://corp.example.com/", NetworkScope::Public))),
        ("http://a.corp.example/", Err(UrlRefusal::SchemeNotHttps)),
        ("https://a.corp.example:22/", Err(UrlRefusal::PortForbidden)),
        ("https://own.corp.example/", Err(UrlRefusal::HostDenied)),
        ("https://u@a.corp.example/", Err(UrlRefusal::Userinfo)),
        ("https://app/", Err(UrlRefusal::HostNotPublic)),
        ("https://hooks.svc.cluster.local/", Err(UrlRefusal::HostNotPublic)),
        ("https://10.0.0.1/", Err(UrlRefusal::IpLiteral)),
        ("https://localhost/", Err(UrlRefusal::HostNotPublic)),
    ];
    for (text, expected) in table {
        assert_eq!(seen(merchant(text)), expected.map(|(url, scope)| (url.to_owned(), scope)), "{text}");
    }
    let table = [
        ("http://app:3000/hooks", private(EndpointOwner::Platform, "http://app:3000/hooks")),
        ("http://app/", private(EndpointOwner::Platform, "http://app/")),
        ("https://app./", private(EndpointOwner::Platform, "https://app/")),
        ("http://localhost:9000/", private(EndpointOwner::Platform, "http://localhost:9000/")),
        (
            "http://hooks.svc.cluster.local/",
            private(EndpointOwner::Platform, "http://hooks.svc.cluster.local/"),
        ),
        ("http://app:22/", Err(UrlRefusal::PortForbidden)),
        ("http://hooks.example.com/", Err(UrlRefusal::SchemeNotHttps)),
        ("http://10.0.0.1:3000/", Err(UrlRefusal::SchemeNotHttps)),
        ("https://10.0.0.1:3000/", Err(UrlRefusal::IpLiteral)),
        ("https://a.corp.example/", Ok(("https://a.corp.example/", NetworkScope::Public))),
    ];
    for (text, expected) in table {
        assert_eq!(seen(platform(text)), expected.map(|(url, scope)| (url.to_owned(), scope)), "{text}");
    }
}
