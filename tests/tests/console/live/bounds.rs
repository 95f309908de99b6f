//! How many may listen: far more than the bounds ask on real sockets, exactly as many as there may be are served, and
//! everybody else's requests are answered.

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use futures_util::stream::iter;
use tests::memory::memory_mib;
use tests::{Authority, Database, Merchant, eventually, on_both_databases};

use super::Stream;
use crate::browser::Browser;
use crate::portal::{ALL, entered};

on_both_databases!(a_hostile_merchant_gets_its_share, all_together_have_a_bound);

const PER_SESSION: usize = 4;
const PER_MERCHANT: usize = 32;
const ALL_TOGETHER: usize = 256;

/// Asks so many times, many at once, with each browser in turn; those that were served, and the other statuses. A
/// refused connection is closed at once: both databases' tests together may not open more files than a process may.
async fn ask(browsers: &[Browser], times: usize) -> (Vec<Stream>, Vec<u16>) {
    let (mut served, mut refused) = (Vec::new(), Vec::new());
    let mut asked = iter(browsers.iter().cycle().take(times))
        .map(async |browser| {
            let stream = Stream::ask(browser, "/portal/live", &[]).await;
            let told = stream.header("retry-after") == Some("30");
            assert_eq!(told, stream.status != 200, "{}", stream.status);
            stream
        })
        .buffer_unordered(100);
    while let Some(stream) = asked.next().await {
        match stream.status {
            200 => served.push(stream),
            other => refused.push(other),
        }
    }
    (served, refused)
}

async fn sessions(merchant: &Merchant, many: usize) -> Vec<Browser> {
    join_all((0..many).map(|_| entered(merchant, ALL))).await
}

async fn a_hostile_merchant_gets_its_share(database: Database) {
    let (authority, hostile) = Merchant::on(database, "hostile").await;
    let other = Merchant::create(&authority, "other").await;
    let theirs = entered(&other, ALL).await;
    let (of_one, refused) = ask(&sessions(&hostile, 1).await, 50).await;
    assert_eq!((of_one.len(), refused), (PER_SESSION, vec![429; 46]));
    let many = sessions(&hostile, 20).await;
    let before = memory_mib(authority.pid());
    let (served, refused) = ask(&many, 10_000).await;
    assert_eq!(served.len(), PER_MERCHANT - PER_SESSION);
    assert_eq!(refused, vec![429; 10_000 - served.len()]);
    let counted = format!("authority_live_pages{{api=\"merchant-api\"}} {PER_MERCHANT}");
    assert!(authority.probe("/metrics").await.text().contains(&counted), "{counted}");
    let grown = memory_mib(authority.pid()) - before;
    assert!(grown < 64.0, "{grown} MiB");
    // Nobody else notices.
    let mut stream = Stream::ask(&theirs, "/portal/live", &[]).await;
    assert_eq!(stream.status, 200);
    assert!(stream.next().await.is_some());
    for merchant in [&hostile, &other] {
        merchant.api.get("/orders").await.expect(200);
        merchant.checkout().await;
    }
    assert!(stream.next().await.is_some());
    // Whoever goes away makes room: for the session, and for the merchant.
    drop((of_one, served));
    eventually("all slots of the merchant are free", async || {
        let (again, _) = ask(&many, PER_MERCHANT).await;
        (again.len() == PER_MERCHANT).then_some(())
    })
    .await;
}

async fn all_together_have_a_bound(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let mut served = Vec::new();
    for n in 0..ALL_TOGETHER / PER_MERCHANT {
        let merchant = Merchant::create(&authority, &format!("shop-{n}")).await;
        let (of_it, _) = ask(&sessions(&merchant, PER_MERCHANT / PER_SESSION).await, PER_MERCHANT).await;
        assert_eq!(of_it.len(), PER_MERCHANT, "{n}");
        served.extend(of_it);
    }
    let late = Merchant::create(&authority, "late").await;
    let browser = entered(&late, ALL).await;
    let (none, refused) = ask(std::slice::from_ref(&browser), 100).await;
    assert_eq!((none.len(), refused), (0, vec![503; 100]));
    // The operator's listener has slots of its own, and requests are answered.
    let console = Browser::signed_in(&authority).await;
    assert_eq!(Stream::ask(&console, "/console/live", &[]).await.status, 200);
    assert_eq!(browser.get("/portal").await.status, 200);
    late.api.get("/orders").await.expect(200);
    drop(served.pop());
    eventually("one slot is free", async || {
        (Stream::ask(&browser, "/portal/live", &[]).await.status == 200).then_some(())
    })
    .await;
}
