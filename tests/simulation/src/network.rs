//! The model network: takes the requests of all dispatchers, and answers each when its time has come.
//!
//! A dispatcher has a line of its own. A request that comes in is written down with everything it says, and the
//! receiver decides at once what it will answer and when; the world hands the answers out. A dispatcher that dies
//! closes its lines: its requests have arrived all the same, but their answers reach nobody. A line may also be slow:
//! then answers come when nobody waits for them any more.
//!
//! What happened is told in the order in which it happened. The report that a dispatcher gets can be falsified on the
//! way, which is how it is shown that the judge notices.

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use authority::dispatch::transport::{AttemptReport, AttemptRequest, Transport};
use authority_domain::delivery::outcome::{ReceiverWish, honours_retry_after, parse_retry_after};
use rand::rngs::StdRng;
use tokio::sync::oneshot;

use crate::instances::Life;
use crate::planted::Planted;
use crate::receiver::{Mood, Reply};
use crate::time::Time;

/// Names an attempt.
pub(crate) type Call = u64;

/// A request as it arrived.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub(crate) struct Arrival {
    pub(crate) call: Call,
    pub(crate) instance: usize,
    pub(crate) dispatcher: u64,
    pub(crate) elapsed: i64,
    pub(crate) wall: i64,
    pub(crate) url: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
    pub(crate) reply: Reply,
}

/// What the world reads.
#[derive(Clone, Debug)]
pub(crate) enum Happened {
    /// A request came in.
    Arrived(Box<Arrival>),
    /// Its answer reached the dispatcher that sent it, at this wall time; which may have died of it.
    Ended { call: Call, wall: i64, reply: Reply, life: Arc<Life> },
    /// The dispatcher that sent it is gone.
    Lost { call: Call },
}

#[derive(Debug)]
struct Open {
    instance: usize,
    host: String,
    due: i64,
    reply: Reply,
    answer: Option<oneshot::Sender<AttemptReport>>,
}

#[derive(Debug)]
struct State {
    dice: StdRng,
    /// By host; until when.
    moods: BTreeMap<String, (Mood, i64)>,
    open: BTreeMap<Call, Open>,
    due: BTreeSet<(i64, Call)>,
    happened: Vec<Happened>,
    calls: Call,
    /// Per instance: answers are held up until then.
    slow_until: BTreeMap<usize, i64>,
    planted: Option<Planted>,
}

/// The network.
#[derive(Debug)]
pub(crate) struct Network {
    time: Arc<Time>,
    state: Mutex<State>,
}

/// The line of one dispatcher.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) network: Arc<Network>,
    pub(crate) instance: usize,
    /// No other dispatcher is called so.
    pub(crate) dispatcher: u64,
    pub(crate) life: Arc<Life>,
}

impl Network {
    pub(crate) fn new(time: Arc<Time>, dice: StdRng, planted: Option<Planted>) -> Arc<Self> {
        let state = State {
            dice,
            moods: BTreeMap::new(),
            open: BTreeMap::new(),
            due: BTreeSet::new(),
            happened: Vec::new(),
            calls: 0,
            slow_until: BTreeMap::new(),
            planted,
        };
        Arc::new(Self { time, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts the receiver of `host` in a mood until `elapsed`.
    pub(crate) fn put_in_mood(&self, host: &str, mood: Mood, until: i64) {
        self.state().moods.insert(host.to_owned(), (mood, until));
    }

    /// Every receiver is healthy from now on.
    pub(crate) fn heal(&self) {
        let mut state = self.state();
        state.moods.clear();
        state.slow_until.clear();
    }

    /// Holds up the answers on the line of `instance`, those on their way included.
    pub(crate) fn slow_down(&self, instance: usize, until: i64) {
        let mut state = self.state();
        state.slow_until.insert(instance, until);
        let delayed: Vec<Call> = state
            .open
            .iter()
            .filter(|(_, open)| open.instance == instance && open.due < until)
            .map(|(call, _)| *call)
            .collect();
        for call in delayed {
            if let Some(open) = state.open.get_mut(&call) {
                let before = std::mem::replace(&mut open.due, until);
                state.due.remove(&(before, call));
                state.due.insert((until, call));
            }
        }
    }

    /// When the next answer is to be given.
    pub(crate) fn next_answer(&self) -> Option<i64> {
        self.state().due.first().map(|(at, _)| *at)
    }

    /// Gives the answers whose time has come.
    pub(crate) fn answer(&self) {
        let (now, wall) = (self.time.elapsed(), self.time.wall());
        let mut state = self.state();
        while let Some((at, call)) = state.due.first().copied().filter(|(at, _)| *at <= now) {
            state.due.remove(&(at, call));
            let planted = state.planted;
            let Some(open) = state.open.get_mut(&call) else { continue };
            let report = report(&open.reply, wall);
            let report = planted.map_or(report.clone(), |planted| planted.falsify(call, report));
            if let Some(answer) = open.answer.take() {
                // A dispatcher that has just died hears nothing.
                let _ = answer.send(report);
            }
        }
    }

    /// What happened since the last time.
    pub(crate) fn happened(&self) -> Vec<Happened> {
        std::mem::take(&mut self.state().happened)
    }

    fn arrive(
        &self,
        &Line { instance, dispatcher, .. }: &Line,
        request: &AttemptRequest<'_>,
    ) -> (Call, oneshot::Receiver<AttemptReport>) {
        let (elapsed, wall) = (self.time.elapsed(), self.time.wall());
        let url = request.url.as_str().to_owned();
        let host = host_of(&url).to_owned();
        let mut state = self.state();
        state.calls += 1;
        let call = state.calls;
        let mood = state
            .moods
            .get(&host)
            .filter(|(_, until)| *until > elapsed)
            .map_or(Mood::Healthy, |(mood, _)| *mood);
        let others = state.open.values().filter(|open| open.host == host).count();
        let reply = mood.reply(&mut state.dice, others);
        let due = elapsed + reply.after_ms + reply.body_ms;
        let due = state.slow_until.get(&instance).map_or(due, |until| due.max(*until));
        let (answer, answered) = oneshot::channel();
        let headers = request
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
        state.happened.push(Happened::Arrived(Box::new(Arrival {
            call,
            instance,
            dispatcher,
            elapsed,
            wall,
            url,
            headers: headers.collect(),
            body: request.body.to_vec(),
            reply: reply.clone(),
        })));
        state.open.insert(call, Open { instance, host, due, reply, answer: Some(answer) });
        state.due.insert((due, call));
        (call, answered)
    }
}

/// The host of a URL that the rules have let through.
pub(crate) fn host_of(url: &str) -> &str {
    url.trim_start_matches("https://").split('/').next().unwrap_or_default()
}

/// What the transport makes of an answer at `wall`.
fn report(reply: &Reply, wall: i64) -> AttemptReport {
    AttemptReport {
        outcome: reply.outcome,
        status: reply.status,
        retry_after_ms: reply
            .retry_after
            .filter(|_| reply.status.is_some_and(honours_retry_after))
            .and_then(|asked| parse_retry_after(&asked.text(wall), wall)),
        wish: reply
            .status
            .zip(reply.word)
            .and_then(|(status, word)| ReceiverWish::of_header(status, word.text())),
        excerpt: reply.status.map(|status| format!("status {status}")),
        duration_ms: u64::try_from(reply.after_ms).unwrap_or(0),
    }
}

/// Tells when whoever waits is dropped.
struct Waiting<'n> {
    network: &'n Network,
    life: &'n Arc<Life>,
    call: Call,
    answered: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let wall = self.network.time.wall();
        let mut state = self.network.state();
        if let Some(open) = state.open.remove(&self.call) {
            state.due.remove(&(open.due, self.call));
            let call = self.call;
            let happened = if self.answered {
                Happened::Ended { call, wall, reply: open.reply, life: Arc::clone(self.life) }
            } else {
                Happened::Lost { call }
            };
            state.happened.push(happened);
        }
    }
}

#[async_trait]
impl Transport for Line {
    async fn attempt(&self, request: AttemptRequest<'_>) -> AttemptReport {
        self.life.touched();
        let (call, answered) = self.network.arrive(self, &request);
        let mut waiting = Waiting { network: &self.network, life: &self.life, call, answered: false };
        match answered.await {
            Ok(report) => {
                waiting.answered = true;
                report
            }
            Err(_) => pending().await,
        }
    }
}
