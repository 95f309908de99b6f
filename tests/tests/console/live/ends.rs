//! What ends a stream.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tests::service::serve;
use tests::{Database, InProcess, Merchant, on_both_databases, text};
use tokio::time::timeout;

use super::{Stream, by_itself, seen};
use crate::browser::Browser;
use crate::portal::sessions::set_status;
use crate::portal::{ALL, entered, link_with, opened};
use crate::sessions::READER;

on_both_databases!(
    a_stream_ends_with_its_session,
    a_stream_ends_with_the_time_of_its_session,
    streams_do_not_keep_the_service_from_stopping,
);

const MINUTE: i64 = 60 * 1000;

async fn a_stream_ends_with_its_session(database: Database) {
    let (authority, merchant) = Merchant::on(database, "acme").await;
    let resting = Merchant::create(&authority, "resting").await;
    let made = authority.new_operator_key("night", READER).await;
    let night = Browser::with_key(&authority, &text(&made, "key")).await;
    let day = Browser::signed_in(&authority).await;
    let (mine, leaving, theirs) =
        (entered(&merchant, ALL).await, entered(&merchant, ALL).await, entered(&resting, ALL).await);
    let mut ended = Vec::new();
    for (browser, page) in
        [(&night, "/console"), (&day, "/console"), (&leaving, "/portal"), (&theirs, "/portal")]
    {
        ended.push(Stream::of(browser, page).await);
    }
    let mut lasting = Stream::of(&mine, "/portal").await;
    authority.revoke_operator_key(&text(&made, "id")).await;
    assert_eq!(day.send("/console", "/console/sign-out", &[]).await.status, 303);
    assert_eq!(leaving.send("/portal", "/portal/sign-out", &[]).await.status, 200);
    set_status(&resting, "suspended").await;
    for mut stream in ended {
        while stream.next().await.is_some() {}
    }
    merchant.checkout().await;
    let now = seen(&mine, "/portal").await;
    assert_eq!(lasting.next().await, Some(now), "the others go on");
}

async fn a_stream_ends_with_the_time_of_its_session(database: Database) {
    let (service, merchant) = Merchant::inside(database, &[], "acme").await;
    let short =
        opened(&link_with(&merchant, json!({ "scopes": ALL, "expires_in_seconds": 600 })).await).await;
    let [idle, busy] = [Browser::signed_in(&service).await, Browser::signed_in(&service).await];
    let mut of_short = Stream::of(&short, "/portal").await;
    let mut of_idle = Stream::of(&idle, "/console").await;
    let mut of_busy = Stream::of(&busy, "/console").await;
    service.clock.turn(59 * MINUTE);
    while of_short.next().await.is_some() {}
    // What a page asks for by itself is no use of the session.
    assert_eq!(by_itself(&idle, "/console").await.status, 200);
    assert_eq!(idle.get("/console?follow=yes").await.status, 200);
    assert_eq!(busy.get("/console").await.status, 200);
    service.clock.turn(MINUTE);
    while of_idle.next().await.is_some() {}
    assert_eq!(by_itself(&idle, "/console").await.status, 303);
    assert_eq!(by_itself(&busy, "/console").await.status, 200);
    merchant.checkout().await;
    assert!(of_busy.next().await.is_some());
    service.stop().await;
}

async fn streams_do_not_keep_the_service_from_stopping(database: Database) {
    let (mut authority, merchant) = Merchant::on(database, "acme").await;
    let (console, portal) = (Browser::signed_in(&authority).await, entered(&merchant, ALL).await);
    let mut streams = [Stream::of(&console, "/console").await, Stream::of(&portal, "/portal").await];
    timeout(Duration::from_secs(15), authority.terminate()).await.unwrap();
    for stream in &mut streams {
        while stream.next().await.is_some() {}
    }
    assert!(!authority.log().contains("cut off"), "{}", authority.log());
}

#[tokio::test]
async fn a_stream_on_another_instance_tells_and_ends_as_well() {
    let service = InProcess::start(Database::Postgres, &[]).await;
    let second = serve(service.database_url(), Arc::clone(&service.clock), Arc::default(), &[]).await;
    let merchant = Merchant::create(&service, "acme").await;
    let browser = Browser::signed_in(&service).await;
    let there = browser.at(&format!("http://{}", second.operator_address));
    let mut stream = Stream::of(&there, "/console").await;
    merchant.checkout().await;
    let now = seen(&browser, "/console").await;
    // What was written just before may be told by itself first.
    let mut told = stream.next().await;
    while told.is_some() && told.as_ref() != Some(&now) {
        told = stream.next().await;
    }
    assert_eq!(told, Some(now), "the same mark on every instance");
    assert_eq!(browser.send("/console", "/console/sign-out", &[]).await.status, 303);
    while stream.next().await.is_some() {}
    second.stop().await;
    service.stop().await;
}
