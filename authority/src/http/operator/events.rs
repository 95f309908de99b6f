//! Events of all merchants, for support (contract 6.2).

use authority_domain::OperatorScope;
use authority_domain::list_filter::AllEventsFilter;

use super::Routes;
use crate::http::{Operation, ok, page};

const LIST: Operation = Operation::get("/events", "events.list")
    .summary("List events of all merchants, or of one merchant and mode.")
    .details(
        "Over all merchants, newest first. With `merchant` and `mode`, which are given together, the events of \
             that stream in order; the other filters require both.",
    )
    .operator(&[OperatorScope::OperatorRead])
    .filter::<AllEventsFilter>()
    .answers(&[page("Event", "Events.")]);

const GET: Operation = Operation::get("/events/{event}", "events.get")
    .summary("Read an event.")
    .operator(&[OperatorScope::OperatorRead])
    .answers(&[ok("Event", "The event.")]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&LIST, async |app, _, (), list, filter| app.all_events_list(&list, filter).await)
        .read(&GET, async |app, _, id| app.event_find(id).await)
}
