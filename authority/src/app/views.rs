//! The schemas of what use cases answer and no record of the domain is: what is written down beside the records for
//! those who describe the API. Built only with the feature `schema`.

use schemars::SchemaGenerator;

use super::{
    alerts, endpoint_changes, endpoints, keys, merchants, operator_deliveries, outbox, partner_connections,
    payment_reads, payment_reports, recoveries, refund_reads, refund_reports, replays, sandbox,
    shipment_reports, subscriptions,
};

/// The definitions, with the tag (`object`) that serde writes and the derive does not know.
pub const TAGS: [(&str, &str); 18] = [
    ("ApiKey", "api_key"),
    ("DeletedWebhookEndpoint", "webhook_endpoint"),
    ("EventReplay", "event_replay"),
    ("OperatorAlert", "alert"),
    ("OperatorDelivery", "delivery"),
    ("OperatorMerchant", "merchant"),
    ("OperatorPayment", "payment"),
    ("OperatorRefund", "refund"),
    ("PlatformOutbox", "outbox"),
    ("PartnerConnectionWithCode", "partner_connection"),
    ("PaymentReportResult", "report_result"),
    ("RecoveryDryRun", "endpoint_recovery"),
    ("RefundReportResult", "report_result"),
    ("SandboxSeed", "sandbox_seed"),
    ("ShipmentReportResult", "report_result"),
    ("SubscriptionReportResult", "report_result"),
    ("WebhookEndpointWithSecret", "webhook_endpoint"),
    ("WebhookTestRequest", "webhook_test_request"),
];

/// Has the generator define them.
pub fn define(generator: &mut SchemaGenerator) {
    generator.subschema_for::<alerts::AlertView<'static>>();
    generator.subschema_for::<endpoint_changes::Deleted<'static>>();
    generator.subschema_for::<endpoints::TestRequested<'static>>();
    generator.subschema_for::<endpoints::WithSecret<'static>>();
    generator.subschema_for::<keys::ShownKey<'static>>();
    generator.subschema_for::<merchants::OperatorView<'static>>();
    generator.subschema_for::<operator_deliveries::Shown<'static>>();
    generator.subschema_for::<outbox::Outbox<'static>>();
    generator.subschema_for::<partner_connections::WithCode<'static>>();
    generator.subschema_for::<payment_reads::OperatorView<'static>>();
    generator.subschema_for::<payment_reports::ReportResult<'static>>();
    generator.subschema_for::<recoveries::DryRun<'static>>();
    generator.subschema_for::<refund_reads::OperatorView<'static>>();
    generator.subschema_for::<refund_reports::ReportResult<'static>>();
    generator.subschema_for::<replays::Replayed<'static>>();
    generator.subschema_for::<sandbox::seed::Seeded>();
    generator.subschema_for::<shipment_reports::ReportResult<'static>>();
    generator.subschema_for::<subscriptions::ReportResult<'static>>();
}
