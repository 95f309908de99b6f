//! What nobody who means well would send: every such request gets its answer of contract 11.1, none gets a 5xx,
//! and after each lot a good delivery is taken as if nothing had happened.

use std::fmt::Write as _;

use bytes::Bytes;
use futures_util::stream;
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tests::delivery::{Delivery, NOW, SECRET, event, header_line};
use tests::workerd::{Reply, State, Worker, Workerd};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::{OK, PATH};

const TOO_LARGE: (u16, &str) = (413, "payload_too_large");
const LIMIT: usize = 1 << 20;

async fn receiver(state: &State) -> Workerd {
    Workerd::start(state, &[Worker::at_the_vectors("target")]).await
}

async fn post(workerd: &Workerd, delivery: &Delivery) -> Reply {
    workerd.send(delivery.request(&workerd.url("target", PATH))).await
}

async fn assert_still_working(workerd: &Workerd, event_id: &str) {
    assert_eq!(post(workerd, &Delivery::of_event(event_id)).await.outcome(), OK);
}

/// A good event, padded with blanks behind it to exactly `bytes`.
fn padded(event_id: &str, bytes: usize) -> Delivery {
    let mut body = event(event_id, "webhook.test").into_bytes();
    body.resize(bytes, b' ');
    Delivery::signed(body.into(), event_id, &[SECRET])
}

#[tokio::test]
async fn methods_paths_and_media_types() {
    let state = State::new();
    let workerd = receiver(&state).await;
    let delivery = Delivery::of_event("evt_never");
    for method in ["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "PROPFIND", "SEARCH"] {
        let mut request = delivery.request(&workerd.url("target", PATH));
        *request.method_mut() = method.parse::<Method>().unwrap();
        let reply = workerd.send(request).await;
        assert_eq!(reply.status, 405, "{method}");
        assert_eq!(reply.headers["allow"], "POST", "{method}");
        if method != "HEAD" {
            assert_eq!(reply.outcome(), (405, "method_not_allowed"), "{method}");
        }
    }
    let long = format!("/{}", "a".repeat(16_000));
    for path in
        ["/", "/webhooks/", "//webhooks", "/Webhooks", "/webhooks%2f", "/webhooks;a", "/a/../../b", &long]
    {
        let reply = workerd.send(delivery.request(&workerd.url("target", path))).await;
        assert_eq!(reply.outcome(), (404, "not_found"), "{path}");
        assert_eq!(reply.headers["content-type"], "application/json");
    }
    for media_type in
        ["", "text/plain", "application/jsonp", "application/json, text/plain", "multipart/form-data"]
    {
        let reply = post(&workerd, &delivery.clone().with("content-type", &[media_type])).await;
        assert_eq!(reply.outcome(), (415, "unsupported_media_type"), "{media_type:?}");
    }
    let reply = post(&workerd, &delivery.clone().with("content-type", &[])).await;
    assert_eq!(reply.outcome(), (415, "unsupported_media_type"));

    for codings in [&["gzip"][..], &["br"], &["identity", "gzip"], &["zstd, identity"], &["x"]] {
        let reply = post(&workerd, &delivery.clone().with("content-encoding", codings)).await;
        assert_eq!(reply.outcome(), (415, "unsupported_media_type"), "{codings:?}");
    }
    let plain = Delivery::of_event("evt_plain").with("content-encoding", &["identity"]);
    assert_eq!(post(&workerd, &plain).await.outcome(), OK);

    for (id, media_type) in [("evt_1", "APPLICATION/JSON"), ("evt_2", "application/json;charset=utf-8")] {
        let reply = post(&workerd, &Delivery::of_event(id).with("content-type", &[media_type])).await;
        assert_eq!(reply.outcome(), OK, "{media_type}");
    }
    let query = Delivery::of_event("evt_3").request(&workerd.url("target", "/webhooks?a=b#c"));
    assert_eq!(workerd.send(query).await.outcome(), OK);
    workerd.stop().await;
}

#[tokio::test]
async fn a_body_of_the_limit_is_taken_and_one_byte_more_is_not() {
    let state = State::new();
    let workerd = receiver(&state).await;
    assert_eq!(post(&workerd, &padded("evt_limit", LIMIT)).await.outcome(), OK);
    assert_eq!(post(&workerd, &padded("evt_more", LIMIT + 1)).await.outcome(), TOO_LARGE);
    assert_eq!(chunked(&workerd, &padded("evt_chunked", LIMIT)).await, Ok(200));
    // The Worker answers before it has taken everything, so the client may see the answer or a closed connection.
    let too_much = chunked(&workerd, &padded("evt_chunked_more", LIMIT + 1)).await;
    assert!(matches!(too_much, Ok(413) | Err(())), "{too_much:?}");
    let far_too_much = chunked(&workerd, &padded("evt_chunked_much_more", 16 * LIMIT)).await;
    assert!(matches!(far_too_much, Ok(413) | Err(())), "{far_too_much:?}");
    assert_still_working(&workerd, "evt_after").await;
    workerd.stop().await;
    let records = state.records("target").await;
    let ids: Vec<_> = records.iter().map(|record| record.id.as_str()).collect();
    assert_eq!(ids, ["evt_after", "evt_chunked", "evt_limit"]);
    assert_eq!(records[1].body.len(), LIMIT);
}

/// Sends a delivery in chunks, without saying how long it is.
async fn chunked(workerd: &Workerd, delivery: &Delivery) -> Result<u16, ()> {
    let chunks: Vec<_> = delivery.body.chunks(60_000).map(Bytes::copy_from_slice).collect();
    let frames = stream::iter(chunks.into_iter().map(|chunk| Ok::<_, std::io::Error>(Frame::data(chunk))));
    let (head, _) = delivery.request(&workerd.url("target", PATH)).into_parts();
    let client = Client::builder(TokioExecutor::new()).build_http();
    let request = Request::from_parts(head, StreamBody::new(frames).boxed());
    client.request(request).await.map(|response| response.status().as_u16()).map_err(|_| ())
}

#[tokio::test]
async fn header_lines_are_joined_and_never_chosen_from() {
    let state = State::new();
    let workerd = receiver(&state).await;
    let good = Delivery::of_event("evt_lines");
    let signature = good.headers.iter().find(|(name, _)| name == "service-signature").unwrap().1.clone();
    let signature = signature.to_str().unwrap();
    let forged = format!("v1={}", "0".repeat(64));
    let flood = vec![forged.as_str(); 300];
    let now = NOW.to_string();
    let beyond_ascii = "evt_lines\u{e9}";
    for (name, values, expected) in [
        ("service-timestamp", vec![now.as_str(), now.as_str()], (400, "invalid_timestamp")),
        ("service-event-id", vec!["evt_lines", "evt_lines"], (400, "event_id_mismatch")),
        ("service-event-id", vec![beyond_ascii], (400, "event_id_mismatch")),
        ("service-signature", vec![], (401, "missing_signature")),
        ("service-signature", vec![&forged, &forged], (401, "invalid_signature")),
        ("service-signature", flood, (401, "invalid_signature")),
        ("service-signature", vec![&forged, signature], OK),
    ] {
        let reply = post(&workerd, &good.clone().with(name, &values)).await;
        assert_eq!(reply.outcome(), expected, "{name}: {} lines", values.len());
    }
    let mut raw = Delivery::of_event("evt_raw");
    raw.headers.push(header_line("x-noise", &[0xff, 0x80, b'\t', 0xc3]));
    assert_eq!(post(&workerd, &raw).await.outcome(), OK);
    for value in [&[0xff_u8, 0xfe][..], "１７８８２６４０００".as_bytes(), b"\x80"] {
        let mut delivery = Delivery::of_event("evt_bytes").with("service-timestamp", &[]);
        delivery.headers.push(header_line("service-timestamp", value));
        assert_eq!(post(&workerd, &delivery).await.outcome(), (400, "invalid_timestamp"), "{value:?}");
    }
    workerd.stop().await;
}

#[tokio::test]
async fn signed_bodies_that_are_no_events() {
    let state = State::new();
    let workerd = receiver(&state).await;
    let deep = format!("{}{}", "[".repeat(LIMIT / 2), "]".repeat(LIMIT / 2));
    let deep_data =
        event("evt_deep", "webhook.test").replace("{}", &format!("{{\"a\":{}1", "[".repeat(200_000)));
    let mut many_members = String::from("{");
    for n in 0..50_000 {
        write!(many_members, "\"m{n}\":0,").unwrap();
    }
    many_members.push_str("\"m0\":1}");
    for (name, body, expected) in [
        ("half a million arrays", deep.into_bytes(), (400, "invalid_json")),
        ("deep in data", deep_data.into_bytes(), (400, "invalid_json")),
        ("nothing but open brackets", vec![b'['; LIMIT], (400, "invalid_json")),
        ("an endless string", [b"\"".as_slice(), &[b'a'; LIMIT - 1]].concat(), (400, "invalid_json")),
        ("an endless number", vec![b'9'; LIMIT], (400, "invalid_json")),
        ("bytes", (0..=255).cycle().take(4096).collect(), (400, "invalid_json")),
        ("zeros", vec![0; 4096], (400, "invalid_json")),
        (
            "a byte order mark",
            [b"\xef\xbb\xbf".as_slice(), event("evt_x", "a.b").as_bytes()].concat(),
            (400, "invalid_json"),
        ),
        ("many members, one twice", many_members.into_bytes(), (400, "invalid_payload")),
        ("one blank", b" ".to_vec(), (400, "invalid_json")),
        ("null", b"null".to_vec(), (400, "invalid_payload")),
        ("nothing", Vec::new(), (400, "missing_body")),
    ] {
        let reply = post(&workerd, &Delivery::signed(body.into(), "evt_x", &[SECRET])).await;
        assert_eq!(reply.outcome(), expected, "{name}");
    }
    workerd.stop().await;
}

#[tokio::test]
async fn no_changed_byte_goes_unnoticed() {
    let state = State::new();
    let workerd = receiver(&state).await;
    let good = Delivery::of_event("evt_flip");
    for position in 0..good.body.len() {
        let mut body = good.body.to_vec();
        body[position] ^= 1;
        let reply = post(&workerd, &Delivery { body: body.into(), ..good.clone() }).await;
        assert_eq!(reply.outcome(), (401, "invalid_signature"), "byte {position}");
    }
    assert_still_working(&workerd, "evt_flip").await;
    workerd.stop().await;
}

#[tokio::test]
async fn connections_that_break_off_or_lie() {
    let state = State::new();
    let workerd = receiver(&state).await;
    let authority = workerd.url("target", "").replace("http://", "");
    let head = "POST /webhooks HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";

    // Announces more than the limit and sends nothing: refused without waiting for it.
    let announced = exchange(&authority, &format!("{head}content-length: 99999999999\r\n\r\n"), false).await;
    assert!(announced.starts_with("HTTP/1.1 413 "), "{announced}");
    // Breaks off in the middle of the body.
    exchange(&authority, &format!("{head}content-length: 1000\r\n\r\n{{\"id\""), true).await;
    exchange(&authority, &format!("{head}transfer-encoding: chunked\r\n\r\nff\r\n{{\"id\""), true).await;
    // Not HTTP.
    exchange(&authority, "\u{0}\u{1}\u{2}\r\n\r\n", true).await;
    // A header larger than the runtime takes.
    let flood = format!("{head}x: {}\r\n\r\n", "a".repeat(1 << 20));
    let refused = exchange(&authority, &flood, false).await;
    assert!(!refused.starts_with("HTTP/1.1 5"), "{refused}");

    assert_still_working(&workerd, "evt_after").await;
    workerd.stop().await;
    assert_eq!(state.records("target").await.len(), 1);
}

/// Writes `text` to a new connection, hangs up when told to, and returns the beginning of what came back.
async fn exchange(authority: &str, text: &str, hang_up: bool) -> String {
    let mut connection = TcpStream::connect(authority).await.unwrap();
    // The other side may have refused before it has read everything.
    let written = connection.write_all(text.as_bytes()).await;
    if hang_up {
        connection.shutdown().await.unwrap();
    }
    let mut answer = vec![0; 4096];
    let count = connection.read(&mut answer).await.unwrap_or_default();
    assert!(written.is_ok() || count > 0 || text.len() > 4096);
    String::from_utf8_lossy(&answer[..count]).into_owned()
}

#[tokio::test]
async fn the_answer_has_the_code_and_nothing_else() {
    let state = State::new();
    let workerd = receiver(&state).await;
    let reply = post(&workerd, &Delivery::of_event("evt_one")).await;
    assert_eq!(reply.body, r#"{"code":"ok"}"#);
    let expected: HeaderMap =
        [header_line("content-length", b"13"), header_line("content-type", b"application/json")]
            .into_iter()
            .collect();
    assert_eq!(reply.headers, expected);
    workerd.stop().await;
}
