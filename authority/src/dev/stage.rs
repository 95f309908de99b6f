//! The service, the receiver and the people of the play: started together, stopped in the order in which they need each
//! other.

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

/// Why the play cannot begin.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StageError {
    /// The receiver has no port.
    #[error("the receiver cannot listen on its port{}: {source}", .port.map(|port| format!(" {port}")).unwrap_or_default())]
    Listen {
        /// The port that its endpoint delivers to, when there is one already.
        port: Option<u16>,
        /// Why not.
        source: io::Error,
    },
    /// The receiver has no inbox.
    #[error("the receiver's inbox cannot be used: {0}")]
    Inbox(#[source] StoreError),
    /// The service does not start.
    #[error(transparent)]
    Service(#[from] StartError),
    /// The merchant cannot be set up.
    #[error(transparent)]
    SetUp(#[from] SetUpError),
    /// The receiver cannot verify anything.
    #[error(transparent)]
    Verifier(#[from] ConfigError),
}

/// Everything that runs.
pub(crate) struct Stage {
    /// The authority.
    pub(crate) service: Service,
    /// The merchant's receiver.
    pub(crate) receiver: Receiver,
    /// Who acts.
    pub(crate) demo: Demo,
    /// How they speak.
    pub(crate) http: Http,
}

impl Stage {
    /// Starts everything. The channel tells what arrives at the receiver.
    ///
    /// # Errors
    /// [`StageError`]; what had been started is stopped again.
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

    /// Stops everything; the receiver last, so that deliveries in flight are still answered.
    pub(crate) async fn stop(self) {
        self.service.stop().await;
        self.receiver.stop().await;
    }
}
