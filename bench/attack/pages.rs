//! A merchant with a hundred events of 180 KB that asks for pages of all of them and reads none.

use futures_util::future::join_all;
use serde_json::json;
use tests::authority::Authority;
use tests::merchant::{Merchant, SCOPES};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;

const EVENTS: usize = 100;
const CONNECTIONS: usize = 120;
/// What the system keeps of an answer on this side is not the authority's.
const RECEIVE_BUFFER: u32 = 4 * 1024;

pub(crate) struct Pages {
    address: std::net::SocketAddr,
    keys: Vec<String>,
}

pub(crate) async fn prepare(authority: &Authority, keys: usize) -> Pages {
    let merchant = Merchant::create(authority, "attacker").await;
    let metadata = json!({ "a": "x".repeat(500), "b": "x".repeat(500), "c": "x".repeat(480) });
    let line = json!({ "name": "T-shirt", "quantity": 1, "unit_amount": 100, "metadata": metadata });
    let body = json!({ "currency": "USD", "line_items": vec![line; 100] });
    for _ in 0..EVENTS {
        merchant.operator.post(&merchant.platform_path("checkouts"), &body).await.expect(201);
    }
    let mut issued = Vec::new();
    for _ in 0..keys {
        issued.push(merchant.issue_key("test", &SCOPES).await);
    }
    Pages { address: authority.merchant_address().parse().unwrap(), keys: issued }
}

impl Pages {
    pub(crate) async fn run(&self) {
        join_all((0..CONNECTIONS).map(|n| self.attack(&self.keys[n % self.keys.len()]))).await;
    }

    /// Asks and does not read. Where the authority ends the connection, asks on another one.
    async fn attack(&self, key: &str) {
        let ask = format!(
            "GET /v1/merchant/events?limit=100 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {key}\r\n\r\n"
        );
        loop {
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_recv_buffer_size(RECEIVE_BUFFER).unwrap();
            let Ok(mut connection) = socket.connect(self.address).await else { continue };
            if connection.write_all(ask.as_bytes()).await.is_err() {
                continue;
            }
            // Who is refused asks again; who is answered takes the first bytes and no more.
            let mut status = [0; 12];
            if connection.read_exact(&mut status).await.is_err() {
                continue;
            }
            if &status[9..] == b"200" {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }
}
