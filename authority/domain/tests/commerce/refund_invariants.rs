//! Random refund requests and reports on an order with up to three captured payments, against the invariants of
//! contract 3.11 that they can break: I1, I2, I3, I6, I7, I14, and one event for every version.

use std::collections::BTreeMap;

use authority_domain::event::change::{Change, Record};
use authority_domain::id::{PaymentId, RefundId};
use authority_domain::order::payment_status::{PaymentSummary, derive};
use authority_domain::order::{ConfirmOn, Order, OrderStatus};
use authority_domain::parts::{Metadata, Money};
use authority_domain::payment::{Payment, PaymentStatus};
use authority_domain::refund;
use authority_domain::refund::flow::{Outcome, RefundBasis};
use authority_domain::refund::{
    NewRefund, Refund, RefundReason, RefundReport, RefundStatus, Requester, RequesterType,
};
use authority_domain::refusal::Refusal;
use proptest::prelude::*;

use crate::fixtures::{completed, created_payment, last_order, last_payment, noon, payment_id};

#[derive(Clone, Debug)]
enum Command {
    Ask { amount: Option<Money>, payment: Option<usize> },
    Report { refund: usize, status: RefundStatus },
}

/// What a database would keep.
struct Till {
    order: Order,
    payments: Vec<Payment>,
    refunds: Vec<Refund>,
    told: Vec<Change>,
    first_order_version: i64,
}

impl Till {
    /// An order of 6200; `captured` is what came in by each of its payments.
    fn open(captured: &[Money], status: OrderStatus) -> Self {
        let (checkout, payment) = created_payment();
        let changes = completed(&checkout, &payment, PaymentStatus::Succeeded, ConfirmOn::Paid, noon());
        let (mut order, payment) = (last_order(&changes).unwrap(), last_payment(&changes).unwrap());
        let payments: Vec<Payment> = captured
            .iter()
            .enumerate()
            .map(|(n, captured)| Payment {
                id: payment_id(n),
                amount_authorized: *captured,
                amount_captured: *captured,
                ..payment.clone()
            })
            .collect();
        order.status = status;
        order.payment_status = derive(order.amounts.total, order.status, &payments);
        order.payment_summary = PaymentSummary::of(order.amounts.total, &payments);
        order.payment_ids = payments.iter().map(|payment| payment.id.clone()).collect();
        let first_order_version = order.resource_version;
        Self { order, payments, refunds: Vec::new(), told: Vec::new(), first_order_version }
    }

    fn reserved(&self) -> BTreeMap<PaymentId, Money> {
        let mut sums = BTreeMap::new();
        for refund in self.refunds.iter().filter(|refund| refund.status.is_open()) {
            *sums.entry(refund.payment_id.clone()).or_insert(0) += refund.amount;
        }
        sums
    }

    fn run(&mut self, command: &Command) -> Result<(), Refusal> {
        let standing = RefundBasis::new(self.order.clone(), self.payments.clone(), &self.reserved());
        let now = noon().plus_ms(i64::try_from(self.told.len()).unwrap());
        let outcome = match command {
            Command::Ask { amount, payment } => {
                let id = RefundId::from_store(format!("rfd_{:026}", self.refunds.len()));
                let new = NewRefund {
                    amount: *amount,
                    currency: None,
                    payment_id: payment.map(payment_id),
                    reason: RefundReason::Other,
                    note: None,
                    line_items: Vec::new(),
                    metadata: Metadata::new(),
                };
                let by = Requester { kind: RequesterType::System, id: None };
                Some(refund::flow::request(standing, id, new, by, ConfirmOn::Paid, now)?)
            }
            Command::Report { refund, status } => {
                let Some(refund) = self.refunds.get(*refund) else { return Ok(()) };
                let told = RefundReport { status: *status, processor_reference: None, failure: None };
                refund::flow::report(standing, refund.clone(), &told, ConfirmOn::Paid, now)?
            }
        };
        if let Some(outcome) = outcome {
            self.commit(outcome);
        }
        Ok(())
    }

    fn commit(&mut self, outcome: Outcome) {
        let mut payments: Vec<Payment> = outcome.restated.into_iter().collect();
        let stored =
            |payments: &[Payment], id: &PaymentId| payments.iter().position(|p| &p.id == id).unwrap();
        for payment in &payments {
            let before = &self.payments[stored(&self.payments, &payment.id)];
            let same = Payment { amount_refund_pending: before.amount_refund_pending, ..payment.clone() };
            assert_eq!(&same, before, "nothing else is restated");
        }
        for change in &outcome.changes {
            match &change.record {
                Record::Payment(payment) => payments.push((**payment).clone()),
                Record::Order(order) => self.order = (**order).clone(),
                Record::Refund(refund) => match self.refunds.iter_mut().find(|r| r.id == refund.id) {
                    Some(stored) => *stored = (**refund).clone(),
                    None => self.refunds.push((**refund).clone()),
                },
                other => panic!("{other:?} is not part of these sequences"),
            }
        }
        assert!(self.refunds.contains(&outcome.refund));
        for payment in payments {
            let place = stored(&self.payments, &payment.id);
            self.payments[place] = payment;
        }
        self.told.extend(outcome.changes);
    }

    /// Everything that must hold at every commit.
    fn check(&self) {
        let reserved = self.reserved();
        for payment in &self.payments {
            let of_it = || self.refunds.iter().filter(|refund| refund.payment_id == payment.id);
            let returned: Money =
                of_it().filter(|r| r.status == RefundStatus::Completed).map(|refund| refund.amount).sum();
            let open = reserved.get(&payment.id).copied().unwrap_or(0);
            assert_eq!((payment.amount_refunded, payment.amount_refund_pending), (returned, open));
            assert!(returned + open <= payment.amount_captured, "I2");
            let steps = [0, returned, payment.amount_captured, payment.amount_authorized, payment.amount];
            assert!(steps.is_sorted(), "I3: {steps:?}");
            let expected = match returned {
                0 => PaymentStatus::Succeeded,
                all if all == payment.amount_captured => PaymentStatus::Refunded,
                _ => PaymentStatus::PartiallyRefunded,
            };
            assert_eq!(payment.status, expected, "contract 3.5");
            assert!(of_it().all(|refund| refund.currency == self.order.currency), "I1");
        }
        let total = self.order.amounts.total;
        assert_eq!(self.order.payment_summary, PaymentSummary::of(total, &self.payments), "I6");
        assert_eq!(self.order.payment_status, derive(total, self.order.status, &self.payments), "I6");
        assert!(self.order.payment_summary.refundable >= 0, "I2 of the order");
        let events = self.told.iter().filter(|change| matches!(change.record, Record::Order(_))).count();
        let made = self.order.resource_version - self.first_order_version;
        assert_eq!(made, i64::try_from(events).unwrap(), "I7");
    }

    /// Versions count up by one; ends are never left; the order comes last.
    fn check_history(&self) {
        let mut last: BTreeMap<&str, i64> =
            self.payments.iter().map(|payment| (payment.id.as_str(), 2)).collect();
        last.insert(self.order.order_number.as_str(), self.first_order_version);
        let mut ended: BTreeMap<&str, RefundStatus> = BTreeMap::new();
        for change in &self.told {
            let id = change.record.resource_id();
            let version = change.record.resource_version().unwrap();
            assert_eq!(version, last.insert(id, version).unwrap_or(0) + 1, "{id}: one event per version");
            if let Record::Refund(refund) = &change.record {
                assert_eq!(change.event_type.as_str(), format!("refund.{}", refund.status));
                assert_eq!(ended.get(id), None, "I14");
                if !refund.status.is_open() {
                    ended.insert(id, refund.status);
                }
            }
        }
    }
}

fn commands() -> impl Strategy<Value = Command> {
    prop_oneof![
        (prop::option::weighted(0.8, 1_i64..40), prop::option::weighted(0.7, 0_usize..4))
            .prop_map(|(amount, payment)| Command::Ask { amount, payment }),
        (0_usize..12, prop::sample::select(RefundStatus::ALL))
            .prop_map(|(refund, status)| Command::Report { refund, status }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_sequence_of_refunds_breaks_an_invariant(
        captured in prop::collection::vec(1_i64..60, 1..=3),
        status in prop::sample::select(OrderStatus::ALL),
        commands in prop::collection::vec(commands(), 1..60),
    ) {
        let mut till = Till::open(&captured, status);
        till.check();
        for command in &commands {
            let told = till.told.len();
            let refused = till.run(command).is_err();
            till.check();
            prop_assert!(!refused || till.told.len() == told, "a refusal tells of nothing");
        }
        till.check_history();
    }
}

#[test]
fn the_commands_reach_far_enough_to_mean_something() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let strategy = (prop::collection::vec(1_i64..60, 1..=3), prop::collection::vec(commands(), 60));
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..200 {
        let (captured, commands) = strategy.new_tree(&mut runner).unwrap().current();
        let mut till = Till::open(&captured, OrderStatus::Confirmed);
        for command in &commands {
            if let Err(refusal) = till.run(command) {
                *seen.entry(refusal.code.to_string()).or_default() += 1;
            }
        }
        for change in &till.told {
            *seen.entry(change.event_type.as_str().to_owned()).or_default() += 1;
        }
    }
    for expected in [
        "refund.requested",
        "refund.processing",
        "refund.completed",
        "refund.failed",
        "payment.partially_refunded",
        "payment.refunded",
        "order.updated",
        "order_not_refundable",
        "refund_amount_exceeded",
        "payment_required",
        "processor_conflict",
        "validation_failed",
    ] {
        assert!(seen.get(expected).is_some_and(|count| *count >= 20), "{expected}: {seen:?}");
    }
}
