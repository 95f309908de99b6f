//! The index of a listener's documents: `/llms.txt` in the form of llmstxt.org, and the same as `/docs/index.md`.
//!
//! One heading, one quotation that says what this is, what a program needs to know first, and lists of links with a
//! line each. What stands under "Optional" can be left out by a reader with little room.

use std::error::Error;
use std::fmt::Write as _;

use serde_json::Value;

use crate::list::LISTED;

/// What the index is, in one line.
pub(crate) const SUMMARY: &str = "this list";

/// What a program needs to know before anything else, of each listener.
const FIRST: [(&str, &str); 2] = [
    (
        "merchant",
        "Programs call the API with a key: `Authorization: Bearer svc_test_…`. Test and live mode never mix; build with a \
         test key, with which the sandbox (`/v1/sandbox`) plays the platform, the processor and the carrier. Send an \
         `Idempotency-Key` with every write. Events arrive as signed webhook deliveries, at least once and in any order: \
         verify the raw bytes, claim the event's id, answer 2xx, then act. The same events can be read in order from \
         `GET /v1/merchant/events`. `authority mcp` is an MCP server with these documents and the sandbox as tools.",
    ),
    (
        "operator",
        "The platform in which the authority is embedded calls this API with an operator key \
         (`Authorization: Bearer svc_op_…`) and reports what happened. Send an `Idempotency-Key` with every write. This \
         listener must not be reachable from outside the platform.",
    ),
];

/// The index of the listener `name`, whose API `document` describes. `titles` are those of the listed documents.
pub(crate) fn markdown(document: &Value, name: &str, titles: &[String]) -> Result<String, Box<dyn Error>> {
    let text = |pointer| document.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let about = text("/info/description").split("\n\n").next().unwrap_or_default();
    let first = FIRST.iter().find(|(listener, _)| *listener == name).map_or("", |(_, text)| text);
    let mut index = format!("# {}\n\n> {about}\n\n{first}\n", text("/info/title"));
    index.push_str(
        "\n## API\n\n\
         - [API reference](/docs/api.md): every operation, body, record and error code\n\
         - [OpenAPI 3.1](/openapi.json): the same for programs, with examples\n",
    );
    for (heading, optional) in [("Documents", false), ("Optional", true)] {
        write!(index, "\n## {heading}\n\n")?;
        for (listed, title) in LISTED.iter().zip(titles).filter(|(listed, _)| listed.optional == optional) {
            writeln!(index, "- [{title}](/docs/{}.md): {}", listed.name, listed.summary)?;
        }
    }
    Ok(index)
}
