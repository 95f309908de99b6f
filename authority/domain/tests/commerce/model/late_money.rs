//! Money that comes after its checkout or order has ended (contract 18.3), and captures that confirm an order.

use authority_domain::{CheckoutEnd, ConfirmOn, ErrorCode, PaymentStatus, RefundStatus};

use super::commands::{Command, Target, World};
use super::rows::{ask_refund, check, ingest, open, report, report_refund, start};

#[test]
fn late_money_is_recorded_and_given_back() {
    use PaymentStatus::{Cancelled, Created, Succeeded};
    let end = |how| Command::EndCheckout { checkout: 0, how };
    let back = [
        report(0, Succeeded),
        Command::AskRefundOfPayment { payment: 0, amount: None },
        report_refund(0, RefundStatus::Completed),
    ];
    let told = "payment.succeeded | refund.requested | refund.completed · payment.refunded";
    let of_order = "payment.succeeded · order.updated | refund.requested · order.updated | \
        refund.completed · payment.refunded · order.updated";
    let started = [open(), start(Target::Checkout)];
    let ended = |how| [open(), start(Target::Checkout), end(how)];
    check(&[
        ("18.3, expired", &ended(CheckoutEnd::Expired), &back, told),
        ("18.3, cancelled", &ended(CheckoutEnd::Cancelled), &back, told),
        (
            "18.3, overdue",
            &[open(), start(Target::Checkout), Command::Wait { hours: 25 }],
            &back,
            &format!("checkout.expired · {told}"),
        ),
        ("18.3, order", &[ingest(&[(25, Created)]), Command::Cancel { order: 0 }], &back, of_order),
    ]);
    // What its processor cancelled is cancelled, whatever ended then.
    for ending in [end(CheckoutEnd::Expired), Command::Wait { hours: 25 }] {
        let mut world = World::new(ConfirmOn::Paid);
        for command in started.iter().chain(&[report(0, Cancelled), ending]) {
            world.run(command).unwrap();
        }
        assert_eq!(world.run(&report(0, Succeeded)).unwrap_err().code, ErrorCode::ProcessorConflict);
    }
}

#[test]
fn captures_confirm_whatever_went_back_meanwhile() {
    let setup = [
        ingest(&[(10, PaymentStatus::Succeeded)]),
        ask_refund(None),
        report_refund(0, RefundStatus::Completed),
        start(Target::Order),
    ];
    check(&[("3.1", &setup, &[report(1, PaymentStatus::Succeeded)], "payment.succeeded · order.confirmed")]);
}
