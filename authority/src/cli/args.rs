//! The arguments of every command. The module of a command explains its options beyond the help texts here.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, Subcommand};
use verify_core::Profile;

/// `authority serve`
#[derive(Debug, Args)]
pub struct Serve {
    /// Run outstanding migrations first (a SQLite database is always migrated).
    #[arg(long)]
    pub migrate: bool,
}

/// `authority migrate`
#[derive(Debug, Args)]
pub struct Migrate {
    /// Also distribute the tables over the servers of a Citus cluster; stop the service before.
    #[arg(long)]
    pub distribute: bool,
    /// Print one JSON line.
    #[arg(long)]
    pub json: bool,
}

/// `authority doctor`
#[derive(Debug, Args)]
pub struct Doctor {
    /// Print one JSON line.
    #[arg(long)]
    pub json: bool,
}

/// `authority config`
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ConfigCommand {
    /// Action to run; without one, the settings are printed unchecked.
    #[command(subcommand)]
    pub action: Option<ConfigAction>,
    /// How to print.
    #[command(flatten)]
    pub list: ConfigList,
}

/// The actions of `authority config`.
#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// Check the configuration of `serve` as well; a wrong one prints what to correct, and exits with 2.
    Check(ConfigList),
}

/// The options of `authority config` and `authority config check`
#[derive(Debug, Args)]
pub struct ConfigList {
    /// Print one JSON line per setting.
    #[arg(long)]
    pub json: bool,
}

/// `authority completion`
#[derive(Debug, Args)]
pub struct Completion {
    /// Shell to write for.
    #[arg(value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

/// `authority man`
#[derive(Debug, Args)]
pub struct Man {
    /// Directory for the pages, such as /usr/local/share/man/man1.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// `authority secrets`
#[derive(Debug, Subcommand)]
pub enum Secrets {
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
#[command(after_help = "The environment variable AUTHORITY_API_KEY must hold a test key of the merchant.")]
pub struct Trigger {
    /// Event type from the catalog, such as order.shipped.
    #[arg(value_name = "TYPE", required_unless_present = "from")]
    pub event_type: Option<String>,
    /// Change the body of a call: a record (checkout, payment, refund, shipment, subscription), the path of a
    /// member, and its value as JSON or as text, such as checkout.line_items.0.quantity=3. May be repeated.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Run the steps in a JSON file instead, in order, up to the first that is refused.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["event_type", "set"])]
    pub from: Option<PathBuf>,
    /// Address of the merchant API; default: AUTHORITY_LISTEN.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Print one JSON line per event or step.
    #[arg(long)]
    pub json: bool,
}

/// `authority listen`
#[derive(Debug, Args)]
#[command(after_help = "The environment variable AUTHORITY_API_KEY must hold a test key of the merchant.")]
pub struct Listen {
    /// Receiver to forward to: an http or https URL on this machine. May be repeated with event types or category.*
    /// before the URL; one without a type receives the rest.
    #[arg(long, value_name = "[TYPE=]URL", required_unless_present = "print_secret")]
    pub forward_to: Vec<String>,
    /// Allow receivers on other machines.
    #[arg(long, conflicts_with = "print_secret")]
    pub allow_remote: bool,
    /// Where to begin: now (new events only), start (all events), or a position that an earlier run printed.
    #[arg(long, value_name = "WHERE", default_value = "now")]
    pub from: String,
    /// Event types or category.*, separated by commas; default: all.
    #[arg(long, value_name = "TYPES")]
    pub events: Option<String>,
    /// Environment variable that holds the signing secret; default: the secret of this user on this machine, which the
    /// first session makes.
    #[arg(long, value_name = "NAME")]
    pub secret_env: Option<OsString>,
    /// Print the signing secret that a session uses, and exit.
    #[arg(long, conflicts_with = "forward_to")]
    pub print_secret: bool,
    /// Header to add to each forwarded request; may be repeated.
    #[arg(long, value_name = "NAME:VALUE")]
    pub header: Vec<String>,
    /// Address of the merchant API; default: AUTHORITY_LISTEN.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// Print one JSON line per event.
    #[arg(long)]
    pub json: bool,
}

/// `authority mcp`
#[derive(Debug, Args)]
pub struct Mcp {
    /// Environment variable with a signing secret to explain refused deliveries with; may be repeated, at most 8.
    #[arg(long, value_name = "NAME")]
    pub secret_env: Vec<OsString>,
    /// Address of the merchant API; default: AUTHORITY_LISTEN.
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
}

/// `authority sign`
#[derive(Debug, Args)]
pub struct Sign {
    /// Environment variable that holds a signing secret; repeat it for a rotation, newest first.
    #[arg(long, value_name = "NAME", required = true)]
    pub secret_env: Vec<OsString>,
    /// Value of the timestamp header: Unix seconds, ten digits.
    #[arg(long, value_name = "T")]
    pub timestamp: OsString,
    /// How to sign: service (the value of Service-Signature) or standard-webhooks (that of webhook-signature).
    #[arg(long, value_name = "PROFILE", default_value = "service", value_parser = profile())]
    pub profile: Profile,
    /// For --profile standard-webhooks: value of webhook-id, which is signed with the body.
    #[arg(long, value_name = "I")]
    pub event_id: Option<String>,
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
    /// By which headers to verify: service (Service-*) or standard-webhooks (webhook-*).
    #[arg(
        long,
        value_name = "PROFILE",
        default_value = "service",
        value_parser = profile(),
        conflicts_with = "vectors"
    )]
    pub profile: Profile,
    /// Value of the timestamp header; leave out if the header is absent.
    #[arg(long, value_name = "T", allow_hyphen_values = true, conflicts_with = "vectors")]
    pub timestamp: Option<OsString>,
    /// Value of the signature header; leave out if the header is absent.
    #[arg(long, value_name = "S", allow_hyphen_values = true, conflicts_with = "vectors")]
    pub signature: Option<OsString>,
    /// Value of the event id's header; leave out if the header is absent.
    #[arg(long, value_name = "I", allow_hyphen_values = true, conflicts_with = "vectors")]
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

/// Reads the name of a profile; any other is refused with both names.
fn profile() -> impl TypedValueParser<Value = Profile> {
    let names = Profile::ALL.map(Profile::as_str);
    PossibleValuesParser::new(names).map(|name| Profile::from_str(&name).unwrap_or_default())
}
