//! Random shares, revocations and changes of orders: after every few of them each merchant sees by requests, and has
//! heard in its stream, exactly what the model says.

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::json;
use tests::{Authority, Database, on_both_databases, rows, text};

use super::world::World;

on_both_databases!(a_partner_sees_what_it_may_and_nothing_else);

const MERCHANTS: usize = 3;
const STEPS: usize = 120;
const COMPARED_EVERY: usize = 10;

async fn a_partner_sees_what_it_may_and_nothing_else(database: Database) {
    let authority = Authority::on(database, &[("AUTHORITY_LOG", "warn")]).await;
    let seed = rand::random();
    println!("seed {seed}");
    let mut dice = StdRng::seed_from_u64(seed);
    let mut world = World::new(&authority, MERCHANTS).await;
    for owner in 0..MERCHANTS {
        world.order(owner).await;
    }
    world.connect(0, 1).await;
    for step in 1..=STEPS {
        act(&mut world, &mut dice).await;
        if step % COMPARED_EVERY == 0 {
            world.compare().await;
        }
    }
    assert!(world.shares.iter().any(|shared| !shared.active), "something was taken back");
    authority.is_sound().await;
}

async fn act(world: &mut World, dice: &mut StdRng) {
    let order = dice.random_range(0..world.orders.len());
    let (one, other) = (dice.random_range(0..MERCHANTS), dice.random_range(1..MERCHANTS));
    let other = (one + other) % MERCHANTS;
    let pair = (one.min(other), one.max(other));
    match dice.random_range(0..20) {
        0 if world.orders.len() < 8 => world.order(one).await,
        1 | 2 if !world.connections.contains_key(&pair) => world.connect(one, other).await,
        3..=7 => {
            let owner = world.orders[order].0;
            let partner = (owner + dice.random_range(1..MERCHANTS)) % MERCHANTS;
            world.share(order, partner, dice.random(), dice.random()).await;
        }
        8 if !world.shares.is_empty() => {
            let index = dice.random_range(0..world.shares.len());
            world.unshare(index).await;
        }
        9 => world.disconnect(pair, one).await,
        _ => change(world, order, dice).await,
    }
}

/// Something happens to an order; what its state does not allow, does not.
async fn change(world: &mut World, order: usize, dice: &mut StdRng) {
    let (owner, number) = world.orders[order].clone();
    let merchant = world.merchants[owner].clone();
    match dice.random_range(0..6) {
        0 | 1 => {
            let note = format!("for our eyes: {}", dice.random::<u32>());
            let path = format!("/orders/{number}/fulfillment");
            merchant.api.patch(&path, &json!({ "note": note })).await;
        }
        2 | 3 => {
            let line = merchant.order(&number).await["line_items"][0]["id"].clone();
            let body = json!({
                "carrier": "dhl", "metadata": { "bay": "7" },
                "line_items": [{ "line_item_id": line, "quantity": 1 }],
            });
            merchant.api.post(&format!("/orders/{number}/shipments"), &body).await;
        }
        4 => {
            let target = if dice.random() { "fulfilled" } else { "delivered" };
            let path = format!("/orders/{number}/fulfillment");
            let body = json!({ "fulfillment_status": target });
            merchant.api.patch(&path, &body).await;
        }
        _ => {
            let page = merchant.api.get(&format!("/orders/{number}/shipments")).await.expect(200);
            if let Some(parcel) = rows(&page).first() {
                let path = format!("/shipments/{}/advance", text(parcel, "id"));
                world.sandboxes[owner].post(&path, &json!({ "to": "in_transit" })).await;
            }
        }
    }
    world.take_notice().await;
}
