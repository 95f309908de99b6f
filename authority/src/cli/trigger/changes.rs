//! `--set PATH=VALUE`: what is to be different in the bodies that a path to an event sends.
//!
//! The first part of a path is the record that a call makes (`checkout`, `payment`, `refund`, `shipment`,
//! `subscription`); the rest leads to a member of its body, with numbers for the items of an array. A path to a record
//! that the event does not need is refused before anything is sent. Which members a body may have is for the authority
//! to say: its answer names the member.

use serde_json::{Map, Value};
use verify_core::catalog::EventType;

/// The member that decides which event comes of a payment.
const OUTCOME: &str = "payment.outcome";

/// Why a change is refused. The messages name the path, never the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("--set {path}: {reason}")]
pub(in crate::cli) struct Unchangeable {
    path: String,
    reason: String,
}

impl Unchangeable {
    fn new(path: &str, reason: impl Into<String>) -> Self {
        Self { path: path.chars().filter(|c| !c.is_control()).collect(), reason: reason.into() }
    }
}

/// All changes for one event, in their order.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Changes(Vec<Change>);

#[derive(Debug, Clone, PartialEq)]
struct Change {
    path: String,
    value: Value,
}

impl Changes {
    /// Reads the values of `--set`.
    ///
    /// # Errors
    /// [`Unchangeable`]: no path and value, or a record that the event does not need.
    pub(super) fn parse(options: &[String], event: EventType) -> Result<Self, Unchangeable> {
        let pair = |option: &String| {
            let (path, value) = option
                .split_once('=')
                .ok_or_else(|| Unchangeable::new("PATH=VALUE", "an equals sign must follow the path"))?;
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
            Ok((path.to_owned(), value))
        };
        Self::new(options.iter().map(pair).collect::<Result<Vec<_>, _>>()?, event)
    }

    /// The changes of these paths.
    ///
    /// # Errors
    /// As [`Changes::parse`].
    pub(super) fn new(
        pairs: impl IntoIterator<Item = (String, Value)>,
        event: EventType,
    ) -> Result<Self, Unchangeable> {
        let known = records(event);
        let change = |(path, value): (String, Value)| {
            let (record, rest) = path.split_once('.').unwrap_or((&path, ""));
            let reason = if !known.contains(&record) && known.is_empty() {
                format!("nothing can be set for {event}")
            } else if !known.contains(&record) {
                format!(
                    "the path must begin with one of {}, the records that {event} needs",
                    known.join(", ")
                )
            } else if rest.split('.').any(str::is_empty) {
                "the path must lead to a member, such as checkout.currency".to_owned()
            } else if path == OUTCOME {
                "the event type decides it".to_owned()
            } else {
                return Ok(Change { path, value });
            };
            Err(Unchangeable::new(&path, reason))
        };
        Ok(Self(pairs.into_iter().map(change).collect::<Result<_, _>>()?))
    }

    /// The body of the call that makes `record`, changed.
    ///
    /// # Errors
    /// [`Unchangeable`]: a path does not lead to a place in the body.
    pub(super) fn applied(&self, record: &str, mut body: Value) -> Result<Value, Unchangeable> {
        for Change { path, value } in &self.0 {
            let mut steps = path.split('.');
            if steps.next() == Some(record) {
                let place = steps.try_fold(&mut body, step).map_err(|at| Unchangeable::new(path, at))?;
                *place = value.clone();
            }
        }
        Ok(body)
    }
}

/// The records that the path to an event makes.
fn records(event: EventType) -> &'static [&'static str] {
    match (event.category(), event) {
        ("checkout", EventType::CheckoutCompleted | EventType::CheckoutPaymentFailed) => {
            &["checkout", "payment"]
        }
        ("checkout", _) => &["checkout"],
        ("payment", EventType::PaymentRefunded | EventType::PaymentPartiallyRefunded) | ("refund", _) => {
            &["checkout", "payment", "refund"]
        }
        ("payment" | "order", _) => &["checkout", "payment"],
        ("shipment", _) => &["checkout", "payment", "shipment"],
        ("subscription", _) => &["subscription"],
        _ => &[],
    }
}

/// One step down: into a member, which is made if it is not there, or into an item or the place after the last one.
fn step<'v>(value: &'v mut Value, name: &str) -> Result<&'v mut Value, String> {
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(members) => Ok(members.entry(name).or_insert(Value::Null)),
        Value::Array(items) => {
            let length = items.len();
            let index = name.parse().ok().filter(|index| *index <= length);
            let index: usize =
                index.ok_or_else(|| format!("{name} is not a place in an array of {length}"))?;
            if index == length {
                items.push(Value::Null);
            }
            items.get_mut(index).ok_or_else(|| format!("{name} is not there"))
        }
        _ => Err(format!("{name} would be inside a value that is no object")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changed(options: &[&str], body: Value) -> Result<Value, String> {
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        let changes =
            Changes::parse(&options, EventType::RefundCompleted).map_err(|error| error.to_string())?;
        changes.applied("checkout", body).map_err(|error| error.to_string())
    }

    #[test]
    fn values_are_json_where_they_can_be_and_text_otherwise() {
        let options = [
            "checkout.currency=EUR",
            "checkout.line_items.0.quantity=3",
            "checkout.line_items.1={\"name\":\"Mug\"}",
            "checkout.customer.name=Ada = Byron",
            "checkout.note=",
            "checkout.metadata.a=null",
            "refund.amount=5",
        ];
        let body = json!({ "currency": "USD", "line_items": [{ "quantity": 1 }] });
        let expected = json!({
            "currency": "EUR", "line_items": [{ "quantity": 3 }, { "name": "Mug" }],
            "customer": { "name": "Ada = Byron" }, "note": "", "metadata": { "a": null },
        });
        assert_eq!(changed(&options, body), Ok(expected));
    }

    #[test]
    fn a_path_that_leads_nowhere_is_refused() {
        let needed = "the path must begin with one of checkout, payment, refund, the records that refund.completed needs";
        let member = "the path must lead to a member, such as checkout.currency";
        for (option, line) in [
            ("checkout.currency", "--set PATH=VALUE: an equals sign must follow the path".to_owned()),
            ("shipment.carrier=dhl", format!("--set shipment.carrier: {needed}")),
            ("=1", format!("--set : {needed}")),
            ("checkout=1", format!("--set checkout: {member}")),
            ("checkout..a=1", format!("--set checkout..a: {member}")),
            ("payment.outcome=failed", "--set payment.outcome: the event type decides it".to_owned()),
            ("checkout.items.2=1", "--set checkout.items.2: 2 is not a place in an array of 1".to_owned()),
            (
                "checkout.currency.a=1",
                "--set checkout.currency.a: a would be inside a value that is no object".to_owned(),
            ),
        ] {
            assert_eq!(changed(&[option], json!({ "currency": "USD", "items": [1] })), Err(line));
        }
        let options = ["checkout.currency=EUR".to_owned()];
        let error = Changes::parse(&options, EventType::WebhookTest).unwrap_err().to_string();
        assert_eq!(error, "--set checkout.currency: nothing can be set for webhook.test");
    }
}
