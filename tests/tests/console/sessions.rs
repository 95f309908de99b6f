//! Signing in and out, what ends a session, and forms that no page of the session made.

use std::collections::BTreeSet;
use std::sync::Arc;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Executor as _};
use tests::service::serve;
use tests::{Authority, Database, InProcess, Merchant, damage, eventually, on_both_databases, text};

use crate::browser::{Browser, audit, hidden};

on_both_databases!(
    a_session_begins_with_a_key_and_ends_with_signing_out,
    a_session_ends_with_its_key_at_once,
    a_session_ends_by_time,
    a_session_goes_on_while_the_database_takes_no_writes,
    a_form_of_anybody_else_does_nothing,
    a_key_sees_and_does_what_its_scopes_allow,
);

/// What a key needs to look at pages.
pub(crate) const READER: &[&str] = &["operator:read"];

const MINUTE: i64 = 60 * 1000;

async fn a_session_begins_with_a_key_and_ends_with_signing_out(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let nobody = Browser::new(&authority);
    // Every page leads to the sign-in page, which leads back.
    let asked = nobody.get("/console/orders/a/live/b?c=d").await;
    let sign_in = "/console/sign-in?to=%2Fconsole%2Forders%2Fa%2Flive%2Fb%3Fc%3Dd";
    assert_eq!((asked.status, asked.header("location")), (303, Some(sign_in)));
    assert!(nobody.page(sign_in).await.contains("value=\"/console/orders/a/live/b?c=d\""));
    assert_eq!(nobody.get("/console").await.header("location"), Some("/console/sign-in"));
    // Nor is there a link that leads in without a key: only `authority dev` has one.
    let link = format!("/console/open/{}", "0".repeat(64));
    for reply in [nobody.get(&link).await, nobody.post(&link, &[], &[]).await] {
        assert_eq!((reply.status, reply.header("set-cookie")), (303, None), "{}", reply.text());
    }
    // Neither a wrong key nor a merchant's leads in; nothing that was typed comes back.
    let wrong = format!("{}x", authority.operator_key());
    for key in ["", "nonsense", wrong.as_str(), merchant.key.as_str()] {
        let refused = nobody.sign_in(key, "/console/alerts").await;
        assert_eq!((refused.status, refused.header("set-cookie")), (401, None), "{key}");
        assert!(refused.text().contains("<code>invalid_api_key</code>"), "{}", refused.text());
        assert!(key.is_empty() || !refused.text().contains(key));
    }
    let elsewhere = nobody.sign_in(authority.operator_key(), "//evil.example").await;
    assert_eq!((elsewhere.status, elsewhere.header("location")), (303, Some("/console")));
    let browser = Browser::signed_in(&authority).await;
    let other = Browser::signed_in(&authority).await;
    assert_ne!(browser.cookie, other.cookie);
    assert!(browser.page("/console").await.contains("What is wrong now"));
    let out = browser.send("/console", "/console/sign-out", &[]).await;
    assert_eq!((out.status, out.header("location")), (303, Some("/console/sign-in")));
    let gone = "console_session=; Path=/console; HttpOnly; Secure; SameSite=Strict; Max-Age=0";
    assert_eq!(out.header("set-cookie"), Some(gone));
    // The cookie is worth nothing any more, and nobody else was signed out.
    assert_eq!(browser.get("/console").await.status, 303);
    assert_eq!(other.get("/console").await.status, 200);
    for cookie in ["", "00", &"0".repeat(64), &"g".repeat(64)] {
        assert_eq!(browser.holding(cookie).get("/console").await.status, 303);
    }
    let operations: Vec<String> =
        audit(&authority).await.into_iter().map(|(operation, _)| operation).collect();
    let sessions: Vec<&str> =
        operations.iter().map(String::as_str).filter(|name| name.starts_with("console.")).collect();
    assert_eq!(sessions, ["console.sign_out", "console.sign_in", "console.sign_in", "console.sign_in"]);
}

async fn a_session_ends_with_its_key_at_once(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let made = authority.new_operator_key("night", READER).await;
    let browser = Browser::with_key(&authority, &text(&made, "key")).await;
    let day = Browser::signed_in(&authority).await;
    assert!(browser.page("/console/alerts").await.contains("<bdi>night</bdi>"));
    authority.revoke_operator_key(&text(&made, "id")).await;
    assert_eq!(browser.get("/console/alerts").await.status, 303);
    assert_eq!(day.get("/console/alerts").await.status, 200);
    assert_eq!(browser.sign_in(&text(&made, "key"), "").await.status, 401);
}

async fn a_session_ends_by_time(database: Database) {
    let service = InProcess::start(database, &[]).await;
    let [idle, busy] = [Browser::signed_in(&service).await, Browser::signed_in(&service).await];
    service.clock.turn(59 * MINUTE);
    assert_eq!(idle.get("/console").await.status, 200);
    service.clock.turn(60 * MINUTE);
    assert_eq!(idle.get("/console").await.status, 303, "an hour without use");
    assert_eq!(busy.get("/console").await.status, 303);
    let busy = Browser::signed_in(&service).await;
    for _ in 0..12 {
        service.clock.turn(59 * MINUTE);
        assert_eq!(busy.get("/console").await.status, 200);
    }
    service.clock.turn(12 * MINUTE);
    assert_eq!(busy.get("/console").await.status, 303, "twelve hours after it began");
    service.stop().await;
}

/// Refuses writes, or takes them again: all of them on PostgreSQL, those about sessions in a file.
async fn refuse_writes(service: &InProcess, database: Database, refuse: bool) {
    let statements = match (database, refuse) {
        (Database::Sqlite, true) => "CREATE TRIGGER disk_is_full BEFORE UPDATE ON console_sessions \
             BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
            .to_owned(),
        (Database::Sqlite, false) => "DROP TRIGGER disk_is_full".to_owned(),
        (_, refuse) => format!(
            "BEGIN READ WRITE; DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = {refuse}', \
             current_database()); END $$; COMMIT; \
             SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
             WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ),
    };
    damage::execute(service.database_url(), &statements).await;
}

/// Its use is not recorded then, and the pages are needed.
async fn a_session_goes_on_while_the_database_takes_no_writes(database: Database) {
    let service = InProcess::start(database, &[]).await;
    let browser = Browser::signed_in(&service).await;
    service.clock.turn(2 * MINUTE);
    refuse_writes(&service, database, true).await;
    // Connections that were ended are made again.
    eventually("a page", async || (browser.get("/console").await.status == 200).then_some(())).await;
    assert_eq!(browser.get("/console").await.status, 200);
    refuse_writes(&service, database, false).await;
    eventually("the same with writes", async || (browser.get("/console").await.status == 200).then_some(()))
        .await;
    service.stop().await;
}

/// It is written when the database can, and the page has come by then.
#[tokio::test]
async fn a_page_does_not_wait_for_the_note_of_its_use() {
    let service = InProcess::start(Database::Postgres, &[]).await;
    let browser = Browser::signed_in(&service).await;
    service.clock.turn(2 * MINUTE);
    let mut holder = service.database_url().parse::<PgConnectOptions>().unwrap().connect().await.unwrap();
    holder.execute("BEGIN; SELECT * FROM console_sessions FOR UPDATE").await.unwrap();
    assert_eq!(browser.get("/console").await.status, 200);
    let waits = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
        AND wait_event_type = 'Lock' AND query LIKE '%console_sessions%'";
    let waiting: i64 = sqlx::query_scalar(waits).fetch_one(&mut holder).await.unwrap();
    assert_eq!(waiting, 1, "the note of its use");
    drop(holder);
    service.stop().await;
}

/// That a form without the session's own token, and one that another site sends, does nothing; the token.
pub(crate) async fn refuses_forms_of_others(
    browser: &Browser,
    other: &Browser,
    page: &str,
    action: &str,
) -> String {
    let token = |form: Vec<(String, String)>| form.into_iter().find(|(name, _)| name == "_token").unwrap().1;
    let (own, others) = (token(browser.form(page, action).await), token(other.form(page, action).await));
    assert_ne!(own, others);
    for (token, lines) in [
        ("", &[][..]),
        ("x", &[]),
        (&others, &[]),
        (&own, &[("sec-fetch-site", "cross-site")]),
        (&own, &[("sec-fetch-site", "same-site")]),
        (&own, &[("origin", "http://evil.example")]),
    ] {
        let reply = browser.post(action, &[("_token", token), ("reason", "because")], lines).await;
        assert_eq!(reply.status, 403, "{lines:?} {}", reply.text());
        assert!(reply.text().contains("nothing was done"), "{}", reply.text());
    }
    own
}

async fn a_form_of_anybody_else_does_nothing(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let endpoint = merchant.endpoint("http://127.0.0.1:9/hook", &["*"]).await;
    let (browser, other) = (Browser::signed_in(&authority).await, Browser::signed_in(&authority).await);
    let page = format!("/console/endpoints/{}", endpoint.id);
    let action = format!("{page}/disable");
    let own = refuses_forms_of_others(&browser, &other, &page, &action).await;
    let tokens: BTreeSet<String> =
        browser.form("/console", "/console/sign-out").await.into_iter().map(|(_, token)| token).collect();
    assert_eq!(tokens, [own].into(), "one for all forms of a session");
    // Nor does a sign-in that another site sends.
    let elsewhere = [("sec-fetch-site", "cross-site")];
    let reply = browser.post("/console/sign-in", &[("key", authority.operator_key())], &elsewhere).await;
    assert_eq!((reply.status, reply.header("set-cookie")), (403, None));
    let json = authority.operator().with_key(None).get("/merchants").await;
    assert_eq!(json.status, 401, "the cookie is nothing to the API");
    assert_eq!(merchant.endpoint_now(&endpoint).await["status"], "enabled");
    assert!(audit(&authority).await.iter().all(|(operation, _)| operation != "endpoints.disable"));
    let reply = browser.send(&page, &action, &[("reason", "because")]).await;
    assert_eq!(reply.status, 303, "{}", reply.text());
    assert_eq!(merchant.endpoint_now(&endpoint).await["status"], "disabled");
}

async fn a_key_sees_and_does_what_its_scopes_allow(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let endpoint = merchant.endpoint("http://127.0.0.1:9/hook", &["*"]).await;
    let number = merchant.paid_order().await;
    let key = text(&authority.new_operator_key("narrow", READER).await, "key");
    let page = format!("/console/endpoints/{}", endpoint.id);
    let reader = Browser::with_key(&authority, &key).await;
    for path in [page.clone(), format!("/console/orders/{}/test/{number}", merchant.id)] {
        let html = reader.page(&path).await;
        assert_eq!(html.matches("method=\"post\"").count(), 1, "signing out alone: {html}");
    }
    // The token is right, the scope is missing.
    let form = hidden(&reader.page(&page).await, "/console/sign-out").unwrap();
    let reply = reader.send_again(&format!("{page}/disable"), &form, &[("reason", "because")]).await;
    assert_eq!(reply.status, 403);
    assert!(reply.text().contains("<code>insufficient_scope</code>"), "{}", reply.text());
    assert_eq!(merchant.endpoint_now(&endpoint).await["status"], "enabled");
}

#[tokio::test]
async fn signing_out_ends_a_session_on_every_instance() {
    let service = InProcess::start(Database::Postgres, &[]).await;
    let second = serve(service.database_url(), Arc::clone(&service.clock), Arc::default(), &[]).await;
    let browser = Browser::signed_in(&service).await;
    let there = browser.at(&format!("http://{}", second.operator_address));
    assert_eq!(there.get("/console").await.status, 200);
    assert_eq!(browser.send("/console", "/console/sign-out", &[]).await.status, 303);
    assert_eq!(there.get("/console").await.status, 303);
    second.stop().await;
    service.stop().await;
}

/// Beyond what an address may get wrong, keys are refused without being looked at.
#[tokio::test]
async fn wrong_keys_are_counted_like_those_of_the_api() {
    let authority = Authority::start(&[("AUTHORITY_RATE_LIMITS", "on")]).await;
    let nobody = Browser::new(&authority);
    let mut statuses = Vec::new();
    while statuses.last() != Some(&429) {
        assert!(statuses.len() < 1000, "never refused");
        statuses.push(nobody.sign_in("nonsense", "").await.status);
    }
    statuses.pop();
    assert!(statuses.len() > 5 && statuses.iter().all(|status| *status == 401), "{statuses:?}");
    let refused = nobody.sign_in("nonsense", "").await;
    assert!(refused.text().contains("<code>rate_limited</code>"), "{}", refused.text());
    let seconds: u32 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!(seconds > 0);
}
