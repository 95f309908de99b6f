//! Checkpoints of consumers.

use authority_domain::Tenant;
use authority_domain::sync::checkpoint::{Checkpoint, CheckpointStream};

use crate::sql::{Query, Result, Row, Tx, fields, query};

const SELECT: &str = "SELECT id, livemode, stream, name, cursor, position, resource_version, created_sequence, \
     created_at, updated_at FROM checkpoints WHERE ";

fn of_tenant(tenant: &Tenant) -> Query<'static> {
    let mut query = Query::new(SELECT);
    query.push_tenant("", tenant);
    query
}

impl Tx {
    async fn checkpoint_insert(&mut self, tenant: &Tenant, checkpoint: &Checkpoint) -> Result<()> {
        query(
            "INSERT INTO checkpoints (id, shard, merchant_id, livemode, stream, name, cursor, position, \
                 resource_version, created_at, updated_at, created_sequence) \
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, 1, $9, $10, COALESCE(MAX(created_sequence), 0) + 1 \
             FROM checkpoints WHERE shard = $2 AND merchant_id = $3 AND livemode = $4",
        )
        .bind(checkpoint.id.as_str())
        .bind_tenant(tenant)
        .binds((checkpoint.stream.as_str(), &checkpoint.name, &checkpoint.cursor, checkpoint.position))
        .binds((checkpoint.created_at.as_ms(), checkpoint.updated_at.as_ms()))
        .write_one(&mut self.conn, "checkpoint")
        .await
    }

    async fn checkpoint_update(&mut self, tenant: &Tenant, checkpoint: &Checkpoint) -> Result<()> {
        query(
            "UPDATE checkpoints SET cursor = $5, position = $6, resource_version = $7, updated_at = $8 \
             WHERE id = $1 AND shard = $2 AND merchant_id = $3 AND livemode = $4 AND resource_version = $7 - 1",
        )
        .bind(checkpoint.id.as_str())
        .bind_tenant(tenant)
        .binds((&checkpoint.cursor, checkpoint.position, checkpoint.resource_version))
        .bind(checkpoint.updated_at.as_ms())
        .write_one(&mut self.conn, "checkpoint")
        .await
    }

    /// The checkpoint of this consumer in this feed.
    pub async fn checkpoint_get(
        &mut self,
        tenant: &Tenant,
        stream: CheckpointStream,
        name: &str,
    ) -> Result<Option<Checkpoint>> {
        let mut query = of_tenant(tenant);
        query.push(" AND stream = ").push_bind(stream.as_str()).push(" AND name = ").push_bind(name);
        query.about(&[]).read_optional_as(&mut self.conn, checkpoint).await
    }

    /// How many the tenant has, in both feeds.
    pub async fn checkpoint_count(&mut self, tenant: &Tenant) -> Result<i64> {
        Ok(query("SELECT COUNT(*) FROM checkpoints WHERE shard = $1 AND merchant_id = $2 AND livemode = $3")
            .bind_tenant(tenant)
            .about(&[])
            .read_one(&mut self.conn)
            .await?)
    }

    /// Writes a version of a checkpoint: the first one inserts it, a later one replaces the version before it.
    pub async fn checkpoint_put(&mut self, tenant: &Tenant, checkpoint: &Checkpoint) -> Result<()> {
        match checkpoint.resource_version {
            1 => self.checkpoint_insert(tenant, checkpoint).await,
            _ => self.checkpoint_update(tenant, checkpoint).await,
        }
    }

    /// Up to `limit` checkpoints before position `before` (newest first; `None` from the newest), each with its
    /// position. Empty `streams` means all streams.
    pub async fn checkpoints_page(
        &mut self,
        tenant: &Tenant,
        streams: &[CheckpointStream],
        name: Option<&str>,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, Checkpoint)>> {
        let mut query = of_tenant(tenant);
        query.push_in("stream", streams);
        query.push_some(" AND name = ", name);
        query.push_some(" AND created_sequence < ", before);
        query.push(" ORDER BY created_sequence DESC LIMIT ").push_bind(limit);
        query.read_as(&mut self.conn, |row| Ok((row.get("created_sequence")?, checkpoint(row)?))).await
    }
}

fn checkpoint(row: &Row) -> Result<Checkpoint> {
    let stream = row.word("checkpoints.stream", CheckpointStream::parse)?;
    Ok(fields!(row => Checkpoint {
        id, name, cursor, position, resource_version, livemode, created_at, updated_at;
        stream,
    }))
}
