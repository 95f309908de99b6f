//! The form that requests a refund: what was typed, in the units that people write, and refusals in the same.

use authority_domain::bounds::MONEY_MAX;
use authority_domain::{MemberCode, Refusal, Result};
use serde_json::Value;

use crate::app::amount;
use crate::pages::form::{self, Form};

/// The body of the API's request: an empty amount asks for all that is left.
pub(super) fn body(form: &Form, currency: &str) -> Result<Value> {
    let typed = form.text("amount");
    let minor = if typed.is_empty() { None } else { Some(minor(typed, currency)?) };
    let (amount, note) = (minor.map(Value::from), form.given("note"));
    Ok(form::body([("reason", Some("other".into())), ("amount", amount), ("note", note)]))
}

fn minor(typed: &str, currency: &str) -> Result<i64> {
    let plain = |minor| amount::plain(minor, currency);
    let minor = amount::read(typed, currency).ok_or_else(|| {
        let detail = format!("Must be an amount of {currency} such as {}.", plain(1250));
        Refusal::member("/amount", MemberCode::InvalidValue, detail)
    })?;
    // The API says the same of its minor units.
    if !(1..=MONEY_MAX).contains(&minor) {
        let detail = format!("Must be from {} to {} {currency}.", plain(1), plain(MONEY_MAX));
        return Err(Refusal::member("/amount", MemberCode::OutOfRange, detail));
    }
    Ok(minor)
}

/// The same refusal with its amount written as the page writes amounts: the API's sentence has minor units.
pub(super) fn in_words(refusal: Refusal, currency: &str) -> Refusal {
    let left = refusal.extra.iter().find(|(name, _)| *name == "refundable");
    match left.and_then(|(_, left)| left.as_i64()) {
        None => refusal,
        Some(left) => {
            let detail = format!("{} of the payment can be refunded.", amount::written(left, currency));
            Refusal { detail, ..refusal }
        }
    }
}
