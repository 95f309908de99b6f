//! Two merchants that share orders, by the operations of contract 4.14.

use serde_json::{Value, json};

use crate::merchant::{Merchant, text};

/// Connects two merchants; the connection's id.
pub async fn connect(inviter: &Merchant, partner: &Merchant) -> String {
    let invited = inviter.api.post("/partner-connections", &json!({ "label": "theirs" })).await.expect(201);
    let body = json!({ "invite_code": invited["invite_code"], "label": "ours" });
    let accepted = partner.api.post("/partner-connections/accept", &body).await.expect(200);
    assert_eq!(accepted["status"], "active");
    text(&accepted, "id")
}

/// Shares an order without amounts and without the customer; the share's id.
pub async fn share(owner: &Merchant, order: &str, connection: &str) -> String {
    text(&share_with(owner, order, &json!({ "connection_id": connection })).await, "id")
}

/// Shares an order as the body says.
pub async fn share_with(owner: &Merchant, order: &str, body: &Value) -> Value {
    owner.api.post(&format!("/orders/{order}/shares"), body).await.expect(201)
}

/// Takes a share back.
pub async fn unshare(owner: &Merchant, share: &str) -> Value {
    owner.api.post(&format!("/order-shares/{share}/revoke"), &json!({})).await.expect(200)
}

/// Ends a connection.
pub async fn disconnect(side: &Merchant, connection: &str) -> Value {
    side.api.post(&format!("/partner-connections/{connection}/revoke"), &json!({})).await.expect(200)
}

/// The path of what a partner reads by a share.
#[must_use]
pub fn seen(share: &str) -> String {
    format!("/partner-orders/{share}")
}
