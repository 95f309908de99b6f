//! What a key may do: the scopes of the Merchant API (brief, "Authentication") and of the operator side
//! (contract 6.1).
//!
//! No scope implies another. Where an operation names several, any one of them suffices.

use crate::text_enum::text_enum;

text_enum! {
    /// A scope of a merchant key.
    Scope {
        /// Read orders and their shipments.
        OrdersRead = "orders:read",
        /// Change the fulfilment and external references of orders.
        OrdersWrite = "orders:write",
        /// Create shipments.
        ShipmentsWrite = "shipments:write",
        /// Read payments.
        PaymentsRead = "payments:read",
        /// Read refunds.
        RefundsRead = "refunds:read",
        /// Request refunds.
        RefundsWrite = "refunds:write",
        /// Read subscriptions.
        SubscriptionsRead = "subscriptions:read",
        /// Read the event history.
        EventsRead = "events:read",
        /// Manage webhook endpoints, replay and test deliveries.
        WebhooksManage = "webhooks:manage",
        /// Read incremental changes and checkpoints.
        SyncRead = "sync:read",
        /// Acknowledge checkpoints, set external references.
        SyncWrite = "sync:write",
        /// Read partner connections, shares and partner orders.
        PartnersRead = "partners:read",
        /// Connect with partners and share orders.
        PartnersWrite = "partners:write",
    }
}

text_enum! {
    /// A scope of an operator key.
    OperatorScope {
        /// Read everything on the operator side.
        OperatorRead = "operator:read",
        /// Write merchants, orders, checkouts, subscriptions.
        OperatorWrite = "operator:write",
        /// Report payments and refunds.
        ProcessorWrite = "processor:write",
        /// Report shipments.
        CarrierWrite = "carrier:write",
        /// Manage API keys, secrets and endpoints.
        KeysWrite = "keys:write",
    }
}

#[cfg(test)]
mod tests {
    use super::{OperatorScope, Scope};

    #[test]
    fn the_scopes_are_the_contract_s() {
        let merchant: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
        assert_eq!(
            merchant.join(", "),
            "orders:read, orders:write, shipments:write, payments:read, refunds:read, refunds:write, \
             subscriptions:read, events:read, webhooks:manage, sync:read, sync:write, partners:read, partners:write"
        );
        let operator: Vec<&str> = OperatorScope::ALL.iter().map(|scope| scope.as_str()).collect();
        assert_eq!(
            operator.join(", "),
            "operator:read, operator:write, processor:write, carrier:write, keys:write"
        );
    }

    #[test]
    fn parse_is_the_inverse_of_as_str_and_takes_nothing_else() {
        for scope in Scope::ALL {
            assert_eq!(Scope::parse(scope.as_str()), Some(*scope));
        }
        for text in ["", "orders", "Orders:read", "orders:read ", "operator:read"] {
            assert_eq!(Scope::parse(text), None, "{text:?}");
        }
    }
}
