//! The payment's state machine against contract 3.5: every status, every report.

use authority_domain::error_code::ErrorCode;
use authority_domain::parts::{Failure, Money};
use authority_domain::payment::{Payment, PaymentReport, PaymentStatus, Reported};
use authority_domain::refusal::MemberCode;

use crate::fixtures::{TOTAL, created_payment, noon, report, reported};

/// A payment in any status, also those that only refunds reach.
fn payment_in(status: PaymentStatus) -> Payment {
    let (_, mut payment) = created_payment();
    payment.status = status;
    let (authorized, captured, refunded) = match status {
        PaymentStatus::Authorized => (TOTAL, 0, 0),
        PaymentStatus::Succeeded => (TOTAL, TOTAL, 0),
        PaymentStatus::PartiallyRefunded => (TOTAL, TOTAL, 1),
        PaymentStatus::Refunded => (TOTAL, TOTAL, TOTAL),
        _ => (0, 0, 0),
    };
    payment.amount_authorized = authorized;
    payment.amount_captured = captured;
    payment.amount_refunded = refunded;
    payment.authorized_at = (authorized > 0).then(noon);
    payment
}

#[test]
fn every_report_on_every_status_has_the_outcome_of_the_table() {
    // c: changed, the report's status is taken over. =: nothing happens (already there, or a late report of a lower
    // rank). x: refused with processor_conflict. Columns and rows in the order of PaymentStatus::ALL:
    // created pending authorized succeeded failed cancelled partially_refunded refunded
    let table = [
        (PaymentStatus::Created, "= c c c c c x x"),
        (PaymentStatus::Pending, "= = c c c c x x"),
        (PaymentStatus::Authorized, "= = = c c c x x"),
        (PaymentStatus::Succeeded, "= = = = x x x x"),
        (PaymentStatus::Failed, "= = = x = x x x"),
        (PaymentStatus::Cancelled, "= = = x x = x x"),
        (PaymentStatus::PartiallyRefunded, "= = = = = = = x"),
        (PaymentStatus::Refunded, "= = = = = = = ="),
    ];
    assert_eq!(table.map(|(from, _)| from).as_slice(), PaymentStatus::ALL);
    for (from, outcomes) in table {
        let seen: Vec<&str> = PaymentStatus::ALL
            .iter()
            .map(|to| match payment_in(from).report(&report(*to), noon()) {
                Ok(Reported::Unchanged) => "=",
                Ok(Reported::Changed(payment)) => {
                    assert_eq!(payment.status, *to);
                    assert_eq!(payment.resource_version, 2, "{from} → {to}");
                    "c"
                }
                Err(refusal) => {
                    assert_eq!(refusal.code, ErrorCode::ProcessorConflict, "{from} → {to}");
                    let told =
                        [("current_status", from.as_str().into()), ("requested_status", to.as_str().into())];
                    assert_eq!(refusal.extra, told);
                    "x"
                }
            })
            .collect();
        assert_eq!(seen.join(" "), outcomes, "from {from}");
    }
}

#[test]
fn each_status_leaves_its_marks_on_the_record() {
    let at = noon().plus_ms(5);
    let now = noon().plus_ms(9);
    let failure = Failure { code: "card_declined".into(), message: Some("Declined.".into()) };
    let told = |status| PaymentReport {
        failure: Some(failure.clone()),
        occurred_at: Some(at),
        processor_reference: Some("ch_2".into()),
        ..report(status)
    };
    for status in [
        PaymentStatus::Pending,
        PaymentStatus::Authorized,
        PaymentStatus::Succeeded,
        PaymentStatus::Failed,
        PaymentStatus::Cancelled,
    ] {
        let payment = reported(payment_in(PaymentStatus::Created), &told(status), now);
        let (authorized, captured) = match status {
            PaymentStatus::Authorized => (TOTAL, 0),
            PaymentStatus::Succeeded => (TOTAL, TOTAL),
            _ => (0, 0),
        };
        assert_eq!((payment.amount_authorized, payment.amount_captured), (authorized, captured), "{status}");
        assert_eq!(payment.authorized_at, (authorized > 0).then_some(at), "{status}");
        assert_eq!(payment.captured_at, (captured > 0).then_some(at), "{status}");
        assert_eq!(payment.failed_at, (status == PaymentStatus::Failed).then_some(at), "{status}");
        assert_eq!(payment.cancelled_at, (status == PaymentStatus::Cancelled).then_some(at), "{status}");
        assert_eq!(payment.failure.is_some(), status == PaymentStatus::Failed, "{status}");
        assert_eq!(payment.processor.reference.as_deref(), Some("ch_2"));
        assert_eq!(payment.updated_at, now);
    }
}

#[test]
fn a_clock_that_steps_back_does_not_take_updated_at_with_it() {
    let payment =
        reported(payment_in(PaymentStatus::Created), &report(PaymentStatus::Pending), noon().plus_ms(-1));
    assert_eq!(payment.updated_at, noon());
}

#[test]
fn amounts_stay_within_what_was_asked_and_authorized() {
    let authorized =
        |amount: Money| reported(payment_in(PaymentStatus::Created), &authorizing(amount), noon());
    let half = TOTAL / 2;
    // (status, amount_authorized, amount_captured) → what the payment then has, or the pointer that is out of range.
    type Row = (PaymentStatus, Option<Money>, Option<Money>, Result<(Money, Money), &'static str>);
    let on_created: [Row; 10] = [
        (PaymentStatus::Authorized, Some(half), None, Ok((half, 0))),
        (PaymentStatus::Authorized, Some(1), None, Ok((1, 0))),
        (PaymentStatus::Authorized, Some(0), None, Err("/amount_authorized")),
        (PaymentStatus::Authorized, Some(TOTAL + 1), None, Err("/amount_authorized")),
        (PaymentStatus::Succeeded, Some(half), None, Ok((half, half))),
        (PaymentStatus::Succeeded, None, Some(half), Ok((half, half))),
        (PaymentStatus::Succeeded, Some(TOTAL), Some(half), Ok((TOTAL, half))),
        (PaymentStatus::Succeeded, Some(half), Some(half + 1), Err("/amount_captured")),
        (PaymentStatus::Succeeded, None, Some(TOTAL + 1), Err("/amount_authorized")),
        (PaymentStatus::Succeeded, None, Some(0), Err("/amount_authorized")),
    ];
    for row in on_created {
        check(payment_in(PaymentStatus::Created), row);
    }
    let on_half_authorized: [Row; 4] = [
        (PaymentStatus::Succeeded, None, None, Ok((half, half))),
        (PaymentStatus::Succeeded, None, Some(1), Ok((half, 1))),
        (PaymentStatus::Succeeded, None, Some(half + 1), Err("/amount_captured")),
        (PaymentStatus::Succeeded, None, Some(0), Err("/amount_captured")),
    ];
    for row in on_half_authorized {
        check(*authorized(half), row);
    }

    fn check(payment: Payment, (status, amount_authorized, amount_captured, expected): Row) {
        let told = PaymentReport { amount_authorized, amount_captured, ..report(status) };
        match (payment.report(&told, noon()), expected) {
            (Ok(Reported::Changed(payment)), Ok(amounts)) => {
                assert_eq!((payment.amount_authorized, payment.amount_captured), amounts, "{told:?}");
            }
            (Err(refusal), Err(pointer)) => {
                assert_eq!(refusal.code, ErrorCode::ValidationFailed);
                assert_eq!(refusal.members[0].pointer, pointer, "{told:?}");
                assert_eq!(refusal.members[0].code, MemberCode::OutOfRange);
            }
            (outcome, _) => panic!("{told:?}: {outcome:?}"),
        }
    }
}

/// What a report says of money is kept or refused, never passed over (contract 6.2).
#[test]
fn amounts_that_would_go_unrecorded_are_refused() {
    let refused = |payment: Payment, told: PaymentReport, pointer: &str| {
        let refusal = payment.report(&told, noon()).unwrap_err();
        assert_eq!(
            (refusal.members[0].pointer.as_str(), refusal.members[0].code),
            (pointer, MemberCode::Inconsistent)
        );
    };
    for status in
        [PaymentStatus::Pending, PaymentStatus::Authorized, PaymentStatus::Failed, PaymentStatus::Cancelled]
    {
        let told = PaymentReport { amount_captured: Some(1), ..report(status) };
        refused(payment_in(PaymentStatus::Created), told, "/amount_captured");
        let nothing = PaymentReport { amount_captured: Some(0), ..report(status) };
        reported(payment_in(PaymentStatus::Created), &nothing, noon());
    }
    let half = *reported(payment_in(PaymentStatus::Created), &authorizing(TOTAL / 2), noon());
    let told = |amount| PaymentReport { amount_authorized: Some(amount), ..report(PaymentStatus::Succeeded) };
    refused(half.clone(), told(TOTAL), "/amount_authorized");
    assert_eq!(reported(half, &told(TOTAL / 2), noon()).amount_captured, TOTAL / 2);
}

fn authorizing(amount: Money) -> PaymentReport {
    PaymentReport { amount_authorized: Some(amount), ..report(PaymentStatus::Authorized) }
}
