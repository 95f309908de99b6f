//! The overlap of a rotation as a timeline: which secret signs what, and until when.

use authority_domain::{Endpoint, Timestamp};

/// The width of the picture in units.
const WIDTH: i64 = 288;
/// What is shown before the rotation and after the overlap, in units.
const MARGIN: i64 = 36;

/// An overlap that is open.
pub(crate) struct Rotation {
    /// For those who do not see the picture.
    pub(crate) label: String,
    /// When the new secret began to sign.
    pub(crate) began: Timestamp,
    /// When the previous one stops signing.
    pub(crate) ends: Timestamp,
    /// The last characters of the new secret.
    pub(crate) hint: String,
    /// Where the new secret's bar begins, where the previous one's ends, and where the present is.
    pub(crate) from_x: i64,
    pub(crate) to_x: i64,
    pub(crate) now_x: i64,
}

/// The rotation of an endpoint; `None` when one secret alone signs.
pub(crate) fn rotation(endpoint: &Endpoint, now: Timestamp) -> Option<Rotation> {
    let ends = endpoint.previous_secret_expires_at.filter(|ends| *ends > now)?;
    let began = endpoint.secret_rotated_at?;
    let (from_x, to_x) = (MARGIN, WIDTH - MARGIN);
    let (all, gone) = (ends.as_ms() - began.as_ms(), now.as_ms() - began.as_ms());
    let now_x = from_x + gone.clamp(0, all.max(1)) * (to_x - from_x) / all.max(1);
    let label =
        format!("The new secret has signed since {began}; the previous one signs beside it until {ends}.");
    Some(Rotation { label, began, ends, hint: endpoint.secret_hint.clone(), from_x, to_x, now_x })
}
