//! `authority serve` (contract 16): prints one JSON line when both listeners accept connections, logs to standard
//! error, shuts down gracefully on SIGTERM or SIGINT, and exits at once on the second signal.

use std::future::Future;
use std::sync::Arc;

use serde::Serialize;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::{Exit, Failure, Process, args};
use crate::clock::SystemClock;
use crate::config::{Config, Logging, unread_variables};
use crate::dice::SystemDice;
use crate::service::{Service, StartError, migrate_store};
use crate::telemetry;

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
    telemetry::install(logging).map_err(|error| Failure::Failed(error.to_string()))?;
    for variable in unread {
        tracing::warn!(variable, "nothing reads this variable");
    }
    block_on(async {
        let signals = Signals::listen()?;
        if serve.migrate {
            migrate_store(&config.database_url).await?;
        }
        let service = Service::start(config, Arc::new(SystemClock::new()), Arc::new(SystemDice)).await?;
        print_ready(&service, process)?;
        stop_on_signal(service, signals).await;
        Ok(Exit::Done)
    })
}

/// The line that tells scripts where the listeners are.
pub(super) fn print_ready(service: &Service, process: &mut Process<'_>) -> Result<(), Failure> {
    let ready = Ready {
        ready: true,
        merchant_api: format!("http://{}", service.merchant_address),
        operator_api: format!("http://{}", service.operator_address),
    };
    let line = serde_json::to_string(&ready).map_err(|error| Failure::Failed(error.to_string()))?;
    writeln!(process.stdout, "{line}")?;
    process.stdout.flush()?;
    Ok(())
}

/// Runs a command that needs the asynchronous runtime.
pub(super) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::Failed(format!("no runtime: {error}")))?;
    runtime.block_on(work)
}

/// SIGTERM and SIGINT.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(super) fn listen() -> Result<Self, Failure> {
        let listen = |kind| signal(kind).map_err(|error| Failure::Failed(format!("no signals: {error}")));
        Ok(Self { terminate: listen(SignalKind::terminate())?, interrupt: listen(SignalKind::interrupt())? })
    }

    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Waits for a signal, then shuts down gracefully; a second signal ends the wait.
pub(super) async fn stop_on_signal(service: Service, mut signals: Signals) {
    signals.next().await;
    tracing::info!("stopping");
    tokio::select! {
        () = service.stop() => tracing::info!("stopped"),
        () = signals.next() => tracing::warn!("stopped at once by a second signal"),
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Configuration(message) => Self::Usage(message),
            other => Self::Failed(other.to_string()),
        }
    }
}
