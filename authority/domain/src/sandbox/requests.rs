//! Bodies of the sandbox (contract 6.3): shorthand for what a platform, a processor or a carrier would report.
//!
//! A reader checks the shorthand and expands it; the result is read and judged as if the operator had sent it.

use serde_json::{Map, Value};

use crate::body;
use crate::parts::Failure;
use crate::payment::{self, Method, MethodType};
use crate::refusal::{MemberCode, Refusal, Result};
use crate::sandbox::reports::{report, told, told_failure};
use crate::text_enum::text_enum;

text_enum! {
    /// How an attempt to pay goes, named as the status that the payment gets.
    PayOutcome {
        /// Captured at once.
        Succeeded = "succeeded",
        /// Reserved, to be captured later.
        Authorized = "authorized",
        /// Accepted by an asynchronous method.
        Pending = "pending",
        /// Declined.
        Failed = "failed",
    }
}

text_enum! {
    /// What of a new order is paid.
    OrderPaid {
        /// Nothing.
        None = "none",
        /// All of it is reserved.
        Authorized = "authorized",
        /// All of it is captured.
        Paid = "paid",
    }
}
/// `POST /checkouts/:id/pay`, `POST /orders/:order/pay`.
#[derive(Clone, Debug)]
pub struct PayRequest {
    /// How it goes.
    pub outcome: PayOutcome,
    /// Why it fails.
    pub failure: Option<Failure>,
    /// A card, unless said otherwise.
    pub method: Method,
}

impl PayRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self> {
        body::read(body, |m| {
            let outcome = m.one_of("outcome").required();
            let card =
                Method { kind: MethodType::Card, brand: Some("visa".into()), last4: Some("4242".into()) };
            Self {
                outcome,
                failure: told_failure(m, outcome == PayOutcome::Failed, "outcome failed"),
                method: m.object("method", payment::read_method).or(card),
            }
        })
    }

    /// The means of payment, as the platform tells it.
    #[must_use]
    pub fn method_body(&self) -> Value {
        told(&self.method)
    }

    /// What the processor reports of it, without the id of the report.
    #[must_use]
    pub fn report(&self) -> Map<String, Value> {
        report(self.outcome.as_str(), self.failure.as_ref())
    }
}

/// `POST /seed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeedRequest {
    /// How many orders; some checkouts that did not become one come on top.
    pub orders: i64,
    /// The same seed makes the same data.
    pub seed: i64,
}

impl SeedRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self> {
        body::read(body, |m| Self {
            orders: m.integer("orders", 1..=1_000).required(),
            seed: m.integer("seed", crate::bounds::INTEGER_RANGE).required(),
        })
    }
}

/// `POST /orders`: the operator's body and `pay`. Gives the operator's body, with the payment where one is wanted.
///
/// # Errors
/// 422 for a wrong `pay`, and when payments are given beside it. Everything else is for the reader of the body.
pub fn read_order(body: &Value) -> Result<(Value, OrderPaid)> {
    let Value::Object(object) = body else {
        return Err(Refusal::member("", MemberCode::WrongType, "The body must be an object."));
    };
    let pay = match object.get("pay") {
        None => OrderPaid::None,
        Some(Value::Null) => {
            let detail = "This member cannot be null; leave it out instead.";
            return Err(Refusal::member("/pay", MemberCode::Required, detail));
        }
        Some(value) => body::one_of(value, OrderPaid::ALL)
            .map_err(|(code, detail)| Refusal::member("/pay", code, detail))?,
    };
    let mut rest = object.clone();
    rest.remove("pay");
    if pay != OrderPaid::None && rest.contains_key("payments") {
        let detail = "says what the payments are; give one of the two";
        return Err(Refusal::member("/pay", MemberCode::Inconsistent, detail));
    }
    Ok((Value::Object(rest), pay))
}
