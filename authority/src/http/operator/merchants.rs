//! Merchants (contract 2.16, 6.2).

use authority_domain::list_filter::MerchantFilter;
use authority_domain::{ErrorCode, OperatorScope};

use super::Routes;
use crate::http::{Operation, created, ok, page};

const LIST: Operation = Operation::get("/merchants", "merchants.list")
    .summary("List merchants, newest first.")
    .operator(&[OperatorScope::OperatorRead])
    .filter::<MerchantFilter>()
    .answers(&[page("OperatorMerchant", "Merchants.")]);

const CREATE: Operation = Operation::post("/merchants", "merchants.create")
    .summary("Create a merchant.")
    .operator(&[OperatorScope::OperatorWrite])
    .body(
        "MerchantRequest",
        r#"{"slug":"acme","name":"Acme Ltd","default_currency":"USD","settings":{"confirm_on":"paid"}}"#,
    )
    .answers(&[created("OperatorMerchant", "The merchant.").tagged()]);

const GET: Operation = Operation::get("/merchants/{merchant}", "merchants.get")
    .summary("Read a merchant.")
    .operator(&[OperatorScope::OperatorRead])
    .answers(&[ok("OperatorMerchant", "The merchant.").conditional()]);

const UPDATE: Operation = Operation::patch("/merchants/{merchant}", "merchants.update")
    .summary("Change a merchant: name, settings, status.")
    .details(
        "Absent settings and limits stay as they are. A null limit restores the platform's default; a change takes \
         effect on every instance within a second. A closed merchant stays closed.",
    )
    .operator(&[OperatorScope::OperatorWrite])
    .if_match("merchant")
    .body("MerchantPatch", r#"{"status":"suspended"}"#)
    .answers(&[ok("OperatorMerchant", "The merchant as it is now.").tagged()])
    .refuses(&[ErrorCode::InvalidStateTransition]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&LIST, async |app, _, (), list, filter| app.merchants_list(&list, filter).await)
        .write(&CREATE, async |app, _, mutation, ()| app.merchant_create(mutation).await)
        .read(&GET, async |app, _, merchant| app.merchant_get(merchant).await)
        .write(&UPDATE, async |app, _, mutation, merchant| app.merchant_update(mutation, merchant).await)
}
