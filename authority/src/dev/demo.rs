//! The parties of the demo: a platform with an operator key, the merchant `demo` with a test key, and the endpoint of
//! the merchant's receiver.
//!
//! The first operator key is written directly to the database, as `authority operator-key create` does it, because no
//! request can be made without one. Every later step is a request. Records from an earlier run are reused; new ones are
//! saved at once, so that a crash in between leaves little behind.

use std::net::SocketAddr;

use authority_domain::merchant::api_key::ApiKey;
use authority_domain::{OperatorScope, Scope};
use authority_store::StoreError;
use serde::Deserialize;
use serde_json::json;

use super::client::{Api, CallError, Http};
use super::data_dir::{DataDir, DataDirError, SavedEndpoint};
use crate::app::merchant::operator_keys::operator_key_create;
use crate::service::Service;

/// The name of the keys that `dev` creates.
const KEY_NAME: &str = "authority dev";

/// Why the demo cannot be set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SetUpError {
    /// A request failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The keys or ids could not be saved.
    #[error(transparent)]
    DataDir(#[from] DataDirError),
    /// The operator key could not be stored.
    #[error("the operator key cannot be stored: {0}")]
    Store(#[from] StoreError),
}

/// The parties and their keys. Has no `Debug`.
pub(crate) struct Demo {
    /// The operator API, called by the platform.
    pub(crate) operator: Api,
    /// The merchant API, called by the merchant.
    pub(crate) merchant: Api,
    /// The merchant's id.
    pub(crate) merchant_id: String,
    /// The receiver's endpoint and its secret.
    pub(crate) endpoint: SavedEndpoint,
}

#[derive(Deserialize)]
struct CreatedEndpoint {
    id: String,
    secret: String,
}

impl Demo {
    /// Finds or creates all parties. `receiver_port` is the receiver's port on the loopback address.
    ///
    /// # Errors
    /// [`SetUpError`].
    pub(crate) async fn set_up(
        service: &Service,
        data: &mut DataDir,
        http: &Http,
        receiver_port: u16,
    ) -> Result<Self, SetUpError> {
        let operator_key = match data.kept.operator_key.clone() {
            Some(key) => key,
            None => keep(data, make_operator_key(service).await?, |kept| &mut kept.operator_key)?,
        };
        let operator = Api::new(http.clone(), &at(service.operator_address), "/v1/operator", operator_key);
        let merchant_id = match data.kept.merchant_id.clone() {
            Some(id) => id,
            None => keep(data, make_merchant(&operator).await?, |kept| &mut kept.merchant_id)?,
        };
        let merchant_key = match data.kept.merchant_key.clone() {
            Some(key) => key,
            None => keep(data, issue_key(&operator, &merchant_id).await?, |kept| &mut kept.merchant_key)?,
        };
        let merchant = Api::new(http.clone(), &at(service.merchant_address), "/v1/merchant", merchant_key);
        let endpoint = match data.kept.endpoint.clone() {
            Some(endpoint) => endpoint,
            None => keep(data, make_endpoint(&merchant, receiver_port).await?, |kept| &mut kept.endpoint)?,
        };
        Ok(Self { operator, merchant, merchant_id, endpoint })
    }
}

impl Demo {
    /// Addresses that open the console and the merchant's portal signed in, once each; that of the console only where
    /// its listener is reached from this machine alone.
    ///
    /// # Errors
    /// [`CallError`].
    pub(crate) async fn signed_in_pages(
        &self,
        service: &Service,
    ) -> Result<(Option<String>, String), CallError> {
        let console =
            ApiKey::parse(self.operator.key()).ok().filter(|_| service.operator_address.ip().is_loopback());
        let console = console
            .map(|key| format!("{}{}", at(service.operator_address), service.app.console_link_issue(key)));
        let body =
            json!({ "scopes": [Scope::EventsRead, Scope::WebhooksManage], "expires_in_seconds": 86_400 });
        let path = format!("/merchants/{}/test/portal-sessions", self.merchant_id);
        Ok((console, self.operator.post_for(&path, &body, &[], "/url").await?))
    }
}

fn keep<T: Clone>(
    data: &mut DataDir,
    made: T,
    place: impl FnOnce(&mut super::data_dir::SavedState) -> &mut Option<T>,
) -> Result<T, DataDirError> {
    *place(&mut data.kept) = Some(made.clone());
    data.keep()?;
    Ok(made)
}

async fn make_operator_key(service: &Service) -> Result<String, StoreError> {
    let app = &service.app;
    let scopes = OperatorScope::ALL.to_vec();
    let issued =
        operator_key_create(&app.store, app.clock.as_ref(), app.dice.as_ref(), KEY_NAME.to_owned(), scopes);
    Ok(issued.await?.key)
}

async fn make_merchant(operator: &Api) -> Result<String, CallError> {
    let body = json!({ "slug": "demo", "name": "Demo", "default_currency": "USD" });
    operator.post_for("/merchants", &body, &[], "/id").await
}

async fn issue_key(operator: &Api, merchant_id: &str) -> Result<String, CallError> {
    let scopes: Vec<&str> = Scope::ALL.iter().map(|scope| scope.as_str()).collect();
    let body = json!({ "name": KEY_NAME, "mode": "test", "scopes": scopes });
    operator.post_for(&format!("/merchants/{merchant_id}/api-keys"), &body, &[], "/key").await
}

async fn make_endpoint(merchant: &Api, port: u16) -> Result<SavedEndpoint, CallError> {
    let body =
        json!({ "url": super::receiver::url(port), "description": "The receiver inside authority dev" });
    let made: CreatedEndpoint = merchant.post("/webhook-endpoints", &body, &[]).await?;
    Ok(SavedEndpoint { id: made.id, secret: made.secret, port })
}

fn at(address: SocketAddr) -> String {
    format!("http://{address}")
}
