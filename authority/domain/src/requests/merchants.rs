//! `POST /merchants` and `POST /merchants/:m/api-keys` (contract 6.2, 2.16, 2.11).

use serde_json::Value;
use verify_core::catalog::API_VERSION;

use crate::id::MerchantId;
use crate::members::{self, Members, Text};
use crate::merchant::{Merchant, MerchantStatus, Settings, is_slug};
use crate::order_number::OrderNumber;
use crate::refusal::{MemberCode, Refusal};
use crate::scope::Scope;
use crate::tenant::Mode;
use crate::time::Timestamp;

/// From an hour to a year.
const PENDING_ORDER_TTL_HOURS: std::ops::RangeInclusive<i64> = 1..=8_760;

/// A merchant to be made.
#[derive(Clone, Debug)]
pub struct MerchantRequest {
    slug: String,
    name: String,
    default_currency: String,
    settings: Settings,
}

impl MerchantRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self, Refusal> {
        members::read(body, |m| {
            m.not_writable(&["id", "status", "api_version"]);
            let slug = |text: &str| is_slug(text).then(|| text.to_owned());
            Self {
                slug: m
                    .parsed("slug", Text::LINE, "1 to 63 of a-z, 0-9 and inner hyphens", String::new(), slug)
                    .required(),
                name: m.string("name", Text::LINE).required(),
                default_currency: m.currency("default_currency").required(),
                settings: m.object("settings", settings).or(Settings::default()),
            }
        })
    }

    /// The merchant, active, pinned to the present API version.
    #[must_use]
    pub fn into_merchant(self, id: MerchantId, now: Timestamp) -> Merchant {
        Merchant {
            id,
            slug: self.slug,
            name: self.name,
            status: MerchantStatus::Active,
            default_currency: self.default_currency,
            api_version: API_VERSION.to_owned(),
            settings: self.settings,
            created_at: now,
            updated_at: now,
        }
    }
}

fn settings(m: &mut Members<'_>) -> Settings {
    let default = Settings::default();
    let settings = Settings {
        confirm_on: m.one_of("confirm_on").or(default.confirm_on),
        require_if_match: m.boolean("require_if_match").or(default.require_if_match),
        require_idempotency_key: m.boolean("require_idempotency_key").or(default.require_idempotency_key),
        order_number_prefix: m
            .string("order_number_prefix", Text::line(1, 32))
            .or(default.order_number_prefix),
        pending_order_ttl_hours: m.integer("pending_order_ttl_hours", PENDING_ORDER_TTL_HOURS).optional(),
    };
    // What is generated must be an order number however high the counter gets.
    if OrderNumber::parse(&settings.order_number_prefix).is_none() {
        m.refuse("order_number_prefix", MemberCode::InvalidValue, "must begin like an order number");
    }
    settings
}

/// An API key to be issued.
#[derive(Clone, Debug)]
pub struct ApiKeyRequest {
    /// For people.
    pub name: String,
    /// Live or test.
    pub livemode: bool,
    /// At least one.
    pub scopes: Vec<Scope>,
    /// When it stops to work.
    pub expires_at: Option<Timestamp>,
}

impl ApiKeyRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value, now: Timestamp) -> Result<Self, Refusal> {
        members::read(body, |m| {
            let mut scopes =
                m.list("scopes", 1..=Scope::ALL.len(), |value| members::one_of(value, Scope::ALL)).required();
            scopes.sort();
            scopes.dedup();
            let request = Self {
                name: m.string("name", Text::LINE).required(),
                livemode: m.one_of("mode").map(|mode: Mode| mode == Mode::Live).required(),
                scopes,
                expires_at: m.time("expires_at").optional(),
            };
            if request.expires_at.is_some_and(|at| at <= now) {
                m.refuse("expires_at", MemberCode::OutOfRange, "must be in the future");
            }
            request
        })
    }
}
