//! A temporary cluster: made, started, stopped, started again, removed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use tempfile::TempDir;

use crate::programs::{Owner, command, find};

/// How a server is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Connections are closed, what is open is rolled back: `systemctl restart`.
    Fast,
    /// As after a crash: the next start recovers from the log.
    Immediate,
}

/// Whether what is committed is on disk when the server says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// As PostgreSQL comes: for benchmarks.
    On,
    /// Nothing is flushed, nor vacuumed by itself: for tests, none of which is about that.
    Off,
}

/// A server with a folder of its own.
#[derive(Debug)]
pub struct Cluster {
    owner: Option<Owner>,
    pg_ctl: PathBuf,
    /// Ends the server when this process is gone; it holds the other end of the child's standard input.
    watch: Child,
    folder: TempDir,
    durability: Durability,
}

impl Cluster {
    /// Makes a cluster and starts its server.
    ///
    /// # Panics
    /// When PostgreSQL is not installed or does not start; what it said is in the message.
    #[must_use]
    pub fn start(durability: Durability) -> Self {
        Self::made_by("initdb", durability, |initdb| {
            initdb.args([
                "--no-sync",
                "--auth=trust",
                "--username=postgres",
                "--locale=C",
                "--encoding=UTF8",
            ]);
        })
    }

    /// Copies this cluster into another one and starts its server, which follows this one. From then on this server
    /// says that something is committed when the other one has it as well and shows it.
    ///
    /// # Panics
    /// When it cannot be copied, or the copy does not follow.
    pub async fn standby(&self) -> Self {
        let standby = Self::made_by("pg_basebackup", self.durability, |copy| {
            copy.args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--username=postgres"]);
            copy.arg("--host").arg(self.folder.path());
        });
        let mut conn = self.options().connect().await.unwrap();
        for statement in [
            "ALTER SYSTEM SET synchronous_commit = remote_apply",
            "ALTER SYSTEM SET synchronous_standby_names = '*'",
            "SELECT pg_reload_conf()",
            // Ends when the standby has this commit.
            "CREATE TABLE followed ()",
        ] {
            sqlx::query(statement).execute(&mut conn).await.unwrap();
        }
        conn.close().await.unwrap();
        standby
    }

    /// Makes the folder of a cluster with one of PostgreSQL's programs and starts its server.
    fn made_by(program: &str, durability: Durability, arguments: impl FnOnce(&mut Command)) -> Self {
        let (owner, pg_ctl) = (Owner::needed(), find("pg_ctl"));
        let folder = tempfile::Builder::new().prefix("postgres-").tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        if let Some(Owner { uid, gid }) = owner {
            chown(folder.path(), Some(uid), Some(gid)).unwrap();
        }
        let data = folder.path().join("data");
        let mut make = command(owner, find(program));
        arguments(&mut make);
        run(make.arg("--pgdata").arg(&data));
        let watch = watch(owner, &pg_ctl, &data);
        let cluster = Self { owner, pg_ctl, watch, folder, durability };
        cluster.start_again();
        cluster
    }

    /// The address, on this server, of the database that `url` names on another one.
    ///
    /// # Panics
    /// When `url` cannot be read.
    #[must_use]
    pub fn address_of(&self, url: &str) -> String {
        let options: PgConnectOptions = url.parse().expect("the address of a database");
        let name = options.get_database().expect("a named database");
        format!("postgres://postgres@localhost/{name}?host={}", self.folder.path().display())
    }

    /// Ends every process of the server by force, as a machine that loses its power does.
    ///
    /// # Panics
    /// When the server is stopped.
    pub fn kill(&self) {
        let processes: Vec<u32> = [self.pid()].into_iter().chain(self.children()).collect();
        self.signal("-KILL", &processes);
    }

    /// Makes a standby a server that writes; when this returns, it does.
    ///
    /// # Panics
    /// When it does not.
    pub fn promote(&self) {
        run(self.control().args(["--wait", "--silent", "promote"]));
    }

    fn options(&self) -> PgConnectOptions {
        self.address_of("postgres://localhost/postgres").parse().expect("an address that was just made")
    }

    /// Makes an empty database and tells its address.
    pub async fn database(&self) -> String {
        crate::make(&self.address_of("postgres://localhost/postgres")).await
    }

    /// Starts the server after [`Cluster::stop`]; when this returns it accepts connections.
    ///
    /// # Panics
    /// When it does not start.
    pub fn start_again(&self) {
        let folder = self.folder.path().display();
        // A test program opens a database for every test, each with its readers.
        let flushes = match self.durability {
            Durability::On => "",
            // Nor does anybody vacuum: the launcher would look into each of the many databases in turn.
            Durability::Off => "-c fsync=off -c full_page_writes=off -c autovacuum=off",
        };
        let options = format!(
            "-c listen_addresses= -c unix_socket_directories={folder} -c max_connections=500 {flushes}"
        );
        run(self
            .control()
            .args(["--wait", "--silent", "--log"])
            .arg(self.log())
            .arg("--options")
            .arg(options)
            .arg("start"));
    }

    /// The server's process, the parent of those that serve a connection each.
    ///
    /// # Panics
    /// When the server is stopped.
    #[must_use]
    pub fn pid(&self) -> u32 {
        let file = self.folder.path().join("data/postmaster.pid");
        let text = fs::read_to_string(file).expect("the server runs");
        text.lines().next().and_then(|line| line.trim().parse().ok()).expect("the first line is the process")
    }

    /// Holds every process of the server still, as a machine that is migrated or starved does.
    ///
    /// # Panics
    /// When the server is stopped.
    pub fn pause(&self) {
        // First the one that starts others.
        self.signal("-STOP", &[self.pid()]);
        self.signal("-STOP", &self.children());
    }

    /// Lets every process of the server go on.
    ///
    /// # Panics
    /// When the server is stopped.
    pub fn go_on(&self) {
        self.signal("-CONT", &self.children());
        self.signal("-CONT", &[self.pid()]);
    }

    /// The processes that serve a connection each, and those that the server keeps for itself.
    fn children(&self) -> Vec<u32> {
        let parent = self.pid().to_string();
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        ids.filter(|id| {
            let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            // The name, in parentheses, may have blanks; behind it come the state and the parent.
            stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1)) == Some(parent.as_str())
        })
        .collect()
    }

    /// A process that has ended meanwhile needs no signal.
    fn signal(&self, signal: &str, processes: &[u32]) {
        let mut kill = command(self.owner, "kill");
        kill.arg(signal).args(processes.iter().map(u32::to_string)).stderr(Stdio::null());
        kill.status().expect("kill runs");
    }

    /// Stops the server; when this returns it is gone.
    ///
    /// # Panics
    /// When it does not stop.
    pub fn stop(&self, how: Stop) {
        let mode = match how {
            Stop::Fast => "--mode=fast",
            Stop::Immediate => "--mode=immediate",
        };
        run(self.control().args(["--wait", "--silent", mode, "stop"]));
    }

    fn control(&self) -> Command {
        let mut control = command(self.owner, &self.pg_ctl);
        control.arg("--pgdata").arg(self.folder.path().join("data")).stdin(Stdio::null());
        control
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("server.log")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.watch.stdin.take());
        let _ = self.watch.wait();
    }
}

/// A shell that waits for the end of this process (its standard input closes), then stops the server by the id in its
/// pid file and removes the folder. The signals that end a test program from the terminal do not end it.
fn watch(owner: Option<Owner>, pg_ctl: &Path, data: &Path) -> Child {
    let script = "trap '' INT TERM HUP; read _; \
                  \"$1\" --pgdata \"$2\" --mode=immediate --wait --silent stop; rm -rf \"${2%/*}\"";
    command(owner, "sh")
        .args(["-c", script, "sh"])
        .arg(pg_ctl)
        .arg(data)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("sh runs")
}

fn run(command: &mut Command) {
    // Inherited by the server, a pipe of ours would never close: what is said goes to a file or to the terminal.
    let done = command.stdout(Stdio::null()).stdin(Stdio::null()).status();
    let done = done.unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    assert!(done.success(), "{command:?} failed: {done}");
}
