//! What the dispatcher's look for due deliveries takes in the store, on both databases in turns and without a service.

use bench_kit::claim::{claim, store};
use bench_kit::figures::median;
use tests::clock::now_ms;

use crate::fill::{DUE_AFTER_MS, WAITING};
use crate::side::Side;

/// Claims on each database.
const CLAIMS: usize = 100;
/// Deliveries that a claim takes, and of one endpoint.
const TAKEN: usize = 256;
const EACH: i64 = 16;

/// Medians in µs of a claim and of a look that finds nothing due, on the larger database and on the smaller one.
pub(crate) async fn measure(sides: &[Side; 2]) -> [(&'static str, [f64; 2]); 2] {
    let stores =
        [store(sides[0].authority.database_url()).await, store(sides[1].authority.database_url()).await];
    let (mut claims, mut looks) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    let (now, later) = (now_ms(), now_ms() + 2 * DUE_AFTER_MS);
    for round in 0..=CLAIMS {
        for (place, (side, store)) in sides.iter().zip(&stores).enumerate() {
            let expected = TAKEN.min(usize::try_from(WAITING.min(side.shop.merchants)).unwrap());
            let took = claim(store, later, EACH, expected).await;
            let looked = claim(store, now, EACH, 0).await;
            if round > 0 {
                claims[place].push(took.as_secs_f64() * 1e6);
                looks[place].push(looked.as_secs_f64() * 1e6);
            }
        }
    }
    for store in stores {
        store.close().await;
    }
    [("a claim, µs", claims.map(median)), ("a claim that finds nothing due, µs", looks.map(median))]
}
