//! Names against name servers on sockets of this machine.

use std::collections::HashMap;
use std::sync::Mutex;

use futures_util::future::join_all;
use tokio::net::UdpSocket;

use super::*;

const GOOD: [u8; 4] = [93, 184, 215, 14];

/// A name server on a socket of this machine: it answers only names that begin with "good". It records which name
/// was asked for, and from where.
struct NameServer {
    address: SocketAddr,
    asked: Arc<Mutex<HashMap<String, Vec<SocketAddr>>>>,
}

impl NameServer {
    async fn start() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let (address, asked) = (socket.local_addr().unwrap(), Arc::<Mutex<HashMap<_, Vec<_>>>>::default());
        let heard = Arc::clone(&asked);
        tokio::spawn(async move {
            let mut packet = [0; 1500];
            loop {
                let (length, from) = socket.recv_from(&mut packet).await.unwrap();
                let (name, question) = question(&packet[12..length]);
                heard.lock().unwrap().entry(name.clone()).or_default().push(from);
                if name.starts_with("good") {
                    socket.send_to(&answer(&packet[..2], question), from).await.unwrap();
                }
            }
        });
        Self { address, asked }
    }

    fn asked(&self, name: &str) -> Vec<SocketAddr> {
        self.asked.lock().unwrap().get(name).cloned().unwrap_or_default()
    }
}

/// The name in a question, and the question.
fn question(packet: &[u8]) -> (String, &[u8]) {
    let (mut name, mut at) = (String::new(), 0);
    while packet[at] > 0 {
        let end = at + 1 + usize::from(packet[at]);
        name += std::str::from_utf8(&packet[at + 1..end]).unwrap();
        name += ".";
        at = end;
    }
    (name, &packet[..at + 5])
}

/// One address for a question of type A, none for every other; for a minute.
fn answer(id: &[u8], question: &[u8]) -> Vec<u8> {
    let is_a = question[question.len() - 3] == 1;
    let head = [0x81, 0x80, 0, 1, 0, u8::from(is_a), 0, 0, 0, 0];
    let mut packet = [id, &head, question].concat();
    if is_a {
        packet.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
        packet.extend(GOOD);
    }
    packet
}

/// Polls until the condition holds: the awaited data comes over a socket.
async fn until(holds: impl Fn() -> bool) {
    while !holds() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_name_is_asked_for_as_it_is_and_its_answer_is_remembered() {
    let server = NameServer::start().await;
    let resolver = SystemResolver::asking(&[server.address]);
    for _ in 0..3 {
        assert_eq!(resolver.resolve("good.example.com").await.unwrap(), [IpAddr::from(GOOD)]);
    }
    assert_eq!(resolver.for_requests().resolve("good.example.com.").await.unwrap(), [IpAddr::from(GOOD)]);
    assert_eq!(server.asked("good.example.com.").len(), 2, "one question for each kind of address");
    assert_eq!(server.asked.lock().unwrap().len(), 1, "nothing is put behind it");
}

#[tokio::test]
async fn those_who_ask_for_one_name_share_a_look_up_and_the_last_who_goes_ends_it() {
    let server = NameServer::start().await;
    let resolver = SystemResolver::asking(&[server.address]);
    let mut asking = Box::pin(join_all((0..100).map(|_| resolver.resolve("hang.example.com"))));
    let arrived = async { until(|| server.asked("hang.example.com.").len() == 2).await };
    tokio::select! {
        _ = &mut asking => unreachable!(),
        () = arrived => {}
    }
    assert_eq!(resolver.lookups.running(), 1);
    drop(asking);
    assert_eq!(resolver.lookups.running(), 0);
    // Its sockets are closed: a late answer reaches no receiver.
    for from in server.asked("hang.example.com.") {
        let late = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        late.connect(from).await.unwrap();
        let closed = async {
            while late.send(b"late").await.is_ok() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), closed).await.expect("the socket is still open");
    }
}

/// Ten times as many names without an answer as there are slots, asked for by deliveries and by requests.
#[tokio::test]
async fn names_that_never_answer_delay_no_other() {
    let server = NameServer::start().await;
    let resolver = SystemResolver::asking(&[server.address]);
    let requests = resolver.for_requests();
    resolver.resolve("good.example.com").await.unwrap();
    let silent: Vec<_> = (0..640).map(|n| format!("{n}.hang.example.com")).collect();
    let hanging = join_all(silent.iter().map(|name| resolver.resolve(name)));
    let also_hanging = join_all(silent.iter().map(|name| requests.resolve(name)));
    let others = async {
        until(|| server.asked("0.hang.example.com.").len() == 2).await;
        resolver.names.as_ref().unwrap().clear_cache();
        assert_eq!(resolver.resolve("good.example.com").await.unwrap(), [IpAddr::from(GOOD)]);
    };
    tokio::select! {
        biased;
        () = others => {}
        _ = hanging => unreachable!(),
        _ = also_hanging => unreachable!(),
    }
}

#[tokio::test]
async fn this_machine_is_known() {
    let resolver = SystemResolver::default();
    let (one, two) = tokio::join!(resolver.resolve("localhost"), resolver.resolve("localhost"));
    let one = one.unwrap();
    assert!(!one.is_empty() && one.iter().all(|address| address.is_loopback()), "{one:?}");
    assert_eq!(two.unwrap(), one);
}

#[tokio::test]
async fn what_is_no_name_is_not_asked_for() {
    let server = NameServer::start().await;
    let resolver = SystemResolver::asking(&[server.address]);
    for host in ["127.1", "0x7f.1", "0x7f000001", "2130706433", "1.2.3.4", "no-such-name.invalid"] {
        let found = resolver.resolve(host).await;
        assert!(found.is_err(), "{host}: {found:?}");
    }
    assert!(server.asked.lock().unwrap().is_empty());
}
