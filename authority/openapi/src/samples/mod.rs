//! The samples of an operation (`x-codeSamples`): in each language a whole program that calls the operation, prints the
//! answer, and fails with the answer when it is a refusal.
//!
//! [`of`] reads the operation as the document has it and makes a [`Request`] of it; each language has a file that
//! writes this request with the language's own library, and one for the package's client, which has the merchant's
//! operations alone. The key and the API's address come from the environment. Ids are placeholders, the same ones in
//! every sample; `tests/samples/api` takes the samples from the documents, puts real ids in their place, and runs every
//! one of them against an authority. Deliberately absent: retries, and the further pages of lists.

mod client;
mod curl;
mod go;
mod java;
mod literal;
mod php;
mod python;
mod ruby;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::client::Operation;
use crate::document::Api;

/// The variable with the address of the listener, without a slash at its end.
const URL: &str = "API_URL";

/// Writes the request in one language; `None` where the language does not have the operation.
type Writer = fn(&Request) -> Result<Option<String>>;

/// The languages, in the order in which readers are offered them: what highlighters call them, what people do.
const LANGUAGES: [(&str, &str, Writer); 7] = [
    ("Shell", "curl", |request| curl::written(request).map(Some)),
    ("JavaScript", "verify-wasm/client", client::written),
    ("Python", "Python", |request| python::written(request).map(Some)),
    ("Go", "Go", |request| go::written(request).map(Some)),
    ("PHP", "PHP", |request| php::written(request).map(Some)),
    ("Ruby", "Ruby", |request| ruby::written(request).map(Some)),
    ("Java", "Java", |request| java::written(request).map(Some)),
];

/// What every sample of an operation does.
struct Request {
    /// The operation's id.
    name: String,
    method: String,
    /// With ids in place of its parameters, and the query.
    path: String,
    /// The address that is taken when the environment names none.
    default_url: &'static str,
    /// The variable with the key; `None` for what takes none.
    key: Option<&'static str>,
    /// Besides `Authorization`.
    headers: Vec<(&'static str, String)>,
    body: Option<Value>,
    /// The operation as the client has it.
    call: Option<Operation>,
}

/// The samples of the operation that `document` describes as `written`.
pub(crate) fn of(api: Api, path: &str, method: &str, written: &Value) -> Result<Value> {
    let request = Request::new(api, path, method, written)?;
    let mut samples = Vec::new();
    for (lang, label, writer) in LANGUAGES {
        let source = writer(&request).with_context(|| format!("{} in {label}", request.name))?;
        samples.extend(source.map(|source| json!({ "lang": lang, "label": label, "source": source })));
    }
    Ok(Value::Array(samples))
}

impl Request {
    fn new(api: Api, path: &str, method: &str, written: &Value) -> Result<Self> {
        let name = written["operationId"].as_str().context("an operationId")?.to_owned();
        let (default_url, key) = match api {
            Api::Merchant => ("http://127.0.0.1:8080", "AUTHORITY_API_KEY"),
            Api::Operator => ("http://127.0.0.1:8081", "OPERATOR_KEY"),
        };
        let is_open = written["security"].as_array().is_none_or(Vec::is_empty);
        let example = &written["requestBody"]["content"]["application/json"]["example"];
        let is_left_out = *example == json!({}) && written["requestBody"]["required"] != true;
        let body = Some(example).filter(|example| !example.is_null() && !is_left_out).cloned();
        let mut headers = Vec::new();
        if body.is_some() {
            headers.push(("Content-Type", "application/json".to_owned()));
        }
        if refers_to(written, "Idempotency-Key") {
            headers.push(("Idempotency-Key", format!("{name}-4711")));
        }
        let is_list = refers_to(written, "Limit") || refers_to(written, "FeedLimit");
        let call = (api == Api::Merchant && !is_open).then(|| Operation::new(path, method, written));
        Ok(Self {
            path: path_of(path, written)? + if is_list { "?limit=10" } else { "" },
            name,
            method: method.to_ascii_uppercase(),
            default_url,
            key: (!is_open).then_some(key),
            headers,
            body,
            call: call.transpose()?,
        })
    }

    fn is_read(&self) -> bool {
        self.method == "GET"
    }

    /// The body in a language, below `indent` columns.
    fn body(&self, notation: &literal::Notation, indent: usize) -> Result<Option<String>> {
        self.body.as_ref().map(|body| literal::of(body, notation, indent)).transpose()
    }
}

/// Whether the operation has the shared parameter `name`.
fn refers_to(written: &Value, name: &str) -> bool {
    let reference = json!(format!("#/components/parameters/{name}"));
    let parameters = written["parameters"].as_array().map_or(&[][..], Vec::as_slice);
    parameters.iter().any(|parameter| parameter["$ref"] == reference)
}

/// `path` with a value for each of its parameters.
fn path_of(path: &str, written: &Value) -> Result<String> {
    let parameters = written["parameters"].as_array().map_or(&[][..], Vec::as_slice);
    let mut filled = path.to_owned();
    for parameter in parameters.iter().filter(|parameter| parameter["in"] == "path") {
        let name = parameter["name"].as_str().context("a name")?;
        filled = filled.replace(&format!("{{{name}}}"), &placeholder(parameter));
    }
    if filled.contains('{') {
        bail!("{path} has a parameter that is not described");
    }
    Ok(filled)
}

/// Something that a path parameter may be.
pub(crate) fn placeholder(parameter: &Value) -> String {
    let pattern = parameter["schema"]["pattern"].as_str().unwrap_or_default();
    if let Some((prefix, _)) = pattern.strip_prefix('^').and_then(|rest| rest.split_once("_[0-7]")) {
        return format!("{prefix}_01k3zqa7t0e9h8w8r1v0c2n5xk");
    }
    let known = match parameter["name"].as_str() {
        Some("system") => "erp",
        Some("mode") => "test",
        Some("file") => "contract.md",
        _ => "ORD-100001",
    };
    known.to_owned()
}
