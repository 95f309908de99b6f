//! The scheduler on both databases, its clock turned by hand: what is due happens once, whoever does it, and nothing
//! else happens (contract 3.1, 3.4).
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

mod platform;

use std::time::Duration;

use authority::background::scheduler;
use authority::service::Service;
use serde_json::{Value, json};
use tokio::sync::watch;

use platform::{DAY_MS, HOUR_MS, Kind, Platform, config};

/// One round of one instance.
async fn round(platform: &Platform) {
    let (_stop, stopped) = watch::channel(false);
    scheduler::round(&platform.app, &stopped).await.unwrap();
}

async fn checkouts_expire_at_their_time_and_not_before(kind: Kind) {
    let platform = Platform::start(kind).await;
    let shop = platform.merchant(json!({})).await;
    let default = platform.open_checkout(&shop, &json!({})).await;
    let in_an_hour = json!({"expires_at": platform.at(HOUR_MS)});
    let early = platform.open_checkout(&shop, &in_an_hour).await;
    let payment = platform.start_payment(&shop, &early, 1).await;
    let paid = platform.open_checkout(&shop, &in_an_hour).await;
    let paying = platform.start_payment(&shop, &paid, 2).await;
    platform.report(&paying, "pending").await.unwrap();
    let known = platform.events(&shop).await.len();

    platform.wait(HOUR_MS - 1);
    round(&platform).await;
    assert_eq!(platform.events(&shop).await.len(), known, "nothing is due");
    platform.wait(1);
    round(&platform).await;
    let events = platform.events(&shop).await;
    assert_eq!(platform::short(&events[known..]), ["payment.cancelled 2", "checkout.expired 2"]);
    let expired = &events[known + 1]["data"]["object"];
    assert_eq!((&expired["id"], &expired["status"]), (&early["id"], &json!("expired")));
    assert_eq!(expired["expired_at"], expired["expires_at"]);
    assert_eq!(events[known]["data"]["object"]["id"], payment["id"]);

    platform.wait(DAY_MS);
    for _ in 0..2 {
        round(&platform).await;
        let events = platform.events(&shop).await;
        assert_eq!(platform::short(&events[known + 2..]), ["checkout.expired 2"]);
        assert_eq!(events[known + 2]["data"]["object"]["id"], default["id"]);
    }
}

async fn orders_that_stay_pending_are_cancelled_where_the_merchant_says_so(kind: Kind) {
    let platform = Platform::start(kind).await;
    let patient = platform.merchant(json!({})).await;
    let strict = platform.merchant(json!({"pending_order_ttl_hours": 2})).await;
    for shop in [&patient, &strict] {
        platform
            .take_in(shop, &json!({"order_number": "A", "payments": [platform::payment("pending", 1)]}))
            .await;
        platform
            .take_in(shop, &json!({"order_number": "B", "payments": [platform::payment("succeeded", 2)]}))
            .await;
        platform.wait(HOUR_MS);
        platform.take_in(shop, &json!({"order_number": "C", "placed_at": platform.at(-DAY_MS)})).await;
        platform.wait(-HOUR_MS);
    }
    let known = platform.events(&strict).await.len();
    platform.wait(2 * HOUR_MS - 1);
    round(&platform).await;
    assert_eq!(platform.events(&strict).await.len(), known);
    platform.wait(1);
    round(&platform).await;
    let events = platform.events(&strict).await;
    assert_eq!(platform::short(&events[known..]), ["payment.cancelled 3", "order.cancelled 3"]);
    let order = &events[known + 1]["data"]["object"];
    assert_eq!((&order["order_number"], &order["cancel_reason"]), (&json!("A"), &json!("expired")));
    assert_eq!(order["payment_status"], "voided");

    platform.wait(DAY_MS);
    round(&platform).await;
    let events = platform.events(&strict).await;
    assert_eq!(platform::short(&events[known + 2..]), ["order.cancelled 2"], "by when it was taken in");
    assert_eq!(events[known + 2]["data"]["object"]["order_number"], "C");
    assert_eq!(platform.events(&patient).await.len(), known);
}

/// The scheduler has not come by when the report does: it is the time that counts, not the scheduler.
async fn a_report_after_the_time_completes_nothing_and_raises_an_alert(kind: Kind) {
    let platform = Platform::start(kind).await;
    let shop = platform.merchant(json!({})).await;
    let table = [
        ("succeeded", true, "succeeded", &["checkout.expired 2", "payment.succeeded 2"]),
        ("authorized", false, "cancelled", &["payment.cancelled 2", "checkout.expired 2"]),
        ("failed", true, "failed", &["payment.failed 2", "checkout.expired 2"]),
    ];
    for (n, (status, applied, becomes, told)) in table.into_iter().enumerate() {
        let checkout = platform.open_checkout(&shop, &json!({})).await;
        let payment = platform.start_payment(&shop, &checkout, n).await;
        let known = platform.events(&shop).await.len();
        platform.wait(DAY_MS);
        let reported = platform.report(&payment, status).await.unwrap();
        assert_eq!(
            (&reported["applied"], &reported["payment"]["status"]),
            (&json!(applied), &json!(becomes))
        );
        assert_eq!(reported["payment"]["order_number"], Value::Null);
        let events = platform.events(&shop).await;
        assert_eq!(platform::short(&events[known..]), told.as_slice(), "{status}");
        round(&platform).await;
        assert_eq!(platform.events(&shop).await.len(), known + 2, "{status}: nothing is left to do");
        let alerts: Vec<Value> = platform.alerts().await;
        assert_eq!(alerts.len(), 1, "{status}: {alerts:?}");
        assert_eq!(alerts[0]["code"], "late_payment");
    }
}

/// More than one batch, done by two instances at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_instances_never_do_one_thing_twice() {
    const CHECKOUTS: usize = 120;
    let platform = Platform::start(Kind::Postgres).await;
    let beside = platform.beside().await;
    let shop = platform.merchant(json!({"pending_order_ttl_hours": 1})).await;
    for n in 0..CHECKOUTS {
        platform.open_checkout(&shop, &json!({})).await;
        if n % 4 == 0 {
            platform.take_in(&shop, &json!({})).await;
        }
    }
    let known = platform.events(&shop).await.len();
    for instance in [&platform, &beside] {
        instance.wait(DAY_MS);
    }
    let rounds = (0..2).flat_map(|_| [round(&platform), round(&beside)]);
    futures_util::future::join_all(rounds).await;
    let events = platform.events(&shop).await;
    let mut told = platform::short(&events[known..]);
    told.sort_unstable();
    let mut expected = vec!["checkout.expired 2"; CHECKOUTS];
    expected.extend(["order.cancelled 2"; CHECKOUTS / 4]);
    assert_eq!(told, expected);
}

/// The service itself keeps time: what became due while it was away is done at its start.
async fn a_service_does_at_its_start_what_is_due(kind: Kind) {
    let platform = Platform::start(kind).await;
    let shop = platform.merchant(json!({})).await;
    platform.open_checkout(&shop, &json!({})).await;
    let url = platform.url.clone();
    platform.wait(DAY_MS);
    let (clock, dice) = (platform.clock(), platform.dice());
    platform.app.store.close().await;
    let service = Service::start(config(&url), clock, dice).await.unwrap();
    let again = platform.through(service.app.clone());
    let mut ticks = tokio::time::interval(Duration::from_millis(20));
    let told = async {
        loop {
            ticks.tick().await;
            let events = again.events(&shop).await;
            if events.len() == 2 {
                return platform::short(&events);
            }
        }
    };
    let told = tokio::time::timeout(Duration::from_secs(60), told).await.unwrap();
    assert_eq!(told, ["checkout.created 1", "checkout.expired 2"]);
    service.stop().await;
}

/// Makes two tests of every case.
macro_rules! on_both_databases {
    ($($case:ident),+ $(,)?) => {
        mod on_sqlite {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    super::$case(super::Kind::Sqlite).await;
                }
            )+
        }
        mod on_postgres {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    super::$case(super::Kind::Postgres).await;
                }
            )+
        }
    };
}

on_both_databases!(
    checkouts_expire_at_their_time_and_not_before,
    orders_that_stay_pending_are_cancelled_where_the_merchant_says_so,
    a_report_after_the_time_completes_nothing_and_raises_an_alert,
    a_service_does_at_its_start_what_is_due,
);
