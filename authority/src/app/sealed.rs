//! Everything sealed under the key-encryption key: counted for the doctor, and moved to a new key (contract 1.2,
//! 6.4).
//!
//! The move goes through the data page by page. Values under the previous key are sealed again outside any
//! transaction, and written in short transactions, each only if the stored value is still the one that was read.
//! If the move is interrupted, the next run goes through the same data and finds the rest; meanwhile the service
//! opens values with both keys. In the end everything is counted again, so that "done" is what the database says.

use authority_domain::id::EndpointId;
use authority_domain::refusal::Refusal;
use authority_store::StoreError;
use authority_store::shards::Turns;
use authority_store::tx::{AnswerPosition, SealedOption, SealedSecret, SecretPosition, Tx};
use serde::Serialize;

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
///
/// # Errors
/// [`StoreError`] when it cannot be read.
pub async fn count_sealed(tx: &mut Tx, secrets: &SecretBox) -> Result<SealedCount, StoreError> {
    let mut count = SealedCount::default();
    let mut after = None;
    loop {
        let page = tx.sealed_secrets(after.as_ref(), PAGE).await?;
        let Some((endpoint, secret)) = page.last() else { break };
        after = Some((endpoint.clone(), secret.version));
        for (endpoint, secret) in &page {
            count.add(secrets.sealed_under(secret_context(endpoint.as_str(), secret), &secret.sealed));
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

fn secret_context<'a>(endpoint_id: &'a str, secret: &SealedSecret) -> SecretContext<'a> {
    SecretContext::SigningSecret { endpoint_id, secret_version: u32::try_from(secret.version).unwrap_or(0) }
}

/// A signing secret to be sealed again: its position, the value read, the new value.
type SecretMove = (SecretPosition, Vec<u8>, Vec<u8>);

/// The same for an option of an endpoint.
type OptionMove = (EndpointId, Vec<u8>, Vec<u8>);

/// The same for a stored answer.
type AnswerMove = (AnswerPosition, String, String);

impl App {
    /// Moves everything that is sealed to the current key-encryption key.
    ///
    /// # Errors
    /// `service_unavailable` when the database cannot be read or written; what was moved by then stays moved.
    pub async fn rewrap(&self) -> Result<Rewrapped, Refusal> {
        let mut rewrapped = self.rewrap_secrets().await?;
        for option in SealedOption::ALL {
            rewrapped += self.rewrap_options(option).await?;
        }
        rewrapped += self.rewrap_answers().await?;
        let secrets = self.secrets.clone();
        let sealed = self
            .store
            .read_list(move |tx: &mut Tx| Box::pin(async move { count_sealed(tx, &secrets).await }))
            .await
            .map_err(|error: StoreError| Refusal::from(error))?;
        Ok(Rewrapped { rewrapped, sealed })
    }

    async fn rewrap_secrets(&self) -> Result<u64, Refusal> {
        let mut moved = 0;
        let mut after: Option<SecretPosition> = None;
        loop {
            let from = after.clone();
            let page = self
                .store
                .read_list(move |tx: &mut Tx| {
                    Box::pin(async move { tx.sealed_secrets(from.as_ref(), PAGE).await })
                })
                .await
                .map_err(|error: StoreError| Refusal::from(error))?;
            let Some((endpoint, secret)) = page.last() else { return Ok(moved) };
            after = Some((endpoint.clone(), secret.version));
            let mut moves: Vec<SecretMove> = Vec::new();
            for (endpoint, secret) in page {
                let context = secret_context(endpoint.as_str(), &secret);
                if let Ok(Some(new)) = self.secrets.rewrap(self.dice.as_ref(), context, &secret.sealed) {
                    moves.push(((endpoint, secret.version), secret.sealed, new));
                }
            }
            moved += self.move_secrets(moves).await?;
        }
    }

    async fn move_secrets(&self, moves: Vec<SecretMove>) -> Result<u64, Refusal> {
        if moves.is_empty() {
            return Ok(0);
        }
        self.store
            .write_with(Turns::NONE, move |tx: &mut Tx| {
                Box::pin(async move {
                    let mut moved = 0;
                    for (place, old, new) in &moves {
                        moved += u64::from(tx.sealed_secret_replace(place, old, new).await?);
                    }
                    Ok(moved)
                })
            })
            .await
            .map_err(|error: StoreError| Refusal::from(error))
    }

    async fn rewrap_options(&self, option: SealedOption) -> Result<u64, Refusal> {
        let mut moved = 0;
        let mut after: Option<EndpointId> = None;
        loop {
            let from = after.clone();
            let page = self
                .store
                .read_list(move |tx: &mut Tx| {
                    Box::pin(async move { tx.sealed_options(option, from.as_ref(), PAGE).await })
                })
                .await
                .map_err(|error: StoreError| Refusal::from(error))?;
            let Some((endpoint, _)) = page.last() else { return Ok(moved) };
            after = Some(endpoint.clone());
            let mut moves: Vec<OptionMove> = Vec::new();
            for (endpoint, sealed) in page {
                let context = SecretContext::of_option(option, &endpoint);
                if let Ok(Some(new)) = self.secrets.rewrap(self.dice.as_ref(), context, &sealed) {
                    moves.push((endpoint, sealed, new));
                }
            }
            moved += self.move_options(option, moves).await?;
        }
    }

    async fn move_options(&self, option: SealedOption, moves: Vec<OptionMove>) -> Result<u64, Refusal> {
        if moves.is_empty() {
            return Ok(0);
        }
        self.store
            .write_with(Turns::NONE, move |tx: &mut Tx| {
                Box::pin(async move {
                    let mut moved = 0;
                    for (endpoint, old, new) in &moves {
                        moved += u64::from(tx.sealed_option_replace(option, endpoint, old, new).await?);
                    }
                    Ok(moved)
                })
            })
            .await
            .map_err(|error: StoreError| Refusal::from(error))
    }

    async fn rewrap_answers(&self) -> Result<u64, Refusal> {
        let mut moved = 0;
        let mut after: Option<AnswerPosition> = None;
        loop {
            let from = after.clone();
            let page = self
                .store
                .read_list(move |tx: &mut Tx| {
                    Box::pin(async move { tx.sealed_answers(from.as_ref(), PAGE).await })
                })
                .await
                .map_err(|error: StoreError| Refusal::from(error))?;
            let Some((place, _)) = page.last() else { return Ok(moved) };
            after = Some(place.clone());
            let mut moves: Vec<AnswerMove> = Vec::new();
            for (place, answer) in page {
                let (_, _, key) = &place;
                if let Ok(Some(new)) = Answer::rewrap(&answer, key, &self.secrets, self.dice.as_ref()) {
                    moves.push((place, answer, new));
                }
            }
            moved += self.move_answers(moves).await?;
        }
    }

    async fn move_answers(&self, moves: Vec<AnswerMove>) -> Result<u64, Refusal> {
        if moves.is_empty() {
            return Ok(0);
        }
        self.store
            .write_with(Turns::NONE, move |tx: &mut Tx| {
                Box::pin(async move {
                    let mut moved = 0;
                    for (place, old, new) in &moves {
                        moved += u64::from(tx.sealed_answer_replace(place, old, new).await?);
                    }
                    Ok(moved)
                })
            })
            .await
            .map_err(|error: StoreError| Refusal::from(error))
    }
}
