//! Rows, and the types that are read from them.

use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{ColumnIndex, Decode, Error, Postgres, Row as _, Sqlite, Type};

/// A row as its database returned it.
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl From<SqliteRow> for Row {
    fn from(row: SqliteRow) -> Self {
        Self::Sqlite(row)
    }
}

impl From<PgRow> for Row {
    fn from(row: PgRow) -> Self {
        Self::Postgres(row)
    }
}

/// What a column may be read as.
pub(crate) trait Column<'r>:
    Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + Type<Postgres>
{
}

impl<'r, T> Column<'r> for T where T: Decode<'r, Sqlite> + Type<Sqlite> + Decode<'r, Postgres> + Type<Postgres>
{}

impl Row {
    /// Reads the column with this name or index.
    pub(crate) fn get<'r, T: Column<'r>>(
        &'r self,
        column: impl ColumnIndex<SqliteRow> + ColumnIndex<PgRow>,
    ) -> Result<T, Error> {
        match self {
            Self::Sqlite(row) => row.try_get(column),
            Self::Postgres(row) => row.try_get(column),
        }
    }
}

/// What a whole row is read as: the row itself, its only column, or its columns in order.
pub(crate) trait FromRow: Sized + Send + Unpin {
    fn from_row(row: Row) -> Result<Self, Error>;
}

impl FromRow for Row {
    fn from_row(row: Row) -> Result<Self, Error> {
        Ok(row)
    }
}

macro_rules! only_column {
    ($($type:ty),+) => {$(
        impl FromRow for $type {
            fn from_row(row: Row) -> Result<Self, Error> {
                row.get(0)
            }
        }
    )+};
}

only_column!(String, Option<String>, i64, Option<i64>, bool, Vec<u8>);

macro_rules! columns {
    ($($type:ident $index:tt),+) => {
        impl<$($type),+> FromRow for ($($type,)+)
        where
            $($type: for<'r> Column<'r> + Send + Unpin),+
        {
            fn from_row(row: Row) -> Result<Self, Error> {
                Ok(($(row.get::<$type>($index)?,)+))
            }
        }
    };
}

columns!(A 0, B 1);
columns!(A 0, B 1, C 2);
columns!(A 0, B 1, C 2, D 3);
