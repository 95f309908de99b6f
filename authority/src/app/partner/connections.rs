//! Connections with partners: invite, accept, end (contract 4.14).
//!
//! The code is generated here, hashed before it reaches the store, and shown once. Every code that does not work
//! gets the same refusal, whatever the reason.

use authority_domain::list_filter::ConnectionFilter;
use authority_domain::order::no_members;
use authority_domain::partner::connection::{ConnectionSide, PartnerConnection, SeenConnection};
use authority_domain::partner::invite_code::InviteCode;
use authority_domain::partner::{AcceptRequest, read_label};
use authority_domain::{ConnectionId, ErrorCode, ListKind, Named, Refusal, Result, Tenant, Timestamp};
use authority_store::{Constraint, StoreError};
use rand::Rng as _;
use serde::Serialize;

use crate::app::lists::written;
use crate::app::partner::share_ends::end_shares_at_once;
use crate::app::{Answer, App, Caller, List, ListRequest, Mutation, Owner, Work};

/// The connection and its code, which is shown only once.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "PartnerConnectionWithCode"))]
pub(in crate::app) struct WithCode<'a> {
    #[serde(flatten)]
    connection: SeenConnection,
    /// The code that the partner accepts with; shown only in this answer.
    invite_code: &'a str,
}

impl App {
    /// `POST /partner-connections`.
    pub async fn connection_create(&self, caller: &Caller, mutation: Mutation) -> Result<Answer> {
        let (app, label) = (self.clone(), read_label(&mutation.body));
        self.for_caller(mutation, caller, None, async move |work, Owner { tenant, merchant }| {
            let side = ConnectionSide { merchant: merchant.context(), label: label? };
            let (connection, code) = invite(work, &tenant, side).await?;
            let location = app.location("partner-connections", connection.id.as_str());
            let shown = WithCode {
                connection: connection.seen_by(&merchant.id, work.now),
                invite_code: code.expose(),
            };
            Ok(Answer::record(201, &shown)?.location(location).confidential())
        })
        .await
    }

    /// `POST /partner-connections/accept`.
    pub async fn connection_accept(&self, caller: &Caller, mutation: Mutation) -> Result<Answer> {
        let request = AcceptRequest::read(&mutation.body);
        self.for_caller(mutation, caller, None, async move |work, Owner { tenant, merchant }| {
            let missing = || Refusal::not_found("invite code");
            let AcceptRequest { invite_code, label } = request?;
            let hash = invite_code.ok_or_else(missing)?.hash();
            let invited = work.tx.connection_by_invite(tenant.livemode, &hash).await?;
            let side = ConnectionSide { merchant: merchant.context(), label };
            let accepted = invited.and_then(|invited| invited.accept(side, work.now)).ok_or_else(missing)?;
            accept(work, &tenant, &accepted).await?;
            answer(&accepted, &tenant, work.now)
        })
        .await
    }

    /// `POST /partner-connections/:id/revoke`, by either side. From this commit on, nothing shared on it can be
    /// read any more, however many shares there are.
    pub async fn connection_revoke(
        &self,
        caller: &Caller,
        mutation: Mutation,
        id: Named<ConnectionId>,
    ) -> Result<Answer> {
        let empty = no_members(&mutation.body);
        self.for_caller(mutation, caller, None, async move |work, Owner { tenant, .. }| {
            let found = work.tx.connection_get(&tenant, &id?).await?;
            let found = found.ok_or_else(ConnectionId::missing)?;
            empty?;
            let Some(ended) = found.clone().revoke(work.now)? else {
                return answer(&found, &tenant, work.now);
            };
            work.tx.connection_revoke(&ended).await?;
            end_shares_at_once(work, &ended).await?;
            answer(&ended, &tenant, work.now)
        })
        .await
    }

    /// `GET /partner-connections/:id`.
    pub async fn connection_get(&self, caller: &Caller, id: ConnectionId) -> Result<Answer> {
        let tenant = caller.tenant.clone();
        let read = self.read(async move |tx| tx.connection_get(&tenant, &id).await);
        answer(&read.await?.ok_or_else(ConnectionId::missing)?, &caller.tenant, self.now())
    }

    /// `GET /partner-connections`: newest first.
    pub async fn connections_list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        filter: ConnectionFilter,
    ) -> Result<List> {
        let now = self.now();
        let show =
            |connection: PartnerConnection| written(connection.seen_by(&caller.tenant.merchant_id, now));
        self.list(ListKind::PartnerConnections, &caller.tenant, request, show, async move |tx, of| {
            Ok(tx.connections_page(&of.tenant, &filter, now, of.before, of.rows).await?)
        })
        .await
    }
}

/// Creates an invitation and its code.
pub(in crate::app) async fn invite(
    work: &mut Work<'_>,
    tenant: &Tenant,
    side: ConnectionSide,
) -> Result<(PartnerConnection, InviteCode)> {
    let mut random = [0; 16];
    work.dice.fill_bytes(&mut random);
    let code = InviteCode::generate(random);
    let id = ConnectionId::generate(work.now, &mut work.dice);
    let connection = PartnerConnection::invite(id, tenant.livemode, side, work.now);
    work.tx.connection_insert(&connection, &code.hash()).await?;
    Ok((connection, code))
}

/// Writes a connection that `tenant` has accepted, unless the two merchants are already connected.
pub(in crate::app) async fn accept(
    work: &mut Work<'_>,
    tenant: &Tenant,
    accepted: &PartnerConnection,
) -> Result<()> {
    let exists = || Refusal::new(ErrorCode::ConnectionExists, "The two merchants are already connected.");
    let inviter = &accepted.inviter.merchant.id;
    if let Some(id) = work.tx.connection_between(tenant, inviter).await? {
        return Err(exists().with("connection_id", id.as_str()));
    }
    match work.tx.connection_accept(accepted).await {
        Err(StoreError::Conflict(Constraint::ConnectedPair)) => Err(exists()),
        done => Ok(done?),
    }
}

fn answer(connection: &PartnerConnection, reader: &Tenant, now: Timestamp) -> Result<Answer> {
    Answer::record(200, &connection.seen_by(&reader.merchant_id, now))
}
