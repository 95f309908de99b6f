//! Where connections go, and the traits for making them.

use http::Uri;
use http::uri::{PathAndQuery, Scheme};
use hyper::rt::{Read, Write};
use hyper_util::client::legacy::connect::Connection;
use tower_service::Service;

use crate::dispatch::connection_count::CountedConnection;
use crate::dispatch::connector::ConnectFailure;

/// A scheme, a host and a port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::dispatch) struct Origin(Uri);

impl Origin {
    /// The origin of an absolute URL.
    ///
    /// # Errors
    /// Any other URI, which cannot be connected to.
    pub(in crate::dispatch) fn of(uri: &Uri) -> Result<Self, http::Error> {
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::from_static("/"));
        Ok(Self(Uri::from_parts(parts)?))
    }

    pub(super) fn uri(&self) -> Uri {
        self.0.clone()
    }

    pub(super) fn is_https(&self) -> bool {
        self.0.scheme() == Some(&Scheme::HTTPS)
    }
}

/// Makes the connections of a pool.
pub(in crate::dispatch) trait Connector<IO>:
    Service<
        Uri,
        Response = CountedConnection<IO>,
        Error = ConnectFailure,
        Future: Future<Output = Result<CountedConnection<IO>, ConnectFailure>> + Send,
    > + Clone
    + Send
    + Sync
    + 'static
{
}

impl<C, IO> Connector<IO> for C where
    C: Service<
            Uri,
            Response = CountedConnection<IO>,
            Error = ConnectFailure,
            Future: Future<Output = Result<CountedConnection<IO>, ConnectFailure>> + Send,
        > + Clone
        + Send
        + Sync
        + 'static
{
}

/// What a connection is made over.
pub(in crate::dispatch) trait Stream:
    Read + Write + Connection + Unpin + Send + 'static
{
}

impl<IO: Read + Write + Connection + Unpin + Send + 'static> Stream for IO {}
