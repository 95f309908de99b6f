//! Bodies that advance a record of the sandbox, as its processor, its carrier or the platform would report it.

use serde_json::{Map, Value, json};

use crate::body;
use crate::body::shared_members::failure;
use crate::parts::{Failure, Money};
use crate::payment::PaymentStatus;
use crate::refund::{Refund, RefundStatus};
use crate::refusal::{MemberCode, Result};
use crate::sandbox::reports::{report, told, told_failure};
use crate::shipment::ShipmentStatus;
use crate::subscription::SubscriptionStatus;
use crate::time::Timestamp;

/// How long a refund stays where it is before it moves by itself.
const MOVES_AFTER_MS: i64 = 1_000;
/// The last two digits of amounts that do not go back by themselves, and why.
const UNLUCKY: Money = 13;
const NO_FUNDS: &str = "insufficient_funds";

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
    pub fn read(body: &Value) -> Result<Self> {
        use PaymentStatus::{Authorized, Cancelled, Failed, Pending, Succeeded};
        body::read(body, |m| {
            let to = m.one_of_these("to", &[Pending, Authorized, Succeeded, Failed, Cancelled]).required();
            let amount_captured = m.money("amount_captured").optional();
            if amount_captured.is_some() && to != Succeeded {
                let detail = "only allowed when `to` is `succeeded`";
                m.refuse("amount_captured", MemberCode::Inconsistent, detail);
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
    pub fn read(body: &Value) -> Result<Self> {
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
    pub fn read(body: &Value) -> Result<Self> {
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
    pub fn read(body: &Value) -> Result<Self> {
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
