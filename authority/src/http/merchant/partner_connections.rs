//! Partner connections (contract 4.1, 4.14).

use authority_domain::list_filter::ConnectionFilter;
use authority_domain::{ErrorCode, Scope};

use super::Routes;
use crate::http::{Operation, created, ok, page};

const LIST: Operation = Operation::get("/partner-connections", "partner_connections.list")
    .summary("List partner connections, newest first.")
    .scopes(&[Scope::PartnersRead])
    .filter::<ConnectionFilter>()
    .answers(&[page("PartnerConnection", "Connections, each as the reader sees it.")]);

const CREATE: Operation = Operation::post("/partner-connections", "partner_connections.create")
    .summary("Invite another merchant to be a partner.")
    .details("The code is shown only in this answer. It works once and expires after seven days.")
    .scopes(&[Scope::PartnersWrite])
    .optional_body("ConnectionRequest", r#"{"label":"Warehouse North"}"#)
    .answers(&[created(
        "PartnerConnectionWithCode",
        "The invitation, with the code to give to the partner.",
    )
    .located()]);

const ACCEPT: Operation = Operation::post("/partner-connections/accept", "partner_connections.accept")
    .summary("Accept an invitation.")
    .details("Every code that does not work gets the same answer.")
    .scopes(&[Scope::PartnersWrite])
    .body("AcceptRequest", r#"{"invite_code":"inv_01k3zqa7t0e9h8w8r1v0c2n5xk","label":"Shop South"}"#)
    .answers(&[ok("PartnerConnection", "The connection, now active for both merchants.")])
    .refuses(&[ErrorCode::NotFound, ErrorCode::ConnectionExists]);

const GET: Operation = Operation::get("/partner-connections/{connection}", "partner_connections.get")
    .summary("Read a partner connection.")
    .scopes(&[Scope::PartnersRead])
    .answers(&[ok("PartnerConnection", "The connection as the reader sees it.")]);

const REVOKE: Operation =
    Operation::post("/partner-connections/{connection}/revoke", "partner_connections.revoke")
        .summary("End a connection with all its shares, or withdraw an invitation.")
        .details("Either side can do this. A connection that has already ended stays as it is.")
        .scopes(&[Scope::PartnersWrite])
        .optional_body("NoMembers", "{}")
        .answers(&[ok("PartnerConnection", "The connection as it ended.")])
        .refuses(&[ErrorCode::InvalidStateTransition]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&LIST, async |app, who, (), list, filter| app.connections_list(&who, &list, filter).await)
        .write(&CREATE, async |app, who, mutation, ()| app.connection_create(&who, mutation).await)
        .write(&ACCEPT, async |app, who, mutation, ()| app.connection_accept(&who, mutation).await)
        .read(&GET, async |app, who, id| app.connection_get(&who, id).await)
        .write(&REVOKE, async |app, who, mutation, id| app.connection_revoke(&who, mutation, id).await)
}
