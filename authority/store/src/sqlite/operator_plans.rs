//! What the lists of all merchants' deliveries cost beside a large history, in steps of SQLite's virtual machine.

use authority_domain::list_filter::AllDeliveriesFilter;
use authority_domain::{DeliveryStatus, EndpointId};

use super::large::{Large, MANY, tenant};

/// Those of this endpoint, or of all without a name, with one of these statuses.
fn of(endpoint: &str, status: &[&str]) -> AllDeliveriesFilter {
    AllDeliveriesFilter {
        endpoint_id: (!endpoint.is_empty()).then(|| EndpointId::from_store(endpoint.to_owned())),
        status: status.iter().map(|status| DeliveryStatus::parse(status).unwrap()).collect(),
        ..AllDeliveriesFilter::default()
    }
}

/// Of 150,000 deliveries 50,000 wait for a dead endpoint, three are failed, none is cancelled.
#[tokio::test]
async fn a_page_of_all_deliveries_reads_a_bounded_part_of_them() {
    let mut large = Large::new().await;
    let failed = "UPDATE deliveries SET status = 'failed', failed_at = 1, succeeded_at = NULL \
         WHERE id IN ('done_live7', 'done_live8', 'done_dead9')";
    large.execute(failed).await;
    // Those that read what they show and no more, and those that look ahead for what they do not find.
    let (little, bounded) = (3_000, 120_000);
    for (endpoint, status, expected, ends, most) in [
        ("", &[][..], 26, true, little),
        ("", &["failed"], 3, true, little),
        ("", &["cancelled"], 0, true, little),
        ("", &["succeeded"], 26, false, bounded),
        ("", &["pending"], 5, false, bounded),
        ("", &["failed", "cancelled"], 2, false, bounded),
        ("live", &[], 26, true, little),
        ("live", &["failed"], 2, true, little),
        ("live", &["cancelled"], 0, true, little),
        ("live", &["pending"], 5, false, bounded),
        ("dead", &["pending"], 26, false, bounded),
        ("dead", &["succeeded"], 0, false, bounded),
        ("idle", &[], 0, true, little),
    ] {
        large.steps();
        let filter = of(endpoint, status);
        let page = large.tx.all_deliveries_page(&filter, None, 26).await.unwrap();
        assert_eq!((page.rows.len(), page.looked_to.is_none()), (expected, ends), "{endpoint} {status:?}");
        large.within_of(most, &format!("{endpoint} {status:?}"));
    }
}

/// What every page that keeps itself up to date has read once a second.
#[tokio::test]
async fn a_mark_of_change_costs_the_same_beside_a_large_history() {
    let mut large = Large::new().await;
    let counted = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) \
         INSERT INTO endpoint_figures (endpoint_id, since, attempts, failed_attempts, failed_deliveries) \
         SELECT 'we_' || i, 172800000, 1, 0, 0 FROM n UNION ALL SELECT 'shard', 172800000, 20000, 3, 2 \
         UNION ALL SELECT 'live', 172800000 - 300000 * i, 1, 0, 0 FROM n";
    large.execute(counted).await;
    large.steps();
    assert!(!large.tx.tenant_mark(&tenant()).await.unwrap().is_empty());
    let of_tenant = large.steps();
    assert!(large.tx.platform_mark().await.unwrap().contains("20002"));
    let of_platform = large.steps();
    assert!(of_tenant < 5_000 && of_platform < 5_000, "{of_tenant} and {of_platform} steps");
}

/// Page by page, however many of them are empty, a list shows everything once.
#[tokio::test]
async fn a_list_that_looks_ahead_leaves_nothing_out() {
    let mut large = Large::new().await;
    for endpoint in ["", "dead"] {
        let filter = of(endpoint, &["succeeded"]);
        let (mut before, mut found, mut empty) = (None::<String>, 0, 0);
        loop {
            let page = large.tx.all_deliveries_page(&filter, before.as_deref(), MANY).await.unwrap();
            found += page.rows.len();
            empty += usize::from(page.rows.is_empty());
            let Some(end) = page.looked_to else { break };
            before = Some(end);
        }
        let expected = if endpoint.is_empty() { 2 * MANY } else { MANY };
        assert_eq!(i64::try_from(found), Ok(expected), "{endpoint}");
        // Those of what waits, and the last one.
        assert!(endpoint.is_empty() || empty == 6, "{empty} pages are empty");
    }
}
