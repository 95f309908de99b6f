//! The services that run on this database.

use async_trait::async_trait;
use sqlx::QueryBuilder;

use super::rows::{Form, Kind, Table, TableOrder, Together, Touches};
use super::{Db, NOW_MS, SEEN_NOW, Session};
use crate::StoreError;
use crate::ports::Instances;

/// A sign of life.
static INSTANCES: Table = Table {
    order: TableOrder::Instance,
    touches: Touches::Each("instance"),
    into: "INSERT INTO instances (id, seen_at)",
    columns: &[Kind::Text],
    form: Form::Select(SEEN_NOW),
    rest: "WHERE TRUE ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at",
    together: Together::Replaced,
};

#[async_trait]
impl Instances for Session<'_> {
    async fn instance_beat(&mut self, id: &str, forget_after_ms: i64) -> Result<i64, StoreError> {
        self.conn.buffer(&INSTANCES, [format!("instance/{id}")], [id.into()]);
        // The other instances: so the row above may wait, and what other jobs have read ahead stays.
        let mut others = QueryBuilder::<Db>::new("SELECT COUNT(*), COUNT(CASE WHEN seen_at >= ");
        others.push(NOW_MS).push(" - ").push_bind(forget_after_ms);
        others.push(" THEN 1 END) FROM instances WHERE id <> ").push_bind(id);
        let conn = self.conn.about(&[]).await?;
        let (others, alive): (i64, i64) = others.build_query_as().fetch_one(conn).await?;
        if others > alive {
            let mut gone = QueryBuilder::<Db>::new("DELETE FROM instances WHERE seen_at < ");
            gone.push(NOW_MS).push(" - ").push_bind(forget_after_ms);
            gone.build().execute(&mut *self.conn).await?;
        }
        Ok(alive + 1)
    }

    async fn instance_leave(&mut self, id: &str) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM instances WHERE id = $1").bind(id).execute(&mut *self.conn).await?;
        Ok(())
    }
}
