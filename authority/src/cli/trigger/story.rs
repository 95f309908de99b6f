//! `trigger --from FILE`: a story of several steps on the same records.
//!
//! The file is a JSON array. A step either produces an event as `trigger TYPE` does (`trigger`, with `set` for its
//! changes), or sends one write (`post` or `patch` with a path, and a `body`). A write can name its answer (`as`);
//! later steps use the answer's members as `${name.member}` in paths and bodies. The whole file is checked before
//! the first step. The story ends at the first step that is refused; what the earlier ones did stays.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value};
use verify_core::catalog::EventType;

use super::changes::Changes;

/// A step that can be run.
#[derive(Debug)]
pub(super) enum Step {
    /// Produce an event.
    Trigger(EventType, Changes),
    /// Send a write.
    Write {
        method: Method,
        path: String,
        body: Value,
        /// The name of the answer.
        name: Option<String>,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    trigger: Option<String>,
    set: Option<Map<String, Value>>,
    post: Option<String>,
    patch: Option<String>,
    body: Option<Value>,
    #[serde(rename = "as")]
    name: Option<String>,
}

/// Reads a story.
///
/// # Errors
/// One line: what is wrong, and at which step.
pub(super) fn parse(text: &str) -> Result<Vec<Step>, String> {
    let steps: Vec<Value> =
        serde_json::from_str(text).map_err(|error| format!("must be a JSON array of steps: {error}"))?;
    let mut names = BTreeSet::new();
    let mut parsed = Vec::new();
    for (index, step) in steps.into_iter().enumerate() {
        let step = one(step, &mut names).map_err(|reason| format!("step {}: {reason}", index + 1))?;
        parsed.push(step);
    }
    if parsed.is_empty() { Err("has no step".to_owned()) } else { Ok(parsed) }
}

fn one(step: Value, names: &mut BTreeSet<String>) -> Result<Step, String> {
    let written: Written = serde_json::from_value(step).map_err(|error| error.to_string())?;
    let Written { trigger, set, post, patch, body, name } = written;
    let (method, path) = match (trigger, post, patch) {
        (Some(event), None, None) if body.is_none() && name.is_none() => {
            let event = EventType::parse(&event).ok_or("`trigger` must be an event type")?;
            let changes = Changes::new(set.unwrap_or_default(), event);
            return Ok(Step::Trigger(event, changes.map_err(|error| error.to_string())?));
        }
        (None, Some(path), None) if set.is_none() => (Method::POST, path),
        (None, None, Some(path)) if set.is_none() => (Method::PATCH, path),
        _ => return Err("must be `trigger` with `set`, or `post` or `patch` with `body` and `as`".to_owned()),
    };
    if !["/v1/sandbox/", "/v1/merchant/"].iter().any(|root| path.starts_with(root)) {
        return Err("the path must begin with /v1/sandbox/ or /v1/merchant/".to_owned());
    }
    let body = body.unwrap_or_else(|| Value::Object(Map::new()));
    let mut check = |reference: &str| {
        let name = reference.split('.').next().unwrap_or_default();
        let unknown = || format!("${{{reference}}}: no earlier step has `as` {name}");
        names.contains(name).then_some(Value::Null).ok_or_else(unknown)
    };
    text(&path, &mut check)?;
    filled(&body, &mut check)?;
    if let Some(name) = &name
        && !names.insert(name.clone())
    {
        return Err(format!("`as` {name} is taken"));
    }
    Ok(Step::Write { method, path, body, name })
}

/// The answers that steps have named.
#[derive(Debug, Default)]
pub(super) struct Answers(BTreeMap<String, Value>);

impl Answers {
    /// Keeps an answer.
    pub(super) fn keep(&mut self, name: &str, answer: Value) {
        self.0.insert(name.to_owned(), answer);
    }

    /// The path and the body with the members of the answers.
    ///
    /// # Errors
    /// One line: an answer has no such member.
    pub(super) fn fill(&self, path: &str, body: &Value) -> Result<(String, Value), String> {
        let mut find = |reference: &str| {
            let (name, rest) = reference.split_once('.').unwrap_or((reference, ""));
            let pointer: String = rest.split('.').map(|part| format!("/{part}")).collect();
            let found = self.0.get(name).and_then(|answer| answer.pointer(&pointer));
            found.cloned().ok_or_else(|| format!("${{{reference}}}: the answer has no such member"))
        };
        let path = match text(path, &mut find)? {
            Value::String(path) => path,
            other => other.to_string(),
        };
        Ok((path, filled(body, &mut find)?))
    }
}

type Find<'f> = dyn FnMut(&str) -> Result<Value, String> + 'f;

/// The value with every reference in its texts replaced.
fn filled(value: &Value, find: &mut Find<'_>) -> Result<Value, String> {
    Ok(match value {
        Value::String(given) => text(given, find)?,
        Value::Array(items) => items.iter().map(|item| filled(item, find)).collect::<Result<_, _>>()?,
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| Ok((name.clone(), filled(value, find)?));
            Value::Object(members.iter().map(member).collect::<Result<_, String>>()?)
        }
        other => other.clone(),
    })
}

/// The text with its references replaced. One that is the whole text keeps the type of what it refers to.
fn text(given: &str, find: &mut Find<'_>) -> Result<Value, String> {
    let mut done = String::new();
    let mut rest = given;
    while let Some((before, after)) = rest.split_once("${") {
        let (reference, after) = after.split_once('}').ok_or_else(|| "${ without }".to_owned())?;
        let value = find(reference)?;
        if before.is_empty() && after.is_empty() && done.is_empty() {
            return Ok(value);
        }
        done.push_str(before);
        match value {
            Value::String(text) => done.push_str(&text),
            other => done.push_str(&other.to_string()),
        }
        rest = after;
    }
    done.push_str(rest);
    Ok(Value::String(done))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_are_filled_in_with_their_type() {
        let mut answers = Answers::default();
        answers.keep("cart", json!({ "id": "cko_1", "total": 5, "lines": [{ "id": "li_1" }] }));
        let body =
            json!({ "amount": "${cart.total}", "note": "of ${cart.id}: ${cart.total}", "all": [true, 1] });
        let filled = answers.fill("/v1/sandbox/checkouts/${cart.id}/pay/${cart.lines.0.id}", &body);
        let expected = json!({ "amount": 5, "note": "of cko_1: 5", "all": [true, 1] });
        assert_eq!(filled, Ok(("/v1/sandbox/checkouts/cko_1/pay/li_1".to_owned(), expected)));
        let missing = answers.fill("/v1/sandbox/${cart.number}", &Value::Null);
        assert_eq!(missing, Err("${cart.number}: the answer has no such member".to_owned()));
    }

    #[test]
    fn a_story_is_checked_as_a_whole() {
        let good = json!([
            { "post": "/v1/sandbox/checkouts", "body": { "currency": "USD" }, "as": "cart" },
            { "post": "/v1/sandbox/checkouts/${cart.id}/expire" },
            { "trigger": "order.created", "set": { "checkout.currency": "EUR" } },
        ]);
        assert_eq!(parse(&good.to_string()).map(|steps| steps.len()), Ok(3));
        let kinds = "step 1: must be `trigger` with `set`, or `post` or `patch` with `body` and `as`";
        for (story, line) in [
            (json!([]), "has no step"),
            (json!([{}]), kinds),
            (json!([{ "trigger": "order.created", "body": {} }]), kinds),
            (json!([{ "post": "/v1/sandbox/a", "patch": "/v1/sandbox/a" }]), kinds),
            (json!([{ "trigger": "order.exploded" }]), "step 1: `trigger` must be an event type"),
            (
                json!([{ "trigger": "order.created" }, { "post": "/v1/operator/merchants" }]),
                "step 2: the path must begin with /v1/sandbox/ or /v1/merchant/",
            ),
            (
                json!([{ "post": "/v1/sandbox/checkouts/${cart.id}/pay" }]),
                "step 1: ${cart.id}: no earlier step has `as` cart",
            ),
            (json!([{ "post": "/v1/sandbox/a", "body": "${cart" }]), "step 1: ${ without }"),
            (
                json!([{ "trigger": "webhook.test", "set": { "refund.amount": 1 } }]),
                "step 1: --set refund.amount: nothing can be set for webhook.test",
            ),
        ] {
            assert_eq!(parse(&story.to_string()).map(|_| ()), Err(line.to_owned()), "{story}");
        }
        let unknown = parse(r#"[{ "tigger": "order.created" }]"#).unwrap_err();
        assert!(
            unknown.starts_with("step 1: unknown field `tigger`, expected one of `trigger`"),
            "{unknown}"
        );
        assert!(parse("{}").unwrap_err().starts_with("must be a JSON array of steps: "));
    }
}
