//! Times, dice and bodies that the cases begin with.

use std::sync::atomic::{AtomicU64, Ordering};

use authority_domain::alert::{NewAlert, Severity};
use authority_domain::checkout::CheckoutRequest;
use authority_domain::endpoint::EndpointRequest;
use authority_domain::endpoint::url::{UrlPolicy, UrlRules};
use authority_domain::merchant::MerchantRequest;
use authority_domain::merchant::key_record::ApiKeyRecord;
use authority_domain::payment::{NewPayment, PaymentOutcome, PaymentReport, PaymentRequest};
use authority_domain::{
    AlertCode, AlertId, AttemptId, Checkout, EndpointId, KeyId, Merchant, MerchantId, OperatorScope, Payment,
    PaymentId, PaymentStatus, RequestId, Scope, Timestamp,
};
use authority_store::hand_off::LeasedDelivery;
use authority_store::tx::{IdempotencyRecord, KeyScope, OperatorKeyRecord, SettledAs, Settlement};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::json;

/// 2026-09-01T12:00:00.000Z
pub(crate) fn noon() -> Timestamp {
    Timestamp::from_ms(1_788_264_000_000)
}

/// `s` seconds after noon.
pub(crate) fn at(s: i64) -> Timestamp {
    noon().plus_ms(s * 1000)
}

/// Dice that never fall like any others of this process.
pub(crate) fn dice() -> StdRng {
    static SEED: AtomicU64 = AtomicU64::new(0);
    StdRng::seed_from_u64(SEED.fetch_add(1, Ordering::Relaxed))
}

pub(crate) fn merchant(slug: &str) -> Merchant {
    let body = json!({"slug": slug, "name": slug, "default_currency": "USD"});
    let id = authority_domain::id::MerchantId::generate(noon(), &mut dice());
    MerchantRequest::read(&body).unwrap().into_merchant(id, noon())
}

/// An answer that is kept under a key until a minute after noon.
pub(crate) fn kept_answer(scope: KeyScope, key: &str, answer: &str) -> IdempotencyRecord {
    IdempotencyRecord {
        scope,
        key: key.to_owned(),
        fingerprint: [7; 32],
        operation: "POST /x",
        answer: answer.to_owned(),
        request_id: RequestId::generate(noon(), &mut dice()),
        created_at: noon(),
        expires_at: at(60),
    }
}

/// An operator's key that may do anything. Its hash is this byte 32 times.
pub(crate) fn operator_key(hash: u8) -> OperatorKeyRecord {
    OperatorKeyRecord {
        id: KeyId::generate(noon(), &mut dice()),
        hash: [hash; 32],
        name: "night".to_owned(),
        display: "svc_op_ab12…".to_owned(),
        scopes: OperatorScope::ALL.to_vec(),
        revoked_at: None,
        created_at: noon(),
    }
}

/// An alert about something that was seen `s` seconds after noon.
pub(crate) fn alert(code: AlertCode, subject: &str, s: i64) -> NewAlert {
    NewAlert {
        id: AlertId::generate(at(s), &mut dice()),
        code,
        severity: Severity::Warning,
        subject: subject.to_owned(),
        message: format!("seen at {s}"),
    }
}

/// A live key of the merchant that may read orders. Its hash is this byte 32 times.
pub(crate) fn api_key(merchant: &MerchantId, hash: u8) -> ApiKeyRecord {
    ApiKeyRecord {
        id: KeyId::generate(noon(), &mut dice()),
        merchant_id: merchant.clone(),
        livemode: true,
        hash: [hash; 32],
        name: "till".into(),
        display: "svc_live_ab12…".into(),
        scopes: vec![Scope::OrdersRead],
        expires_at: None,
        revoked_at: None,
        last_used_at: None,
        replaced_by: None,
        created_by: "key_1".into(),
        created_at: noon(),
    }
}

/// Two shirts and three stickers that ship: 5100.
pub(crate) fn checkout(livemode: bool) -> Checkout {
    let body = json!({"currency": "USD", "customer": {"reference": "c-77"}, "line_items": [
        {"name": "T-shirt", "quantity": 2, "unit_amount": 2400},
        {"name": "Sticker", "quantity": 3, "unit_amount": 100},
    ]});
    let new = CheckoutRequest::read(&body).unwrap().into_new(noon(), &mut dice()).unwrap();
    Checkout::open(new, livemode, noon())
}

pub(crate) fn new_payment(checkout: &Checkout) -> NewPayment {
    let body = json!({"checkout_id": checkout.id, "processor_event_id": "evt-1", "currency": checkout.currency,
                      "amount": checkout.amounts.total, "method": {"type": "card"}, "processor": {"name": "acme-pay"}});
    PaymentRequest::read(&body).unwrap().into_new(noon(), &mut dice())
}

pub(crate) fn payment_id() -> PaymentId {
    PaymentId::generate(noon(), &mut dice())
}

/// The payment after a report of this status.
pub(crate) fn reported(payment: &Payment, status: PaymentStatus) -> Box<Payment> {
    let report = PaymentReport {
        status,
        amount_authorized: None,
        amount_captured: None,
        failure: None,
        occurred_at: None,
        processor_reference: None,
    };
    match payment.clone().report(&report, noon()).unwrap() {
        PaymentOutcome::Changed(payment) => payment,
        PaymentOutcome::Unchanged => panic!("the report says nothing new"),
    }
}

pub(crate) fn endpoint(livemode: bool, filters: &[&str]) -> authority_domain::endpoint::Endpoint {
    let body = json!({"url": "https://shop.example.com/hooks", "enabled_events": filters});
    let request = EndpointRequest::read(&body, &UrlRules::new(UrlPolicy::Public), livemode).unwrap();
    request.into_endpoint(EndpointId::generate(noon(), &mut dice()), "…q3M".into(), livemode, noon())
}

/// What became of one attempt of `delivery`, which the holder of `token` made.
pub(crate) fn settlement(delivery: &LeasedDelivery, token: &str, settled_as: SettledAs) -> Settlement {
    let outcome = if settled_as == SettledAs::Succeeded { "success" } else { "http_error" };
    Settlement {
        merchant_id: delivery.merchant_id.clone(),
        delivery_id: delivery.id.clone(),
        endpoint_id: delivery.endpoint_id.clone(),
        token: token.to_owned(),
        attempt_id: AttemptId::generate(noon(), &mut dice()),
        number: delivery.attempt_count + 1,
        started_at: at(60),
        finished_at: at(61),
        signed_timestamp: at(60).as_unix_seconds(),
        duration_ms: 1000,
        outcome,
        response_status: Some(if settled_as == SettledAs::Succeeded { 200 } else { 500 }),
        response_excerpt: Some("hello".to_owned()),
        settled_as,
    }
}
