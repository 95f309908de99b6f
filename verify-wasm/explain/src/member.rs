//! The codes about members: which one it is, where it stands, and what is expected of it.
//!
//! The rules are the core's. Where a code speaks of several members, each of them is put into an event that is
//! otherwise right, and the core is asked about that. Of names only those of the contract are told, of values none.

use alloc::collections::BinaryHeap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use verify_core::{VerificationCode, event};

use crate::BODY_LIMIT;
use crate::cause::Cause;
use crate::report::Finding;
use crate::tree::{self, Kind, Node, unescape};

/// A member of the envelope and its rule (contract 10.3).
struct Rule {
    parent: &'static str,
    name: &'static str,
    expected: &'static str,
}

const fn rule(parent: &'static str, name: &'static str, expected: &'static str) -> Rule {
    Rule { parent, name, expected }
}

const OPTIONAL: [Rule; 5] = [
    rule("", "sequence", "an integer from 0 to 2^53 - 1, or null"),
    rule("", "resource_version", "an integer from 0 to 2^53 - 1, or null"),
    rule("", "livemode", "true, false or null"),
    rule("", "recipient", "an object or null"),
    rule("", "links", "an object or null"),
];

/// The members that a code speaks of, in the order in which they are judged.
fn rules(code: VerificationCode) -> &'static [Rule] {
    use VerificationCode as Code;
    const ID: [Rule; 1] = [rule("", "id", "a string: evt_ and 1 to 124 letters, digits, _ or -")];
    const TYPE: [Rule; 1] =
        [rule("", "type", "a string: words of a-z, 0-9 and _ joined by full stops, at most 128 characters")];
    const API_VERSION: [Rule; 1] = [rule("", "api_version", "a string: a real date, YYYY-MM-DD")];
    const CREATED_AT: [Rule; 1] =
        [rule("", "created_at", "a string: a real time, exactly YYYY-MM-DDTHH:MM:SS.mmmZ")];
    const MERCHANT: [Rule; 3] = [
        rule("", "merchant", "an object"),
        rule("merchant", "id", "a string: mer_ and 1 to 124 letters, digits, _ or -"),
        rule("merchant", "slug", "a string: 1 to 128 characters, no control characters"),
    ];
    const DATA: [Rule; 2] = [rule("", "data", "an object"), rule("data", "object", "an object")];
    match code {
        Code::InvalidEventId => &ID,
        Code::InvalidEventType => &TYPE,
        Code::InvalidApiVersion => &API_VERSION,
        Code::InvalidCreatedAt => &CREATED_AT,
        Code::InvalidMerchant => &MERCHANT,
        Code::InvalidData => &DATA,
        _ => &OPTIONAL,
    }
}

/// The member that this code is about.
pub(crate) fn cause(code: VerificationCode, body: &[u8]) -> Finding {
    let root = if body.len() <= BODY_LIMIT { tree::read(body).ok() } else { None };
    let Some(root) = root else {
        // Too large to be looked at closely.
        let names: Vec<String> = rules(code).iter().map(Rule::path).collect();
        return Finding::new(
            Cause::MemberForm,
            format!("The body is too large to tell more. It is about {}.", names.join(", ")),
        );
    };
    if !matches!(root.kind, Kind::Object(_)) {
        let evidence = format!("The body is {}, not an object.", root.kind_name());
        return Finding::new(Cause::PayloadNotObject, evidence);
    }
    if code == VerificationCode::InvalidPayload
        && let Some(finding) = repeated(&root)
    {
        return finding;
    }
    let mut broken = rules(code).iter().filter_map(|rule| rule.broken_in(&root, code));
    broken.next().unwrap_or_else(|| Finding::new(Cause::MemberForm, "A member breaks its rule."))
}

impl Rule {
    fn path(&self) -> String {
        if self.parent.is_empty() { self.name.to_string() } else { format!("{}.{}", self.parent, self.name) }
    }

    fn broken_in(&self, root: &Node<'_>, code: VerificationCode) -> Option<Finding> {
        let parent = if self.parent.is_empty() { Some(root) } else { root.get(self.parent) };
        let (path, expected) = (self.path(), self.expected);
        let Some(node) = parent.and_then(|parent| parent.get(self.name)) else {
            if code == VerificationCode::InvalidPayload {
                return None;
            }
            return Some(Finding::new(
                Cause::MemberMissing,
                format!("The member {path} is missing. Expected: {expected}."),
            ));
        };
        if self.is_kept_by(node, code) {
            return None;
        }
        let at = node.at;
        let right_kind = expected.starts_with(node.kind_name())
            || matches!(node.kind, Kind::Number) && expected.starts_with("an integer");
        Some(if right_kind {
            let kind = node.kind_name();
            Finding::new(
                Cause::MemberForm,
                format!(
                    "The member {path} at byte {at} is {kind} that breaks the rule. Expected: {expected}."
                ),
            )
        } else {
            let evidence =
                format!("The member {path} at byte {at} is {}. Expected: {expected}.", node.kind_name());
            Finding::new(Cause::MemberType, evidence)
        })
    }

    /// Asks the core about an event that is right but for this member.
    fn is_kept_by(&self, node: &Node<'_>, code: VerificationCode) -> bool {
        if self.expected == "an object" {
            return matches!(node.kind, Kind::Object(_));
        }
        let value = |path: &str, right: &'static str| -> String {
            String::from(if self.path() == path { node.raw } else { right })
        };
        let optional = match code {
            VerificationCode::InvalidPayload => format!(r#","{}":{}"#, self.name, node.raw),
            _ => String::new(),
        };
        let event = format!(
            r#"{{"id":{},"type":{},"api_version":{},"created_at":{},"merchant":{{"id":{},"slug":{}}},"data":{{"object":{{}}}}{optional}}}"#,
            value("id", r#""evt_1""#),
            value("type", r#""a.b""#),
            value("api_version", r#""2026-09-01""#),
            value("created_at", r#""2026-09-01T12:00:00.000Z""#),
            value("merchant.id", r#""mer_1""#),
            value("merchant.slug", r#""a""#),
        );
        event::read(event.as_bytes()).is_ok()
    }
}

/// A name that stands twice in the root, in `merchant` or in `data`.
fn repeated(root: &Node<'_>) -> Option<Finding> {
    let places = [("the event", Some(root)), ("merchant", root.get("merchant")), ("data", root.get("data"))];
    places.into_iter().find_map(|(place, node)| {
        // A heap gives the order with a quarter of the code of `sort`; of equal names the last comes out first.
        let names = node?.members().iter().map(|member| (unescape(member.name), member.at));
        let mut names: BinaryHeap<_> = names.collect();
        let mut twice = None;
        while let Some((name, at)) = names.pop() {
            if names.peek().is_some_and(|(other, _)| *other == name) {
                twice = Some(twice.map_or(at, |before: usize| before.min(at)));
            }
        }
        let at = twice?;
        Some(Finding::new(
            Cause::MemberRepeated,
            format!("The name at byte {at} stands in {place} for the second time."),
        ))
    })
}
