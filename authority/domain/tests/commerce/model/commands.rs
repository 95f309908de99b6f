//! The commands, and who carries them out. Each is done as its use case does it: load what it needs, call the
//! transition, keep what it says.

use authority_domain::order::CancelReason;
use authority_domain::parts::Money;
use authority_domain::payment::PaymentReport;
use authority_domain::shipment::ShipmentStatus;
use authority_domain::subscription::SubscriptionStatus;
use authority_domain::{
    Change, CheckoutEnd, ConfirmOn, FulfillmentStatus, Order, OrderNumber, PaymentStatus, RefundStatus,
    Result, Timestamp, transitions,
};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::{Value, json};

use super::ledger::Ledger;
use crate::fixtures::{noon, report};

/// Quantity, price and whether it ships, line by line.
pub(super) type Goods = Vec<(i64, Money, bool)>;
/// Lines by place, and how much of them.
pub(super) type Parts = Option<Vec<(usize, i64)>>;

/// What a payment is to pay.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    Checkout,
    Order,
    Subscription,
}

/// What somebody asks for. Places are taken modulo what there is, everything else as it is; much of it is refused.
#[derive(Clone, Debug)]
pub(super) enum Command {
    Open { goods: Goods, subscribes: Option<bool> },
    Start { target: Target, place: usize, off_by: Money, other_currency: bool },
    Report { payment: usize, status: PaymentStatus, authorized: Option<Money>, captured: Option<Money> },
    EndCheckout { checkout: usize, how: CheckoutEnd },
    CompleteCheckout { checkout: usize },
    Ingest { goods: Goods, payments: Vec<(Money, PaymentStatus)> },
    Confirm { order: usize },
    Cancel { order: usize },
    Edit { order: usize, note: u8 },
    Fulfil { order: usize, target: Option<FulfillmentStatus>, parts: Parts, note: Option<u8> },
    Ship { order: usize, parts: Parts, tracking: Option<u8> },
    Carry { parcel: usize, status: Option<ShipmentStatus>, tracking: Option<u8> },
    AskRefund { order: usize, amount: Option<Money>, payment: Option<usize> },
    AskRefundOfPayment { payment: usize, amount: Option<Money> },
    ReportRefund { refund: usize, status: RefundStatus },
    Subscribe { begins: SubscriptionStatus, price: Money },
    ReportSubscription { subscription: usize, body: Value },
    Wait { hours: i64 },
}

impl Command {
    /// What the platform says of a subscription; what is `None` is left out.
    pub(super) fn report_subscription(
        subscription: usize,
        status: Option<SubscriptionStatus>,
        renew: bool,
        price: Option<Money>,
        ends: Option<bool>,
    ) -> Self {
        let items = price.map(|price| json!([{"name": "Plan", "quantity": 1, "unit_amount": price}]));
        let mut body =
            json!({"status": status, "renew": renew, "items": items, "cancel_at_period_end": ends});
        body.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        Self::ReportSubscription { subscription, body }
    }

    /// Whether it comes through the merchant API.
    pub(super) fn is_the_merchants(&self) -> bool {
        matches!(self, Self::Fulfil { .. } | Self::Ship { .. } | Self::AskRefund { .. })
    }
}

pub(super) struct World {
    pub(super) ledger: Ledger,
    pub(super) confirm_on: ConfirmOn,
    pub(super) now: Timestamp,
    pub(super) dice: StdRng,
    pub(super) numbers: i64,
    pub(super) events: i64,
}

impl World {
    pub(super) fn new(confirm_on: ConfirmOn) -> Self {
        let dice = StdRng::seed_from_u64(3);
        Self { ledger: Ledger::default(), confirm_on, now: noon(), dice, numbers: 100_000, events: 0 }
    }

    /// Does what is asked, or nothing at all.
    pub(super) fn run(&mut self, command: &Command) -> Result<Vec<Change>> {
        self.now = self.now.plus_ms(1);
        let before = self.ledger.clone();
        let done = self.carry_out(command);
        match &done {
            Ok(changes) => self.ledger.apply(changes),
            Err(_) => self.ledger = before,
        }
        done
    }

    fn carry_out(&mut self, command: &Command) -> Result<Vec<Change>> {
        match command {
            Command::Open { goods, subscribes } => self.open(goods, *subscribes),
            Command::Start { target, place, off_by, other_currency } => {
                self.start(*target, *place, *off_by, *other_currency)
            }
            Command::Report { payment, status, authorized, captured } => {
                let (amount_authorized, amount_captured) = (*authorized, *captured);
                self.report(
                    *payment,
                    &PaymentReport { amount_authorized, amount_captured, ..report(*status) },
                )
            }
            Command::EndCheckout { checkout, how } => match at(&self.ledger.checkouts, *checkout) {
                Some(checkout) => {
                    let attempt = self.ledger.open_attempt(&checkout.id);
                    transitions::checkout::end(checkout, attempt, *how, self.now)
                }
                None => Ok(Vec::new()),
            },
            Command::CompleteCheckout { checkout } => self.complete(*checkout),
            Command::Ingest { goods, payments } => self.ingest(goods, payments),
            Command::Confirm { order } => self.with_order(*order, |world, order| {
                let number = order.order_number.clone();
                let changes = transitions::order::confirm(order, world.now)?;
                world.ledger.confirmed.insert(number);
                Ok(changes)
            }),
            Command::Cancel { order } => self.with_order(*order, |world, order| {
                let payments = world.ledger.payments_of(&order.order_number);
                transitions::order::cancel(order, payments, CancelReason::Other, world.now)
            }),
            Command::Edit { order, note } => {
                self.with_order(*order, |world, order| world.edit(&order, *note))
            }
            Command::Fulfil { order, target, parts, note } => {
                self.with_order(*order, |world, order| world.fulfil(order, *target, parts, *note))
            }
            Command::Ship { order, parts, tracking } => {
                self.with_order(*order, |world, order| world.ship(&order, parts, *tracking))
            }
            Command::Carry { parcel, status, tracking } => self.carry(*parcel, *status, *tracking),
            Command::AskRefund { order, amount, payment } => {
                self.with_order(*order, |world, order| world.ask_refund(order, *amount, *payment))
            }
            Command::AskRefundOfPayment { payment, amount } => self.ask_refund_of_payment(*payment, *amount),
            Command::ReportRefund { refund, status } => self.report_refund(*refund, *status),
            Command::Subscribe { begins, price } => self.subscribe(*begins, *price),
            Command::ReportSubscription { subscription, body } => {
                self.report_subscription(*subscription, body)
            }
            Command::Wait { hours } => {
                self.now = self.now.plus_ms(hours * 3_600_000);
                Ok(Vec::new())
            }
        }
    }

    fn with_order(
        &mut self,
        place: usize,
        act: impl FnOnce(&mut Self, Order) -> Result<Vec<Change>>,
    ) -> Result<Vec<Change>> {
        match at(&self.ledger.orders, place) {
            Some(order) => act(self, order),
            None => Ok(Vec::new()),
        }
    }

    pub(super) fn next_number(&mut self) -> OrderNumber {
        self.numbers += 1;
        OrderNumber::generated("ORD-", self.numbers)
    }
}

/// The record at a place, counted round and round.
pub(super) fn at<T: Clone>(list: &[T], place: usize) -> Option<T> {
    list.get(place % list.len().max(1)).cloned()
}
