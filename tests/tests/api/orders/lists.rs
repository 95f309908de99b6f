//! A list of many orders of which few match: a page ends where it stopped looking (contract 4.5).

use serde_json::{Value, json};
use tests::{Database, Merchant, on_both_databases, rows};

/// More orders than a filtered page looks at.
const CANCELLED: u32 = 10_001;

async fn page(merchant: &Merchant, filter: &str, cursor: &str) -> Value {
    merchant.api.get(&format!("/orders?{filter}&limit=2&cursor={cursor}")).await.expect(200)
}

async fn a_page_of_what_is_rare_ends_where_it_stopped_looking(database: Database) {
    let (authority, merchant) = Merchant::on(database, "rare").await;
    let number = merchant.paid_order().await;
    authority.copy_order(&merchant.id, &number, CANCELLED, "cancelled").await;
    let order = merchant.order(&number).await;
    for filter in ["status=confirmed".to_owned(), "payment_status=paid&status=confirmed".to_owned()] {
        let first = page(&merchant, &filter, "").await;
        assert_eq!(first["data"], json!([]), "{filter}");
        let cursor = first["next_cursor"].as_str().unwrap();
        let second = page(&merchant, &filter, cursor).await;
        assert_eq!(second, json!({ "data": [order] }), "{filter}");
    }
    // What is frequent fills its page at once.
    let frequent = page(&merchant, "status=cancelled", "").await;
    assert_eq!(rows(&frequent).len(), 2);
    assert!(frequent["next_cursor"].is_string());
}

on_both_databases!(a_page_of_what_is_rare_ends_where_it_stopped_looking);
