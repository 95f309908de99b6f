//! The arguments of the commands that manage. Everything is given by options; no option takes a key.

use std::str::FromStr;

use clap::{Args, Subcommand, ValueEnum};

/// `authority operator-key`
#[derive(Debug, Args)]
pub(in crate::cli) struct OperatorKey {
    /// What to do.
    #[command(subcommand)]
    pub(super) action: OperatorKeyAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum OperatorKeyAction {
    /// Create an operator key and print it once.
    Create(OperatorKeyCreate),
    /// List the operator keys, newest first.
    List(Listing),
    /// Revoke an operator key; it opens nothing from then on.
    Revoke(Revoke),
}

#[derive(Debug, Args)]
pub(super) struct OperatorKeyCreate {
    /// What the key is for, as it appears in lists and in the audit log.
    #[arg(long)]
    pub(super) name: String,
    /// Scopes of the key, separated by commas; all operator scopes when left out.
    #[arg(long, value_delimiter = ',', value_name = "SCOPE")]
    pub(super) scopes: Vec<String>,
    /// Print one JSON line.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Listing {
    /// Print one JSON line per record.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct Revoke {
    /// The id of the key's record, key_….
    #[arg(long, value_name = "ID")]
    pub(super) id: String,
    /// Why, for the audit log.
    #[arg(long, default_value = "revoked by the command line")]
    pub(super) reason: String,
    /// Print one JSON line.
    #[arg(long)]
    pub(super) json: bool,
}

/// `authority merchant`
#[derive(Debug, Args)]
pub(in crate::cli) struct MerchantCommand {
    /// What to do.
    #[command(subcommand)]
    pub(super) action: MerchantAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum MerchantAction {
    /// Create a merchant.
    Create(MerchantCreate),
    /// List the merchants, newest first.
    List(Listing),
    /// Suspend a merchant: it can read, and write nothing.
    Suspend(OneMerchant),
    /// Let a suspended merchant act again.
    Activate(OneMerchant),
    /// Show a merchant's limits, after setting those that are named.
    Limits(MerchantLimits),
}

#[derive(Debug, Args)]
pub(super) struct MerchantLimits {
    /// Its id or its slug.
    #[arg(long)]
    pub(super) merchant: String,
    /// GET and HEAD with a live key, per second.
    #[arg(long, value_name = "LIMIT")]
    pub(super) read_live_per_second: Option<LimitValue>,
    /// GET and HEAD with a test key, per second.
    #[arg(long, value_name = "LIMIT")]
    pub(super) read_test_per_second: Option<LimitValue>,
    /// Other methods with a live key, per second.
    #[arg(long, value_name = "LIMIT")]
    pub(super) write_live_per_second: Option<LimitValue>,
    /// Other methods with a test key, per second.
    #[arg(long, value_name = "LIMIT")]
    pub(super) write_test_per_second: Option<LimitValue>,
    /// Test events, replays and recoveries per minute and mode.
    #[arg(long, value_name = "LIMIT")]
    pub(super) delivery_per_minute: Option<LimitValue>,
    /// Webhook endpoints per mode, up to 1000.
    #[arg(long, value_name = "LIMIT")]
    pub(super) endpoints: Option<LimitValue>,
    /// Requests in flight to one endpoint, up to 256.
    #[arg(long, value_name = "LIMIT")]
    pub(super) max_in_flight: Option<LimitValue>,
    /// How much of each instance's delivery slots it may hold, in percent.
    #[arg(long, value_name = "LIMIT")]
    pub(super) dispatch_share_percent: Option<LimitValue>,
    /// Print one JSON line.
    #[arg(long)]
    pub(super) json: bool,
}

/// A number, or `default` for the platform's own.
#[derive(Clone, Copy, Debug)]
pub(super) struct LimitValue(pub(super) Option<i64>);

impl FromStr for LimitValue {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "default" => Ok(Self(None)),
            number => {
                number.parse().map(|number| Self(Some(number))).map_err(|_| "must be a number or `default`")
            }
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct MerchantCreate {
    /// Its readable name in events and addresses: 1 to 63 of a-z, 0-9 and inner hyphens. Never changes.
    #[arg(long)]
    pub(super) slug: String,
    /// Its name.
    #[arg(long)]
    pub(super) name: String,
    /// ISO 4217 code, e.g. USD.
    #[arg(long, value_name = "CURRENCY")]
    pub(super) default_currency: String,
    /// Print one JSON line.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct OneMerchant {
    /// Its id or its slug.
    #[arg(long)]
    pub(super) merchant: String,
    /// Print one JSON line.
    #[arg(long)]
    pub(super) json: bool,
}

/// `authority key`
#[derive(Debug, Args)]
pub(in crate::cli) struct Key {
    /// What to do.
    #[command(subcommand)]
    pub(super) action: KeyAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum KeyAction {
    /// Issue an API key for a merchant and print it once.
    Issue(KeyIssue),
    /// Replace a key: print the new one once; the old one works until the overlap ends.
    Rotate(KeyRotate),
    /// Revoke a key; it opens nothing from then on.
    Revoke(Revoke),
    /// List a merchant's keys, newest first.
    List(OneMerchant),
}

#[derive(Debug, Args)]
pub(super) struct KeyIssue {
    /// The merchant's id or slug.
    #[arg(long)]
    pub(super) merchant: String,
    /// Live or test data.
    #[arg(long)]
    pub(super) mode: ModeName,
    /// What the key is for.
    #[arg(long)]
    pub(super) name: String,
    /// Scopes of the key, separated by commas; all when left out.
    #[arg(long, value_delimiter = ',', value_name = "SCOPE")]
    pub(super) scopes: Vec<String>,
    /// When it stops working, RFC 3339; never when left out.
    #[arg(long, value_name = "TIME")]
    pub(super) expires_at: Option<String>,
    /// Print one JSON line.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct KeyRotate {
    /// The id of the key's record, key_….
    #[arg(long, value_name = "ID")]
    pub(super) id: String,
    /// How long the old key goes on working, 0 to 2592000; a day when left out.
    #[arg(long, value_name = "SECONDS")]
    pub(super) overlap_seconds: Option<u32>,
    /// Print one JSON line.
    #[arg(long)]
    pub(super) json: bool,
}

/// `authority events`
#[derive(Debug, Args)]
pub(in crate::cli) struct Events {
    /// What to do.
    #[command(subcommand)]
    pub(super) action: EventsAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum EventsAction {
    /// Print the events of a stream as they are committed, until it is ended by a signal.
    Tail(EventsTail),
}

#[derive(Debug, Args)]
pub(super) struct EventsTail {
    /// The merchant's id or slug.
    #[arg(long)]
    pub(super) merchant: String,
    /// Live or test data.
    #[arg(long)]
    pub(super) mode: ModeName,
    /// The sequence to begin with; 1 is the first event. Without it, only what comes from now on.
    #[arg(long, value_name = "SEQUENCE")]
    pub(super) from: Option<u32>,
    /// End at the newest event instead of waiting for more.
    #[arg(long)]
    pub(super) once: bool,
    /// Print the stored bytes of every event, one line each.
    #[arg(long)]
    pub(super) json: bool,
}

/// A mode as an option takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum ModeName {
    /// Real money.
    Live,
    /// Test data.
    Test,
}

impl ModeName {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Test => "test",
        }
    }
}

/// `authority sandbox`
#[derive(Debug, Args)]
pub(in crate::cli) struct SandboxCommand {
    /// What to do.
    #[command(subcommand)]
    pub(super) action: SandboxAction,
}

#[derive(Debug, Subcommand)]
pub(super) enum SandboxAction {
    /// Make orders in every state for a merchant's test mode; the same seed makes the same ones.
    Seed(SandboxSeed),
}

#[derive(Debug, Args)]
pub(super) struct SandboxSeed {
    /// The merchant, by id or by slug.
    #[arg(long)]
    pub(super) merchant: String,
    /// How many orders, 1 to 1000.
    #[arg(long, value_name = "N")]
    pub(super) orders: i64,
    /// Any integer.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) seed: i64,
    /// Print one JSON line.
    #[arg(long)]
    pub(super) json: bool,
}
