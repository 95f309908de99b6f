//! Bodies of the sandbox (contract 6.3): shorthand for what a platform, a processor or a carrier would report.
//!
//! A reader checks the shorthand and expands it; the result is read and judged as if the operator had sent it.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::body;
use crate::body::shared_members::failure;
use crate::body::{Members, Text};
use crate::parts::{Failure, Money};
use crate::payment::{Method, MethodType, PaymentStatus};
use crate::refund::{Refund, RefundStatus};
use crate::refusal::{MemberCode, Refusal};
use crate::shipment::ShipmentStatus;
use crate::subscription::SubscriptionStatus;
use crate::text_enum::text_enum;
use crate::time::Timestamp;

text_enum! {
    /// How an attempt to pay goes.
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

/// How long a refund stays where it is before it moves by itself.
const MOVES_AFTER_MS: i64 = 1_000;
/// The last two digits of amounts that do not go back by themselves, and why.
const UNLUCKY: Money = 13;
const NO_FUNDS: &str = "insufficient_funds";

/// What a failure is called when nobody says.
const DECLINED: &str = "card_declined";

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
    pub fn read(body: &Value) -> Result<Self, Refusal> {
        body::read(body, |m| {
            let outcome = m.one_of("outcome").required();
            let card =
                Method { kind: MethodType::Card, brand: Some("visa".into()), last4: Some("4242".into()) };
            Self {
                outcome,
                failure: told_failure(m, outcome == PayOutcome::Failed, "outcome failed"),
                method: m.object("method", crate::payment::requests::method).or(card),
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
        let status = match self.outcome {
            PayOutcome::Succeeded => PaymentStatus::Succeeded,
            PayOutcome::Authorized => PaymentStatus::Authorized,
            PayOutcome::Pending => PaymentStatus::Pending,
            PayOutcome::Failed => PaymentStatus::Failed,
        };
        report(status.as_str(), self.failure.as_ref())
    }
}

/// `POST /payments/:id/advance`.
#[derive(Clone, Debug)]
pub struct PaymentAdvance {
    to: PaymentStatus,
    amount_captured: Option<Money>,
    failure: Option<Failure>,
}

impl PaymentAdvance {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self, Refusal> {
        use PaymentStatus::{Authorized, Cancelled, Failed, Pending, Succeeded};
        body::read(body, |m| {
            let to = m.one_of_these("to", &[Pending, Authorized, Succeeded, Failed, Cancelled]).required();
            let amount_captured = m.money("amount_captured").optional();
            if amount_captured.is_some() && to != Succeeded {
                m.refuse(
                    "amount_captured",
                    MemberCode::Inconsistent,
                    "only allowed when `to` is `succeeded`",
                );
            }
            Self { to, amount_captured, failure: told_failure(m, to == Failed, "to failed") }
        })
    }

    /// What the processor reports of it, without the id of the report.
    #[must_use]
    pub fn report(&self) -> Map<String, Value> {
        let mut report = report(self.to.as_str(), self.failure.as_ref());
        if let Some(amount) = self.amount_captured {
            report.insert("amount_captured".into(), json!(amount));
        }
        report
    }
}

/// `POST /refunds/:id/advance`.
#[derive(Clone, Debug)]
pub struct RefundAdvance {
    to: RefundStatus,
    failure: Option<Failure>,
}

impl RefundAdvance {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self, Refusal> {
        use RefundStatus::{Completed, Failed, Processing};
        body::read(body, |m| {
            let to = m.one_of_these("to", &[Processing, Completed, Failed]).required();
            Self { to, failure: told_failure(m, to == Failed, "to failed") }
        })
    }

    /// How an open refund moves by itself (merchant setting `sandbox_auto_advance`): a second after it was asked for
    /// the processor takes it up, a second later it ends; one whose amount ends in 13 fails. `None`: not yet.
    #[must_use]
    pub fn by_itself(refund: &Refund, now: Timestamp) -> Option<Self> {
        let due = |since: Timestamp| since.plus_ms(MOVES_AFTER_MS) <= now;
        match (refund.status, refund.processing_at) {
            (RefundStatus::Requested, _) if due(refund.created_at) => {
                Some(Self { to: RefundStatus::Processing, failure: None })
            }
            (RefundStatus::Processing, since) if due(since.unwrap_or(refund.updated_at)) => {
                let fails = refund.amount % 100 == UNLUCKY;
                let to = if fails { RefundStatus::Failed } else { RefundStatus::Completed };
                let failure = Failure { code: NO_FUNDS.to_owned(), message: None };
                Some(Self { to, failure: fails.then_some(failure) })
            }
            _ => None,
        }
    }

    /// What the processor reports of it, without the id of the report.
    #[must_use]
    pub fn report(&self) -> Map<String, Value> {
        report(self.to.as_str(), self.failure.as_ref())
    }
}

/// `POST /subscriptions/:id/advance`.
#[derive(Clone, Copy, Debug)]
pub enum SubscriptionAdvance {
    /// To this status.
    To(SubscriptionStatus),
    /// Into its next period.
    Renew,
}

impl SubscriptionAdvance {
    /// Reads the body: `to`, or `renew: true`.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self, Refusal> {
        body::read(body, |m| {
            let to = m.one_of("to").optional();
            let renew = m.boolean("renew").optional();
            match (to, renew) {
                (Some(to), None) => return Self::To(to),
                (None, Some(true)) => {}
                (None, Some(false)) => m.refuse("renew", MemberCode::InvalidValue, "must be true"),
                (Some(_), Some(_)) => {
                    m.refuse("renew", MemberCode::Inconsistent, "give to or renew, not both");
                }
                (None, None) => m.refuse("to", MemberCode::Required, "to or renew is needed"),
            }
            Self::Renew
        })
    }

    /// What the platform reports of it.
    #[must_use]
    pub fn report(&self) -> Value {
        match self {
            Self::To(status) => json!({ "status": status }),
            Self::Renew => json!({ "renew": true }),
        }
    }
}

/// `POST /shipments/:id/advance`.
#[derive(Clone, Debug)]
pub struct ShipmentAdvance {
    to: ShipmentStatus,
    exception: Option<Failure>,
}

impl ShipmentAdvance {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self, Refusal> {
        body::read(body, |m| Self {
            to: m.one_of("to").required(),
            exception: m.object("exception", failure).optional(),
        })
    }

    /// What the carrier reports of it.
    #[must_use]
    pub fn report(&self) -> Value {
        let mut report = Map::from_iter([("status".to_owned(), json!(self.to))]);
        if let Some(exception) = &self.exception {
            report.insert("exception".into(), told(exception));
        }
        Value::Object(report)
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
    pub fn read(body: &Value) -> Result<Self, Refusal> {
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
pub fn read_order(body: &Value) -> Result<(Value, OrderPaid), Refusal> {
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

/// `failure_code`, which goes with a failure alone.
fn told_failure(m: &mut Members<'_>, fails: bool, with: &str) -> Option<Failure> {
    let code = m.string("failure_code", Text::line(1, 64)).optional();
    if code.is_some() && !fails {
        m.refuse("failure_code", MemberCode::Inconsistent, format!("goes with {with} alone"));
    }
    fails.then(|| Failure { code: code.unwrap_or_else(|| DECLINED.to_owned()), message: None })
}

fn report(status: &str, failure: Option<&Failure>) -> Map<String, Value> {
    let mut report = Map::from_iter([("status".to_owned(), json!(status))]);
    if let Some(failure) = failure {
        report.insert("failure".into(), told(failure));
    }
    report
}

/// A part of a record as somebody tells it: what is not known is left out.
fn told(part: impl Serialize) -> Value {
    let mut told = json!(part);
    if let Value::Object(members) = &mut told {
        members.retain(|_, value| !value.is_null());
    }
    told
}
