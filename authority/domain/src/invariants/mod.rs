//! The audit: checks whether the stored data obeys the rules (contract 3.11).
//!
//! The code that reads the database passes its contents to the checks of this module, piece by piece: the events of
//! a stream in their order ([`StreamCheck`], [`check_fan_out`]), all events of one record with the record itself
//! ([`History`], [`check_record`]), the copies that a partner got by a share ([`check_share`]), and an order with
//! everything that belongs to it ([`check_order`]). Each returns [`Finding`]s; a sound database has none. A check
//! holds only the piece it is given, so that a database of any size can be audited in the same memory.
//!
//! Deliberately absent: repair. `docs/operations.md` says what each finding means and what to do.

mod history;
mod order;
mod record;
mod record_kind;
mod share;
mod stored_event;
mod stream;

pub use history::{History, RecordFromEvents};
pub use order::{OrderFacts, OrderLineRow, ReferenceRow, check_order, check_payment_without_order};
pub use share::{ShareFromEvents, StoredShare, check_share};
pub use stored_event::StoredEvent;
pub use stream::{EventDelivery, EventHead, StreamCheck, StreamCounter, Subscription, check_fan_out};

use serde::Serialize;

use crate::text_enum::text_enum;

text_enum! {
    /// What is wrong, one code for each thing that can be; closed.
    FindingCode {
        /// I1: the currency of a record changed, or differs among an order, its payments and refunds.
        CurrencyDiffers = "currency_differs",
        /// I2: more is given back, or asked back, than was captured.
        RefundsExceedCaptured = "refunds_exceed_captured",
        /// I2: a payment's `amount_refunded` is not the sum of its completed refunds, or its `amount_refund_pending`
        /// not that of its open ones.
        RefundedSumDiffers = "refunded_sum_differs",
        /// I3: not `refunded ≤ captured ≤ authorized ≤ amount`.
        PaymentAmountsOutOfOrder = "payment_amounts_out_of_order",
        /// I4: an order's sums do not add up.
        AmountsDoNotAddUp = "amounts_do_not_add_up",
        /// I5: not `delivered ≤ shipped ≤ fulfilled ≤ quantity` on a line.
        LineQuantitiesOutOfOrder = "line_quantities_out_of_order",
        /// I5: parcels hold more of a line than it counts as shipped.
        ParcelsExceedShipped = "parcels_exceed_shipped",
        /// I5: a line counts more or less as fulfilled than was set or is shipped.
        FulfilledQuantityDiffers = "fulfilled_quantity_differs",
        /// I6: the payment status is not the one that follows from the payments.
        PaymentStatusDiffers = "payment_status_differs",
        /// I6: the payment summary is not the one that follows from payments and refunds.
        PaymentSummaryDiffers = "payment_summary_differs",
        /// I6: the fulfilment status is not the one that follows from the lines.
        FulfillmentStatusDiffers = "fulfillment_status_differs",
        /// I7: a record's events do not count its versions 1, 2, 3.
        VersionGap = "version_gap",
        /// I7: the stored version is not that of the last event.
        RecordVersionDiffers = "record_version_differs",
        /// I8: a sequence is missing in a stream.
        SequenceGap = "sequence_gap",
        /// I8: `created_at` decreases along a stream.
        CreatedAtDecreases = "created_at_decreases",
        /// I8: the stream's counter is not at its last event.
        StreamCounterDiffers = "stream_counter_differs",
        /// I9: the database does not keep events from being changed.
        EventGuardMissing = "event_guard_missing",
        /// I9: an event's row, envelope and record contradict each other.
        EventInconsistent = "event_inconsistent",
        /// I10: a record that no event tells of.
        RecordWithoutEvent = "record_without_event",
        /// I10: events of a record that is not there.
        EventWithoutRecord = "event_without_record",
        /// I10: a record is not what its last event says.
        RecordDiffers = "record_differs",
        /// I10: a column is not what the record says.
        ColumnsDiffer = "columns_differ",
        /// I10: a stored record cannot be read.
        RecordUnreadable = "record_unreadable",
        /// I10: a partner did not hear of something that an active share lets it hear of.
        PartnerCopyMissing = "partner_copy_missing",
        /// I10: a partner heard of something after its share ended, or that is not for partners.
        PartnerCopyUnexpected = "partner_copy_unexpected",
        /// I10: a share is not what its events, its connection or its owner's stream say.
        OrderShareDiffers = "order_share_differs",
        /// I12: an endpoint was to get an event, and there is no delivery.
        DeliveryMissing = "delivery_missing",
        /// I12: a delivery that should not be.
        DeliveryUnexpected = "delivery_unexpected",
        /// I14: a record left a state that nothing leaves.
        TerminalStateLeft = "terminal_state_left",
        /// I14: a payment is late without captured money or for an order that goes on, or is no longer late.
        LatePaymentDiffers = "late_payment_differs",
    }
}

impl FindingCode {
    /// The invariant of contract 3.11 that does not hold.
    #[must_use]
    pub fn invariant(self) -> &'static str {
        match self {
            Self::CurrencyDiffers => "I1",
            Self::RefundsExceedCaptured | Self::RefundedSumDiffers => "I2",
            Self::PaymentAmountsOutOfOrder => "I3",
            Self::AmountsDoNotAddUp => "I4",
            Self::LineQuantitiesOutOfOrder | Self::ParcelsExceedShipped | Self::FulfilledQuantityDiffers => {
                "I5"
            }
            Self::PaymentStatusDiffers | Self::PaymentSummaryDiffers | Self::FulfillmentStatusDiffers => "I6",
            Self::VersionGap | Self::RecordVersionDiffers => "I7",
            Self::SequenceGap | Self::CreatedAtDecreases | Self::StreamCounterDiffers => "I8",
            Self::EventGuardMissing | Self::EventInconsistent => "I9",
            Self::RecordWithoutEvent
            | Self::EventWithoutRecord
            | Self::RecordDiffers
            | Self::ColumnsDiffer
            | Self::RecordUnreadable
            | Self::PartnerCopyMissing
            | Self::PartnerCopyUnexpected
            | Self::OrderShareDiffers => "I10",
            Self::DeliveryMissing | Self::DeliveryUnexpected => "I12",
            Self::TerminalStateLeft | Self::LatePaymentDiffers => "I14",
        }
    }
}

/// One thing that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What.
    pub code: FindingCode,
    /// Where: the id of a record, an event or an endpoint, or an order number.
    pub record: String,
    /// For people: what was found and what was expected. Holds no personal data and no secret.
    pub detail: String,
}

impl Finding {
    /// A finding about `record`.
    pub fn new(code: FindingCode, record: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { code, record: record.into(), detail: detail.into() }
    }
}
pub use record::{StoredRecord, check_record};
pub use record_kind::RecordKind;
