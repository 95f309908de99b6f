//! `authority mcp`: a server of the Model Context Protocol for programs that write programs (contract 16).
//!
//! Such a program starts the command and talks to it over standard input and output, one JSON-RPC message per line; the
//! official Rust SDK (`rmcp`) speaks the protocol. [`server`] offers the tools and, as resources, the documents:
//! [`records`] and [`events`] call a running authority as `authority trigger` does, [`deliveries`] explains refusals as
//! `authority verify --explain` and `authority listen` do, [`documents`] searches what the program ships.
//!
//! Whoever writes the tools' arguments is a language model that reads what others wrote. So the server has a merchant's
//! test key and nothing else: a live key is refused at the start. Secrets come from the environment that the person who
//! starts the server chose. No tool takes one, arguments that seem to hold one are refused ([`secrets`]), and no output
//! repeats an argument.
//!
//! Standard output carries the protocol alone; the log goes to standard error. The server ends with exit code 0 when
//! its input ends, or on a signal. Deliberately absent: live mode, the operator API, every write but the sandbox's, and
//! HTTP as a transport.

mod arguments;
mod deliveries;
mod documents;
mod events;
mod outcome;
mod records;
mod secrets;
mod server;

use rmcp::service::{ServerInitializeError, serve_server};
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::runtime::Builder;
use verify_core::verify::MAX_SECRETS;

use super::caller::{address, test_key};
use super::secrets::from_environment;
use super::serve::Signals;
use super::{Exit, Failure, Process, args};
use crate::config::Logging;
use crate::dev::client::{Api, Http};
use crate::telemetry;
use server::{Connection, Server};

/// The longest message, in bytes: a body of 1 MiB whose characters are escaped. A longer one is dropped and logged.
const MESSAGE_LIMIT: usize = 8 * 1024 * 1024;

/// Serves until the input ends or a signal arrives.
pub(super) fn run(command: args::Mcp, process: &mut Process<'_>) -> Result<Exit, Failure> {
    let key = test_key(process.environment)?;
    let url = address(command.url.as_deref(), process.environment)?;
    let secrets = from_environment("--secret-env", command.secret_env, process.environment)?;
    if secrets.len() > MAX_SECRETS {
        return Err(Failure::Usage(format!("--secret-env can be given at most {MAX_SECRETS} times")));
    }
    log(process)?;
    let runtime = Builder::new_multi_thread().enable_all().build().map_err(Failure::failed)?;
    let served = runtime.block_on(async {
        let http = Http::new().map_err(Failure::failed)?;
        let merchant = Api::new(http.clone(), &url, "/v1/merchant", key.clone());
        let secrets = secrets.into_iter().map(|secret| secret.text).collect();
        let server = Server::new(Connection { http, url, key, merchant, secrets });
        let mut signals = Signals::listen()?;
        tokio::select! {
            served = serve(server) => served,
            () = signals.next() => Ok(Exit::Done),
        }
    });
    // A thread may wait in a read of standard input, which nothing can interrupt.
    runtime.shutdown_background();
    served
}

/// Logs to standard error. The protocol's library repeats whole messages below `warn`, and those may hold anything.
fn log(process: &Process<'_>) -> Result<(), Failure> {
    let Logging { filter, format } = Logging::read(process.environment)?;
    let filter = filter.add_directive("rmcp=warn".parse().map_err(Failure::failed)?);
    telemetry::install(Logging { filter, format }).map(drop).map_err(Failure::failed)
}

/// Speaks the protocol until the input ends.
async fn serve(server: Server) -> Result<Exit, Failure> {
    // The protocol needs asynchronous streams, which those of `Process` are not.
    let transport = AsyncRwTransport::new_server(tokio::io::stdin(), tokio::io::stdout())
        .with_max_line_length(MESSAGE_LIMIT);
    let running = match serve_server(server, transport).await {
        Ok(running) => running,
        // The input ended before anything was asked.
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(Exit::Done),
        // The error repeats the message, which may hold anything.
        Err(_) => return Err(Failure::Failed("the first message is no MCP initialize request".to_owned())),
    };
    running.waiting().await.map(|_| Exit::Done).map_err(Failure::failed)
}
