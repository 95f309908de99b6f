//! What is said about bodies and their members where no record says it.

/// What a body is for.
pub(crate) fn of_body(name: &str) -> &'static str {
    match name {
        "AcceptRequest" => "The code of an invitation.",
        "ApiKeyRequest" => "A key to be issued.",
        "ApiKeyRotationRequest" => "How a key is to be replaced.",
        "CheckoutRequest" => "A checkout to be opened. The authority makes ids and sums.",
        "CheckpointRequest" => "Up to where everything is durably processed.",
        "ConnectionRequest" => "An invitation to be made.",
        "ExternalReferenceRequest" => "What another system calls the order.",
        "EndpointLimits" => "How much may be sent to a webhook endpoint at a time.",
        "EndpointPatch" => "What is to change of a webhook endpoint; what is absent stays.",
        "EndpointRequest" => "A webhook endpoint to be made.",
        "EndpointTestRequest" => "What the test event is to say.",
        "FulfillmentRequest" => "How far the fulfilment has come: a target, quantities of lines, a note.",
        "MerchantPatch" => "What is to change of a merchant; what is absent stays.",
        "MerchantRequest" => "A merchant to be made.",
        "NoMembers" => "An object without members.",
        "OptionalReasonRequest" => "Why, for the audit log.",
        "OrderCancelRequest" => "Why the order is cancelled.",
        "OrderPatch" => "What is to change of an order, as a JSON merge patch (RFC 7396).",
        "OrderRequest" => {
            "An order from elsewhere. The authority makes ids and sums; sums that are given must agree."
        }
        "PayRequest" => "How an attempt to pay goes.",
        "PaymentAdvance" => "What the processor reports of a payment.",
        "PaymentReportRequest" => "What a processor reports of a payment.",
        "PaymentRequest" => "An attempt to pay a checkout, an order, or a subscription's latest order.",
        "PortalSessionRequest" => "A link to the merchant portal to be made.",
        "ReasonRequest" => "Why, for the audit log.",
        "RecoveryRequest" => "What is to be sent again.",
        "RefundAdvance" => "What the processor reports of a refund.",
        "RefundReportRequest" => "What a processor reports of a refund.",
        "RefundRequest" => "Money to be given back.",
        "PaymentRefundRequest" => "Money of a payment to be given back.",
        "ReplayRequest" => "To whom an event is to be sent once more.",
        "RotationRequest" => "How a signing secret is to be replaced.",
        "SandboxOrderRequest" => "An order to be taken in, and whether it is paid.",
        "ClockRequest" => "How much time is to pass.",
        "SeedRequest" => "How much demonstration data, and which.",
        "ShareRequest" => "With whom an order is to be shared, and what of it is to be shown.",
        "ShareTerms" => "What of an order is to be shown.",
        "ShipmentAdvance" => "What the carrier reports of a parcel.",
        "ShipmentReportRequest" => "What a carrier reports of a parcel; what is absent stays.",
        "ShipmentRequest" => "A parcel to be recorded.",
        "SubscriptionAdvance" => "Where the subscription is to go: to a status, or into its next period.",
        "SubscriptionReportRequest" => "What is to change of a subscription.",
        "SubscriptionRequest" => "A subscription to be made. A trial is given by its days or by its end.",
        _ => "",
    }
}

/// What a member of this name means in bodies, where it is not the same as in the record.
pub(crate) fn of_member(name: &str) -> Option<&'static str> {
    Some(match name {
        "applied" => "Whether the report changed it.",
        "certificate" => {
            "The certificates to show, in PEM: the endpoint's own first, then those that lead to its authority; 1 to 8."
        }
        "client_certificate" => {
            "The certificate that deliveries show to a receiver that asks for one, with its private key; neither is ever \
             shown. It takes the place of the one before; null removes it. At most 16384 bytes together (contract 4.10)."
        }
        "default_currency" => "The currency where none is given, ISO 4217.",
        "discount" => "Of the whole, beside those of the lines, in minor units.",
        "dry_run" => "Only count.",
        "endpoint_ids" => "To these; to every enabled one that wants the event where it is not given.",
        "expires_in_seconds" => {
            "How long the link and its session last together, in seconds; an hour where it is not given."
        }
        "failure_code" => "Why it fails; goes with a failure alone.",
        "force" => "Ends an overlap that is open.",
        "headers" => {
            "What deliveries carry beside the service's own headers: names with their values, which are never shown. All \
             of them together take the place of those before; null or none removes them. At most 4096 bytes; names that \
             the service, the connection or proxies use are refused (contract 4.10)."
        }
        "invite_code" => "The code that the inviting merchant was given.",
        "label" => "What this side calls the connection; the other never sees it.",
        "message" => "For people.",
        "mode" => "How a checkout is paid, or the mode of a key.",
        "note" => "A note for people.",
        "occurred_at" => "When it happened, where it is not now; at most 5 minutes in the future.",
        "orders" => "How many orders.",
        "outcome" => "How it goes.",
        "overlap_seconds" => "How long the old one goes on working, in seconds; a day where it is not given.",
        "pay" => "What of it is paid; nothing where it is not given.",
        "payments" => "The payments made on it. One that does not say how far it has come has succeeded.",
        "period_end" => "When the new period ends; after one interval where it is not given.",
        "period_start" => {
            "When the new period begins; where it is not given, with the end of the present one, or of a pause that \
             outlasted it."
        }
        "private_key" => {
            "The private key of the first certificate, in PEM and not encrypted: PKCS#8, SEC1 or PKCS#1; RSA of 2048 to \
             4096 bits, P-256, P-384 or Ed25519."
        }
        "processor_event_id" => {
            "The processor's id of what this tells of, unique for ever: told again, it changes nothing."
        }
        "processor_reference" => "The processor's own name of it.",
        "reason" => "Why.",
        "renew" => "Begin the next period, with what is to be said of its order.",
        "seed" => "The same seed makes the same data.",
        "advance_seconds" => "How much time is to pass, in seconds.",
        "shipping" => "What sending costs, in minor units.",
        "shipping_tax" => "The tax on sending, in minor units.",
        "since" => "Events made then or later.",
        "subscription" => {
            "The terms of the subscription that the checkout founds; in mode `subscription` alone."
        }
        "to" => "Where it is to go.",
        "trial_days" => "Days of trial.",
        "types" => "Event types, `<category>.*`, or `*`; all that the endpoint wants where it is not given.",
        "until" => "Events made before.",
        _ => return None,
    })
}
