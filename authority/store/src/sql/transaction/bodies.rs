//! Reading records by their stored text: the query shapes that the records of merchants share.

use std::borrow::Cow;

use authority_domain::{Tenant, Timestamp};
use serde::de::DeserializeOwned;

use crate::driver::{FromRow, Query, Row, query};
use crate::error::Result;
use crate::sql::transaction::keys::MadeUnderKey;
use crate::sql::transaction::look_ahead::Listed;
use crate::sql::transaction::pages::{Page, placed_text};
use crate::sql::transaction::write_buffer::BufferedConnection;

/// The record that `statement` finds for (shard `$1`, merchant `$2`, mode `$3`, key `$4`); it selects `body`.
pub(crate) async fn record<'q, T: DeserializeOwned>(
    conn: &mut BufferedConnection,
    statement: Query<'q>,
    tenant: &'q Tenant,
    key: &'q str,
) -> Result<Option<T>> {
    let body: Option<String> = found(conn, statement, tenant, key).await?;
    Ok(body.map(|body| serde_json::from_str(&body)).transpose()?)
}

/// The row that such a statement finds: of a record's text, its `body, resource_version`.
pub(crate) async fn found<'q, T: FromRow>(
    conn: &mut BufferedConnection,
    statement: Query<'q>,
    tenant: &'q Tenant,
    key: &'q str,
) -> Result<Option<T>> {
    Ok(statement.bind_tenant(tenant).bind(key).read_optional(conn).await?)
}

/// The statement that begins with `select` and finds the row with this id, in the shards that the transaction holds.
pub(crate) fn by_id<'q>(
    conn: &BufferedConnection,
    select: impl Into<Cow<'static, str>>,
    id: &'q str,
) -> Query<'q> {
    let mut query = query(select);
    query.push(" WHERE ").push_shards("", conn.shards()).push(" AND id = ").push_bind(id);
    query
}

/// Narrows a page by the time of creation: from inclusive, to exclusive (contract 4.5).
pub(crate) fn push_created(query: &mut Query<'_>, from: Option<Timestamp>, to: Option<Timestamp>) {
    query.push_some(" AND created_at >= ", from.map(Timestamp::as_ms));
    query.push_some(" AND created_at < ", to.map(Timestamp::as_ms));
}

/// Up to `limit` records of a tenant's list before position `before`, newest first, as stored text, as far as they
/// fit on a page. `narrow` adds conditions with an index, `filter` those without, as in [`Listed`].
pub(crate) async fn page(
    conn: &mut BufferedConnection,
    table: &'static str,
    (tenant, before): (&Tenant, Option<i64>),
    narrow: impl Fn(&mut Query<'_>),
    filter: impl Fn(&mut Query<'_>),
    limit: i64,
) -> Result<Page<String>> {
    let of = |query: &mut Query<'_>| {
        query.push_tenant("", tenant);
        narrow(query);
    };
    let listed = Listed::newest_first(table, "created_sequence", before, of, filter);
    listed.page(conn, "created_sequence, body", limit, placed_text).await
}

/// A record with the key it was made under; the row has `body` and `idempotency_fingerprint`.
pub(crate) fn made_under_key<T: DeserializeOwned>(row: &Row) -> Result<MadeUnderKey<T>> {
    let fingerprint = row.get("idempotency_fingerprint")?;
    Ok(MadeUnderKey { record: row.record("body")?, fingerprint })
}
