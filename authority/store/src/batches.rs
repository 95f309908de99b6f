//! What a connection does that each database does in its own way: batches of many jobs, and turns.

use crate::driver::{Connection, Error, Row};
use crate::shards::ShardSet;
use crate::sql::transaction::lookups::Asked;
use crate::sql::transaction::rows::Group;
use crate::{postgres, sqlite};

impl Connection {
    /// Sends rows in order, a group for each table; returns how many rows each touched.
    pub(crate) async fn send(&mut self, groups: Vec<Group<'_>>) -> Result<Vec<u64>, Error> {
        match self {
            Self::Sqlite(conn, _) => sqlite::batch::send(conn, groups).await,
            Self::Postgres(conn, dialect) => postgres::batch::send(conn, dialect, groups).await,
        }
    }

    /// Asks these lookups.
    pub(crate) async fn look_up(&mut self, asked: &[Asked]) -> Result<Vec<Row>, Error> {
        match self {
            Self::Sqlite(conn, _) => sqlite::batch::look_up(conn, asked).await,
            Self::Postgres(conn, _) => postgres::batch::look_up(conn, asked).await,
        }
    }

    /// Runs statements without parameters, of which one returns the turns that were taken. The file of SQLite has one
    /// writer: whoever writes has every turn.
    pub(crate) async fn turns(&mut self, statements: String) -> Result<ShardSet, Error> {
        match self {
            Self::Sqlite(..) => Ok(ShardSet::ALL),
            Self::Postgres(conn, _) => postgres::batch::turns(conn, statements).await,
        }
    }
}
