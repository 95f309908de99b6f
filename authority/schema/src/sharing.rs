//! What events say of orders that are shared with partners (contract 2.10, 2.14).
//!
//! The two events are in the catalog and the authority does not issue them yet, so there is no struct to derive from:
//! what is agreed stands here as structs that nobody makes. Only what both sides' copies of an event have is promised.

use authority_domain::event::MerchantContext;
use authority_domain::fulfillment_status::FulfillmentStatus;
use authority_domain::order::OrderStatus;
use authority_domain::order_number::OrderNumber;
use authority_domain::payment_status::PaymentStatus;
use authority_domain::time::Timestamp;
use schemars::JsonSchema;

/// The other side of a shared workflow.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is agreed; the authority makes none yet")]
pub(crate) struct Recipient {
    /// What the other side is.
    #[schemars(rename = "type")]
    kind: RecipientType,
    /// In the partner's copy the reader itself, in the owner's copy the partner.
    merchant: MerchantContext,
    /// The partner connection, `pcn_…`.
    connection_id: String,
    /// The order share, `osh_…`.
    share_id: String,
    /// What the partner may do.
    permissions: Vec<SharePermission>,
}

/// What the other side of a shared workflow is.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "describes what is agreed; the authority makes none yet")]
enum RecipientType {
    Partner,
}

/// What a partner may do with a shared order.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "describes what is agreed; the authority makes none yet")]
enum SharePermission {
    Read,
    Fulfill,
}

/// Whether an order is shared.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "describes what is agreed; the authority makes none yet")]
enum ShareStatus {
    Active,
    Revoked,
}

/// An order that is shared with a partner, and how (contract 2.14).
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is agreed; the authority makes none yet")]
pub(crate) struct OrderShare {
    /// Identifies the share, `osh_…`.
    id: String,
    /// The partner connection, `pcn_…`.
    connection_id: String,
    /// The owner's number of the order.
    order_number: OrderNumber,
    /// Whose order it is.
    owner: MerchantContext,
    /// Who it is shared with.
    partner: MerchantContext,
    /// What the partner may do.
    permissions: Vec<SharePermission>,
    /// Whether the partner sees e-mail, telephone and billing address.
    include_customer: bool,
    /// Whether the partner sees the money of the order and its lines.
    include_amounts: bool,
    /// Whether the order is shared.
    status: ShareStatus,
    /// When it was last taken back.
    revoked_at: Option<Timestamp>,
}

/// A shared order: what the owner's copy and the partner's filtered copy of an event both have.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is agreed; the authority makes none yet")]
pub(crate) struct SharedOrder {
    /// The type of the record.
    object: String,
    /// The owner's number of the order.
    order_number: OrderNumber,
    /// Where the order stands.
    status: OrderStatus,
    /// Derived from the payments.
    payment_status: PaymentStatus,
    /// Derived from the quantities of the lines.
    fulfillment_status: FulfillmentStatus,
    /// The version of the order; sharing does not change it.
    resource_version: i64,
}
