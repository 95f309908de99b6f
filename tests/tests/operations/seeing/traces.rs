//! Traces (contract 15.11): from a request over its events to their deliveries, with a collector and without.

use std::collections::BTreeSet;

use http::Method;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::{Value, json};
use tests::{
    Answer, Arrivals, Authority, Database, Down, Merchant, Receiver, Reply, checkout_body, on_both_databases,
    retries, text,
};

on_both_databases!(the_callers_trace_goes_on_to_the_receiver);

const TRACE_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

async fn checkout(merchant: &Merchant, traceparent: Option<&str>) -> Reply {
    let call =
        merchant.operator.call(Method::POST, &merchant.platform_path("checkouts")).json(&checkout_body());
    let call = match traceparent {
        Some(traceparent) => call.header("traceparent", traceparent),
        None => call,
    };
    let reply = call.send().await;
    reply.expect(201);
    reply
}

/// The `traceparent` of every arrival of the event about this checkout.
fn traces_of(arrivals: &Arrivals, checkout: &Reply) -> Vec<Option<String>> {
    let id = text(&checkout.json(), "id");
    let about = |body: &[u8]| serde_json::from_slice::<Value>(body).unwrap()["data"]["object"]["id"] == id;
    let of = arrivals.all.iter().filter(|arrival| about(&arrival.body));
    of.map(|arrival| arrival.headers.get("traceparent").map(|line| line.to_str().unwrap().to_owned()))
        .collect()
}

async fn the_callers_trace_goes_on_to_the_receiver(database: Database) {
    let variables = [("AUTHORITY_LOG_FORMAT", "json"), retries("0,0")];
    let (mut authority, merchant) = Merchant::on_with(database, &variables, "traced").await;
    let receiver = Receiver::start(|arrival| Answer::status(if arrival.nth == 1 { 500 } else { 200 })).await;
    merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    let sampled = format!("00-{TRACE_ID}-{CALLER}-01");
    let newer = format!("01-{TRACE_ID}-{CALLER}-fd-more");
    let upper = sampled.to_uppercase();
    let table = [
        (Some(sampled.as_str()), Some(sampled.as_str())),
        (Some(newer.as_str()), Some(sampled.as_str())),
        (Some(upper.as_str()), None),
        (Some("nonsense"), None),
        (None, None),
    ];
    let mut asked = Vec::new();
    for (given, passed_on) in table {
        asked.push((checkout(&merchant, given).await, passed_on.map(ToOwned::to_owned)));
    }
    authority.nothing_pending().await;
    for (checkout, passed_on) in &asked {
        // The first attempt from memory, the second from the database.
        let expected = [passed_on.clone(), passed_on.clone()];
        assert_eq!(traces_of(&receiver.arrivals(), checkout), expected, "{passed_on:?}");
    }
    // A replay is of the event, and so of the event's trace.
    let event = receiver.arrivals().all[0].event_id.clone();
    let first = traces_of(&receiver.arrivals(), &asked[0].0).len();
    merchant.api.post(&format!("/events/{event}/replay"), &json!({})).await.expect(202);
    authority.nothing_pending().await;
    assert_eq!(traces_of(&receiver.arrivals(), &asked[0].0).len(), first + 1);
    authority.terminate().await;

    // Each attempt is logged with the request that caused its event.
    let log = authority.log();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let requests: BTreeSet<String> = lines
        .iter()
        .filter(|line| line["message"] == "attempt failed")
        .map(|line| text(line, "request_id"))
        .collect();
    let expected = asked.iter().map(|(reply, _)| reply.header("service-request-id").unwrap().to_owned());
    assert_eq!(requests, expected.collect());
}

/// What a collector was sent.
fn spans(collector: &Receiver) -> Vec<Span> {
    let mut spans = Vec::new();
    for arrival in collector.arrivals().at("/v1/traces") {
        assert_eq!(arrival.header("content-type"), "application/x-protobuf");
        for of_resource in ExportTraceServiceRequest::decode(arrival.body.clone()).unwrap().resource_spans {
            let resource = of_resource.resource.unwrap();
            assert_eq!(attribute(&resource.attributes, "service.name"), Some("authority".to_owned()));
            assert_eq!(
                attribute(&resource.attributes, "service.version"),
                Some(env!("CARGO_PKG_VERSION").to_owned())
            );
            spans.extend(of_resource.scope_spans.into_iter().flat_map(|of_scope| of_scope.spans));
        }
    }
    spans
}

fn attribute(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    match &found.value {
        Some(AnyValue { value: Some(Any::StringValue(text)) }) => Some(text.clone()),
        Some(AnyValue { value: Some(Any::IntValue(number)) }) => Some(number.to_string()),
        other => panic!("{key}: {other:?}"),
    }
}

#[tokio::test]
async fn a_collector_sees_the_way_from_the_request_to_the_delivery() {
    let collector = Receiver::accepting().await;
    let receiver = Receiver::start(|arrival| Answer::status(if arrival.nth == 1 { 503 } else { 200 })).await;
    let (mut authority, merchant) = Merchant::alone_with(
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url("/").as_str()), retries("0,0")],
        "traced",
    )
    .await;
    let endpoint = merchant.endpoint(&receiver.url("/hook?token=urlsecret"), &["*"]).await;
    let asked = checkout(&merchant, Some(&format!("00-{TRACE_ID}-{CALLER}-01"))).await;
    let unsampled = checkout(&merchant, Some(&format!("00-{}-{CALLER}-00", "ab".repeat(16)))).await;
    let untraced = checkout(&merchant, None).await;
    authority.nothing_pending().await;
    // What is not sent yet is sent when the service stops.
    authority.terminate().await;

    let spans = spans(&collector);
    let of_trace = |id: &str| spans.iter().filter(|span| hex(&span.trace_id) == id).collect::<Vec<_>>();
    let traced = of_trace(TRACE_ID);
    let [request] = traced.iter().filter(|span| span.name.starts_with("POST ")).collect::<Vec<_>>()[..]
    else {
        panic!("one request: {traced:?}")
    };
    assert_eq!(request.name, "POST /v1/operator/merchants/{merchant}/{mode}/checkouts");
    assert_eq!(hex(&request.parent_span_id), CALLER);
    let of_request = |key: &str| attribute(&request.attributes, key);
    assert_eq!(of_request("http.response.status_code").as_deref(), Some("201"));
    assert_eq!(of_request("authority.request_id").as_deref(), asked.header("service-request-id"));
    let mut attempts: Vec<_> = traced.iter().filter(|span| span.name == "deliver").collect();
    attempts.sort_by_key(|span| span.start_time_unix_nano);
    let seen: Vec<_> = attempts
        .iter()
        .map(|span| {
            assert_eq!(span.parent_span_id, request.span_id);
            assert_eq!(attribute(&span.attributes, "authority.endpoint_id").as_ref(), Some(&endpoint.id));
            let of = |key: &str| attribute(&span.attributes, key).unwrap();
            (of("authority.attempt"), of("authority.outcome"), of("http.response.status_code"))
        })
        .collect();
    let expected = [("1", "http_error", "503"), ("2", "success", "200")];
    assert_eq!(seen, expected.map(|(a, b, c)| (a.to_owned(), b.to_owned(), c.to_owned())));
    // The receiver goes on from the very attempt.
    let arrived = traces_of(&receiver.arrivals(), &asked);
    let named: Vec<_> =
        attempts.iter().map(|span| Some(format!("00-{TRACE_ID}-{}-01", hex(&span.span_id)))).collect();
    assert_eq!(arrived, named);

    // What the caller does not record is not recorded here, and goes on unrecorded.
    assert!(of_trace(&"ab".repeat(16)).is_empty());
    for trace in traces_of(&receiver.arrivals(), &unsampled) {
        let trace = trace.unwrap();
        assert!(trace.starts_with(&format!("00-{}-", "ab".repeat(16))) && trace.ends_with("-00"), "{trace}");
    }
    // A caller without a trace begins one, which its deliveries belong to.
    let begun: BTreeSet<String> = traces_of(&receiver.arrivals(), &untraced)
        .into_iter()
        .map(|trace| trace.unwrap()[3..35].to_owned())
        .collect();
    let [begun] = &begun.into_iter().collect::<Vec<_>>()[..] else { panic!("one trace") };
    let names: BTreeSet<_> = of_trace(begun).iter().map(|span| span.name.clone()).collect();
    assert_eq!(names, BTreeSet::from(["deliver".to_owned(), request.name.clone()]));
    // Nothing that is secret, or that a merchant wrote.
    for arrival in &collector.arrivals().all {
        for word in ["urlsecret", "/hook", &endpoint.secret, &merchant.key] {
            assert!(!arrival.body.windows(word.len()).any(|part| part == word.as_bytes()), "{word}");
        }
    }
}

#[tokio::test]
async fn a_collector_that_is_down_holds_nothing_up() {
    let (collector, receiver) = (Down::new(), Receiver::accepting().await);
    let mut authority =
        Authority::start(&[("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url("/").as_str())]).await;
    let merchant = Merchant::create(&authority, "traced").await;
    merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    merchant.checkout().await;
    authority.nothing_pending().await;
    assert_eq!(receiver.arrivals().accepted("/hook"), 1);
    authority.terminate().await;
    assert!(authority.log().contains("telemetry data will be lost"), "{}", authority.log());
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}
