//! A terminal with a command, and what it shows.
//!
//! It is a real pseudo-terminal, so the command decides as it does in front of a person: about colours, and about when
//! to write; and Ctrl-C arrives as the signal that it is.

use pty_process::{Pty, Size};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use crate::eventually::within;

/// The rows and columns: wide enough for every table.
const SIZE: (u16, u16) = (50, 200);

/// A command at a terminal of its own.
pub struct Terminal {
    pty: Pty,
    child: Child,
    shown: Vec<u8>,
}

impl Terminal {
    /// Starts a command.
    ///
    /// # Panics
    /// When there is no terminal to be had.
    #[must_use]
    pub fn start(mut command: Command) -> Self {
        command.env("TERM", "xterm-256color");
        let (pty, line) = pty_process::open().unwrap();
        pty.resize(Size::new(SIZE.0, SIZE.1)).unwrap();
        let child = pty_process::Command::from(command).spawn(line).unwrap();
        Self { pty, child, shown: Vec::new() }
    }

    /// Waits until this is shown.
    ///
    /// # Panics
    /// When the command ends before.
    pub async fn until(&mut self, text: &str) {
        while !self.text().contains(text) {
            assert!(self.more().await, "{text:?} is not in {:?}", self.text());
        }
    }

    /// Presses Ctrl-C.
    ///
    /// # Panics
    /// When the terminal is closed.
    pub async fn interrupt(&mut self) {
        self.pty.write_all(b"\x03").await.unwrap();
    }

    /// Waits until the command ends: all that it showed, with its exit code.
    pub async fn end(mut self) -> (String, Option<i32>) {
        while self.more().await {}
        let status = within("the end", self.child.wait()).await.unwrap();
        (self.text(), status.code())
    }

    /// Everything so far, with line ends as the command wrote them.
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown).replace("\r\n", "\n")
    }

    /// Reads on. Linux reports an error when the last process at the terminal has ended.
    async fn more(&mut self) -> bool {
        let mut part = [0; 4096];
        let read = within("what is shown", self.pty.read(&mut part)).await.unwrap_or_default();
        self.shown.extend_from_slice(&part[..read]);
        read > 0
    }
}
