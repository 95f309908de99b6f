//! What is done to the database of a business, and all that the doctor finds then.

/// The last event of the shipped order, its row, and one member of both.
fn on_shipped_order(from: &str, to: &str, columns: &str) -> String {
    format!(
        "UPDATE events SET body = REPLACE(body, '{from}', '{to}') WHERE type = 'order.shipped'; \
         UPDATE orders SET body = REPLACE(body, '{from}', '{to}'){columns} WHERE fulfillment_status = 'shipped';"
    )
}

/// The succeeded payment of the shipped order, likewise.
fn on_payment(from: &str, to: &str, column: &str) -> String {
    format!(
        "UPDATE events SET body = REPLACE(body, '{from}', '{to}') WHERE type = 'payment.succeeded' AND sequence < 10; \
         UPDATE payments SET body = REPLACE(body, '{from}', '{to}'), {column} \
         WHERE order_number = (SELECT order_number FROM orders WHERE fulfillment_status = 'shipped');"
    )
}

/// What is done to the database, and all that is found then.
pub(crate) fn damages(tested_at: &str) -> Vec<(String, Vec<&'static str>)> {
    let order = on_shipped_order;
    let shift = format!(
        "UPDATE events SET created_at = 1577836800000, \
         body = REPLACE(body, '\"created_at\":\"{tested_at}\"', '\"created_at\":\"2020-01-01T00:00:00.000Z\"') \
         WHERE type = 'webhook.test';"
    );
    let untold = "INSERT INTO checkouts (shard, id, merchant_id, livemode, status, currency, total, expires_at, \
                      resource_version, body) \
                  SELECT shard, 'chk_untold', merchant_id, livemode, status, currency, total, expires_at, 1, body \
                  FROM checkouts WHERE status = 'open';";
    let forget = "DELETE FROM attempts WHERE delivery_id IN (SELECT id FROM deliveries WHERE event_type = '{}'); \
                  DELETE FROM deliveries WHERE event_type = '{}';";
    let forget = |event_type: &str| forget.replace("{}", event_type);
    let forget_test = forget("webhook.test") + "DELETE FROM events WHERE type = 'webhook.test';";
    let table: Vec<(String, Vec<&'static str>)> = vec![
        (
            order("\"currency\":\"USD\"", "\"currency\":\"EUR\"", ", currency = 'EUR'"),
            vec!["I1 currency_differs", "I1 currency_differs"],
        ),
        (
            on_payment("\"amount_captured\":5300", "\"amount_captured\":9900", "amount_captured = 9900"),
            vec!["I3 payment_amounts_out_of_order"],
        ),
        (
            on_payment("\"amount_refunded\":0", "\"amount_refunded\":100", "amount_refunded = 100"),
            vec!["I2 refunded_sum_differs", "I6 payment_status_differs", "I6 payment_summary_differs"],
        ),
        (
            "UPDATE payments SET amount_refund_pending = 5, \
             body = REPLACE(body, '\"amount_refund_pending\":0', '\"amount_refund_pending\":5') \
             WHERE order_number = (SELECT order_number FROM orders WHERE fulfillment_status = 'shipped');"
                .to_owned(),
            vec!["I2 refunded_sum_differs"],
        ),
        (
            "UPDATE events SET body = REPLACE(body, '\"amount\":700', '\"amount\":9900') \
             WHERE type = 'refund.requested'; \
             UPDATE refunds SET amount = 9900, body = REPLACE(body, '\"amount\":700', '\"amount\":9900');"
                .to_owned(),
            vec!["I2 refunded_sum_differs", "I2 refunds_exceed_captured", "I6 payment_summary_differs"],
        ),
        (order("\"shipping\":500", "\"shipping\":400", ""), vec!["I4 amounts_do_not_add_up"]),
        (
            order("\"delivered_quantity\":0", "\"delivered_quantity\":3", "")
                + "UPDATE order_lines SET delivered_quantity = 3 WHERE shipped_quantity = 2;",
            vec!["I5 line_quantities_out_of_order"],
        ),
        (
            "UPDATE events SET body = REPLACE(body, '\"quantity\":2', '\"quantity\":3') WHERE type = 'shipment.created'; \
             UPDATE shipments SET body = REPLACE(body, '\"quantity\":2', '\"quantity\":3');"
                .to_owned(),
            vec!["I5 parcels_exceed_shipped"],
        ),
        (
            order("\"payment_status\":\"paid\"", "\"payment_status\":\"unpaid\"", ", payment_status = 'unpaid'"),
            vec!["I6 payment_status_differs"],
        ),
        (order("\"captured\":5300", "\"captured\":5200", ""), vec!["I6 payment_summary_differs"]),
        (
            order(
                "\"fulfillment_status\":\"shipped\"",
                "\"fulfillment_status\":\"fulfilled\"",
                ", fulfillment_status = 'fulfilled'",
            ),
            vec!["I6 fulfillment_status_differs"],
        ),
        (
            "UPDATE events SET body = REPLACE(body, '\"resource_version\":2', '\"resource_version\":7') \
             WHERE type = 'order.confirmed' AND sequence < 10;"
                .to_owned(),
            vec!["I7 version_gap", "I7 version_gap"],
        ),
        (
            "UPDATE shipments SET resource_version = 2, \
             body = REPLACE(body, '\"resource_version\":1', '\"resource_version\":2');"
                .to_owned(),
            vec!["I7 record_version_differs"],
        ),
        (forget_test, vec!["I8 sequence_gap"]),
        (shift, vec!["I8 created_at_decreases"]),
        ("UPDATE streams SET last_sequence = last_sequence + 1;".to_owned(), vec!["I8 stream_counter_differs"]),
        (
            "UPDATE events SET body = REPLACE(body, '\"livemode\":false', '\"livemode\":true') \
             WHERE type = 'webhook.test';"
                .to_owned(),
            vec!["I9 event_inconsistent"],
        ),
        (untold.to_owned(), vec!["I10 record_without_event"]),
        ("DELETE FROM shipments;".to_owned(), vec!["I10 event_without_record"]),
        (
            "UPDATE checkouts SET body = REPLACE(body, 'T-shirt', 'Jacket') WHERE status = 'open';".to_owned(),
            vec!["I10 record_differs"],
        ),
        (
            "UPDATE checkouts SET total = total + 1 WHERE status = 'open';".to_owned(),
            vec!["I10 columns_differ"],
        ),
        (
            "UPDATE order_lines SET delivered_quantity = 1 WHERE shipped_quantity = 2;".to_owned(),
            vec!["I10 columns_differ"],
        ),
        (
            "INSERT INTO external_references (shard, merchant_id, livemode, system, id, order_number) \
             SELECT shard, merchant_id, livemode, 'erp', 'SO-1', order_number FROM orders \
             WHERE fulfillment_status = 'shipped';"
                .to_owned(),
            vec!["I10 columns_differ"],
        ),
        ("UPDATE orders SET last_sequence = 1000 WHERE fulfillment_status = 'shipped';".to_owned(), vec!["I10 columns_differ"]),
        ("UPDATE shipments SET body = '{}';".to_owned(), vec!["I10 record_unreadable"]),
        (forget("shipment.created"), vec!["I12 delivery_missing"]),
        (
            "UPDATE deliveries SET event_type = 'order.created' WHERE event_type = 'shipment.created';".to_owned(),
            vec!["I12 delivery_unexpected"],
        ),
        (
            "UPDATE order_lines SET marked_fulfilled_quantity = 1 WHERE fulfilled_quantity = 0;".to_owned(),
            vec!["I5 fulfilled_quantity_differs"],
        ),
        (
            on_payment("\"late\":false", "\"late\":true", "late = TRUE"),
            vec!["I14 late_payment_differs"],
        ),
        (
            "UPDATE events SET body = REPLACE(body, '\"status\":\"created\"', '\"status\":\"cancelled\"') \
             WHERE type = 'payment.created' AND resource_id = (SELECT id FROM payments WHERE status = 'failed');"
                .to_owned(),
            vec!["I14 terminal_state_left"],
        ),
    ];
    table
}
