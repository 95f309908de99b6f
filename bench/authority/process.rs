//! What processes took of the machine, as Linux tells under `/proc`.

use std::fs;
use std::ops::Sub;
use std::time::Duration;

/// The kernel counts processor time in hundredths of a second, whatever its own clock does.
const TICK: Duration = Duration::from_millis(10);

/// The process that is asked, and the database server behind it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Processes {
    pub(crate) asked: u32,
    pub(crate) database: Option<u32>,
}

/// Processor time since a process began, in user and kernel mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cpu {
    pub(crate) asked: Duration,
    pub(crate) database: Duration,
}

impl Sub for Cpu {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            asked: self.asked.saturating_sub(earlier.asked),
            database: self.database.saturating_sub(earlier.database),
        }
    }
}

impl Processes {
    pub(crate) fn cpu(&self) -> Cpu {
        let ticks = |pid| stat(pid).map_or(0, |stat| stat.own);
        // A server's connections are its children; those that ended are counted with itself.
        let server = self.database.map_or(0, |server| {
            let children = pids().filter_map(stat).filter(|stat| stat.parent == server).map(|stat| stat.own);
            stat(server).map_or(0, |stat| stat.own + stat.waited_for) + children.sum::<u32>()
        });
        Cpu { asked: TICK * ticks(self.asked), database: TICK * server }
    }
}

/// The most memory that the process ever held, in MiB.
pub(crate) fn peak_memory_mib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
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

fn pids() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}
