//! A statement as one database takes it: its text with that database's placeholders, and its encoded arguments.

use std::borrow::Cow;
use std::fmt::Write as _;

use sqlx::error::BoxDynError;
use sqlx::{Arguments as _, AssertSqlSafe, Database, Error, SqlSafeStr as _, SqlStr};

use super::value::{Kind, Value};
use crate::shards::ShardSet;

/// A database that statements are written for.
pub(crate) trait Target: Database {
    /// Adds an argument.
    fn add(arguments: &mut Self::Arguments, value: Value<'_>) -> Result<(), BoxDynError>;
    /// Adds the condition that what stands before is one of these.
    fn push_in(statement: &mut Statement<Self>, values: Vec<String>) -> Result<(), Error>;
    /// Adds the condition that what stands before is one of these shards.
    fn push_shards(statement: &mut Statement<Self>, shards: ShardSet) -> Result<(), Error>;
    /// Adds a query of these rows, with columns `column1, …`.
    fn push_rows(
        statement: &mut Statement<Self>,
        kinds: &[Kind],
        rows: &[Vec<Value<'_>>],
    ) -> Result<(), Error>;
    /// The text as this database is to be given it.
    fn text(text: Cow<'static, str>) -> Cow<'static, str> {
        text
    }
}

pub(crate) struct Statement<D: Database> {
    text: String,
    arguments: D::Arguments,
}

impl<D: Database> Default for Statement<D> {
    fn default() -> Self {
        Self { text: String::new(), arguments: D::Arguments::default() }
    }
}

impl<D: Target> Statement<D> {
    /// Makes room for so many more bytes of text.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        self.text.reserve(bytes);
    }

    /// Adds text.
    pub(crate) fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Adds a number as text.
    pub(crate) fn push_number(&mut self, number: usize) -> &mut Self {
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{number}");
        self
    }

    /// Adds an argument whose place is in the text.
    pub(crate) fn add(&mut self, value: Value<'_>) -> Result<(), Error> {
        D::add(&mut self.arguments, value).map_err(Error::Encode)
    }

    /// Adds an argument and its placeholder.
    pub(crate) fn push_bind(&mut self, value: Value<'_>) -> Result<(), Error> {
        self.add(value)?;
        self.push_placeholder();
        Ok(())
    }

    /// Adds an argument that is no [`Value`], and its placeholder.
    pub(crate) fn push_encoded<'t, T>(&mut self, value: T) -> Result<&mut Self, Error>
    where
        T: sqlx::Encode<'t, D> + sqlx::Type<D>,
    {
        self.arguments.add(value).map_err(Error::Encode)?;
        self.push_placeholder();
        Ok(self)
    }

    fn push_placeholder(&mut self) {
        // Writing to a string cannot fail.
        let _ = self.arguments.format_placeholder(&mut self.text);
    }

    /// What sqlx runs. It is prepared once for each connection.
    pub(crate) fn finish(mut self) -> (SqlStr, Option<D::Arguments>) {
        let text = std::mem::take(&mut self.text);
        self.with_text(Cow::Owned(text))
    }

    /// The same with this text.
    pub(crate) fn with_text(self, text: Cow<'static, str>) -> (SqlStr, Option<D::Arguments>) {
        (AssertSqlSafe(D::text(text)).into_sql_str(), Some(self.arguments))
    }
}
