//! An upgrade without a pause, on PostgreSQL: the schema is migrated beside the running instances of the version
//! before, then they are exchanged one by one, and one goes back and forth again.
//!
//! Clients play stories through all three instances and accept no answer of 5xx, while the receiver accepts everything.
//! So at the end each write that was answered is told by one event, and each event has arrived once: a stop in order
//! makes no duplicate.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use authority_store::{Inspection, StoreUrl};
use tests::binary::binary;
use tests::{Authority, Merchant, Receiver, text};

use super::{CLIENTS, Load, MERCHANTS, audit, check_stream};

const INSTANCES: usize = 3;
/// Answers between two steps.
const ANSWERS: usize = 300;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the version before: cargo xtask prove upgrade"]
async fn instances_are_exchanged_under_load() {
    let before =
        PathBuf::from(std::env::var_os("UPGRADE_FROM").expect("UPGRADE_FROM names the binary before"));
    // Built before the load begins: in the proof that takes minutes.
    let after = binary();
    let url = postgres_cluster::database().await;
    let variables = [("AUTHORITY_LOG", "warn"), ("AUTHORITY_DATABASE_URL", url.as_str())];
    let mut instances = Vec::new();
    for _ in 0..INSTANCES {
        instances.push(Authority::built_as(&before, &variables).await);
    }
    let receiver = Receiver::accepting().await;
    let mut merchants = Vec::new();
    for n in 0..MERCHANTS {
        let merchant = Merchant::create(&instances[0], &format!("upgrade-{n}")).await;
        merchant.endpoint(&receiver.url(&format!("/{n}")), &["*"]).await;
        merchants.push(merchant);
    }
    let load =
        Load::start((0..CLIENTS).map(|n| merchants[n % MERCHANTS].at(&instances[n / MERCHANTS % INSTANCES])));

    load.answers(ANSWERS).await;
    let version_before = schema_version(&url).await;
    instances[0].becomes(after);
    let migrated = instances[0].run(&["migrate"]).await;
    assert!(migrated.status.success(), "{migrated:?}");
    let version = schema_version(&url).await;
    assert!(version > version_before, "there is nothing to migrate: {version}");
    load.answers(ANSWERS).await;
    for instance in &instances {
        assert_eq!(
            instance.probe("/readyz").await.status,
            200,
            "the version before is ready on the new schema"
        );
    }
    // It may start again on the new schema, then the first goes forward, back and forward, then the others.
    for (at, program) in [(2, before.as_path()), (0, after), (0, &before), (0, after), (1, after), (2, after)]
    {
        exchange(&mut instances[at], program).await;
        load.answers(ANSWERS).await;
    }
    let acknowledged = load.stop().await;
    instances[0].nothing_pending().await;
    let mut events = 0;
    for (n, merchant) in merchants.iter().enumerate() {
        check_stream(merchant, &acknowledged).await;
        let mut arrived: BTreeMap<String, usize> = BTreeMap::new();
        for arrival in receiver.arrivals().at(&format!("/{n}")) {
            *arrived.entry(arrival.event_id.clone()).or_default() += 1;
        }
        let told = merchant.events().await;
        events += told.len();
        assert_eq!(arrived, told.iter().map(|event| (text(event, "id"), 1)).collect());
    }
    for instance in &mut instances {
        instance.terminate().await;
    }
    audit(&instances[0]).await;
    println!(
        "{INSTANCES} instances, schema {version_before} to {version} and 6 exchanges under load: {} writes answered, none with 5xx, {events} \
         events told, lost 0, twice 0",
        acknowledged.len()
    );
}

async fn schema_version(url: &str) -> i64 {
    let inspection = Inspection::open(&StoreUrl::parse(url).unwrap()).await.unwrap();
    let found = inspection.schema_found;
    inspection.close().await;
    found
}

/// Stops the instance in order and starts it as this program.
async fn exchange(instance: &mut Authority, program: &Path) {
    instance.becomes(program);
    instance.terminate().await;
    instance.restart().await;
    assert_eq!(instance.probe("/readyz").await.status, 200);
}
