//! A connection whose writes wait for one another and travel together.
//!
//! What a job costs is the number of times it talks to its database: on PostgreSQL a round trip, during which nobody
//! else writes; on SQLite a step to the thread that the driver keeps for the connection. The statements that only write
//! need no answer before the job's end, so they wait ([`Connection::wait`]) until somebody asks the database for
//! something, or until the job is over ([`Connection::flush`]); then they are sent as one. Every other statement sends
//! what waits before itself, so nobody can see that it had waited, except in this: what the database has to say against
//! a write is said later, at the latest when the job ends.
//!
//! On PostgreSQL they become one statement with a part for each, which all see the rows as they were before it: so no
//! two that wait together may concern the same row.

use std::fmt;

use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, StreamExt, TryFutureExt};
use sqlx::pool::PoolConnection;
use sqlx::{Connection as _, Database, Describe, Either, Error, Execute, Executor, QueryBuilder, SqlStr};

use super::{Db, RawConnection, batch};

/// How many rows a write must touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touches {
    /// This one. Else the version before it is not the one that was read, or the row is another tenant's, and the
    /// transaction cannot go on.
    One(&'static str),
    /// Whatever there is.
    Any,
}

/// Writes that wait.
pub(crate) struct Waiting {
    pub(super) query: QueryBuilder<Db>,
    pub(super) touches: Vec<Touches>,
}

/// One connection, with the writes that wait for it.
pub(crate) struct Connection {
    raw: Raw,
    waiting: Option<Waiting>,
}

enum Raw {
    Own(RawConnection),
    Pooled(PoolConnection<Db>),
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").finish_non_exhaustive()
    }
}

impl From<RawConnection> for Connection {
    fn from(own: RawConnection) -> Self {
        Self { raw: Raw::Own(own), waiting: None }
    }
}

impl From<PoolConnection<Db>> for Connection {
    fn from(pooled: PoolConnection<Db>) -> Self {
        Self { raw: Raw::Pooled(pooled), waiting: None }
    }
}

impl Connection {
    /// The connection itself, past what waits: for a session that writes nothing.
    pub(crate) fn raw(&mut self) -> &mut RawConnection {
        match &mut self.raw {
            Raw::Own(own) => own,
            Raw::Pooled(pooled) => pooled,
        }
    }

    /// Closes a connection of one's own; one of a pool goes back to it.
    pub(crate) async fn close(self) -> Result<(), Error> {
        match self.raw {
            Raw::Own(own) => own.close().await,
            Raw::Pooled(_) => Ok(()),
        }
    }

    /// Throws away what a job left waiting that did not come to its end.
    pub(crate) fn forget(&mut self) {
        self.waiting = None;
    }

    /// Lets an `INSERT`, `UPDATE` or `DELETE` wait. It has no `RETURNING`, and its values are pushed as binds.
    pub(crate) fn wait(&mut self, touches: Touches, write: impl FnOnce(&mut QueryBuilder<Db>)) {
        let waiting = self
            .waiting
            .get_or_insert_with(|| Waiting { query: QueryBuilder::default(), touches: Vec::new() });
        waiting.query.push(batch::before(waiting.touches.len()));
        write(&mut waiting.query);
        waiting.query.push(batch::AFTER);
        waiting.touches.push(touches);
    }

    /// Sends what waits.
    pub(crate) async fn flush(&mut self) -> Result<(), Error> {
        let Some(waiting) = self.waiting.take() else { return Ok(()) };
        let expected = waiting.touches.clone();
        let touched = batch::send(self.raw(), waiting).await?;
        for (expected, touched) in expected.into_iter().zip(touched) {
            if let Touches::One(what) = expected
                && touched != 1
            {
                let story = format!("the {what} was written by nobody or by others");
                return Err(Error::Decode(story.into()));
            }
        }
        Ok(())
    }
}

impl<'s> Executor<'s> for &'s mut Connection {
    type Database = Db;

    fn fetch_many<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxStream<'e, Result<Either<<Db as Database>::QueryResult, <Db as Database>::Row>, Error>>
    where
        's: 'e,
        E: 'q + Execute<'q, Db>,
    {
        if self.waiting.is_none() {
            return self.raw().fetch_many(query);
        }
        async move {
            self.flush().await?;
            Ok(self.raw().fetch_many(query))
        }
        .try_flatten_stream()
        .boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxFuture<'e, Result<Option<<Db as Database>::Row>, Error>>
    where
        's: 'e,
        E: 'q + Execute<'q, Db>,
    {
        if self.waiting.is_none() {
            return self.raw().fetch_optional(query);
        }
        async move {
            self.flush().await?;
            self.raw().fetch_optional(query).await
        }
        .boxed()
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [<Db as Database>::TypeInfo],
    ) -> BoxFuture<'e, Result<<Db as Database>::Statement, Error>>
    where
        's: 'e,
    {
        self.raw().prepare_with(sql, parameters)
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Db>, Error>>
    where
        's: 'e,
    {
        self.raw().describe(sql)
    }
}
