//! `authority serve` (contract 16): prints one JSON line when both listeners accept connections, logs to standard
//! error, shuts down gracefully on SIGTERM or SIGINT, and exits at once on the second signal, or on the first while it
//! is not ready yet. On SIGHUP it reads its configuration again ([`Reload`]).

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{Exit, Failure, Process, args};
use crate::clock::SystemClock;
use crate::config::{Changed, Config, ConfigError, Logging, Lookup, Snapshot, unread_variables};
use crate::dice::SystemDice;
use crate::service::{Service, StartError, check_files, migrate_store};
use crate::telemetry::{self, LogFilter};

#[derive(Serialize)]
struct Ready {
    ready: bool,
    merchant_api: String,
    operator_api: String,
}

/// Serves until a signal arrives.
pub(super) fn run(serve: args::Serve, process: &mut Process<'_>) -> Result<Exit, Failure> {
    // First: the missing or default value of another variable is often the consequence.
    let unread = unread_variables(process.variables)?;
    let logging = Logging::read(process.environment)?;
    let config = Config::read(process.environment)?;
    let applied = Snapshot::read(process.environment)?;
    let log = telemetry::install(logging).map_err(Failure::failed)?;
    for variable in unread {
        tracing::warn!(variable, "nothing reads this variable");
    }
    block_on(async {
        let mut signals = Signals::listen()?;
        let mut hangups = signal_stream(SignalKind::hangup())?;
        let service = tokio::select! {
            started = start(config, serve.migrate) => started?,
            // A silent database may keep a start waiting for minutes. Nothing was begun that has to end in order.
            () = signals.next() => {
                tracing::info!("stopped before it was ready");
                return Ok(Exit::Done);
            }
        };
        print_ready(&service, process)?;
        let mut reload = Reload { environment: process.environment, applied, log };
        loop {
            tokio::select! {
                () = signals.next() => break,
                task = service.supervisor().panicked() => return Err(panicked(task)),
                _ = hangups.recv() => tokio::select! {
                    // Nothing has changed until all was read: a signal can end it while the database is silent.
                    () = signals.next() => break,
                    () = reload.run(&service) => {}
                },
            }
        }
        stop(service, signals).await?;
        Ok(Exit::Done)
    })
}

async fn start(config: Config, migrates_first: bool) -> Result<Service, StartError> {
    if migrates_first {
        migrate_store(&config.database_url).await?;
    }
    Service::start(config, Arc::new(SystemClock::new()), Arc::new(SystemDice)).await
}

/// The line that tells scripts where the listeners are.
pub(super) fn print_ready(service: &Service, process: &mut Process<'_>) -> Result<(), Failure> {
    let ready = Ready {
        ready: true,
        merchant_api: format!("http://{}", service.merchant_address),
        operator_api: format!("http://{}", service.operator_address),
    };
    process.json(&ready)
}

/// Runs a command that needs the asynchronous runtime.
pub(super) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    /// What is left then is nobody's: the operating system's look-up of a name, which cannot be interrupted.
    const LEFT: Duration = Duration::from_secs(1);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Failed(format!("no runtime: {error}")))?;
    let done = runtime.block_on(work);
    runtime.shutdown_timeout(LEFT);
    done
}

/// Reads the configuration again when the process gets SIGHUP.
///
/// All of it is read and checked before anything changes: a configuration that `serve` would refuse leaves the running
/// service as it is, and the log says why. What only the next start can take is named in the log.
struct Reload<'a> {
    environment: Lookup<'a>,
    /// The values that apply.
    applied: Snapshot,
    log: LogFilter,
}

impl Reload<'_> {
    async fn run(&mut self, service: &Service) {
        let applied = self.apply(service).await;
        service.reloadable.record(applied.is_ok());
        match applied {
            Ok(Changed { reloaded, at_next_start }) => {
                tracing::info!(changed = reloaded.join(" "), "configuration reloaded");
                for variable in at_next_start {
                    tracing::warn!(variable, "the new value applies at the next start");
                }
            }
            Err(reason) => tracing::error!(reason, "configuration not reloaded: nothing has changed"),
        }
    }

    async fn apply(&mut self, service: &Service) -> Result<Changed, String> {
        let in_words = |error: ConfigError| error.to_string();
        let found = Snapshot::read(self.environment).map_err(in_words)?;
        let logging = Logging::read(self.environment).map_err(in_words)?;
        let config = Config::read(self.environment).map_err(in_words)?;
        check_files(&config).map_err(|error| error.to_string())?;
        service.reloadable.apply(&config).await.map_err(|error| error.to_string())?;
        self.log.replace(logging.filter).map_err(|error| error.to_string())?;
        let changed = self.applied.changed(&found);
        self.applied.take(found);
        Ok(changed)
    }
}

/// SIGTERM and SIGINT.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(super) fn listen() -> Result<Self, Failure> {
        let terminate = signal_stream(SignalKind::terminate())?;
        Ok(Self { terminate, interrupt: signal_stream(SignalKind::interrupt())? })
    }

    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

fn signal_stream(kind: SignalKind) -> Result<Signal, Failure> {
    signal(kind).map_err(|error| Failure::Failed(format!("no signals: {error}")))
}

/// Waits for a signal, then shuts down.
pub(super) async fn stop_on_signal(service: Service, mut signals: Signals) -> Result<(), Failure> {
    tokio::select! {
        () = signals.next() => {}
        task = service.supervisor().panicked() => return Err(panicked(task)),
    }
    stop(service, signals).await
}

/// Shuts down gracefully; a second signal ends the wait.
async fn stop(service: Service, mut signals: Signals) -> Result<(), Failure> {
    tracing::info!("stopping");
    let supervisor = service.supervisor().clone();
    tokio::select! {
        () = service.stop() => tracing::info!("stopped"),
        () = signals.next() => tracing::warn!("stopped at once by a second signal"),
        task = supervisor.panicked() => return Err(panicked(task)),
    }
    Ok(())
}

/// The process ends at once: what waits for that task would wait for ever.
fn panicked(task: &str) -> Failure {
    Failure::Failed(format!("the task \"{task}\" panicked, and nothing else does its work: start again"))
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Configuration(message) => Self::Usage(message),
            other => Self::Failed(other.to_string()),
        }
    }
}
