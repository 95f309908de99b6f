//! `PATCH /orders/:order/fulfillment` (contract 4.6).

use serde_json::{Map, Value};

use crate::body;
use crate::body::{Members, Text};
use crate::id::LineItemId;
use crate::order::fulfillment_status::FulfillmentStatus;
use crate::refusal::{MemberCode, Result};

/// What the merchant asks for, already read member by member; at least one of the three is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FulfillmentUpdate {
    /// One of [`TARGETS`].
    pub target: Option<FulfillmentStatus>,
    /// Absolute quantities; lines that are not named keep theirs.
    pub line_items: Option<Vec<LineTarget>>,
    /// `Some(None)` clears the note.
    pub note: Option<Option<String>>,
}

/// How much of a line is to be fulfilled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineTarget {
    /// A line of the order.
    pub id: LineItemId,
    /// From the line's shipped quantity to its quantity.
    pub fulfilled_quantity: i64,
}

/// What may be asked for; the partial results of shipping and delivering are never targets.
pub const TARGETS: [FulfillmentStatus; 5] = [
    FulfillmentStatus::Unfulfilled,
    FulfillmentStatus::PartiallyFulfilled,
    FulfillmentStatus::Fulfilled,
    FulfillmentStatus::Shipped,
    FulfillmentStatus::Delivered,
];

/// Members of the order's record that this operation does not write; a client that sends the record back is told so,
/// member by member (the visible form of "external applications must not overwrite canonical financial data").
const NOT_WRITABLE: &str = "\
    object order_number status payment_status currency amounts payment_summary customer billing_address \
    shipping_address external_references checkout_id subscription_id payment_ids source fulfillment_note \
    cancel_reason placed_at confirmed_at fulfilled_at shipped_at delivered_at completed_at cancelled_at \
    metadata resource_version livemode created_at updated_at";

/// The same of a line.
const LINE_NOT_WRITABLE: &str = "\
    sku name quantity unit_amount subtotal_amount discount_amount tax_amount total_amount \
    requires_shipping shipped_quantity delivered_quantity metadata";

impl FulfillmentUpdate {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self> {
        body::read(body, |m| {
            m.not_writable(NOT_WRITABLE);
            let update = FulfillmentUpdate {
                target: m.one_of_these("fulfillment_status", &TARGETS).optional(),
                line_items: m.array("line_items", 1..=100, line).optional(),
                note: m.string("note", Text::NOTE).or_null(),
            };
            if body.as_object().is_some_and(Map::is_empty) {
                let detail = "at least one of fulfillment_status, line_items and note is needed";
                m.refuse("", MemberCode::Required, detail);
            }
            update
        })
    }
}

fn line(m: &mut Members<'_>) -> LineTarget {
    m.not_writable(LINE_NOT_WRITABLE);
    LineTarget {
        // Any text may be given: what is no line of this order is refused with its pointer.
        id: m.string("id", Text::ID).map(LineItemId::from_store).required(),
        fulfilled_quantity: m.integer("fulfilled_quantity", 0..=100_000).required(),
    }
}
