//! How a service is told to stop or to reload, and how it ends: in order, by force, or not at all.

use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::net::TcpStream;
use tokio::process::Child;

use super::Authority;
use crate::eventually::{eventually, within};

impl Authority {
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

    /// Waits until the merchant listener takes no more connections: the stop has begun.
    pub async fn stopping(&self) {
        let base = self.merchant_api.borrow().clone().expect("it is running");
        let address = base.strip_prefix("http://").unwrap();
        eventually("a closed listener", async || TcpStream::connect(address).await.is_err().then_some(()))
            .await;
    }

    fn away(&self) {
        self.merchant_api.send_replace(None);
        self.operator_api.send_replace(None);
    }
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
