//! Where connections go and as whom, and what they are made over.

use std::sync::Arc;

use http::Uri;
use http::uri::{PathAndQuery, Scheme};
use hyper::rt::{Read, Write};
use hyper_util::client::legacy::connect::Connection;

use crate::dispatch::identity::ClientIdentity;

/// A scheme, a host and a port, and whom its connections are made as.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::dispatch) struct Origin {
    uri: Uri,
    identity: Option<Arc<ClientIdentity>>,
}

impl Origin {
    /// The origin of an absolute URL. Over plain http there is nobody to show an identity to.
    ///
    /// # Errors
    /// Any other URI, which cannot be connected to.
    pub(in crate::dispatch) fn of(
        uri: &Uri,
        identity: Option<Arc<ClientIdentity>>,
    ) -> Result<Self, http::Error> {
        let mut parts = uri.clone().into_parts();
        parts.path_and_query = Some(PathAndQuery::from_static("/"));
        let uri = Uri::from_parts(parts)?;
        let https = uri.scheme() == Some(&Scheme::HTTPS);
        Ok(Self { uri, identity: identity.filter(|_| https) })
    }

    pub(in crate::dispatch) fn uri(&self) -> Uri {
        self.uri.clone()
    }

    /// Whom its connections are made as.
    pub(in crate::dispatch) fn identity(&self) -> Option<&ClientIdentity> {
        self.identity.as_deref()
    }

    pub(super) fn is_https(&self) -> bool {
        self.uri.scheme() == Some(&Scheme::HTTPS)
    }
}

/// What a connection is made over.
pub(in crate::dispatch) trait Stream:
    Read + Write + Connection + Unpin + Send + 'static
{
}

impl<IO: Read + Write + Connection + Unpin + Send + 'static> Stream for IO {}
