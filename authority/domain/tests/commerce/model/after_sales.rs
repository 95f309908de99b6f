//! What happens to an order: edits, goods, refunds.

use authority_domain::event::change::Record;
use authority_domain::order::{FulfillmentUpdate, LineTarget, OrderEdit};
use authority_domain::parts::Money;
use authority_domain::refund::{NewRefund, RefundReport, Requester, RequesterType};
use authority_domain::shipment::report::ShipmentReport;
use authority_domain::shipment::{NewShipment, ShipmentLine, ShipmentStatus};
use authority_domain::transitions::fulfillment;
use authority_domain::transitions::refund::{Outcome, RefundBasis};
use authority_domain::{
    Change, FulfillmentStatus, Order, RefundId, RefundStatus, Result, ShipmentId, transitions,
};
use serde_json::json;

use super::commands::{Parts, World, at};
use crate::fixtures::new_shipment;

impl World {
    pub(super) fn edit(&self, order: &Order, note: u8) -> Result<Vec<Change>> {
        let edit = OrderEdit {
            customer: order.customer.clone(),
            billing_address: order.billing_address.clone(),
            shipping_address: order.shipping_address.clone(),
            metadata: [("note".to_owned(), note.to_string())].into(),
        };
        transitions::order::edit(order, edit, self.now)
    }

    pub(super) fn fulfil(
        &mut self,
        order: Order,
        target: Option<FulfillmentStatus>,
        parts: &Parts,
        note: Option<u8>,
    ) -> Result<Vec<Change>> {
        let number = order.order_number.clone();
        let line = |(place, quantity): &(usize, i64)| LineTarget {
            id: order.line_items[place % order.line_items.len()].id.clone(),
            fulfilled_quantity: *quantity,
        };
        let asked = FulfillmentUpdate {
            target,
            line_items: parts.as_ref().map(|parts| parts.iter().map(line).collect()),
            note: note.map(|note| (note > 0).then(|| format!("note {note}"))),
        };
        let marked = self.ledger.marked.get(&number).cloned().unwrap_or_default();
        let parcels = self.ledger.parcels_of(&number);
        let confirmed_by = self.ledger.confirmed_by(&number);
        let updated = fulfillment::update(order.clone(), &parcels, marked, confirmed_by, &asked, self.now)?;
        self.ledger.marked.insert(number, updated.marked);
        Ok(updated.changes)
    }

    pub(super) fn ship(&mut self, order: &Order, parts: &Parts, tracking: Option<u8>) -> Result<Vec<Change>> {
        let line = |(place, quantity): &(usize, i64)| ShipmentLine {
            line_item_id: order.line_items[place % order.line_items.len()].id.clone(),
            quantity: *quantity,
        };
        let lines = parts.as_ref().map(|parts| parts.iter().map(line).collect());
        let tracking_number = tracking.map(|n| format!("T-{n}"));
        let new = NewShipment { tracking_number, ..new_shipment(lines) };
        let id = ShipmentId::generate(self.now, &mut self.dice);
        let parcels = self.ledger.parcels_of(&order.order_number);
        let confirmed_by = self.ledger.confirmed_by(&order.order_number);
        Ok(transitions::shipment::create(order.clone(), &parcels, confirmed_by, id, new, self.now)?.1)
    }

    pub(super) fn carry(
        &mut self,
        place: usize,
        status: Option<ShipmentStatus>,
        tracking: Option<u8>,
    ) -> Result<Vec<Change>> {
        let Some(parcel) = at(&self.ledger.shipments, place) else { return Ok(Vec::new()) };
        let number = parcel.order_number.clone();
        let tracking_number = tracking.map(|n| Some(format!("T-{n}")));
        let told = ShipmentReport { status, tracking_number, ..ShipmentReport::default() };
        let order = self.ledger.order(&number).cloned().unwrap();
        let marked = self.ledger.marked.get(&number).cloned().unwrap_or_default();
        let parcels = self.ledger.parcels_of(&number);
        Ok(transitions::shipment::report(order, &parcels, &marked, parcel, &told, self.now)?.1)
    }

    pub(super) fn standing(&self, order: Order) -> RefundBasis {
        let payments = self.ledger.payments_of(&order.order_number);
        RefundBasis::new(order, payments, &self.ledger.reserved())
    }

    pub(super) fn ask_refund(
        &mut self,
        order: Order,
        amount: Option<Money>,
        payment: Option<usize>,
    ) -> Result<Vec<Change>> {
        let payment_id = payment.and_then(|place| at(&self.ledger.payments, place)).map(|payment| payment.id);
        let new = NewRefund { amount, payment_id, ..NewRefund::read(&json!({}))? };
        self.begin_refund(self.standing(order), new)
    }

    /// As the operator asks, by a payment.
    pub(super) fn ask_refund_of_payment(
        &mut self,
        place: usize,
        amount: Option<Money>,
    ) -> Result<Vec<Change>> {
        let Some(payment) = at(&self.ledger.payments, place) else { return Ok(Vec::new()) };
        let body = amount.map_or_else(|| json!({}), |amount| json!({ "amount": amount }));
        let new = NewRefund::read_of_payment(&body, &payment.id)?;
        let standing = match payment.order_number.as_ref() {
            Some(number) => self.standing(self.ledger.order(number).cloned().unwrap()),
            None => RefundBasis::without_order(payment),
        };
        self.begin_refund(standing, new)
    }

    fn begin_refund(&mut self, standing: RefundBasis, new: NewRefund) -> Result<Vec<Change>> {
        let id = RefundId::generate(self.now, &mut self.dice);
        let by = Requester { kind: RequesterType::ApiKey, id: None };
        let outcome = transitions::refund::request(standing, id, new, by, self.confirm_on, self.now)?;
        Ok(self.told(outcome))
    }

    /// What a refund tells; its answer shows the refund that is told.
    fn told(&mut self, outcome: Outcome) -> Vec<Change> {
        outcome.restated.iter().for_each(|payment| self.ledger.restate(payment));
        let is_answer = |record: &Record| matches!(record, Record::Refund(told) if **told == outcome.refund);
        assert!(outcome.changes.iter().any(|change| is_answer(&change.record)), "{:?}", outcome.refund);
        outcome.changes
    }

    pub(super) fn report_refund(&mut self, place: usize, status: RefundStatus) -> Result<Vec<Change>> {
        let Some(refund) = at(&self.ledger.refunds, place) else { return Ok(Vec::new()) };
        let standing = match refund.order_number.as_ref() {
            Some(number) => self.standing(self.ledger.order(number).cloned().unwrap()),
            None => RefundBasis::without_order(self.ledger.payment(&refund.payment_id)),
        };
        let told = RefundReport { status, processor_reference: None, failure: None };
        let outcome = transitions::refund::report(standing, refund, &told, self.confirm_on, self.now)?;
        Ok(outcome.map(|outcome| self.told(outcome)).unwrap_or_default())
    }
}
