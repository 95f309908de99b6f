//! One inbox: a Durable Object with a SQLite database of its own.
//!
//! It runs alone on its data, the insert is decided by the primary key, and the runtime holds the answer back until the
//! insert is on disk. So of any number of simultaneous deliveries one is the first, and an event that was acknowledged
//! is stored. With a first insert the alarm is set, in the same write; what the alarm does is told in
//! `hand_off`.
//!
//! The object is given a verified body and nothing else, and reads the record from it. It trusts the Worker to have
//! verified the signature: only the Worker can reach it.

use std::cell::Cell;

use verify_core::event::{self, Envelope};
use verify_core::receiver::{Claimed, Record};
use worker::js_sys::{Date, Number};
use worker::{
    DurableObject, Env, Request, Response, Result, State, console_error, durable_object, wasm_bindgen,
};

use super::batch::{self, Taken};
use super::operation::{Operation, Retried, claim_status};
use super::stored;
use super::table::Table;
use crate::configuration::InvalidVariable;
use crate::{clock, js, settings};

/// One shard of the inbox.
#[durable_object(alarm)]
pub struct EventInbox {
    state: State,
    pub(super) env: Env,
    pub(super) table: Table,
    /// The table is there, and the alarm has been set or has rung since this object was started.
    is_open: Cell<bool>,
    /// The alarm is set for a time that has come, and has not begun.
    is_woken: Cell<bool>,
}

impl DurableObject for EventInbox {
    fn new(state: State, env: Env) -> Self {
        let table = Table::new(state.storage().sql());
        Self { state, env, table, is_open: Cell::new(false), is_woken: Cell::new(false) }
    }

    async fn fetch(&self, mut request: Request) -> Result<Response> {
        let path = request.path();
        let answer = match Operation::parse(&path) {
            None => Ok(Response::empty()?.with_status(404)),
            Some(Operation::Claim) => self.claim(&request.bytes().await?).await,
            Some(Operation::ClaimAll) => self.claim_all(&request.bytes().await?).await,
            Some(Operation::Summary) => self.summary().await,
            Some(Operation::LookUp(id)) => self.look_up(id).await,
            Some(Operation::Retry(id)) => self.retry(id).await,
        };
        answer.or_else(|error| {
            console_error!("the inbox failed: {error}");
            Ok(Response::empty()?.with_status(500))
        })
    }

    /// An error here would make the runtime ring again on a schedule of its own and at last give up, so there is none
    /// as long as the alarm can be set.
    async fn alarm(&self) -> Result<Response> {
        self.is_woken.set(false);
        self.create()?;
        let next_ms = self.hand_off().await.unwrap_or_else(|error| {
            console_error!("the inbox could not hand over: {error}");
            Some(clock::runtime_ms() + super::hand_off::PAUSE_AFTER_ERROR_MS)
        });
        // What was set meanwhile is overwritten: whatever came in since has been seen.
        self.is_woken.set(false);
        if let Some(at_ms) = next_ms {
            self.set_alarm(at_ms).await?;
        }
        Response::empty()
    }
}

impl EventInbox {
    async fn claim(&self, body: &[u8]) -> Result<Response> {
        self.open().await?;
        let claimed = self.insert(&read(body)?)?;
        if claimed == Claimed::First {
            // Nothing is awaited between the two, so both are in one write, or neither.
            self.wake().await?;
        }
        Ok(Response::empty()?.with_status(claim_status(claimed)))
    }

    /// For events of the API's list, which begins long ago. Answers what became of them.
    async fn claim_all(&self, body: &[u8]) -> Result<Response> {
        self.open().await?;
        let events = batch::decode(body).ok_or("not a batch of events")?;
        let since = self.remembers_since()?;
        let mut taken = Taken::default();
        let inserted = events.into_iter().try_for_each(|event| self.take_listed(event, &since, &mut taken));
        // Also for those before one that failed: they are recorded.
        if taken.first > 0 {
            self.wake().await?;
        }
        inserted?;
        Response::ok(taken.to_text())
    }

    /// The moment from which on this inbox knows what it has had, as events write theirs. What was created before may
    /// have been handed over and removed since (`purge`): it would be new, and go to the sink a second time.
    /// A longer retention brings nothing back, so what was removed under a shorter one counts as well.
    fn remembers_since(&self) -> Result<String> {
        let kept_since_ms = settings::kept_since_ms(&self.env)
            .map_err(|InvalidVariable(name)| format!("the value of {name} cannot be used"))?;
        let bound_ms = self.table.removed_before_ms()?.unwrap_or(kept_since_ms).max(kept_since_ms);
        Ok(Date::new(&Number::from(bound_ms as f64)).to_iso_string().into())
    }

    /// Records an event of the list, unless it was created before `since` or is there already, and counts it.
    fn take_listed(&self, body: &[u8], since: &str, taken: &mut Taken) -> Result<()> {
        let envelope = read(body)?;
        // There is one form of a time, and it sorts as text.
        if *envelope.created_at < *since {
            taken.too_old += 1;
        } else if self.insert(&envelope)? == Claimed::First {
            taken.first += 1;
        }
        Ok(())
    }

    fn insert(&self, envelope: &Envelope<'_>) -> Result<Claimed> {
        self.table.insert(&Record::new(envelope, clock::now_ms(&self.env)))
    }

    async fn summary(&self) -> Result<Response> {
        self.open().await?;
        Response::ok(self.table.summary()?.to_text())
    }

    async fn look_up(&self, id: &str) -> Result<Response> {
        self.open().await?;
        match self.table.look_up(id)? {
            Some(record) => Response::ok(stored::to_json(&record)),
            None => Ok(Response::empty()?.with_status(404)),
        }
    }

    async fn retry(&self, id: &str) -> Result<Response> {
        self.open().await?;
        let retried = self.table.retry(id)?;
        if retried == Retried::Scheduled {
            self.wake().await?;
        }
        Ok(Response::empty()?.with_status(retried.status()))
    }

    /// Once in the life of this object, at the first call: makes the table, and has the alarm ring, whatever was set.
    /// So no alarm that was lost, by the runtime's giving up or by a change of the sink, is lost for longer than
    /// until then.
    async fn open(&self) -> Result<()> {
        if self.is_open.get() {
            return Ok(());
        }
        self.create()?;
        self.wake().await
    }

    fn create(&self) -> Result<()> {
        if !self.is_open.get() {
            self.table.create()?;
            self.is_open.set(true);
        }
        Ok(())
    }

    /// Has the alarm ring now. Many calls in a row set it once.
    async fn wake(&self) -> Result<()> {
        if self.is_woken.replace(true) {
            return Ok(());
        }
        self.set_alarm(clock::runtime_ms()).await.inspect_err(|_| self.is_woken.set(false))
    }

    async fn set_alarm(&self, at_ms: i64) -> Result<()> {
        let date = Date::new(&Number::from(at_ms as f64));
        js::call(self.state.storage().as_raw().as_ref(), "setAlarm", &[date.into()]).await?;
        Ok(())
    }
}

fn read(body: &[u8]) -> Result<Envelope<'_>> {
    event::read(body).map_err(|code| format!("not an event: {code}").into())
}
