//! Statements that do not know their database.

use std::borrow::Cow;

use authority_domain::Tenant;
use sqlx::{Error, SqlStr};

use super::statement::{Statement, Target};
use super::value::{Kind, Value, Values};
use crate::shards::{Shard, ShardSet};
use crate::sql::across::Across;

/// A statement: a text with `$1, $2, …`, for which values are bound in their order ([`Query::bind`]), or one that is
/// put together from pieces of text and from values where they stand ([`Query::push`], [`Query::push_bind`]). Never
/// both: SQLite takes the first values again where others stand between the characters. Shards alone may be in either;
/// there they are no values.
pub(crate) struct Query<'q> {
    text: Cow<'static, str>,
    /// The values of `$1, $2, …`.
    values: Vec<Value<'q>>,
    /// What stands between the characters of the text.
    places: Vec<(usize, Place<'q>)>,
    /// The keys that a read depends on; `None`: it may depend on anything.
    pub(crate) about: Option<&'q [String]>,
}

/// What each database writes in its own way.
enum Place<'q> {
    Value(Value<'q>),
    /// ` IN …`; never empty.
    In(Vec<String>),
    /// ` = …` one of these.
    Shards(ShardSet),
    Rows(&'static [Kind], Vec<Vec<Value<'q>>>),
}

/// A statement with this text.
pub(crate) fn query<'q>(text: impl Into<Cow<'static, str>>) -> Query<'q> {
    Query { text: text.into(), values: Vec::new(), places: Vec::new(), about: None }
}

impl<'q> Query<'q> {
    /// A statement that looks through all shards. It says so to whoever reads it on the server.
    pub(crate) fn across(why: Across, text: &str) -> Self {
        query(format!("/* all shards: {} */ {text}", why.0))
    }

    /// A statement that begins with this text.
    pub(crate) fn new(text: &'static str) -> Self {
        query(text)
    }

    /// The value of the next `$n`.
    pub(crate) fn bind(mut self, value: impl Into<Value<'q>>) -> Self {
        self.values.push(value.into());
        self
    }

    /// The values of the next ones, a tuple.
    pub(crate) fn binds(mut self, values: impl Values<'q>) -> Self {
        values.add_to(&mut self.values);
        self
    }

    /// The values of the next three: a tenant's shard, merchant and mode.
    pub(crate) fn bind_tenant(self, tenant: &'q Tenant) -> Self {
        self.bind(Shard::of(&tenant.merchant_id)).bind(tenant.merchant_id.as_str()).bind(tenant.livemode)
    }

    /// Adds text.
    pub(crate) fn push(&mut self, text: &str) -> &mut Self {
        self.text.to_mut().push_str(text);
        self
    }

    /// Adds a value.
    pub(crate) fn push_bind(&mut self, value: impl Into<Value<'q>>) -> &mut Self {
        self.place(Place::Value(value.into()))
    }

    /// Adds text and a value, when there is one.
    pub(crate) fn push_some<V: Into<Value<'q>>>(&mut self, text: &str, value: Option<V>) -> &mut Self {
        match value {
            Some(value) => self.push(text).push_bind(value),
            None => self,
        }
    }

    /// Adds the condition that rows of the table with this alias (`"e."`) are the tenant's.
    pub(crate) fn push_tenant(&mut self, alias: &str, tenant: &Tenant) -> &mut Self {
        self.push_shard(alias, Shard::of(&tenant.merchant_id));
        self.push(" AND ")
            .push(alias)
            .push("merchant_id = ")
            .push_bind(tenant.merchant_id.as_str().to_owned());
        self.push(" AND ").push(alias).push("livemode = ").push_bind(tenant.livemode)
    }

    /// Adds the condition that rows are of this shard.
    pub(crate) fn push_shard(&mut self, alias: &str, shard: Shard) -> &mut Self {
        self.push(alias).push("shard = ").push_bind(shard)
    }

    /// Adds the condition that rows are of one of these shards.
    pub(crate) fn push_shards(&mut self, alias: &str, shards: ShardSet) -> &mut Self {
        self.push(alias).push("shard").place(Place::Shards(shards))
    }

    /// The same where few rows are looked for by something else: in this form no index is chosen by the shard.
    pub(crate) fn push_in_shards(&mut self, alias: &str, shards: ShardSet) -> &mut Self {
        self.push("CASE WHEN ").push_shards(alias, shards).push(" THEN TRUE ELSE FALSE END")
    }

    /// Adds values, with commas between them.
    pub(crate) fn push_list<V: Into<Value<'q>>>(&mut self, values: impl IntoIterator<Item = V>) -> &mut Self {
        for (n, value) in values.into_iter().enumerate() {
            self.push(if n == 0 { "" } else { ", " }).push_bind(value);
        }
        self
    }

    /// Adds ` IN (…)` with these values. Where there are none, it is true of no row.
    pub(crate) fn push_among<V: Into<Value<'q>>>(
        &mut self,
        values: impl IntoIterator<Item = V>,
    ) -> &mut Self {
        self.push(" IN (NULL");
        for value in values {
            self.push(", ").push_bind(value);
        }
        self.push(")")
    }

    /// Adds `AND column` is one of these, unless there are none.
    pub(crate) fn push_in(&mut self, column: &'static str, values: &[impl ToString]) -> &mut Self {
        if values.is_empty() {
            return self;
        }
        self.push(" AND ").push(column).place(Place::In(values.iter().map(ToString::to_string).collect()))
    }

    /// Adds a query of these rows, with columns `column1, …`.
    pub(crate) fn push_rows(&mut self, kinds: &'static [Kind], rows: Vec<Vec<Value<'q>>>) -> &mut Self {
        self.place(Place::Rows(kinds, rows))
    }

    /// Names the keys that a read depends on: it sees rows that are buffered under these, and rows that are never
    /// buffered.
    pub(crate) fn about(mut self, keys: &'q [String]) -> Self {
        self.about = Some(keys);
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty() && self.places.is_empty()
    }

    /// The statement as a database takes it.
    pub(crate) fn written<D: Target>(self) -> Result<(SqlStr, Option<D::Arguments>), Error> {
        debug_assert!(
            self.values.is_empty() || self.places.iter().all(|(_, place)| matches!(place, Place::Shards(_))),
            "a text that numbers its values has others in it: {}",
            self.text
        );
        let mut written = Statement::<D>::default();
        for value in self.values {
            written.add(value)?;
        }
        if self.places.is_empty() {
            return Ok(written.with_text(self.text));
        }
        written.reserve(self.text.len() + 8 * self.places.len());
        let mut from = 0;
        for (at, place) in self.places {
            written.push(self.text.get(from..at).unwrap_or_default());
            match place {
                Place::Value(value) => written.push_bind(value)?,
                Place::In(values) => D::push_in(&mut written, values)?,
                Place::Shards(shards) => D::push_shards(&mut written, shards)?,
                Place::Rows(kinds, rows) => D::push_rows(&mut written, kinds, &rows)?,
            }
            from = at;
        }
        written.push(self.text.get(from..).unwrap_or_default());
        Ok(written.finish())
    }

    fn place(&mut self, place: Place<'q>) -> &mut Self {
        self.places.push((self.text.len(), place));
        self
    }
}
