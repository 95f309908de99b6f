//! From many measurements to one figure.

/// What so many of 100 do not exceed.
#[derive(Clone, Copy, Debug)]
pub struct Percentiles {
    /// The middle.
    pub p50: f64,
    /// Nearly all.
    pub p95: f64,
    /// But for one in a hundred.
    pub p99: f64,
}

impl Percentiles {
    /// Of values in any order. Not numbers when there are none.
    #[must_use]
    pub fn of(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let [p50, p95, p99] = [50, 95, 99].map(|share| percentile(&values, share));
        Self { p50, p95, p99 }
    }
}

/// The middle one; of an even number the upper of the two in the middle. Not a number when there are none.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The median of a figure over rounds.
pub fn of<T>(rounds: &[T], figure: impl Fn(&T) -> f64) -> f64 {
    median(rounds.iter().map(figure).collect())
}

/// The median of the ratios within each round.
pub fn ratio<T>(rounds: &[T], to: &[T], figure: impl Fn(&T) -> f64) -> f64 {
    median(rounds.iter().zip(to).map(|(one, other)| figure(one) / figure(other)).collect())
}

/// What `share` of 100 of the sorted values do not exceed. Not a number when there are none.
#[must_use]
pub fn percentile(sorted: &[f64], share: usize) -> f64 {
    let at = (sorted.len() * share / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or(f64::NAN)
}
