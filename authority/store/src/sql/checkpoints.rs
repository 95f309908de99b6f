//! Checkpoints of consumers.

use async_trait::async_trait;
use authority_domain::id::CheckpointId;
use authority_domain::sync::checkpoint::{Checkpoint, CheckpointStream};
use authority_domain::tenant::Tenant;
use authority_domain::time::Timestamp;
use sqlx::{QueryBuilder, Row};

use super::{Db, DbRow, Session, one_row, push_in};
use crate::StoreError;
use crate::ports::Checkpoints;

const SELECT: &str = "SELECT id, livemode, stream, name, cursor, position, resource_version, created_sequence, \
     created_at, updated_at FROM checkpoints WHERE merchant_id = ";

fn of_tenant(tenant: &Tenant) -> QueryBuilder<Db> {
    let mut query = QueryBuilder::<Db>::new(SELECT);
    query.push_bind(tenant.merchant_id.as_str().to_owned());
    query.push(" AND livemode = ").push_bind(tenant.livemode);
    query
}

impl Session<'_> {
    async fn checkpoint_insert(
        &mut self,
        tenant: &Tenant,
        checkpoint: &Checkpoint,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(
            "INSERT INTO checkpoints (id, merchant_id, livemode, stream, name, cursor, position, resource_version, \
                 created_at, updated_at, created_sequence) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, 1, $8, $9, \
                 (SELECT COALESCE(MAX(created_sequence), 0) + 1 FROM checkpoints \
                     WHERE merchant_id = $2 AND livemode = $3))",
        )
        .bind(checkpoint.id.as_str())
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(checkpoint.stream.as_str())
        .bind(&checkpoint.name)
        .bind(&checkpoint.cursor)
        .bind(checkpoint.position)
        .bind(checkpoint.created_at.as_ms())
        .bind(checkpoint.updated_at.as_ms())
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "checkpoint")
    }

    async fn checkpoint_update(
        &mut self,
        tenant: &Tenant,
        checkpoint: &Checkpoint,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(
            "UPDATE checkpoints SET cursor = $4, position = $5, resource_version = $6, updated_at = $7 \
             WHERE id = $1 AND merchant_id = $2 AND livemode = $3 AND resource_version = $6 - 1",
        )
        .bind(checkpoint.id.as_str())
        .bind(tenant.merchant_id.as_str())
        .bind(tenant.livemode)
        .bind(&checkpoint.cursor)
        .bind(checkpoint.position)
        .bind(checkpoint.resource_version)
        .bind(checkpoint.updated_at.as_ms())
        .execute(&mut *self.conn)
        .await?;
        one_row(done.rows_affected(), "checkpoint")
    }
}

#[async_trait]
impl Checkpoints for Session<'_> {
    async fn checkpoint_get(
        &mut self,
        tenant: &Tenant,
        stream: CheckpointStream,
        name: &str,
    ) -> Result<Option<Checkpoint>, StoreError> {
        let mut query = of_tenant(tenant);
        query.push(" AND stream = ").push_bind(stream.as_str()).push(" AND name = ").push_bind(name);
        let row = query.build().fetch_optional(self.conn.about(&[]).await?).await?;
        row.map(|row| checkpoint(&row)).transpose()
    }

    async fn checkpoint_count(&mut self, tenant: &Tenant) -> Result<i64, StoreError> {
        Ok(sqlx::query_scalar("SELECT COUNT(*) FROM checkpoints WHERE merchant_id = $1 AND livemode = $2")
            .bind(tenant.merchant_id.as_str())
            .bind(tenant.livemode)
            .fetch_one(self.conn.about(&[]).await?)
            .await?)
    }

    async fn checkpoint_put(&mut self, tenant: &Tenant, checkpoint: &Checkpoint) -> Result<(), StoreError> {
        match checkpoint.resource_version {
            1 => self.checkpoint_insert(tenant, checkpoint).await,
            _ => self.checkpoint_update(tenant, checkpoint).await,
        }
    }

    async fn checkpoints_page(
        &mut self,
        tenant: &Tenant,
        streams: &[String],
        name: Option<&str>,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<(i64, Checkpoint)>, StoreError> {
        let mut query = of_tenant(tenant);
        push_in(&mut query, "stream", streams);
        if let Some(name) = name {
            query.push(" AND name = ").push_bind(name);
        }
        if let Some(before) = before {
            query.push(" AND created_sequence < ").push_bind(before);
        }
        query.push(" ORDER BY created_sequence DESC LIMIT ").push_bind(limit);
        let rows = query.build().fetch_all(&mut *self.conn).await?;
        rows.iter().map(|row| Ok((row.try_get("created_sequence")?, checkpoint(row)?))).collect()
    }
}

fn checkpoint(row: &DbRow) -> Result<Checkpoint, StoreError> {
    let stream = CheckpointStream::parse(row.try_get("stream")?)
        .ok_or_else(|| StoreError::Broken("checkpoints.stream holds an unknown word".to_owned()))?;
    Ok(Checkpoint {
        id: CheckpointId::from_store(row.try_get("id")?),
        name: row.try_get("name")?,
        stream,
        cursor: row.try_get("cursor")?,
        position: row.try_get("position")?,
        resource_version: row.try_get("resource_version")?,
        livemode: row.try_get("livemode")?,
        created_at: Timestamp::from_ms(row.try_get("created_at")?),
        updated_at: Timestamp::from_ms(row.try_get("updated_at")?),
    })
}
