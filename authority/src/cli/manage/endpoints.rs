//! `authority endpoint`: the webhook endpoints of merchants, as far as an operator may touch them.

use authority_domain::endpoint::EndpointStatus;
use authority_domain::id::EndpointId;
use authority_domain::tenant::Tenant;
use clap::{Args, Subcommand};
use serde_json::json;

use super::args::ModeName;
use super::{by_command, named_merchant, print_record, refused, with_app};
use crate::cli::{Exit, Failure, Process};

/// `authority endpoint`
#[derive(Debug, Args)]
pub(in crate::cli) struct Endpoint {
    /// What to do.
    #[command(subcommand)]
    action: EndpointAction,
}

#[derive(Debug, Subcommand)]
enum EndpointAction {
    /// List a merchant's webhook endpoints in one mode, newest first.
    List(OneStream),
    /// Send again to an endpoint that was disabled; what it missed stays in the list of events.
    Enable(Switch),
    /// Send nothing more to an endpoint; what waits for it is cancelled.
    Disable(Switch),
}

#[derive(Debug, Args)]
struct OneStream {
    /// The merchant's id or slug.
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
struct Switch {
    /// The endpoint's id, we_….
    #[arg(long, value_name = "ID")]
    id: String,
    /// Why, for the audit log.
    #[arg(long, default_value = "by the command line")]
    reason: String,
    /// Print one JSON line.
    #[arg(long)]
    json: bool,
}

const SHOWN: [&str; 5] = ["id", "status", "disabled_reason", "url", "enabled_events"];

pub(in crate::cli) fn run(command: Endpoint, process: &mut Process<'_>) -> Result<Exit, Failure> {
    match command.action {
        EndpointAction::List(list) => {
            let found = with_app(process, async |app| {
                let merchant_id = named_merchant(app, &list.merchant).await?;
                let tenant = Tenant { merchant_id, livemode: list.mode == ModeName::Live };
                app.endpoints_of(tenant).await.map_err(refused)
            })?;
            found.iter().try_for_each(|item| print_record(item, &SHOWN, list.json, process))?;
        }
        EndpointAction::Enable(one) => {
            switch(&one, "webhook_endpoints.enable", EndpointStatus::Enabled, process)?;
        }
        EndpointAction::Disable(one) => {
            switch(&one, "webhook_endpoints.disable", EndpointStatus::Disabled, process)?;
        }
    }
    Ok(Exit::Done)
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
        app.endpoint_switch(mutation, EndpointId::parse(&one.id), status, body).await.map_err(refused)
    })?;
    print_record(&answer.body, &SHOWN, one.json, process)
}
