//! Whether anything has changed since a page was made (contract 20).

use std::fmt;

use authority_domain::{Result, Tenant};
use sha2::{Digest, Sha256};

use crate::app::App;

/// What a page is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Watched {
    /// Everything, as the operator sees it.
    Platform,
    /// A merchant and mode, as the merchant sees it.
    Merchant(Tenant),
    /// The same as the operator sees it: with what goes to the platform's own endpoint.
    MerchantForOperator(Tenant),
}

/// Stands for the state of what is watched. Every instance makes the same mark of the same state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeMark(u64);

impl ChangeMark {
    fn of(text: &str) -> Self {
        let digest = Sha256::digest(text);
        Self(digest.iter().take(8).fold(0, |mark, byte| mark << 8 | u64::from(*byte)))
    }

    /// Reads the text form; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        u64::from_str_radix(text, 16).ok().filter(|_| digits).map(Self)
    }
}

impl fmt::Display for ChangeMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl App {
    /// The mark of the present state.
    pub async fn change_mark(&self, watched: &Watched) -> Result<ChangeMark> {
        let watched = watched.clone();
        let text = self
            .read(async move |tx| match watched {
                Watched::Platform => tx.platform_mark().await,
                Watched::Merchant(tenant) => tx.tenant_mark(&tenant).await,
                Watched::MerchantForOperator(tenant) => {
                    let platform = tx.tenant_mark(&Tenant::operator()).await?;
                    Ok(format!("{} {platform}", tx.tenant_mark(&tenant).await?))
                }
            })
            .await?;
        Ok(ChangeMark::of(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::ChangeMark;

    #[test]
    fn a_mark_is_read_as_it_is_written() {
        let mark = ChangeMark::of("a");
        assert_eq!(ChangeMark::parse(&mark.to_string()), Some(mark));
        assert_ne!(mark, ChangeMark::of("b"));
        for text in ["", "0", "+000000000000001", "000000000000000g", "00000000000000001"] {
            assert_eq!(ChangeMark::parse(text), None, "{text}");
        }
    }
}
