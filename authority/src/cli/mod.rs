//! The command line (contract 6.4, 16): arguments in, one exit code out.
//!
//! [`main`] reads the arguments and runs one command. If the command fails, it writes the reason to standard error in
//! one line. Results go to standard output, everything else to standard error. Commands get the environment, the
//! streams and the clock from [`Process`], so that nothing below this module accesses them directly.
//!
//! Secrets are never arguments, because the process list shows arguments to every user of the machine. Secrets come
//! from the environment or standard input, and no message repeats an argument that could be one.

pub mod args;
mod caller;
mod configuration;
mod dev;
mod doctor;
mod exit;
mod listen;
mod manage;
mod manual;
mod mcp;
mod migrate;
mod rewrap;
mod secrets;
mod serve;
mod sign;
mod style;
mod trigger;
mod usage;
mod vectors;
mod verify;

use std::ffi::OsString;
use std::io::{Read, Write};

use clap::{CommandFactory as _, Parser, Subcommand};
use serde::Serialize;

use crate::clock::Clock;
use crate::config::Lookup;

pub use exit::{Exit, Failure};

/// The commerce authority: merchant API, operator API and signed event delivery.
#[derive(Debug, Parser)]
#[command(name = "authority", bin_name = "authority", version, arg_required_else_help = false)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the merchant API and the operator API, and deliver events.
    Serve(args::Serve),
    /// Bring the database schema up to date.
    Migrate(args::Migrate),
    /// Check the machine, the configuration and the database, and audit the stored data.
    Doctor(args::Doctor),
    /// List every setting with its value, default and unit, and where the value comes from.
    Config(args::ConfigCommand),
    /// Manage operator keys.
    #[command(subcommand)]
    OperatorKey(manage::OperatorKey),
    /// Manage merchants.
    #[command(subcommand)]
    Merchant(manage::MerchantCommand),
    /// Manage the API keys of merchants.
    #[command(subcommand)]
    Key(manage::Key),
    /// Manage the webhook endpoints of merchants.
    #[command(subcommand)]
    Endpoint(manage::Endpoint),
    /// List, follow and retry deliveries.
    #[command(subcommand)]
    Delivery(manage::Delivery),
    /// Read the events of a merchant.
    #[command(subcommand)]
    Events(manage::Events),
    /// Create test data.
    #[command(subcommand)]
    Sandbox(manage::SandboxCommand),
    /// Produce an event of a catalog type in test mode.
    Trigger(args::Trigger),
    /// Forward a merchant's test events to a receiver on this machine, signed like deliveries.
    Listen(args::Listen),
    /// Serve a merchant's test data and the documents to programs that write programs, as an MCP server.
    Mcp(args::Mcp),
    /// Manage the secrets sealed under the key-encryption key.
    #[command(subcommand)]
    Secrets(args::Secrets),
    /// Run a demo on this machine without configuration: one order from checkout to verified events.
    Dev(args::Dev),
    /// Sign a body from standard input and print the Service-Signature header.
    Sign(args::Sign),
    /// Verify a signed body from standard input, or run a vector file.
    Verify(args::Verify),
    /// Print a script that completes commands and options in a shell.
    Completion(args::Completion),
    /// Write the manual pages of all commands.
    Man(args::Man),
}

/// The parts of its process that a command uses.
pub struct Process<'a> {
    /// The environment.
    pub environment: Lookup<'a>,
    /// The names of the variables in the environment.
    pub variables: &'a [OsString],
    /// Standard input.
    pub stdin: &'a mut dyn Read,
    /// Standard output: results only.
    pub stdout: &'a mut dyn Write,
    /// Standard error: messages.
    pub stderr: &'a mut dyn Write,
    /// Whether what is for people has colours: standard output is a terminal that shows them, and nobody forbids it.
    pub colour: bool,
    /// The time.
    pub clock: &'a dyn Clock,
}

impl Process<'_> {
    /// Writes a record as one line of JSON, and at once: whoever reads may wait for it.
    fn json(&mut self, record: &impl Serialize) -> Result<(), Failure> {
        writeln!(self.stdout, "{}", serde_json::to_string(record).map_err(Failure::failed)?)?;
        Ok(self.stdout.flush()?)
    }
}

/// Runs the command that `arguments` name; the first argument is the program's name.
pub fn main(arguments: impl IntoIterator<Item = OsString>, process: &mut Process<'_>) -> Exit {
    let outcome = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => run(arguments.command, process),
        Err(error) if error.use_stderr() => Err(Failure::Usage(usage::line(&error))),
        Err(help) => {
            let help = help.render();
            let help = if process.colour { help.ansi().to_string() } else { help.to_string() };
            process.stdout.write_all(help.as_bytes()).map(|()| Exit::Done).map_err(Failure::from)
        }
    };
    outcome.unwrap_or_else(|failure| failure.report(process.stderr))
}

/// Text from elsewhere on one line, so that it cannot act as terminal control codes.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn run(command: Command, process: &mut Process<'_>) -> Result<Exit, Failure> {
    match command {
        Command::Serve(args) => serve::run(args, process),
        Command::Migrate(args) => migrate::run(&args, process),
        Command::Doctor(args) => doctor::run(&args, process),
        Command::Config(args) => configuration::run(&args, process),
        Command::OperatorKey(args) => manage::operator_key(args, process),
        Command::Merchant(args) => manage::merchant(args, process),
        Command::Key(args) => manage::key(args, process),
        Command::Endpoint(args) => manage::endpoint(args, process),
        Command::Delivery(args) => manage::delivery(args, process),
        Command::Events(args) => manage::events(args, process),
        Command::Sandbox(args) => manage::sandbox(args, process),
        Command::Trigger(args) => trigger::run(&args, process),
        Command::Listen(args) => listen::run(args, process),
        Command::Mcp(args) => mcp::run(args, process),
        Command::Secrets(args) => rewrap::run(&args, process),
        Command::Dev(args) => dev::run(&args, process),
        Command::Sign(args) => sign::run(args, process),
        Command::Verify(args) => verify::run(args, process),
        Command::Completion(args) => manual::completion(&args, Arguments::command(), process),
        Command::Man(args) => manual::man(&args, Arguments::command()),
    }
}
