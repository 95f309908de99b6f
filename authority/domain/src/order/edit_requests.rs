//! Bodies that change an order that exists: editing and cancelling it (contract 6.2).

use serde_json::{Map, Value, json};

use crate::body;
use crate::body::shared_members::{address, customer};
use crate::order::{CancelReason, Order};
use crate::parts::{Address, Customer, Metadata};
use crate::refusal::Result;

/// What an edit, a JSON merge patch (RFC 7396), leaves the order with; already merged and checked.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct OrderEdit {
    pub customer: Option<Customer>,
    pub billing_address: Option<Address>,
    pub shipping_address: Option<Address>,
    pub metadata: Metadata,
}

impl OrderEdit {
    /// Reads the body against the order that it edits: what is absent stays, also inside a customer or an address, and
    /// null clears what an order may be without. Metadata it always has, so null is no value of it.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value, order: &Order) -> Result<Self> {
        let mut merged = json!({
            "customer": order.customer,
            "billing_address": order.billing_address,
            "shipping_address": order.shipping_address,
            "metadata": order.metadata,
        });
        // What the record shows as null is what a patch leaves out.
        for part in
            merged.as_object_mut().into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut)
        {
            part.retain(|_, value| !value.is_null());
        }
        if body.is_object() {
            merge(&mut merged, body);
        } else {
            merged = body.clone();
        }
        order_edit(&merged)
    }
}

/// What is left of an order when what can be edited is taken out of it and merged with what a request says of it.
pub(crate) fn order_edit(merged: &Value) -> Result<OrderEdit> {
    body::read(merged, |m| {
        m.not_writable(
            "order_number status payment_status fulfillment_status currency amounts payment_summary \
                line_items external_references checkout_id subscription_id payment_ids source \
                fulfillment_note cancel_reason placed_at confirmed_at fulfilled_at shipped_at \
                delivered_at completed_at cancelled_at resource_version livemode created_at updated_at \
                object",
        );
        OrderEdit {
            customer: m.object("customer", customer).or_null().flatten(),
            billing_address: m.object("billing_address", address).or_null().flatten(),
            shipping_address: m.object("shipping_address", address).or_null().flatten(),
            metadata: m.metadata("metadata").or(Metadata::new()),
        }
    })
}

/// RFC 7396, but for one thing: at the top, a null stays, so that a member that cannot be written is still seen.
fn merge(target: &mut Value, patch: &Value) {
    let (Value::Object(target), Value::Object(patch)) = (target, patch) else { return };
    for (name, value) in patch {
        merge_member(target, name, value);
    }
}

fn merge_member(target: &mut Map<String, Value>, name: &str, value: &Value) {
    let Value::Object(inner) = value else {
        target.insert(name.to_owned(), value.clone());
        return;
    };
    let slot = target.entry(name.to_owned()).or_insert(Value::Null);
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    let Value::Object(slot) = slot else { return };
    for (name, value) in inner {
        if value.is_null() {
            slot.remove(name);
        } else {
            slot.insert(name.clone(), value.clone());
        }
    }
}

/// `POST …/orders/:order/cancel`.
#[derive(Clone, Copy, Debug)]
pub struct OrderCancelRequest {
    /// Why.
    pub reason: CancelReason,
}

impl OrderCancelRequest {
    /// Reads the body; an empty one gives no particular reason.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self> {
        body::read(body, |m| Self { reason: m.one_of("reason").or(CancelReason::Other) })
    }
}

/// The body of an operation that takes none.
///
/// # Errors
/// 422 for every member.
pub fn no_members(body: &Value) -> Result<()> {
    body::read(body, |_| ())
}
