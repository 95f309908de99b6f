//! Workers in workerd, the runtime of Cloudflare, driven from a test.
//!
//! [`Workerd::start`] builds the Worker (once per test program), installs Miniflare from its lock file when it
//! is not there, and starts `node tests/node/serve.mjs`, which runs any number of Workers, each on a loopback
//! port of its own. A test posts to them, asks for what lies in their KV namespaces, ends the runtime in order
//! ([`Workerd::stop`]) or by force ([`Workerd::kill`]), starts it again on the same [`State`], and reads the
//! databases that the Durable Objects left behind.
//!
//! The runtime ends when the test closes its input, and so also when the test dies.

mod inbox;
mod setup;
mod worker;

use std::collections::HashMap;
use std::path::Path;
use std::process::Stdio;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

pub use inbox::Record;
pub use worker::Worker;

/// The KV namespace of the edge receiver.
const RECORDS: &str = "DEDUP_RECORDS";

/// Where the Workers' storage lies; it outlives the runtime and is removed when this value is dropped.
#[derive(Debug)]
pub struct State(tempfile::TempDir);

impl State {
    /// An empty one, in memory where the system has a file system there.
    #[must_use]
    pub fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let parent = if memory.is_dir() { memory.to_path_buf() } else { std::env::temp_dir() };
        Self(tempfile::Builder::new().prefix("workerd-").tempdir_in(parent).unwrap())
    }

    /// The position of reconciliation of the edge receiver `worker`. The runtime must have ended.
    pub async fn position(&self, worker: &str) -> Option<String> {
        inbox::position(&self.0.path().join("do").join(format!("{worker}-Reconciliation"))).await
    }

    /// Whether `text` is anywhere in what the Workers have stored.
    #[must_use]
    pub fn contains(&self, text: &str) -> bool {
        inbox::contains(self.0.path(), text.as_bytes())
    }

    /// What the edge receiver `worker` has in all of its inboxes, ordered by id. The runtime must have ended.
    pub async fn records(&self, worker: &str) -> Vec<Record> {
        inbox::read(&self.0.path().join("do").join(format!("{worker}-EventInbox"))).await
    }
}

impl Default for State {
    fn default() -> Self {
        Self::new()
    }
}

/// A running runtime.
#[derive(Debug)]
pub struct Workerd {
    child: Child,
    questions: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    asked: u64,
    urls: HashMap<String, String>,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl Workerd {
    /// Runs `workers` on `state` and returns when all of them take requests.
    pub async fn start(state: &State, workers: &[Worker]) -> Self {
        setup::install_miniflare();
        let mut child = Command::new("node")
            .arg(setup::node_folder().join("serve.mjs"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node must be on the PATH");
        let mut questions = child.stdin.take().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
        let options: Vec<_> = workers.iter().map(|worker| &worker.options).collect();
        let setup = json!({ "persist": state.0.path(), "workers": options });
        questions.write_all(format!("{setup}\n").as_bytes()).await.unwrap();
        let ready = next(&mut answers).await;
        assert_eq!(ready["ready"], true, "{ready}");
        let urls = workers
            .iter()
            .map(|worker| {
                (worker.name().to_owned(), ready["urls"][worker.name()].as_str().unwrap().to_owned())
            })
            .collect();
        // A connection for each request: the runtime closes a kept one at a moment of its choosing, and a POST that
        // meets that is lost.
        let client = Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build_http();
        Self { child, questions, answers, asked: 0, urls, client }
    }

    /// The address of a path of `worker`.
    #[must_use]
    pub fn url(&self, worker: &str, path: &str) -> String {
        format!("{}{path}", self.urls[worker])
    }

    /// Sends a request and reads the whole answer.
    pub async fn send(&self, request: Request<Bytes>) -> Reply {
        let response = self.client.request(request.map(Full::new)).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Reply { status: head.status, headers: head.headers, body: String::from_utf8(body.into()).unwrap() }
    }

    /// The value and the metadata at `key` in the edge receiver's KV namespace: `{"value":…,"metadata":…}`.
    pub async fn record(&mut self, worker: &str, key: &str) -> Value {
        self.ask("kv_get", worker, key).await
    }

    /// The keys of the edge receiver's KV namespace that begin with `prefix`, each with its `expiration`.
    pub async fn records(&mut self, worker: &str, prefix: &str) -> Value {
        self.ask("kv_list", worker, prefix).await["keys"].take()
    }

    /// Removes `key` from the edge receiver's KV namespace.
    pub async fn forget(&mut self, worker: &str, key: &str) {
        self.ask("kv_delete", worker, key).await;
    }

    /// How the events in all inboxes of a Worker that is entered by `inspect.js` stand: received, processing,
    /// processed, error.
    pub async fn standing(&self, worker: &str) -> [u64; 4] {
        let mut total = [0; 4];
        for shard in 0..16 {
            let reply = self.ask_inbox(worker, shard, "/summary", Bytes::new()).await;
            assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
            for (sum, word) in total.iter_mut().zip(reply.body.split(' ')) {
                *sum += word.parse::<u64>().unwrap();
            }
        }
        total
    }

    /// Asks one inbox of a Worker that is entered by `inspect.js`.
    pub async fn ask_inbox(&self, worker: &str, shard: u8, path: &str, body: Bytes) -> Reply {
        let url = self.url(worker, &format!("/inbox/inbox-{shard:02}{path}"));
        self.send(Request::post(url).body(body).unwrap()).await
    }

    /// How many lines that contain `text` the Workers and the runtime have logged.
    pub async fn logged(&mut self, text: &str) -> u64 {
        self.ask("logged", "", text).await.as_u64().unwrap()
    }

    /// How much memory the runtime holds, in bytes.
    pub async fn memory(&mut self) -> u64 {
        self.ask("memory", "", "").await.as_u64().unwrap()
    }

    /// Runs the scheduled handler of `worker`, as its cron trigger does, to its end.
    pub async fn scheduled(&mut self, worker: &str) {
        assert_eq!(self.ask("scheduled", worker, "").await, "ok");
    }

    /// Begins the same and does not wait for its end.
    pub async fn begin_scheduled(&mut self, worker: &str) {
        self.write(&json!({ "id": 0, "op": "scheduled", "worker": worker })).await;
    }

    /// Waits for the end of what [`Workerd::begin_scheduled`] began.
    pub async fn scheduled_has_ended(&mut self) {
        assert_eq!(next(&mut self.answers).await, json!({ "id": 0, "value": "ok" }));
    }

    /// What reconciliation of the edge receiver `worker` says of itself.
    pub async fn reconciliation(&mut self, worker: &str) -> Value {
        self.ask("reconciliation", worker, "").await
    }

    /// Ends the runtime in order.
    pub async fn stop(self) {
        let Self { mut child, questions, .. } = self;
        drop(questions);
        assert!(child.wait().await.unwrap().success());
    }

    /// Ends the runtime by force: it has no chance to finish or to write anything.
    pub async fn kill(mut self) {
        self.write(&json!({ "op": "kill" })).await;
        assert!(self.child.wait().await.unwrap().success());
    }

    async fn ask(&mut self, op: &str, worker: &str, key: &str) -> Value {
        self.asked += 1;
        let id = self.asked;
        self.write(&json!({ "id": id, "op": op, "worker": worker, "binding": RECORDS, "key": key })).await;
        let mut answer = next(&mut self.answers).await;
        assert_eq!(answer["id"], id, "{answer}");
        answer["value"].take()
    }

    async fn write(&mut self, question: &Value) {
        self.questions.write_all(format!("{question}\n").as_bytes()).await.unwrap();
    }
}

async fn next(answers: &mut Lines<BufReader<ChildStdout>>) -> Value {
    let line = answers.next_line().await.unwrap().expect("serve.mjs ended; its reason is on standard error");
    serde_json::from_str(&line).unwrap()
}

/// What came back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The header lines.
    pub headers: http::HeaderMap,
    /// The whole body.
    pub body: String,
}

impl Reply {
    /// The status and the code of a receiver's answer. The body must be the code and nothing else.
    #[must_use]
    pub fn outcome(&self) -> (u16, &str) {
        let code = self.body.strip_prefix(r#"{"code":""#).and_then(|rest| rest.strip_suffix(r#""}"#));
        (self.status.as_u16(), code.unwrap_or_else(|| panic!("not a receiver's answer: {}", self.body)))
    }
}
