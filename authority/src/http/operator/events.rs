//! Events of all merchants, for support (contract 6.2).

use authority_domain::OperatorScope;
use authority_domain::list_filter::AllEventsFilter;

use crate::app::Operator;
use crate::http::{Operation, Routes, ok, page};

const LIST: Operation = Operation::get(
    "/events",
    "events.list",
    "List events of all merchants, or of one merchant and mode.",
)
.details(
    "Over all merchants, newest first. With `merchant` and `mode`, which are given together, the events of \
         that stream in order; the other filters require both.",
)
.operator(&[OperatorScope::OperatorRead])
.filter::<AllEventsFilter>()
.answers(&[page("Event", "Events.")]);

const GET: Operation = Operation::get("/events/{event}", "events.get", "Read an event.")
    .operator(&[OperatorScope::OperatorRead])
    .answers(&[ok("Event", "The event.")]);

/// The routes.
pub(super) fn routes() -> Routes {
    Routes::new()
        .list(&LIST, async |app, _: Operator, (), list, filter| app.all_events_list(&list, filter).await)
        .read(&GET, async |app, _: Operator, id| app.event_find(id).await)
}
