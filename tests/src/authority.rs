//! A real `authority serve` on a database of its own.
//!
//! [`Authority::start`] (on a SQLite file) or [`Authority::on`] (on a database of either kind) builds the binary
//! (once per test program), copies a migrated database with an operator's key, starts `serve` on free ports in a new
//! folder and waits for the ready line. The test may end it in order ([`Authority::terminate`]), by force
//! ([`Authority::kill`]), and start it again on the same files ([`Authority::restart`]); every [`Api`] finds it again
//! on its new ports. What it logs goes to a file, which is shown when the test fails.
//!
//! The process ends with the value, and so with the test.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Output, Stdio};
use std::time::Duration;

use authority_domain::Timestamp;
use authority_store::tx::Tx;
use authority_store::{Access, Store, StoreError, StoreUrl};
use postgres_cluster::CitusDatabase;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::sync::watch;

use crate::binary::binary;
use crate::eventually::{eventually, within};
use crate::http::{Api, Reply};
use crate::merchant::{ConsoleUrls, ServiceUrls};
use crate::prepared::Prepared;
use crate::terminal::Terminal;

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

    /// Ends it by force, in the middle of whatever it does; returns when it is gone.
    pub async fn kill(&mut self) {
        self.away();
        let mut child = self.running.take().expect("it is running");
        child.kill().await.unwrap();
    }

    /// Asks it to stop, as an operator's supervisor does.
    pub fn ask_to_stop(&self) {
        terminate(self.running.as_ref().expect("it is running"));
    }

    /// Asks it to read its configuration again.
    pub fn ask_to_reload(&self) {
        send(self.running.as_ref().expect("it is running"), Signal::HUP);
    }

    /// Writes a file beside its database; returns the path. The name must not be one of its own files.
    ///
    /// The file changes in one step, as an operator should change it: a reload never reads half of it.
    #[must_use]
    pub fn put(&self, name: &str, content: &str) -> String {
        let (path, new) = (self.folder.path().join(name), self.folder.path().join(format!("{name}.new")));
        fs::write(&new, content).unwrap();
        fs::rename(new, &path).unwrap();
        path.into_os_string().into_string().unwrap()
    }

    /// Sees that it does not end by itself. That nothing happens can only be seen over a time; a second is a hundred
    /// times what an idle authority takes to end.
    pub async fn goes_on(&mut self) {
        let child = self.running.as_mut().expect("it is running");
        let ended = tokio::time::timeout(Duration::from_secs(1), child.wait()).await;
        assert!(ended.is_err(), "it has ended: {ended:?}");
    }

    /// Waits until it has ended by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        let mut child = self.running.take().expect("it is running");
        let status = within("the end of the authority", child.wait()).await.unwrap();
        self.away();
        status
    }

    /// Ends it in order, which must succeed: nothing is in flight then, and every outcome is written.
    pub async fn terminate(&mut self) {
        self.ask_to_stop();
        let status = self.ended().await;
        assert_eq!(status.code(), Some(0), "{status}");
    }

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

    /// Waits until the merchant listener takes no more connections: the stop has begun.
    pub async fn stopping(&self) {
        let base = self.merchant_api.borrow().clone().expect("it is running");
        let address = base.strip_prefix("http://").unwrap();
        eventually("a closed listener", async || TcpStream::connect(address).await.is_err().then_some(()))
            .await;
    }

    /// Where the merchant listener is, e.g. `127.0.0.1:40123`.
    #[must_use]
    pub fn merchant_address(&self) -> String {
        let base = self.merchant_api.borrow().clone().expect("it is running");
        base.strip_prefix("http://").expect("plain HTTP").to_owned()
    }

    /// The operator root.
    #[must_use]
    pub fn operator(&self) -> Api {
        Api::new(self.operator_api.subscribe(), "/v1/operator", &self.operator_key)
    }

    /// The merchant root, asked with `key`.
    #[must_use]
    pub fn merchant(&self, key: &str) -> Api {
        Api::new(self.merchant_api.subscribe(), "/v1/merchant", key)
    }

    /// The sandbox, asked with `key`.
    #[must_use]
    pub fn sandbox(&self, key: &str) -> Api {
        Api::new(self.merchant_api.subscribe(), "/v1/sandbox", key)
    }

    /// A path of the operator's listener outside the operator root.
    pub async fn probe(&self, path: &str) -> Reply {
        Api::new(self.operator_api.subscribe(), "", &self.operator_key).with_key(None).get(path).await
    }

    /// The key that [`Authority::operator`] uses.
    #[must_use]
    pub fn operator_key(&self) -> &str {
        &self.operator_key
    }

    /// Its process.
    ///
    /// # Panics
    /// When it is not running.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.running.as_ref().and_then(Child::id).expect("it is running")
    }

    /// Where its operator listener is: host and port.
    ///
    /// # Panics
    /// When it is not running.
    #[must_use]
    pub fn operator_address(&self) -> String {
        let base = self.operator_api.borrow().clone().expect("it is running");
        base.strip_prefix("http://").unwrap().to_owned()
    }

    /// The home of the commands, which exists once one of them has kept something there.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// What it has logged in all its lives.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    /// Every file it has left: name and bytes.
    #[must_use]
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let entries = fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap());
        entries
            .filter(|entry| entry.file_type().unwrap().is_file())
            .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
            .collect()
    }

    /// What it holds: the files it has left, and its database where that is not one of them.
    #[must_use]
    pub fn left_behind(&self) -> Vec<(String, Vec<u8>)> {
        let mut left = self.files();
        let url = &self.variables["AUTHORITY_DATABASE_URL"];
        if url.starts_with("postgres") {
            left.push(("the dump of the database".to_owned(), postgres_cluster::dump(url)));
        }
        left
    }

    /// Removes a merchant's test events up to a sequence, beside the service, as a retention does.
    pub async fn forget_events(&self, merchant: &str, up_to: i64) {
        let url = &self.variables["AUTHORITY_DATABASE_URL"];
        crate::database::forget_events(url, merchant, up_to).await;
    }

    /// Copies a merchant's newest test event so many times, each newer than the one before. The copies go nowhere.
    pub async fn copy_event(&self, merchant: &str, copies: u32) {
        crate::database::copy_event(self.database_url(), merchant, copies).await;
    }

    /// Copies a merchant's test order so many times, beside the service, each newer than the one before.
    pub async fn copy_order(&self, merchant: &str, number: &str, copies: u32, status: &str) {
        crate::database::copy_order(self.database_url(), merchant, number, copies, status).await;
    }

    /// Advances the clock of a merchant's sandbox in the database, as an authority does that is killed right after.
    pub async fn advance_clock(&self, merchant: &str, seconds: i64) {
        crate::database::advance_clock(self.database_url(), merchant, seconds).await;
    }

    /// Waits until no delivery waits for an attempt, now or later, as the database says.
    pub async fn nothing_pending(&self) {
        crate::database::nothing_pending(self.database_url()).await;
    }

    /// Ends every lease that a killed process has left, as time does within a minute.
    pub async fn leases_run_out(&self) {
        assert!(self.running.is_none(), "a lease of a running process is its own");
        let sql = "UPDATE deliveries SET lease_until = 0 WHERE lease_token IS NOT NULL";
        crate::damage::execute(self.database_url(), sql).await;
    }

    /// Forgets every answer that is kept under an idempotency key, as time does after the retention.
    pub async fn forget_answers(&self) {
        let url = StoreUrl::parse(&self.variables["AUTHORITY_DATABASE_URL"]).unwrap();
        let store = Store::open(&url, Access::Shared).await.unwrap();
        let the_end = Timestamp::from_ms(i64::MAX);
        let gone: Result<u64, StoreError> = store
            .write(move |tx: &mut Tx| {
                Box::pin(async move { tx.idempotency_purge(the_end, i64::from(u32::MAX)).await })
            })
            .await;
        assert!(gone.unwrap() > 0, "there was nothing to forget");
        store.close().await;
    }

    fn away(&self) {
        self.merchant_api.send_replace(None);
        self.operator_api.send_replace(None);
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

impl ServiceUrls for Authority {
    fn operator(&self) -> Api {
        self.operator()
    }

    fn merchant(&self, key: &str) -> Api {
        self.merchant(key)
    }
}

impl ConsoleUrls for Authority {
    fn operator_listener(&self) -> Api {
        Api::new(self.operator_api.subscribe(), "", "").with_key(None)
    }

    fn operators_key(&self) -> &str {
        self.operator_key()
    }
}

fn new_folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("authority-").tempdir().unwrap()
}

/// Asks a process to end, as Ctrl-C and supervisors do.
///
/// # Panics
/// When it has ended already.
pub fn terminate(child: &Child) {
    send(child, Signal::TERM);
}

fn send(child: &Child, signal: Signal) {
    let pid = Pid::from_raw(child.id().expect("it is running").try_into().unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
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
