//! The JSON Schema of every body, by the name that an operation gives it: what its reader reads
//! ([`crate::body::Members`]), and those few rules between members that a schema can express.

use serde_json::{Map, Value, json};
use verify_core::catalog::API_VERSION;

use crate::body::{Loopback, read_optional_reason, read_reason, shape};
use crate::checkout::CheckoutRequest;
use crate::delivery::ReplayRequest;
use crate::endpoint::url::{UrlPolicy, UrlRules};
use crate::endpoint::{
    EndpointRequest, EndpointTestRequest, RotationRequest, read_endpoint_limits, read_endpoint_patch,
};
use crate::id::{MerchantId, PaymentId};
use crate::merchant::limits::Limits;
use crate::merchant::portal_session::PortalSessionRequest;
use crate::merchant::{
    ApiKeyRequest, ApiKeyRotation, Merchant, MerchantRequest, MerchantStatus, Settings, read_merchant_change,
};
use crate::order::{FulfillmentUpdate, OrderCancelRequest, OrderRequest, no_members, order_edit};
use crate::partner::{AcceptRequest, ShareRequest, read_label, read_share_terms};
use crate::payment::{PaymentReportRequest, PaymentRequest};
use crate::recovery::RecoveryRequest;
use crate::refund::{NewRefund, RefundReportRequest};
use crate::sandbox::advances::{PaymentAdvance, RefundAdvance, ShipmentAdvance, SubscriptionAdvance};
use crate::sandbox::clock::ClockRequest;
use crate::sandbox::requests::{OrderPaid, PayRequest, SeedRequest};
use crate::shipment::{NewShipment, ShipmentReport};
use crate::subscription::{SubscriptionReportRequest, SubscriptionRequest};
use crate::sync::{CheckpointRequest, read_reference};
use crate::time::Timestamp;

/// What a body has in common with the record it is about: the members of the same name mean the same.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The name.
    pub name: &'static str,
    /// The definition of the record, for what members mean; empty where there is none.
    pub record: &'static str,
    /// The schema.
    pub schema: Value,
}

/// Every body.
#[must_use]
pub fn shapes() -> Vec<Shape> {
    let mut shapes = of_merchants();
    shapes.extend(of_the_operator());
    shapes.extend(of_the_sandbox());
    shapes
}

/// The reader runs only to name its members, so its result is ignored.
macro_rules! shape {
    ($name:literal, $record:literal, $read:expr) => {
        Shape {
            name: $name,
            record: $record,
            schema: shape::of(|| {
                let _ = $read;
            }),
        }
    };
}

fn of_merchants() -> Vec<Shape> {
    let (body, now) = (nothing(), Timestamp::from_ms(0));
    let rules = UrlRules::new(UrlPolicy::Public);
    vec![
        with(shape!("FulfillmentRequest", "Order", FulfillmentUpdate::read(&body)), one_at_least),
        shape!("ShipmentRequest", "Shipment", NewShipment::read(&body, now)),
        shape!("RefundRequest", "Refund", NewRefund::read(&body)),
        shape!("ReplayRequest", "", ReplayRequest::read(&body)),
        shape!("EndpointRequest", "WebhookEndpoint", EndpointRequest::read(&body, &rules, false)),
        shape!("EndpointPatch", "WebhookEndpoint", read_endpoint_patch(&body, &rules, false)),
        shape!("EndpointTestRequest", "", EndpointTestRequest::read(&body)),
        shape!("RotationRequest", "", RotationRequest::read(&body)),
        shape!("RecoveryRequest", "EndpointRecovery", RecoveryRequest::read(&body)),
        shape!("CheckpointRequest", "Checkpoint", CheckpointRequest::read(&body)),
        shape!("ExternalReferenceRequest", "ExternalReference", read_reference(&body)),
        shape!("ConnectionRequest", "PartnerConnection", read_label(&body)),
        shape!("AcceptRequest", "PartnerConnection", AcceptRequest::read(&body)),
        shape!("ShareRequest", "OrderShare", ShareRequest::read(&body)),
        shape!("ShareTerms", "OrderShare", read_share_terms(&body)),
        shape!("NoMembers", "", no_members(&body)),
    ]
}

fn of_the_operator() -> Vec<Shape> {
    let (body, now) = (nothing(), Timestamp::from_ms(0));
    let nobody = PaymentId::from_store(String::new());
    vec![
        shape!("MerchantRequest", "Merchant", MerchantRequest::read(&body)),
        shape!("MerchantPatch", "Merchant", read_merchant_change(&body, &some_merchant())),
        shape!("EndpointLimits", "WebhookEndpoint", read_endpoint_limits(&body)),
        shape!("ApiKeyRequest", "ApiKey", ApiKeyRequest::read(&body, now)),
        shape!("ApiKeyRotationRequest", "ApiKey", ApiKeyRotation::read(&body, now)),
        shape!("PortalSessionRequest", "PortalSession", PortalSessionRequest::read(&body, Loopback::Allowed)),
        shape!("ReasonRequest", "", read_reason(&body)),
        shape!("OptionalReasonRequest", "", read_optional_reason(&body)),
        shape!("CheckoutRequest", "Checkout", CheckoutRequest::read(&body)),
        shape!("OrderRequest", "Order", OrderRequest::read(&body, now)),
        with(shape!("OrderPatch", "Order", order_edit(&body)), merge_patch),
        shape!("OrderCancelRequest", "", OrderCancelRequest::read(&body)),
        with(shape!("PaymentRequest", "Payment", PaymentRequest::read(&body)), one_target),
        shape!("PaymentReportRequest", "Payment", PaymentReportRequest::read(&body, now)),
        shape!("PaymentRefundRequest", "Refund", NewRefund::read_of_payment(&body, &nobody)),
        shape!("RefundReportRequest", "Refund", RefundReportRequest::read(&body)),
        shape!("SubscriptionRequest", "Subscription", SubscriptionRequest::read(&body, now)),
        with(
            shape!("SubscriptionReportRequest", "Subscription", SubscriptionReportRequest::read(&body, now)),
            renew_or_say_how,
        ),
        with(shape!("ShipmentReportRequest", "Shipment", ShipmentReport::read(&body, now)), one_at_least),
    ]
}

fn of_the_sandbox() -> Vec<Shape> {
    let (body, now) = (nothing(), Timestamp::from_ms(0));
    vec![
        shape!("PayRequest", "Payment", PayRequest::read(&body)),
        shape!("PaymentAdvance", "Payment", PaymentAdvance::read(&body)),
        shape!("RefundAdvance", "Refund", RefundAdvance::read(&body)),
        shape!("ShipmentAdvance", "Shipment", ShipmentAdvance::read(&body)),
        with(shape!("SubscriptionAdvance", "Subscription", SubscriptionAdvance::read(&body)), to_or_renew),
        shape!("SeedRequest", "", SeedRequest::read(&body)),
        shape!("ClockRequest", "", ClockRequest::read(&body)),
        with(shape!("SandboxOrderRequest", "Order", OrderRequest::read(&body, now)), with_pay),
    ]
}

fn nothing() -> Value {
    Value::Object(Map::new())
}

fn some_merchant() -> Merchant {
    Merchant {
        id: MerchantId::from_store(String::new()),
        slug: String::new(),
        name: String::new(),
        status: MerchantStatus::Active,
        default_currency: String::new(),
        api_version: API_VERSION.to_owned(),
        settings: Settings::default(),
        limits: Limits::default(),
        resource_version: 1,
        created_at: Timestamp::from_ms(0),
        updated_at: Timestamp::from_ms(0),
    }
}

fn with(mut shape: Shape, rule: fn(&mut Value)) -> Shape {
    rule(&mut shape.schema);
    shape
}

fn set(schema: &mut Value, keyword: &str, value: Value) {
    if let Some(keywords) = schema.as_object_mut() {
        keywords.insert(keyword.to_owned(), value);
    }
}

fn one_at_least(schema: &mut Value) {
    set(schema, "minProperties", json!(1));
}

fn one_target(schema: &mut Value) {
    let targets = ["checkout_id", "order_number", "subscription_id"];
    set(schema, "oneOf", targets.iter().map(|name| json!({ "required": [name] })).collect());
}

fn renew_or_say_how(schema: &mut Value) {
    if let Some(renew) = schema.pointer_mut("/properties/renew") {
        *renew = json!({ "anyOf": [{ "type": "boolean" }, renew.take()] });
    }
    set(schema, "minProperties", json!(1));
}

fn to_or_renew(schema: &mut Value) {
    // Each excludes the others, so at most one may be present. Linters want the property of a `not` to be declared.
    let has = |member: &str| json!({ "required": [member], "properties": { member: {} } });
    let either = json!([
        { "required": ["to"], "properties": { "to": {} }, "not": has("renew") },
        { "required": ["renew"], "not": has("to"), "properties": { "renew": { "const": true } } },
    ]);
    set(schema, "anyOf", either);
}

fn with_pay(schema: &mut Value) {
    let values: Vec<&str> = OrderPaid::ALL.iter().map(|paid| paid.as_str()).collect();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("pay".to_owned(), json!({ "type": "string", "enum": values }));
    }
}

/// RFC 7396: an absent member stays as it is, null clears it. So no member is required, at any depth, and every
/// member may be null.
fn merge_patch(schema: &mut Value) {
    let Some(keywords) = schema.as_object_mut() else { return };
    keywords.remove("required");
    for member in keywords.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten() {
        if let Some(kind) = member.1.get("type").cloned().filter(Value::is_string) {
            set(member.1, "type", json!([kind, "null"]));
        }
        merge_patch(member.1);
    }
    if let Some(kind) = keywords.get_mut("additionalProperties").and_then(|values| values.get_mut("type")) {
        *kind = json!(["string", "null"]);
    }
}
