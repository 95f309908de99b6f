//! A shop for random commands: it keeps what a database would keep, and does for each command what its use case does
//! with the transitions. One checkout, its payments, the order it may become, and the order's shipments.

use authority_domain::change::{Change, Record};
use authority_domain::checkout::{Checkout, CheckoutEnd, CheckoutStatus};
use authority_domain::fulfillment::{self, FulfillmentUpdate, LineTarget};
use authority_domain::fulfillment_status::FulfillmentStatus;
use authority_domain::id::ShipmentId;
use authority_domain::line_quantities::Marked;
use authority_domain::order::{CancelReason, ConfirmOn, Order};
use authority_domain::parts::{Metadata, Money};
use authority_domain::payment::{Payment, PaymentReport, PaymentStatus, PaymentTarget, Reported};
use authority_domain::payment_flow::{self, Surroundings};
use authority_domain::refusal::Refusal;
use authority_domain::shipment::{NewShipment, Shipment, ShipmentLine, ShipmentStatus};
use authority_domain::shipment_report::ShipmentReport;
use authority_domain::time::Timestamp;
use authority_domain::{checkout_flow, order_flow, order_payments, shipping};
use serde_json::Value;

use crate::fixtures::{checkout_of, dice, new_payment, noon, order_number, payment_id, report};

/// What somebody asks for; the numbers are taken modulo what there is, or taken as they are and refused.
#[derive(Clone, Debug)]
pub(crate) enum Command {
    Start { amount_off_by: Money, other_currency: bool, hours_later: i64 },
    Report { payment: usize, status: PaymentStatus, authorized: Option<Money>, captured: Option<Money> },
    Ship { lines: Option<Vec<(usize, i64)>>, tracking: Option<u8> },
    PayOrder { amount: Money },
    EndCheckout { how: CheckoutEnd },
    ConfirmOrder,
    CancelOrder,
    Wait { hours: i64 },
    Fulfil { target: Option<FulfillmentStatus>, lines: Option<Vec<(usize, i64)>>, note: Option<u8> },
    Carry { parcel: usize, status: Option<ShipmentStatus>, tracking: Option<u8> },
}

pub(crate) struct Shop {
    pub(crate) checkout: Checkout,
    pub(crate) payments: Vec<Payment>,
    pub(crate) order: Option<Order>,
    pub(crate) shipments: Vec<Shipment>,
    /// What the fulfilment update marked as shipped.
    pub(crate) marked: Marked,
    /// Everything that was told, in order.
    pub(crate) told: Vec<Change>,
    confirm_on: ConfirmOn,
    now: Timestamp,
}

impl Shop {
    pub(crate) fn open(body: &Value, confirm_on: ConfirmOn) -> Self {
        let checkout = checkout_of(body);
        let (payments, shipments, told) = (Vec::new(), Vec::new(), Vec::new());
        let marked = Marked::new();
        Self { checkout, payments, order: None, shipments, marked, told, confirm_on, now: noon() }
    }

    /// Does what is asked, or nothing at all.
    pub(crate) fn run(&mut self, command: &Command) -> Result<(), Refusal> {
        let changes = match command {
            Command::Start { amount_off_by, other_currency, hours_later } => {
                self.start(*amount_off_by, *other_currency, *hours_later)?
            }
            Command::Report { payment, status, authorized, captured } => {
                let told = PaymentReport {
                    amount_authorized: *authorized,
                    amount_captured: *captured,
                    ..report(*status)
                };
                self.report(*payment, &told)?
            }
            Command::Ship { lines, tracking } => self.ship(lines.as_deref(), *tracking)?,
            Command::PayOrder { amount } => self.pay_order(*amount)?,
            Command::EndCheckout { how } => {
                let open = self.payments.iter().find(|p| p.order_number.is_none() && p.status.is_open());
                checkout_flow::end(self.checkout.clone(), open.cloned(), *how, self.now)?
            }
            Command::ConfirmOrder => match self.order.clone() {
                Some(order) => order_flow::confirm(order, self.now)?,
                None => Vec::new(),
            },
            Command::CancelOrder => match self.order.clone() {
                Some(order) => {
                    order_flow::cancel(order, self.order_payments(), CancelReason::Other, self.now)?
                }
                None => Vec::new(),
            },
            Command::Wait { hours } => {
                self.now = self.now.plus_ms(hours * 3_600_000);
                Vec::new()
            }
            Command::Fulfil { target, lines, note } => self.fulfil(*target, lines.as_deref(), *note)?,
            Command::Carry { parcel, status, tracking } => self.carry(*parcel, *status, *tracking)?,
        };
        self.commit(changes);
        Ok(())
    }

    fn start(&self, amount_off_by: Money, other_currency: bool, hours: i64) -> Result<Vec<Change>, Refusal> {
        let mut new = new_payment(&self.checkout);
        new.id = payment_id(self.payments.len());
        new.amount += amount_off_by;
        if other_currency {
            new.currency = "EUR".into();
        }
        let open = self.payments.iter().any(|payment| payment.status.is_open());
        let now = self.now.plus_ms(hours * 3_600_000);
        Ok(vec![payment_flow::start(&self.checkout, open, new, now)?])
    }

    fn report(&self, index: usize, told: &PaymentReport) -> Result<Vec<Change>, Refusal> {
        let Some(before) = self.payments.get(index % self.payments.len().max(1)) else {
            return Ok(Vec::new());
        };
        let Reported::Changed(next) = before.clone().report(told, self.now)? else { return Ok(Vec::new()) };
        let surroundings = match (&before.order_number, self.checkout.status) {
            (Some(_), _) => Surroundings::Order {
                order: Box::new(self.order.clone().unwrap()),
                payments: self.order_payments(),
            },
            (None, CheckoutStatus::Open) if self.checkout.is_overdue(self.now) => {
                Surroundings::Overdue(Box::new(self.checkout.clone()))
            }
            (None, CheckoutStatus::Open) if payment_flow::completes(next.status) => {
                Surroundings::Completing {
                    checkout: Box::new(self.checkout.clone()),
                    order_number: order_number(),
                    subscription: None,
                }
            }
            (None, CheckoutStatus::Open) => Surroundings::OpenCheckout(Box::new(self.checkout.clone())),
            (None, _) => Surroundings::Ended,
        };
        Ok(payment_flow::settle(before, next, surroundings, self.confirm_on, self.now))
    }

    fn pay_order(&self, amount: Money) -> Result<Vec<Change>, Refusal> {
        let Some(order) = self.order.clone() else { return Ok(Vec::new()) };
        let mut new = new_payment(&self.checkout);
        new.id = payment_id(self.payments.len());
        new.target = PaymentTarget::Order(order.order_number.clone());
        new.amount = amount;
        order_payments::start(order, self.order_payments(), new, self.confirm_on, self.now)
    }

    /// All payments of the order, oldest first.
    pub(crate) fn order_payments(&self) -> Vec<Payment> {
        self.payments.iter().filter(|payment| payment.order_number.is_some()).cloned().collect()
    }

    fn ship(&self, lines: Option<&[(usize, i64)]>, tracking: Option<u8>) -> Result<Vec<Change>, Refusal> {
        let Some(order) = &self.order else { return Ok(Vec::new()) };
        let line = |(index, quantity): &(usize, i64)| ShipmentLine {
            line_item_id: order.line_items[index % order.line_items.len()].id.clone(),
            quantity: *quantity,
        };
        let new = NewShipment {
            carrier: "dhl".into(),
            service_level: None,
            tracking_number: tracking.map(|n| format!("T-{n}")),
            tracking_url: None,
            line_items: lines.map(|lines| lines.iter().map(line).collect()),
            shipped_at: None,
            estimated_delivery_at: None,
            metadata: Metadata::new(),
        };
        let id = ShipmentId::generate(self.now.plus_ms(self.shipments.len() as i64), &mut dice());
        let (_, changes) = shipping::create(order.clone(), &self.shipments, id, new, self.now)?;
        Ok(changes)
    }

    fn fulfil(
        &mut self,
        target: Option<FulfillmentStatus>,
        lines: Option<&[(usize, i64)]>,
        note: Option<u8>,
    ) -> Result<Vec<Change>, Refusal> {
        let Some(order) = self.order.clone() else { return Ok(Vec::new()) };
        let line = |(index, quantity): &(usize, i64)| LineTarget {
            id: order.line_items[index % order.line_items.len()].id.clone(),
            fulfilled_quantity: *quantity,
        };
        let asked = FulfillmentUpdate {
            target,
            line_items: lines.map(|lines| lines.iter().map(line).collect()),
            note: note.map(|note| (note > 0).then(|| format!("note {note}"))),
        };
        let updated = fulfillment::update(order, &self.shipments, self.marked.clone(), &asked, self.now)?;
        self.marked = updated.marked;
        Ok(updated.changes)
    }

    fn carry(
        &self,
        index: usize,
        status: Option<ShipmentStatus>,
        tracking: Option<u8>,
    ) -> Result<Vec<Change>, Refusal> {
        let Some(parcel) = self.shipments.get(index % self.shipments.len().max(1)) else {
            return Ok(Vec::new());
        };
        let tracking_number = tracking.map(|n| Some(format!("T-{n}")));
        let told = ShipmentReport { status, tracking_number, ..ShipmentReport::default() };
        let order = self.order.clone().unwrap();
        Ok(shipping::report(order, &self.shipments, &self.marked, parcel.clone(), &told, self.now)?.1)
    }

    /// Keeps the last version of every record, as the store does.
    fn commit(&mut self, changes: Vec<Change>) {
        for change in &changes {
            match &change.record {
                Record::Checkout(checkout) => self.checkout = (**checkout).clone(),
                Record::Payment(payment) => match self.payments.iter_mut().find(|p| p.id == payment.id) {
                    Some(stored) => *stored = (**payment).clone(),
                    None => self.payments.push((**payment).clone()),
                },
                Record::Order(order) => self.order = Some((**order).clone()),
                Record::Shipment(shipment) => match self.shipments.iter_mut().find(|s| s.id == shipment.id) {
                    Some(stored) => *stored = (**shipment).clone(),
                    None => self.shipments.push((**shipment).clone()),
                },
                other => panic!("{other:?} is not part of these sequences"),
            }
        }
        self.told.extend(changes);
        self.now = self.now.plus_ms(1);
    }
}
