//! Row 8: what it takes to share an order with a merchant of another shard, beside one of the same shard; and to change
//! an order that is shared, beside one that is not. One client, a database that is 2 ms away.
//!
//! Where the database does not tell shards, the pairs are told by themselves: the slowest of them beside the quickest.

use std::time::Instant;

use bench_kit::database::Database;
use bench_kit::figures::{Percentiles, median};
use serde_json::json;
use tests::merchant::Merchant;
use tests::partners::{connect, share};

use crate::choice::Choice;
use crate::figures::Goals;
use crate::rows::plan;
use crate::shards;
use crate::stand::{FAR, Listeners, Stand};
use bench_kit::goals::Bound::AtMost;

/// Pairs of each kind, at most.
const PAIRS: usize = 16;
/// Orders that each pair shares.
const ORDERS: usize = 12;
/// Of these the first are not counted: statements are prepared then.
const WARM_UP: usize = 2;

/// Two merchants that are connected.
struct Pair<'s> {
    owner: &'s Merchant,
    connection: String,
    /// Whether both have one shard, where that is known.
    together: Option<bool>,
    /// In ms.
    shared: Vec<f64>,
    changed: Vec<f64>,
    changed_alone: Vec<f64>,
}

pub(crate) async fn measure(database: &Database, choice: &Choice, goals: &mut Goals) {
    println!(
        "\n| build | pairs | how many | share: p50 p95 ms | change of a shared order | … of one not shared |"
    );
    println!("|---|---|---:|---:|---:|---:|");
    for build in &choice.builds {
        let stand = Stand::start(database, plan(build, 1, Some(FAR), Listeners::None)).await;
        let mut pairs = pairs(&stand).await;
        for round in 0..ORDERS {
            for pair in &mut pairs {
                pair.share_one(round >= WARM_UP).await;
            }
        }
        let sharded = pairs.iter().any(|pair| pair.together.is_some());
        let kinds: &[_] = if sharded {
            &[("one shard", Some(true)), ("two shards", Some(false))]
        } else {
            &[("any", None)]
        };
        let mut medians = Vec::new();
        for (name, kind) in kinds {
            let of_kind: Vec<&Pair<'_>> = pairs.iter().filter(|pair| pair.together == *kind).collect();
            medians.push(tell(build.name, name, &of_kind));
        }
        let what = "8: a share across shards : inside one";
        if let [inside, across] = medians.as_slice() {
            goals.note(build.name, what, across / inside, AtMost(2.0));
        } else {
            let by_pair = || pairs.iter().map(|pair| median(pair.shared.clone()));
            let spread = by_pair().fold(f64::NAN, f64::max) / by_pair().fold(f64::NAN, f64::min);
            goals.note(build.name, "8: a share, slowest pair : quickest (no shards)", spread, AtMost(2.0));
        }
    }
}

/// Prints a line; the median of a share.
fn tell(build: &str, name: &str, pairs: &[&Pair<'_>]) -> f64 {
    let all = |times: for<'a> fn(&'a Pair<'_>) -> &'a Vec<f64>| {
        Percentiles::of(pairs.iter().flat_map(|pair| times(pair)).copied().collect())
    };
    let [shared, changed, alone] =
        [all(|pair| &pair.shared), all(|pair| &pair.changed), all(|pair| &pair.changed_alone)];
    let figures = [shared, changed, alone].map(|took| format!("{:.1} {:.1}", took.p50, took.p95));
    println!("| {build} | {name} | {} | {} |", pairs.len(), figures.join(" | "));
    shared.p50
}

/// Connects merchants: of each kind as many pairs as there are, up to a bound.
async fn pairs(stand: &Stand) -> Vec<Pair<'_>> {
    let shards = shards::of_merchants(&stand.url).await;
    let mut found = Vec::new();
    let mut counts = [0; 2];
    for (place, owner) in stand.merchants.iter().enumerate() {
        for partner in &stand.merchants[place + 1..] {
            let together = shards.as_ref().map(|shards| shards[&owner.id] == shards[&partner.id]);
            let count = &mut counts[usize::from(together == Some(true))];
            // Each owner stands in one pair of a kind, so that the pairs are spread.
            let is_new =
                !found.iter().any(|pair: &Pair<'_>| pair.owner.id == owner.id && pair.together == together);
            if *count < PAIRS && is_new {
                *count += 1;
                let connection = connect(owner, partner).await;
                let (shared, changed, changed_alone) = Default::default();
                found.push(Pair { owner, connection, together, shared, changed, changed_alone });
            }
        }
    }
    found
}

impl Pair<'_> {
    async fn share_one(&mut self, counts: bool) {
        let number = self.owner.paid_order().await;
        let alone = timed(self.note(&number)).await;
        let shared = timed(share(self.owner, &number, &self.connection)).await;
        let changed = timed(self.note(&number)).await;
        if counts {
            self.changed_alone.push(alone);
            self.shared.push(shared);
            self.changed.push(changed);
        }
    }

    async fn note(&self, number: &str) {
        let path = format!("/orders/{number}/fulfillment");
        let note = json!({ "note": format!("{:?}", Instant::now()) });
        self.owner.api.call(http::Method::PATCH, &path).json(&note).send().await.expect(200);
    }
}

/// In ms.
async fn timed<T>(work: impl Future<Output = T>) -> f64 {
    let begun = Instant::now();
    work.await;
    begun.elapsed().as_secs_f64() * 1e3
}
