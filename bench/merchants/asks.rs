//! What is asked for, each time of another merchant.

use std::time::Instant;

use bench_kit::connection::Connection;
use rand::RngExt as _;
use rand::rngs::StdRng;
use serde_json::Value;
use tests::authority::Authority;
use tests::merchant::{checkout_body, payment_body, report_body, text};

use crate::fill::Shop;

/// One kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    EventsPage,
    OrdersPage,
    Order,
    Checkout,
    PaidOrder,
}

impl Ask {
    pub(crate) const ALL: [Self; 5] =
        [Self::EventsPage, Self::OrdersPage, Self::Order, Self::Checkout, Self::PaidOrder];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::EventsPage => "a page of events",
            Self::OrdersPage => "a page of orders",
            Self::Order => "an order",
            Self::Checkout => "a checkout",
            Self::PaidOrder => "a paid order, three requests",
        }
    }

    /// How often in a round.
    pub(crate) fn times(self) -> usize {
        match self {
            Self::EventsPage | Self::OrdersPage | Self::Order => 200,
            Self::Checkout => 100,
            Self::PaidOrder => 50,
        }
    }
}

/// Connections to one authority, one for each root.
pub(crate) struct Client<'d> {
    merchant: Connection,
    operator: Connection,
    dice: &'d mut StdRng,
}

impl<'d> Client<'d> {
    pub(crate) async fn open(authority: &Authority, dice: &'d mut StdRng) -> Self {
        Self {
            merchant: Connection::open(&authority.merchant_address(), None).await,
            operator: Connection::open(&authority.operator_address(), Some(authority.operator_key())).await,
            dice,
        }
    }

    /// Asks once; how long it took, in ms.
    pub(crate) async fn ask(&mut self, ask: Ask, shop: &Shop) -> f64 {
        let number = self.dice.random_range(1..=shop.merchants);
        let begun = Instant::now();
        match ask {
            Ask::EventsPage => self.read(number, "/v1/merchant/events?limit=100").await,
            Ask::OrdersPage => self.read(number, "/v1/merchant/orders?limit=100").await,
            Ask::Order => self.read(number, &format!("/v1/merchant/orders/{}", shop.order)).await,
            Ask::Checkout => drop(self.checkout(shop, number).await),
            Ask::PaidOrder => self.paid_order(shop, number).await,
        }
        begun.elapsed().as_secs_f64() * 1e3
    }

    async fn read(&mut self, number: u64, path: &str) {
        self.merchant.become_bearer_of(Shop::key(number).expose());
        self.merchant.get(path).await;
    }

    async fn checkout(&mut self, shop: &Shop, number: u64) -> Value {
        self.write(&platform(shop, number, "checkouts"), &checkout_body()).await
    }

    async fn paid_order(&mut self, shop: &Shop, number: u64) {
        let checkout = self.checkout(shop, number).await;
        let start = payment_body(&checkout, "automatic", &format!("start:{}", text(&checkout, "id")));
        let payment = text(&self.write(&platform(shop, number, "payments"), &start).await, "id");
        let report = report_body("succeeded", &format!("succeeded:{payment}"));
        self.write(&format!("/v1/operator/payments/{payment}/reports"), &report).await;
    }

    async fn write(&mut self, path: &str, body: &Value) -> Value {
        serde_json::from_slice(&self.operator.post(path, body.to_string()).await).unwrap()
    }
}

fn platform(shop: &Shop, number: u64, collection: &str) -> String {
    format!("/v1/operator/merchants/{}/test/{collection}", shop.merchant(number))
}
