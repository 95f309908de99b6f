//! `authority operator-key`: creates, lists and revokes operator keys. Every operator key, the first one included, is
//! created with access to the database (contract 6.1, 16). The only configuration needed is the database address.

use authority_domain::body::Text;
use authority_domain::{KeyId, OperatorScope};
use authority_store::{Access, Store, StoreError};
use serde::Serialize;
use serde_json::Value;

use super::args::OperatorKey;
use super::print_record;
use super::table::print_list;
use crate::app::merchant::operator_keys::{
    ShownOperatorKey, operator_key_create, operator_key_revoke, operator_keys_list,
};
use crate::cli::serve::block_on;
use crate::cli::{Exit, Failure, Process};
use crate::clock::SystemClock;
use crate::config::read_database_url;
use crate::dice::SystemDice;
use crate::service::open_store;

const SHOWN: [&str; 5] = ["id", "status", "display", "name", "scopes"];

pub(in crate::cli) fn run(command: OperatorKey, process: &mut Process<'_>) -> Result<Exit, Failure> {
    match command {
        OperatorKey::Create(create) => {
            let scopes = scopes(&create.scopes)?;
            let name = line("name", create.name)?;
            let issued = with_store(process, async |store| {
                operator_key_create(store, &SystemClock::new(), &SystemDice, name, scopes).await
            })?;
            if create.json {
                print(&issued, true, process)?;
            } else {
                writeln!(process.stdout, "{}", issued.key)?;
                process.stdout.flush()?;
                let scopes = issued.scopes.join(", ");
                writeln!(
                    process.stderr,
                    "authority: {} with {scopes}; the key is not shown again",
                    issued.id
                )?;
            }
        }
        OperatorKey::List(list) => {
            let keys = with_store(process, async |store| operator_keys_list(store).await)?;
            let keys: Vec<String> = keys.iter().map(json_text).collect::<Result<_, _>>()?;
            print_list(&keys, &SHOWN, list.json, process)?;
        }
        OperatorKey::Revoke(revoke) => {
            let reason = line("reason", revoke.reason)?;
            let revoked: Option<ShownOperatorKey> = match KeyId::parse(&revoke.id) {
                None => None,
                Some(id) => with_store(process, async |store| {
                    operator_key_revoke(store, &SystemClock::new(), &SystemDice, id, reason).await
                })?,
            };
            let unknown = || Failure::Failed("there is no such operator key".to_owned());
            print(&revoked.ok_or_else(unknown)?, revoke.json, process)?;
        }
    }
    Ok(Exit::Done)
}

fn with_store<T>(
    process: &Process<'_>,
    work: impl AsyncFnOnce(&Store) -> Result<T, StoreError>,
) -> Result<T, Failure> {
    let url = read_database_url(process.environment)?;
    block_on(async {
        let store = open_store(&url, Access::Shared).await?;
        let done = work(&store).await;
        store.close().await;
        done.map_err(|error| Failure::Database(error.to_string()).of_database(&url))
    })
}

fn print(record: &impl Serialize, json: bool, process: &mut Process<'_>) -> Result<(), Failure> {
    print_record(&json_text(record)?, &SHOWN, json, process)
}

fn json_text(record: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(record).map_err(Failure::failed)
}

/// Checks for one line of 1 to 255 characters, the rule of the API for names and reasons.
fn line(option: &str, text: String) -> Result<String, Failure> {
    let rule = Text::LINE.check(&Value::String(text));
    rule.map_err(|(_, detail)| Failure::Usage(format!("--{option}: {detail}")))
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
    let named: Vec<OperatorScope> = names.iter().map(parse).collect::<Result<_, _>>()?;
    Ok(OperatorScope::ALL.iter().copied().filter(|scope| named.contains(scope)).collect())
}
