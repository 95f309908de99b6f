//! The reference of an API as Markdown, from its OpenAPI document: the operations of each group, then the events, the
//! bodies and records, the error codes.
//!
//! Compact, for programs and people who read it as a whole: what is the same for every operation is said once, and
//! examples of answers are left to the OpenAPI document.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::{self, Write as _};

use serde_json::{Map, Value};

use crate::schema::{describe, last_part, members, one_line, texts, type_of};

/// What the reference is, in one line.
pub(crate) const SUMMARY: &str = "every operation, body, record and error code of the API";

/// The form of the descriptions of refusals: "- `code`: meaning".
const CODE: &str = "- `";

/// The codes of a status, with their meanings.
type Codes = BTreeMap<String, String>;

/// Codes, each behind its status.
type StatusCodes = BTreeSet<(String, String)>;

/// The reference of the API that `document` describes.
pub(crate) fn markdown(document: &Value) -> Result<String, Box<dyn Error>> {
    let text = |pointer| document.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let operations = operations(document);
    let common = Common::of(document, &operations);
    let mut out = format!(
        "# {}: reference\n\nVersion {}. {}\n\n\
         Made from `/openapi.json`, which has examples of every answer as well. `name?` is optional; numbers in brackets \
         are the bounds of a value, a length or a number of items. A time is RFC 3339 in UTC with milliseconds. Texts \
         hold no control characters. Lists take `limit` and `cursor`, and answer `{{\"data\": […], \"next_cursor\"?: …}}`.\n",
        text("/info/title"),
        text("/info/version"),
        text("/info/description"),
    );
    writeln!(out, "\nEvery operation can also answer: {}.", code_list(&common.all))?;
    writeln!(out, "\nEvery write can also answer: {}.", code_list(&common.writes))?;
    let none = Vec::new();
    for tag in document.get("tags").and_then(Value::as_array).unwrap_or(&none) {
        let name = tag.get("name").and_then(Value::as_str).unwrap_or_default();
        let own = operations.iter().filter(|operation| texts(operation.about.get("tags")).contains(&name));
        let own: Vec<_> = own.collect();
        if !own.is_empty() {
            write!(out, "\n## {name}\n\n{}\n", describe(tag))?;
        }
        for operation in own {
            add_operation(document, operation, &common, &mut out)?;
        }
    }
    add_events(document, &mut out)?;
    add_schemas(document, &mut out)?;
    add_codes(document, &mut out)?;
    Ok(out)
}

struct Operation<'d> {
    method: String,
    path: &'d str,
    about: &'d Value,
}

impl Operation<'_> {
    fn writes(&self) -> bool {
        self.method != "GET"
    }
}

fn object<'d>(document: &'d Value, pointer: &str) -> impl Iterator<Item = (&'d String, &'d Value)> {
    document.pointer(pointer).and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

fn operations(document: &Value) -> Vec<Operation<'_>> {
    let mut found = Vec::new();
    for (path, methods) in object(document, "/paths") {
        for (method, about) in methods.as_object().into_iter().flatten() {
            found.push(Operation { method: method.to_uppercase(), path, about });
        }
    }
    found
}

fn add_operation(
    document: &Value,
    operation: &Operation<'_>,
    common: &Common,
    out: &mut String,
) -> fmt::Result {
    let Operation { method, path, about } = operation;
    let text = |key| about.get(key).and_then(Value::as_str).map(one_line).unwrap_or_default();
    write!(out, "\n### {method} {path}\n\n`{}`: {}", text("operationId"), text("summary"))?;
    writeln!(out, "{}{}", if text("description").is_empty() { "" } else { " " }, text("description"))?;
    write!(out, "\n- Key: {}\n", key(about))?;
    let mut headers = Vec::new();
    for parameter in about.get("parameters").and_then(Value::as_array).into_iter().flatten() {
        let parameter = resolve(document, parameter);
        let member = |key| parameter.get(key).and_then(Value::as_str).unwrap_or_default();
        match (member("in"), member("name")) {
            ("header", "Service-Version") | ("query", "limit" | "cursor") => {}
            ("header", name) => headers.push(format!("`{name}`")),
            (place, name) => {
                let kind = parameter.get("schema").map(type_of).unwrap_or_default();
                writeln!(out, "- {} `{name}` {kind}: {}", capitalised(place), describe(parameter))?;
            }
        }
    }
    if !headers.is_empty() {
        writeln!(out, "- Headers: {}", headers.join(", "))?;
    }
    if let Some(body) = about.get("requestBody") {
        let content = content(body);
        let kind = content.and_then(|content| content.get("schema")).map(type_of).unwrap_or_default();
        let optional = if body.get("required") == Some(&Value::Bool(true)) { "" } else { " (optional)" };
        let example = content.and_then(|content| content.get("example")).map(Value::to_string);
        let example = example.map(|example| format!(", such as `{example}`")).unwrap_or_default();
        writeln!(out, "- Body: {kind}{optional}{example}")?;
    }
    add_answers(document, operation, common, out)
}

fn add_answers(
    document: &Value,
    operation: &Operation<'_>,
    common: &Common,
    out: &mut String,
) -> fmt::Result {
    for (status, answer) in
        object(operation.about, "/responses").filter(|(status, _)| status.starts_with('2'))
    {
        let answer = resolve(document, answer);
        let kind = content(answer).and_then(|content| content.get("schema")).map(answer_type);
        let kind = kind.filter(|kind| kind != "string").map(|kind| format!(" {kind}:")).unwrap_or_default();
        writeln!(out, "- {status}{kind} {}", describe(answer))?;
    }
    let mut own = refusals(document, operation);
    own.retain(|code| !(common.all.contains(code) || operation.writes() && common.writes.contains(code)));
    if !own.is_empty() {
        writeln!(out, "- Refusals: {}", code_list(&own))?;
    }
    Ok(())
}

/// A page is called by what it lists.
fn answer_type(schema: &Value) -> String {
    let item = schema.pointer("/properties/data/items");
    item.map_or_else(|| type_of(schema), |item| format!("page of {}", type_of(item)))
}

fn key(about: &Value) -> String {
    let ways = about.get("security").and_then(Value::as_array).into_iter().flatten();
    let ways = ways.filter_map(Value::as_object).flat_map(Map::iter);
    let ways = ways.map(|(kind, scopes)| {
        let scopes =
            texts(Some(scopes)).iter().map(|scope| format!("`{scope}`")).collect::<Vec<_>>().join(", ");
        if scopes.is_empty() && kind == "testKey" { "a test key".to_owned() } else { scopes }
    });
    let ways: Vec<String> = ways.collect();
    if ways.is_empty() { "none".to_owned() } else { ways.join(" or ") }
}

fn add_events(document: &Value, out: &mut String) -> fmt::Result {
    let mut webhooks = object(document, "/webhooks").peekable();
    if webhooks.peek().is_none() {
        return Ok(());
    }
    out.push_str("\n## Event types\n\nEach is an Event, delivered by a signed POST.\n\n");
    for (kind, methods) in webhooks {
        let about = methods.get("post").unwrap_or(&Value::Null);
        let summary = about.get("summary").and_then(Value::as_str).unwrap_or_default();
        writeln!(out, "- `{kind}`: {summary} {}", describe(about))?;
    }
    Ok(())
}

fn add_schemas(document: &Value, out: &mut String) -> fmt::Result {
    out.push_str("\n## Bodies and records\n");
    for (name, schema) in object(document, "/components/schemas") {
        // Events of one type are those of the list above.
        if name != "Event" && name.ends_with("Event") && schema.get("type").is_none() || name == "Problem" {
            continue;
        }
        let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        write!(out, "\n### {name}\n\n{about}\n\n")?;
        let members = members(schema);
        match (members.is_empty(), schema.get("enum")) {
            (false, _) => out.push_str(&members),
            (true, Some(_)) if about.contains(CODE) => {}
            (true, _) => writeln!(out, "{}", type_of(schema))?,
        }
    }
    Ok(())
}

fn add_codes(document: &Value, out: &mut String) -> fmt::Result {
    out.push_str(
        "\n## Error codes\n\nA refusal is `application/problem+json`: `type`, `title`, `status`, `code`, `detail`, \
         `request_id`, sometimes `param` or `errors` (each with `pointer`, `code`, `detail`). Branch on `code`.\n\n",
    );
    let mut all = Codes::new();
    for (_, answer) in object(document, "/components/responses") {
        all.extend(codes(answer));
    }
    for (code, meaning) in &all {
        writeln!(out, "- `{code}`: {meaning}")?;
    }
    let known = texts(document.pointer("/components/schemas/Problem/properties/code/enum"));
    let others: Vec<_> = known.into_iter().filter(|code| !all.contains_key(*code)).collect();
    if !others.is_empty() {
        writeln!(out, "\nAnswered where there is no operation: `{}`.", others.join("`, `"))?;
    }
    Ok(())
}

/// The codes that need not be repeated at each operation: of those that take a key, what all can answer with, and what
/// all that write can answer with besides.
struct Common {
    all: StatusCodes,
    writes: StatusCodes,
}

impl Common {
    fn of(document: &Value, operations: &[Operation<'_>]) -> Self {
        let guarded = || operations.iter().filter(|operation| key(operation.about) != "none");
        let shared = |some: &mut dyn Iterator<Item = &Operation<'_>>| {
            let codes = some.map(|operation| refusals(document, operation));
            codes.reduce(|common, own| &common & &own).unwrap_or_default()
        };
        let all = shared(&mut guarded());
        let writes = &shared(&mut guarded().filter(|operation| operation.writes())) - &all;
        Self { all, writes }
    }
}

/// What an operation can answer with besides success.
fn refusals(document: &Value, operation: &Operation<'_>) -> StatusCodes {
    let answers = object(operation.about, "/responses");
    let codes = answers.flat_map(|(status, answer)| {
        codes(resolve(document, answer)).into_keys().map(|code| (status.clone(), code))
    });
    codes.collect()
}

fn codes(answer: &Value) -> Codes {
    let about = answer.get("description").and_then(Value::as_str).unwrap_or_default();
    let codes = about.lines().filter_map(|line| line.strip_prefix(CODE)?.split_once("`: "));
    codes.map(|(code, meaning)| (code.to_owned(), meaning.to_owned())).collect()
}

/// Codes behind their statuses.
fn code_list(codes: &StatusCodes) -> String {
    let mut by_status: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (status, code) in codes {
        by_status.entry(status).or_default().push(format!("`{code}`"));
    }
    let list: Vec<_> =
        by_status.iter().map(|(status, codes)| format!("{status} {}", codes.join(", "))).collect();
    list.join("; ")
}

fn content(answer: &Value) -> Option<&Value> {
    answer.get("content")?.as_object()?.values().next()
}

/// What a reference leads to, or `value` itself.
fn resolve<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    let Some(pointer) = value.get("$ref").and_then(Value::as_str) else { return value };
    let kind = if pointer.contains("/parameters/") { "parameters" } else { "responses" };
    document.pointer(&format!("/components/{kind}/{}", last_part(pointer))).unwrap_or(value)
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
