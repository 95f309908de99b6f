//! How long an attempt may take, how much of a response is read, and how long connections are used.

use std::time::Duration;

/// How long a connection is used. Together with the 5 s for which the resolver may cache an answer, this stays
/// within the 30 s after which the receiver's name must be resolved and judged again (contract 18.4-3).
const CONNECTION_AGE: Duration = Duration::from_secs(25);

/// The silence on an HTTP/2 connection after which it is pinged. Such a connection serves many attempts, even after
/// one timed out on it. With this ping, to be answered within [`HTTP2_PING_TIMEOUT`], a dead connection is found by
/// the end of the first attempt that it fails (15 s).
const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(10);

/// How long the answer to a ping may take.
const HTTP2_PING_TIMEOUT: Duration = Duration::from_secs(5);

/// How long closing takes at most: the 2 s by which a receiver may exceed the deadline (contract 15.5).
const CLOSING: Duration = Duration::from_secs(2);

/// The fewest connections that are kept, whatever may be in flight, unless the process may open few files. Half of the
/// 1,024 that it often may.
const KEPT_CONNECTIONS: usize = 512;

/// How long an attempt may take and how much of a response is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryLimits {
    /// Resolving, connecting and the TLS handshake together.
    pub connect_timeout: Duration,
    /// From the beginning of the attempt to the end of the response's headers, where the request has no deadline of
    /// its own.
    pub deadline: Duration,
    /// How long a success waits for the beginning of its body. A success needs no body; an empty or short one
    /// arrives with the headers.
    pub success_moment: Duration,
    /// The same for every other response, whose body may say what is wrong.
    pub failure_moment: Duration,
    /// How long the response's body may be read after that.
    pub drain_timeout: Duration,
    /// The most bytes of the response's body that are read.
    pub drain_bytes: usize,
    /// The number of open connections above which a new one replaces an idle one, or is closed as soon as it is idle.
    pub kept_connections: usize,
    /// How long a connection is used, measured from the look-up of the receiver's name.
    pub connection_age: Duration,
    /// The silence on an HTTP/2 connection with open requests after which it is pinged.
    pub ping_interval: Duration,
    /// How long the answer to that ping may take.
    pub ping_timeout: Duration,
    /// How long a connection that nothing uses any more may take to be closed in order: to send the rest of a request
    /// that was answered early, and TLS's goodbye.
    pub closing: Duration,
}

/// How many connections are kept where so many requests may be in flight, in a process that may open so many files
/// and sockets (`None`: that is not known). A request in flight has a connection whether or not it is kept, so keeping
/// as many takes no more at once; the other half of the files is for everything else.
#[must_use]
pub fn kept_connections(in_flight: usize, files: Option<usize>) -> usize {
    let most = files.map_or(KEPT_CONNECTIONS, |files| files / 2);
    in_flight.max(KEPT_CONNECTIONS).min(most)
}

impl Default for DeliveryLimits {
    /// The values of contract 7.2: 5 s, 15 s, 2 s and 64 KiB; 50 ms and 250 ms for the excerpt. Connections are used
    /// for 25 s.
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            deadline: Duration::from_secs(15),
            success_moment: Duration::from_millis(50),
            failure_moment: Duration::from_millis(250),
            drain_timeout: Duration::from_secs(2),
            drain_bytes: 64 * 1024,
            kept_connections: KEPT_CONNECTIONS,
            connection_age: CONNECTION_AGE,
            ping_interval: HTTP2_PING_INTERVAL,
            ping_timeout: HTTP2_PING_TIMEOUT,
            closing: CLOSING,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_are_kept_as_may_be_in_flight_and_files_allow() {
        let table = [
            (1536, None, 512),
            (1536, Some(1024), 512),
            (1536, Some(4096), 1536),
            (12_288, Some(4096), 2048),
            (12_288, Some(65_536), 12_288),
            (12_288, Some(usize::MAX), 12_288),
            (3, Some(65_536), 512),
            (3, Some(256), 128),
        ];
        for (in_flight, files, expected) in table {
            assert_eq!(
                kept_connections(in_flight, files),
                expected,
                "{in_flight} in flight, {files:?} files"
            );
        }
    }
}
