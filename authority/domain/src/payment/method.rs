//! How a payment is made and by whom it is moved: the parts of a payment that never change (contract 2.3).

use serde::{Deserialize, Serialize};

use crate::text_enum::text_enum;

text_enum! {
    /// Whether an authorization is captured by itself.
    CaptureMethod {
        /// Authorization and capture are one step.
        Automatic = "automatic",
        /// The platform captures later.
        Manual = "manual",
    }
}

text_enum! {
    /// Means of payment.
    MethodType as "PaymentMethodType" {
        /// Card.
        Card = "card",
        /// Bank transfer.
        BankTransfer = "bank_transfer",
        /// Wallet.
        Wallet = "wallet",
        /// Cash.
        Cash = "cash",
        /// Voucher.
        Voucher = "voucher",
        /// Any other.
        Other = "other",
    }
}

/// Means of payment as shown to the merchant; no other card data is ever accepted (contract 2.3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(rename = "PaymentMethod", transform = crate::schema::members!("last4": Text(4)))
)]
pub struct Method {
    /// Kind.
    #[serde(rename = "type")]
    pub kind: MethodType,
    /// Card brand or bank.
    pub brand: Option<String>,
    /// Last four digits.
    pub last4: Option<String>,
}

/// Who moves the money.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PaymentProcessor"))]
pub struct Processor {
    /// The processor's name; with a report's event id it identifies the report for ever.
    pub name: String,
    /// The processor's own id of the payment, opaque.
    pub reference: Option<String>,
}
