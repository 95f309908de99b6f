//! Holding the writer still, so that jobs are waiting together when it goes on.

use std::future::Future;
use std::pin::Pin;

use authority_domain::Refusal;
use authority_store::{Store, StoreError};
use futures_util::FutureExt;
use tokio::sync::oneshot;

use super::{Database, ask, merchant};

pub(crate) type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// The gate that a held writer waits for, and the job that waits.
pub(crate) type Held = (oneshot::Sender<()>, Pending<Result<(), StoreError>>);

/// Holds the writer inside a job until the gate opens, so that what is submitted meanwhile waits together.
pub(crate) async fn hold(store: &Store) -> Held {
    let (open, gate) = oneshot::channel::<()>();
    let (entered, inside) = oneshot::channel::<()>();
    let store = store.clone();
    let holding = submit(async move {
        ask!(store.write, |_| async {
            let _ = entered.send(());
            let _ = gate.await;
            Ok(())
        })
    });
    inside.await.unwrap();
    (open, holding)
}

/// Lets the writer go on, and waits for the end of the job that held it.
pub(crate) async fn release((open, holding): Held) {
    open.send(()).unwrap();
    holding.await.unwrap();
}

/// Runs `work` until it waits, which for a writing job is when it stands in the queue. For a writer that is held: any
/// other may have answered by then.
pub(crate) fn submit<T>(work: impl Future<Output = T> + Send + 'static) -> Pending<T> {
    let mut work: Pending<T> = Box::pin(work);
    assert!((&mut work).now_or_never().is_none(), "the job cannot have been answered yet");
    work
}

/// Makes a merchant and then ends as `end` says.
pub(crate) fn make(
    store: &Store,
    slug: &str,
    end: impl FnOnce() -> Result<(), Refusal> + Send + 'static,
) -> Pending<Result<(), Refusal>> {
    let (store, merchant) = (store.clone(), merchant(slug));
    submit(async move {
        ask!(store.write, |tx| async {
            tx.merchant_insert(&merchant).await?;
            end()
        })
    })
}

/// The slugs that are there.
pub(crate) async fn slugs(database: &dyn Database, among: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for slug in among {
        if database.count(&format!("merchants WHERE slug = '{slug}'")).await == 1 {
            found.push((*slug).to_owned());
        }
    }
    found
}
