//! Seeded dice. Everybody who throws has dice of their own, so that one more throw of one changes nothing for others.

use std::sync::{Mutex, PoisonError};

use authority::dice::Dice;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};

/// Dice that throw the same for the same seed and name.
#[derive(Debug)]
pub(crate) struct SeededDice(Mutex<StdRng>);

impl SeededDice {
    /// The dice of whoever is called `name`.
    pub(crate) fn new(seed: u64, name: u64) -> Self {
        Self(Mutex::new(rng(seed, name)))
    }
}

impl Dice for SeededDice {
    fn fill(&self, bytes: &mut [u8]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill_bytes(bytes);
    }
}

/// A generator of one's own.
pub(crate) fn rng(seed: u64, name: u64) -> StdRng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&name.to_le_bytes());
    StdRng::from_seed(bytes)
}
