//! A Worker to run, and its variables, in the terms of Miniflare's options.

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::{RECORDS, setup};
use crate::delivery::{NOW, SECRET};

/// A Worker to run, in the terms of Miniflare's options.
#[derive(Clone, Debug)]
pub struct Worker {
    pub(super) options: Map<String, Value>,
}

impl Worker {
    /// The built edge receiver with its own inbox and its own KV namespace, and no variables.
    #[must_use]
    pub fn edge_receiver(name: &str) -> Self {
        Self::of_modules(name, &setup::edge_receiver_modules())
            .with("kvNamespaces", json!({ RECORDS: format!("{name}-records") }))
            .with(
                "durableObjects",
                json!({
                    "INBOX": { "className": "EventInbox", "useSQLite": true },
                    "RECONCILIATION": { "className": "Reconciliation", "useSQLite": true },
                }),
            )
    }

    /// The same, which trusts the first secret of the golden vectors and whose clock stands at their moment.
    #[must_use]
    pub fn at_the_vectors(name: &str) -> Self {
        let now = NOW.to_string();
        let variables = [("SIGNING_SECRET", SECRET), ("ENVIRONMENT", "test"), ("TEST_NOW", &now)];
        Self::edge_receiver(name).with_variables(variables)
    }

    /// A Worker written in JavaScript for a test, from `tests/node/`.
    #[must_use]
    pub fn of_test_module(name: &str, file: &str) -> Self {
        Self::of_modules(name, &[setup::node_folder().join(file)])
    }

    fn of_modules(name: &str, modules: &[PathBuf]) -> Self {
        Self { options: Map::new() }
            .with("name", json!(name))
            .with("compatibilityDate", json!(setup::compatibility_date()))
            .with("modulesRoot", json!(setup::root()))
            .with("modules", json!(modules))
    }

    /// The same with `file` from `tests/node/` in front of the modules, as the entry.
    #[must_use]
    pub fn entered_by(mut self, file: &str) -> Self {
        let entry = json!(setup::node_folder().join(file));
        if let Some(Value::Array(modules)) = self.options.get_mut("modules") {
            modules.insert(0, entry);
        }
        self
    }

    /// The same with an origin as its sink, at this URL and trusting `secret`.
    #[must_use]
    pub fn with_origin(self, url: &str, secret: &str) -> Self {
        self.with_variable("SINK_URL", url).with_variable("FORWARDING_SECRET", secret)
    }

    /// The same with one more variable.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        let variables = self.options.entry("bindings").or_insert_with(|| json!({}));
        variables[name] = json!(value);
        self
    }

    /// The same at a port that stays, from one start of the runtime to the next.
    #[must_use]
    pub fn at_port(self, port: u16) -> Self {
        self.with("unsafeDirectSockets", json!([{ "host": "127.0.0.1", "port": port }]))
    }

    /// The same with one of Miniflare's options set.
    #[must_use]
    pub fn with(mut self, option: &str, value: Value) -> Self {
        self.options.insert(option.to_owned(), value);
        self
    }

    /// The same with these variables and secrets.
    #[must_use]
    pub fn with_variables<'v>(self, variables: impl IntoIterator<Item = (&'v str, &'v str)>) -> Self {
        let variables: HashMap<_, _> = variables.into_iter().collect();
        self.with("bindings", json!(variables))
    }

    /// The same with more variables and secrets.
    #[must_use]
    pub fn and_variables<'v>(self, variables: impl IntoIterator<Item = (&'v str, &'v str)>) -> Self {
        variables.into_iter().fold(self, |worker, (name, value)| worker.with_variable(name, value))
    }

    pub(super) fn name(&self) -> &str {
        self.options["name"].as_str().unwrap_or_default()
    }
}
