//! Other commands of the binary, run on the files of a service.

use std::process::{Output, Stdio};

use serde_json::Value;
use tokio::process::Child;

use super::Authority;
use crate::eventually::within;
use crate::terminal::Terminal;

impl Authority {
    /// Runs another command on the same files to its end.
    pub async fn run(&self, arguments: &[&str]) -> Output {
        self.run_with(&[], arguments).await
    }

    /// The same with some variables set otherwise.
    pub async fn run_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
        let output = self.command(arguments).envs(variables.iter().copied()).output();
        within(format!("authority {arguments:?}"), output).await.unwrap()
    }

    /// Runs a command that must end with this code, after one line on standard error and nothing else; the line.
    pub async fn refuses(&self, variables: &[(&str, &str)], arguments: &[&str], code: i32) -> String {
        let ended = self.run_with(variables, arguments).await;
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!((ended.status.code(), ended.stdout.len()), (Some(code), 0), "{arguments:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{arguments:?}: {said}");
        said
    }

    /// Runs a command that must succeed; what it prints.
    pub async fn prints(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments).await;
        assert!(ended.status.success(), "{arguments:?}: {ended:?}");
        String::from_utf8(ended.stdout).unwrap()
    }

    /// The same with `--json`; what it prints is one record.
    pub async fn tells(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.prints(&[arguments, &["--json"]].concat()).await).unwrap()
    }

    /// Makes another operator key with these scopes, as an operator does; its record, with the key.
    pub async fn new_operator_key(&self, name: &str, scopes: &[&str]) -> Value {
        self.tells(&["operator-key", "create", "--name", name, "--scopes", &scopes.join(",")]).await
    }

    /// Ends an operator key.
    pub async fn revoke_operator_key(&self, id: &str) {
        self.prints(&["operator-key", "revoke", "--id", id, "--reason", "left"]).await;
    }

    /// Runs another command on the same files at a terminal: what a person sees, and the exit code.
    pub async fn at_terminal(&self, variables: &[(&str, &str)], arguments: &[&str]) -> (String, Option<i32>) {
        self.begin_at_terminal(variables, arguments).end().await
    }

    /// Starts another command on the same files at a terminal.
    #[must_use]
    pub fn begin_at_terminal(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Terminal {
        let mut command = self.command(arguments);
        command.envs(variables.iter().copied());
        Terminal::start(command)
    }

    /// Starts another command on the same files; what it prints can be read while it runs.
    #[must_use]
    pub fn begin(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// What `authority doctor` says, with its exit code: 0 when nothing is wrong.
    pub async fn doctor(&self) -> Value {
        self.doctor_of(self.database_url()).await
    }

    /// The same of another database.
    pub async fn doctor_of(&self, url: &str) -> Value {
        let output = self.run_with(&[("AUTHORITY_DATABASE_URL", url)], &["doctor", "--json"]).await;
        let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        assert_eq!(output.status.code(), Some(if said["ok"] == true { 0 } else { 1 }), "{said}");
        said
    }

    /// Sees that the doctor finds nothing wrong.
    pub async fn is_sound(&self) {
        let said = self.doctor().await;
        assert_eq!((&said["ok"], &said["findings"]), (&Value::Bool(true), &serde_json::json!([])), "{said}");
    }
}
