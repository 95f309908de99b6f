//! The running service: store, two listeners, dispatcher; started and stopped as one (contract 12 T8, 16).
//!
//! Start: open the database, check that the key-encryption key fits it, take back the leases of the previous process
//! where there can be only one process, bind, dispatch. Stop: accept no more, answer what was sent by then, lease
//! nothing, let the attempts in flight end and their outcomes be written, close the database.

mod delivery;
mod portal_origin;

use std::net::SocketAddr;
use std::sync::Arc;

use arc_swap::{ArcSwap, ArcSwapOption};
use authority_domain::merchant::limits::DefaultRates;
use authority_store::supervisor::Supervisor;
use authority_store::{Access, Distribution, Store, StoreError};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use self::delivery::{delivery_client, dispatcher, extra_roots, target_judge, tls_config, url_rules};
use crate::app::{App, AppParts};
use crate::background::Tasks;
use crate::background::housekeeping::keep_house;
use crate::background::instances::Presence;
use crate::background::key_use::write_key_use;
use crate::background::recovery_worker::carry_out_recoveries;
use crate::background::retention::retain;
use crate::background::scheduler::keep_time;
use crate::background::share_worker::tell_of_ended_shares;
use crate::clock::Clock;
use crate::config::{Config, DatabaseUrl, Sandbox};
use crate::console;
use crate::dice::Dice;
use crate::dispatch::client::DeliveryClientError;
use crate::http::answer::{Door, Tls, dress};
use crate::http::brand::Brand;
use crate::http::live::Live;
use crate::http::problem::ProblemWriter;
use crate::http::rate_limit::RateLimiter;
use crate::http::server::{Limits, Stopped, serve};
use crate::http::{AppState, StateParts, documents, merchant, operator, sandbox};
use crate::metrics::Metrics;
use crate::names::{Resolve, SystemResolver};
use crate::portal;
use crate::reload::{Reloadable, check_keys};
use crate::traces::{Traces, TracesError};

/// Why the service did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration does not fit the database.
    #[error("{0}")]
    Configuration(String),
    /// The database cannot be opened or reached.
    #[error("the database cannot be used: {database}: {source}")]
    Open {
        /// Which database, without its password.
        database: String,
        /// Why not.
        source: StoreError,
    },
    /// The opened database cannot be used.
    #[error("the database cannot be used: {0}")]
    Store(#[from] StoreError),
    /// A listener cannot be opened.
    #[error("{variable}: cannot listen on {address}: {source}")]
    Listen {
        /// The variable that names the address.
        variable: &'static str,
        /// The address.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
    /// Traces cannot be sent.
    #[error("OTEL_EXPORTER_OTLP_ENDPOINT: {0}")]
    Traces(#[from] TracesError),
    /// TLS cannot be set up for deliveries.
    #[error("deliveries cannot be sent: {0}")]
    Client(#[from] DeliveryClientError),
}

/// A running service.
#[derive(Debug)]
pub struct Service {
    /// Where the merchant API listens.
    pub merchant_address: SocketAddr,
    /// Where the operator API listens.
    pub operator_address: SocketAddr,
    /// The use cases, for code that runs beside the listeners.
    pub app: App,
    /// What a new configuration can change.
    pub reloadable: Reloadable,
    stop: watch::Sender<bool>,
    servers: Vec<JoinHandle<Option<Stopped>>>,
    tasks: Tasks,
    traces: Traces,
}

impl Service {
    /// Starts everything; when it returns, both listeners accept. The names of receivers are resolved by the operating
    /// system.
    ///
    /// # Errors
    /// [`StartError`]; nothing is left running.
    pub async fn start(
        config: Config,
        clock: Arc<dyn Clock>,
        dice: Arc<dyn Dice>,
    ) -> Result<Self, StartError> {
        let names = SystemResolver::default();
        let for_requests = Arc::new(names.for_requests());
        Self::start_with(config, clock, dice, Arc::new(names), for_requests).await
    }

    /// Starts everything with another resolver for the names of receivers. Its answers are judged like any others
    /// (contract 7.6).
    ///
    /// # Errors
    /// [`StartError`]; nothing is left running.
    pub async fn start_resolving(
        config: Config,
        clock: Arc<dyn Clock>,
        dice: Arc<dyn Dice>,
        names: Arc<dyn Resolve>,
    ) -> Result<Self, StartError> {
        Self::start_with(config, clock, dice, Arc::clone(&names), names).await
    }

    async fn start_with(
        config: Config,
        clock: Arc<dyn Clock>,
        dice: Arc<dyn Dice>,
        names: Arc<dyn Resolve>,
        for_requests: Arc<dyn Resolve>,
    ) -> Result<Self, StartError> {
        let brand = Arc::new(Brand::new(&config.portal).map_err(StartError::Configuration)?);
        let mut app = open_app(&config, Access::Exclusive, Arc::clone(&clock), Arc::clone(&dice)).await?;
        app.target_judge = Some(target_judge(&config, for_requests));
        check_keys(&app, &app.secrets).await?;
        let released = app.store.take_back_leases().await?;
        if released > 0 {
            tracing::info!(deliveries = released, "took back the leases of the process before");
        }
        let merchant_listener = listen("AUTHORITY_LISTEN", config.listen).await?;
        let operator_listener = listen("AUTHORITY_OPERATOR_LISTEN", config.operator_listen).await?;
        let merchant_address = address_of(&merchant_listener, "AUTHORITY_LISTEN", config.listen)?;
        let operator_address =
            address_of(&operator_listener, "AUTHORITY_OPERATOR_LISTEN", config.operator_listen)?;
        if app.portal_origin.is_empty() {
            app.portal_origin = portal_origin::of_listener(merchant_address);
        }
        let metrics = Arc::new(Metrics::default());
        let extra_roots = extra_roots(&config.delivery)?;
        let traces = match &config.trace_collector {
            Some(collector) => Traces::to(collector, tls_config(extra_roots.as_deref())?)?,
            None => Traces::default(),
        };
        let client = delivery_client(&app, &config.delivery, extra_roots.as_deref(), names)?;
        let dispatcher = dispatcher(&app, &config.delivery, client, Arc::clone(&metrics), traces.clone());
        let (stop, stopped) = watch::channel(false);
        let limiter = Arc::new(RateLimiter::new(config.rate_limits, Arc::clone(&clock)));
        // Before the first request is accepted, so that this instance is counted from the start.
        let presence = Presence::announce(&app.store, dice.as_ref(), Arc::clone(&limiter)).await?;
        let tls = if app.base_url.starts_with("https://") { Tls::InFront } else { Tls::Absent };
        let proxies = Arc::new(ArcSwap::from_pointee(config.trusted_proxies.clone()));
        let reloadable = Reloadable {
            app: app.clone(),
            limiter: Arc::clone(&limiter),
            proxies: Arc::clone(&proxies),
            metrics: Arc::clone(&metrics),
        };
        let live = |api| Live::new(app.clone(), stopped.clone(), metrics.live_pages(api));
        let roots = StateParts {
            app: app.clone(),
            limiter,
            proxies,
            unsent: Arc::default(),
            require_idempotency_key: config.require_idempotency_key,
            brand,
            live: live("merchant-api"),
            at_once: Arc::default(),
            metrics: Arc::clone(&metrics),
            figures: Arc::default(),
        };
        let door = |realm, tls| {
            let problems = ProblemWriter::new(realm, config.problem_base_url.as_deref());
            let (clock, dice) = (Arc::clone(&clock), Arc::clone(&dice));
            let (metrics, traces) = (Arc::clone(&metrics), traces.clone());
            Arc::new(Door { clock, dice, problems, tls, metrics, traces })
        };
        let public = match config.sandbox {
            Sandbox::On => merchant::routes().merge(sandbox::routes()),
            Sandbox::Off => merchant::routes(),
        }
        .merge(documents::of_merchants());
        let merchant = dress(public.into_router().merge(portal::routes()), door("merchant-api", tls))
            .with_state(AppState::from(roots.clone()));
        let operator = dress(
            operator::routes().into_router().merge(console::routes()),
            door("operator-api", Tls::Absent),
        )
        .with_state(AppState::from(StateParts { live: live("operator-api"), ..roots }));
        let supervisor = app.store.supervisor();
        let servers = vec![
            supervisor.spawn(
                "merchant API",
                serve(merchant_listener, merchant, Limits::default(), turned_true(stopped.clone())),
            ),
            supervisor.spawn(
                "operator API",
                serve(operator_listener, operator, Limits::default(), turned_true(stopped.clone())),
            ),
        ];
        let mut tasks = Tasks::of(supervisor.clone());
        let house =
            keep_house(app.store.clone(), Arc::clone(&clock), dice, config.delivery.disable, stopped.clone());
        tasks.spawn("housekeeping", house);
        tasks.spawn("key use", write_key_use(app.clone(), stopped.clone()));
        tasks.spawn("scheduler", keep_time(app.clone(), config.sandbox, stopped.clone()));
        if let Some(kept) = config.event_retention {
            tasks.spawn("retention", retain(app.store.clone(), clock, kept, stopped.clone()));
        }
        if let Some(presence) = presence {
            tasks.spawn("presence", presence.keep(stopped.clone()));
        }
        tasks.spawn("recoveries", carry_out_recoveries(app.clone(), stopped.clone()));
        tasks.spawn("ended shares", tell_of_ended_shares(app.clone(), stopped.clone()));
        tasks.spawn("dispatcher", dispatcher.run(stopped));
        Ok(Self { merchant_address, operator_address, app, reloadable, stop, servers, tasks, traces })
    }

    /// Knows whether a task has panicked that this service cannot do without. Then it does not stop in order any more.
    #[must_use]
    pub fn supervisor(&self) -> &Supervisor {
        self.app.store.supervisor()
    }

    /// Stops in order (T8); returns when everything that was begun is written to the database.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        for server in self.servers {
            if let Ok(Some(Stopped { cut_off })) = server.await
                && cut_off > 0
            {
                tracing::warn!(connections = cut_off, "cut off after the grace period");
            }
        }
        self.tasks.ended().await;
        self.app.flush_key_use().await;
        self.app.store.close().await;
        self.traces.stop().await;
    }
}

/// Reads the files that the start reads beside those of variables: the logo, and the certificates that are trusted.
///
/// # Errors
/// [`StartError::Configuration`].
pub fn check_files(config: &Config) -> Result<(), StartError> {
    Brand::new(&config.portal).map_err(StartError::Configuration)?;
    tls_config(extra_roots(&config.delivery)?.as_deref()).map(|_| ())
}

/// Opens the database and makes the use cases, without listeners: also for the commands that need nothing else.
///
/// # Errors
/// [`StartError::Open`], [`StartError::Configuration`].
pub async fn open_app(
    config: &Config,
    access: Access,
    clock: Arc<dyn Clock>,
    dice: Arc<dyn Dice>,
) -> Result<App, StartError> {
    let store = open_store(&config.database_url, access).await?;
    let retention = i64::try_from(config.idempotency_retention.as_millis()).unwrap_or(i64::MAX);
    Ok(App::from(AppParts {
        store,
        clock,
        dice,
        secrets: Arc::new(config.keys.secret_box()),
        cursors: Arc::new(ArcSwap::new(Arc::clone(&config.keys.cursors))),
        urls: url_rules(config),
        target_judge: Some(target_judge(config, Arc::new(SystemResolver::default()))),
        base_url: config.base_url.clone().unwrap_or_default(),
        portal_origin: portal_origin::configured(config.base_url.as_deref()),
        console_link: Arc::default(),
        rates: Arc::new(ArcSwapOption::from_pointee(config.rate_limits.as_ref().map(DefaultRates::from))),
        known_keys: Arc::default(),
        idempotency_retention_ms: retention,
        ready_max_delay_ms: i64::try_from(config.ready_max_delay.as_millis()).unwrap_or(i64::MAX),
        key_use: Arc::default(),
        settling: Arc::default(),
        seeding: Arc::default(),
    }))
}

/// Opens the database behind an address that the configuration has accepted.
///
/// # Errors
/// [`StartError::Open`].
pub async fn open_store(database_url: &DatabaseUrl, access: Access) -> Result<Store, StartError> {
    Store::open(database_url.store_url(), access).await.map_err(|source| not_opened(database_url, source))
}

/// Brings the schema of the database behind that address up to date.
///
/// # Errors
/// [`StartError::Open`].
pub async fn migrate_store(database_url: &DatabaseUrl) -> Result<(), StartError> {
    Store::migrate(database_url.store_url()).await.map_err(|source| not_opened(database_url, source))
}

/// Brings the schema up to date and distributes the tables over the servers of a Citus cluster.
///
/// # Errors
/// [`StartError::Open`].
pub async fn distribute_store(database_url: &DatabaseUrl) -> Result<Distribution, StartError> {
    Store::distribute(database_url.store_url()).await.map_err(|source| not_opened(database_url, source))
}

fn not_opened(database_url: &DatabaseUrl, source: StoreError) -> StartError {
    StartError::Open { database: database_url.to_string(), source }
}

async fn listen(variable: &'static str, address: SocketAddr) -> Result<TcpListener, StartError> {
    TcpListener::bind(address).await.map_err(|source| StartError::Listen { variable, address, source })
}

fn address_of(
    listener: &TcpListener,
    variable: &'static str,
    address: SocketAddr,
) -> Result<SocketAddr, StartError> {
    listener.local_addr().map_err(|source| StartError::Listen { variable, address, source })
}

async fn turned_true(mut stop: watch::Receiver<bool>) {
    // A dropped sender means that the service is gone: stop as well.
    let _ = stop.wait_for(|stop| *stop).await;
}
