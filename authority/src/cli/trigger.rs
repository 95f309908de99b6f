//! `authority trigger TYPE`: has an event of a catalog type happen in test mode, by the shortest legal path, and prints
//! its id (contract 16).
//!
//! It asks a running authority with a test key: the sandbox for what a platform, a processor or a carrier would tell, the
//! merchant API for what the merchant does. The key comes from the environment, never as an argument.

mod paths;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use verify_core::catalog::EventType;

use super::serve::block_on;
use super::{Exit, Failure, Process, args};
use crate::config::{Lookup, read_listen};
use crate::dev::client::{Api, Http};
use crate::dice::{Dice as _, SystemDice};
use paths::Stage;

/// Where the test key is.
const KEY: &str = "AUTHORITY_API_KEY";

/// Has it happen and prints the event's id.
pub(super) fn run(command: &args::Trigger, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let event_type = event_type(&command.event_type)?;
    let key = key(process.environment)?;
    let url = match &command.url {
        Some(url) => url.trim_end_matches('/').to_owned(),
        None => format!("http://{}", reachable(read_listen(process.environment)?)),
    };
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
    let known = EventType::parse(name).ok_or_else(|| {
        let names: Vec<&str> = EventType::ALL.iter().map(|event| event.as_str()).collect();
        Failure::Usage(format!("TYPE: must be one of {}", names.join(", ")))
    })?;
    if matches!(known, EventType::OrderShared | EventType::OrderShareRevoked) {
        return Err(Failure::Failed(format!(
            "{}: sharing orders with partners is not built yet",
            known.as_str()
        )));
    }
    Ok(known)
}

fn key(environment: Lookup<'_>) -> Result<String, Failure> {
    let wrong = |what: &str| Failure::Usage(format!("{KEY} {what}"));
    let key = environment(KEY).ok_or_else(|| wrong("is not set: it must hold a test key (svc_test_…)"))?;
    let key = key.into_string().map_err(|_| wrong("must be text"))?;
    if !key.starts_with("svc_test_") {
        return Err(wrong("must hold a test key (svc_test_…)"));
    }
    Ok(key)
}

/// An address that listens everywhere is reached on this machine.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

/// What the idempotency keys of this run begin with.
fn run_name() -> String {
    let mut random = [0; 16];
    SystemDice.fill(&mut random);
    random.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Failed(error.to_string())
}
