//! `authority trigger TYPE`: produces an event of a catalog type in test mode, by the shortest legal path, and prints
//! its id (contract 16).
//!
//! It calls a running authority with a test key: the sandbox for what a platform, a processor or a carrier would
//! report, the merchant API for what the merchant does. The key comes from the environment, never as an argument.

mod paths;

use verify_core::catalog::EventType;

use super::caller::{address, test_key};
use super::serve::block_on;
use super::{Exit, Failure, Process, args};
use crate::dev::client::{Api, Http};
use crate::dice::{Dice as _, SystemDice};
use paths::Stage;

/// Produces the event and prints its id.
pub(super) fn run(command: &args::Trigger, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let event_type = event_type(&command.event_type)?;
    let key = test_key(process.environment)?;
    let url = address(command.url.as_deref(), process.environment)?;
    let event_id = block_on(async {
        let http = Http::new().map_err(failed)?;
        let api = |root: &str| Api::new(http.clone(), &url, root, key.clone());
        let stage = Stage::new(api("/v1/sandbox"), api("/v1/merchant"), run_name());
        stage.produce(event_type).await.map_err(failed)
    })?;
    if command.json {
        let line = serde_json::json!({ "id": event_id, "type": event_type.as_str() });
        writeln!(process.stdout, "{line}")?;
    } else {
        writeln!(process.stdout, "{event_id}")?;
    }
    process.stdout.flush()?;
    Ok(Exit::Done)
}

fn event_type(name: &str) -> Result<EventType, Failure> {
    EventType::parse(name).ok_or_else(|| {
        let names: Vec<&str> = EventType::ALL.iter().map(|event| event.as_str()).collect();
        Failure::Usage(format!("TYPE: must be one of {}", names.join(", ")))
    })
}

/// The prefix of this run's idempotency keys.
fn run_name() -> String {
    let mut random = [0; 16];
    SystemDice.fill(&mut random);
    random.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}
