//! What sends deliveries and judges where they may go, made from the configuration.

use std::sync::Arc;

use authority_domain::endpoint::url::UrlRulesByOwner;
use authority_store::slots::Capacity;
use rustls::ClientConfig;
use url::Url;

use super::StartError;
use crate::app::App;
use crate::config::{Config, Delivery};
use crate::dispatch::client::{
    DeliveryClient, DeliveryClientError, DeliveryLimits, Egress, kept_connections,
};
use crate::dispatch::engine::Dispatcher;
use crate::dispatch::tls;
use crate::metrics::Metrics;
use crate::names::{Resolve, TargetJudge};
use crate::traces::Traces;

pub(super) fn target_judge(config: &Config, names: Arc<dyn Resolve>) -> Arc<TargetJudge> {
    let Delivery { private, egress_proxy, .. } = &config.delivery;
    Arc::new(TargetJudge::new(names, private.clone(), egress_proxy.is_some()))
}

/// Events are not sent to this service's own public name.
pub(super) fn url_rules(config: &Config) -> UrlRulesByOwner {
    let rules = UrlRulesByOwner::new(config.url_policy, &config.delivery.private);
    let own = config.base_url.as_deref().and_then(|url| Url::parse(url).ok());
    match own.as_ref().and_then(Url::host_str) {
        Some(host) => rules.deny_host(host),
        None => rules,
    }
}

/// The text of the file whose certificates are trusted besides the public authorities.
pub(super) fn extra_roots(delivery: &Delivery) -> Result<Option<Vec<u8>>, StartError> {
    delivery.extra_roots.as_deref().map(std::fs::read).transpose().map_err(|error| {
        StartError::Configuration(format!("AUTHORITY_EXTRA_ROOTS: the file cannot be read: {error}"))
    })
}

pub(super) fn delivery_client(
    app: &App,
    delivery: &Delivery,
    extra_roots_pem: Option<&[u8]>,
    names: Arc<dyn Resolve>,
) -> Result<DeliveryClient, StartError> {
    let capacity = Capacity::of(usize::try_from(delivery.concurrency.get()).unwrap_or(usize::MAX));
    let limits = DeliveryLimits {
        connect_timeout: delivery.connect_timeout,
        deadline: delivery.timeout,
        kept_connections: kept_connections(capacity.quick.saturating_add(capacity.slow), most_files()),
        ..DeliveryLimits::default()
    };
    let (proxy, private) = (delivery.egress_proxy.as_ref(), Some(&delivery.private));
    let egress = Egress { proxy, extra_roots_pem, private };
    DeliveryClient::new(limits, egress, names, Arc::clone(&app.clock)).map_err(without_tls)
}

/// How many files and sockets this process may open, where the system says.
#[cfg(target_os = "linux")]
fn most_files() -> Option<usize> {
    use procfs::process::{LimitValue, Process};
    let limits = Process::myself().and_then(|process| process.limits()).ok()?;
    match limits.max_open_files.soft_limit {
        LimitValue::Value(most) => usize::try_from(most).ok(),
        LimitValue::Unlimited => Some(usize::MAX),
    }
}

/// There is no `/proc` to read.
#[cfg(not(target_os = "linux"))]
fn most_files() -> Option<usize> {
    None
}

/// Trusts the same authorities as deliveries do.
pub(super) fn tls_config(extra_roots_pem: Option<&[u8]>) -> Result<ClientConfig, StartError> {
    tls::client_config(extra_roots_pem).map_err(without_tls)
}

fn without_tls(error: DeliveryClientError) -> StartError {
    match error {
        DeliveryClientError::ExtraRoots => {
            StartError::Configuration(format!("AUTHORITY_EXTRA_ROOTS: {error}"))
        }
        error @ DeliveryClientError::Tls => StartError::Client(error),
    }
}

pub(super) fn dispatcher(
    app: &App,
    delivery: &Delivery,
    client: DeliveryClient,
    metrics: Arc<Metrics>,
    traces: Traces,
) -> Dispatcher {
    Dispatcher {
        store: app.store.clone(),
        clock: Arc::clone(&app.clock),
        dice: Arc::clone(&app.dice),
        secrets: Arc::clone(&app.secrets),
        transport: Arc::new(client),
        retry: delivery.retry.clone(),
        disable: delivery.disable,
        urls: app.urls.clone(),
        concurrency: delivery.concurrency.get(),
        max_in_flight: delivery.concurrency_per_endpoint.get(),
        metrics,
        traces,
    }
}
