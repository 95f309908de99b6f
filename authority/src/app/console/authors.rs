//! Who writes: the names of operator keys, and whether an author is anybody.

use std::collections::BTreeMap;

use authority_domain::list_filter::AuditFilter;
use authority_domain::{Author, Result};
use authority_store::StoreError;
use authority_store::tx::Tx;

use crate::app::App;

impl App {
    /// The name of every operator key by its id, revoked ones among them; there are few.
    pub async fn operator_key_names(&self) -> Result<BTreeMap<String, String>> {
        let keys = self.read(async move |tx| tx.operator_keys().await).await?;
        Ok(keys.into_iter().map(|key| (key.id.to_string(), key.name)).collect())
    }
}

/// Whether the audit log knows an author: it wrote something, or something was done to it.
pub(super) async fn is_known(tx: &mut Tx, author: &Author) -> Result<bool, StoreError> {
    let wrote = AuditFilter { author: Some(author.clone()), ..AuditFilter::default() };
    let about = AuditFilter { resource_id: Some(author.to_string()), ..AuditFilter::default() };
    for filter in [wrote, about] {
        if !tx.audit_page(&filter, None, 1).await?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}
