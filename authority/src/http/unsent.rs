//! Answers that their clients have not read yet, counted in bytes (contract 18.2).
//!
//! A client that sends requests and does not read makes this process hold its answers. So the bytes of an answer
//! are counted, per credential and in total, from when it is created until the connection has written them or has
//! ended ([`Unsent::hold`]). A credential may hold as much as is left for all others, and 32 MiB at most: one that
//! reads nothing gets half of the budget, several share it, and there is always capacity for clients that read.
//! Anything beyond is refused: 429 for the credential that holds answers, 503 for others. A completed write is
//! always answered; a write is refused before it begins.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use authority_domain::{ErrorCode, KeyId, Refusal, Result};
use bytes::Bytes;

/// Budget for all answers of the process together.
const BUDGET: usize = 64 * 1024 * 1024;
/// Budget for the answers of one credential.
const CREDENTIAL_BUDGET: usize = 32 * 1024 * 1024;
/// Above this number of accounts, those that hold nothing are removed.
const ACCOUNTS_KEPT: usize = 1_024;
/// Seconds after which a refused client may try again.
const RETRY_AFTER_S: u32 = 1;

/// The unread answers of this process.
#[derive(Default)]
pub struct Unsent(Mutex<Books>);

#[derive(Default)]
struct Books {
    total: usize,
    of: HashMap<KeyId, usize>,
}

impl Books {
    /// The bytes that the credential may still hold.
    fn room(&self, key: &KeyId) -> usize {
        let own = self.of.get(key).copied().unwrap_or(0);
        BUDGET.saturating_sub(self.total).min(CREDENTIAL_BUDGET).saturating_sub(own)
    }

    /// The bytes that the credential holds.
    fn unsent_of(&mut self, key: &KeyId) -> &mut usize {
        if self.of.len() >= ACCOUNTS_KEPT {
            self.of.retain(|_, unsent| *unsent > 0);
        }
        self.of.entry(key.clone()).or_default()
    }

    fn refusal(&self, key: &KeyId) -> Refusal {
        if self.of.get(key).is_some_and(|unsent| *unsent > 0) {
            let detail = "Answers to this key wait to be read and take all the memory there is for them: read them first.";
            return Refusal::new(ErrorCode::RateLimited, detail).retry_after(RETRY_AFTER_S);
        }
        Refusal::unavailable(RETRY_AFTER_S)
    }
}

impl Unsent {
    /// Refuses a credential that has used up its budget, before any work is done for it.
    ///
    /// # Errors
    /// `rate_limited`; `service_unavailable` when others hold the budget.
    pub fn check(&self, key: &KeyId) -> Result<()> {
        let books = self.books();
        if books.room(key) == 0 { Err(books.refusal(key)) } else { Ok(()) }
    }

    /// Counts an answer for as long as it, or a slice of it, exists.
    ///
    /// # Errors
    /// As [`Self::check`]; never for an answer that `must_be_given`.
    pub fn hold(self: &Arc<Self>, key: &KeyId, answer: Bytes, must_be_given: bool) -> Result<Bytes> {
        if answer.is_empty() {
            return Ok(answer);
        }
        let mut books = self.books();
        if !must_be_given && books.room(key) < answer.len() {
            return Err(books.refusal(key));
        }
        books.total += answer.len();
        *books.unsent_of(key) += answer.len();
        drop(books);
        Ok(Bytes::from_owner(Held { answer, unsent: Arc::clone(self), key: key.clone() }))
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An answer that is counted.
struct Held {
    answer: Bytes,
    unsent: Arc<Unsent>,
    key: KeyId,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.answer
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut books = self.unsent.books();
        books.total = books.total.saturating_sub(self.answer.len());
        if let Some(unsent) = books.of.get_mut(&self.key) {
            *unsent = unsent.saturating_sub(self.answer.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;

    fn key(name: &str) -> KeyId {
        KeyId::from_store(name.to_owned())
    }

    /// Fills the credential's budget, one MiB at a time; returns the answers, and the code that ended it.
    fn fill(unsent: &Arc<Unsent>, name: &str) -> (Vec<Bytes>, ErrorCode) {
        let mut held = Vec::new();
        loop {
            match unsent.hold(&key(name), Bytes::from_static(&[b'x'; MIB]), false) {
                Ok(bytes) => held.push(bytes),
                Err(refusal) => {
                    assert_eq!(refusal.retry_after_s, Some(1));
                    return (held, refusal.code);
                }
            }
        }
    }

    #[test]
    fn one_credential_holds_half_several_share_and_there_is_room_for_the_next() {
        let unsent = Arc::new(Unsent::default());
        let (first, code) = fill(&unsent, "a");
        assert_eq!((first.len(), code), (32, ErrorCode::RateLimited));
        let (second, _) = fill(&unsent, "b");
        let (third, _) = fill(&unsent, "c");
        assert_eq!((second.len(), third.len()), (16, 8));
        assert!(unsent.check(&key("a")).is_err());
        assert_eq!(unsent.check(&key("d")), Ok(()));
        drop(first);
        assert_eq!(unsent.check(&key("a")), Ok(()));
        assert_eq!(fill(&unsent, "a").0.len(), 20);
    }

    #[test]
    fn bytes_count_until_the_last_piece_of_them_is_gone() {
        let unsent = Arc::new(Unsent::default());
        let mut answer = unsent.hold(&key("a"), Bytes::from(vec![b'x'; 32 * MIB]), false).unwrap();
        let rest = answer.split_off(10);
        drop(answer);
        assert!(unsent.check(&key("a")).is_err());
        drop(rest);
        assert_eq!(unsent.check(&key("a")), Ok(()));
        assert_eq!(unsent.books().total, 0);
    }

    #[test]
    fn what_was_written_is_answered_and_a_full_budget_is_nobody_elses_fault() {
        let unsent = Arc::new(Unsent::default());
        let full = unsent.hold(&key("a"), Bytes::from(vec![b'x'; BUDGET]), true).unwrap();
        assert_eq!(unsent.check(&key("a")).unwrap_err().code, ErrorCode::RateLimited);
        assert_eq!(unsent.check(&key("b")).unwrap_err().code, ErrorCode::ServiceUnavailable);
        assert!(unsent.hold(&key("b"), Bytes::from_static(b"done"), true).is_ok());
        drop(full);
    }
}
