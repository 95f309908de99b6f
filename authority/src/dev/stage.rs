//! The service, the receiver and the parties of the demo: started together, and stopped so that nothing stops before
//! the parts that still need it.

use std::io;
use std::sync::Arc;

use authority_store::StoreError;
use authority_store::inbox::Inbox;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use verify_core::verify::{ConfigError, Tolerance, Verifier};

use super::client::Http;
use super::data_dir::DataDir;
use super::demo::{Demo, SetUpError};
use super::receiver::{self, Arrival, Receiver};
use crate::clock::Clock;
use crate::config::Config;
use crate::dice::Dice;
use crate::service::{Service, StartError};

/// Why the demo cannot start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StageError {
    /// The receiver cannot listen on its port.
    #[error("the receiver cannot listen on its port{}: {source}", .port.map(|port| format!(" {port}")).unwrap_or_default())]
    Listen {
        /// The port in the endpoint's URL, if there is an endpoint from an earlier run.
        port: Option<u16>,
        /// The cause.
        source: io::Error,
    },
    /// The receiver's inbox cannot be opened.
    #[error("the receiver's inbox cannot be used: {0}")]
    Inbox(#[source] StoreError),
    /// The service cannot start.
    #[error(transparent)]
    Service(#[from] StartError),
    /// The merchant cannot be set up.
    #[error(transparent)]
    SetUp(#[from] SetUpError),
    /// The receiver's verifier cannot be created.
    #[error(transparent)]
    Verifier(#[from] ConfigError),
}

/// All running parts of the demo.
pub(crate) struct Stage {
    /// The authority.
    pub(crate) service: Service,
    /// The merchant's receiver.
    pub(crate) receiver: Receiver,
    /// The parties.
    pub(crate) demo: Demo,
    /// The HTTP client that they share.
    pub(crate) http: Http,
}

impl Stage {
    /// Starts everything. The channel reports the arrivals at the receiver.
    ///
    /// # Errors
    /// [`StageError`]; the parts that were already started are stopped again.
    pub(crate) async fn set(
        config: Config,
        data: &mut DataDir,
        clock: Arc<dyn Clock>,
        dice: Arc<dyn Dice>,
    ) -> Result<(Self, mpsc::Receiver<Arrival>), StageError> {
        let port = data.kept.endpoint.as_ref().map(|endpoint| endpoint.port);
        let listening = receiver::listen(port, dice.as_ref()).await;
        let (listener, port) = listening.map_err(|source| StageError::Listen { port, source })?;
        let service = Service::start(config, Arc::clone(&clock), dice).await?;
        match Self::around(&service, data, listener, port, clock).await {
            Ok((receiver, arrivals, demo, http)) => Ok((Self { service, receiver, demo, http }, arrivals)),
            Err(error) => {
                service.stop().await;
                Err(error)
            }
        }
    }

    async fn around(
        service: &Service,
        data: &mut DataDir,
        listener: TcpListener,
        port: u16,
        clock: Arc<dyn Clock>,
    ) -> Result<(Receiver, mpsc::Receiver<Arrival>, Demo, Http), StageError> {
        let http = Http::new().map_err(StartError::from)?;
        let demo = Demo::set_up(service, data, &http, port).await?;
        let verifier = Verifier::new(&[&demo.endpoint.secret], Tolerance::DEFAULT)?;
        let inbox = Inbox::open(&data.inbox_path()).await.map_err(StageError::Inbox)?;
        let (receiver, arrivals) = Receiver::start(listener, verifier, inbox, clock);
        Ok((receiver, arrivals, demo, http))
    }

    /// Stops everything, the receiver last, so that deliveries in flight are still answered.
    pub(crate) async fn stop(self) {
        self.service.stop().await;
        self.receiver.stop().await;
    }
}
