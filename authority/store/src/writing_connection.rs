//! What a worker of the writer does with its connection, whichever database it leads to.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::Result;
use crate::hand_off::{CommitEffects, DispatchHandle};
use crate::job::Job;
use crate::shards::ShardSet;
use crate::sql::transaction::first_reads::Prefetch;
use crate::sql::transaction::write_batch::{Failed, Ran};

/// A connection that a worker drives.
#[async_trait]
pub(crate) trait WritingConnection: Send + 'static {
    /// Opens a transaction that may write, with those of `turns` that can be had at once, or with all of them when it
    /// is told to wait. Returns the turns that it holds; `None` when it waited in vain, and no transaction is open.
    async fn begin(&mut self, turns: ShardSet, wait: bool) -> Result<Option<ShardSet>>;
    /// Takes those of `turns` that can be had at once, in a transaction that waited for its own and has sent nothing
    /// since. After an error no transaction is open.
    async fn take_also(&mut self, turns: ShardSet) -> Result<ShardSet>;
    /// Reads at once what several jobs will ask for first, where that is worth it. What it does not read, the jobs
    /// read themselves.
    async fn prefetch(&mut self, jobs: &[&Prefetch], dispatch: Option<Arc<DispatchHandle>>) -> Result<()>;
    /// Whether a job has cleared what was prefetched since the last call.
    fn take_cleared(&mut self) -> bool;
    /// Runs the job with this `index` in the transaction, and undoes it alone when it refused. Returns the job's
    /// effects.
    async fn run(&mut self, index: usize, job: &mut Job) -> Result<(Ran, CommitEffects)>;
    /// Sends what the jobs have left to write. Returns the jobs whose writes the database refused; those are left out.
    async fn finish(&mut self) -> Result<Failed>;
    /// Makes everything since `begin` durable. `false`: the server had ended the transaction before, and nothing is
    /// stored. After an error nobody knows.
    async fn commit(&mut self) -> Result<bool>;
    /// Undoes everything since `begin`, whatever state the transaction is in.
    async fn rollback(&mut self);
    /// Closes the database properly at the end.
    async fn close(self: Box<Self>);
}
