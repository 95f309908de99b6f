//! The numbers that the authority gives to orders that come without one.

use authority_domain::{OrderNumber, Tenant};

use crate::sql::transaction::counter::Counter;
use crate::sql::transaction::keys::{NUMBERS_START_ABOVE, counter_key, order_key};
use crate::sql::{Form, Result, Shard, Table, TableOrder, Together, Touches, Tx, columns, query, row};

/// The counter of generated numbers, advanced from the value that was read; it starts at [`NUMBERS_START_ABOVE`].
static ORDER_COUNTERS: Table = Table {
    order: TableOrder::OrderCounter,
    touches: Touches::Each("counter of orders"),
    columns: columns!(into "INSERT INTO order_counters (shard, merchant_id, livemode, last_number)";
        Shard, Text, Bool, Int, Int),
    form: Form::Counter(Counter {
        select: "v.column1, v.column2, v.column3, v.column4",
        update: "UPDATE order_counters SET last_number = v.column4",
        moves: "WHERE order_counters.shard = v.column1 AND order_counters.merchant_id = v.column2 \
            AND order_counters.livemode = v.column3 AND order_counters.last_number = v.column5",
        begins: "WHERE v.column5 = 100000 ON CONFLICT (shard, merchant_id, livemode) DO NOTHING",
    }),
    rest: "WHERE v.column5 = COALESCE((SELECT c.last_number FROM order_counters c \
             WHERE c.shard = v.column1 AND c.merchant_id = v.column2 AND c.livemode = v.column3), 100000) \
         ON CONFLICT (shard, merchant_id, livemode) DO UPDATE SET last_number = excluded.last_number",
    together: Together::Merged,
};

/// A counter's value, and whether an order has the next number.
///
/// Here and in [`FIRST_FREE`] the number that is looked up is a column of its own. With the expression in the place of
/// the column, PostgreSQL takes another index of a young table, and reads all orders of the tenant for each number.
pub(crate) const COUNTED: &str = "\
    WITH counted (n, next) AS MATERIALIZED ( \
        SELECT c.n, $5 || CAST(c.n + 1 AS TEXT) FROM (SELECT COALESCE((SELECT last_number FROM order_counters \
            WHERE shard = $1 AND merchant_id = $2 AND livemode = $3), $4) AS n) c) \
    SELECT n, EXISTS (SELECT 1 FROM orders o WHERE o.shard = $1 AND o.merchant_id = $2 AND o.livemode = $3 \
        AND o.order_number = counted.next) \
    FROM counted";

/// The first number from $4 on that no order has. The order is looked up by a scalar subquery: PostgreSQL cannot answer
/// it by reading all orders of the tenant first.
pub(crate) const FIRST_FREE: &str = "\
    WITH RECURSIVE walk (n, number) AS ( \
        SELECT CAST($4 AS BIGINT), $5 || CAST($4 AS TEXT) \
        UNION ALL \
        SELECT walk.n + 1, $5 || CAST(walk.n + 1 AS TEXT) FROM walk WHERE (SELECT o.order_number FROM orders o \
            WHERE o.shard = $1 AND o.merchant_id = $2 AND o.livemode = $3 AND o.order_number = walk.number) IS NOT NULL) \
    SELECT MAX(n) FROM walk";

impl Tx {
    /// The value of the counter of generated numbers, and whether an order has the next number.
    async fn order_counter(&mut self, tenant: &Tenant, prefix: &str) -> Result<(i64, bool)> {
        let found: (i64, bool) = query(COUNTED)
            .bind_tenant(tenant)
            .binds((NUMBERS_START_ABOVE, prefix))
            .about(&[counter_key(tenant)])
            .read_one(&mut self.conn)
            .await?;
        self.conn.note_counter(tenant, &counter_key(tenant), found.0);
        Ok(found)
    }

    /// Whether it is known that no order has this number; `stored` says whether one had it when the counter was read.
    fn order_number_is_free(&self, tenant: &Tenant, prefix: &str, number: i64, stored: Option<bool>) -> bool {
        let key = order_key(&tenant.merchant_id, tenant.livemode, &OrderNumber::generated(prefix, number));
        self.conn.cache.unused.contains(&key) || stored == Some(false) && !self.conn.waits(&key)
    }

    /// The first number from `from` on that no order has: one statement, however many have been used by hand. It waits
    /// for all buffered rows, since an order with any of the numbers may be among them.
    async fn first_free_order_number(&mut self, tenant: &Tenant, prefix: &str, from: i64) -> Result<i64> {
        Ok(query(FIRST_FREE).bind_tenant(tenant).binds((from, prefix)).read_one(&mut self.conn).await?)
    }

    /// Reserves the tenant's next generated order number that no order has: `prefix` and a count, which starts at
    /// 100001 (contract 1.1).
    pub async fn order_number_reserve(&mut self, tenant: &Tenant, prefix: &str) -> Result<OrderNumber> {
        let (from, taken) = match self.conn.cache.counters.get(tenant) {
            Some(&from) => (from, None),
            None => self.order_counter(tenant, prefix).await.map(|(from, taken)| (from, Some(taken)))?,
        };
        let number = match self.order_number_is_free(tenant, prefix, from + 1, taken) {
            true => from + 1,
            // An operator may have used the number by hand, or imported thousands of them.
            false => self.first_free_order_number(tenant, prefix, from + 1).await?,
        };
        self.conn.cache.move_counter(tenant, number);
        self.conn.buffer(
            &ORDER_COUNTERS,
            [counter_key(tenant)],
            row!(Shard::of(&tenant.merchant_id), tenant.merchant_id.as_str(), tenant.livemode, number, from),
        );
        Ok(OrderNumber::generated(prefix, number))
    }
}
