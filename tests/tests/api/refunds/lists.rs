//! The lists of refunds and payments, and the adapter's work list (contract 4.5, 6.2, 8.5).

use serde_json::json;
use tests::{Authority, Database, Merchant, SCOPES, on_both_databases, rows, text, texts};

use crate::refunds::{ask, ids, payment_of, refunds, report};

on_both_databases!(lists_go_by_filter_and_page, the_adapter_finds_its_work);

async fn lists_go_by_filter_and_page(database: Database) {
    let (authority, merchant) = Merchant::on(database, "lists").await;
    let (one, two) = (merchant.paid_order().await, merchant.paid_order().await);
    let a = ask(&merchant, &one, json!({ "amount": 1 })).await;
    let b = ask(&merchant, &two, json!({ "amount": 2 })).await;
    let c = ask(&merchant, &one, json!({ "amount": 3 })).await;
    report(&merchant, &a, "completed").await;
    let [a, b, c] = [a, b, c].map(|refund| text(&refund, "id"));
    let payments = [payment_of(&merchant, &one).await, payment_of(&merchant, &two).await];
    let [p1, p2] = payments.each_ref().map(|payment| text(payment, "id"));
    let (newest, oldest) = (vec![&c, &b, &a], vec![&p2, &p1]);
    for (path, expected) in [
        ("/refunds".to_owned(), newest),
        (format!("/refunds?order_number={one}"), vec![&c, &a]),
        (format!("/refunds?payment_id={p2}"), vec![&b]),
        ("/refunds?status=completed".into(), vec![&a]),
        ("/refunds?status=requested,processing".into(), vec![&c, &b]),
        (format!("/refunds?order_number={two}&status=failed"), vec![]),
        ("/refunds?created_to=2020-01-01T00:00:00Z".into(), vec![]),
        ("/refunds?order_number=nobody".into(), vec![]),
        ("/payments".into(), oldest),
        (format!("/payments?order_number={two}"), vec![&p2]),
        ("/payments?status=partially_refunded".into(), vec![&p1]),
        ("/payments?status=succeeded,failed".into(), vec![&p2]),
        ("/payments?created_from=2020-01-01T00:00:00Z&created_to=2020-01-02T00:00:00Z".into(), vec![]),
    ] {
        assert_eq!(ids(&merchant.api, &path).await.iter().collect::<Vec<_>>(), expected, "{path}");
    }
    assert_eq!(merchant.api.get("/payments").await.expect(200)["data"], json!([payments[1], payments[0]]));
    for (path, param) in [
        ("/refunds?status=lost", "status"),
        ("/payments?status=paid", "status"),
        ("/refunds?created_from=yesterday", "created_from"),
        ("/payments?order_number=", "order_number"),
    ] {
        assert_eq!(merchant.api.get(path).await.refused(400, "invalid_parameter")["param"], param);
    }
    merchant.api.get("/payments?payment_id=x").await.refused(400, "unknown_parameter");

    for (list, expected) in [("/refunds", vec![&c, &b, &a]), ("/payments", vec![&p2, &p1])] {
        let seen = texts(&merchant.api.list(&format!("{list}?limit=1")).await, "id");
        assert_eq!(seen.iter().collect::<Vec<_>>(), expected);
        let page = merchant.api.get(&format!("{list}?limit=1")).await.expect(200);
        assert_eq!(page["data"].as_array().unwrap().len(), 1, "{page}");
        let cursor = text(&page, "next_cursor");
        let other = if list == "/refunds" { "/payments" } else { "/refunds" };
        merchant.api.get(&format!("{other}?cursor={cursor}")).await.refused(400, "invalid_cursor");
        merchant
            .api
            .get(&format!("{list}?cursor={cursor}&status=failed"))
            .await
            .refused(400, "invalid_cursor");
    }
    // Neither another merchant nor the other mode sees any of it.
    let stranger = Merchant::create(&authority, "stranger").await;
    let live = authority.merchant(&merchant.issue_key("live", &SCOPES).await);
    for api in [&stranger.api, &live] {
        assert_eq!((ids(api, "/refunds").await, ids(api, "/payments").await), (vec![], vec![]));
        api.get(&format!("/refunds/{a}")).await.refused(404, "not_found");
        api.post(&refunds(&one), &json!({ "amount": 1 })).await.refused(404, "not_found");
    }
}

async fn the_adapter_finds_its_work(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let merchants = [Merchant::create(&authority, "left").await, Merchant::create(&authority, "right").await];
    let mut made = Vec::new();
    for n in 0..6 {
        let merchant = &merchants[n % 2];
        let order = merchant.paid_order().await;
        made.push(ask(merchant, &order, json!({ "amount": 1 })).await);
    }
    made.reverse();
    let operator = authority.operator();
    let open = texts(&made, "id");
    assert_eq!(ids(&operator, "/refunds?status=requested").await, open);
    let item = operator.get("/refunds?limit=1").await.expect(200)["data"][0].clone();
    let mut expected = made[0].clone();
    expected["merchant_id"] = json!(merchants[1].id);
    expected["processor"] = json!({ "name": "acme-pay", "reference": null });
    assert_eq!(item, expected);
    assert_eq!(operator.get(&format!("/refunds/{}", open[0])).await.expect(200), expected);
    operator.get("/refunds/rfd_1").await.refused(404, "not_found");

    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/refunds?status=requested&limit=4&cursor={cursor}");
        let page = operator.get(&path).await.expect(200);
        seen.extend(rows(&page).iter().map(|refund| text(refund, "id")));
        let Some(next) = page["next_cursor"].as_str() else { break };
        next.clone_into(&mut cursor);
        assert_eq!(cursor.len(), 58);
    }
    assert_eq!(seen, open);
    operator.get(&format!("/refunds?cursor={cursor}")).await.refused(400, "invalid_cursor");
    operator.get("/refunds?cursor=x").await.refused(400, "invalid_cursor");
    let merchants_own = merchants[0].api.get("/refunds?limit=1").await.expect(200)["next_cursor"].clone();
    let foreign = format!("/refunds?cursor={}", merchants_own.as_str().unwrap());
    operator.get(&foreign).await.refused(400, "invalid_cursor");

    report(&merchants[1], &made[0], "processing").await;
    report(&merchants[0], &made[1], "completed").await;
    assert_eq!(ids(&operator, "/refunds?status=requested").await, open[2..]);
    assert_eq!(
        ids(&operator, "/refunds?status=processing,requested").await,
        [&open[..1], &open[2..]].concat()
    );
    assert_eq!(ids(&operator, "/refunds").await, open);
}
