//! The payment's state machine against contract 3.5: every status, every report.

use authority_domain::parts::{Failure, Money};
use authority_domain::payment::{CaptureMethod, PaymentOutcome, PaymentReport};
use authority_domain::{ErrorCode, MemberCode, Payment, PaymentStatus};

use crate::fixtures::{TOTAL, check_machine, created_payment, noon, report, reported};

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
    payment.captured_at = (captured > 0).then(noon);
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
        (PaymentStatus::PartiallyRefunded, "= = = = x x = x"),
        (PaymentStatus::Refunded, "= = = = x x = ="),
    ];
    check_machine(&table, ErrorCode::ProcessorConflict, |from, to| {
        Ok(match payment_in(from).report(&report(to), noon())? {
            PaymentOutcome::Unchanged => "=",
            PaymentOutcome::Changed(payment) => {
                assert_eq!((payment.status, payment.resource_version), (to, 2), "{from} → {to}");
                "c"
            }
        })
    });
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
    use PaymentStatus::{Authorized, Cancelled, Failed, Pending, Succeeded};
    for status in [Pending, Authorized, Succeeded, Failed, Cancelled] {
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

/// What a report comes to: the amounts of the payment, the pointer to an amount that is wrong by itself, or a
/// conflict with what is recorded.
#[derive(Debug, PartialEq)]
enum Judged {
    Recorded(Money, Money),
    NothingNew,
    Malformed(&'static str),
    Conflict,
}

fn judged(payment: Payment, told: &PaymentReport) -> Judged {
    match payment.report(told, noon()) {
        Ok(PaymentOutcome::Changed(payment)) => {
            Judged::Recorded(payment.amount_authorized, payment.amount_captured)
        }
        Ok(PaymentOutcome::Unchanged) => Judged::NothingNew,
        Err(refusal) if refusal.code == ErrorCode::ProcessorConflict => Judged::Conflict,
        Err(refusal) => {
            assert_eq!(refusal.code, ErrorCode::ValidationFailed);
            assert_eq!(refusal.members[0].code, MemberCode::OutOfRange);
            let pointers = ["/amount_authorized", "/amount_captured"];
            Judged::Malformed(
                pointers.into_iter().find(|pointer| *pointer == refusal.members[0].pointer).unwrap(),
            )
        }
    }
}

#[test]
fn amounts_stay_within_what_was_asked_and_authorized() {
    use Judged::{Conflict, Malformed, Recorded};
    use PaymentStatus::{Authorized, Created, Succeeded};
    let half = TOTAL / 2;
    let on_created = [
        (Authorized, None, None, Recorded(TOTAL, 0)),
        (Authorized, Some(half), None, Recorded(half, 0)),
        (Authorized, Some(1), None, Recorded(1, 0)),
        (Authorized, Some(0), None, Malformed("/amount_authorized")),
        (Authorized, Some(TOTAL + 1), None, Conflict),
        (Succeeded, Some(half), None, Recorded(half, half)),
        (Succeeded, None, Some(half), Recorded(half, half)),
        (Succeeded, Some(TOTAL), Some(half), Recorded(TOTAL, half)),
        (Succeeded, Some(half), Some(half + 1), Malformed("/amount_captured")),
        (Succeeded, None, Some(TOTAL + 1), Conflict),
        (Succeeded, None, Some(0), Malformed("/amount_captured")),
        (Succeeded, Some(0), None, Malformed("/amount_authorized")),
        (PaymentStatus::Pending, Some(1), None, Conflict),
        (PaymentStatus::Failed, Some(1), None, Conflict),
    ];
    let on_half_authorized = [
        (Succeeded, None, None, Recorded(half, half)),
        (Succeeded, None, Some(1), Recorded(half, 1)),
        (Succeeded, Some(half), Some(half), Recorded(half, half)),
        (Succeeded, Some(TOTAL), None, Conflict),
        (Succeeded, None, Some(half + 1), Conflict),
        (Succeeded, None, Some(0), Malformed("/amount_captured")),
        (PaymentStatus::Cancelled, Some(TOTAL), None, Conflict),
        (PaymentStatus::Cancelled, Some(half), None, Recorded(half, 0)),
    ];
    let authorized = *reported(payment_in(Created), &authorizing(half), noon());
    let rows = on_created.map(|row| (payment_in(Created), row)).into_iter();
    for (payment, (status, amount_authorized, amount_captured, expected)) in
        rows.chain(on_half_authorized.map(|row| (authorized.clone(), row)))
    {
        let told = PaymentReport { amount_authorized, amount_captured, ..report(status) };
        assert_eq!(judged(payment, &told), expected, "{told:?}");
    }
}

/// Whether or not the report would change the status (contract 18.3).
#[test]
fn amounts_that_are_not_those_recorded_are_refused_and_the_same_ones_are_no_news() {
    use Judged::{Conflict, NothingNew};
    use PaymentStatus::{Authorized, Failed, PartiallyRefunded, Pending, Refunded, Succeeded};
    let table = [
        (Authorized, Authorized, Some(TOTAL), None, NothingNew),
        (Authorized, Authorized, Some(TOTAL - 1), None, Conflict),
        (Authorized, Pending, Some(TOTAL - 1), None, Conflict),
        (Succeeded, Succeeded, None, None, NothingNew),
        (Succeeded, Succeeded, Some(TOTAL), Some(TOTAL), NothingNew),
        (Succeeded, Succeeded, None, Some(TOTAL - 1), Conflict),
        (Succeeded, Succeeded, None, Some(TOTAL + 1), Conflict),
        (Succeeded, Authorized, Some(TOTAL), Some(0), NothingNew),
        (Succeeded, Authorized, Some(TOTAL + 1), None, Conflict),
        (PartiallyRefunded, Succeeded, None, Some(TOTAL), NothingNew),
        (PartiallyRefunded, Succeeded, None, Some(1), Conflict),
        (Refunded, Succeeded, Some(1), None, Conflict),
        (Failed, Authorized, Some(TOTAL), None, NothingNew),
        (Failed, Authorized, Some(TOTAL + 1), None, Conflict),
    ];
    for (from, status, amount_authorized, amount_captured, expected) in table {
        let told = PaymentReport { amount_authorized, amount_captured, ..report(status) };
        assert_eq!(judged(payment_in(from), &told), expected, "{from}: {told:?}");
    }
}

/// A success that names no authorized amount has overtaken the report of the authorization, which may name more.
#[test]
fn an_authorization_that_its_partial_capture_overtook_is_no_news() {
    use Judged::{Conflict, NothingNew};
    use PaymentStatus::{Cancelled, Created, PartiallyRefunded, Pending, Succeeded};
    let half = TOTAL / 2;
    let at_once = PaymentReport { amount_captured: Some(half), ..report(Succeeded) };
    let overtaken = *reported(payment_in(Created), &at_once, noon());
    assert_eq!((overtaken.amount_authorized, overtaken.amount_captured), (half, half));
    let refunded = Payment { status: PartiallyRefunded, amount_refunded: 1, ..overtaken.clone() };
    let PaymentOutcome::Changed(late) = payment_in(Cancelled).report_late(&at_once, noon()).unwrap() else {
        panic!("late money is news");
    };
    for payment in [&overtaken, &refunded, &*late] {
        for (told, expected) in [
            (authorizing(TOTAL), NothingNew),
            (authorizing(half), NothingNew),
            (authorizing(half - 1), Conflict),
            (authorizing(TOTAL + 1), Conflict),
            (PaymentReport { amount_authorized: Some(TOTAL), ..report(Pending) }, Conflict),
        ] {
            assert_eq!(judged(payment.clone(), &told), expected, "{}: {told:?}", payment.status);
        }
    }
    // One that was named, or reported before, is recorded.
    let named = PaymentReport { amount_authorized: Some(TOTAL - 1), ..at_once.clone() };
    let named = *reported(payment_in(Created), &named, noon());
    let before = *reported(payment_in(Created), &authorizing(TOTAL - 1), noon().plus_ms(-1));
    let before = *reported(before, &at_once, noon());
    for payment in [named, before] {
        assert_eq!(judged(payment.clone(), &authorizing(TOTAL - 1)), NothingNew);
        assert_eq!(judged(payment, &authorizing(TOTAL)), Conflict);
    }
}

#[test]
fn automatic_capture_may_authorize_first() {
    let payment = payment_in(PaymentStatus::Created);
    assert_eq!(payment.capture_method, CaptureMethod::Automatic);
    let authorized = *reported(payment, &report(PaymentStatus::Authorized), noon());
    assert_eq!((authorized.status, authorized.amount_authorized), (PaymentStatus::Authorized, TOTAL));
    let captured = reported(authorized, &report(PaymentStatus::Succeeded), noon());
    assert_eq!(
        (captured.status, captured.amount_captured, captured.late),
        (PaymentStatus::Succeeded, TOTAL, false)
    );
}

#[test]
fn late_money_is_recorded_within_the_amounts() {
    let cancelled = payment_in(PaymentStatus::Cancelled);
    for status in PaymentStatus::ALL {
        assert_eq!(cancelled.may_be_late(&report(*status)), *status == PaymentStatus::Succeeded);
    }
    assert!(!payment_in(PaymentStatus::Failed).may_be_late(&report(PaymentStatus::Succeeded)));
    let told = PaymentReport { amount_captured: Some(5), ..report(PaymentStatus::Succeeded) };
    let PaymentOutcome::Changed(late) = cancelled.clone().report_late(&told, noon()).unwrap() else {
        panic!("late money is news");
    };
    let amounts = (late.amount_authorized, late.amount_captured, late.refundable());
    assert_eq!((late.status, late.late, amounts), (PaymentStatus::Succeeded, true, (5, 5, 5)));
    assert_eq!((late.captured_at, late.resource_version), (Some(noon()), 2));
    let greedy = PaymentReport { amount_captured: Some(TOTAL + 1), ..report(PaymentStatus::Succeeded) };
    assert_eq!(cancelled.report_late(&greedy, noon()).unwrap_err().code, ErrorCode::ProcessorConflict);
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
}

fn authorizing(amount: Money) -> PaymentReport {
    PaymentReport { amount_authorized: Some(amount), ..report(PaymentStatus::Authorized) }
}
