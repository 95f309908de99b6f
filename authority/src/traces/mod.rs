//! Traces: which request led to which deliveries, for a collector that speaks OTLP (contract 15.11).
//!
//! Each request is a span, and each attempt to deliver is one. A request's span goes on from the caller's
//! `traceparent`; its name is stored with the events that the request causes. An attempt's span goes on from there,
//! and the receiver gets the attempt's name in `traceparent`. So a trace leads from the caller through this service
//! into the receiver, over restarts and retries.
//!
//! Without a collector nothing is recorded, and the caller's `traceparent` is passed on as it came. Spans carry ids,
//! routes, statuses and outcomes: no URL, no key, nothing that a merchant has written. Deliberately absent: metrics and
//! logs by OTLP (there are `/metrics` and the log), and spans inside a request.

mod collector;

use std::sync::Arc;

use authority_domain::AttemptOutcome;
use authority_domain::event::cause::TraceParent;
use authority_store::hand_off::LeasedDelivery;
use http::HeaderName;
use opentelemetry::trace::{
    Span as _, SpanContext, SpanId, SpanKind, Status, TraceContextExt as _, TraceFlags, TraceId, TraceState,
    Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider, Span as RecordedSpan};
use rustls::ClientConfig;
use url::Url;

use self::collector::Collector;

/// The header that names a span.
pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The collector's client could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("traces cannot be sent: {0}")]
pub struct TracesError(String);

/// Records spans, if there is a collector for them.
#[derive(Clone, Debug, Default)]
pub struct Traces(Option<Arc<Recorder>>);

#[derive(Debug)]
struct Recorder {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

impl Traces {
    /// Sends spans to this collector (`OTEL_EXPORTER_OTLP_ENDPOINT`; `/v1/traces` is added to it). Which spans are
    /// recorded, how many wait and how the collector knows this service is set by the variables of OpenTelemetry
    /// (`OTEL_TRACES_SAMPLER`, `OTEL_BSP_…`, `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_RESOURCE_ATTRIBUTES`). Called inside
    /// the runtime.
    ///
    /// # Errors
    /// [`TracesError`] when a variable of OpenTelemetry cannot be used.
    pub fn to(collector: &Url, tls: ClientConfig) -> Result<Self, TracesError> {
        let provider =
            Collector::new(tls).provider(collector).map_err(|error| TracesError(error.to_string()))?;
        let tracer = provider.tracer("authority");
        Ok(Self(Some(Arc::new(Recorder { provider, tracer }))))
    }

    /// The span of a request, which ends with the value.
    pub(crate) fn request(
        &self,
        parent: Option<TraceParent>,
        method: &str,
        route: &str,
        request_id: &str,
    ) -> Span {
        self.span(parent, SpanKind::Server, || {
            (
                format!("{method} {route}"),
                vec![
                    KeyValue::new("http.request.method", method.to_owned()),
                    KeyValue::new("http.route", route.to_owned()),
                    KeyValue::new("authority.request_id", request_id.to_owned()),
                ],
            )
        })
    }

    /// The span of an attempt, which ends with the value.
    pub(crate) fn attempt(&self, delivery: &LeasedDelivery, number: i64) -> Span {
        self.span(delivery.cause.trace, SpanKind::Client, || {
            (
                "deliver".to_owned(),
                vec![
                    KeyValue::new("http.request.method", "POST"),
                    KeyValue::new("authority.event_id", delivery.event_id.to_string()),
                    KeyValue::new("authority.delivery_id", delivery.id.to_string()),
                    KeyValue::new("authority.endpoint_id", delivery.endpoint_id.to_string()),
                    KeyValue::new("authority.attempt", number),
                ],
            )
        })
    }

    fn span(
        &self,
        parent: Option<TraceParent>,
        kind: SpanKind,
        described: impl FnOnce() -> (String, Vec<KeyValue>),
    ) -> Span {
        let recorded = self.0.as_deref().map(|Recorder { tracer, .. }| {
            let (name, attributes) = described();
            let builder = tracer.span_builder(name).with_kind(kind).with_attributes(attributes);
            let from = parent.map_or_else(Context::new, |parent| {
                Context::new().with_remote_span_context(SpanContext::new(
                    TraceId::from_bytes(parent.trace_id),
                    SpanId::from_bytes(parent.span_id),
                    TraceFlags::new(parent.flags),
                    true,
                    TraceState::default(),
                ))
            });
            tracer.build_with_context(builder, &from)
        });
        Span { recorded, parent }
    }

    /// Sends what was recorded, within the time that the collector is given.
    pub async fn stop(self) {
        let Some(recorder) = self.0 else { return };
        // It waits for its own thread, which waits for the collector's answer.
        let stopped = tokio::task::spawn_blocking(move || recorder.provider.shutdown()).await;
        if let Ok(Err(error)) = stopped {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// A span; without a collector only what it would have gone on from.
pub(crate) struct Span {
    recorded: Option<RecordedSpan>,
    parent: Option<TraceParent>,
}

impl Span {
    /// What goes on from here: this span, or without a collector the one before it.
    pub(crate) fn trace(&self) -> Option<TraceParent> {
        let Some(span) = &self.recorded else { return self.parent };
        let context = span.span_context();
        context.is_valid().then(|| TraceParent {
            trace_id: context.trace_id().to_bytes(),
            span_id: context.span_id().to_bytes(),
            flags: context.trace_flags().to_u8(),
        })
    }

    /// Notes the status of the request's answer. Only a 5xx is an error of this service.
    pub(crate) fn answered(&mut self, status: u16) {
        let Some(span) = &mut self.recorded else { return };
        span.set_attribute(KeyValue::new("http.response.status_code", i64::from(status)));
        if status >= 500 {
            span.set_status(Status::error(""));
        }
    }

    /// Notes how the attempt ended.
    pub(crate) fn ended(&mut self, outcome: AttemptOutcome, status: Option<u16>) {
        let Some(span) = &mut self.recorded else { return };
        span.set_attribute(KeyValue::new("authority.outcome", outcome.as_str()));
        if let Some(status) = status {
            span.set_attribute(KeyValue::new("http.response.status_code", i64::from(status)));
        }
        if outcome != AttemptOutcome::Success {
            span.set_status(Status::error(outcome.as_str()));
        }
    }
}
