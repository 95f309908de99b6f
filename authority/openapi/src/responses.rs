//! The answers of an operation: those that grant the request, and per status what it can be refused for.
//!
//! Many operations refuse alike; what they share is written once among the components and referred to.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use authority::http::operation::{Access, Content, Operation, Success};
use authority_domain::ErrorCode;
use serde_json::{Map, Value, json};
use verify_core::catalog::API_VERSION;

use crate::definitions::{Definitions, REFERENCE};
use crate::examples;

/// The refusals that several operations share, by their names.
#[derive(Default)]
pub(crate) struct Refusals {
    named: BTreeMap<String, (Vec<ErrorCode>, Value)>,
}

impl Refusals {
    /// The answers of `operation`, by their statuses.
    pub(crate) fn answers_of(
        &mut self,
        operation: &Operation,
        definitions: &Definitions,
    ) -> Result<Map<String, Value>> {
        let mut answers = BTreeMap::new();
        for success in operation.answers {
            let written = granted(operation, success, definitions)
                .with_context(|| format!("the answer of {}", operation.name))?;
            let same = answers.entry(success.status).or_insert_with(|| written.clone());
            if let (Some(media), Some(more)) =
                (same["content"].as_object_mut(), written["content"].as_object())
            {
                media.extend(more.clone());
            }
            if success.conditional {
                answers.insert(304, not_modified(operation));
            }
        }
        let mut by_status: BTreeMap<u16, Vec<ErrorCode>> = BTreeMap::new();
        for code in operation.codes() {
            by_status.entry(code.status()).or_default().push(code);
        }
        for (status, codes) in by_status {
            answers.insert(status, self.reference(operation, status, codes));
        }
        Ok(answers.into_iter().map(|(status, answer)| (status.to_string(), answer)).collect())
    }

    /// Those that were referred to.
    pub(crate) fn into_components(self) -> Map<String, Value> {
        self.named.into_iter().map(|(name, (_, refusal))| (name, refusal)).collect()
    }

    /// A reference to the refusal with these codes: the first one of a status has its name, the next a number.
    fn reference(&mut self, operation: &Operation, status: u16, codes: Vec<ErrorCode>) -> Value {
        // What every answer has differs between the roots, and every root has a document; without a credential it is
        // less.
        let root = if operation.access == Access::Everybody { "Open" } else { "" };
        let base = format!("{root}{}", phrase(status));
        let name = (1..)
            .map(|n: u32| if n == 1 { base.clone() } else { format!("{base}{n}") })
            .find(|name| self.named.get(name).is_none_or(|(known, _)| *known == codes))
            .unwrap_or(base);
        let refusal = || refused(operation, status, &codes);
        if !self.named.contains_key(&name) {
            let refusal = refusal();
            self.named.insert(name.clone(), (codes, refusal));
        }
        json!({ "$ref": format!("#/components/responses/{name}") })
    }
}

/// The headers that answers refer to.
pub(crate) fn headers() -> Map<String, Value> {
    let text = |description: &str, example: &str| json!({ "description": description, "schema": { "type": "string" }, "example": example });
    let members = [
        (
            "Service-Request-Id",
            json!({ "description": "Identifies the request, for support.", "required": true,
                "schema": { "type": "string", "pattern": "^req_[0-7][0-9a-hjkmnp-tv-z]{25}$" },
                "example": "req_01k3zqa7t0e9h8w8r1v0c2n5xk" }),
        ),
        (
            "Service-Version",
            json!({ "description": "The version of the contract that was used.", "schema": { "type": "string", "const": API_VERSION } }),
        ),
        (
            "RateLimit-Policy",
            text(
                "The bucket that the request drew from: its size and window in seconds.",
                "\"read\";q=100;w=1",
            ),
        ),
        (
            "RateLimit",
            text("What is left in the bucket, and when it is full again, in seconds.", "\"read\";r=87;t=1"),
        ),
        ("ETag", required(text("The version of the record.", "\"7\""))),
        (
            "Location",
            required(text(
                "Where what was made can be read.",
                "/v1/merchant/refunds/rfd_01k3zqa7t0e9h8w8r1v0c2n5xk",
            )),
        ),
        (
            "Idempotent-Replayed",
            json!({ "description": "`true`: the answer to an earlier request with the same `Idempotency-Key`.",
                "schema": { "type": "string", "const": "true" } }),
        ),
        (
            "Retry-After",
            json!({ "description": "When to come back, in seconds.", "schema": { "type": "integer", "minimum": 0 }, "example": 1 }),
        ),
        (
            "WWW-Authenticate",
            required(text(
                "What would do (RFC 6750).",
                "Bearer realm=\"merchant-api\", error=\"invalid_token\"",
            )),
        ),
        (
            "Cache-Control",
            required(
                json!({ "description": "Nothing is to be kept.", "schema": { "type": "string", "const": "no-store" } }),
            ),
        ),
    ];
    members.into_iter().map(|(name, header)| (name.to_owned(), header)).collect()
}

/// A header that is there wherever an answer declares it.
fn required(mut header: Value) -> Value {
    header["required"] = json!(true);
    header
}

fn granted(operation: &Operation, success: &Success, definitions: &Definitions) -> Result<Value> {
    let mut names = always(operation);
    names.extend(success.tagged.then_some("ETag"));
    names.extend(success.located.then_some("Location"));
    names.extend(
        (operation.verb.writes() && operation.access != Access::Everybody).then_some("Idempotent-Replayed"),
    );
    let (media_type, schema, example) = match success.content {
        Content::Record(name) => ("application/json", reference(name, definitions)?, examples::of(name)?),
        Content::Page(name) => ("application/json", page(name, definitions)?, examples::page_of(name)?),
        Content::Feed(name) => ("application/json", feed(name, definitions)?, examples::feed_of(name)?),
        Content::Json => {
            let media = json!({ "application/json": { "schema": { "type": "object" } } });
            return Ok(json!({ "description": success.about, "headers": refer(&names), "content": media }));
        }
        Content::Text(media_type) => {
            let media = json!({ media_type: { "schema": { "type": "string" } } });
            return Ok(json!({ "description": success.about, "headers": refer(&names), "content": media }));
        }
    };
    let media = json!({ media_type: { "schema": schema, "example": example } });
    Ok(json!({ "description": success.about, "headers": refer(&names), "content": media }))
}

fn not_modified(operation: &Operation) -> Value {
    let mut names = always(operation);
    names.push("ETag");
    json!({ "description": "The reader has this version.", "headers": refer(&names) })
}

fn refused(operation: &Operation, status: u16, codes: &[ErrorCode]) -> Value {
    let mut names =
        if status == 401 { vec!["Service-Request-Id", "Cache-Control"] } else { always(operation) };
    names.extend((status == 401).then_some("WWW-Authenticate"));
    names.extend(matches!(status, 429 | 503).then_some("Retry-After"));
    let lines: Vec<String> = codes.iter().map(|code| format!("- `{code}`: {}", code.meaning())).collect();
    let names_of_codes: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    let examples: Map<String, Value> = codes
        .iter()
        .map(|code| {
            (code.as_str().to_owned(), json!({ "summary": code.title(), "value": examples::problem(*code) }))
        })
        .collect();
    json!({
        "description": lines.join("\n"),
        "headers": refer(&names),
        "content": { "application/problem+json": {
            "schema": {
                "allOf": [{ "$ref": format!("{REFERENCE}Problem") }],
                "unevaluatedProperties": true,
                "properties": {
                    "status": { "const": status },
                    "code": { "type": "string", "enum": names_of_codes },
                },
            },
            "examples": examples,
        } },
    })
}

/// What every answer to this operation has.
fn always(operation: &Operation) -> Vec<&'static str> {
    let mut names = vec!["Service-Request-Id", "Cache-Control"];
    match operation.access {
        Access::Everybody => {}
        Access::Operator(_) => names.push("Service-Version"),
        Access::Merchant(_) | Access::TestKey => {
            names.extend(["Service-Version", "RateLimit-Policy", "RateLimit"]);
        }
    }
    names
}

fn refer(names: &[&str]) -> Map<String, Value> {
    let header =
        |name: &&str| ((*name).to_owned(), json!({ "$ref": format!("#/components/headers/{name}") }));
    names.iter().map(header).collect()
}

fn reference(name: &str, definitions: &Definitions) -> Result<Value> {
    definitions.get(name).with_context(|| format!("{name} is not defined"))?;
    Ok(json!({ "$ref": format!("{REFERENCE}{name}") }))
}

fn page(name: &str, definitions: &Definitions) -> Result<Value> {
    let mut schema = rows(name, definitions)?;
    schema["properties"]["next_cursor"] =
        json!({ "type": "string", "description": "Where the next page begins; absent on the last one." });
    Ok(schema)
}

fn feed(name: &str, definitions: &Definitions) -> Result<Value> {
    let mut schema = page(name, definitions)?;
    schema["properties"]["resume_cursor"] = json!({ "type": "string",
        "description": "The position after the last item of this page, on every page." });
    schema["required"] = json!(["data", "resume_cursor"]);
    Ok(schema)
}

fn rows(name: &str, definitions: &Definitions) -> Result<Value> {
    let items = reference(name, definitions)?;
    Ok(json!({ "type": "object", "required": ["data"], "additionalProperties": false, "properties": {
        "data": { "type": "array", "maxItems": 100, "items": items, "description": "The items." },
    } }))
}

/// What RFC 9110 calls a status, in one word.
fn phrase(status: u16) -> &'static str {
    match status {
        400 => "BadRequest",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        408 => "RequestTimeout",
        409 => "Conflict",
        410 => "Gone",
        413 => "ContentTooLarge",
        414 => "UriTooLong",
        415 => "UnsupportedMediaType",
        422 => "UnprocessableContent",
        428 => "PreconditionRequired",
        429 => "TooManyRequests",
        431 => "RequestHeaderFieldsTooLarge",
        500 => "InternalServerError",
        501 => "NotImplemented",
        503 => "ServiceUnavailable",
        _ => "Refused",
    }
}
