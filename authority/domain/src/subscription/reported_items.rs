//! The items of a report: which of them continue items of the subscription.

use crate::id::LineItemId;
use crate::refusal::{MemberCode, Refusal, Result};
use crate::subscription::SubscriptionItem;

/// An item of a report.
#[derive(Clone, Debug)]
pub struct ReportedItem {
    /// The item that it goes on from, by its id; else one with the same `sku` and `name` is looked for.
    pub known_as: Option<LineItemId>,
    /// The item, with the id that it gets when it is new.
    pub item: SubscriptionItem,
}

/// The items of a report, each with the id of the item that it continues.
pub(crate) fn merged(
    current: &[SubscriptionItem],
    reported: &[ReportedItem],
) -> Result<Vec<SubscriptionItem>> {
    let mut left: Vec<&SubscriptionItem> = current.iter().collect();
    let mut take = |same: &dyn Fn(&SubscriptionItem) -> bool| {
        let index = left.iter().position(|item| same(item))?;
        Some(left.remove(index).id.clone())
    };
    let mut ids = Vec::with_capacity(reported.len());
    // Items that name the item they continue are matched first.
    for (index, item) in reported.iter().enumerate() {
        let Some(known) = &item.known_as else {
            ids.push(None);
            continue;
        };
        let taken = take(&|item| item.id == *known).ok_or_else(|| {
            let detail = "is no item of this subscription, or is named twice";
            Refusal::member(format!("/items/{index}/id"), MemberCode::UnknownReference, detail)
        })?;
        ids.push(Some(taken));
    }
    let items = reported.iter().zip(ids).map(|(ReportedItem { item, .. }, id)| {
        let id = id.or_else(|| take(&|known| known.sku == item.sku && known.name == item.name));
        SubscriptionItem { id: id.unwrap_or_else(|| item.id.clone()), ..item.clone() }
    });
    Ok(items.collect())
}
