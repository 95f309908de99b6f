//! `authority operator-key create`: the first operator key is made with access to the database (contract 6.1, 16).

use authority_domain::scope::OperatorScope;
use authority_store::Access;

use super::serve::block_on;
use super::{Exit, Failure, Process, args};
use crate::app::keys::{IssuedOperatorKey, operator_key_create};
use crate::clock::SystemClock;
use crate::config::read_database_url;
use crate::dice::SystemDice;
use crate::service::open_store;

/// Makes a key and prints it, once.
pub(super) fn run(command: args::OperatorKey, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let args::OperatorKeyAction::Create(create) = command.action;
    let scopes = scopes(&create.scopes)?;
    let url = read_database_url(process.environment)?;
    let name = create.name;
    let issued = block_on(async {
        let store = open_store(&url, Access::Shared).await?;
        let issued = operator_key_create(&store, &SystemClock::new(), &SystemDice, name, scopes).await;
        store.close().await;
        issued.map_err(|error| Failure::Failed(error.to_string()))
    })?;
    print(&issued, create.json, process)?;
    Ok(Exit::Done)
}

fn scopes(names: &[String]) -> Result<Vec<OperatorScope>, Failure> {
    if names.is_empty() {
        return Ok(OperatorScope::ALL.to_vec());
    }
    let parse = |name: &String| {
        OperatorScope::parse(name).ok_or_else(|| {
            let known: Vec<&str> = OperatorScope::ALL.iter().map(|scope| scope.as_str()).collect();
            Failure::Usage(format!("--scopes: each must be one of {}", known.join(", ")))
        })
    };
    names.iter().map(parse).collect()
}

fn print(issued: &IssuedOperatorKey, json: bool, process: &mut Process<'_>) -> Result<(), Failure> {
    if json {
        let line = serde_json::to_string(issued).map_err(|error| Failure::Failed(error.to_string()))?;
        writeln!(process.stdout, "{line}")?;
    } else {
        writeln!(process.stdout, "{}", issued.key)?;
        writeln!(
            process.stderr,
            "authority: {} with {}; the key is not shown again",
            issued.id,
            issued.scopes.join(", ")
        )?;
    }
    process.stdout.flush()?;
    Ok(())
}
