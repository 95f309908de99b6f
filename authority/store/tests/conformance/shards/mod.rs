//! Shards (contract 21-1): every table of a merchant begins its keys with its shard, and every statement names it.

mod catalog;
pub(crate) mod statements;

/// Tables whose rows belong to a merchant or to the operator, and have its shard.
pub(crate) const SHARDED: [&str; 24] = [
    "alerts",
    "attempts",
    "audit_log",
    "checkouts",
    "checkpoints",
    "deliveries",
    "endpoint_figures",
    "endpoint_recoveries",
    "endpoint_secrets",
    "events",
    "external_references",
    "idempotency",
    "order_counters",
    "order_lines",
    "order_shares",
    "orders",
    "payments",
    "processor_reports",
    "refunds",
    "sandbox_clock_advances",
    "shipments",
    "streams",
    "subscriptions",
    "webhook_endpoints",
];

/// Small tables that all shards read, and those of the service itself. They have no shard.
pub(crate) const SMALL: [&str; 11] = [
    "_sqlx_migrations",
    "api_keys",
    "console_sessions",
    "instances",
    "merchants",
    "operator_keys",
    "partner_connection_sides",
    "partner_connections",
    "portal_sessions",
    "turns",
    "write_probe",
];
