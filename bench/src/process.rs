//! What processes took of the machine, as Linux tells under `/proc`.

use std::fs;
use std::ops::Sub;
use std::process::Stdio;
use std::time::Duration;

pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

/// The kernel counts processor time in hundredths of a second, whatever its own clock does.
const TICK: Duration = Duration::from_millis(10);

/// The process that is asked, and the database server behind it.
#[derive(Clone, Copy, Debug)]
pub struct Processes {
    /// The one that is asked.
    pub asked: u32,
    /// The database server, where there is one.
    pub database: Option<u32>,
}

/// What they took since they began.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Processor time of the process that is asked, in user and kernel mode.
    pub asked: Duration,
    /// The same of the database server with its children.
    pub database: Duration,
    /// What all of them wrote towards the disk.
    pub written_bytes: u64,
}

impl Sub for Taken {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            asked: self.asked.saturating_sub(earlier.asked),
            database: self.database.saturating_sub(earlier.database),
            written_bytes: self.written_bytes.saturating_sub(earlier.written_bytes),
        }
    }
}

impl Processes {
    /// Until now.
    #[must_use]
    pub fn taken(&self) -> Taken {
        let ticks = |pid| stat(pid).map_or(0, |stat| stat.own);
        let mut taken = Taken {
            asked: TICK * ticks(self.asked),
            database: Duration::ZERO,
            written_bytes: written_bytes(self.asked),
        };
        // A server's connections are its children; the time of those that ended is counted with itself.
        if let Some(server) = self.database {
            let own = stat(server).map_or(0, |stat| stat.own + stat.waited_for);
            taken.database = TICK * own;
            for child in children(server) {
                taken.database += TICK * ticks(child);
                taken.written_bytes += written_bytes(child);
            }
        }
        taken
    }
}

/// Processor time since the process began, in user and kernel mode.
#[must_use]
pub fn own_time(pid: u32) -> Duration {
    TICK * stat(pid).map_or(0, |stat| stat.own)
}

/// How many files, sockets and the like the process has open.
#[must_use]
pub fn open_handles(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count()
}

/// Starts this program once more, as the floor with these arguments and this input; with its address, which it prints
/// when it serves.
pub async fn start_floor(arguments: &[&str], input: &[u8]) -> (Child, String) {
    let mut floor = Command::new(std::env::current_exe().unwrap())
        .arg("floor")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    floor.stdin.take().unwrap().write_all(input).await.unwrap();
    let mut lines = BufReader::new(floor.stdout.take().unwrap()).lines();
    let address = lines.next_line().await.unwrap().expect("the floor serves");
    (floor, address)
}

/// Holds a process, or lets it go on.
pub fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.try_into().unwrap()).unwrap(), signal).unwrap();
}

/// 0 when the process is gone.
fn written_bytes(pid: u32) -> u64 {
    let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let member = |name| io.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    // Pages that were thrown away before they were written are told apart.
    member("write_bytes:").unwrap_or(0).saturating_sub(member("cancelled_write_bytes:").unwrap_or(0))
}

struct Stat {
    parent: u32,
    own: u32,
    waited_for: u32,
}

/// `None` when the process is gone.
fn stat(pid: u32) -> Option<Stat> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Behind the name, which may hold anything: state, parent, …; user and system time are the 14th and 15th.
    let (_, fields) = text.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split(' ').collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<u32>().ok();
    Some(Stat { parent: field(4)?, own: field(14)? + field(15)?, waited_for: field(16)? + field(17)? })
}

fn children(parent: u32) -> impl Iterator<Item = u32> {
    let pids =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(move |pid| stat(*pid).is_some_and(|stat| stat.parent == parent))
}
