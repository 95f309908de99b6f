//! Writes that wait to be sent together.

use async_trait::async_trait;

use crate::StoreError;

/// What a job wrote may wait in this process until the job asks the database for something, or ends.
#[async_trait]
pub trait Writes {
    /// Sends what waits. The writer does so at the end of every job.
    ///
    /// # Errors
    /// What the database has to say against it.
    async fn flush(&mut self) -> Result<(), StoreError>;
}
