//! Making merchants (contract 6.2).

use authority_domain::id::MerchantId;
use authority_domain::refusal::{MemberCode, Refusal};
use authority_domain::requests::MerchantRequest;
use authority_store::ports::KeyScope;
use authority_store::{Constraint, StoreError};
use serde_json::Value;

use super::{Answer, App, Mutation};

impl App {
    /// `POST /merchants`.
    ///
    /// # Errors
    /// 422 for wrong members and for a slug that is taken.
    pub async fn merchant_create(&self, mutation: Mutation, body: Value) -> Result<Answer, Refusal> {
        mutation
            .run(self, KeyScope::Operator, move |work| {
                Box::pin(async move {
                    let request = MerchantRequest::read(&body)?;
                    let merchant =
                        request.into_merchant(MerchantId::generate(work.now, &mut work.dice), work.now);
                    match work.tx.merchant_insert(&merchant).await {
                        Err(StoreError::Conflict(Constraint::MerchantSlug)) => {
                            return Err(Refusal::member("/slug", MemberCode::Duplicate, "is taken"));
                        }
                        other => other?,
                    }
                    Ok(Answer::record(201, &merchant)?.about(merchant.id.as_str()))
                })
            })
            .await
    }
}
