//! The platform's own endpoint, the sink: it gets the events of all merchants and modes, signed with its own secret
//! (contract 6.2).
//!
//! It is an endpoint like those of merchants, and the same functions implement its operations. It belongs to the
//! operator, and there is only one.
//!
//! Transactions of merchants read it without its turn, so one that is under way when the sink is made, enabled or
//! wants more does not make its delivery. The answer waits until all of those have ended.

use authority_domain::{EndpointId, Named, Refusal, Result, Tenant};
use serde_json::Value;

use crate::app::endpoint::merchant::Holder;
use crate::app::{Answer, App, Mutation};

impl App {
    /// `POST /sink`.
    ///
    /// # Errors
    /// 422 for wrong members; `endpoint_url_forbidden`; `endpoint_limit_reached` when it already exists.
    pub async fn sink_create(&self, mutation: Mutation) -> Result<Answer> {
        let mut answer = self.endpoint_create(Holder::operator(), mutation).await?;
        self.sink_is_known().await;
        // It is not below a merchant's path.
        answer.location = None;
        of_platform(answer)
    }

    /// `GET /sink`.
    ///
    /// # Errors
    /// `not_found` when there is none.
    pub async fn sink_get(&self) -> Result<Answer> {
        let id = self.sink_id().await??;
        of_platform(self.endpoint_get(Holder::operator(), id).await?)
    }

    /// `PATCH /sink`.
    ///
    /// # Errors
    /// `not_found` when there is none; `resource_version_conflict`; 422 for wrong members; `endpoint_url_forbidden`.
    pub async fn sink_change(&self, mutation: Mutation) -> Result<Answer> {
        let id = self.sink_id().await?;
        let answer = self.endpoint_change(Holder::operator(), mutation, id).await?;
        self.sink_is_known().await;
        of_platform(answer)
    }

    /// `DELETE /sink`.
    ///
    /// # Errors
    /// `not_found` when there is none; `resource_version_conflict`.
    pub async fn sink_delete(&self, mutation: Mutation) -> Result<Answer> {
        let id = self.sink_id().await?;
        self.endpoint_delete(Holder::operator(), mutation, id).await
    }

    /// `POST /sink/rotate-secret`.
    ///
    /// # Errors
    /// `not_found` when there is none; `resource_version_conflict`; 422 for wrong members; `rotation_in_progress`.
    pub async fn sink_rotate_secret(&self, mutation: Mutation) -> Result<Answer> {
        let id = self.sink_id().await?;
        of_platform(self.endpoint_rotate_secret(Holder::operator(), mutation, id).await?)
    }

    /// Waits until no transaction is under way that may have read the sink as it was. What is committed afterwards has
    /// its delivery (contract 7.8). The change is stored and is answered in any case (18.2): its answer has the secret
    /// that nobody sees again.
    pub(in crate::app) async fn sink_is_known(&self) {
        if let Err(error) = self.store.pass_every_turn().await {
            tracing::warn!(%error, "transactions under way may not know the platform's endpoint as it is now");
        }
    }

    async fn sink_id(&self) -> Result<Named<EndpointId>> {
        let read = self.read(async move |tx| tx.endpoints_page(&Tenant::operator(), &[], None, 1).await);
        let found = read.await?.into_iter().next();
        Ok(found.map(|(_, endpoint)| endpoint.id).ok_or_else(EndpointId::missing))
    }
}

/// The platform's endpoint has no mode.
fn of_platform(mut answer: Answer) -> Result<Answer> {
    let mut record: Value = serde_json::from_str(&answer.body).map_err(|_| Refusal::internal())?;
    if let Some(livemode) = record.get_mut("livemode") {
        *livemode = Value::Null;
    }
    answer.body = record.to_string();
    Ok(answer)
}
