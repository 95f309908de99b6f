//! A name server that never answers.
//!
//! The authority asks the name servers of `/etc/resolv.conf`, at their port 53. So this one listens there on a loopback
//! address, and the authority sees a file of its own in that place: both need root.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tests::authority::Authority;
use tokio::net::UdpSocket;

const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 54);
const PORT: u16 = 53;

pub(crate) struct NameServer {
    questions: Arc<AtomicU64>,
}

impl NameServer {
    pub(crate) async fn start() -> Self {
        let socket = UdpSocket::bind((ADDRESS, PORT)).await.expect("port 53 on loopback needs root");
        let questions = Arc::<AtomicU64>::default();
        let heard = Arc::clone(&questions);
        tokio::spawn(async move {
            while socket.recv_from(&mut [0; 1500]).await.is_ok() {
                heard.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { questions }
    }

    /// Starts the authority again, which asks this server and no other from now on.
    pub(crate) async fn serve(&self, authority: &mut Authority) {
        authority.terminate().await;
        authority.restart_asking(ADDRESS).await;
    }

    /// Packets that came so far.
    pub(crate) fn questions(&self) -> u64 {
        self.questions.load(Ordering::Relaxed)
    }
}
