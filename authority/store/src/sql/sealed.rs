//! Sealed values: signing secrets, endpoints' request headers and client certificates, and the answers that showed a
//! secret.

use async_trait::async_trait;
use authority_domain::id::EndpointId;
use sqlx::{QueryBuilder, Row};

use super::endpoint_rows::sealed_secret;
use super::{Db, Session};
use crate::StoreError;
use crate::ports::{AnswerPosition, Sealed, SealedOption, SealedSecret, SecretPosition};

/// The column of `webhook_endpoints` that holds it.
pub(super) const fn column(option: SealedOption) -> &'static str {
    match option {
        SealedOption::RequestHeaders => "headers_sealed",
        SealedOption::ClientCertificate => "client_certificate_sealed",
    }
}

#[async_trait]
impl Sealed for Session<'_> {
    async fn sealed_secrets(
        &mut self,
        after: Option<&SecretPosition>,
        limit: i64,
    ) -> Result<Vec<(EndpointId, SealedSecret)>, StoreError> {
        let mut query =
            QueryBuilder::<Db>::new("SELECT endpoint_id, version, sealed, expires_at FROM endpoint_secrets");
        if let Some((endpoint, version)) = after {
            query.push(" WHERE (endpoint_id, version) > (").push_bind(endpoint.as_str());
            query.push(", ").push_bind(*version).push(")");
        }
        query.push(" ORDER BY endpoint_id, version LIMIT ").push_bind(limit);
        let rows = query.build().fetch_all(&mut *self.conn).await?;
        rows.iter()
            .map(|row| Ok((EndpointId::from_store(row.try_get("endpoint_id")?), sealed_secret(row)?)))
            .collect()
    }

    async fn sealed_secret_replace(
        &mut self,
        (endpoint, version): &SecretPosition,
        old: &[u8],
        new: &[u8],
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE endpoint_secrets SET sealed = $4 WHERE endpoint_id = $1 AND version = $2 AND sealed = $3",
        )
        .bind(endpoint.as_str())
        .bind(*version)
        .bind(old)
        .bind(new)
        .execute(&mut *self.conn)
        .await?;
        Ok(done.rows_affected() == 1)
    }

    async fn sealed_options(
        &mut self,
        option: SealedOption,
        after: Option<&EndpointId>,
        limit: i64,
    ) -> Result<Vec<(EndpointId, Vec<u8>)>, StoreError> {
        let column = column(option);
        let mut query = QueryBuilder::<Db>::new("SELECT id, ");
        query.push(column).push(" FROM webhook_endpoints WHERE ").push(column).push(" IS NOT NULL");
        if let Some(endpoint) = after {
            query.push(" AND id > ").push_bind(endpoint.as_str());
        }
        query.push(" ORDER BY id LIMIT ").push_bind(limit);
        let rows = query.build().fetch_all(&mut *self.conn).await?;
        rows.iter()
            .map(|row| Ok((EndpointId::from_store(row.try_get("id")?), row.try_get(column)?)))
            .collect()
    }

    async fn sealed_option_replace(
        &mut self,
        option: SealedOption,
        endpoint: &EndpointId,
        old: &[u8],
        new: &[u8],
    ) -> Result<bool, StoreError> {
        let column = column(option);
        let mut query = QueryBuilder::<Db>::new("UPDATE webhook_endpoints SET ");
        query.push(column).push(" = ").push_bind(new);
        query.push(" WHERE id = ").push_bind(endpoint.as_str());
        query.push(" AND ").push(column).push(" = ").push_bind(old);
        let done = query.build().execute(&mut *self.conn).await?;
        Ok(done.rows_affected() == 1)
    }

    async fn sealed_answers(
        &mut self,
        after: Option<&AnswerPosition>,
        limit: i64,
    ) -> Result<Vec<(AnswerPosition, String)>, StoreError> {
        // Quotes inside a body are escaped, so this finds only the member itself.
        let mut query = QueryBuilder::<Db>::new(
            "SELECT merchant_id, livemode, key, answer FROM idempotency WHERE answer LIKE '%\"sealed\":\"%'",
        );
        if let Some((merchant, livemode, key)) = after {
            query.push(" AND (merchant_id, livemode, key) > (").push_bind(merchant.as_str());
            query.push(", ").push_bind(*livemode).push(", ").push_bind(key.as_str()).push(")");
        }
        query.push(" ORDER BY merchant_id, livemode, key LIMIT ").push_bind(limit);
        let rows = query.build().fetch_all(&mut *self.conn).await?;
        rows.iter()
            .map(|row| {
                let place = (row.try_get("merchant_id")?, row.try_get("livemode")?, row.try_get("key")?);
                Ok((place, row.try_get("answer")?))
            })
            .collect()
    }

    async fn sealed_answer_replace(
        &mut self,
        (merchant, livemode, key): &AnswerPosition,
        old: &str,
        new: &str,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE idempotency SET answer = $5 \
             WHERE merchant_id = $1 AND livemode = $2 AND key = $3 AND answer = $4",
        )
        .bind(merchant.as_str())
        .bind(*livemode)
        .bind(key.as_str())
        .bind(old)
        .bind(new)
        .execute(&mut *self.conn)
        .await?;
        Ok(done.rows_affected() == 1)
    }
}
