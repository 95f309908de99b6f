//! `authority migrate`: brings the database schema up to date and exits. With `--distribute` it also distributes the
//! tables over the servers of a Citus cluster.

use authority_store::Distribution;
use serde_json::json;

use super::serve::block_on;
use super::{Exit, Failure, Process, args};
use crate::config::read_database_url;
use crate::service::{distribute_store, migrate_store};

/// Runs the migrations. Creates the SQLite file if it does not exist.
pub(super) fn run(args: &args::Migrate, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let url = read_database_url(process.environment)?;
    if args.distribute {
        let done = block_on(async { Ok(distribute_store(&url).await?) })?;
        if args.json {
            let Distribution { citus, servers, distributed, copied } = done;
            let done =
                json!({ "citus": citus, "servers": servers, "distributed": distributed, "copied": copied });
            writeln!(process.stdout, "{}", json!({ "up_to_date": true, "distribution": done }))?;
        } else {
            writeln!(process.stderr, "authority: the schema is up to date, {}", said(&done))?;
        }
        return Ok(Exit::Done);
    }
    block_on(async { Ok(migrate_store(&url).await?) })?;
    if args.json {
        writeln!(process.stdout, "{}", json!({ "up_to_date": true, "distribution": null }))?;
    } else {
        writeln!(process.stderr, "authority: the schema is up to date")?;
    }
    Ok(Exit::Done)
}

/// What was done, in one line.
fn said(Distribution { citus, servers, distributed, copied }: &Distribution) -> String {
    let over = format!("{servers} server{} of Citus {citus}", if *servers == 1 { "" } else { "s" });
    match distributed + copied {
        0 => format!("and its tables were distributed over {over} before"),
        _ => format!(
            "{distributed} tables are distributed by shard now, and {copied} copied to each of {over}"
        ),
    }
}
