//! What happened, in order: for people when something is wrong, and as a digest that says whether two runs were the
//! same.

use std::collections::VecDeque;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Lines that are kept for people.
const KEPT: usize = 600;

/// A rule was broken, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation(pub String);

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Refuses with a [`Violation`] unless the condition holds.
macro_rules! hold {
    ($condition:expr, $($why:tt)+) => {
        if !$condition {
            return Err($crate::journal::Violation(format!($($why)+)));
        }
    };
}
pub(crate) use hold;

/// The journal of a run.
#[derive(Debug)]
pub(crate) struct Journal {
    lines: VecDeque<String>,
    digest: DefaultHasher,
    shown: bool,
}

impl Journal {
    /// An empty one; `shown` prints every line as it is written.
    pub(crate) fn new(shown: bool) -> Self {
        Self { lines: VecDeque::new(), digest: DefaultHasher::new(), shown }
    }

    /// Adds a line, at `elapsed` milliseconds.
    pub(crate) fn note(&mut self, elapsed: i64, what: fmt::Arguments<'_>) {
        let (seconds, ms) = (elapsed / 1000, elapsed % 1000);
        let (minutes, hours) = (seconds / 60 % 60, seconds / 3600 % 24);
        let line =
            format!("{:>5}d {hours:02}:{minutes:02}:{:02}.{ms:03} {what}", seconds / 86_400, seconds % 60);
        line.hash(&mut self.digest);
        if self.shown {
            println!("{line}");
        }
        if self.lines.len() == KEPT {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    /// The same for the same lines.
    pub(crate) fn digest(&self) -> u64 {
        self.digest.finish()
    }

    /// The last lines.
    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines.into()
    }
}
