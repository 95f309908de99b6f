//! What a connection does for many jobs at once, which each database does in its own way.

use crate::driver::{Connection, Error, Row};
use crate::sql::transaction::lookups::Asked;
use crate::sql::transaction::rows::Group;
use crate::{postgres, sqlite};

impl Connection {
    /// Sends rows in order, a group for each table; returns how many rows each touched.
    pub(crate) async fn send(&mut self, groups: Vec<Group<'_>>) -> Result<Vec<u64>, Error> {
        match self {
            Self::Sqlite(conn) => sqlite::batch::send(conn, groups).await,
            Self::Postgres(conn, dialect) => postgres::batch::send(conn, dialect, groups).await,
        }
    }

    /// Asks these lookups.
    pub(crate) async fn look_up(&mut self, asked: &[Asked]) -> Result<Vec<Row>, Error> {
        match self {
            Self::Sqlite(conn) => sqlite::batch::look_up(conn, asked).await,
            Self::Postgres(conn, _) => postgres::batch::look_up(conn, asked).await,
        }
    }
}
