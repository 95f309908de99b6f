//! A real `authority serve` on a database of its own.
//!
//! [`Authority::start`] (on a SQLite file) or [`Authority::on`] (on a database of either kind) builds the binary
//! (once per test program), copies a migrated database with an operator's key, starts `serve` on free ports in a new
//! folder and waits for the ready line. The test may end it in order ([`Authority::terminate`]), by force
//! ([`Authority::kill`]), and start it again on the same files ([`Authority::restart`]); every
//! [`Api`](crate::http::Api) finds it again on its new ports. What it logs goes to a file, which is shown when the test
//! fails.
//!
//! The process ends with the value, and so with the test.

mod addresses;
mod commands;
mod endings;
mod files;
mod stored;

pub use self::endings::terminate;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use postgres_cluster::CitusDatabase;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;

use crate::binary::binary;
use crate::eventually::within;
use crate::prepared::Prepared;

/// A key-encryption key: 32 bytes, base64.
pub const KEK: &str = "dGVzdC1rZXktZW5jcnlwdGlvbi1rZXktMzItYnl0ZXM=";

/// The variable that has failed deliveries tried again after these seconds, separated by commas.
#[must_use]
pub const fn retries(schedule: &str) -> (&'static str, &str) {
    ("AUTHORITY_RETRY_SCHEDULE", schedule)
}

/// How much of the log a failed test shows.
const LOG_LINES_SHOWN: usize = 80;

/// A kind of database. What holds on one has to hold on the other: a test that takes it is made into two by
/// [`on_both_databases!`](crate::on_both_databases).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Database {
    /// A file of the test's own.
    Sqlite,
    /// A database of the test's own on a real server.
    Postgres,
    /// One whose tables are distributed over the servers of a cluster.
    Citus,
}

impl Database {
    /// Whether this machine has one; says so where it has none.
    #[must_use]
    pub fn is_there(self) -> bool {
        let is_there = self != Self::Citus || postgres_cluster::has_citus();
        if !is_there {
            eprintln!("CITUS_URL names no cluster: not run on Citus");
        }
        is_there
    }
}

/// An authority of a test's own.
#[derive(Debug)]
pub struct Authority {
    binary: PathBuf,
    folder: tempfile::TempDir,
    variables: BTreeMap<String, String>,
    operator_key: String,
    merchant_api: watch::Sender<Option<String>>,
    operator_api: watch::Sender<Option<String>>,
    running: Option<Child>,
    /// Another test gets the database when this one has ended.
    _on_cluster: Option<CitusDatabase>,
}

impl Authority {
    /// Starts one on an empty database of this kind. `variables` as for [`Authority::start`].
    pub async fn on(database: Database, variables: &[(&str, &str)]) -> Self {
        let folder = new_folder();
        let Prepared { url, operator_key, on_cluster } = Prepared::new(database, folder.path()).await;
        let mut all = vec![("AUTHORITY_DATABASE_URL", url.as_str())];
        all.extend(variables);
        let mut authority = Self::new(binary(), folder, &all);
        authority.operator_key = operator_key;
        authority._on_cluster = on_cluster;
        authority.restart().await;
        authority
    }

    /// Starts one on new files, or on the database that `variables` name, with a new operator's key. `variables` come
    /// on top of those that tests need: loopback endpoints are allowed, limits are off, a failed delivery is tried
    /// again after one second.
    pub async fn start(variables: &[(&str, &str)]) -> Self {
        if variables.iter().any(|(name, _)| *name == "AUTHORITY_DATABASE_URL") {
            Self::built_as(binary(), variables).await
        } else {
            Self::on(Database::Sqlite, variables).await
        }
    }

    /// The same with a binary that was built elsewhere, which makes its database itself.
    pub async fn built_as(binary: &Path, variables: &[(&str, &str)]) -> Self {
        let mut authority = Self::new(binary, new_folder(), variables);
        // A SQLite file is migrated by whatever opens it.
        let migrated = authority.run(&["migrate"]).await;
        assert!(migrated.status.success(), "{migrated:?}");
        let made = authority.run(&["operator-key", "create", "--name", "tests", "--json"]).await;
        assert!(made.status.success(), "{made:?}");
        let made: Value = serde_json::from_slice(&made.stdout).unwrap();
        authority.operator_key = made["key"].as_str().unwrap().to_owned();
        authority.restart().await;
        authority
    }

    fn new(binary: &Path, folder: tempfile::TempDir, variables: &[(&str, &str)]) -> Self {
        let database = format!("sqlite://{}", folder.path().join("authority.db").display());
        let usual = [
            ("AUTHORITY_DATABASE_URL", database.as_str()),
            ("AUTHORITY_SECRET_KEK", KEK),
            ("AUTHORITY_LISTEN", "127.0.0.1:0"),
            ("AUTHORITY_OPERATOR_LISTEN", "127.0.0.1:0"),
            ("AUTHORITY_ENV", "development"),
            ("AUTHORITY_ALLOW_LOOPBACK_ENDPOINTS", "true"),
            ("AUTHORITY_RATE_LIMITS", "off"),
            ("AUTHORITY_RETRY_SCHEDULE", "0,1,1,1"),
            ("AUTHORITY_RETRY_JITTER", "0"),
            ("AUTHORITY_LOG", "debug"),
        ];
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            binary: binary.to_owned(),
            folder,
            variables: usual.iter().chain(variables).map(owned).collect(),
            operator_key: String::new(),
            merchant_api: watch::Sender::new(None),
            operator_api: watch::Sender::new(None),
            running: None,
            _on_cluster: None,
        }
    }

    /// Is this program from the next start on, and for commands at once.
    pub fn becomes(&mut self, binary: &Path) {
        binary.clone_into(&mut self.binary);
    }

    /// Sets a variable for the next start and for the commands from now on.
    pub fn set(&mut self, variable: &str, value: &str) {
        self.variables.insert(variable.to_owned(), value.to_owned());
    }

    /// Takes a variable away for the next start and for the commands from now on.
    pub fn unset(&mut self, variable: &str) {
        self.variables.remove(variable);
    }

    /// The address of its database.
    #[must_use]
    pub fn database_url(&self) -> &str {
        &self.variables["AUTHORITY_DATABASE_URL"]
    }

    /// Starts `serve` again on the same files, on new ports.
    pub async fn restart(&mut self) {
        let serve = self.command(&["serve"]);
        self.serve(serve).await;
    }

    /// The same, and no file of it can grow beyond so many bytes: a disk without room, without a disk of its own.
    pub async fn restart_with_files_of_at_most(&mut self, bytes: u64) {
        let mut serve = Command::new("sh");
        // A write beyond the limit is an error then, and no signal that ends the process.
        let script = "trap '' XFSZ; exec prlimit --fsize=\"$1:\" \"$2\" serve";
        serve.args(["-c", script, "sh", &bytes.to_string()]).arg(&self.binary);
        self.equip(&mut serve);
        serve.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        self.serve(serve).await;
    }

    /// The same, and it asks this name server and no other: it sees a `/etc/resolv.conf` of its own. Needs root.
    pub async fn restart_asking(&mut self, name_server: Ipv4Addr) {
        let file = self.folder.path().join("resolv.conf");
        fs::write(&file, format!("nameserver {name_server}\n")).unwrap();
        let mut serve = Command::new("unshare");
        let script = "mount --bind \"$1\" /etc/resolv.conf && exec \"$2\" serve";
        serve.args(["--mount", "sh", "-c", script, "sh"]).arg(file).arg(&self.binary);
        self.equip(&mut serve);
        serve.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        self.serve(serve).await;
    }

    /// Starts it with a standard error that takes no line, as a file on a full disk.
    ///
    /// # Panics
    /// When it runs already, or ends before it is ready.
    pub async fn restart_without_log(&mut self) {
        let full = File::options().write(true).open("/dev/full").unwrap();
        self.serve_logging(self.command(&["serve"]), full).await;
    }

    async fn serve(&mut self, serve: Command) {
        let log = File::options().create(true).append(true).open(self.log_path()).unwrap();
        self.serve_logging(serve, log).await;
    }

    async fn serve_logging(&mut self, mut serve: Command, log: File) {
        assert!(self.running.is_none(), "it is running");
        let mut child = serve.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        self.running = Some(child);
        let line = within("the ready line", lines.next_line()).await.unwrap();
        let ready: Value = serde_json::from_str(&line.expect("serve ended before it was ready")).unwrap();
        assert_eq!(ready["ready"], true, "{ready}");
        let address = |name: &str| Some(ready[name].as_str().unwrap().to_owned());
        self.merchant_api.send_replace(address("merchant_api"));
        self.operator_api.send_replace(address("operator_api"));
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("authority.log")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        self.equip(command.args(arguments));
        command
    }

    /// Nothing of the developer's own environment, and a home of its own.
    fn equip(&self, command: &mut Command) {
        command
            .env_clear()
            .env("HOME", self.home())
            .envs(&self.variables)
            .stdin(Stdio::null())
            .kill_on_drop(true);
    }
}

fn new_folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("authority-").tempdir().unwrap()
}

impl Drop for Authority {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.log();
            let lines: Vec<_> = log.lines().collect();
            let shown = lines.len().saturating_sub(LOG_LINES_SHOWN);
            eprintln!("--- the end of the authority's log ---\n{}", lines[shown..].join("\n"));
        }
    }
}
