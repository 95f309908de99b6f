//! What an order can be, where it comes from, and why it ends (contract 2.2, 3.1).

use crate::text_enum::text_enum;

text_enum! {
    /// Where an order stands.
    OrderStatus {
        /// Exists, not yet to be acted on.
        Pending = "pending",
        /// To be fulfilled.
        Confirmed = "confirmed",
        /// Delivered and paid.
        Completed = "completed",
        /// Ended without completion.
        Cancelled = "cancelled",
    }
}

text_enum! {
    /// What made the order.
    OrderSource {
        /// A completed checkout.
        Checkout = "checkout",
        /// A subscription's period.
        Subscription = "subscription",
        /// A point of sale.
        Pos = "pos",
        /// An import.
        Import = "import",
        /// The operator API.
        Api = "api",
    }
}

text_enum! {
    /// Why an order was cancelled.
    CancelReason as "OrderCancelReason" {
        /// The customer asked.
        CustomerRequest = "customer_request",
        /// It was not paid.
        PaymentFailed = "payment_failed",
        /// Fraud.
        Fraud = "fraud",
        /// Not in stock.
        OutOfStock = "out_of_stock",
        /// Placed twice.
        Duplicate = "duplicate",
        /// Not paid in time.
        Expired = "expired",
        /// Any other.
        Other = "other",
    }
}

text_enum! {
    /// When an order confirms by itself (merchant setting).
    ConfirmOn {
        /// When it is paid.
        Paid = "paid",
        /// Already when it is authorized.
        Authorized = "authorized",
    }
}
