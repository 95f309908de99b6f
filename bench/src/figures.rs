//! From many measurements to one figure.

/// The middle one; of an even number the upper of the two in the middle. Not a number when there are none.
#[must_use]
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// What `share` of 100 of the sorted values do not exceed. Not a number when there are none.
#[must_use]
pub fn percentile(sorted: &[f64], share: usize) -> f64 {
    let at = (sorted.len() * share / 100).min(sorted.len().saturating_sub(1));
    sorted.get(at).copied().unwrap_or(f64::NAN)
}
