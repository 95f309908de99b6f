//! `authority delivery tail`: prints the attempts of deliveries as they end, read directly from the database.
//!
//! Once a second the command reads the newest deliveries and those that are pending, and prints the attempts that
//! it has not printed yet. A delivery that was pending is looked at once more when it no longer is, for its last
//! attempt. If more than a thousand deliveries are pending, the older of them are looked at when they have ended.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use authority_domain::list_filter::AllDeliveriesFilter;
use authority_domain::{DeliveryId, DeliveryStatus, Mode, Timestamp};
use clap::Args;
use serde_json::{Value, json};

use super::args::ModeName;
use super::{endpoint_id, last_records, named_merchant, page, read, refused, shown, table, with_config};
use crate::app::App;
use crate::cli::serve::Signals;
use crate::cli::style::{Tone, ago};
use crate::cli::{Failure, Process};
use crate::config::Config;

const POLL: Duration = Duration::from_secs(1);

/// How many pages of pending deliveries are read in one round, of 100 each.
const PENDING_PAGES: usize = 10;

/// How many deliveries are remembered at most; the oldest are forgotten first.
const REMEMBERED: usize = 20_000;

/// The columns with their widths: times, outcomes, event types and ids fit.
const COLUMNS: [(&str, usize); 7] = [
    ("when", 10),
    ("outcome", 16),
    ("status", 6),
    ("latency", 9),
    ("event_type", 26),
    ("endpoint_id", 29),
    ("attempt", 7),
];

#[derive(Debug, Args)]
pub(in crate::cli) struct DeliveryTail {
    /// Only deliveries to this merchant's endpoints; id or slug.
    #[arg(long)]
    merchant: Option<String>,
    /// Only deliveries to endpoints of this mode.
    #[arg(long)]
    mode: Option<ModeName>,
    /// Only deliveries to this endpoint, we_….
    #[arg(long, value_name = "ID")]
    endpoint: Option<String>,
    /// How many of the last attempts to begin with, 0 to 100.
    #[arg(long, value_name = "N", default_value_t = 10)]
    last: u32,
    /// Exit after the last attempts instead of waiting for more.
    #[arg(long)]
    once: bool,
    /// Print one JSON line per attempt.
    #[arg(long)]
    json: bool,
}

/// Prints attempts until a signal.
pub(super) fn run(tail: &DeliveryTail, process: &mut Process<'_>) -> Result<(), Failure> {
    let last = last_records(tail.last)?;
    let endpoint_id = endpoint_id(tail.endpoint.as_deref())?;
    let config = Config::read(process.environment)?;
    let colour = process.colour;
    let stdout = &mut *process.stdout;
    with_config(&config, async |app| {
        let merchant_id = match &tail.merchant {
            Some(name) => Some(named_merchant(app, name).await?),
            None => None,
        };
        let mode = tail.mode.map(Mode::from);
        let filter = AllDeliveriesFilter { merchant_id, mode, endpoint_id, ..AllDeliveriesFilter::default() };
        let mut signals = Signals::listen()?;
        let mut watch = Watch { app, filter, printed: BTreeMap::new(), pending: BTreeSet::new() };
        let mut ended = watch.begin(usize::from(last)).await?;
        if !tail.json {
            writeln!(stdout, "{}", table::headings(&COLUMNS, colour))?;
        }
        loop {
            for (delivery, attempt) in &ended {
                let line = match tail.json {
                    true => json!({ "delivery": delivery, "attempt": attempt }).to_string(),
                    false => row(delivery, attempt, app.now(), colour),
                };
                writeln!(stdout, "{line}")?;
            }
            stdout.flush()?;
            if tail.once {
                return Ok(());
            }
            tokio::select! {
                () = tokio::time::sleep(POLL) => {}
                () = signals.next() => return Ok(()),
            }
            ended = watch.look().await?;
        }
    })
}

/// A delivery without its attempts, and one of them.
type Ended = (Value, Value);

/// What has been printed, and what may change.
struct Watch<'a> {
    app: &'a App,
    filter: AllDeliveriesFilter,
    /// The number of the last attempt that was printed, by the id of the delivery.
    printed: BTreeMap<String, i64>,
    /// The deliveries that were pending at the last look.
    pending: BTreeSet<String>,
}

impl Watch<'_> {
    /// The last attempts. All others so far are taken as printed.
    async fn begin(&mut self, last: usize) -> Result<Vec<Ended>, Failure> {
        let newest = self.list(&self.filter, None).await?.0;
        let pending = self.read_pending().await?;
        self.printed.extend(pending.into_iter().chain(newest.iter().cloned()));
        let mut ended = Vec::new();
        for (id, _) in newest.iter().filter(|(_, attempts)| *attempts > 0).take(last) {
            ended.extend(self.attempts_after(id, 0).await?);
        }
        in_order(&mut ended);
        let skipped = ended.len().saturating_sub(last);
        Ok(ended.split_off(skipped))
    }

    /// The attempts that ended since the last look.
    async fn look(&mut self) -> Result<Vec<Ended>, Failure> {
        let was_pending = self.pending.clone();
        let pending = self.read_pending().await?;
        let mut found = BTreeMap::new();
        let mut cursor = None;
        loop {
            let (records, next) = self.list(&self.filter, cursor).await?;
            let known = records.iter().any(|(id, _)| self.printed.contains_key(id));
            found.extend(records);
            cursor = next;
            if known || cursor.is_none() {
                break;
            }
        }
        for (id, attempts) in pending {
            // One that is neither known nor among the newest was pending before more than a thousand others.
            self.printed.entry(id.clone()).or_insert(if found.contains_key(&id) { 0 } else { attempts });
            found.entry(id).or_insert(attempts);
        }
        let mut ended = Vec::new();
        for (id, attempts) in &found {
            let printed = self.printed.get(id).copied().unwrap_or_default();
            if *attempts > printed {
                ended.extend(self.attempts_after(id, printed).await?);
            }
            self.printed.entry(id.clone()).or_insert(*attempts);
        }
        for id in was_pending.iter().filter(|id| !found.contains_key(*id)) {
            let printed = self.printed.get(id).copied().unwrap_or_default();
            ended.extend(self.attempts_after(id, printed).await?);
        }
        while self.printed.len() > REMEMBERED {
            self.printed.pop_first();
        }
        in_order(&mut ended);
        Ok(ended)
    }

    async fn read_pending(&mut self) -> Result<BTreeMap<String, i64>, Failure> {
        let filter = AllDeliveriesFilter { status: vec![DeliveryStatus::Pending], ..self.filter.clone() };
        let (mut all, mut cursor) = (BTreeMap::new(), None);
        for _ in 0..PENDING_PAGES {
            let (records, next) = self.list(&filter, cursor).await?;
            all.extend(records);
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        self.pending = all.keys().cloned().collect();
        Ok(all)
    }

    /// A page of deliveries, newest first: id and number of attempts.
    async fn list(
        &self,
        filter: &AllDeliveriesFilter,
        cursor: Option<String>,
    ) -> Result<(Vec<(String, i64)>, Option<String>), Failure> {
        let list = self.app.all_deliveries_list(&page(cursor), filter.clone()).await.map_err(refused)?;
        let record = |text: &String| {
            let record = read(text)?;
            let attempts = record.get("attempt_count").and_then(Value::as_i64).unwrap_or_default();
            Ok((shown(record.get("id")), attempts))
        };
        Ok((list.items.iter().map(record).collect::<Result<_, Failure>>()?, list.next_cursor))
    }

    /// The attempts of a delivery after this one. None when the delivery is gone by now.
    async fn attempts_after(&mut self, id: &str, printed: i64) -> Result<Vec<Ended>, Failure> {
        let Some(id) = DeliveryId::parse(id) else { return Ok(Vec::new()) };
        let Ok(found) = self.app.delivery_find(id.clone()).await else { return Ok(Vec::new()) };
        let mut delivery = read(&found.body)?;
        let attempts = delivery.as_object_mut().and_then(|members| members.remove("attempts"));
        let number = |attempt: &Value| attempt.get("number").and_then(Value::as_i64).unwrap_or_default();
        let mut ended = Vec::new();
        for attempt in attempts.as_ref().and_then(Value::as_array).into_iter().flatten() {
            if number(attempt) > printed {
                self.printed.insert(id.to_string(), number(attempt));
                ended.push((delivery.clone(), attempt.clone()));
            }
        }
        Ok(ended)
    }
}

/// By the time at which the attempts began.
fn in_order(ended: &mut [Ended]) {
    ended.sort_by_key(|(_, attempt)| shown(attempt.get("started_at")));
}

fn row(delivery: &Value, attempt: &Value, now: Timestamp, colour: bool) -> String {
    let of = |record: &Value, member: &str| shown(record.get(member));
    let began = Timestamp::parse(&of(attempt, "started_at"));
    let duration = attempt.get("duration_ms").and_then(Value::as_i64).unwrap_or_default();
    let ended = began.map(|began| Timestamp::from_ms(began.as_ms().saturating_add(duration)));
    let outcome = of(attempt, "outcome");
    let tone = Tone::of(&outcome).unwrap_or(Tone::Bad);
    let cells = [
        (ended.map_or_else(|| "-".to_owned(), |ended| ago(ended, now)), None),
        (outcome, Some(tone)),
        (of(attempt, "response_status"), Some(tone)),
        (format!("{duration} ms"), None),
        (of(delivery, "event_type"), None),
        (of(delivery, "endpoint_id"), None),
        (of(attempt, "number"), None),
    ];
    table::row(&COLUMNS, &cells, colour)
}
