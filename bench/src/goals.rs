//! What was aimed at, beside what came out.

use std::fmt;

/// What a figure should be.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// No less than this.
    AtLeast(f64),
    /// No more than this.
    AtMost(f64),
}

impl Bound {
    /// Its sign, itself, and whether a figure keeps it.
    #[must_use]
    pub fn judge(self, figure: f64) -> (&'static str, f64, bool) {
        match self {
            Self::AtLeast(bound) => ("≥", bound, figure >= bound),
            Self::AtMost(bound) => ("≤", bound, figure <= bound),
        }
    }
}

/// Figures that have a goal.
#[derive(Debug, Default)]
pub struct Goals(Vec<(String, f64, Bound)>);

impl Goals {
    /// Notes one.
    pub fn note(&mut self, what: &str, figure: f64, bound: Bound) {
        self.0.push((what.to_owned(), figure, bound));
    }
}

impl fmt::Display for Goals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        writeln!(f, "\n| goal | bound | figure | |\n|---|---:|---:|---|")?;
        for (what, figure, bound) in &self.0 {
            let (sign, bound, reached) = bound.judge(*figure);
            writeln!(
                f,
                "| {what} | {sign} {bound} | {figure:.2} | {} |",
                if reached { "reached" } else { "missed" }
            )?;
        }
        Ok(())
    }
}
