//! What people see at a terminal: colours, and times as they would say them.
//!
//! Whether there is colour is decided once, by `main`: never in a pipe or a file, and not with `NO_COLOR`. Every
//! line says the same without it.

use anstyle::{AnsiColor, Style};
use authority_domain::Timestamp;

/// What a colour stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// A heading.
    Heading,
    /// It went well.
    Good,
    /// It is not settled, or somebody ended it.
    Waiting,
    /// It went wrong.
    Bad,
}

impl Tone {
    /// The tone of a status, if it has one.
    pub(super) fn of(status: &str) -> Option<Self> {
        match status {
            "ok" | "success" | "succeeded" | "active" | "enabled" => Some(Self::Good),
            "pending" | "warning" | "skipped" | "cancelled" | "suspended" => Some(Self::Waiting),
            "failed" | "revoked" | "disabled" | "closed" | "expired" => Some(Self::Bad),
            _ => None,
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Heading => Style::new().bold(),
            Self::Good => AnsiColor::Green.on_default(),
            Self::Waiting => AnsiColor::Yellow.on_default(),
            Self::Bad => AnsiColor::Red.on_default(),
        }
    }
}

/// The text in the colour of its tone, if there is colour, padded to this width in characters.
pub(super) fn cell(text: &str, width: usize, tone: Option<Tone>, colour: bool) -> String {
    let padding = " ".repeat(width.saturating_sub(text.chars().count()));
    match tone.filter(|_| colour && !text.is_empty()) {
        Some(tone) => {
            let style = tone.style();
            format!("{style}{text}{style:#}{padding}")
        }
        None => format!("{text}{padding}"),
    }
}

/// How long ago that was, in one unit. A time ahead of this clock is now.
pub(super) fn ago(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_ms().saturating_sub(then.as_ms()) / 1000;
    match seconds {
        ..1 => "now".to_owned(),
        1..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_in_one_unit() {
        let now = Timestamp::from_ms(1_800_000_000_000);
        for (seconds, told) in [
            (-5, "now"),
            (0, "now"),
            (1, "1 s ago"),
            (59, "59 s ago"),
            (60, "1 min ago"),
            (3_599, "59 min ago"),
            (3_600, "1 h ago"),
            (172_799, "47 h ago"),
            (172_800, "2 d ago"),
        ] {
            assert_eq!(ago(Timestamp::from_ms(now.as_ms() - seconds * 1000), now), told);
        }
    }

    #[test]
    fn colour_takes_no_room() {
        assert_eq!(cell("ä", 3, Tone::of("ok"), true), "\u{1b}[32mä\u{1b}[0m  ");
        for (tone, colour) in [(Tone::of("ok"), false), (Tone::of("other"), true)] {
            assert_eq!(cell("ä", 3, tone, colour), "ä  ");
        }
        assert_eq!(cell("", 2, Some(Tone::Bad), true), "  ");
    }
}
