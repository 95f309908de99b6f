//! Partner connections and their two sides (contract 2.14, 4.14).
//!
//! A connection belongs to two merchants. Each function that takes a tenant finds it for these two and for no other.
//! Commits of either rest on it, and of nobody else: who changes one holds the turns of both.

use authority_domain::list_filter::ConnectionFilter;
use authority_domain::partner::connection::{
    ConnectionDirection, ConnectionSide, ConnectionState, ConnectionStatus, PartnerConnection,
};
use authority_domain::tenant::MerchantContext;
use authority_domain::{ConnectionId, MerchantId, Tenant, Timestamp};

use crate::sql::{Across, Query, Result, Row, ShardSet, StoreError, Tx, fields, query};

const COLUMNS: &str = "c.id, c.livemode, c.status, c.inviter_id, c.partner_id, c.invite_expires_at, c.accepted_at, \
     c.revoked_at, c.resource_version, c.created_at, c.updated_at, i.slug AS inviter_slug, p.slug AS partner_slug, \
     si.label AS inviter_label, sp.label AS partner_label";

/// The two merchants, and what each of them calls the connection.
const SIDES: &str = " JOIN merchants i ON i.id = c.inviter_id LEFT JOIN merchants p ON p.id = c.partner_id \
     LEFT JOIN partner_connection_sides si ON si.merchant_id = c.inviter_id AND si.livemode = c.livemode \
         AND si.connection_id = c.id \
     LEFT JOIN partner_connection_sides sp ON sp.merchant_id = c.partner_id AND sp.livemode = c.livemode \
         AND sp.connection_id = c.id";

impl Tx {
    /// Adds an invitation; only the hash of its code is stored.
    pub async fn connection_insert(
        &mut self,
        connection: &PartnerConnection,
        invite_hash: &[u8; 32],
    ) -> Result<()> {
        self.need_turns(shards(connection))?;
        query(
            "INSERT INTO partner_connections (id, livemode, status, inviter_id, invite_hash, invite_expires_at, \
                 resource_version, created_at, updated_at) VALUES ($1, $2, 'invited', $3, $4, $5, $6, $7, $8)",
        )
        .binds((connection.id.as_str(), connection.livemode, connection.inviter.merchant.id.as_str()))
        .binds((invite_hash.as_slice(), connection.invite_expires_at.as_ms(), connection.resource_version))
        .binds((connection.created_at.as_ms(), connection.updated_at.as_ms()))
        .write(&mut self.conn)
        .await?;
        self.add_side(connection, &connection.inviter).await
    }

    /// A connection that the tenant is a side of.
    pub async fn connection_get(
        &mut self,
        tenant: &Tenant,
        id: &ConnectionId,
    ) -> Result<Option<PartnerConnection>> {
        let mut query = selected();
        query.push(" WHERE c.id = ").push_bind(id.as_str());
        query.push(" AND c.livemode = ").push_bind(tenant.livemode);
        query.push(" AND (c.inviter_id = ").push_bind(tenant.merchant_id.as_str());
        query.push(" OR c.partner_id = ").push_bind(tenant.merchant_id.as_str()).push(")");
        query.read_optional_as(&mut self.conn, connection).await
    }

    /// The connection that was made with the code of this hash, in the mode, if its inviter may act.
    pub async fn connection_by_invite(
        &mut self,
        livemode: bool,
        invite_hash: &[u8; 32],
    ) -> Result<Option<PartnerConnection>> {
        let mut query = selected();
        query.push(" WHERE c.invite_hash = ").push_bind(invite_hash.as_slice());
        query.push(" AND c.livemode = ").push_bind(livemode).push(" AND i.status = 'active'");
        query.read_optional_as(&mut self.conn, connection).await
    }

    /// The active connection of two merchants, no matter which of them invited.
    pub async fn connection_between(
        &mut self,
        tenant: &Tenant,
        other: &MerchantId,
    ) -> Result<Option<ConnectionId>> {
        // Ordered as in the unique index, so that the index is used.
        let (first, second) = match tenant.merchant_id < *other {
            true => (&tenant.merchant_id, other),
            false => (other, &tenant.merchant_id),
        };
        Ok(query(
            "SELECT id FROM partner_connections WHERE status = 'accepted' AND livemode = $1 \
                 AND (CASE WHEN inviter_id < partner_id THEN inviter_id ELSE partner_id END) = $2 \
                 AND (CASE WHEN inviter_id < partner_id THEN partner_id ELSE inviter_id END) = $3",
        )
        .binds((tenant.livemode, first.as_str(), second.as_str()))
        .read_optional(&mut self.conn)
        .await?)
    }

    /// Up to `limit` connections of the tenant before position `before`, newest first, each with its position.
    pub async fn connections_page(
        &mut self,
        tenant: &Tenant,
        filter: &ConnectionFilter,
        now: Timestamp,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, PartnerConnection)>> {
        let mut query = Query::new("SELECT s.position, ");
        query.push(COLUMNS);
        query.push(" FROM partner_connection_sides s JOIN partner_connections c ON c.id = s.connection_id");
        query.push(SIDES);
        query.push(" WHERE s.merchant_id = ").push_bind(tenant.merchant_id.as_str());
        query.push(" AND s.livemode = ").push_bind(tenant.livemode);
        query.push_some(" AND s.position < ", before);
        push_filter(&mut query, tenant, filter, now);
        query.push(" ORDER BY s.position DESC LIMIT ").push_bind(limit);
        query.read_as(&mut self.conn, |row| Ok((row.get("position")?, connection(row)?))).await
    }

    /// Writes the version of a connection that was accepted.
    ///
    /// # Errors
    /// [`Conflict(ConnectedPair)`](crate::Constraint::ConnectedPair) when the two are connected already.
    pub async fn connection_accept(&mut self, connection: &PartnerConnection) -> Result<()> {
        self.need_turns(shards(connection))?;
        let ConnectionState::Accepted { partner, at } = &connection.state else {
            return Err(StoreError::Broken("the connection was not accepted".to_owned()));
        };
        query(
            "UPDATE partner_connections SET status = 'accepted', partner_id = $3, accepted_at = $4, \
                 resource_version = $5, updated_at = $6 \
             WHERE id = $1 AND livemode = $2 AND status = 'invited' AND resource_version = $5 - 1",
        )
        .binds((connection.id.as_str(), connection.livemode, partner.merchant.id.as_str(), at.as_ms()))
        .binds((connection.resource_version, connection.updated_at.as_ms()))
        .write_one(&mut self.conn, "connection")
        .await?;
        self.add_side(connection, partner).await
    }

    /// Writes the version of a connection that was ended. Its shares end with it.
    pub async fn connection_revoke(&mut self, connection: &PartnerConnection) -> Result<()> {
        self.need_turns(shards(connection))?;
        let ConnectionState::Revoked { at, .. } = &connection.state else {
            return Err(StoreError::Broken("the connection was not ended".to_owned()));
        };
        let shares_to_end = !self.connections_with_shares(&[connection.id.to_string()]).await?.is_empty();
        query(
            "UPDATE partner_connections SET status = 'revoked', revoked_at = $3, \
                 resource_version = $4, updated_at = $5, shares_to_end = $6 \
             WHERE id = $1 AND livemode = $2 AND status <> 'revoked' AND resource_version = $4 - 1",
        )
        .binds((connection.id.as_str(), connection.livemode, at.as_ms(), connection.resource_version))
        .binds((connection.updated_at.as_ms(), shares_to_end))
        .write_one(&mut self.conn, "connection")
        .await
    }

    /// Those of these connections on which orders are shared. Citus does not let the update itself ask.
    async fn connections_with_shares(&mut self, ids: &[String]) -> Result<Vec<String>> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let active = "SELECT DISTINCT connection_id FROM order_shares WHERE status = 'active'";
        let mut query = Query::across(Across::PARTNERS, active);
        query.push_in("connection_id", ids);
        Ok(query.read(&mut self.conn).await?)
    }

    /// Ends all connections of a merchant in both modes, accepted or not; returns how many.
    pub async fn connections_end(&mut self, merchant: &MerchantId, now: Timestamp) -> Result<u64> {
        let mut query = selected();
        query.push(" WHERE c.id IN (SELECT connection_id FROM partner_connection_sides WHERE merchant_id = ");
        query.push_bind(merchant.as_str()).push(")");
        let rows = query.read::<Row>(&mut self.conn).await?;
        let of: Vec<PartnerConnection> = rows.iter().map(connection).collect::<Result<_>>()?;
        self.need_turns(of.iter().fold(ShardSet::of(merchant), |all, one| all.or(shards(one))))?;
        let of: Vec<String> = of.into_iter().map(|connection| connection.id.to_string()).collect();
        let shared = self.connections_with_shares(&of).await?;
        let mut ended = 0;
        let (with, without): (Vec<String>, _) = of.into_iter().partition(|id| shared.contains(id));
        for (ids, shares_to_end) in [(with, true), (without, false)] {
            if ids.is_empty() {
                continue;
            }
            let mut query = Query::new("UPDATE partner_connections SET status = 'revoked', revoked_at = ");
            query.push_bind(now.as_ms()).push(", updated_at = ").push_bind(now.as_ms());
            query.push(", resource_version = resource_version + 1, shares_to_end = ");
            query.push_bind(shares_to_end);
            query.push(" WHERE (status = 'accepted' OR status = 'invited' AND invite_expires_at > ");
            query.push_bind(now.as_ms()).push(")").push_in("id", &ids);
            ended += query.write(&mut self.conn).await?;
        }
        Ok(ended)
    }

    /// Up to `limit` connections that were ended and have shares without their last events.
    pub async fn connections_to_end(&mut self, limit: i64) -> Result<Vec<PartnerConnection>> {
        let mut query = selected();
        query.push(" WHERE c.shares_to_end ORDER BY c.id LIMIT ").push_bind(limit);
        query.read_as(&mut self.conn, connection).await
    }

    /// Notes that all shares of an ended connection have their last events.
    pub async fn connection_ended(&mut self, connection: &PartnerConnection) -> Result<()> {
        self.need_turns(shards(connection))?;
        query("UPDATE partner_connections SET shares_to_end = FALSE WHERE id = $1")
            .bind(connection.id.as_str())
            .write_one(&mut self.conn, "connection")
            .await
    }

    async fn add_side(&mut self, connection: &PartnerConnection, side: &ConnectionSide) -> Result<()> {
        query(
            "INSERT INTO partner_connection_sides (merchant_id, livemode, position, connection_id, label) \
             SELECT $1, $2, COALESCE(MAX(position), 0) + 1, $3, $4 FROM partner_connection_sides \
             WHERE merchant_id = $1 AND livemode = $2",
        )
        .binds((side.merchant.id.as_str(), connection.livemode, connection.id.as_str()))
        .bind(side.label.as_deref())
        .write_one(&mut self.conn, "side of a connection")
        .await
    }
}

fn selected() -> Query<'static> {
    let mut query = Query::new("SELECT ");
    query.push(COLUMNS).push(" FROM partner_connections c").push(SIDES);
    query
}

/// The shards of the two merchants.
fn shards(connection: &PartnerConnection) -> ShardSet {
    let partner = connection.partner().map(|partner| &partner.merchant.id);
    [&connection.inviter.merchant.id].into_iter().chain(partner).collect()
}

/// What narrows a list of connections; any of several values suffices.
fn push_filter(query: &mut Query<'_>, tenant: &Tenant, filter: &ConnectionFilter, now: Timestamp) {
    let mut before = " AND (";
    for status in &filter.status {
        query.push(before);
        match status {
            ConnectionStatus::Pending => {
                query.push("c.status = 'invited' AND c.invite_expires_at > ").push_bind(now.as_ms())
            }
            ConnectionStatus::Expired => {
                query.push("c.status = 'invited' AND c.invite_expires_at <= ").push_bind(now.as_ms())
            }
            ConnectionStatus::Active => query.push("c.status = 'accepted'"),
            ConnectionStatus::Revoked => query.push("c.status = 'revoked'"),
        };
        before = " OR ";
    }
    if !filter.status.is_empty() {
        query.push(")");
    }
    let mut before = " AND (";
    for direction in &filter.direction {
        query.push(before).push(match direction {
            ConnectionDirection::Outgoing => "c.inviter_id = ",
            ConnectionDirection::Incoming => "c.partner_id = ",
        });
        query.push_bind(tenant.merchant_id.as_str().to_owned());
        before = " OR ";
    }
    if !filter.direction.is_empty() {
        query.push(")");
    }
}

fn connection(row: &Row) -> Result<PartnerConnection> {
    let side = |id: &str, slug: &str, label: &str| -> Result<Option<ConnectionSide>> {
        let Some(id) = row.get::<Option<String>>(id)? else { return Ok(None) };
        let merchant = MerchantContext { id: MerchantId::from_store(id), slug: row.get(slug)? };
        Ok(Some(ConnectionSide { merchant, label: row.get(label)? }))
    };
    let broken = || StoreError::Broken("partner_connections: the columns contradict each other".to_owned());
    let accepted = side("partner_id", "partner_slug", "partner_label")?.zip(row.read("accepted_at")?);
    let state = match (row.get::<&str>("status")?, accepted, row.read("revoked_at")?) {
        ("invited", None, None) => ConnectionState::Invited,
        ("accepted", Some((partner, at)), None) => ConnectionState::Accepted { partner, at },
        ("revoked", accepted, Some(at)) => ConnectionState::Revoked { accepted, at },
        _ => return Err(broken()),
    };
    Ok(fields!(row => PartnerConnection {
        id, livemode, invite_expires_at, resource_version, created_at, updated_at;
        inviter: side("inviter_id", "inviter_slug", "inviter_label")?.ok_or_else(broken)?,
        state,
    }))
}
