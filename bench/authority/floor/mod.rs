//! The floor: what the same answers and the same rows cost with axum and sqlx and nothing else.
//!
//! A process of its own on `axum::serve`. A read is one query and its text copied through: no key, no rate, no
//! tenant, no headers beyond the media type. A write is one transaction of the statements that put the rows the
//! authority would put (the same tables, columns and sizes: bodies are copies of real ones), as durable as the
//! authority's own: no rule is checked, nothing is read before, nothing is rendered. Nobody shares a transaction with
//! anybody, as in any program that takes a connection from a pool and begins.
//!
//! The pools are as large as the authority's. Who writes: on SQLite one connection, since more would only wait for
//! each other's lock (measured: a sixth); on PostgreSQL as many connections as the authority has in all.

mod postgres;
mod sqlite;
mod template;

use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use tokio::net::TcpListener;

/// Serves the database at `url` until it is ended; `template` is the merchant whose first order the rows are copied
/// from. Prints its address when it is ready.
#[tokio::main]
pub(crate) async fn serve(url: &str, template: &str) {
    let router = match url.strip_prefix("sqlite://") {
        Some(path) => sqlite::router(path, template).await,
        None => postgres::router(url, template).await,
    };
    let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await.unwrap();
    println!("{}", listener.local_addr().unwrap());
    listen(listener, router).await;
}

async fn listen(listener: TcpListener, router: Router) {
    axum::serve(listener, router).await.unwrap();
}
