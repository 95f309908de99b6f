//! What every database must do, said once: async functions over a [`Shop`] in an empty [`Database`], which each
//! database's own module implements and runs with [`conformance!`].
//!
//! The cases speak to the [`Store`] as use cases do. Where a case must look beside it, or write what no use case
//! writes, it does so with SQL that every database understands.

pub(crate) mod audit;
pub(crate) mod cancelling;
pub(crate) mod change_marks;
pub(crate) mod commits;
pub(crate) mod conditions;
pub(crate) mod console;
pub(crate) mod constraints;
pub(crate) mod dispatcher;
pub(crate) mod due;
pub(crate) mod endpoint_options;
pub(crate) mod endpoints;
pub(crate) mod events;
pub(crate) mod fair_shares;
pub(crate) mod figures;
pub(crate) mod fixtures;
pub(crate) mod hand_off;
pub(crate) mod hand_off_claims;
pub(crate) mod health_figures;
pub(crate) mod held;
pub(crate) mod history;
pub(crate) mod inspection;
pub(crate) mod isolation;
pub(crate) mod leases;
pub(crate) mod limits;
pub(crate) mod operator;
pub(crate) mod operator_reads;
pub(crate) mod order_feed;
pub(crate) mod order_numbers;
pub(crate) mod partner_copies;
pub(crate) mod partners;
pub(crate) mod portal;
pub(crate) mod recoveries;
pub(crate) mod refund_lists;
pub(crate) mod refund_steps;
pub(crate) mod refunds;
pub(crate) mod requests;
pub(crate) mod retention;
pub(crate) mod rooms;
pub(crate) mod rotation;
pub(crate) mod schema;
pub(crate) mod settling;
pub(crate) mod shipments;
pub(crate) mod shop;
pub(crate) mod sink;
pub(crate) mod streams;
pub(crate) mod subscriptions;
pub(crate) mod sync;
pub(crate) mod together;
pub(crate) mod undelivered;
pub(crate) mod upkeep;
pub(crate) mod writer;

use authority_domain::EndpointId;
use authority_store::{Store, StoreError, StoreUrl};

use self::dispatcher::{Counter, moment, sequence};
use self::fixtures::{alert, api_key, at, dice, endpoint, merchant, noon, operator_key, settlement};
use self::held::{Pending, hold, release, submit};
pub(crate) use self::shop::Shop;

/// An empty database for one test.
#[async_trait::async_trait]
pub(crate) trait Database: Send + Sync {
    /// Opens it as the process that serves it.
    async fn open(&self) -> Result<Store, StoreError>;

    /// Where it is.
    fn url(&self) -> StoreUrl;

    /// Runs a statement beside the store; the rows it touched, or what the database says against it.
    async fn execute(&self, sql: &str) -> Result<u64, String>;

    /// The integer a query gives.
    async fn number(&self, sql: &str) -> i64;

    /// How many rows there are of this: a table, and what follows it.
    async fn count(&self, of: &str) -> i64 {
        self.number(&format!("SELECT COUNT(*) FROM {of}")).await
    }

    /// Sets columns of an endpoint.
    async fn set_endpoint(&self, id: &EndpointId, columns: &str) {
        let sql = format!("UPDATE webhook_endpoints SET {columns} WHERE id = '{id}'");
        assert_eq!(self.execute(&sql).await, Ok(1), "{sql}");
    }
}

/// Runs a job of the store, and gives its result:
/// `ask!(shop.store.read, [shop, id], |tx| tx.endpoint_get(&shop.tenant, &id))`.
///
/// A job may outlive its caller, so it borrows nothing. It gets copies of the variables in the brackets, under their
/// names; what else it uses moves into it. When it takes several steps, they stand in `async { … }`. What a job is
/// given beside its work comes first: `ask!(store.write_with(turns), |tx| …)`.
macro_rules! ask {
    ($($way:ident).+ $(($first:expr))?, [$($name:ident),*], |$tx:pat_param| $work:expr) => {
        $($way).+($($first,)? {
            $(let $name = $name.to_owned();)*
            move |$tx: &mut authority_store::tx::Tx| Box::pin(async move { $work.await })
        })
        .await
    };
    ($($way:ident).+ $(($first:expr))?, |$tx:pat_param| $work:expr) => {
        $crate::cases::ask!($($way).+ $(($first))?, [], |$tx| $work)
    };
}

/// The same for a job of a shop that only reads and has to succeed, which gets a copy of the shop as well:
/// `read!(shop, [id], |tx| tx.endpoint_get(&shop.tenant, &id))`.
macro_rules! read {
    ($shop:ident, $([$($name:ident),*],)? |$tx:pat_param| $work:expr) => {
        $crate::cases::ask!($shop.store.read, [$shop $($(, $name)*)?], |$tx| async {
            let _ = &$shop;
            $work.await
        })
        .unwrap()
    };
}

/// The same for a job that writes.
macro_rules! done {
    ($shop:ident, $([$($name:ident),*],)? |$tx:pat_param| $work:expr) => {
        $crate::cases::ask!($shop.store.write, [$shop $($(, $name)*)?], |$tx| async {
            let _ = &$shop;
            $work.await
        })
        .unwrap()
    };
}
pub(crate) use {ask, done, read};

/// Runs a case beside no other one in its thread, as a test does.
pub(crate) fn alone(case: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().unwrap().block_on(case);
}

/// Makes a test of every case for one database, or a list of all cases with their names. A case that is not listed here
/// is an unused function, which the compiler reports.
macro_rules! conformance {
    ($database:ty) => {
        $crate::cases::conformance!(@all tests $database);
    };
    (list $database:ty) => {
        $crate::cases::conformance!(@all list $database)
    };
    (@all $form:ident $database:ty) => {
        $crate::cases::conformance! { @$form $database;
            audit: every_write_of_an_operator_is_kept, a_commit_tells_what_it_wrote;
            cancelling: gone_disables_and_cancels_what_waits,
                what_comes_back_to_a_disabled_endpoint_is_cancelled,
                what_was_in_flight_at_a_disabling_stays_cancelled,
                stranded_deliveries_are_cancelled_a_few_at_a_time,
                attempts_to_a_deleted_endpoint_settle_harmlessly;
            change_marks: a_tenants_mark_changes_with_what_is_its_own,
                the_platforms_mark_changes_with_everybodys_work;
            commits: rows_events_and_deliveries_are_there_together, a_change_that_cannot_be_told_is_not_made,
                a_stale_version_fails_the_whole_change, every_endpoint_that_wants_an_event_gets_it_once,
                a_test_goes_to_its_endpoint_alone, orders_stand_in_lists_by_their_first_event,
                records_of_different_kinds_may_share_a_name,
                payments_and_parcels_of_an_order_come_oldest_first;
            conditions: a_condition_comes_back_as_it_was_put, a_changed_endpoint_begins_anew,
                endpoints_that_time_has_changed_are_found;
            console: a_session_is_there_until_it_is_ended, a_record_is_found_by_each_of_its_names,
                the_story_of_an_order_is_read_whole, endpoints_in_trouble_are_named;
            constraints: one_delivery_per_event_and_endpoint, a_report_counts_once_for_ever,
                one_open_payment_per_checkout, one_shipment_per_idempotency_key, one_parcel_per_tracking_number,
                slugs_and_keys_are_unique, rows_that_break_an_invariant_are_refused;
            due: open_checkouts_are_due_by_their_time, merchants_say_how_long_an_order_may_be_pending,
                pending_orders_come_oldest_first, the_advances_of_a_clock_come_back_oldest_first,
                the_open_attempt_of_a_checkout_is_found, an_alert_counts_until_it_is_closed;
            endpoint_options: a_signature_profile_stays_and_goes_with_every_delivery,
                options_come_back_and_go_with_every_delivery,
                a_client_certificate_comes_back_and_goes_with_every_delivery;
            endpoints: endpoints_come_back_as_they_were, endpoints_are_listed_newest_first,
                a_clock_that_is_set_back_takes_no_endpoint_back, an_endpoint_changes_version_by_version,
                a_deleted_endpoint_is_hidden_and_kept;
            events: events_refuse_update_and_delete, pages_narrow_by_type_record_and_time,
                pages_begin_where_they_are_told, pages_end_at_their_bytes, a_filtered_page_ends_where_its_look_ahead_ends,
                what_is_removed_is_known_to_be_gone;
            fair_shares: a_claim_leaves_others_their_slots,
                a_request_that_turns_slow_makes_room,
                merchants_and_endpoints_take_turns,
                what_needs_a_slow_place_leaves_claims_to_others, who_found_no_place_is_still_behind,
                a_claim_of_some_takes_nothing_that_finds_no_place;
            figures: what_waits_and_how_endpoints_fare_is_counted, what_nobody_sees_to_is_told;
            hand_off: what_is_handed_off_is_what_a_claim_would_read, no_more_than_there_is_room_for,
                what_other_instances_hold_counts, what_waits_goes_first, an_undone_job_hands_nothing_over, a_failed_commit_hands_nothing_over,
                the_sink_tests_and_replays_are_handed_off, without_a_dispatcher_everything_waits,
                a_closed_dispatch_handle_is_given_what_was_leased_before, a_writer_that_panics_is_known_by_its_name;
            hand_off_claims: the_room_that_was_made_is_filled_in_the_same_transaction,
                what_is_asked_for_goes_as_the_probe, a_changed_endpoint_is_recalled,
                what_was_leased_before_a_change_is_given_back,
                an_outcome_counts_only_for_the_holder, what_was_not_begun_is_given_back,
                a_refusal_behind_a_claim_leaves_its_leases;
            health_figures: what_waits_and_what_was_tried_is_counted_per_endpoint, alerts_open_count_and_close,
                failed_deliveries_are_over_when_every_event_has_arrived;
            history: an_endpoints_deliveries_come_newest_first, a_delivery_tells_what_became_of_it,
                an_events_head_is_enough_for_a_replay;
            inspection: a_snapshot_is_one_moment, a_schema_that_a_newer_program_made_is_noticed,
                subscriptions_say_since_when, what_is_sealed_is_replaced_only_as_it_was_read,
                a_sample_is_under_another_key_if_anything_is, operator_keys_end_once;
            isolation: nobody_reads_anothers_records, nobody_writes_anothers_records, numbers_are_each_tenants_own;
            leases: the_cap_of_an_endpoint_counts_what_is_in_flight,
                the_cap_holds_when_older_deliveries_come_later, a_disabled_endpoint_is_left_out,
                deliveries_go_by_time_then_sequence, the_rest_of_a_cap_goes_by_time, two_leases_never_share_a_delivery,
                an_expired_lease_is_anothers, leases_that_are_taken_back_can_be_taken_at_once,
                a_leased_delivery_has_all_an_attempt_needs;
            limits: in_flight_follows_the_endpoint_then_its_merchant, a_hold_says_until_when_and_why,
                limits_outside_their_range_are_refused, instances_are_counted_until_they_leave_or_fall_silent,
                a_thousand_endpoints_are_told_at_once;
            operator: merchants_are_listed_newest_first, keys_are_listed_replaced_and_ended,
                jobs_of_a_transaction_see_what_was_changed_of_a_merchant;
            operator_reads: deliveries_of_everybody_are_found, what_waits_is_counted_and_brought_forward,
                events_of_everybody_come_newest_first;
            order_feed: a_reader_ends_with_every_order_as_it_is, orders_come_by_their_last_change;
            order_numbers: generated_numbers_are_used_once,
                a_number_that_was_just_taken_is_not_generated,
                numbers_used_by_hand_are_passed_over_by_all_that_wait_together,
                imported_numbers_are_passed_over_at_once;
            partner_copies: each_partner_hears_in_its_own_stream, a_share_is_told_to_both_and_changes_nothing,
                an_undone_job_leaves_no_copy, many_partners_hear_in_one_transaction;
            partners: a_code_leads_to_its_invitation_once, two_merchants_are_connected_once,
                connections_are_listed_for_each_side, an_order_is_shared_once_on_a_connection,
                a_connection_ends_all_its_shares_at_once, partner_rows_that_break_a_rule_are_refused;
            portal: a_link_is_opened_once, a_portal_session_goes_with_its_time_and_tells_of_its_key;
            recoveries: a_step_is_taken_once, what_waits_is_replaced_and_what_is_in_flight_is_not,
                nothing_is_made_of_an_event_that_is_gone, a_recovery_ends_once,
                recoveries_that_have_ended_come_newest_first;
            refund_lists: refunds_and_payments_are_listed_by_filter, the_operator_finds_refunds_of_all_merchants,
                late_payments_are_found, a_refund_may_belong_to_no_order;
            refunds: refunds_move_by_themselves_where_their_merchants_let_them,
                open_refunds_reserve_and_ended_ones_do_not, requests_that_wait_together_never_use_the_same_money,
                refunds_never_exceed_what_was_captured,
                a_payment_is_stated_anew_only_as_it_is, one_refund_per_key_of_a_requester;
            requests: an_answer_is_kept_until_it_expires, keys_come_back_as_they_were,
                a_key_is_found_by_the_job_behind_the_one_that_kept_it;
            retention: a_stream_loses_its_oldest_events_with_all_that_is_theirs, nothing_else_removes_an_event,
                an_event_that_was_sent_very_often_is_thinned_first, streams_lose_events_together;
            rooms: a_claim_takes_what_there_is_room_for, a_claim_takes_what_is_wanted_within_what_is_set,
                what_is_held_back_is_not_unattended;
            rotation: two_secrets_sign_while_the_overlap_is_open, old_secrets_are_removed;
            schema: a_newer_schema_is_refused, a_schema_that_began_otherwise_is_refused,
                what_a_newer_program_adds_is_no_obstacle, reopening_keeps_everything;
            settling: each_outcome_leaves_its_marks, only_what_is_still_ours_is_settled,
                a_retry_asked_in_flight_follows_a_failure;
            shipments: parcels_of_an_order_are_paged_newest_first, a_parcel_is_found_with_its_tenant,
                marks_are_kept_beside_the_record, the_operators_word_is_kept_beside_the_record;
            sink: the_platform_gets_everybodys_events;
            streams: a_paging_reader_misses_nothing_and_sees_nothing_twice, created_at_never_steps_back,
                every_merchant_and_mode_has_its_own, streams_that_are_read_together_are_each_their_own;
            subscriptions: subscriptions_come_back_as_they_were, subscriptions_are_each_tenants_own,
                subscriptions_are_listed_newest_first, terms_stand_beside_their_checkout;
            sync: a_checkpoint_moves_version_by_version, checkpoints_are_listed_newest_first, a_name_is_one_orders;
            together: one_of_twenty_is_refused_alone, a_refusal_between_others_leaves_no_gap,
                a_job_of_which_something_was_sent_is_undone_whole, what_a_job_changes_the_next_one_finds,
                what_a_refused_job_changed_nobody_finds;
            undelivered: every_event_has_a_fate, a_filter_and_tests_narrow_what_is_missing,
                a_time_is_a_place_in_the_stream;
            upkeep: what_time_brings_is_found_in_its_shards, what_time_brings_is_seen_to_by_who_holds_its_turn;
            writer: an_answer_comes_after_the_commit, a_refusal_undoes_its_own_writes_only,
                a_refusal_counts_only_when_its_transaction_does,
                a_panic_harms_nobody_else, a_row_that_cannot_be_read_harms_nobody_else,
                a_caller_that_hangs_up_does_not_stop_its_work, callers_that_hang_up_at_random_lose_nothing,
                a_reading_job_cannot_write, closing_finishes_what_was_submitted;
        }
    };
    (@list $database:ty; $($module:ident: $($case:ident),+;)+) => {
        vec![$($((concat!(stringify!($module), "::", stringify!($case)), (|| $crate::cases::alone(async {
            let database = <$database>::migrated().await;
            $crate::cases::$module::$case($crate::cases::Shop::open(&database).await, &database).await;
        })) as fn())),+),+]
    };
    (@tests $database:ty; $($module:ident: $($case:ident),+;)+) => {
        $(mod $module {
            use super::*;
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    let database = <$database>::migrated().await;
                    $crate::cases::$module::$case($crate::cases::Shop::open(&database).await, &database).await;
                }
            )+
        })+
    };
}
pub(crate) use conformance;
