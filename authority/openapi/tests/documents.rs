//! The documents are those of the service as it is, name every route, and their examples are what they say.

#![expect(clippy::indexing_slicing, clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use authority::http::operation::{Access, Content};
use authority_domain::ErrorCode;
use authority_openapi::{Api, documents};
use serde_json::{Value, json};

fn operations(document: &Value) -> Vec<(String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    let named = paths.iter().flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap();
        methods
            .iter()
            .map(move |(method, operation)| (format!("{} {path}", method.to_uppercase()), operation))
    });
    named.collect()
}

#[test]
fn the_committed_documents_are_those_of_the_operations() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi");
    for document in documents().unwrap() {
        let committed = fs::read_to_string(folder.join(document.file)).unwrap();
        assert!(
            committed == document.text().unwrap(),
            "{}: run `cargo xtask codegen` and commit",
            document.file
        );
    }
}

#[test]
fn every_route_is_described_and_nothing_else() {
    for (api, document) in [Api::Merchant, Api::Operator].into_iter().zip(documents().unwrap()) {
        let routes: BTreeSet<String> = api
            .described()
            .iter()
            .map(|route| format!("{} {}", route.operation.verb.as_str(), route.path))
            .collect();
        let described: BTreeSet<String> =
            operations(&document.content).into_iter().map(|(name, _)| name).collect();
        assert_eq!(described, routes);
        assert!(routes.len() > 40, "{routes:?}");
        let ids: Vec<&Value> = operations(&document.content)
            .into_iter()
            .map(|(_, operation)| &operation["operationId"])
            .collect();
        assert_eq!(ids.iter().map(|id| id.as_str()).collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    }
}

#[test]
fn every_code_of_an_operation_stands_under_its_status() {
    for (api, document) in [Api::Merchant, Api::Operator].into_iter().zip(documents().unwrap()) {
        for route in api.described() {
            let method = route.operation.verb.as_str().to_lowercase();
            let answers = &document.content["paths"][&route.path][method]["responses"];
            let mut told = Vec::new();
            for (status, answer) in answers.as_object().unwrap() {
                let Some(reference) = answer["$ref"].as_str() else { continue };
                let refusal = document.content.pointer(reference.strip_prefix('#').unwrap()).unwrap();
                let codes =
                    &refusal["content"]["application/problem+json"]["schema"]["properties"]["code"]["enum"];
                told.extend(codes.as_array().unwrap().iter().map(|code| (status.clone(), code.clone())));
            }
            let mut expected: Vec<(String, Value)> = route
                .operation
                .codes()
                .iter()
                .map(|code: &ErrorCode| (code.status().to_string(), json!(code.as_str())))
                .collect();
            expected.sort_by_key(|(status, _)| status.clone());
            assert_eq!(told, expected, "{}", route.path);
            let statuses: BTreeSet<u16> =
                route.operation.answers.iter().map(|answer| answer.status).collect();
            assert!(!statuses.is_empty(), "{} answers nothing", route.path);
        }
    }
}

/// No record has a member that its schema does not know. An event may: each type says more of it than the envelope.
fn nothing_further(components: &Value) -> Value {
    let mut components = components.clone();
    for (name, schema) in components["schemas"].as_object_mut().unwrap() {
        let is_open =
            schema.get("allOf").is_some() || ["Event", "EventData", "Problem"].contains(&name.as_str());
        if schema.get("properties").is_some() && !is_open {
            schema["additionalProperties"] = json!(false);
        }
    }
    components
}

/// The example of every body is one, and so is that of every answer and of every delivery; checked against the
/// documents themselves, and stricter: what an example shows is described.
#[test]
fn the_examples_are_what_their_schemas_say() {
    for document in documents().unwrap() {
        let components = &nothing_further(&document.content["components"]);
        let check = |what: &str, media: &Value| {
            let mut schema = media["schema"].clone();
            schema["components"] = components.clone();
            let validator = jsonschema::validator_for(&schema).unwrap();
            let mut examples: Vec<&Value> = media.get("example").into_iter().collect();
            examples.extend(
                media["examples"].as_object().into_iter().flatten().map(|(_, example)| &example["value"]),
            );
            for example in examples {
                let wrong: Vec<String> =
                    validator.iter_errors(example).map(|error| error.to_string()).collect();
                assert_eq!(wrong, [""; 0], "{what}: {example}");
            }
        };
        for (name, operation) in operations(&document.content) {
            for (_, media) in operation["requestBody"]["content"].as_object().into_iter().flatten() {
                check(&name, media);
            }
            for (status, answer) in operation["responses"].as_object().unwrap() {
                for (_, media) in answer["content"].as_object().into_iter().flatten() {
                    check(&format!("{name} {status}"), media);
                }
            }
        }
        for (name, webhook) in document.content["webhooks"].as_object().into_iter().flatten() {
            check(name, &webhook["post"]["requestBody"]["content"]["application/json"]);
        }
        for (name, refusal) in components["responses"].as_object().unwrap() {
            check(name, &refusal["content"]["application/problem+json"]);
        }
    }
}

#[test]
fn everything_is_described() {
    for document in documents().unwrap() {
        for (name, operation) in operations(&document.content) {
            assert!(operation["summary"].as_str().unwrap().ends_with('.'), "{name}");
            for parameter in operation["parameters"].as_array().unwrap() {
                assert!(
                    parameter["$ref"].is_string() || parameter["description"].is_string(),
                    "{name}: {parameter}"
                );
            }
        }
        for (name, schema) in document.content["components"]["schemas"].as_object().unwrap() {
            assert!(schema["description"].as_str().is_some_and(|text| !text.is_empty()), "{name}");
            for (member, schema) in schema["properties"].as_object().into_iter().flatten() {
                let told = schema["description"].is_string() || schema["$ref"].is_string();
                assert!(told || *schema == json!(false), "{name}.{member}");
            }
        }
    }
}

#[test]
fn what_takes_a_key_says_so_and_what_is_open_holds_no_record() {
    for api in [Api::Merchant, Api::Operator] {
        for route in api.described() {
            let open = route.operation.access == Access::Everybody;
            assert_eq!(open, !route.path.starts_with("/v1/"), "{}", route.path);
            let records =
                |content| matches!(content, Content::Record(_) | Content::Page(_) | Content::Feed(_));
            assert!(
                !open || !route.operation.answers.iter().any(|answer| records(answer.content)),
                "{}",
                route.path
            );
        }
    }
}

#[test]
fn every_operation_has_a_sample_in_every_language() {
    for (api, document) in [Api::Merchant, Api::Operator].into_iter().zip(documents().unwrap()) {
        for (name, operation) in operations(&document.content) {
            let samples = operation["x-codeSamples"].as_array().unwrap();
            let mut languages = vec!["curl", "verify-wasm/client", "Python", "Go", "PHP", "Ruby", "Java"];
            if api == Api::Operator || !name.contains(" /v1/") {
                // The client has what merchants do with their key.
                languages.retain(|language| *language != "verify-wasm/client");
            }
            let labels: Vec<&str> = samples.iter().map(|sample| sample["label"].as_str().unwrap()).collect();
            assert_eq!(labels, languages, "{name}");
        }
    }
}
