//! What is done to shares and their copies, and all that the doctor finds then (contract 3.10, 3.11 I10).

use serde_json::json;
use tests::damage::{copy, damage};
use tests::partners::{connect, share, unshare};
use tests::{Database, Merchant};

use super::found;

/// The harm, and what is found.
const DAMAGES: [(&str, &[&str]); 10] = [
    ("UPDATE streams SET active_shares = 0 WHERE active_shares > 0;", &["I10 order_share_differs"]),
    (
        "UPDATE order_shares SET partner_sequence = partner_sequence + 100 WHERE status = 'active';",
        &["I10 order_share_differs"],
    ),
    (
        "UPDATE order_shares SET owner_sequence = owner_sequence - 1 WHERE status = 'active';",
        &["I10 order_share_differs"],
    ),
    (
        "UPDATE order_shares SET status = 'active', revoked_at = NULL WHERE status = 'revoked';",
        &["I10 order_share_differs", "I10 partner_copy_unexpected"],
    ),
    (
        "UPDATE order_shares SET status = 'revoked', revoked_at = 1 WHERE status = 'active'; \
         UPDATE streams SET active_shares = 0;",
        &["I10 partner_copy_missing"],
    ),
    ("UPDATE partner_connections SET status = 'revoked', revoked_at = 1;", &["I10 order_share_differs"]),
    (
        "UPDATE events SET body = REPLACE(body, '\"resource_version\":3', '\"resource_version\":7') \
         WHERE resource_id LIKE 'osh_%' AND type = 'order.shipped';",
        &["I10 partner_copy_missing", "I10 partner_copy_missing"],
    ),
    (
        "UPDATE events SET type = 'refund.completed', body = REPLACE(body, '\"type\":\"shipment.created\"', \
             '\"type\":\"refund.completed\"') WHERE resource_id LIKE 'osh_%' AND type = 'shipment.created';",
        &[
            "I10 partner_copy_missing",
            "I10 partner_copy_missing",
            "I10 partner_copy_missing",
            "I10 partner_copy_unexpected",
        ],
    ),
    ("DELETE FROM order_shares WHERE status = 'revoked';", &["I10 event_without_record"]),
    (
        "UPDATE events SET body = REPLACE(body, '\"share_id\":\"osh_', '\"share_id\":\"osh_x') \
         WHERE resource_id LIKE 'osh_%' AND type = 'order.updated';",
        &["I10 partner_copy_missing", "I9 event_inconsistent"],
    ),
];

pub(crate) async fn each_damage_of_sharing_is_found(database: Database) {
    let (mut authority, owner) = Merchant::on(database, "owner").await;
    let partner = Merchant::create(&authority, "partner").await;
    let connection = connect(&owner, &partner).await;
    let (kept, ended) = (owner.paid_order().await, owner.paid_order().await);
    share(&owner, &kept, &connection).await;
    let taken_back = share(&owner, &ended, &connection).await;
    unshare(&owner, &taken_back).await;
    owner.ship(&kept, &json!({ "carrier": "dhl" })).await;
    owner.note(&kept, "the last one").await;
    authority.terminate().await;
    authority.is_sound().await;

    let folder = tempfile::tempdir().unwrap();
    for (n, (harm, expected)) in DAMAGES.iter().enumerate() {
        let url = copy(authority.database_url(), folder.path(), &format!("{n}.db")).await;
        assert!(damage(&url, harm).await > 0, "nothing was harmed by {harm}");
        let said = authority.doctor_of(&url).await;
        assert_eq!(found(&said), *expected, "{harm}\n{said}");
    }
}
