//! `invalid_json`: where a signed text stops being JSON, and why.

use alloc::format;

use verify_core::json::{self, Duplicates, MAX_DEPTH, Malformed};

use crate::BODY_LIMIT;
use crate::cause::Cause;
use crate::report::Finding;
use crate::text::count;
use crate::tree::{self, Fault, Why};

/// The first fault of the text.
pub(crate) fn cause(body: &[u8]) -> Finding {
    if body.starts_with("\u{feff}".as_bytes()) {
        return Finding::new(Cause::JsonBom, "The body begins with a byte order mark (EF BB BF).");
    }
    let fault = if body.len() <= BODY_LIMIT { tree::read(body).err() } else { None };
    match fault {
        Some(Fault { at, why }) => told(why, &format!(" at byte {at} of {}", body.len())),
        // Too large for a tree; the core tells at least the kind.
        None => {
            let why = json::check(body, MAX_DEPTH, Duplicates::Allowed).err().unwrap_or(Malformed::Syntax);
            told(Why::Malformed(why), "")
        }
    }
}

fn told(why: Why, place: &str) -> Finding {
    let (cause, evidence) = match why {
        Why::CutOff => (Cause::JsonCutOff, format!("The text ends too early{place}.")),
        Why::Trailing => (Cause::JsonTrailing, format!("Something follows the JSON value{place}.")),
        Why::Malformed(Malformed::Utf8) => (Cause::JsonUtf8, format!("The text is not UTF-8{place}.")),
        Why::Malformed(Malformed::Depth) => {
            let limit = count(usize::from(MAX_DEPTH), "container");
            (Cause::JsonDepth, format!("More than {limit} are nested{place}."))
        }
        Why::Malformed(Malformed::Surrogate) => {
            (Cause::JsonSurrogate, format!("There is half of a surrogate pair in the string{place}."))
        }
        Why::Malformed(Malformed::Range) => {
            (Cause::JsonNumber, format!("There is a number that is too large{place}."))
        }
        Why::Malformed(Malformed::Syntax | Malformed::Duplicate) => {
            (Cause::JsonSyntax, format!("The text breaks the grammar of JSON{place}."))
        }
    };
    Finding::new(cause, evidence)
}
