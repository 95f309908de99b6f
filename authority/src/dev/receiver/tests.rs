//! The receiver on a real socket with a real inbox: each case of contract 11.1, and the events left by a crash.

use std::time::Duration;

use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tempfile::TempDir;
use verify_core::code::VerificationCode;
use verify_core::secret::Secret;
use verify_core::sign::signature_header;
use verify_core::verify::Tolerance;

use super::*;
use crate::dice::SystemDice;

const SECRET: &str = "whsec_4fQ2mZr8Kc0VtYb7NwXh1LpJd5Ss9RgAeUoTiCnEq3M";
/// 2026-09-01T12:00:00Z
const NOW: i64 = 1_788_264_000;
const BODY: &str = r#"{"id":"evt_1","type":"order.created","api_version":"2026-09-01","created_at":"2026-09-01T12:00:00.000Z","sequence":7,"merchant":{"id":"mer_1","slug":"a"},"data":{"object":{}}}"#;

struct FixedClock;

impl Clock for FixedClock {
    fn now_ms(&self) -> i64 {
        NOW * 1000
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }
}

struct Rig {
    receiver: Receiver,
    arrivals: mpsc::Receiver<Arrival>,
    url: String,
    _folder: TempDir,
}

impl Rig {
    async fn new(prepare: impl AsyncFnOnce(&Inbox)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let inbox = Inbox::open(&folder.path().join("inbox.db")).await.unwrap();
        prepare(&inbox).await;
        let (listener, port) = listen(None, &SystemDice).await.unwrap();
        let verifier = Verifier::new(&[SECRET], Tolerance::DEFAULT).unwrap();
        let (receiver, arrivals) = Receiver::start(listener, verifier, inbox, Arc::new(FixedClock));
        Self { receiver, arrivals, url: url(port), _folder: folder }
    }

    /// The answer's status and body.
    async fn send(&self, request: Request<Full<Bytes>>) -> (u16, String) {
        let client = Client::builder(TokioExecutor::new()).build_http();
        let response: Response<Incoming> = client.request(request).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    fn signed(&self, age_s: i64, body: &'static str) -> http::request::Builder {
        let timestamp = format!("{:010}", NOW - age_s);
        let signature = signature_header([&Secret::parse(SECRET).unwrap()], &timestamp, body.as_bytes());
        Request::post(&self.url)
            .header("content-type", "application/json; charset=utf-8")
            .header("service-event-id", "evt_1")
            .header("service-timestamp", timestamp)
            .header("service-signature", signature)
    }
}

fn event() -> Option<ArrivedEvent> {
    Some(ArrivedEvent { id: "evt_1".to_owned(), event_type: "order.created".to_owned(), sequence: Some(7) })
}

#[tokio::test]
async fn the_first_delivery_has_an_effect_and_the_second_has_none() {
    let mut rig = Rig::new(async |_| {}).await;
    for (code, verdict) in [("ok", Verdict::First), ("duplicate", Verdict::Duplicate)] {
        let answer = rig.send(rig.signed(0, BODY).body(BODY.into()).unwrap()).await;
        assert_eq!(answer, (200, format!(r#"{{"code":"{code}"}}"#)));
        assert_eq!(rig.arrivals.recv().await, Some(Arrival { verdict, event: event() }));
    }
    assert_eq!(rig.receiver.inbox.count().await.unwrap(), 1);
    assert_eq!(rig.receiver.inbox.unprocessed().await.unwrap(), Vec::<Vec<u8>>::new());
    rig.receiver.stop().await;
}

#[tokio::test]
async fn every_refusal_has_its_status_and_code_and_claims_nothing() {
    let mut rig = Rig::new(async |_| {}).await;
    let long = "x".repeat(BODY_LIMIT + 1);
    let altered = BODY.replace("order.created", "order.updated");
    let full = |body: &str| Full::new(Bytes::copy_from_slice(body.as_bytes()));
    let unsigned = || Request::post(&rig.url).header("content-type", "application/json");
    let refused = Verdict::Rejected;
    let cases = [
        (Request::get(&rig.url).body(full("")), Verdict::MethodNotAllowed, 405),
        (Request::post(&rig.url).body(full(BODY)), Verdict::UnsupportedMediaType, 415),
        (
            rig.signed(0, BODY).header("content-encoding", "gzip").body(full(BODY)),
            Verdict::UnsupportedMediaType,
            415,
        ),
        (unsigned().body(full(&long)), Verdict::TooLarge, 413),
        (unsigned().body(full("")), refused(VerificationCode::MissingBody), 400),
        (unsigned().body(full(BODY)), refused(VerificationCode::InvalidTimestamp), 400),
        (rig.signed(0, BODY).body(full(&altered)), refused(VerificationCode::InvalidSignature), 401),
        (rig.signed(301, BODY).body(full(BODY)), refused(VerificationCode::StaleTimestamp), 401),
        (rig.signed(0, "{").body(full("{")), refused(VerificationCode::InvalidJson), 400),
        // Two lines of one header form one value, and that value is not ten digits.
        (
            rig.signed(0, BODY).header("service-timestamp", NOW.to_string()).body(full(BODY)),
            refused(VerificationCode::InvalidTimestamp),
            400,
        ),
    ];
    for (request, verdict, status) in cases {
        let answer = rig.send(request.unwrap()).await;
        assert_eq!(answer, (status, format!(r#"{{"code":"{}"}}"#, verdict.code())));
        assert_eq!(rig.arrivals.recv().await, Some(Arrival { verdict, event: None }));
    }
    assert_eq!(rig.receiver.inbox.count().await.unwrap(), 0);
    rig.receiver.stop().await;
}

#[tokio::test]
async fn without_its_inbox_it_asks_the_sender_to_come_again() {
    let mut rig = Rig::new(async |_| {}).await;
    rig.receiver.inbox.close().await;
    let answer = rig.send(rig.signed(0, BODY).body(BODY.into()).unwrap()).await;
    assert_eq!(answer, (503, r#"{"code":"storage_unavailable"}"#.to_owned()));
    let verdict = Verdict::StorageUnavailable;
    assert_eq!(rig.arrivals.recv().await, Some(Arrival { verdict, event: event() }));
    rig.receiver.stop().await;
}

#[tokio::test]
async fn what_was_claimed_before_a_crash_is_acted_on_at_the_next_start() {
    let claimed = async |inbox: &Inbox| {
        let envelope = verify_core::event::read(BODY.as_bytes()).unwrap();
        inbox.claim(&Record::new(&envelope, 1)).await.unwrap();
    };
    let mut rig = Rig::new(claimed).await;
    assert_eq!(rig.arrivals.recv().await, Some(Arrival { verdict: Verdict::First, event: event() }));
    // The redelivery after the crash is answered once the unfinished events have been processed.
    let answer = rig.send(rig.signed(0, BODY).body(BODY.into()).unwrap()).await;
    assert_eq!(answer, (200, r#"{"code":"duplicate"}"#.to_owned()));
    assert_eq!(rig.receiver.inbox.unprocessed().await.unwrap(), Vec::<Vec<u8>>::new());
    rig.receiver.stop().await;
}

#[tokio::test]
async fn a_port_that_was_given_is_taken_or_nothing() {
    let (listener, port) = listen(None, &SystemDice).await.unwrap();
    assert!(PORTS.contains(&port), "{port}");
    let refused = listen(Some(port), &SystemDice).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::AddrInUse);
    drop(listener);
    assert_eq!(listen(Some(port), &SystemDice).await.unwrap().1, port);
}
