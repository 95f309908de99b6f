//! The names in a path: a merchant and mode, an order's number, a record's id.
//!
//! A name that is malformed or does not decode names no record. A request that reads is refused for it at once; one
//! that writes when its turn has come (contract 4.2 row 13), so it asks for a [`Named`].

use authority_domain::order::external_references::SystemName;
use authority_domain::{
    AlertId, CheckoutId, ConnectionId, DeliveryId, EndpointId, ErrorCode, EventId, KeyId, MerchantId, Mode,
    Named, OrderNumber, PaymentId, RecoveryId, RefundId, Refusal, Result, ShareId, ShipmentId,
    SubscriptionId, Tenant,
};
use axum::extract::{FromRequestParts, RawPathParams};
use http::request::Parts;

/// The names in a path that have not been read yet; none of a path that does not decode.
pub(super) struct Names(std::vec::IntoIter<String>);

impl Names {
    /// The names in the path of a request.
    pub(super) async fn of(parts: &mut Parts) -> Self {
        let names = RawPathParams::from_request_parts(parts, &()).await.ok();
        let names: Vec<String> =
            names.iter().flat_map(|names| names.iter()).map(|(_, name)| name.to_owned()).collect();
        Self(names.into_iter())
    }

    fn read<T>(&mut self, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        self.0.next().and_then(|name| parse(&name))
    }
}

/// What names in a path stand for.
pub(super) trait FromPath: Send + Sized + 'static {
    /// Reads as many names as it needs.
    fn from_path(names: &mut Names) -> Result<Self>;

    /// The record that a list is below.
    fn parent(&self) -> Option<&str> {
        None
    }
}

impl FromPath for () {
    fn from_path(_: &mut Names) -> Result<Self> {
        Ok(())
    }
}

impl<A: FromPath, B: FromPath> FromPath for (A, B) {
    fn from_path(names: &mut Names) -> Result<Self> {
        Ok((A::from_path(names)?, B::from_path(names)?))
    }
}

impl<T: FromPath> FromPath for Named<T> {
    fn from_path(names: &mut Names) -> Result<Self> {
        Ok(T::from_path(names))
    }

    fn parent(&self) -> Option<&str> {
        self.as_ref().ok().and_then(T::parent)
    }
}

impl FromPath for Tenant {
    fn from_path(names: &mut Names) -> Result<Self> {
        let named = (names.read(MerchantId::parse), names.read(Mode::parse));
        let (Some(merchant_id), Some(mode)) = named else { return Err(MerchantId::missing()) };
        Ok(Self { merchant_id, livemode: mode == Mode::Live })
    }
}

/// Not a record but an argument of the request, so a malformed one is refused like a parameter (contract 4.2 row 10).
impl FromPath for SystemName {
    fn from_path(names: &mut Names) -> Result<Self> {
        names.read(Self::parse).ok_or_else(|| {
            let detail =
                "A system is named by a lower-case letter or digit and up to 31 of a-z, 0-9, '_' and '-'.";
            Refusal::new(ErrorCode::InvalidParameter, detail).param("system")
        })
    }
}

macro_rules! records {
    ($($name:ident),*) => {$(
        impl FromPath for $name {
            fn from_path(names: &mut Names) -> Result<Self> {
                names.read(Self::parse).ok_or_else(Self::missing)
            }

            fn parent(&self) -> Option<&str> {
                Some(self.as_str())
            }
        }
    )*};
}

records!(
    AlertId,
    CheckoutId,
    ConnectionId,
    DeliveryId,
    EndpointId,
    EventId,
    KeyId,
    MerchantId,
    OrderNumber,
    PaymentId,
    RecoveryId,
    RefundId,
    ShareId,
    ShipmentId,
    SubscriptionId
);
