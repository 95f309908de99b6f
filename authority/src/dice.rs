//! The one place where the service gets randomness.
//!
//! Identifiers, keys, signing secrets, nonces and retry jitter all draw from a [`Dice`] that is passed in, so that a
//! test can replay a run. `clippy.toml` bans every other source. Deliberately absent: a seeded generator for
//! production use; secrets come from the operating system.

/// A source of random bytes.
pub trait Dice: Send + Sync {
    /// Fills `bytes` with random bytes that nobody can predict.
    fn fill(&self, bytes: &mut [u8]);
}

/// The operating system's generator.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDice;

impl Dice for SystemDice {
    /// Ends the process when the operating system has no randomness to give: whatever was done without it
    /// (an all-zero secret, a repeated nonce) would be worse than stopping.
    #[expect(clippy::disallowed_methods, reason = "these are the dice that are handed in")]
    fn fill(&self, bytes: &mut [u8]) {
        if let Err(error) = getrandom::fill(bytes) {
            tracing::error!(%error, "the operating system gives no randomness");
            std::process::abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_throws_differ() {
        let (mut first, mut second) = ([0_u8; 32], [0_u8; 32]);
        SystemDice.fill(&mut first);
        SystemDice.fill(&mut second);
        assert_ne!(first, second);
    }
}
