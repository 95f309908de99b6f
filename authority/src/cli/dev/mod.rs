//! `authority dev` (contract 16): runs one order from checkout to a partial refund on this machine and shows each step.
//!
//! In both modes standard output begins with the ready line, once the listeners accept connections and the merchant
//! `demo` is set up. With `--json` exactly one more line follows, the summary; the keys are in `dev.json` in the data
//! directory. Without `--json` the output is for a person: each verified event in the order of the stream, the answers
//! to the probes that `dev` sends, the summary, and, when the command stays up, the keys and a few lines to paste.
//!
//! The listeners are 127.0.0.1:8080 and :8081. With `--once` they are free ports, so that the command never conflicts
//! with another program. `AUTHORITY_LISTEN`, `AUTHORITY_OPERATOR_LISTEN`, `AUTHORITY_LOG` and `AUTHORITY_LOG_FORMAT`
//! work as for `serve`; everything else is fixed. A second run in the same directory uses the same merchant, keys and
//! endpoint, and its summary covers only its own events.

mod screen;

use std::ffi::OsString;
use std::future::Future;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use authority_store::StoreError;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use super::serve::{Signals, block_on, print_ready, stop_on_signal};
use super::{Exit, Failure, Process, args};
use crate::clock::{Clock, SystemClock};
use crate::config::{Config, Logging, Lookup};
use crate::dev::client::CallError;
use crate::dev::data_dir::{DataDir, DataDirError};
use crate::dev::demo::SetUpError;
use crate::dev::in_order::InOrder;
use crate::dev::probes::{ProbeError, Sample};
use crate::dev::receiver::Arrival;
use crate::dev::stage::{Stage, StageError};
use crate::dev::tally::Tally;
use crate::dev::{feed, probes, scenario};
use crate::dice::SystemDice;
use crate::service::StartError;
use crate::telemetry;
use screen::Screen;

/// How long to wait for the events of the order. They take milliseconds; if a first attempt fails, the second follows
/// after 5 s (contract 7.2).
const ARRIVAL_DEADLINE: Duration = Duration::from_secs(30);

/// How long an event waits on the screen for the one before it, counted from the last arrival. Deliveries that go out
/// together arrive within milliseconds; one that failed comes seconds later and is shown then.
const ORDER_PATIENCE: Duration = Duration::from_secs(1);

/// Runs the demo, and stays up unless `--once` is given.
pub(super) fn run(arguments: &args::Dev, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let logging = Logging::read(process.environment)?;
    let mut data = DataDir::open(&arguments.data, &SystemDice)?;
    let config = configuration(&data, arguments.once, process.environment)?;
    telemetry::install(logging).map_err(Failure::failed)?;
    block_on(async {
        let mut signals = Signals::listen()?;
        let clock = Arc::new(SystemClock::new());
        let set = Stage::set(config, &mut data, clock.clone(), Arc::new(SystemDice)).await;
        let (stage, arrivals) = set.map_err(|error| not_set(&error, &data))?;
        print_ready(&stage.service, process)?;
        let screen = Screen::new(process, arguments.json);
        let mut house = House { screen, tally: Tally::default(), in_order: InOrder::default(), arrivals };
        let played = tokio::select! {
            played = play(&stage, &mut data, clock.as_ref(), &mut house) => played.map(Some),
            () = signals.next() => Ok(None),
        };
        match played {
            Ok(Some(order_number)) if !arguments.once => {
                house.screen.invite(&stage, &data, &order_number).await?;
                stay(stage, signals, house).await
            }
            ended => {
                // Later arrivals are answered but not shown.
                drop(house);
                tokio::select! {
                    () = stage.stop() => {}
                    () = signals.next() => {}
                }
                match ended? {
                    None if arguments.once => {
                        Err(Failure::Failed("interrupted before the summary".to_owned()))
                    }
                    _ => Ok(Exit::Done),
                }
            }
        }
    })
}

/// The configuration of `serve`, with fixed values for everything except the listen addresses.
fn configuration(data: &DataDir, once: bool, environment: Lookup<'_>) -> Result<Config, Failure> {
    let ports = if once { (0, 0) } else { (8080, 8081) };
    let lookup = |name: &str| -> Option<OsString> {
        match name {
            "AUTHORITY_ENV" => Some("development".into()),
            "AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS" => Some("true".into()),
            "AUTHORITY_DATABASE_URL" => Some(data.database_url().into()),
            "AUTHORITY_SECRET_KEK" => Some(data.kek.to_base64().as_str().into()),
            "AUTHORITY_LISTEN" => environment(name).or(Some(format!("127.0.0.1:{}", ports.0).into())),
            "AUTHORITY_OPERATOR_LISTEN" => {
                environment(name).or(Some(format!("127.0.0.1:{}", ports.1).into()))
            }
            _ => None,
        }
    };
    Ok(Config::read(&lookup)?)
}

/// Runs one order, collects its events, and sends the probes. Returns the order number if every check passed.
async fn play(
    stage: &Stage,
    data: &mut DataDir,
    clock: &dyn Clock,
    house: &mut House<'_, '_>,
) -> Result<String, Failure> {
    let merchant = &stage.demo.merchant;
    let cursor = data.kept.events_cursor.clone().unwrap_or_default();
    let before = house.beside(feed::read(merchant, &cursor)).await??;
    let latest_sequence = house.beside(feed::latest_sequence(merchant)).await??;
    house.in_order = InOrder::after(latest_sequence);
    house.screen.open(data, &stage.demo.endpoint)?;
    let order_number = house.beside(scenario::play(&stage.demo)).await??;
    let run = house.beside(feed::read(merchant, &before.cursor)).await??;
    data.kept.events_cursor = Some(run.cursor);
    data.keep()?;
    house.await_claims(&run.ids).await?;
    let deliveries = house.tally.deliveries(&run.ids);

    let Some(event_id) = run.ids.first() else {
        return Err(Failure::Failed("GET /events lists no event of this run".to_owned()));
    };
    let body = merchant.get(&format!("/events/{event_id}")).await?.body;
    let now = clock.now_ms().div_euclid(1000);
    let sample = Sample { event_id, body, endpoint: &stage.demo.endpoint, now };
    let answers = house.beside(probes::send_all(&stage.http, &sample, &SystemDice)).await??;
    house.screen.answers(&answers)?;

    let summary = house.tally.summary(deliveries);
    house.screen.summary(&summary)?;
    let mut shortcomings = summary.shortcomings();
    for answered in answers.iter().filter(|answered| !answered.is_expected()) {
        shortcomings.push(format!("{} got another answer", answered.probe.name()));
    }
    if house.tally.effects(event_id) > 1 {
        shortcomings.push("the duplicate had a second effect".to_owned());
    }
    if shortcomings.is_empty() {
        Ok(order_number)
    } else {
        Err(Failure::Failed(format!("not everything held: {}", shortcomings.join("; "))))
    }
}

/// Shows arrivals until a signal has stopped the service.
async fn stay(stage: Stage, signals: Signals, mut house: House<'_, '_>) -> Result<Exit, Failure> {
    let Stage { service, receiver, .. } = stage;
    house.beside(stop_on_signal(service, signals)).await??;
    drop(house);
    receiver.stop().await;
    Ok(Exit::Done)
}

/// Shows and counts arrivals while other work runs.
struct House<'s, 'e> {
    screen: Screen<'s, 'e>,
    tally: Tally,
    in_order: InOrder,
    arrivals: mpsc::Receiver<Arrival>,
}

impl House<'_, '_> {
    /// Shows arrivals while `work` runs, and those already in the channel when it ends.
    async fn beside<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Failure> {
        tokio::pin!(work);
        let done = loop {
            tokio::select! {
                Some(arrival) = self.arrivals.recv() => self.note(arrival)?,
                () = sleep(ORDER_PATIENCE), if self.in_order.is_waiting() => self.show_waiting()?,
                done = &mut work => break done,
            }
        };
        while let Ok(arrival) = self.arrivals.try_recv() {
            self.note(arrival)?;
        }
        Ok(done)
    }

    /// Waits until each of these events was claimed, until the deadline, or until the receiver has stopped.
    async fn await_claims(&mut self, ids: &[String]) -> Result<(), Failure> {
        let claims = async {
            while !self.tally.has_claimed(ids) {
                tokio::select! {
                    arrival = self.arrivals.recv() => match arrival {
                        Some(arrival) => self.note(arrival)?,
                        None => break,
                    },
                    () = sleep(ORDER_PATIENCE), if self.in_order.is_waiting() => self.show_waiting()?,
                }
            }
            Ok(())
        };
        // The summary counts an event that did not arrive in time as lost.
        let claimed: Result<(), Failure> = timeout(ARRIVAL_DEADLINE, claims).await.unwrap_or(Ok(()));
        claimed?;
        self.show_waiting()
    }

    fn note(&mut self, arrival: Arrival) -> Result<(), Failure> {
        self.tally.note(&arrival);
        let ready = self.in_order.take(arrival);
        self.show(&ready)
    }

    /// Shows what waits for an event that did not come.
    fn show_waiting(&mut self) -> Result<(), Failure> {
        let waiting = self.in_order.release();
        self.show(&waiting)
    }

    fn show(&mut self, arrivals: &[Arrival]) -> Result<(), Failure> {
        Ok(arrivals.iter().try_for_each(|arrival| self.screen.arrival(arrival))?)
    }
}

/// Why the demo could not start, with advice. The usual cause is another program that uses the port or directory.
fn not_set(error: &StageError, data: &DataDir) -> Failure {
    let path = data.path().display();
    Failure::Failed(match error {
        StageError::Service(StartError::Listen { variable, address, source })
            if source.kind() == ErrorKind::AddrInUse =>
        {
            format!("{address} is taken: stop what listens there, or set {variable} to another address")
        }
        StageError::Service(StartError::Open { source: StoreError::Locked, .. }) => {
            format!("another `authority` works in {path}: stop it, or give --data another directory")
        }
        StageError::Listen { port: Some(port), .. } => format!(
            "port {port}, which the endpoint in {path} delivers to, is taken: stop what listens there (another \
             `authority dev`?), or give --data another directory"
        ),
        // The key does not open the database, or the database does not have the saved records.
        StageError::Service(StartError::Configuration(_))
        | StageError::SetUp(SetUpError::Call(CallError::Refused { .. }))
            if data.used =>
        {
            format!("{error}: what {path} holds does not fit together, remove it to start anew")
        }
        other => other.to_string(),
    })
}

impl From<DataDirError> for Failure {
    fn from(error: DataDirError) -> Self {
        Self::Usage(format!("--data: {error}"))
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<ProbeError> for Failure {
    fn from(error: ProbeError) -> Self {
        Self::Failed(error.to_string())
    }
}
