//! The client certificate of an endpoint (contract 4.10): what is written of it is inspected here, and sealed before it
//! reaches the store. No answer shows it again.

use authority_domain::endpoint::client_certificate::NewClientCertificate;
use authority_domain::{EndpointId, Refusal, Result, Timestamp};

use crate::app::App;
use crate::client_certificate::{Fault, read};
use crate::secret_box::SecretContext;

/// The same client certificate, with what the endpoint's record shows of it.
///
/// # Errors
/// 422 for one that no delivery could show, and for one that has expired.
pub(in crate::app) fn inspected(new: NewClientCertificate, now: Timestamp) -> Result<NewClientCertificate> {
    let shown = read(new.certificate(), new.private_key())?.shown;
    if shown.expires_at < now {
        return Err(Fault::Expired.into());
    }
    Ok(new.inspected(shown))
}

impl App {
    /// The client certificate of an endpoint as it is stored; `None` where there is none.
    pub(in crate::app) fn seal_client_certificate(
        &self,
        id: &EndpointId,
        new: Option<&NewClientCertificate>,
    ) -> Result<Option<Vec<u8>>> {
        let Some(new) = new else { return Ok(None) };
        let text = new.to_text().map_err(|_| Refusal::internal())?;
        let context = SecretContext::ClientCertificate { endpoint_id: id.as_str() };
        let sealed = self.secrets.seal(self.dice.as_ref(), context, &text);
        sealed.map(Some).map_err(|_| Refusal::internal())
    }
}
