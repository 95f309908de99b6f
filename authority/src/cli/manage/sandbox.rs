//! `authority sandbox seed`: demonstration data for a merchant's test mode (contract 6.3, 6.4).

use authority_domain::{Merchant, Tenant};
use serde_json::json;

use super::args::SandboxCommand;
use super::{by_command, named_merchant, print_record, refused, with_config};
use crate::app::Owner;
use crate::cli::{Exit, Failure, Process};
use crate::config::{Config, Sandbox};

const SHOWN: [&str; 3] = ["orders", "first_order_number", "last_order_number"];

pub(in crate::cli) fn run(command: SandboxCommand, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let SandboxCommand::Seed(seed) = command;
    let config = Config::read(process.environment)?;
    if config.sandbox == Sandbox::Off {
        return Err(Failure::Failed("AUTHORITY_SANDBOX is off here".to_owned()));
    }
    let answer = with_config(&config, async |app| {
        let id = named_merchant(app, &seed.merchant).await?;
        let merchant = app.merchant_get(id.clone()).await.map_err(refused)?;
        let merchant: Merchant = serde_json::from_str(&merchant.body).map_err(Failure::failed)?;
        let whose = Owner { tenant: Tenant { merchant_id: id, livemode: false }, merchant };
        let body = json!({ "orders": seed.orders, "seed": seed.seed });
        app.sandbox_seed(whose, by_command(app, "sandbox.seed").with(body)).await.map_err(refused)
    })?;
    print_record(&answer.body, &SHOWN, seed.json, process)?;
    Ok(Exit::Done)
}
