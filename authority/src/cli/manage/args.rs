//! The arguments of the management commands. All input comes from options; no option takes a key.

use authority_domain::Mode;

use std::str::FromStr;

use clap::{Args, Subcommand, ValueEnum};

/// `authority operator-key`
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum OperatorKey {
    /// Create an operator key and print it once.
    Create(OperatorKeyCreate),
    /// List the operator keys, newest first.
    List(Listing),
    /// Revoke an operator key; from then on it is refused.
    Revoke(Revoke),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct OperatorKeyCreate {
    /// Purpose of the key, shown in lists and in the audit log.
    #[arg(long)]
    pub(super) name: String,
    /// Scopes of the key, separated by commas; default: all operator scopes.
    #[arg(long, value_delimiter = ',', value_name = "SCOPE")]
    pub(super) scopes: Vec<String>,
    /// Print one JSON line.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Listing {
    /// Print one JSON line per record.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct Revoke {
    /// Id of the key's record, key_….
    #[arg(long, value_name = "ID")]
    pub(super) id: String,
    /// Reason, for the audit log.
    #[arg(long, default_value = "revoked by the command line")]
    pub(super) reason: String,
    /// Print one JSON line.
    #[arg(long)]
    pub(super) json: bool,
}

/// `authority merchant`
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum MerchantCommand {
    /// Create a merchant.
    Create(MerchantCreate),
    /// List the merchants, newest first.
    List(Listing),
    /// Suspend a merchant: it can read but not write.
    Suspend(OneMerchant),
    /// Reactivate a suspended merchant.
    Activate(OneMerchant),
    /// Set the limits that are given, then show all limits of a merchant.
    Limits(MerchantLimits),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct MerchantLimits {
    /// Id or slug of the merchant.
    #[arg(long)]
    pub(super) merchant: String,
    /// GET and HEAD requests with live keys, per second.
    #[arg(long, value_name = "LIMIT")]
    pub(super) read_live_per_second: Option<LimitValue>,
    /// GET and HEAD requests with test keys, per second.
    #[arg(long, value_name = "LIMIT")]
    pub(super) read_test_per_second: Option<LimitValue>,
    /// Requests with other methods and live keys, per second.
    #[arg(long, value_name = "LIMIT")]
    pub(super) write_live_per_second: Option<LimitValue>,
    /// Requests with other methods and test keys, per second.
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
    /// Share of each instance's delivery slots that the merchant may use, in percent.
    #[arg(long, value_name = "LIMIT")]
    pub(super) dispatch_share_percent: Option<LimitValue>,
    /// Print one JSON line.
    #[arg(long)]
    pub(super) json: bool,
}

/// A number, or `default` for the platform's default.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct LimitValue(pub(super) Option<i64>);

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
pub(in crate::cli) struct MerchantCreate {
    /// Permanent short name in events and URLs: 1 to 63 of a-z, 0-9 and inner hyphens.
    #[arg(long)]
    pub(super) slug: String,
    /// Name of the merchant.
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
pub(in crate::cli) struct OneMerchant {
    /// Id or slug of the merchant.
    #[arg(long)]
    pub(super) merchant: String,
    /// Print one JSON line.
    #[arg(long)]
    pub(super) json: bool,
}

/// `authority key`
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Key {
    /// Issue an API key for a merchant and print it once.
    Issue(KeyIssue),
    /// Replace a key: print the new one once; the old one works until the overlap ends.
    Rotate(KeyRotate),
    /// Revoke a key; from then on it is refused.
    Revoke(Revoke),
    /// List a merchant's keys, newest first.
    List(OneMerchant),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct KeyIssue {
    /// Id or slug of the merchant.
    #[arg(long)]
    pub(super) merchant: String,
    /// Live or test data.
    #[arg(long)]
    pub(super) mode: ModeName,
    /// Purpose of the key.
    #[arg(long)]
    pub(super) name: String,
    /// Scopes of the key, separated by commas; default: all.
    #[arg(long, value_delimiter = ',', value_name = "SCOPE")]
    pub(super) scopes: Vec<String>,
    /// When the key expires, RFC 3339; default: never.
    #[arg(long, value_name = "TIME")]
    pub(super) expires_at: Option<String>,
    /// Print one JSON line.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct KeyRotate {
    /// Id of the key's record, key_….
    #[arg(long, value_name = "ID")]
    pub(super) id: String,
    /// How many seconds the old key stays valid, 0 to 2592000; default: one day.
    #[arg(long, value_name = "SECONDS")]
    pub(super) overlap_seconds: Option<u32>,
    /// Print one JSON line.
    #[arg(long)]
    pub(super) json: bool,
}

/// `authority events`
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum Events {
    /// Print the events of a stream as they are committed, until a signal stops the command.
    Tail(EventsTail),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct EventsTail {
    /// Id or slug of the merchant.
    #[arg(long)]
    pub(super) merchant: String,
    /// Live or test data.
    #[arg(long)]
    pub(super) mode: ModeName,
    /// How many of the last events to begin with, 0 to 100.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(super) last: u32,
    /// Sequence number to begin with instead; 1 is the first event.
    #[arg(long, value_name = "SEQUENCE", conflicts_with = "last")]
    pub(super) from: Option<u32>,
    /// Exit after the newest event instead of waiting for more.
    #[arg(long)]
    pub(super) once: bool,
    /// Print the stored bytes of each event, one line per event.
    #[arg(long)]
    pub(super) json: bool,
}

/// A mode, as the value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ModeName {
    /// Real money.
    Live,
    /// Test data.
    Test,
}

impl From<ModeName> for Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Live => Self::Live,
            ModeName::Test => Self::Test,
        }
    }
}

/// `authority sandbox`
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum SandboxCommand {
    /// Create orders in every state in a merchant's test mode; the same seed creates the same orders.
    Seed(SandboxSeed),
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SandboxSeed {
    /// Id or slug of the merchant.
    #[arg(long)]
    pub(super) merchant: String,
    /// Number of orders, 1 to 1000.
    #[arg(long, value_name = "N")]
    pub(super) orders: i64,
    /// Seed of the generator: any integer.
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(super) seed: i64,
    /// Print one JSON line.
    #[arg(long)]
    pub(super) json: bool,
}
