//! The floor: the same rows committed and the same bodies delivered, with everything left out that makes it a product.
//!
//! A process of its own. A bare axum handler takes the request: no credential, no validation, no idempotency, no rule.
//! What arrives together is written together, in one transaction with statements of many rows ([`writer`]). After the
//! commit the deliveries, written as already leased, are handed to the sender ([`sender`]) without having been claimed,
//! signed and posted; their outcomes go into the next transaction, many at a time.
//!
//! Same tables, indexes and constraints (the authority made the database), same columns, sizes and durability: bodies
//! are copies of real ones with the ids replaced ([`template`]). What the contract promises receivers holds here too:
//! at most 128 requests in flight to an endpoint, 512 in all.
//!
//! Deliberately absent, and so in the floor's favour: it keeps every counter in memory, since it takes itself to be the
//! only writer; a failed attempt ends it; and what it had handed over is forgotten when it ends.

mod database;
mod handler;
mod postgres;
mod sender;
mod sqlite;
mod template;
mod writer;

pub(crate) use writer::now_ms;

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};

use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;

/// What a floor needs to know, on its standard input.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Setting {
    /// The database, made and filled by an authority.
    pub(crate) database: String,
    pub(crate) merchants: Vec<Merchant>,
}

/// A merchant and who wants its events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Merchant {
    pub(crate) id: String,
    pub(crate) endpoints: Vec<Endpoint>,
}

/// Where events go.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Endpoint {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) secret: String,
}

/// Serves until it is ended; prints its address when it is ready.
#[tokio::main]
pub(crate) async fn serve() {
    let setting: Setting = serde_json::from_reader(std::io::stdin()).unwrap();
    let work = writer::start(&setting).await;
    let router = handler::router(&setting, work);
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    std::io::stdout().flush().unwrap();
    use axum::serve::ListenerExt as _;
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
    axum::serve(listener, router).await.unwrap();
}
