//! The dispatchers: real ones, each with a clock, dice and a line to the network of its own, on one store.
//!
//! An instance may be stopped in order, or die: between two steps, or in the middle of whatever it does when it has
//! read its clock, thrown its dice or sent so many times more. What it has handed to the database by then is done;
//! nothing else of it goes on.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use authority::app::App;
use authority::clock::Clock;
use authority::dice::Dice;
use authority::dispatch::engine::Dispatcher;
use authority::metrics::Metrics;
use authority::traces::Traces;
use authority_domain::delivery::retry::RetryPolicy;
use authority_domain::endpoint::condition::DisablePolicy;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinHandle};

use crate::dice::SeededDice;
use crate::model::endpoint::CAP;
use crate::network::{Line, Network};
use crate::planted::Planted;
use crate::time::Time;

/// Quick requests in flight of one dispatcher, all endpoints together; it has places for slow ones besides.
pub(crate) const SLOTS: usize = 12;

/// Those of them that one merchant may have (contract 15.4).
pub(crate) const SHARE: usize = 3;

/// Of a clock that is broken on purpose.
const STRETCH: Duration = Duration::from_secs(600);

/// Whether an instance lives, and when it is to die.
#[derive(Debug)]
pub(crate) struct Life {
    steps_left: AtomicI64,
    end: OnceLock<AbortHandle>,
    dead: AtomicBool,
}

impl Life {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            steps_left: AtomicI64::new(i64::MAX),
            end: OnceLock::new(),
            dead: AtomicBool::new(false),
        })
    }

    /// The instance does something; it may be the last thing.
    pub(crate) fn touched(&self) {
        if self.steps_left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.die();
        }
    }

    /// Lets it die when it has done so much more.
    pub(crate) fn die_after(&self, steps: i64) {
        self.steps_left.store(steps, Ordering::Relaxed);
    }

    /// Whether it has died; one that was stopped in order has not.
    pub(crate) fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    /// Lets it die now.
    pub(crate) fn die(&self) {
        self.dead.store(true, Ordering::Relaxed);
        if let Some(end) = self.end.get() {
            end.abort();
        }
    }
}

struct OwnClock {
    time: Arc<Time>,
    life: Arc<Life>,
    planted: Option<Planted>,
}

impl Clock for OwnClock {
    fn now_ms(&self) -> i64 {
        self.life.touched();
        self.time.now_ms()
    }

    fn monotonic(&self) -> Duration {
        let now = self.time.monotonic();
        if self.planted == Some(Planted::RefusalsBelongToTheFirst) { counting_down(now) } else { now }
    }
}

struct OwnDice {
    dice: SeededDice,
    life: Arc<Life>,
}

impl Dice for OwnDice {
    fn fill(&self, bytes: &mut [u8]) {
        self.life.touched();
        self.dice.fill(bytes);
    }
}

/// A running dispatcher.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) life: Arc<Life>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
    /// It was asked to stop: it takes nothing more.
    pub(crate) stopping: bool,
}

impl Instance {
    /// Starts the dispatcher of place `number`; `name` is different for every one that ever was.
    pub(crate) fn start(
        app: &App,
        time: &Arc<Time>,
        network: &Arc<Network>,
        number: usize,
        (seed, name): (u64, u64),
        planted: Option<Planted>,
    ) -> Self {
        let life = Life::new();
        let (stop, stopped) = watch::channel(false);
        let clock = OwnClock { time: Arc::clone(time), life: Arc::clone(&life), planted };
        let dice = OwnDice { dice: SeededDice::new(seed, name), life: Arc::clone(&life) };
        let line = Line {
            network: Arc::clone(network),
            instance: number,
            dispatcher: name,
            life: Arc::clone(&life),
        };
        let dispatcher = Dispatcher {
            store: app.store.clone(),
            clock: Arc::new(clock),
            dice: Arc::new(dice),
            secrets: Arc::clone(&app.secrets),
            transport: Arc::new(line),
            retry: retry(planted),
            disable: DisablePolicy::default(),
            traces: Traces::default(),
            urls: app.urls.clone(),
            concurrency: u32::try_from(SLOTS).unwrap_or(u32::MAX),
            max_in_flight: max_in_flight(planted),
            metrics: Arc::new(Metrics::default()),
        };
        let task = tokio::spawn(dispatcher.run(stopped));
        let _ = life.end.set(task.abort_handle());
        Self { life, stop, task, stopping: false }
    }

    /// Asks it to stop in order.
    pub(crate) fn stop(&mut self) {
        self.stopping = true;
        self.stop.send_replace(true);
    }

    /// Whether it still does anything.
    pub(crate) fn lives(&self) -> bool {
        !self.task.is_finished()
    }
}

/// Each stretch of ten minutes runs backwards.
fn counting_down(now: Duration) -> Duration {
    let into = Duration::from_millis(u64::try_from(now.as_millis() % STRETCH.as_millis()).unwrap_or(0));
    now - into + (STRETCH - into)
}

fn retry(planted: Option<Planted>) -> RetryPolicy {
    let standard = authority_domain::delivery::retry::STANDARD_SCHEDULE_S.to_vec();
    let policy = match planted {
        Some(Planted::TooMuchJitter) => RetryPolicy::new(standard, 0.4, 4),
        Some(Planted::BudgetExceeded) => RetryPolicy::new(standard, 0.2, 5),
        _ => Ok(RetryPolicy::standard()),
    };
    policy.expect("a schedule within bounds")
}

fn max_in_flight(planted: Option<Planted>) -> u32 {
    let cap = u32::try_from(CAP).unwrap_or(u32::MAX);
    if planted == Some(Planted::CapExceeded) { cap + 1 } else { cap }
}
