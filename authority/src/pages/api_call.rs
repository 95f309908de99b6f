//! The call of the API that does what a form does: with curl, and with the client of the npm package, which has the
//! operations of merchants. A key is named and never shown.

use serde_json::{Value, json};

/// A call, written in both.
pub(crate) struct ApiCall {
    pub(crate) curl: String,
    pub(crate) client: String,
}

impl ApiCall {
    /// Sends a delivery now; `root` is `operator` or `merchant`.
    pub(crate) fn retry(root: &str, delivery: &str) -> Self {
        Self {
            curl: curl(&format!("{root}/deliveries/{delivery}/retry"), None),
            client: client("deliveries.retry", &[json!(delivery)]),
        }
    }

    /// Sends an event once more, as its merchant.
    pub(crate) fn replay(event: &str) -> Self {
        Self {
            curl: curl(&format!("merchant/events/{event}/replay"), Some(&json!({}))),
            client: client("events.replay", &[json!(event), json!({})]),
        }
    }

    /// Gives back what is left of an order, whose path below the operator's root this is.
    pub(crate) fn refund(path: &str, order: &str) -> Self {
        let body = json!({ "reason": "other" });
        Self {
            curl: curl(&format!("operator/{path}/refunds"), Some(&body)),
            client: client("refunds.request", &[json!(order), body]),
        }
    }
}

/// `path` holds only what stands in a URL as it is.
fn curl(path: &str, body: Option<&Value>) -> String {
    let mut lines = vec![
        format!("curl --fail-with-body -X POST \"$API_URL/v1/{path}\""),
        "-H \"Authorization: Bearer $KEY\"".to_owned(),
        "-H \"Idempotency-Key: $(uuidgen)\"".to_owned(),
    ];
    if let Some(body) = body {
        lines.push("-H \"Content-Type: application/json\"".to_owned());
        lines.push(format!("-d '{body}'"));
    }
    lines.join(" \\\n  ")
}

fn client(operation: &str, arguments: &[Value]) -> String {
    let arguments: Vec<String> = arguments.iter().map(Value::to_string).collect();
    format!("await client.{operation}({});", arguments.join(", "))
}

#[cfg(test)]
mod tests {
    use super::ApiCall;

    #[test]
    fn a_call_names_the_key_and_shows_none() {
        let call = ApiCall::refund("merchants/mer_1/test/orders/A%20%22%24", "A \"$");
        assert_eq!(
            call.curl,
            "curl --fail-with-body -X POST \"$API_URL/v1/operator/merchants/mer_1/test/orders/A%20%22%24/refunds\" \\\n  \
             -H \"Authorization: Bearer $KEY\" \\\n  -H \"Idempotency-Key: $(uuidgen)\" \\\n  \
             -H \"Content-Type: application/json\" \\\n  -d '{\"reason\":\"other\"}'"
        );
        assert_eq!(call.client, "await client.refunds.request(\"A \\\"$\", {\"reason\":\"other\"});");
        let call = ApiCall::retry("merchant", "dlv_1");
        assert!(call.curl.contains("/v1/merchant/deliveries/dlv_1/retry\""), "{}", call.curl);
        assert_eq!(call.client, "await client.deliveries.retry(\"dlv_1\");");
    }
}
