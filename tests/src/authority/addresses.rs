//! Where a service is, and its APIs.

use tokio::process::Child;

use super::Authority;
use crate::http::{Api, Reply};
use crate::merchant::{ConsoleUrls, ServiceUrls};

impl Authority {
    /// Where the merchant listener is, e.g. `127.0.0.1:40123`.
    #[must_use]
    pub fn merchant_address(&self) -> String {
        let base = self.merchant_api.borrow().clone().expect("it is running");
        base.strip_prefix("http://").expect("plain HTTP").to_owned()
    }

    /// The operator root.
    #[must_use]
    pub fn operator(&self) -> Api {
        Api::new(self.operator_api.subscribe(), "/v1/operator", &self.operator_key)
    }

    /// The merchant root, asked with `key`.
    #[must_use]
    pub fn merchant(&self, key: &str) -> Api {
        Api::new(self.merchant_api.subscribe(), "/v1/merchant", key)
    }

    /// The sandbox, asked with `key`.
    #[must_use]
    pub fn sandbox(&self, key: &str) -> Api {
        Api::new(self.merchant_api.subscribe(), "/v1/sandbox", key)
    }

    /// A path of the operator's listener outside the operator root.
    pub async fn probe(&self, path: &str) -> Reply {
        Api::new(self.operator_api.subscribe(), "", &self.operator_key).with_key(None).get(path).await
    }

    /// The key that [`Authority::operator`] uses.
    #[must_use]
    pub fn operator_key(&self) -> &str {
        &self.operator_key
    }

    /// Its process.
    ///
    /// # Panics
    /// When it is not running.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.running.as_ref().and_then(Child::id).expect("it is running")
    }

    /// Where its operator listener is: host and port.
    ///
    /// # Panics
    /// When it is not running.
    #[must_use]
    pub fn operator_address(&self) -> String {
        let base = self.operator_api.borrow().clone().expect("it is running");
        base.strip_prefix("http://").unwrap().to_owned()
    }
}

impl ServiceUrls for Authority {
    fn operator(&self) -> Api {
        self.operator()
    }

    fn merchant(&self, key: &str) -> Api {
        self.merchant(key)
    }
}

impl ConsoleUrls for Authority {
    fn operator_listener(&self) -> Api {
        Api::new(self.operator_api.subscribe(), "", "").with_key(None)
    }

    fn operators_key(&self) -> &str {
        self.operator_key()
    }
}
