//! The query parameters that the lists of both APIs share, besides their own filters (contract 4.5).

use authority_domain::refusal::Refusal;
use authority_domain::text_enum::TextEnum;
use verify_core::catalog::EventType;

use super::operation::Operation;
use super::query::Query;
use crate::app::lists::ListRequest;

/// Rows per page by default.
const ROWS: u16 = 25;
/// The same for feeds.
const FEED_ROWS: u16 = 100;

/// The parameters that all lists share; call this after reading the list's own filters. The cursors of a list below
/// another record, `parent`, are bound to that record as well.
pub(super) fn list_request(
    mut query: Query,
    operation: &Operation,
    parent: Option<&str>,
) -> Result<ListRequest, Refusal> {
    let limit = query.limit(if operation.has_resume_cursor() { FEED_ROWS } else { ROWS })?;
    let cursor = query.cursor();
    let filter = query.finish()?;
    let filter = parent.map_or_else(|| filter.as_str().to_owned(), |parent| filter.within(parent));
    Ok(ListRequest { limit, cursor, filter })
}

/// The filter of a list that has none.
pub(super) fn nothing(_: &mut Query) -> Result<(), Refusal> {
    Ok(())
}

/// `true` or `false`.
pub(super) fn flag(query: &mut Query, name: &'static str) -> Result<Option<bool>, Refusal> {
    query.parsed(name, "true or false", |text| text.parse().ok())
}

/// A comma list of an enum's values, in the form that the store compares.
pub(super) fn words<E: TextEnum>(query: &mut Query, name: &'static str) -> Result<Vec<String>, Refusal> {
    Ok(query.list::<E>(name)?.iter().map(|value| value.as_str().to_owned()).collect())
}

/// A comma list of catalog names, or `<category>.*` for all of a category.
pub(super) fn event_types(query: &mut Query, name: &'static str) -> Result<Vec<String>, Refusal> {
    let expand = |text: &str| -> Option<Vec<EventType>> {
        let named: Vec<EventType> = EventType::ALL
            .into_iter()
            .filter(|event| {
                event.as_str() == text
                    || text.strip_suffix(".*").is_some_and(|category| category == event.category())
            })
            .collect();
        (!named.is_empty()).then_some(named)
    };
    let write =
        |types: &Vec<EventType>| types.iter().map(|event| event.as_str()).collect::<Vec<_>>().join(" ");
    let lists = query.list_of(name, expand, write)?;
    let mut names: Vec<String> = lists.into_iter().flatten().map(|event| event.as_str().to_owned()).collect();
    names.sort();
    names.dedup();
    Ok(names)
}
