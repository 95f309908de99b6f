//! `POST /merchants` and `PATCH /merchants/:m` (contract 6.2, 2.16).

use serde_json::Value;
use verify_core::catalog::API_VERSION;

use crate::body;
use crate::body::{Members, Text};
use crate::id::MerchantId;
use crate::merchant::limits::{ENDPOINTS_MAX, IN_FLIGHT_MAX, Limits, RATE_MAX};
use crate::merchant::{Merchant, MerchantChange, MerchantStatus, Settings, is_slug};
use crate::order_number::OrderNumber;
use crate::refusal::{MemberCode, Result};
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
    limits: Limits,
}

impl MerchantRequest {
    /// Reads the body.
    ///
    /// # Errors
    /// 422 with every wrong member.
    pub fn read(body: &Value) -> Result<Self> {
        body::read(body, |m| {
            m.not_writable("id status api_version effective_limits resource_version created_at updated_at");
            let slug = |text: &str| is_slug(text).then(|| text.to_owned());
            Self {
                slug: m
                    .parsed("slug", Text::LINE, "1 to 63 of a-z, 0-9 and inner hyphens", String::new(), slug)
                    .required(),
                name: m.string("name", Text::LINE).required(),
                default_currency: m.currency("default_currency").required(),
                settings: m.object("settings", |m| settings(m, &Settings::default())).or(Settings::default()),
                limits: m.object("limits", |m| limits(m, &Limits::default())).or(Limits::default()),
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
            limits: self.limits,
            resource_version: 1,
            created_at: now,
            updated_at: now,
        }
    }
}

/// Reads what `PATCH /merchants/:m` changes of `merchant`. Settings and limits that are not named stay as they are.
///
/// # Errors
/// 422 with every wrong member.
pub fn read_merchant_change(body: &Value, merchant: &Merchant) -> Result<MerchantChange> {
    body::read(body, |m| {
        m.not_writable(
            "object id slug default_currency api_version effective_limits resource_version created_at \
                updated_at",
        );
        MerchantChange {
            name: m.string("name", Text::LINE).optional(),
            status: m.one_of("status").optional(),
            settings: m.object("settings", |m| settings(m, &merchant.settings)).optional(),
            limits: m.object("limits", |m| limits(m, &merchant.limits)).optional(),
        }
    })
}

/// The limits that are named, on top of those before; null is the platform's default.
fn limits(m: &mut Members<'_>, before: &Limits) -> Limits {
    let mut limit = |name, max, before| m.integer(name, 1..=max).or_null().unwrap_or(before);
    Limits {
        read_live_per_second: limit("read_live_per_second", RATE_MAX, before.read_live_per_second),
        read_test_per_second: limit("read_test_per_second", RATE_MAX, before.read_test_per_second),
        write_live_per_second: limit("write_live_per_second", RATE_MAX, before.write_live_per_second),
        write_test_per_second: limit("write_test_per_second", RATE_MAX, before.write_test_per_second),
        delivery_per_minute: limit("delivery_per_minute", RATE_MAX, before.delivery_per_minute),
        endpoints: limit("endpoints", ENDPOINTS_MAX, before.endpoints),
        max_in_flight: limit("max_in_flight", IN_FLIGHT_MAX, before.max_in_flight),
        dispatch_share_percent: limit("dispatch_share_percent", 100, before.dispatch_share_percent),
    }
}

/// The settings that are named, on top of those before.
fn settings(m: &mut Members<'_>, before: &Settings) -> Settings {
    let settings = Settings {
        confirm_on: m.one_of("confirm_on").or(before.confirm_on),
        require_if_match: m.boolean("require_if_match").or(before.require_if_match),
        require_idempotency_key: m.boolean("require_idempotency_key").or(before.require_idempotency_key),
        order_number_prefix: m
            .string("order_number_prefix", Text::line(1, 32))
            .or(before.order_number_prefix.clone()),
        sandbox_auto_advance: m.boolean("sandbox_auto_advance").or(before.sandbox_auto_advance),
        pending_order_ttl_hours: m
            .integer("pending_order_ttl_hours", PENDING_ORDER_TTL_HOURS)
            .or_null()
            .unwrap_or(before.pending_order_ttl_hours),
    };
    // What is generated must be an order number however high the counter gets.
    if OrderNumber::parse(&settings.order_number_prefix).is_none() {
        m.refuse("order_number_prefix", MemberCode::InvalidValue, "must begin like an order number");
    }
    settings
}
