//! A model of who may see what, told apart from the service: it knows what was asked for, reads the owners' own
//! streams and records, and says what each partner has to have heard and to find. The view is a list of names, not of
//! Rust members.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tests::{Api, Authority, Merchant, partners, rows, sequences, text};

/// What a partner sees of an order whatever the share says (contract 2.14).
const ORDER: [&str; 19] = [
    "object",
    "order_number",
    "status",
    "payment_status",
    "fulfillment_status",
    "currency",
    "customer",
    "shipping_address",
    "placed_at",
    "confirmed_at",
    "fulfilled_at",
    "shipped_at",
    "delivered_at",
    "completed_at",
    "cancelled_at",
    "resource_version",
    "livemode",
    "created_at",
    "updated_at",
];
const LINE: [&str; 7] =
    ["id", "sku", "name", "quantity", "fulfilled_quantity", "shipped_quantity", "delivered_quantity"];
const LINE_AMOUNTS: [&str; 5] =
    ["unit_amount", "subtotal_amount", "discount_amount", "tax_amount", "total_amount"];
/// The events that partners get copies of, by the second half of their names.
const HEARD: [&str; 11] = [
    "order.shared",
    "order.confirmed",
    "order.updated",
    "order.cancelled",
    "order.fulfilled",
    "order.shipped",
    "order.delivered",
    "shipment.created",
    "shipment.updated",
    "shipment.delivered",
    "order.share_revoked",
];

/// One share that was made.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) id: String,
    pub(crate) owner: usize,
    pub(crate) partner: usize,
    pub(crate) order: String,
    pub(crate) connection: String,
    pub(crate) customer: bool,
    pub(crate) amounts: bool,
    pub(crate) active: bool,
}

/// Merchants, what they have agreed on, and what each must have heard as a partner.
pub(crate) struct World {
    pub(crate) merchants: Vec<Merchant>,
    pub(crate) sandboxes: Vec<Api>,
    pub(crate) orders: Vec<(usize, String)>,
    /// By the two, the smaller index first.
    pub(crate) connections: BTreeMap<(usize, usize), String>,
    pub(crate) shares: Vec<Shared>,
    parcels: BTreeMap<String, Vec<Value>>,
    /// Type, version and object of every copy, in order.
    heard: Vec<Vec<(String, Value, Value)>>,
    /// How much of each stream was read.
    read: Vec<usize>,
}

/// Only these members.
fn only(record: &Value, names: &[&str]) -> Map<String, Value> {
    let record = record.as_object().unwrap();
    names.iter().map(|name| ((*name).to_owned(), record[*name].clone())).collect()
}

/// What the partner of a share may see of an order.
fn view(order: &Value, parcels: &[Value], shared: &Shared) -> Value {
    let mut seen = only(order, &ORDER);
    let lines = order["line_items"].as_array().unwrap().iter().map(|line| {
        let mut shown = only(line, &LINE);
        if shared.amounts {
            shown.append(&mut only(line, &LINE_AMOUNTS));
        }
        Value::Object(shown)
    });
    seen.insert("line_items".to_owned(), lines.collect());
    if shared.amounts {
        seen.insert("amounts".to_owned(), order["amounts"].clone());
    }
    if let Some(customer) = seen.get_mut("customer").filter(|customer| !customer.is_null()) {
        let hide = |name: &str| if shared.customer { customer[name].clone() } else { Value::Null };
        *customer = json!({ "name": customer["name"], "email": hide("email"), "phone": hide("phone") });
    }
    if let Some(address) = seen.get_mut("shipping_address").and_then(Value::as_object_mut)
        && !shared.customer
    {
        address.insert("phone".to_owned(), Value::Null);
    }
    let billing = if shared.customer { order["billing_address"].clone() } else { Value::Null };
    seen.insert("billing_address".to_owned(), billing);
    seen.insert("shipments".to_owned(), parcels.iter().map(without_metadata).collect());
    Value::Object(seen)
}

fn without_metadata(parcel: &Value) -> Value {
    let mut parcel = parcel.clone();
    parcel.as_object_mut().unwrap().remove("metadata");
    parcel
}

impl World {
    pub(crate) async fn new(authority: &Authority, count: usize) -> Self {
        let mut merchants = Vec::new();
        for n in 0..count {
            merchants.push(Merchant::create(authority, &format!("merchant-{n}")).await);
        }
        Self {
            sandboxes: merchants.iter().map(|merchant| authority.sandbox(&merchant.key)).collect(),
            orders: Vec::new(),
            connections: BTreeMap::new(),
            shares: Vec::new(),
            parcels: BTreeMap::new(),
            heard: vec![Vec::new(); count],
            read: vec![0; count],
            merchants,
        }
    }

    /// A paid order with everything that partners may and may not see.
    pub(crate) async fn order(&mut self, owner: usize) {
        let address = |line1: &str| json!({ "name": "Ada", "line1": line1, "city": "Leeds", "country": "GB", "phone": "+44 1" });
        let body = json!({
            "currency": "USD", "pay": "paid",
            "line_items": [
                { "sku": "T-1", "name": "T-shirt", "quantity": 3, "unit_amount": 2_400, "metadata": { "cost": "7" } },
                { "name": "Sticker", "quantity": 2, "unit_amount": 100 },
            ],
            "customer": { "reference": "c-7", "email": "ada@example.com", "name": "Ada", "phone": "+44 2" },
            "billing_address": address("1 Bank St"), "shipping_address": address("1 Main St"),
            "metadata": { "margin": "high" },
        });
        let made = self.sandboxes[owner].post("/orders", &body).await.expect(201);
        self.orders.push((owner, text(&made, "order_number")));
        self.take_notice().await;
    }

    pub(crate) async fn connect(&mut self, one: usize, other: usize) {
        let id = partners::connect(&self.merchants[one], &self.merchants[other]).await;
        self.connections.insert((one.min(other), one.max(other)), id);
    }

    pub(crate) async fn share(&mut self, order: usize, partner: usize, customer: bool, amounts: bool) {
        let (owner, order) = self.orders[order].clone();
        let Some(connection) = self.connections.get(&(owner.min(partner), owner.max(partner))).cloned()
        else {
            return;
        };
        let body =
            json!({ "connection_id": connection, "include_customer": customer, "include_amounts": amounts });
        let reply = self.merchants[owner].api.post(&format!("/orders/{order}/shares"), &body).await;
        let there =
            |shared: &&Shared| shared.active && shared.order == order && shared.connection == connection;
        if self.shares.iter().filter(|shared| shared.owner == owner).any(|shared| there(&shared)) {
            reply.refused(409, "share_exists");
            return;
        }
        let id = text(&reply.expect(201), "id");
        let active = true;
        self.shares.push(Shared { id, owner, partner, order, connection, customer, amounts, active });
        self.take_notice().await;
    }

    pub(crate) async fn unshare(&mut self, index: usize) {
        let Shared { id, owner, .. } = self.shares[index].clone();
        partners::unshare(&self.merchants[owner], &id).await;
        self.take_notice().await;
        self.shares[index].active = false;
    }

    pub(crate) async fn disconnect(&mut self, pair: (usize, usize), by: usize) {
        let Some(id) = self.connections.remove(&pair) else { return };
        partners::disconnect(&self.merchants[by], &id).await;
        self.take_notice().await;
        for shared in self.shares.iter_mut().filter(|shared| shared.connection == id) {
            shared.active = false;
        }
    }

    /// Reads what is new in every merchant's own events, and says who must have heard of it.
    pub(crate) async fn take_notice(&mut self) {
        for owner in 0..self.merchants.len() {
            let merchant = self.merchants[owner].clone();
            let events = merchant.events().await;
            let new = events[self.read[owner]..].to_vec();
            self.read[owner] = events.len();
            for event in new.iter().filter(|event| event["merchant"]["id"] == merchant.id.as_str()) {
                self.tell(owner, event);
            }
        }
    }

    fn tell(&mut self, owner: usize, event: &Value) {
        let (name, object) = (text(event, "type"), &event["data"]["object"]);
        if name.starts_with("shipment.") {
            let parcels =
                self.parcels.entry(format!("{owner}/{}", text(object, "order_number"))).or_default();
            match parcels.iter_mut().find(|parcel| parcel["id"] == object["id"]) {
                Some(parcel) => *parcel = object.clone(),
                None => parcels.push(object.clone()),
            }
        }
        if !HEARD.contains(&name.as_str()) {
            return;
        }
        let number = text(object, "order_number");
        let parcels = self.parcels.get(&format!("{owner}/{number}")).cloned().unwrap_or_default();
        let named = event["data"]["share"]["id"].as_str();
        for shared in self.shares.iter().filter(|shared| shared.owner == owner && shared.active) {
            let hears = named.map_or(shared.order == number, |id| shared.id == id);
            if hears {
                let shown = match name.starts_with("shipment.") {
                    true => without_metadata(object),
                    false => view(object, &parcels, shared),
                };
                self.heard[shared.partner].push((name.clone(), event["resource_version"].clone(), shown));
            }
        }
    }

    /// Compares everything that every merchant can see with what it may see.
    pub(crate) async fn compare(&self) {
        for (index, merchant) in self.merchants.iter().enumerate() {
            let events = merchant.events().await;
            assert_eq!(sequences(&events), Vec::from_iter(1..=events.len() as u64));
            let copies = events.iter().filter(|event| event["merchant"]["id"] != merchant.id.as_str());
            let copies: Vec<_> = copies
                .map(|event| {
                    assert_eq!(event["recipient"]["merchant"]["id"], merchant.id.as_str());
                    (text(event, "type"), event["resource_version"].clone(), event["data"]["object"].clone())
                })
                .collect();
            assert_eq!(copies, self.heard[index], "what merchant {index} heard");
            let page = merchant.api.get("/partner-orders?limit=100").await.expect(200);
            let listed: Vec<_> = rows(&page).iter().map(|seen| text(&seen["share"], "id")).collect();
            let mine = self.shares.iter().rev().filter(|shared| shared.partner == index && shared.active);
            assert_eq!(listed, mine.map(|shared| shared.id.clone()).collect::<Vec<_>>());
            for shared in &self.shares {
                let reply = merchant.api.get(&partners::seen(&shared.id)).await;
                if shared.partner != index || !shared.active {
                    reply.refused(404, "not_found");
                    continue;
                }
                let seen = reply.expect(200);
                let order = self.merchants[shared.owner].order(&shared.order).await;
                let parcels = self.parcels.get(&format!("{}/{}", shared.owner, shared.order));
                assert_eq!(seen["order"], view(&order, parcels.map_or(&[], Vec::as_slice), shared));
                let found = rows(&page).iter().find(|one| one["share"]["id"] == *shared.id);
                assert_eq!(found, Some(&seen));
            }
        }
    }
}
