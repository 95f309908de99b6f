//! The schemas of answers that are not records of the domain, defined beside the records for the API description.
//! Built only with the feature `schema`.

use schemars::SchemaGenerator;

use crate::app::delivery::outbox;
use crate::app::merchant::keys;
use crate::app::portal::sessions;
use crate::app::{alerts, delivery, endpoint, merchant, partner, payment, refund, report_result, sandbox};

/// The definitions, with the tag (`object`) that serde writes and the derive does not see.
pub const TAGS: [(&str, &str); 20] = [
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
    ("PortalSession", "portal_session"),
    ("RecoveryDryRun", "endpoint_recovery"),
    ("RefundReportResult", "report_result"),
    ("SandboxClock", "sandbox_clock"),
    ("SandboxSeed", "sandbox_seed"),
    ("ShipmentReportResult", "report_result"),
    ("SubscriptionReportResult", "report_result"),
    ("WebhookEndpointWithSecret", "webhook_endpoint"),
    ("WebhookTestRequest", "webhook_test_request"),
];

/// Adds the definitions to the generator.
pub fn define(generator: &mut SchemaGenerator) {
    generator.subschema_for::<alerts::AlertView<'static>>();
    generator.subschema_for::<endpoint::changes::Deleted<'static>>();
    generator.subschema_for::<endpoint::TestRequested<'static>>();
    generator.subschema_for::<endpoint::merchant::WithSecret<'static>>();
    generator.subschema_for::<keys::ShownKey<'static>>();
    generator.subschema_for::<merchant::manage::OperatorView<'static>>();
    generator.subschema_for::<delivery::operator::OperatorDeliveryView<'static>>();
    generator.subschema_for::<outbox::Outbox<'static>>();
    generator.subschema_for::<partner::connections::WithCode<'static>>();
    generator.subschema_for::<payment::read::OperatorView<'static>>();
    generator.subschema_for::<report_result::PaymentReportResult<'static>>();
    generator.subschema_for::<sessions::IssuedLink<'static>>();
    generator.subschema_for::<delivery::recovery::DryRun<'static>>();
    generator.subschema_for::<refund::read::OperatorView<'static>>();
    generator.subschema_for::<report_result::RefundReportResult<'static>>();
    generator.subschema_for::<delivery::replay::Replayed<'static>>();
    generator.subschema_for::<sandbox::clock::ClockView>();
    generator.subschema_for::<sandbox::seed::Seeded>();
    generator.subschema_for::<report_result::ShipmentReportResult<'static>>();
    generator.subschema_for::<report_result::SubscriptionReportResult<'static>>();
}
