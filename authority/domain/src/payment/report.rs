//! What a processor's report does to a payment (contract 3.5, 18.3).
//!
//! Reports may come out of order: statuses are ranked, and one of a lower rank than the present changes nothing. But
//! the amounts in a report are always checked: an amount that is not the recorded one is refused, whether or not the
//! report would change the status. One recorded amount was perhaps told by nobody: that of an authorization whose
//! capture came before it. Two ends contradict each other and are refused, with one exception: money that comes for a
//! payment which was cancelled with its checkout or its order is a fact, and recorded as late.

use crate::parts::{Failure, Money};
use crate::payment::{Payment, PaymentStatus};
use crate::refusal::{MemberCode, Refusal, Result};
use crate::time::Timestamp;

/// One report of the processor about a payment.
#[derive(Clone, Debug)]
pub struct PaymentReport {
    /// The status the processor saw; refunds are reported elsewhere.
    pub status: PaymentStatus,
    /// Defaults to the whole amount.
    pub amount_authorized: Option<Money>,
    /// Defaults to the authorized amount.
    pub amount_captured: Option<Money>,
    /// Why it failed.
    pub failure: Option<Failure>,
    /// When it happened at the processor; defaults to now.
    pub occurred_at: Option<Timestamp>,
    /// The processor's own id of the payment, when it was not known before.
    pub processor_reference: Option<String>,
}

/// What a report did to a payment.
#[derive(Clone, Debug)]
pub enum PaymentOutcome {
    /// The next version.
    Changed(Box<Payment>),
    /// The payment is already there or further: nothing happens.
    Unchanged,
}

/// How a report's status relates to the present one.
enum Course {
    Onward,
    Behind,
    Contradiction,
}

/// How far along a status is (contract 3.5); reports of a lower rank are late.
fn rank(status: PaymentStatus) -> u8 {
    match status {
        PaymentStatus::Created => 0,
        PaymentStatus::Pending => 1,
        PaymentStatus::Authorized => 2,
        PaymentStatus::Succeeded | PaymentStatus::Failed | PaymentStatus::Cancelled => 3,
        PaymentStatus::PartiallyRefunded => 4,
        PaymentStatus::Refunded => 5,
    }
}

fn course(from: PaymentStatus, to: PaymentStatus) -> Course {
    use PaymentStatus::{Cancelled, Failed, PartiallyRefunded, Refunded, Succeeded};
    match (from, to) {
        _ if from == to => Course::Behind,
        (Succeeded | PartiallyRefunded | Refunded, Failed | Cancelled) => Course::Contradiction,
        _ if rank(to) < rank(from) => Course::Behind,
        _ if rank(to) == rank(from) => Course::Contradiction,
        // What goes back is reported on the refund.
        (_, PartiallyRefunded | Refunded) => Course::Contradiction,
        _ => Course::Onward,
    }
}

impl PaymentReport {
    /// Its amounts in a short text: a repeated message gives the same text.
    #[must_use]
    pub fn said(&self) -> String {
        let amount =
            |amount: Option<Money>| amount.map_or_else(|| "-".to_owned(), |amount| amount.to_string());
        let (authorized, captured) = (amount(self.amount_authorized), amount(self.amount_captured));
        format!("{}, authorized {authorized}, captured {captured}", self.status)
    }

    /// The amounts by themselves, whatever payment they are about. An amount that the status leaves no room for is
    /// money that would go unrecorded: refused, never passed over.
    fn check(&self) -> Result<()> {
        let wrong = |pointer: &str, code, detail: String| Err(Refusal::member(pointer, code, detail));
        let succeeded = self.status == PaymentStatus::Succeeded;
        if !succeeded && self.amount_captured.is_some_and(|told| told > 0) {
            let detail = format!("nothing is captured of a payment that is {}", self.status);
            return wrong("/amount_captured", MemberCode::Inconsistent, detail);
        }
        let holds = succeeded || self.status == PaymentStatus::Authorized;
        if holds && self.amount_authorized == Some(0) {
            return wrong("/amount_authorized", MemberCode::OutOfRange, "must be at least 1".to_owned());
        }
        match (self.amount_captured, self.amount_authorized) {
            (Some(0), _) if succeeded => {
                wrong("/amount_captured", MemberCode::OutOfRange, "must be at least 1".to_owned())
            }
            (Some(captured), Some(authorized)) if captured > authorized => {
                let detail = format!("must be at most amount_authorized, {authorized}");
                wrong("/amount_captured", MemberCode::OutOfRange, detail)
            }
            _ => Ok(()),
        }
    }
}

impl Payment {
    /// Applies a processor's report.
    ///
    /// # Errors
    /// `validation_failed` when the report's amounts are wrong by themselves; `processor_conflict` when they are not
    /// those recorded or break I3 (`captured ≤ authorized ≤ amount`), and when the status contradicts an end that
    /// was reported.
    pub fn report(self, report: &PaymentReport, now: Timestamp) -> Result<PaymentOutcome> {
        self.check(report)?;
        match course(self.status, report.status) {
            Course::Behind => Ok(PaymentOutcome::Unchanged),
            Course::Contradiction => Err(self.contradicted_by(report.status)),
            Course::Onward => Ok(PaymentOutcome::Changed(Box::new(self.after(report, now)))),
        }
    }

    /// Whether the report is of money that may be late: recorded by [`Payment::report_late`] when the payment was
    /// cancelled with what it was to pay for.
    #[must_use]
    pub fn may_be_late(&self, report: &PaymentReport) -> bool {
        (self.status, report.status) == (PaymentStatus::Cancelled, PaymentStatus::Succeeded)
    }

    /// Records money that came after the payment was cancelled with its checkout or its order (contract 18.3).
    ///
    /// # Errors
    /// Those of [`Payment::report`] for amounts.
    pub fn report_late(self, report: &PaymentReport, now: Timestamp) -> Result<PaymentOutcome> {
        self.check(report)?;
        let late = Self { late: true, ..self.after(report, now) };
        Ok(PaymentOutcome::Changed(Box::new(late)))
    }

    fn check(&self, report: &PaymentReport) -> Result<()> {
        report.check()?;
        self.check_authorized(report)?;
        self.check_captured(report)
    }

    fn check_authorized(&self, report: &PaymentReport) -> Result<()> {
        let Some(told) = report.amount_authorized else { return Ok(()) };
        let recorded = self.amount_authorized;
        if report.status == PaymentStatus::Authorized && self.authorized_with_capture() {
            let (captured, amount) = (self.amount_captured, self.amount);
            let otherwise =
                format!("{captured} were captured of {amount}, which {told} authorized do not allow");
            return self.agree((captured..=amount).contains(&told), report, &otherwise);
        }
        if self.authorized_at.is_some() {
            return self.agree(told == recorded, report, &format!("{recorded} were authorized, not {told}"));
        }
        match report.status {
            PaymentStatus::Authorized | PaymentStatus::Succeeded => {
                let amount = self.amount;
                self.agree(told <= amount, report, &format!("{told} are more than the {amount} asked for"))
            }
            _ => self.agree(told == 0, report, &format!("nothing was authorized, and not {told}")),
        }
    }

    /// Whether the authorization may be one that nobody reported: [`Payment::capture`] takes what was captured for it.
    /// The report of the true one, which a partial capture has overtaken, may name more. One that was reported with the
    /// capture's time and amount looks the same (contract 3.5).
    fn authorized_with_capture(&self) -> bool {
        self.captured_at.is_some()
            && self.authorized_at == self.captured_at
            && self.amount_authorized == self.amount_captured
    }

    /// A report without success names no captured amount, or 0; this is checked without the payment.
    fn check_captured(&self, report: &PaymentReport) -> Result<()> {
        let Some(told) = report.amount_captured.filter(|_| report.status == PaymentStatus::Succeeded) else {
            return Ok(());
        };
        let recorded = self.amount_captured;
        if self.captured_at.is_some() {
            return self.agree(told == recorded, report, &format!("{recorded} were captured, not {told}"));
        }
        let authorized = self.authorized_at.map(|_| self.amount_authorized);
        let limit = authorized.or(report.amount_authorized).unwrap_or(self.amount);
        self.agree(told <= limit, report, &format!("{told} are more than the {limit} that can be captured"))
    }

    fn agree(&self, agrees: bool, report: &PaymentReport, otherwise: &str) -> Result<()> {
        if agrees {
            return Ok(());
        }
        let detail = format!("The report's amounts contradict the payment: {otherwise}.");
        Err(Refusal::conflict(self.status.as_str(), report.status.as_str(), detail))
    }

    /// The next version; amounts and status have been checked.
    fn after(self, report: &PaymentReport, now: Timestamp) -> Self {
        let at = report.occurred_at.unwrap_or(now);
        let mut next = self;
        match report.status {
            PaymentStatus::Authorized => {
                next.amount_authorized = report.amount_authorized.unwrap_or(next.amount);
                next.authorized_at = Some(at);
            }
            PaymentStatus::Succeeded => next.capture(report, at),
            PaymentStatus::Failed => {
                next.failure.clone_from(&report.failure);
                next.failed_at = Some(at);
            }
            PaymentStatus::Cancelled => next.cancelled_at = Some(at),
            _ => {}
        }
        next.status = report.status;
        if let Some(reference) = &report.processor_reference {
            next.processor.reference = Some(reference.clone());
        }
        next.next_version(now)
    }

    /// An automatic capture authorizes and captures in one step; a manual one captures what was authorized.
    fn capture(&mut self, report: &PaymentReport, at: Timestamp) {
        if self.authorized_at.is_none() {
            self.amount_authorized =
                report.amount_authorized.or(report.amount_captured).unwrap_or(self.amount);
            self.authorized_at = Some(at);
        }
        self.amount_captured = report.amount_captured.unwrap_or(self.amount_authorized);
        self.captured_at = Some(at);
    }

    fn contradicted_by(&self, reported: PaymentStatus) -> Refusal {
        let detail = format!("The payment is {}; the report says {reported}.", self.status);
        Refusal::conflict(self.status.as_str(), reported.as_str(), detail)
    }
}
