//! The judge finds what it is there to find: the evidence of a run in which nothing is wrong, with one thing taken away
//! or altered at a time.

use postgres_cluster::Durability;
use tests::Database;
use tests::damage::damage;

use crate::facts::Look;
use crate::history::Standing;
use crate::judge::{Evidence, Findings, judge};
use crate::merchants::Promise;
use crate::plan::Plan;
use crate::receiver::Arrival;

/// What is done to the evidence, how, and what the judge must say of it: lost things, then wrong ones.
type Mutation = (&'static str, fn(&mut Evidence), &'static [&'static str], &'static [&'static str]);

const MUTATIONS: [Mutation; 13] = [
    ("an event is gone", |of| drop_event(of), &["is told 0 times"], &["is not there"]),
    (
        "a delivery is gone with its attempts",
        |of| drop_delivery(of),
        &["has no delivery for"],
        &["sent, and never committed"],
    ),
    (
        "what arrived has not arrived",
        |of| {
            let id = succeeded(of);
            of.record.arrivals.retain(|arrival| arrival.delivery != id);
        },
        &["never arrived with a 2xx"],
        &["not plausible"],
    ),
    (
        "what was recovered has not arrived either",
        |of| forget_arrivals(of),
        &["never arrived with a 2xx", "which has caught up"],
        &["not plausible"],
    ),
    (
        "the receiver refused it",
        |of| edit_arrival(of, |arrival| arrival.answered = Some(500)),
        &["never arrived with a 2xx"],
        &["not plausible"],
    ),
    (
        "it waits for ever",
        |of| {
            let id = succeeded(of);
            let row = of.facts.deliveries.iter_mut().find(|row| row.id == id).unwrap();
            "pending".clone_into(&mut row.status);
        },
        &["waits still"],
        &[],
    ),
    (
        "it was given up for nothing",
        |of| {
            let id = succeeded(of);
            let row = of.facts.deliveries.iter_mut().find(|row| row.id == id).unwrap();
            "failed".clone_into(&mut row.status);
            row.failure_reason = Some("attempts_exhausted".to_owned());
        },
        &["no reason to have ended"],
        &[],
    ),
    (
        "an attempt is gone",
        |of| {
            let id = succeeded(of);
            of.facts.attempts.retain(|row| row.delivery_id != id);
        },
        &["no reason to have ended"],
        &["attempts, but"],
    ),
    (
        "an attempt came before its time",
        |of| of.facts.attempts[0].started_at = 1_000,
        &[],
        &["not plausible"],
    ),
    (
        "other bytes",
        |of| {
            let body = of.record.bodies.values_mut().next().unwrap();
            *body = [body.as_ref(), b" "].concat().into();
        },
        &[],
        &["other bytes than are stored"],
    ),
    (
        "another secret",
        |of| edit_arrival(of, |arrival| arrival.signature = arrival.signature.replace("v1=", "v1=0")),
        &[],
        &["signed with other secrets"],
    ),
    (
        "another address",
        |of| edit_arrival(of, |arrival| "/elsewhere".clone_into(&mut arrival.path)),
        &[],
        &["to where the endpoint was not"],
    ),
    (
        "an endpoint that was never enabled",
        |of| {
            let endpoint = of.facts.deliveries[0].endpoint_id.clone();
            let history = of.histories.iter_mut().find(|history| history.endpoint == endpoint).unwrap();
            history.eras.iter_mut().for_each(|era| era.state.standing = Standing::Disabled);
        },
        &[],
        &["has a delivery for", "to an endpoint that gets nothing"],
    ),
];

#[tokio::test]
async fn the_judge_finds_what_is_missing_and_what_is_altered() {
    let plan = Plan::short(Database::Sqlite, 7, 1);
    let (mut fleet, _, evidence) = crate::campaign(&plan, Durability::Off).await;
    assert_eq!(judge(&evidence), Findings::default());
    for (name, mutate, lost, wrong) in MUTATIONS {
        let mut mutated = evidence.clone();
        mutate(&mut mutated);
        let found = judge(&mutated);
        for (expected, said) in [(lost, &found.lost), (wrong, &found.wrong)] {
            let told = expected.iter().all(|text| said.iter().any(|finding| finding.contains(text)));
            assert!(told && said.is_empty() == expected.is_empty(), "{name}: {found:?}");
        }
    }
    // And so it does when the harm was done to the database itself.
    fleet.terminate().await;
    let id = fanned_out(&evidence);
    let harm =
        format!("DELETE FROM attempts WHERE delivery_id = '{id}'; DELETE FROM deliveries WHERE id = '{id}'");
    damage(fleet.database_url(), &harm).await;
    let facts = Look::at(fleet.database_url()).await.facts().await;
    assert_eq!(facts.deliveries.len() + 1, evidence.facts.deliveries.len());
    let found = judge(&Evidence { facts, ..evidence });
    assert!(found.lost.iter().any(|lost| lost.contains("has no delivery for")), "{found:?}");
}

/// A delivery of an acknowledged event to an endpoint that nothing was done to.
fn fanned_out(of: &Evidence) -> String {
    let quiet = |endpoint: &str| {
        of.histories.iter().any(|history| {
            history.endpoint == endpoint
                && history.eras.iter().all(|era| era.state.standing == Standing::Enabled)
        })
    };
    let gone: Vec<_> = of
        .record
        .arrivals
        .iter()
        .filter(|arrival| arrival.answered == Some(410))
        .map(|of| &of.delivery)
        .collect();
    let was_gone = |endpoint: &str| {
        of.facts.deliveries.iter().any(|row| row.endpoint_id == endpoint && gone.contains(&&row.id))
    };
    let mut rows = of.facts.deliveries.iter();
    let row = rows.find(|row| {
        row.triggered_by == "event"
            && row.status == "succeeded"
            && quiet(&row.endpoint_id)
            && !was_gone(&row.endpoint_id)
            && of.acknowledged.iter().any(|told| is_about(told, row.event_id.as_str(), of))
    });
    row.expect("a delivery to an endpoint that nothing was done to").id.clone()
}

fn is_about(told: &crate::merchants::Acknowledged, event: &str, of: &Evidence) -> bool {
    let row = of.facts.events.iter().find(|row| row.id == event).unwrap();
    matches!(&told.promise, Promise::Event { resource, event_type, .. }
        if (resource, event_type) == (&row.resource_id, &row.event_type))
}

fn drop_delivery(of: &mut Evidence) {
    let id = fanned_out(of);
    of.facts.deliveries.retain(|row| row.id != id);
    of.facts.attempts.retain(|row| row.delivery_id != id);
}

/// Nothing of one event has ever arrived at one endpoint.
fn forget_arrivals(of: &mut Evidence) {
    let id = fanned_out(of);
    let row = of.facts.deliveries.iter().find(|row| row.id == id).unwrap();
    let same = of
        .facts
        .deliveries
        .iter()
        .filter(|other| (&other.event_id, &other.endpoint_id) == (&row.event_id, &row.endpoint_id));
    let same: Vec<_> = same.map(|other| &other.id).collect();
    of.record.arrivals.retain(|arrival| !same.contains(&&arrival.delivery));
}

fn drop_event(of: &mut Evidence) {
    let id = fanned_out(of);
    let event = of.facts.deliveries.iter().find(|row| row.id == id).unwrap().event_id.clone();
    of.facts.events.retain(|row| row.id != event);
}

/// A delivery that arrived once.
fn succeeded(of: &Evidence) -> String {
    let once = |id: &str| of.record.arrivals.iter().filter(|arrival| arrival.delivery == id).count() == 1;
    let mut rows = of.facts.deliveries.iter();
    rows.find(|row| row.status == "succeeded" && once(&row.id))
        .expect("a delivery that arrived once")
        .id
        .clone()
}

fn edit_arrival(of: &mut Evidence, edit: impl FnOnce(&mut Arrival)) {
    let id = succeeded(of);
    edit(of.record.arrivals.iter_mut().find(|arrival| arrival.delivery == id).unwrap());
}
