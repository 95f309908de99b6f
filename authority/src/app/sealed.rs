//! Everything sealed under the key-encryption key: counted for the doctor, and moved to a new key (contract 1.2,
//! 6.4).
//!
//! The move goes through the data page by page. Values under the previous key are sealed again outside any
//! transaction, and written in short transactions, each only if the stored value is still the one that was read.
//! If the move is interrupted, the next run goes through the same data and finds the rest; meanwhile the service
//! opens values with both keys. In the end everything is counted again, so that "done" is what the database says.

use std::sync::Arc;

use authority_domain::{EndpointId, Result};
use authority_store::StoreError;
use authority_store::shards::Turns;
use authority_store::tx::{AnswerPosition, SealedOption, SecretPosition, Tx};
use serde::Serialize;

use super::job::ReadingOf;
use super::{Answer, App};
use crate::secret_box::{SealedUnder, SecretBox, SecretBoxError, SecretContext};

/// Rows per query and per transaction.
const PAGE: i64 = 100;

/// The number of sealed values, by the key that opens them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SealedCount {
    /// Under the current key.
    pub current: u64,
    /// Under the previous key: to be moved before that key is removed.
    pub previous: u64,
    /// Under neither: lost, unless the right key is found.
    pub unopened: u64,
}

impl SealedCount {
    fn add(&mut self, under: Result<SealedUnder, SecretBoxError>) {
        match under {
            Ok(SealedUnder::Current) => self.current += 1,
            Ok(SealedUnder::Previous) => self.previous += 1,
            Err(_) => self.unopened += 1,
        }
    }
}

/// The result of `authority secrets rewrap`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rewrapped {
    /// Moved to the current key by this run.
    pub rewrapped: u64,
    /// What is sealed at the end.
    #[serde(flatten)]
    pub sealed: SealedCount,
}

/// Opens everything that is sealed, and counts how much each key opens.
pub async fn count_sealed(tx: &mut Tx, secrets: &SecretBox) -> Result<SealedCount, StoreError> {
    let mut count = SealedCount::default();
    let mut after = None;
    loop {
        let page = tx.sealed_secrets(after.as_ref(), PAGE).await?;
        let Some((endpoint, secret)) = page.last() else { break };
        after = Some((endpoint.clone(), secret.version));
        for (endpoint, secret) in &page {
            count.add(secrets.sealed_under(of_version(endpoint.as_str(), secret.version), &secret.sealed));
        }
    }
    for option in SealedOption::ALL {
        let mut after: Option<EndpointId> = None;
        loop {
            let page = tx.sealed_options(option, after.as_ref(), PAGE).await?;
            let Some((endpoint, _)) = page.last() else { break };
            after = Some(endpoint.clone());
            for (endpoint, sealed) in &page {
                count.add(secrets.sealed_under(SecretContext::of_option(option, endpoint), sealed));
            }
        }
    }
    let mut after = None;
    loop {
        let page = tx.sealed_answers(after.as_ref(), PAGE).await?;
        let Some((place, _)) = page.last() else { return Ok(count) };
        after = Some(place.clone());
        for ((_, _, key), answer) in &page {
            count.add(Answer::sealed_under(answer, key, secrets));
        }
    }
}

fn of_version(endpoint_id: &str, version: i64) -> SecretContext<'_> {
    SecretContext::SigningSecret { endpoint_id, secret_version: u32::try_from(version).unwrap_or(0) }
}

impl App {
    /// Moves everything that is sealed to the current key-encryption key.
    ///
    /// # Errors
    /// `service_unavailable` when the database cannot be read or written; what was moved by then stays moved.
    pub async fn rewrap(&self) -> Result<Rewrapped> {
        let (secrets, dice) = (&self.secrets, self.dice.as_ref());
        let mut rewrapped = self
            .rewrap_all(
                async move |tx, after: Option<SecretPosition>| {
                    let page = tx.sealed_secrets(after.as_ref(), PAGE).await?.into_iter();
                    Ok(page.map(|(id, secret)| ((id, secret.version), secret.sealed)).collect())
                },
                |(id, version), old| secrets.rewrap(dice, of_version(id.as_str(), *version), old),
                async move |tx, (place, old, new)| tx.sealed_secret_replace(&place, &old, &new).await,
            )
            .await?;
        for option in SealedOption::ALL {
            rewrapped += self
                .rewrap_all(
                    async move |tx, after: Option<EndpointId>| {
                        tx.sealed_options(option, after.as_ref(), PAGE).await
                    },
                    |id, old| secrets.rewrap(dice, SecretContext::of_option(option, id), old),
                    async move |tx, (id, old, new)| tx.sealed_option_replace(option, &id, &old, &new).await,
                )
                .await?;
        }
        rewrapped += self
            .rewrap_all(
                async move |tx, after: Option<AnswerPosition>| tx.sealed_answers(after.as_ref(), PAGE).await,
                |(_, _, key), old| Answer::rewrap(old, key, secrets, dice),
                async move |tx, (place, old, new)| tx.sealed_answer_replace(&place, &old, &new).await,
            )
            .await?;
        let secrets = Arc::clone(secrets);
        let sealed = self.read_list(async move |tx| count_sealed(tx, &secrets).await).await?;
        Ok(Rewrapped { rewrapped, sealed })
    }

    /// Moves all values of a kind, a page at a time: reads a page after a place, seals again what needs it, and
    /// replaces each value if it is still the one that was read. Returns how many were moved.
    async fn rewrap_all<P, V>(
        &self,
        page: impl ReadingOf<Option<P>, Vec<(P, V)>, StoreError> + Clone,
        rewrap: impl Fn(&P, &V) -> Result<Option<V>, SecretBoxError>,
        replace: impl ReadingOf<(P, V, V), bool, StoreError> + Clone,
    ) -> Result<u64>
    where
        P: Clone + Send + 'static,
        V: Clone + Send + 'static,
    {
        let (mut moved, mut after) = (0, None);
        loop {
            let (from, read) = (after.take(), page.clone());
            let page = self.read_list(async move |tx| read(tx, from).await).await?;
            let Some((place, _)) = page.last() else { return Ok(moved) };
            after = Some(place.clone());
            let sealed_again = |(place, old): (P, V)| {
                let new = rewrap(&place, &old).ok().flatten()?;
                Some((place, old, new))
            };
            let moves: Vec<_> = page.into_iter().filter_map(sealed_again).collect();
            if moves.is_empty() {
                continue;
            }
            let replace = replace.clone();
            let written = self.write(Turns::NONE, async move |tx| {
                let mut moved = 0;
                for one in moves {
                    moved += u64::from((replace.clone())(tx, one).await?);
                }
                Ok::<_, StoreError>(moved)
            });
            moved += written.await?;
        }
    }
}
