//! Members that several bodies share (contract 2.1).

use serde_json::Value;

use crate::body::{Field, Members, Text, occurrence, party_name};
use crate::parts::{Address, Customer, Failure, Metadata, Money};
use crate::refusal::MemberCode;
use crate::time::Timestamp;

/// One line as the operator gives it; ids and sums are made by the authority.
#[derive(Clone, Debug)]
pub(crate) struct LineRequest {
    pub(crate) sku: Option<String>,
    pub(crate) name: String,
    pub(crate) quantity: i64,
    pub(crate) unit_amount: Money,
    pub(crate) discount_amount: Money,
    pub(crate) tax_amount: Money,
    pub(crate) requires_shipping: bool,
    pub(crate) metadata: Metadata,
}

pub(crate) fn line(m: &mut Members<'_>) -> LineRequest {
    m.not_writable("id subtotal_amount total_amount");
    LineRequest {
        sku: m.string("sku", Text::LINE).optional(),
        name: m.string("name", Text::LINE).required(),
        quantity: m.integer("quantity", 1..=100_000).required(),
        unit_amount: m.money("unit_amount").required(),
        discount_amount: m.money("discount_amount").or(0),
        tax_amount: m.money("tax_amount").or(0),
        requires_shipping: m.boolean("requires_shipping").or(true),
        metadata: m.metadata("metadata").or(Metadata::new()),
    }
}

pub(crate) fn customer(m: &mut Members<'_>) -> Customer {
    let customer = Customer {
        reference: m.string("reference", Text::LINE).optional(),
        email: m.string("email", Text::line(3, 254)).optional(),
        name: m.string("name", Text::LINE).optional(),
        phone: m.string("phone", Text::line(1, 32)).optional(),
        locale: m.string("locale", Text::line(2, 35)).optional(),
    };
    if customer.email.as_ref().is_some_and(|email| email.matches('@').count() != 1) {
        m.refuse("email", MemberCode::InvalidValue, "must contain exactly one @");
    }
    if customer.locale.as_ref().is_some_and(|locale| !is_language_tag(locale)) {
        m.refuse("locale", MemberCode::InvalidValue, "must be a BCP 47 tag");
    }
    customer
}

/// The form of a tag (RFC 5646, 2.1): a language, `x` or `i`, then subtags of up to eight letters and digits.
fn is_language_tag(tag: &str) -> bool {
    let mut subtags = tag.split('-');
    let language = subtags.next().unwrap_or_default();
    let is_language = (2..=8).contains(&language.len()) || matches!(language, "x" | "X" | "i" | "I");
    is_language
        && language.bytes().all(|byte| byte.is_ascii_alphabetic())
        && subtags.all(|subtag| {
            (1..=8).contains(&subtag.len()) && subtag.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

pub(crate) fn address(m: &mut Members<'_>) -> Address {
    Address {
        name: m.string("name", Text::LINE).optional(),
        company: m.string("company", Text::LINE).optional(),
        line1: m.string("line1", Text::LINE).required(),
        line2: m.string("line2", Text::LINE).optional(),
        city: m.string("city", Text::LINE).optional(),
        region: m.string("region", Text::LINE).optional(),
        postal_code: m.string("postal_code", Text::line(1, 32)).optional(),
        country: m.country("country").required(),
        phone: m.string("phone", Text::line(1, 32)).optional(),
    }
}

pub(crate) fn failure(m: &mut Members<'_>) -> Failure {
    Failure {
        code: m.string("code", Text::line(1, 64)).required(),
        message: m.string("message", Text::NOTE).optional(),
    }
}

/// A time that is not in the future.
pub(crate) fn past(m: &mut Members<'_>, name: &'static str, now: Timestamp) -> Option<Timestamp> {
    let at = m.time(name).optional();
    if at.is_some_and(|at| occurrence::is_ahead(at, now)) {
        m.refuse(name, MemberCode::OutOfRange, "must not be more than 5 minutes in the future");
    }
    at
}

/// The name of a processor or a carrier, in the form in which it is stored.
pub(crate) fn party_name<'m>(m: &'m mut Members<'_>, name: &'static str) -> Field<'m, String> {
    const RULE: Text = Text::line(1, 64);
    m.field(name, String::new(), |value| {
        let normalized = party_name::normalized(&RULE.check(value)?);
        RULE.check(&Value::String(normalized))
    })
}
