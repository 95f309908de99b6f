//! A writing connection on which the server falls silent before the first transaction.

use std::path::PathBuf;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Duration;

use postgres_cluster::{Cluster, Durability};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgSslMode};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::timeout;

use super::connection::PostgresWriting;
use crate::error::StoreError;
use crate::shards::ShardSet;
use crate::writing_connection::WritingConnection as _;

/// By then a worker has given up a connection on which nothing comes.
const GIVEN_UP: Duration = Duration::from_secs(15);

/// Carries a connection to the server up to the end of the handshake (`ReadyForQuery`) and no answer after that; ends
/// when the client closes it.
async fn carry_handshake(network: UnixListener, server: PathBuf) {
    let (mut client, mut upstream) =
        (network.accept().await.unwrap().0, UnixStream::connect(server).await.unwrap());
    let ((mut asked, mut answered), (mut answers, mut asks)) = (client.split(), upstream.split());
    let greet = async {
        loop {
            let (kind, length) = (answers.read_u8().await.unwrap(), answers.read_u32().await.unwrap());
            let mut message = vec![0; usize::try_from(length).unwrap() - 4];
            answers.read_exact(&mut message).await.unwrap();
            answered.write_u8(kind).await.unwrap();
            answered.write_u32(length).await.unwrap();
            answered.write_all(&message).await.unwrap();
            if kind == b'Z' {
                return;
            }
        }
    };
    let ((), closed) = tokio::join!(greet, copy(&mut asked, &mut asks));
    closed.unwrap();
}

/// As behind a firewall that forgets connections. A worker that waits for its answer has no other way out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_falls_silent_after_its_handshake_is_given_up() {
    let server = Cluster::start(Durability::Off);
    let options = PgConnectOptions::from_str(&server.database().await).unwrap();
    let (folder, socket) = (tempfile::tempdir().unwrap(), format!(".s.PGSQL.{}", options.get_port()));
    let network = UnixListener::bind(folder.path().join(&socket)).unwrap();
    let carrying = tokio::spawn(carry_handshake(network, options.get_socket().unwrap().join(&socket)));
    let options = options.socket(folder.path()).ssl_mode(PgSslMode::Disable);
    let readers = PgPoolOptions::new().connect_lazy_with(options.clone());
    let mut worker = PostgresWriting::new(options, [readers.clone(), readers], None, &Arc::default());
    let begun = timeout(GIVEN_UP, worker.begin(ShardSet::NONE, false)).await.unwrap();
    assert!(matches!(begun, Err(StoreError::Unavailable(_))), "{begun:?}");
    carrying.await.unwrap();
}
