//! Money that came too late, on the first page until it is given back.

use serde_json::json;
use tests::{Database, Merchant, on_both_databases, text};

use crate::browser::Browser;

on_both_databases!(late_money_is_on_the_first_page_until_it_is_given_back);

async fn late_money_is_on_the_first_page_until_it_is_given_back(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let browser = Browser::signed_in(&authority).await;
    merchant.paid_order().await;
    assert!(browser.page("/console").await.contains("No money that came too late is left."));
    let checkout = merchant.checkout().await;
    let payment = merchant.payment(&checkout, "automatic").await;
    let cancel = format!("/checkouts/{}/cancel", text(&checkout, "id"));
    merchant.operator.post(&cancel, &json!({})).await.expect(200);
    merchant.report(&payment, "succeeded").await;
    let record = format!("/console/records/{}", text(&payment, "id"));
    // Closing its alert gives nothing back.
    let alerts = merchant.operator.get("/alerts?status=open").await.expect(200);
    let close = format!("/console/alerts/{}/close", text(&alerts["data"][0], "id"));
    browser.done("/console/alerts", &close, &[]).await;
    let page = browser.page("/console").await;
    let (_, late) = page.split_once("Payments that came too late and are not given back").unwrap();
    assert!(late.contains(&format!("<a href=\"{record}\">")) && late.contains("53.00"), "{late}");
    // Some of it is given back, then the rest.
    let refund = format!("{record}/refund");
    browser.done(&record, &refund, &[("amount", "50.00"), ("note", "")]).await;
    let page = browser.page("/console").await;
    assert!(page.contains(&record) && page.contains("3.00"), "{page}");
    browser.done(&record, &refund, &[("amount", ""), ("note", "")]).await;
    let page = browser.page("/console").await;
    assert!(page.contains("No money that came too late is left.") && !page.contains(&record), "{page}");
}
