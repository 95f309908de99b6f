//! `authority endpoint`: what an operator may do with the webhook endpoints of merchants.

use authority_domain::list_filter::UndeliveredFilter;
use authority_domain::{EndpointId, EndpointStatus, MerchantId, Tenant, Timestamp};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::args::ModeName;
use super::table::print_list;
use super::{all_pages, by_command, named_merchant, print_record, read, refused, with_app};
use crate::app::App;
use crate::app::delivery::undelivered::Reach;
use crate::app::endpoint::merchant::Holder;
use crate::cli::{Exit, Failure, Process};

/// `authority endpoint`
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Endpoint {
    /// List a merchant's webhook endpoints in one mode, newest first.
    List(OneStream),
    /// Enable a disabled endpoint; the events it missed are not sent, but stay in the event list.
    Enable(Switch),
    /// Disable an endpoint and cancel its pending deliveries.
    Disable(Switch),
    /// List the events that have not reached an endpoint, newest first, each with the reason.
    Undelivered(UndeliveredList),
    /// Have a running service send an endpoint the events that it missed.
    Recover(Recover),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct OneStream {
    /// Id or slug of the merchant.
    #[arg(long)]
    merchant: String,
    /// Live or test data.
    #[arg(long)]
    mode: ModeName,
    /// Print one JSON line per record.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Switch {
    /// Id of the endpoint, we_….
    #[arg(long, value_name = "ID")]
    id: String,
    /// Reason, for the audit log.
    #[arg(long, default_value = "by the command line")]
    reason: String,
    /// Print one JSON line.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct UndeliveredList {
    /// Id of the endpoint, we_….
    #[arg(long, value_name = "ID")]
    id: String,
    /// Only events created at this time or later, e.g. 2026-09-01T12:00:00Z.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only events created before this time.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Print one JSON line per record.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Recover {
    /// Id of the endpoint, we_….
    #[arg(long, value_name = "ID")]
    id: String,
    /// Events created at this time or later, e.g. 2026-09-01T12:00:00Z.
    #[arg(long, value_name = "TIME")]
    since: String,
    /// Events created before this time; default: now.
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Only these event types or categories (order.*), separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "TYPE")]
    types: Vec<String>,
    /// Only count the events, send nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON line.
    #[arg(long)]
    json: bool,
}

const MISSING: [&str; 5] = ["sequence", "event_id", "event_type", "created_at", "reason"];

const SHOWN: [&str; 5] = ["id", "status", "disabled_reason", "url", "enabled_events"];

pub(in crate::cli) fn run(command: Endpoint, process: &mut Process<'_>) -> Result<Exit, Failure> {
    match command {
        Endpoint::List(list) => {
            let found = with_app(process, async |app| {
                let merchant_id = named_merchant(app, &list.merchant).await?;
                let tenant = Tenant { merchant_id, livemode: list.mode == ModeName::Live };
                app.endpoints_of(tenant).await.map_err(refused)
            })?;
            print_list(&found, &SHOWN, list.json, process)?;
        }
        Endpoint::Enable(one) => {
            switch(&one, "webhook_endpoints.enable", EndpointStatus::Enabled, process)?;
        }
        Endpoint::Disable(one) => {
            switch(&one, "webhook_endpoints.disable", EndpointStatus::Disabled, process)?;
        }
        Endpoint::Undelivered(list) => {
            let filter = UndeliveredFilter {
                since: time("--since", list.since.as_deref())?,
                until: time("--until", list.until.as_deref())?,
                types: Vec::new(),
            };
            let found = with_app(process, async |app| {
                let (id, tenant) = owned(app, &list.id).await?;
                all_pages(async |page| {
                    app.undelivered_list(&tenant, Ok(id.clone()), &page, filter.clone(), Reach::Request).await
                })
                .await
            })?;
            print_list(&found, &MISSING, list.json, process)?;
        }
        Endpoint::Recover(recover) => {
            let types = (!recover.types.is_empty()).then_some(&recover.types);
            let mut body = json!({ "since": recover.since, "until": recover.until, "types": types,
                                   "dry_run": recover.dry_run });
            if let Value::Object(members) = &mut body {
                members.retain(|_, value| !value.is_null());
            }
            let answer = with_app(process, async |app| {
                let (id, tenant) = owned(app, &recover.id).await?;
                let mutation = by_command(app, "webhook_endpoints.recover");
                let holder = Holder::merchant(tenant);
                app.endpoint_recover(holder, mutation.with(body), Ok(id)).await.map_err(refused)
            })?;
            let shown: &[&str] =
                if recover.dry_run { &["endpoint_id", "matched"] } else { &["id", "status", "matched"] };
            print_record(&answer.body, shown, recover.json, process)?;
        }
    }
    Ok(Exit::Done)
}

fn time(option: &str, text: Option<&str>) -> Result<Option<Timestamp>, Failure> {
    let malformed =
        || Failure::Usage(format!("{option} must be an RFC 3339 time, e.g. 2026-09-01T12:00:00Z"));
    text.map(|text| Timestamp::parse(text).ok_or_else(malformed)).transpose()
}

/// The endpoint that `--id` names, and its merchant and mode. The platform's own endpoint has no stream.
async fn owned(app: &App, id: &str) -> Result<(EndpointId, Tenant), Failure> {
    let unknown = || Failure::Failed("there is no such webhook endpoint of a merchant".to_owned());
    let id = EndpointId::parse(id).ok_or_else(unknown)?;
    let found = read(&app.endpoint_find(id.clone()).await.map_err(refused)?.body)?;
    let merchant = found.get("merchant_id").and_then(Value::as_str).and_then(MerchantId::parse);
    let livemode = found.get("livemode").and_then(Value::as_bool);
    let (Some(merchant_id), Some(livemode)) = (merchant, livemode) else { return Err(unknown()) };
    Ok((id, Tenant { merchant_id, livemode }))
}

fn switch(
    one: &Switch,
    operation: &'static str,
    status: EndpointStatus,
    process: &mut Process<'_>,
) -> Result<(), Failure> {
    let body = json!({ "reason": one.reason });
    let answer = with_app(process, async |app| {
        let mutation = by_command(app, operation);
        app.endpoint_switch(mutation.with(body), EndpointId::named(&one.id), status).await.map_err(refused)
    })?;
    print_record(&answer.body, &SHOWN, one.json, process)
}
