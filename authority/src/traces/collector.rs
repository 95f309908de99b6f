//! The way to the collector: OpenTelemetry's batches, sent by the HTTP client that this service has anyway.
//!
//! The batches are made on a thread of OpenTelemetry, outside the runtime; so each request is handed to the runtime and
//! waited for. What the collector does not take in time is dropped: traces never hold up a request or a delivery.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use opentelemetry::KeyValue;
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use rustls::ClientConfig;
use tokio::runtime::Handle;
use url::Url;

/// How long the collector may take to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// The most bytes of its answer that are read.
const ANSWER_BYTES: usize = 64 * 1024;

/// What this service is called, unless `OTEL_SERVICE_NAME` or `OTEL_RESOURCE_ATTRIBUTES` says otherwise.
const SERVICE_NAME: &str = "authority";

/// Sends to a collector.
#[derive(Clone, Debug)]
pub(super) struct Collector {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    runtime: Handle,
}

impl Collector {
    pub(super) fn new(tls: ClientConfig) -> Self {
        let connector =
            HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http().enable_http1().build();
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Self { client, runtime: Handle::current() }
    }

    pub(super) fn provider(self, collector: &Url) -> Result<SdkTracerProvider, ExporterBuildError> {
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(self)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/traces", collector.as_str().trim_end_matches('/')))
            .with_timeout(ANSWER_WITHIN)
            .build()?;
        Ok(SdkTracerProvider::builder().with_resource(resource()).with_batch_exporter(exporter).build())
    }
}

/// What the collector learns of this service.
fn resource() -> Resource {
    let named = Resource::builder().build();
    let unnamed =
        named.get(&"service.name".into()).is_none_or(|name| name.as_str().starts_with("unknown_service"));
    let builder =
        Resource::builder().with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    if unnamed { builder.with_service_name(SERVICE_NAME).build() } else { builder.build() }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let sent = self.runtime.spawn(async move {
            let answer =
                tokio::time::timeout(ANSWER_WITHIN, client.request(request.map(Full::new))).await??;
            let (head, body) = answer.into_parts();
            let body =
                tokio::time::timeout(ANSWER_WITHIN, Limited::new(body, ANSWER_BYTES).collect()).await??;
            Ok::<_, HttpError>(Response::from_parts(head, body.to_bytes()))
        });
        sent.await?
    }
}
