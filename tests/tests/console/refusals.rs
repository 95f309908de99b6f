//! A form that is refused keeps what was typed, and says what is wrong in the words and units of the form.

use serde_json::json;
use tests::{Database, Endpoint, Merchant, on_both_databases, text};

use crate::browser::Browser;

on_both_databases!(
    a_rotation_keeps_how_the_old_secret_was_to_end,
    what_was_cleared_stays_cleared,
    a_refund_is_refused_in_the_units_of_the_form,
);

fn rotation_of(endpoint: &Endpoint) -> (String, String) {
    let page = format!("/console/endpoints/{}", endpoint.id);
    (page.clone(), format!("{page}/rotate"))
}

/// Whoever rotates a secret that leaked ends the old one at once, also when the first attempt was refused.
async fn a_rotation_keeps_how_the_old_secret_was_to_end(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let endpoint = merchant.endpoint("http://127.0.0.1:9/hook", &["*"]).await;
    let browser = Browser::signed_in(&authority).await;
    let (page, rotate) = rotation_of(&endpoint);
    let hours = |hours: &str| format!("name=\"overlap_hours\" inputmode=\"numeric\" value=\"{hours}\"");
    let force = "name=\"force\" value=\"yes\"";
    let html = browser.page(&page).await;
    assert!(html.contains(&hours("24")) && !html.contains(force), "{html}");
    for wrong in ["169", "-1", "a day", ""] {
        let refused = browser.send(&page, &rotate, &[("overlap_hours", wrong)]).await;
        assert_eq!(refused.status, 422, "{wrong}: {}", refused.text());
        let said = "Hours in which the previous secret signs too: must be a number from 0 to 168.";
        for part in [said, "<code>validation_failed</code>", &hours(wrong)] {
            assert!(refused.text().contains(part), "{part}: {}", refused.text());
        }
        assert!(!refused.text().contains("overlap_seconds"), "{}", refused.text());
    }
    let stale = browser.form(&page, &rotate).await;
    assert_eq!(browser.send(&page, &rotate, &[("overlap_hours", "168")]).await.status, 200);
    let refused = browser.send(&page, &rotate, &[("overlap_hours", "0")]).await;
    assert_eq!(refused.status, 409, "{}", refused.text());
    for part in ["<code>rotation_in_progress</code>", &hours("0"), &format!("{force}>")] {
        assert!(refused.text().contains(part), "{part}: {}", refused.text());
    }
    let refused = browser.send_again(&rotate, &stale, &[("overlap_hours", "0"), ("force", "yes")]).await;
    assert_eq!(refused.status, 409, "{}", refused.text());
    for part in ["<code>resource_version_conflict</code>", &hours("0"), &format!("{force} checked>")] {
        assert!(refused.text().contains(part), "{part}: {}", refused.text());
    }
    assert_eq!(
        browser.send(&page, &rotate, &[("overlap_hours", "0"), ("force", "yes")]).await.status,
        200,
        "as the refused page would send it again"
    );
    assert!(!browser.page(&page).await.contains("Two secrets sign"));
}

async fn what_was_cleared_stays_cleared(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let endpoint = merchant.endpoint("http://127.0.0.1:9/hook", &["*"]).await;
    let browser = Browser::signed_in(&authority).await;
    let (page, _) = rotation_of(&endpoint);
    let refused = browser.send(&page, &format!("{page}/url"), &[("url", "")]).await;
    assert_eq!(refused.status, 422, "{}", refused.text());
    assert!(refused.text().contains("name=\"url\" value=\"\""), "{}", refused.text());
    // What another form would send is as it was.
    assert!(refused.text().contains("name=\"overlap_hours\" inputmode=\"numeric\" value=\"24\""));
}

async fn a_refund_is_refused_in_the_units_of_the_form(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let number = merchant.paid_order().await;
    let payments = merchant.api.get(&format!("/payments?order_number={number}")).await.expect(200);
    let browser = Browser::signed_in(&authority).await;
    for page in [
        format!("/console/orders/{}/test/{number}", merchant.id),
        format!("/console/records/{}", text(&payments["data"][0], "id")),
    ] {
        let action = format!("{page}/refund");
        for (typed, said) in [
            (
                "53.01",
                "<bdi>53.00 USD of the payment can be refunded.</bdi> <code>refund_amount_exceeded</code>",
            ),
            ("0", "<bdi>Must be from 0.01 to 9999999999.99 USD.</bdi>"),
            ("10000000000", "<bdi>Must be from 0.01 to 9999999999.99 USD.</bdi>"),
        ] {
            let refused = browser.send(&page, &action, &[("amount", typed), ("note", "broken")]).await;
            assert_eq!(refused.status, 422, "{}", refused.text());
            for part in [said, &format!("value=\"{typed}\""), "value=\"broken\""] {
                assert!(refused.text().contains(part), "{part}: {}", refused.text());
            }
        }
    }
    // The API speaks of minor units, as its requests do.
    let much = json!({ "amount": 5_301, "reason": "other" });
    let problem = merchant.api.post(&format!("/orders/{number}/refunds"), &much).await;
    let problem = problem.refused(422, "refund_amount_exceeded");
    assert_eq!(problem["detail"], "5300 of the payment can be refunded.");
}
