//! The services that run on one database.
//!
//! Each instance reports every few seconds that it is alive ([`Tx::instance_beat`]) and reads how many there
//! are. Times are the database's own, so the clocks of instances need not agree. The others forget an instance that
//! stops reporting. On SQLite there is only ever one, which reports to nobody.

use crate::sql::{Form, Query, Result, Table, TableOrder, Together, Touches, Tx, columns, query, row};

/// A sign of life.
static INSTANCES: Table = Table {
    order: TableOrder::Instance,
    touches: Touches::Each("instance"),
    columns: columns!(into "INSERT INTO instances (id, seen_at)";
        Text),
    form: Form::SelectIn(|dialect| dialect.seen_now),
    rest: "WHERE TRUE ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at",
    together: Together::Replaced,
};

impl Tx {
    /// Records that the instance `id` is alive, forgets those last seen longer ago than `forget_after_ms`, and
    /// returns how many are left, including this one.
    pub async fn instance_beat(&mut self, id: &str, forget_after_ms: i64) -> Result<i64> {
        self.conn.buffer(&INSTANCES, [format!("instance/{id}")], row!(id));
        let now_ms = self.conn.dialect().now_ms;
        // The other instances: so the row above may wait, and what other jobs have read ahead stays.
        let mut others = Query::new("SELECT COUNT(*), COUNT(CASE WHEN seen_at >= ");
        others.push(now_ms).push(" - ").push_bind(forget_after_ms);
        others.push(" THEN 1 END) FROM instances WHERE id <> ").push_bind(id);
        let (others, alive): (i64, i64) = others.about(&[]).read_one(&mut self.conn).await?;
        if others > alive {
            let mut gone = Query::new("DELETE FROM instances WHERE seen_at < ");
            gone.push(now_ms).push(" - ").push_bind(forget_after_ms);
            gone.write(&mut self.conn).await?;
        }
        Ok(alive + 1)
    }

    /// Forgets an instance that stops.
    pub async fn instance_leave(&mut self, id: &str) -> Result<()> {
        query("DELETE FROM instances WHERE id = $1").bind(id).run(&mut self.conn).await
    }
}
