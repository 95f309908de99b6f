//! The load: connections that each have one request in flight, and the time every unit of work took.

use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::join_all;
use http::{HeaderValue, Method, Request, header};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::process::Processes;

/// One connection that stays.
pub(crate) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    host: HeaderValue,
    authorization: Option<HeaderValue>,
}

impl Connection {
    pub(crate) async fn open(address: &str, key: Option<&str>) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Self {
            sender,
            host: HeaderValue::try_from(address).unwrap(),
            authorization: key.map(|key| HeaderValue::try_from(format!("Bearer {key}")).unwrap()),
        }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Bytes {
        self.call(Method::GET, path, Bytes::new()).await
    }

    pub(crate) async fn post(&mut self, path: &str, body: &serde_json::Value) -> Bytes {
        self.call(Method::POST, path, body.to_string().into()).await
    }

    async fn call(&mut self, method: Method, path: &str, body: Bytes) -> Bytes {
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, &self.host);
        if let Some(authorization) = &self.authorization {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        if !body.is_empty() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        self.sender.ready().await.unwrap();
        let response = self.sender.send_request(request.body(Full::new(body)).unwrap()).await.unwrap();
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert!(status.is_success(), "{path}: {status} {}", String::from_utf8_lossy(&body));
        body
    }
}

/// What one side did in its turn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Measured {
    /// Units of work.
    pub(crate) per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// Processor time of the process that was asked, per unit.
    pub(crate) cpu_us: f64,
    /// The same of the database server, where there is one.
    pub(crate) database_cpu_us: f64,
}

/// Lets every connection do `unit` again and again for `time`. `unit` gets the number of its connection.
pub(crate) async fn drive(
    connections: &mut [Connection],
    time: Duration,
    processes: &Processes,
    unit: impl AsyncFn(&mut Connection, usize),
) -> Measured {
    let before = processes.cpu();
    let started = Instant::now();
    let clients = connections.iter_mut().enumerate().map(async |(number, connection)| {
        let mut took = Vec::new();
        while started.elapsed() < time {
            let begun = Instant::now();
            unit(connection, number).await;
            took.push(begun.elapsed());
        }
        took
    });
    let mut took: Vec<Duration> = join_all(clients).await.into_iter().flatten().collect();
    let elapsed = started.elapsed();
    let spent = processes.cpu() - before;
    took.sort_unstable();
    let units = took.len() as f64;
    let at = |share: usize| took[(took.len() * share / 100).min(took.len() - 1)].as_secs_f64() * 1e3;
    Measured {
        per_second: units / elapsed.as_secs_f64(),
        p50_ms: at(50),
        p99_ms: at(99),
        cpu_us: spent.asked.as_secs_f64() * 1e6 / units,
        database_cpu_us: spent.database.as_secs_f64() * 1e6 / units,
    }
}
