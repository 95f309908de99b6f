//! The arguments of every command. The module of a command explains its options beyond the help texts here.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

/// `authority serve`
#[derive(Debug, Args)]
pub struct Serve {
    /// Run outstanding migrations first (a SQLite database is always migrated).
    #[arg(long)]
    pub migrate: bool,
}

/// `authority migrate`
#[derive(Debug, Args)]
pub struct Migrate {}

/// `authority doctor`
#[derive(Debug, Args)]
pub struct Doctor {
    /// Print one JSON line.
    #[arg(long)]
    pub json: bool,
}

/// `authority secrets`
#[derive(Debug, Args)]
pub struct Secrets {
    /// Action to run.
    #[command(subcommand)]
    pub action: SecretsAction,
}

/// The actions of `authority secrets`.
#[derive(Debug, Subcommand)]
pub enum SecretsAction {
    /// Reseal all secrets under the current key-encryption key that are still under the previous one.
    Rewrap(SecretsRewrap),
}

/// `authority secrets rewrap`
#[derive(Debug, Args)]
pub struct SecretsRewrap {
    /// Print one JSON line.
    #[arg(long)]
    pub json: bool,
}

/// `authority dev`
#[derive(Debug, Args)]
pub struct Dev {
    /// Directory for the database and the generated keys.
    #[arg(long, value_name = "DIR", default_value = "./.authority-dev")]
    pub data: PathBuf,
    /// Use free ports and exit after the summary; exit code 0 only if every check passed.
    #[arg(long)]
    pub once: bool,
    /// Print the summary as one JSON line.
    #[arg(long)]
    pub json: bool,
}

/// `authority trigger`
#[derive(Debug, Args)]
pub struct Trigger {
    /// Event type from the catalog, such as order.shipped.
    #[arg(value_name = "TYPE")]
    pub event_type: String,
    /// Address of the merchant API; default: AUTHORITY_LISTEN.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Print one JSON line.
    #[arg(long)]
    pub json: bool,
}

/// `authority listen`
#[derive(Debug, Args)]
pub struct Listen {
    /// Receiver to forward to: an http or https URL on this machine.
    #[arg(long, value_name = "URL")]
    pub forward_to: String,
    /// Where to begin: now (new events only), start (all events), or a position that an earlier run printed.
    #[arg(long, value_name = "WHERE", default_value = "now")]
    pub from: String,
    /// Event types or category.*, separated by commas; default: all.
    #[arg(long, value_name = "TYPES")]
    pub events: Option<String>,
    /// Environment variable that holds the signing secret; default: a new secret is generated.
    #[arg(long, value_name = "NAME")]
    pub secret_env: Option<OsString>,
    /// Address of the merchant API; default: AUTHORITY_LISTEN.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Print one JSON line per event.
    #[arg(long)]
    pub json: bool,
}

/// `authority sign`
#[derive(Debug, Args)]
pub struct Sign {
    /// Environment variable that holds a signing secret; repeat it for a rotation, newest first.
    #[arg(long, value_name = "NAME", required = true)]
    pub secret_env: Vec<OsString>,
    /// Value of Service-Timestamp: Unix seconds, ten digits.
    #[arg(long, value_name = "T")]
    pub timestamp: OsString,
    /// Print one JSON line.
    #[arg(long)]
    pub json: bool,
}

/// `authority verify`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").required(true).args(["secret_env", "vectors"]))]
pub struct Verify {
    /// Environment variable that holds a trusted signing secret; may be repeated, at most 8.
    #[arg(long, value_name = "NAME")]
    pub secret_env: Vec<OsString>,
    /// Value of the Service-Timestamp header; leave out if the header is absent.
    #[arg(long, value_name = "T", conflicts_with = "vectors")]
    pub timestamp: Option<OsString>,
    /// Value of the Service-Signature header; leave out if the header is absent.
    #[arg(long, value_name = "S", conflicts_with = "vectors")]
    pub signature: Option<OsString>,
    /// Value of the Service-Event-Id header; leave out if the header is absent.
    #[arg(long, value_name = "I", conflicts_with = "vectors")]
    pub event_id: Option<OsString>,
    /// Time to verify at, in Unix seconds; default: now.
    #[arg(long, value_name = "N", allow_negative_numbers = true, conflicts_with = "vectors")]
    pub now: Option<i64>,
    /// How far the timestamp may differ from the time of verification, 1 to 3600 seconds.
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 300,
        conflicts_with = "vectors"
    )]
    pub tolerance: i64,
    /// If the delivery is refused, print the likely causes, the evidence for each, and how to fix it.
    #[arg(long, conflicts_with = "vectors")]
    pub explain: bool,
    /// For --explain: environment variable with a secret that the sender may have used by mistake; may be repeated, at
    /// most 8.
    #[arg(long, value_name = "NAME", requires = "explain")]
    pub other_secret_env: Vec<OsString>,
    /// Print one JSON line.
    #[arg(long)]
    pub json: bool,
    /// Run the cases of a vector file instead of reading a body.
    #[arg(long, value_name = "FILE")]
    pub vectors: Option<PathBuf>,
}
