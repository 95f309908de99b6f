//! What the state of connections and shares forbids (contract 4.14).

use http::Method;
use serde_json::{Value, json};
use tests::{Merchant, Shop, partners};

pub(super) async fn conflicts(shop: &mut Shop) {
    let partner = Merchant::create(&shop.authority, "partner").await;
    let connection = partners::connect(&partner, &shop.merchant).await;
    let order = shop.order.clone();
    let shares = format!("/orders/{order}/shares");
    let api = shop.merchant.api.clone();
    let post = |path: &str, body: &Value| api.call(Method::POST, path).json(body);

    let wrong = [
        (json!({}), json!([["/connection_id", "required"]])),
        (json!({ "connection_id": "pcn_x" }), json!([["/connection_id", "unknown_reference"]])),
        (
            json!({ "connection_id": "pcn_01k3zqa7000000000000000000" }),
            json!([["/connection_id", "unknown_reference"]]),
        ),
    ];
    for (body, errors) in wrong {
        shop.refuses(post(&shares, &body), 422, "validation_failed", json!({ "errors": errors })).await;
    }
    let pending = shop.merchant.api.post("/partner-connections", &json!({})).await.expect(201);
    let call = post(&shares, &json!({ "connection_id": pending["id"] }));
    shop.refuses(call, 409, "connection_not_active", json!({ "current_status": "pending" })).await;
    let invited = partner.api.post("/partner-connections", &json!({})).await.expect(201);
    let call = post("/partner-connections/accept", &json!({ "invite_code": invited["invite_code"] }));
    shop.refuses(call, 409, "connection_exists", json!({ "connection_id": connection })).await;

    let terms = json!({ "connection_id": connection });
    let made = partner.api.post(&format!("/orders/{}/shares", partner.paid_order().await), &terms).await;
    let share = made.expect(201)["id"].as_str().unwrap().to_owned();
    // The merchant has heard of that share, and may not end it: it is not the owner.
    shop.heard().await;
    let call = post(&format!("/order-shares/{share}/revoke"), &json!({}));
    shop.refuses(call, 404, "not_found", json!({})).await;
    let made = shop.merchant.api.post(&shares, &terms).await.expect(201);
    shop.heard().await;
    shop.refuses(post(&shares, &terms), 409, "share_exists", json!({ "share_id": made["id"] })).await;
    partners::disconnect(&partner, &connection).await;
    shop.heard().await;
    let call = post(&shares, &terms);
    shop.refuses(call, 409, "connection_not_active", json!({ "current_status": "revoked" })).await;
}
