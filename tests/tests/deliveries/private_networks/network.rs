//! Two machines on one wire, as network namespaces of this machine: the authority's, and the receivers', which has an
//! address in each network that matters here. A name server on the authority's machine answers what the test wants.
//!
//! The test's thread moves to the authority's machine: sockets that it makes and programs that it starts are there.
//! This needs root and Debian's iproute2; the namespaces end with the value.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::AsFd as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tokio::net::UdpSocket;

/// Where the name server listens.
pub(super) const NAME_SERVER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 54);

/// A machine: whatever is started there is in the network namespace of this child.
struct Machine {
    holder: Child,
}

impl Machine {
    /// `None` where namespaces are refused.
    fn new() -> Option<Self> {
        let mut held = Command::new("unshare");
        held.args(["--net", "sh", "-c", "ip link set lo up && echo ready && exec cat"]);
        let mut holder = held.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let machine = Self { holder };
        (line == "ready\n").then_some(machine)
    }

    /// Moves the calling thread there.
    fn enter(&self) {
        let namespace = File::open(format!("/proc/{}/ns/net", self.holder.id())).unwrap();
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Its input ends with it.
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}

/// The wire, and who is at its other end.
pub(super) struct Network {
    receivers: Machine,
    _authority: Machine,
}

impl Network {
    /// A wire from the authority's machine to one with these addresses. From now on the calling thread is on the
    /// authority's. `None` where namespaces are refused.
    pub(super) fn to(addresses: &[Ipv4Addr]) -> Option<Self> {
        let (authority, receivers) = (Machine::new()?, Machine::new()?);
        authority.enter();
        ip(&format!("link add wire type veth peer name wire netns {}", receivers.holder.id()));
        ip("addr add 10.20.0.1/24 dev wire");
        ip("link set wire up");
        ip("route add default dev wire");
        let network = Self { receivers, _authority: authority };
        network.over_there(|| {
            for address in addresses {
                ip(&format!("addr add {address}/32 dev wire"));
            }
            ip("link set wire up");
            ip("route add 10.20.0.1/32 dev wire");
        });
        Some(network)
    }

    /// Listens on the receivers' machine.
    pub(super) fn listener(&self, address: Ipv4Addr, port: u16) -> TcpListener {
        let listener = self.over_there(|| TcpListener::bind((address, port)).unwrap());
        listener.set_nonblocking(true).unwrap();
        listener
    }

    fn over_there<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        let there = || {
            self.receivers.enter();
            work()
        };
        std::thread::scope(|scope| scope.spawn(there).join().unwrap())
    }
}

fn ip(arguments: &str) {
    let status = Command::new("ip").args(arguments.split(' ')).status().unwrap();
    assert!(status.success(), "ip {arguments}");
}

/// A name server that knows these names and forgets nothing; its answers may not be remembered by others.
#[derive(Clone, Default)]
pub(super) struct Names(Arc<Mutex<BTreeMap<String, Ipv4Addr>>>);

impl Names {
    /// Listens on this machine, at [`NAME_SERVER`].
    pub(super) async fn serve(&self) {
        let (socket, names) = (UdpSocket::bind((NAME_SERVER, 53)).await.unwrap(), self.clone());
        tokio::spawn(async move {
            let mut question = [0; 1500];
            while let Ok((length, from)) = socket.recv_from(&mut question).await {
                let answer = names.answer(&question[..length]);
                socket.send_to(&answer, from).await.unwrap();
            }
        });
    }

    /// From now on this name leads to that address.
    pub(super) fn lead(&self, name: &str, address: Ipv4Addr) {
        self.0.lock().unwrap().insert(name.to_owned(), address);
    }

    /// The answer to a question with one name (RFC 1035 section 4).
    fn answer(&self, question: &[u8]) -> Vec<u8> {
        const HEADER: usize = 12;
        let (mut labels, mut at) = (Vec::new(), HEADER);
        while question[at] != 0 {
            let end = at + 1 + usize::from(question[at]);
            labels.push(String::from_utf8(question[at + 1..end].to_ascii_lowercase()).unwrap());
            at = end;
        }
        let (kind, end) = (question[at + 2], at + 5);
        let address = self.0.lock().unwrap().get(&labels.join(".")).copied();
        let (code, answers) = match address {
            None => (3, 0),
            Some(_) => (0, u8::from(kind == 1)),
        };
        let mut answer = question[..2].to_vec();
        answer.extend([0x81, 0x80 | code, 0, 1, 0, answers, 0, 0, 0, 0]);
        answer.extend(&question[HEADER..end]);
        if let (Some(address), 1) = (address, answers) {
            // The name of the question, an address, of the internet, for no time at all, of four bytes.
            answer.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
            answer.extend(address.octets());
        }
        answer
    }
}
