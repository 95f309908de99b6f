//! `authority delivery`: lists deliveries, follows their attempts, and retries one at once.

use authority_domain::list_filter::AllDeliveriesFilter;
use authority_domain::{DeliveryId, DeliveryStatus, Mode};
use clap::{Args, Subcommand};

use super::args::ModeName;
use super::delivery_tail::{self, DeliveryTail};
use super::table::print_list;
use super::{by_command, endpoint_id, named_merchant, page, print_record, refused, with_app};
use crate::cli::{Exit, Failure, Process};

/// `authority delivery`
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Delivery {
    /// List deliveries, newest first.
    List(DeliveryList),
    /// Print the attempts of deliveries as they end, until a signal stops the command.
    Tail(DeliveryTail),
    /// Send a delivery now: a pending one, or again one that failed or was cancelled.
    Retry(DeliveryRetry),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DeliveryList {
    /// Only deliveries to this merchant's endpoints; id or slug.
    #[arg(long)]
    merchant: Option<String>,
    /// Only deliveries to endpoints of this mode.
    #[arg(long)]
    mode: Option<ModeName>,
    /// Only deliveries to this endpoint, we_….
    #[arg(long, value_name = "ID")]
    endpoint: Option<String>,
    /// Only these statuses, separated by commas: pending, succeeded, failed, cancelled.
    #[arg(long, value_delimiter = ',', value_name = "STATUS")]
    status: Vec<String>,
    /// Maximum number of deliveries, 1 to 1000000.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
    /// Print one JSON line per record.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DeliveryRetry {
    /// The delivery's id, dlv_….
    #[arg(long, value_name = "ID")]
    id: String,
    /// Print one JSON line.
    #[arg(long)]
    json: bool,
}

const SHOWN: [&str; 7] =
    ["id", "status", "trigger", "event_type", "endpoint_id", "attempt_count", "last_outcome"];

const LIMIT_MAX: u32 = 1_000_000;

pub(in crate::cli) fn run(command: Delivery, process: &mut Process<'_>) -> Result<Exit, Failure> {
    match command {
        Delivery::List(list) => {
            print_list(&self::list(&list, process)?, &SHOWN, list.json, process)?;
        }
        Delivery::Tail(tail) => delivery_tail::run(&tail, process)?,
        Delivery::Retry(retry) => {
            let answer = with_app(process, async |app| {
                let mutation = by_command(app, "deliveries.retry");
                app.delivery_retry(mutation, DeliveryId::named(&retry.id)).await.map_err(refused)
            })?;
            print_record(&answer.body, &SHOWN, retry.json, process)?;
        }
    }
    Ok(Exit::Done)
}

fn list(list: &DeliveryList, process: &Process<'_>) -> Result<Vec<String>, Failure> {
    if !(1..=LIMIT_MAX).contains(&list.limit) {
        return Err(Failure::Usage(format!("--limit must be 1 to {LIMIT_MAX}")));
    }
    let status = list.status.iter().map(|status| DeliveryStatus::parse(status)).collect::<Option<Vec<_>>>();
    let status = status.ok_or_else(|| {
        let known: Vec<&str> = DeliveryStatus::ALL.iter().map(|status| status.as_str()).collect();
        Failure::Usage(format!("--status: each must be one of {}", known.join(", ")))
    })?;
    let endpoint_id = endpoint_id(list.endpoint.as_deref())?;
    let wanted = usize::try_from(list.limit).unwrap_or(usize::MAX);
    with_app(process, async |app| {
        let merchant_id = match &list.merchant {
            Some(name) => Some(named_merchant(app, name).await?),
            None => None,
        };
        let filter = AllDeliveriesFilter {
            merchant_id,
            mode: list.mode.map(Mode::from),
            endpoint_id,
            status,
            event_id: None,
        };
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let list = app.all_deliveries_list(&page(cursor), filter.clone()).await.map_err(refused)?;
            found.extend(list.items);
            cursor = list.next_cursor;
            if cursor.is_none() || found.len() >= wanted {
                found.truncate(wanted);
                return Ok(found);
            }
        }
    })
}
