//! Whether what is rare keeps everybody waiting: a client of the platform that makes merchants and keys all the time,
//! beside clients that open checkouts. A request that takes every turn waits for the slowest shard, and all behind it.

use std::cell::Cell;

use bench_kit::database::Database;
use bench_kit::figures::ratio;
use http::Method;
use serde_json::json;
use tests::merchant::text;

use crate::choice::Choice;
use crate::figures::{Goals, HEAD, accepted};
use crate::load::drive;
use crate::rows::{Side, plan, print};
use crate::stand::{Client, FAR, Listeners};
use crate::work::{Undone, Work, ask};
use bench_kit::goals::Bound::{AtLeast, AtMost};

const INSTANCES: usize = 2;
const CLIENTS: usize = 64;

pub(crate) async fn measure(database: &Database, choice: &Choice, goals: &mut Goals) {
    println!("{HEAD}");
    let window = choice.window;
    for build in &choice.builds {
        let stands = plan(build, INSTANCES, Some(FAR), Listeners::None);
        let Side { stand, stock, clients } = Side::start(database, stands.clone(), CLIENTS).await;
        let mut platform = stand.clients(1).await.remove(0);
        let (mut alone, mut beside, done) = (Vec::new(), Vec::new(), Cell::new(0_usize));
        for _ in 0..choice.rounds {
            alone.push(drive(&stand, &stock, Work::Checkout, clients, window).await);
            let ended = Cell::new(false);
            let driving = async {
                let seen = drive(&stand, &stock, Work::Checkout, clients, window).await;
                ended.set(true);
                seen
            };
            let managing = async {
                while !ended.get() {
                    let _ = manage(&mut platform, done.get()).await;
                    done.set(done.get() + 1);
                }
            };
            beside.push(tokio::join!(driving, managing).0);
        }
        for rounds in [&alone, &beside] {
            print(&stands, Work::Checkout, clients, rounds, choice);
        }
        let seconds = (window.warm_up + window.time).as_secs_f64() * choice.rounds as f64;
        println!("{}: {:.1} merchants made and managed per second", build.name, done.get() as f64 / seconds);
        let what = "checkouts beside the making of merchants and keys : alone, accepted";
        goals.note(build.name, what, ratio(&beside, &alone, accepted), AtLeast(0.9));
        goals.note(build.name, "… p95", ratio(&beside, &alone, |seen| seen.took.p95), AtMost(1.5));
    }
}

/// Makes a merchant, changes it, and gives it a key and another one in its place.
async fn manage(platform: &mut Client, nth: usize) -> Result<(), Undone> {
    let operator = &mut platform.operator;
    let new = json!({ "slug": format!("new-{nth}"), "name": "New", "default_currency": "USD" });
    let merchant = ask(operator, Method::POST, "/v1/operator/merchants", &new).await?;
    let path = format!("/v1/operator/merchants/{}", text(&merchant, "id"));
    ask(operator, Method::PATCH, &path, &json!({ "name": "Newer" })).await?;
    let key = json!({ "name": "first", "mode": "test", "scopes": ["orders:read"] });
    let key = ask(operator, Method::POST, &format!("{path}/api-keys"), &key).await?;
    let rotate = format!("/v1/operator/api-keys/{}/rotate", text(&key, "id"));
    ask(operator, Method::POST, &rotate, &json!({ "overlap_seconds": 60 })).await.map(drop)
}
