//! How the merchants' portal looks: the platform's name, colour and logo.
//!
//! The logo is the path of a file, which is read at start ([`crate::http::brand`]).

use std::path::PathBuf;

use super::variables::{ConfigError, Lookup, parsed};

/// The longest name, in characters.
const NAME_MAX: usize = 60;

/// Red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Color(pub [u8; 3]);

impl Color {
    fn parse(text: &str) -> Option<Self> {
        let mut color = [0; 3];
        hex::decode_to_slice(text.strip_prefix('#')?, &mut color).ok()?;
        Some(Self(color))
    }
}

/// The settings of the portal's looks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortalLooks {
    /// The platform's name, in place of "Portal".
    pub name: Option<String>,
    /// The colour behind the head of each page, and of buttons.
    pub color: Option<Color>,
    /// The path of the logo.
    pub logo: Option<PathBuf>,
}

impl PortalLooks {
    pub(super) fn read(lookup: Lookup<'_>) -> Result<Self, ConfigError> {
        let name = |text: &str| {
            let seen = text.trim() == text && !text.is_empty() && text.chars().count() <= NAME_MAX;
            (seen && !text.chars().any(char::is_control)).then(|| text.to_owned())
        };
        let path = |text: &str| (!text.is_empty()).then(|| PathBuf::from(text));
        let named = "1 to 60 characters without control characters, and no blank at either end";
        Ok(Self {
            name: parsed(lookup, "AUTHORITY_PORTAL_NAME", named, name)?,
            color: parsed(lookup, "AUTHORITY_PORTAL_COLOR", "a colour of the form #rrggbb", Color::parse)?,
            logo: parsed(lookup, "AUTHORITY_PORTAL_LOGO", "the path of a PNG or SVG file", path)?,
        })
    }
}
