//! The platform's name, colour and logo, as the merchants' portal shows them.
//!
//! The text on the colour is black or white, whichever has more contrast with it. For any colour that is 4.58:1 or
//! more, so that no choice makes the portal unreadable (WCAG 1.4.3 asks for 4.5:1). The logo is read once, at start; an
//! SVG is shown as an image, which runs no script and loads nothing, and answered with a policy that keeps it so
//! wherever else it is opened.

use std::fs::File;
use std::io::Read as _;

use bytes::Bytes;

use crate::config::{Color, PortalLooks};

/// The largest logo. It goes out with every page, uncached.
const LOGO_MAX: usize = 64 * 1024;

/// What the platform has chosen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Brand {
    /// The name, in place of "Portal".
    pub name: Option<String>,
    /// The rules that the colour makes.
    pub css: Option<String>,
    /// The logo.
    pub logo: Option<Logo>,
}

/// A logo with its media type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logo {
    /// `image/png` or `image/svg+xml`.
    pub media_type: &'static str,
    /// The file.
    pub bytes: Bytes,
}

impl Brand {
    /// Reads the logo and computes the rest.
    ///
    /// # Errors
    /// What is wrong with the logo, in a line that begins with the variable's name.
    pub fn new(looks: &PortalLooks) -> Result<Self, String> {
        let logo = looks.logo.as_deref().map(|path| {
            let mut bytes = Vec::new();
            let read =
                File::open(path).and_then(|file| file.take(LOGO_MAX as u64 + 1).read_to_end(&mut bytes));
            read.map_err(|error| format!("AUTHORITY_PORTAL_LOGO: the file cannot be read: {error}"))?;
            Logo::of(bytes)
        });
        Ok(Self { name: looks.name.clone(), css: looks.color.map(css), logo: logo.transpose()? })
    }
}

impl Logo {
    fn of(bytes: Vec<u8>) -> Result<Self, String> {
        if bytes.len() > LOGO_MAX {
            return Err(format!("AUTHORITY_PORTAL_LOGO: the file is larger than {} KiB", LOGO_MAX / 1024));
        }
        let text =
            std::str::from_utf8(&bytes).ok().map(|text| text.trim_start_matches('\u{feff}').trim_start());
        let is_svg = |text: &str| {
            text.starts_with("<svg")
                || (text.starts_with("<?xml") || text.starts_with("<!--")) && text.contains("<svg")
        };
        let media_type = match text {
            _ if bytes.starts_with(b"\x89PNG\r\n\x1a\n") => "image/png",
            Some(text) if is_svg(text) => "image/svg+xml",
            _ => return Err("AUTHORITY_PORTAL_LOGO: the file is neither a PNG nor an SVG".to_owned()),
        };
        Ok(Self { media_type, bytes: bytes.into() })
    }
}

/// The relative luminance (WCAG 2.2).
fn luminance(Color(color): Color) -> f64 {
    let [red, green, blue] = color.map(|channel| {
        let share = f64::from(channel) / 255.0;
        if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// The contrast with white and with black.
fn contrasts(color: Color) -> (f64, f64) {
    let luminance = luminance(color) + 0.05;
    (1.05 / luminance, luminance / 0.05)
}

fn css(color: Color) -> String {
    let (white, black) = contrasts(color);
    let on = if white >= black { "#fff" } else { "#000" };
    let color = hex::encode(color.0);
    format!(
        "header {{ background: #{color}; color: {on}; }}\n\
         header a, header button.quiet {{ color: {on}; border-color: {on}; }}\n\
         header :focus-visible {{ outline-color: {on}; }}\n\
         main button:not(.quiet) {{ background: #{color}; color: {on}; border-color: var(--soft); }}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_on_any_colour_can_be_read() {
        for red in (0..=255).step_by(15) {
            for green in (0..=255).step_by(15) {
                for blue in (0..=255).step_by(15) {
                    let (white, black) = contrasts(Color([red, green, blue]));
                    assert!(white.max(black) >= 4.5, "{red} {green} {blue}: {white} {black}");
                }
            }
        }
        assert!(css(Color([0, 0, 128])).contains("background: #000080; color: #fff;"));
        assert!(css(Color([255, 220, 0])).contains("background: #ffdc00; color: #000;"));
    }

    #[test]
    fn a_logo_is_a_small_png_or_svg() {
        let png = b"\x89PNG\r\n\x1a\n rest".to_vec();
        let kind = |bytes: &[u8]| Logo::of(bytes.to_vec()).map(|logo| logo.media_type);
        assert_eq!(kind(&png), Ok("image/png"));
        for svg in [
            "<svg/>",
            "\u{feff}<?xml version=\"1.0\"?>\n<svg></svg>",
            " <!-- a --> <svg viewBox=\"0 0 1 1\"/>",
        ] {
            assert_eq!(kind(svg.as_bytes()), Ok("image/svg+xml"), "{svg}");
        }
        for other in
            [&b""[..], b"GIF89a", b"<html><svg/></html>", b"\xff\xd8\xff", b"<?xml version=\"1.0\"?><a/>"]
        {
            assert!(kind(other).unwrap_err().ends_with("neither a PNG nor an SVG"));
        }
        let mut large = png;
        large.resize(LOGO_MAX, 0);
        assert_eq!(kind(&large), Ok("image/png"));
        large.push(0);
        assert_eq!(kind(&large), Err("AUTHORITY_PORTAL_LOGO: the file is larger than 64 KiB".to_owned()));
        let looks = PortalLooks { logo: Some("/nowhere/logo.png".into()), ..PortalLooks::default() };
        let refused = Brand::new(&looks).unwrap_err();
        assert!(refused.starts_with("AUTHORITY_PORTAL_LOGO: the file cannot be read: "), "{refused}");
    }
}
