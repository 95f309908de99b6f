//! A form that is refused keeps what was typed, and says what is wrong in the words and units of the form.

use tests::authority::Database;
use tests::merchant::{Endpoint, Merchant};
use tests::on_both_databases;

use crate::browser::Browser;

on_both_databases!(a_rotation_keeps_how_the_old_secret_was_to_end, what_was_cleared_stays_cleared,);

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
