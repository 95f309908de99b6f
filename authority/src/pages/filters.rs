//! How templates show values. Everything that somebody outside wrote goes through [`bdi`].

use std::fmt::Display;
use std::fmt::Write as _;

use askama::Values;
use askama::filters::Safe;

/// A text of anybody: escaped, isolated from the direction of the text around it, and with characters that would act
/// on the page (controls, overrides of direction, characters without width) shown by their code.
#[askama::filter_fn]
pub(crate) fn bdi(text: impl Display, _: &dyn Values) -> askama::Result<Safe<String>> {
    Ok(Safe(format!("<bdi>{}</bdi>", harmless(&text.to_string()))))
}

/// A time as people read it, in UTC.
#[askama::filter_fn]
pub(crate) fn time(at: impl Display, _: &dyn Values) -> askama::Result<Safe<String>> {
    let exact = harmless(&at.to_string());
    let (day, rest) = exact.split_once('T').unwrap_or((&exact, ""));
    let clock = rest.split_once('.').map_or(rest, |(clock, _)| clock);
    Ok(Safe(format!("<time datetime=\"{exact}\">{day} {clock}</time>")))
}

/// Whether a character acts on the text around it instead of being seen.
fn acts(character: char) -> bool {
    let marks = matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    );
    marks || (character.is_control() && character != '\n' && character != '\t')
}

fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '&' => shown.push_str("&amp;"),
            '"' => shown.push_str("&quot;"),
            '\'' => shown.push_str("&#39;"),
            acting if acts(acting) => {
                // Writing to a string cannot fail.
                let _ = write!(shown, "<span class=\"code\">U+{:04X}</span>", u32::from(acting));
            }
            plain => shown.push(plain),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn what_acts_on_a_page_is_shown_by_its_code() {
        let code = |code: &str| format!("<span class=\"code\">{code}</span>");
        for (text, shown) in [
            ("plain שלום\nline", "plain שלום\nline".to_owned()),
            ("<script>'\"&", "&lt;script&gt;&#39;&quot;&amp;".to_owned()),
            ("a\u{202e}b", format!("a{}b", code("U+202E"))),
            ("\0\u{1b}[2J\r", format!("{}{}[2J{}", code("U+0000"), code("U+001B"), code("U+000D"))),
            ("a\u{200b}\u{2066}", format!("a{}{}", code("U+200B"), code("U+2066"))),
            ("\u{7f}\u{9b}\u{feff}\u{e0041}", ["U+007F", "U+009B", "U+FEFF", "U+E0041"].map(code).concat()),
        ] {
            assert_eq!(harmless(text), shown);
        }
    }
}
