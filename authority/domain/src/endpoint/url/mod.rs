//! Where a delivery may be sent (contract 7.6 rules 1 to 3).
//!
//! [`UrlRules::parse`] turns the text a merchant gave into a [`TargetUrl`], once when the endpoint is written and
//! again before every attempt, because the rules may have become stricter since. What comes out is normalised
//! (host in lower case and IDNA-encoded, default port and trailing dot removed), and only such a value can be handed
//! to the delivery client. A [`UrlRefusal`] names the rule that a URL breaks.
//!
//! The parser is the WHATWG one, which is what the client on the other side of the wire would use too. It is
//! lenient, so everything that it would silently repair (missing slashes, white space, backslashes) is refused here
//! first. It also recognises an IPv4 address in every notation (`127.1`, `0x7f.1`, `2130706433`, full-width digits),
//! so IP literals are refused by its result and not by a pattern.
//!
//! Which receivers are private is the operator's choice ([`crate::endpoint::private_receivers`]).
//!
//! Deliberately absent: name resolution. What the name points to is judged at every connect by
//! [`crate::endpoint::address_policy`] and the same list of private receivers.

pub(in crate::endpoint) mod host_name;
mod rules;
mod target;

pub use rules::{UrlPolicy, UrlRules, UrlRulesByOwner};
pub use target::{MAX_URL_BYTES, NetworkScope, TargetUrl, UrlRefusal};
