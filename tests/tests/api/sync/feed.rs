//! The feed of changed orders (contract 4.11).

use serde_json::{Value, json};
use tests::{Database, Merchant, on_both_databases, text};

use crate::sync::{changes, rows, set};

on_both_databases!(
    an_order_stands_where_its_last_change_put_it,
    a_page_ends_where_it_is_told,
    the_feed_takes_no_other_parameter,
    the_feed_outlives_the_events_it_goes_by
);

async fn an_order_stands_where_its_last_change_put_it(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "changing").await;
    let (one, two) = (merchant.paid_order().await, merchant.paid_order().await);
    let page = changes(&merchant, "").await;
    assert_eq!(rows(&page), [(one.clone(), 6, 2), (two.clone(), 12, 2)]);
    let row = &page["data"][0];
    assert_eq!(row["object"], "order_change");
    assert_eq!(row["order"], merchant.order(&one).await);
    assert_eq!(row["changed_at"], row["order"]["updated_at"]);
    let members: Vec<&String> = row.as_object().unwrap().keys().collect();
    assert_eq!(members, ["changed_at", "object", "order", "order_number", "resource_version", "sequence"]);

    // A parcel changes its order; what its carrier says of it then does not, until it arrives.
    let parcel = merchant.ship(&one, &json!({ "carrier": "dhl" })).await;
    assert_eq!(rows(&changes(&merchant, "").await), [(two.clone(), 12, 2), (one.clone(), 14, 3)]);
    let report = async |status: &str| {
        let path = format!("/shipments/{}/reports", text(&parcel, "id"));
        let body = json!({ "status": status, "occurred_at": parcel["created_at"] });
        merchant.operator.post(&path, &body).await.expect(200);
    };
    report("in_transit").await;
    merchant.checkout().await;
    assert_eq!(rows(&changes(&merchant, "").await), [(two.clone(), 12, 2), (one.clone(), 14, 3)]);
    report("delivered").await;
    assert_eq!(rows(&changes(&merchant, "").await), [(two, 12, 2), (one.clone(), 18, 4)]);
    // Each row says what the event at its place says.
    let events = merchant.events().await;
    for row in changes(&merchant, "").await["data"].as_array().unwrap() {
        let event = &events[usize::try_from(row["sequence"].as_u64().unwrap()).unwrap() - 1];
        assert_eq!(
            (&event["data"]["object"], &event["resource_version"]),
            (&row["order"], &row["resource_version"])
        );
    }
}

async fn a_page_ends_where_it_is_told(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "paging").await;
    let nothing = changes(&merchant, "").await;
    assert_eq!((&nothing["data"], nothing.get("next_cursor")), (&json!([]), None));
    let start = text(&nothing, "resume_cursor");
    let mut orders = Vec::new();
    for _ in 0..3 {
        orders.push(merchant.paid_order().await);
    }
    let page = changes(&merchant, &format!("cursor={start}&limit=2")).await;
    assert_eq!(rows(&page), [(orders[0].clone(), 6, 2), (orders[1].clone(), 12, 2)]);
    let next = text(&page, "next_cursor");
    assert_eq!(page["resume_cursor"], next, "while more follow, both are the end of the page");
    // The first order changes under the reader: it is seen again, behind the others.
    set(&merchant, &orders[0], "erp", &json!({ "id": "1" })).await.expect(200);
    let page = changes(&merchant, &format!("cursor={next}&limit=2")).await;
    assert_eq!(rows(&page), [(orders[2].clone(), 18, 2), (orders[0].clone(), 19, 3)]);
    assert_eq!(page.get("next_cursor"), None, "a full last page ends the feed");
    // The end of the feed is the end of the stream: what follows is what comes after.
    merchant.checkout().await;
    let end = changes(&merchant, &format!("cursor={}", text(&page, "resume_cursor"))).await;
    assert_eq!((rows(&end), end.get("next_cursor")), (vec![], None));
    set(&merchant, &orders[1], "erp", &json!({ "id": "2" })).await.expect(200);
    let page = changes(&merchant, &format!("cursor={}", text(&end, "resume_cursor"))).await;
    assert_eq!(rows(&page), [(orders[1].clone(), 21, 3)]);
    // A cursor is a place: it can be used again, with another page size.
    let again = changes(&merchant, &format!("cursor={next}&limit=100")).await;
    assert_eq!(rows(&again).len(), 3);
    for (limit, status) in [("1", 200), ("100", 200), ("0", 400), ("101", 400)] {
        let reply = merchant.api.get(&format!("/sync/orders?limit={limit}")).await;
        assert_eq!(reply.status, status, "{limit}");
    }
}

async fn the_feed_takes_no_other_parameter(database: Database) {
    let (_authority, merchant) = Merchant::on(database, "strict-feed").await;
    for name in ["status", "updated_from", "since", "crusor"] {
        let reply = merchant.api.get(&format!("/sync/orders?{name}=x")).await;
        assert_eq!(reply.refused(400, "unknown_parameter")["param"], name);
    }
}

/// Events may go by their age; orders do not, and neither do places in their feed.
async fn the_feed_outlives_the_events_it_goes_by(database: Database) {
    let (authority, merchant) = Merchant::on(database, "forgetful").await;
    let before = text(&changes(&merchant, "").await, "resume_cursor");
    let (one, two) = (merchant.paid_order().await, merchant.paid_order().await);
    authority.forget_events(&merchant.id, 8).await;
    let gone = text(&merchant.api.get("/events?limit=1").await.expect(200), "resume_cursor");
    authority.forget_events(&merchant.id, 12).await;
    merchant.api.get(&format!("/events?cursor={gone}")).await.refused(410, "cursor_expired");
    for cursor in ["", &before] {
        let page = changes(&merchant, &format!("cursor={cursor}")).await;
        assert_eq!(rows(&page), [(one.clone(), 6, 2), (two.clone(), 12, 2)]);
        assert_eq!(page["data"][0]["order"], merchant.order(&one).await);
    }
    let end: Value = changes(&merchant, "").await;
    assert_eq!(rows(&changes(&merchant, &format!("cursor={}", text(&end, "resume_cursor"))).await), []);
}
