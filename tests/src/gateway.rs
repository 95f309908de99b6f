//! Stands before a [`Receiver`]: ends TLS where it has to, and carries what comes on to it.

use tokio::io::{AsyncRead, AsyncWrite, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::receiver::Receiver;

/// Carries every connection to `listener` on to the receiver; without `tls` as it is. Ends with the runtime.
pub fn carry(listener: TcpListener, tls: Option<TlsAcceptor>, receiver: &Receiver) {
    let to = receiver.url("").trim_start_matches("http://").to_owned();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let (tls, to) = (tls.clone(), to.clone());
            tokio::spawn(async move {
                match tls {
                    None => join(stream, &to).await,
                    // A client that does not accept the certificate, or has none to show, ends the handshake.
                    Some(tls) => {
                        if let Ok(stream) = tls.accept(stream).await {
                            join(stream, &to).await;
                        }
                    }
                }
            });
        }
    });
}

async fn join(mut stream: impl AsyncRead + AsyncWrite + Unpin, to: &str) {
    let mut receiver = TcpStream::connect(to).await.unwrap();
    // Either end may close as it likes.
    let _ = copy_bidirectional(&mut stream, &mut receiver).await;
}
