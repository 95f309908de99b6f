//! The operator root beside the reports of what happened: merchants, keys, deliveries, the audit log, monitoring
//! (contract 6.1, 6.2, 15.3, 15.11).

mod access;
mod audit;
mod deliveries;
mod keys;
mod limits;
mod merchants;
mod metrics;
mod sink;

use tests::{Api, rows};

/// The members of every item of a whole list, page by page with two items each.
async fn listed(api: &Api, path: &str, member: &str) -> Vec<String> {
    let joint = if path.contains('?') { '&' } else { '?' };
    let first = format!("{path}{joint}limit=2");
    let (mut found, mut next) = (Vec::new(), first.clone());
    loop {
        let page = api.get(&next).await.expect(200);
        let items = rows(&page);
        found.extend(items.iter().map(|item| item[member].as_str().unwrap().to_owned()));
        let Some(cursor) = page["next_cursor"].as_str() else { return found };
        assert_eq!(items.len(), 2, "a page with another behind it is full");
        next = format!("{first}&cursor={cursor}");
    }
}
