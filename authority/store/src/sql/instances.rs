//! The services that run on this database.

use async_trait::async_trait;
use sqlx::QueryBuilder;

use super::{Db, NOW_MS, Session};
use crate::StoreError;
use crate::ports::Instances;

#[async_trait]
impl Instances for Session<'_> {
    async fn instance_beat(&mut self, id: &str, forget_after_ms: i64) -> Result<i64, StoreError> {
        let mut seen = QueryBuilder::<Db>::new("INSERT INTO instances (id, seen_at) VALUES (");
        seen.push_bind(id).push(", ").push(NOW_MS);
        seen.push(") ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at");
        seen.build().execute(&mut *self.conn).await?;
        let mut gone = QueryBuilder::<Db>::new("DELETE FROM instances WHERE seen_at < ");
        gone.push(NOW_MS).push(" - ").push_bind(forget_after_ms);
        gone.build().execute(&mut *self.conn).await?;
        Ok(sqlx::query_scalar("SELECT COUNT(*) FROM instances").fetch_one(&mut *self.conn).await?)
    }

    async fn instance_leave(&mut self, id: &str) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM instances WHERE id = $1").bind(id).execute(&mut *self.conn).await?;
        Ok(())
    }
}
