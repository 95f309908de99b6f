//! `authority merchant`: creates, lists, suspends and reactivates merchants, and sets their limits.

use authority_domain::list_filter::MerchantFilter;
use authority_domain::merchant::MerchantStatus;
use serde_json::{Map, Value, json};

use super::args::{MerchantCommand, MerchantLimits, OneMerchant};
use super::table::print_list;
use super::{all_pages, by_command, named_merchant, print_record, refused, with_app};
use crate::app::Answer;
use crate::cli::{Exit, Failure, Process};

const SHOWN: [&str; 4] = ["id", "slug", "status", "name"];

pub(in crate::cli) fn run(command: MerchantCommand, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let (answer, json) = match command {
        MerchantCommand::List(list) => {
            let found = with_app(process, async |app| {
                all_pages(async |page| app.merchants_list(&page, MerchantFilter::default()).await).await
            })?;
            print_list(&found, &SHOWN, list.json, process)?;
            return Ok(Exit::Done);
        }
        MerchantCommand::Create(create) => {
            let (name, currency) = (create.name, create.default_currency);
            let body = json!({ "slug": create.slug, "name": name, "default_currency": currency });
            let answer = with_app(process, async |app| {
                app.merchant_create(by_command(app, "merchants.create").with(body)).await.map_err(refused)
            })?;
            (answer, create.json)
        }
        MerchantCommand::Limits(limits) => {
            let answer = set_limits(&limits, process)?;
            print_record(&answer.body, &["id", "slug", "effective_limits"], limits.json, process)?;
            return Ok(Exit::Done);
        }
        MerchantCommand::Suspend(one) => (set(&one, MerchantStatus::Suspended, process)?, one.json),
        MerchantCommand::Activate(one) => (set(&one, MerchantStatus::Active, process)?, one.json),
    };
    print_record(&answer.body, &SHOWN, json, process)?;
    Ok(Exit::Done)
}

fn set(one: &OneMerchant, status: MerchantStatus, process: &Process<'_>) -> Result<Answer, Failure> {
    with_app(process, async |app| {
        let id = named_merchant(app, &one.merchant).await?;
        let mutation = by_command(app, "merchants.update");
        app.merchant_update(mutation.with(json!({ "status": status })), Ok(id)).await.map_err(refused)
    })
}

/// Sets the limits that are given; without any, only reads.
fn set_limits(limits: &MerchantLimits, process: &Process<'_>) -> Result<Answer, Failure> {
    let named: Map<String, Value> = [
        ("read_live_per_second", limits.read_live_per_second),
        ("read_test_per_second", limits.read_test_per_second),
        ("write_live_per_second", limits.write_live_per_second),
        ("write_test_per_second", limits.write_test_per_second),
        ("delivery_per_minute", limits.delivery_per_minute),
        ("endpoints", limits.endpoints),
        ("max_in_flight", limits.max_in_flight),
        ("dispatch_share_percent", limits.dispatch_share_percent),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), json!(value?.0))))
    .collect();
    with_app(process, async |app| {
        let id = named_merchant(app, &limits.merchant).await?;
        if named.is_empty() {
            return app.merchant_get(id).await.map_err(refused);
        }
        let mutation = by_command(app, "merchants.update");
        app.merchant_update(mutation.with(json!({ "limits": named })), Ok(id)).await.map_err(refused)
    })
}
