//! What every receiver decides, keeps and answers, whatever it is built on (contract 11).
//!
//! A request's head is judged by [`admit`]; what is let in is read and verified; a verified event is claimed under its
//! id and kept as a [`Record`] that moves through the states of [`Status`]. Whatever came of it is a [`Verdict`]: this
//! status, this body. The sender reads only the status.
//!
//! The edge receiver and the authority's built-in one share all of this, the npm package's receivers the answers.
//! Deliberately absent: reading, storing and the clock, which are those of each receiver's runtime.

mod admission;
mod record;

pub use admission::{Head, admit, declared_length};
pub use record::{Claimed, Record, Status};

use alloc::format;
use alloc::string::String;

use crate::code::VerificationCode;

/// The largest body a receiver reads, in bytes; one more is answered with [`Verdict::TooLarge`] before any
/// verification. Events are at most 256 KiB (contract 5.6).
pub const BODY_LIMIT: usize = 1 << 20;

/// What a receiver decided about one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Verified, and its id durably claimed by this very request.
    First,
    /// Verified, and its id was claimed before: no second effect.
    Duplicate,
    /// Not accepted, with the code of the verification.
    Rejected(VerificationCode),
    /// The body is longer than the receiver reads.
    TooLarge,
    /// Not a `POST`.
    MethodNotAllowed,
    /// Not `application/json`, or in a content coding.
    UnsupportedMediaType,
    /// Verified, but the claim could not be stored: the sender must come again.
    StorageUnavailable,
}

impl Verdict {
    /// The HTTP status.
    #[must_use]
    pub const fn status(self) -> u16 {
        match self {
            Self::First | Self::Duplicate => 200,
            Self::Rejected(code) => code.http_status(),
            Self::TooLarge => 413,
            Self::MethodNotAllowed => 405,
            Self::UnsupportedMediaType => 415,
            Self::StorageUnavailable => 503,
        }
    }

    /// The word that stands for the verdict in the answer and in logs.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::First => "ok",
            Self::Duplicate => "duplicate",
            Self::Rejected(code) => code.as_str(),
            Self::TooLarge => "payload_too_large",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::StorageUnavailable => "storage_unavailable",
        }
    }

    /// The body of the answer, `{"code":"…"}`, media type `application/json`.
    #[must_use]
    pub fn body(self) -> String {
        format!(r#"{{"code":"{}"}}"#, self.code())
    }
}
