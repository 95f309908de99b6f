//! The lookups there are: for each kind of key, what is found under it.

use crate::sql::transaction::lookups::{Lookup, Part, Select};
use crate::sql::transaction::rows::kinds;

/// Merchants by their ids: body.
pub(crate) static MERCHANTS: Lookup = Lookup {
    key: &kinds!(Text),
    selects: &[Select {
        part: Part::Merchant,
        flag: "TRUE",
        bytes: "NULL",
        texts: &["m.body"],
        numbers: &[],
        from: "merchants m WHERE m.id = t.column1",
    }],
};

/// Answers by (merchant, mode, idempotency key, shard): fingerprint, merchant, key, answer, when it expires.
pub(crate) static ANSWERS: Lookup = Lookup {
    key: &kinds!(Text, Bool, Text, Shard),
    selects: &[Select {
        part: Part::Answer,
        flag: "i.livemode",
        bytes: "i.fingerprint",
        texts: &["i.merchant_id", "i.key", "i.answer"],
        numbers: &["i.expires_at"],
        from: "idempotency i \
            WHERE i.shard = t.column4 AND i.merchant_id = t.column1 AND i.livemode = t.column2 AND i.key = t.column3",
    }],
};

/// Counters of generated order numbers by (merchant, mode, shard): merchant, last number.
pub(crate) static COUNTERS: Lookup = Lookup {
    key: &kinds!(Text, Bool, Shard),
    selects: &[Select {
        part: Part::Counter,
        flag: "c.livemode",
        bytes: "NULL",
        texts: &["c.merchant_id"],
        numbers: &["c.last_number"],
        from: "order_counters c WHERE c.shard = t.column3 AND c.merchant_id = t.column1 AND c.livemode = t.column2",
    }],
};

/// Checkouts that are to be paid, by (id, shard): merchant, id, body, and 1 when a payment is under way.
pub(crate) static CHECKOUTS_TO_PAY: Lookup = Lookup {
    key: &kinds!(Text, Shard),
    selects: &[Select {
        part: Part::CheckoutToPay,
        flag: "c.livemode",
        bytes: "NULL",
        texts: &["c.merchant_id", "c.id", "c.body"],
        numbers: &["CASE WHEN EXISTS (SELECT 1 FROM payments p \
                WHERE p.shard = c.shard AND p.merchant_id = c.merchant_id AND p.livemode = c.livemode AND p.checkout_id = c.id \
                    AND p.status IN ('created', 'pending', 'authorized')) THEN 1 ELSE 0 END"],
        from: "checkouts c WHERE c.shard = t.column2 AND c.id = t.column1",
    }],
};

/// Payments by (id, shard), and what a report about one reads next: merchant, id, body, checkout's id, its body and the
/// terms of its subscription, merchant's body, last order number.
pub(crate) static PAYMENTS: Lookup = Lookup {
    key: &kinds!(Text, Shard),
    selects: &[Select {
        part: Part::Payment,
        flag: "p.livemode",
        bytes: "NULL",
        texts: &[
            "p.merchant_id",
            "p.id",
            "p.body",
            "p.checkout_id",
            "c.body",
            "c.subscription_terms",
            "m.body",
        ],
        numbers: &["o.last_number"],
        from: "payments p JOIN merchants m ON m.id = p.merchant_id \
            LEFT JOIN checkouts c ON c.shard = p.shard AND c.id = p.checkout_id AND c.merchant_id = p.merchant_id AND c.livemode = p.livemode \
            LEFT JOIN order_counters o ON o.shard = p.shard AND o.merchant_id = p.merchant_id AND o.livemode = p.livemode \
            WHERE p.shard = t.column2 AND p.id = t.column1",
    }],
};

/// Refunds by (id, shard): merchant, id, body. Shipments likewise.
pub(crate) static REFUNDS: Lookup = Lookup {
    key: &kinds!(Text, Shard),
    selects: &[record("refunds r WHERE r.shard = t.column2 AND r.id = t.column1")],
};
pub(crate) static SHIPMENTS: Lookup = Lookup {
    key: &kinds!(Text, Shard),
    selects: &[record("shipments r WHERE r.shard = t.column2 AND r.id = t.column1")],
};

const fn record(from: &'static str) -> Select {
    Select {
        part: Part::Record,
        flag: "r.livemode",
        bytes: "NULL",
        texts: &["r.merchant_id", "r.id", "r.body"],
        numbers: &[],
        from,
    }
}

/// Orders by (merchant, mode, number, shard), with what belongs to them: merchant, number, a text; two numbers.
pub(crate) static ORDERS: Lookup = Lookup {
    key: &kinds!(Text, Bool, Text, Shard),
    selects: &[
        of_order(
            Part::Order,
            &["t.column1", "t.column3", "o.body"],
            &["o.resource_version", "CASE WHEN o.confirmed_by_operator THEN 1 ELSE 0 END"],
            "orders o WHERE o.shard = t.column4 AND o.merchant_id = t.column1 AND o.livemode = t.column2 \
                AND o.order_number = t.column3",
        ),
        of_order(
            Part::OrderPayment,
            &["t.column1", "t.column3", "p.body"],
            &["p.created_sequence"],
            "payments p WHERE p.shard = t.column4 AND p.merchant_id = t.column1 AND p.livemode = t.column2 \
                AND p.order_number = t.column3",
        ),
        of_order(
            Part::OpenRefund,
            &["t.column1", "t.column3", "r.payment_id"],
            &["r.amount"],
            // In this form by its order, and never by the index of all open refunds.
            "refunds r WHERE r.shard = t.column4 AND r.merchant_id = t.column1 AND r.livemode = t.column2 \
                AND r.order_number = t.column3 \
                AND CASE WHEN r.status IN ('requested', 'processing') THEN TRUE ELSE FALSE END",
        ),
        of_order(
            Part::OrderShipment,
            &["t.column1", "t.column3", "s.body"],
            &["s.created_sequence"],
            "shipments s WHERE s.shard = t.column4 AND s.merchant_id = t.column1 AND s.livemode = t.column2 \
                AND s.order_number = t.column3",
        ),
        of_order(
            Part::MarkedLine,
            &["t.column1", "t.column3", "l.id"],
            &["l.marked_fulfilled_quantity", "l.marked_shipped_quantity"],
            "order_lines l WHERE l.shard = t.column4 AND l.merchant_id = t.column1 AND l.livemode = t.column2 \
                AND l.order_number = t.column3 AND l.marked_fulfilled_quantity + l.marked_shipped_quantity > 0",
        ),
    ],
};

const fn of_order(
    part: Part,
    texts: &'static [&'static str],
    numbers: &'static [&'static str],
    from: &'static str,
) -> Select {
    Select { part, flag: "t.column2", bytes: "NULL", texts, numbers, from }
}

/// Processors' messages by (merchant, mode, processor, kind, processor's event, the key that it is buffered under,
/// shard): that key, what it was about, what it said.
pub(crate) static MESSAGES: Lookup = Lookup {
    key: &kinds!(Text, Bool, Text, Text, Text, Text, Shard),
    selects: &[Select {
        part: Part::Message,
        flag: "TRUE",
        bytes: "NULL",
        texts: &["t.column6", "r.resource_id", "r.said"],
        numbers: &[],
        from: "processor_reports r WHERE r.shard = t.column7 AND r.merchant_id = t.column1 AND r.livemode = t.column2 \
            AND r.processor = t.column3 AND r.message = t.column4 AND r.processor_event_id = t.column5",
    }],
};

/// Which keys are in use, by (merchant, mode, text, who asks, the key that it is buffered under, shard): that key.
/// Refunds and shipments by their idempotency keys, orders by their numbers.
pub(crate) static USED_FOR_REFUNDS: Lookup = used(&[of_use(
    "refunds r WHERE r.shard = t.column6 AND r.merchant_id = t.column1 AND r.livemode = t.column2 \
        AND r.idempotency_key = t.column3 \
        AND r.requester = t.column4",
)]);
pub(crate) static USED_FOR_SHIPMENTS: Lookup = used(&[of_use(
    "shipments s WHERE s.shard = t.column6 AND s.merchant_id = t.column1 AND s.livemode = t.column2 \
        AND s.idempotency_key = t.column3",
)]);
pub(crate) static USED_FOR_ORDERS: Lookup = used(&[of_use(
    "orders o WHERE o.shard = t.column6 AND o.merchant_id = t.column1 AND o.livemode = t.column2 \
        AND o.order_number = t.column3",
)]);

const fn used(selects: &'static [Select]) -> Lookup {
    Lookup { key: &kinds!(Text, Bool, Text, Text, Text, Shard), selects }
}

const fn of_use(from: &'static str) -> Select {
    Select { part: Part::Used, flag: "TRUE", bytes: "NULL", texts: &["t.column5"], numbers: &[], from }
}
