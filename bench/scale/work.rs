//! The operations, each as a client does it again and again.

use std::cell::RefCell;

use bench_kit::connection::Connection;
use futures_util::future::join_all;
use http::{Method, StatusCode};
use serde_json::{Value, json};
use tests::merchant::{checkout_body, payment_body, report_body, text};

use crate::MERCHANTS;
use crate::stand::{Client, Stand};

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Work {
    /// The platform opens a checkout.
    Checkout,
    /// Three requests: a checkout, a payment of it, its success.
    PaidOrder,
    /// A payment of an open checkout starts.
    PaymentStart,
    /// The success of a payment that was started.
    PaymentReport,
    /// An order that was paid elsewhere.
    Ingest,
    /// The merchant asks for a cent of a paid order back.
    Refund,
    /// The merchant ships one of two shirts.
    Shipment,
    /// The merchant notes something on a paid order.
    Fulfilment,
    /// [`MIXED`], in turn.
    Mixed,
}

impl Work {
    /// As it is written in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Checkout => "checkout",
            Self::PaidOrder => "paid order",
            Self::PaymentStart => "payment start",
            Self::PaymentReport => "payment report",
            Self::Ingest => "ingest",
            Self::Refund => "refund",
            Self::Shipment => "shipment",
            Self::Fulfilment => "fulfilment",
            Self::Mixed => "mixed",
        }
    }
}

const MIXED: [Work; 5] = [Work::Checkout, Work::PaidOrder, Work::Ingest, Work::Refund, Work::Fulfilment];

/// The authority answered 503, or there is nothing left to do it with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undone {
    Refused,
    NothingLeft,
}

/// What the operations leave to each other, at one stand. A merchant is named by its place among all.
#[derive(Debug)]
pub(crate) struct Stock {
    merchants: Vec<String>,
    counters: RefCell<Counters>,
    /// The merchant and the checkout.
    open: RefCell<Vec<(usize, Value)>>,
    /// Ids of payments.
    started: RefCell<Vec<String>>,
    /// Numbers of paid orders of each merchant.
    paid: RefCell<Vec<Vec<String>>>,
    /// Of these nothing is shipped.
    unshipped: RefCell<Vec<Vec<String>>>,
}

#[derive(Debug, Default)]
struct Counters {
    merchant: usize,
    mixed: usize,
    fresh: usize,
}

type Done = Result<(), Undone>;

impl Stock {
    pub(crate) fn of(stand: &Stand) -> Self {
        Self {
            merchants: stand.merchants.iter().map(|merchant| merchant.id.clone()).collect(),
            counters: RefCell::default(),
            open: RefCell::default(),
            started: RefCell::default(),
            paid: RefCell::new(vec![Vec::new(); MERCHANTS]),
            unshipped: RefCell::new(vec![Vec::new(); MERCHANTS]),
        }
    }

    /// Makes what `work` needs for so many times, while the database is near.
    pub(crate) async fn fill(&self, stand: &Stand, work: Work, times: usize) {
        stand.delay(std::time::Duration::ZERO);
        let mut clients = stand.clients(MERCHANTS).await;
        let filling = clients.iter_mut().enumerate().map(async |(place, client)| {
            for _ in 0..times.div_ceil(MERCHANTS) {
                match work {
                    Work::PaymentStart => {
                        self.checkout(client, place).await.map(|made| self.keep(place, made))
                    }
                    Work::PaymentReport => self.started_payment(client, place).await,
                    Work::Refund | Work::Shipment | Work::Fulfilment | Work::Mixed => {
                        self.ingest(client, place).await
                    }
                    Work::Checkout | Work::PaidOrder | Work::Ingest => Ok(()),
                }
                .expect("the near database carries it");
            }
        });
        join_all(filling).await;
        stand.drained().await;
        stand.delay(stand.plan.round_trip.unwrap_or_default());
    }

    /// Does it once. `place` is that of the client's own merchant; the platform writes for all merchants in turn.
    pub(crate) async fn once(&self, work: Work, client: &mut Client, place: usize) -> Done {
        match work {
            Work::Checkout => self.checkout(client, self.next_merchant()).await.map(drop),
            Work::PaidOrder => self.paid_order(client, self.next_merchant()).await,
            Work::PaymentStart => {
                let (merchant, checkout) = self.open.borrow_mut().pop().ok_or(Undone::NothingLeft)?;
                self.start(client, merchant, &checkout).await.map(drop)
            }
            Work::PaymentReport => {
                let payment = self.started.borrow_mut().pop().ok_or(Undone::NothingLeft)?;
                self.report(client, &payment).await
            }
            Work::Ingest => self.ingest(client, self.next_merchant()).await,
            Work::Refund => self.refund(client, place).await,
            Work::Shipment => self.ship(client, place).await,
            Work::Fulfilment => self.note(client, place).await,
            Work::Mixed => {
                let turn = self.counters.borrow().mixed;
                self.counters.borrow_mut().mixed += 1;
                Box::pin(self.once(MIXED[turn % MIXED.len()], client, place)).await
            }
        }
    }

    /// A checkout of the merchant at this place.
    pub(crate) async fn checkout_of(&self, client: &mut Client, place: usize) -> Done {
        self.checkout(client, place).await.map(drop)
    }

    async fn checkout(&self, client: &mut Client, merchant: usize) -> Result<Value, Undone> {
        let path = self.platform(merchant, "checkouts");
        ask(&mut client.operator, Method::POST, &path, &checkout_body()).await
    }

    fn keep(&self, merchant: usize, checkout: Value) {
        self.open.borrow_mut().push((merchant, checkout));
    }

    async fn start(&self, client: &mut Client, merchant: usize, checkout: &Value) -> Result<String, Undone> {
        let body = payment_body(checkout, "automatic", &format!("start:{}", text(checkout, "id")));
        let path = self.platform(merchant, "payments");
        Ok(text(&ask(&mut client.operator, Method::POST, &path, &body).await?, "id"))
    }

    async fn started_payment(&self, client: &mut Client, merchant: usize) -> Done {
        let checkout = self.checkout(client, merchant).await?;
        let payment = self.start(client, merchant, &checkout).await?;
        self.started.borrow_mut().push(payment);
        Ok(())
    }

    async fn report(&self, client: &mut Client, payment: &str) -> Done {
        let body = report_body("succeeded", &format!("succeeded:{payment}"));
        let path = format!("/v1/operator/payments/{payment}/reports");
        ask(&mut client.operator, Method::POST, &path, &body).await.map(drop)
    }

    async fn paid_order(&self, client: &mut Client, merchant: usize) -> Done {
        let checkout = self.checkout(client, merchant).await?;
        let payment = self.start(client, merchant, &checkout).await?;
        self.report(client, &payment).await
    }

    async fn ingest(&self, client: &mut Client, merchant: usize) -> Done {
        let mut body = checkout_body();
        body["payments"] = json!([{
            "amount": 5300,
            "method": { "type": "card" },
            "processor": { "name": "acme-pay" },
            "processor_event_id": format!("ingested:{}", self.fresh()),
        }]);
        let path = self.platform(merchant, "orders");
        let order = text(&ask(&mut client.operator, Method::POST, &path, &body).await?, "order_number");
        self.paid.borrow_mut()[merchant].push(order.clone());
        self.unshipped.borrow_mut()[merchant].push(order);
        Ok(())
    }

    /// A cent at a time: an order has 5,300 of them.
    async fn refund(&self, client: &mut Client, place: usize) -> Done {
        let path = format!("/v1/merchant/orders/{}/refunds", self.any_paid(place)?);
        ask(&mut client.own, Method::POST, &path, &json!({ "amount": 1 })).await.map(drop)
    }

    async fn ship(&self, client: &mut Client, place: usize) -> Done {
        let order = self.unshipped.borrow_mut()[place].pop().ok_or(Undone::NothingLeft)?;
        let path = format!("/v1/merchant/orders/{order}/shipments");
        ask(&mut client.own, Method::POST, &path, &json!({ "carrier": "dhl" })).await.map(drop)
    }

    async fn note(&self, client: &mut Client, place: usize) -> Done {
        let path = format!("/v1/merchant/orders/{}/fulfillment", self.any_paid(place)?);
        let body = json!({ "note": self.fresh().to_string() });
        ask(&mut client.own, Method::PATCH, &path, &body).await.map(drop)
    }

    fn any_paid(&self, place: usize) -> Result<String, Undone> {
        let nth = self.fresh();
        let paid = self.paid.borrow();
        let own = &paid[place];
        own.get(nth % own.len().max(1)).cloned().ok_or(Undone::NothingLeft)
    }

    fn platform(&self, merchant: usize, collection: &str) -> String {
        format!("/v1/operator/merchants/{}/test/{collection}", self.merchants[merchant])
    }

    fn next_merchant(&self) -> usize {
        let mut counters = self.counters.borrow_mut();
        counters.merchant += 1;
        counters.merchant % MERCHANTS
    }

    fn fresh(&self) -> usize {
        let mut counters = self.counters.borrow_mut();
        counters.fresh += 1;
        counters.fresh
    }
}

pub(crate) async fn ask(
    connection: &mut Connection,
    method: Method,
    path: &str,
    body: &Value,
) -> Result<Value, Undone> {
    let (status, answer) = connection.ask(method, path, body.to_string().into()).await;
    if status == StatusCode::SERVICE_UNAVAILABLE {
        return Err(Undone::Refused);
    }
    assert!(status.is_success(), "{path}: {status} {}", String::from_utf8_lossy(&answer));
    Ok(serde_json::from_slice(&answer).unwrap())
}
