//! The answers to reports about records: the record as it is now, and whether the report changed it.

use authority_domain::subscription::Subscription;
use authority_domain::{Payment, Refund, Shipment};
use serde::Serialize;

macro_rules! report_results {
    ($(
        $(#[doc = $doc:literal])* $name:ident = $schema:literal { $record:ident: $kind:ident = $now:literal }
    )*) => {$(
        $(#[doc = $doc])*
        #[derive(Serialize)]
        #[serde(tag = "object", rename = "report_result")]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = $schema))]
        pub(super) struct $name<'a> {
            /// Whether the report changed it.
            pub(super) applied: bool,
            #[doc = $now]
            pub(super) $record: &'a $kind,
        }
    )*};
}

report_results! {
    /// The result of a report: the payment as it is now, and whether this report changed it.
    PaymentReportResult = "PaymentReportResult" { payment: Payment = " The payment as it is now." }
    /// The result of a report: the refund as it is now, and whether this report changed it.
    RefundReportResult = "RefundReportResult" { refund: Refund = " The refund as it is now." }
    /// The result of a report: the shipment as it is now, and whether this report changed it.
    ShipmentReportResult = "ShipmentReportResult" { shipment: Shipment = " The shipment as it is now." }
    /// The result of a report: the subscription as it is now, and whether this report changed it.
    SubscriptionReportResult = "SubscriptionReportResult" {
        subscription: Subscription = " The subscription as it is now."
    }
}
