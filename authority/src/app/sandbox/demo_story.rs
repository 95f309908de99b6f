//! Plays a story of demonstration data through the functions that all other requests use (contract 6.3).

use authority_domain::checkout::CheckoutRequest;
use authority_domain::order::{CancelReason, FulfillmentUpdate};
use authority_domain::refund::{NewRefund, Requester, RequesterType};
use authority_domain::sandbox::demo_story::Plot;
use authority_domain::sandbox::requests::PayRequest;
use authority_domain::shipment::{NewShipment, ShipmentReport};
use authority_domain::{Order, OrderNumber, Refusal, Result, Shipment, ShipmentId};
use serde_json::{Value, json};

use super::payments::{Owed, attempt};
use super::{orders, refunding};
use crate::app::order::fulfillment;
use crate::app::{Owner, Work, checkout, order, refund, shipment};

/// Plays one story for one merchant.
struct Player<'w, 't> {
    work: &'w mut Work<'t>,
    owner: &'w Owner,
}

/// Plays the story of `basket`; returns the number of its order.
pub(super) async fn play(
    work: &mut Work<'_>,
    owner: &Owner,
    basket: &Value,
    plot: Plot,
) -> Result<OrderNumber> {
    let mut player = Player { work, owner };
    if plot == Plot::AtTheTill {
        return player.sell_over_the_counter(basket).await;
    }
    let number = player.sell(basket, plot).await?;
    player.go_on(&number, plot).await?;
    Ok(number)
}

/// A requester that stands for the system.
fn system() -> Requester {
    Requester { kind: RequesterType::System, id: None }
}

impl Player<'_, '_> {
    async fn sell_over_the_counter(&mut self, basket: &Value) -> Result<OrderNumber> {
        let mut body = basket.clone();
        if let Value::Object(body) = &mut body {
            body.insert("source".to_owned(), json!("pos"));
            body.insert("pay".to_owned(), json!("paid"));
        }
        let order = orders::ingest(self.work, self.owner, &body).await?;
        let number = order.order_number.clone();
        self.fulfil(order, "fulfilled").await?;
        Ok(number)
    }

    /// A checkout and its attempts, up to the one that creates the order.
    async fn sell(&mut self, basket: &Value, plot: Plot) -> Result<OrderNumber> {
        let checkout = checkout::create::open(self.work, self.owner, CheckoutRequest::read(basket)?).await?;
        let owed = Owed::of_checkout(&checkout)?;
        let outcomes: &[&str] = match plot {
            Plot::Pending | Plot::Cancelled => &["pending"],
            Plot::Authorized => &["authorized"],
            Plot::PaidAtSecondTry => &["failed", "succeeded"],
            _ => &["succeeded"],
        };
        let mut number = None;
        for outcome in outcomes {
            let pay = PayRequest::read(&json!({ "outcome": outcome }))?;
            let payment = attempt(self.work, self.owner, &owed, &pay).await?;
            number = payment.order_number;
        }
        number.ok_or_else(Refusal::internal)
    }

    async fn go_on(&mut self, number: &OrderNumber, plot: Plot) -> Result<()> {
        match plot {
            Plot::Pending | Plot::Authorized | Plot::PaidAtSecondTry | Plot::Paid | Plot::AtTheTill => {}
            Plot::Cancelled => {
                let order = self.order(number).await?;
                let reason = CancelReason::CustomerRequest;
                order::changes::cancel(self.work, self.owner, order, reason).await?;
            }
            Plot::Fulfilled => {
                let order = self.order(number).await?;
                self.fulfil(order, "fulfilled").await?;
            }
            Plot::PartlyShipped => {
                let order = self.order(number).await?;
                let line = order.line_items.iter().find(|line| line.requires_shipping);
                let part = line.map(|line| json!([{ "line_item_id": line.id, "quantity": 1 }]));
                self.ship(order, part).await?;
            }
            Plot::InTransit => {
                self.send(number, &[json!({ "status": "in_transit" })]).await?;
            }
            Plot::HeldUp => {
                let exception = json!({ "code": "address_unknown", "message": "No such house number." });
                let held = json!({ "status": "exception", "exception": exception });
                self.send(number, &[json!({ "status": "in_transit" }), held]).await?;
            }
            Plot::Delivered => self.deliver(number).await?,
            Plot::PartlyRefunded => {
                self.deliver(number).await?;
                let line = self.order(number).await?.line_items.first().map(|line| line.unit_amount);
                self.refund(number, json!({ "amount": line, "reason": "damaged" })).await?;
            }
            Plot::Refunded => {
                self.refund(number, json!({ "reason": "product_unavailable" })).await?;
            }
        }
        Ok(())
    }

    async fn deliver(&mut self, number: &OrderNumber) -> Result<()> {
        let way = [json!({ "status": "in_transit" }), json!({ "status": "delivered" })];
        self.send(number, &way).await
    }

    /// Ships all of it in one parcel, with the carrier's reports.
    async fn send(&mut self, number: &OrderNumber, way: &[Value]) -> Result<()> {
        let order = self.order(number).await?;
        self.fulfil(order, "fulfilled").await?;
        let order = self.order(number).await?;
        let mut parcel = self.ship(order, None).await?;
        for body in way {
            let report = ShipmentReport::read(body, self.work.now)?;
            (_, parcel) = shipment::reports::report(self.work, self.owner, parcel, &report).await?;
        }
        Ok(())
    }

    async fn ship(&mut self, order: Order, line_items: Option<Value>) -> Result<Shipment> {
        let tracking_number = format!("DEMO-{}", order.order_number);
        let mut parcel = json!({ "carrier": "demo-post", "tracking_number": tracking_number });
        if let (Some(line_items), Value::Object(parcel)) = (line_items, &mut parcel) {
            parcel.insert("line_items".to_owned(), line_items);
        }
        let id = ShipmentId::generate(self.work.now, &mut self.work.dice);
        let request = NewShipment::read(&parcel, self.work.now)?;
        shipment::create::create(self.work, self.owner, order, id, request).await
    }

    async fn fulfil(&mut self, order: Order, target: &str) -> Result<()> {
        let request = FulfillmentUpdate::read(&json!({ "fulfillment_status": target }))?;
        fulfillment::update(self.work, self.owner, order, request).await?;
        Ok(())
    }

    /// A refund that completes.
    async fn refund(&mut self, number: &OrderNumber, body: Value) -> Result<()> {
        let order = self.order(number).await?;
        let request = NewRefund::read(&body)?;
        let refund = refund::create::make(self.work, self.owner, order, system(), request).await?;
        refunding::complete(self.work, self.owner, refund).await
    }

    async fn order(&mut self, number: &OrderNumber) -> Result<Order> {
        self.work.order_of(&self.owner.tenant, number).await
    }
}
