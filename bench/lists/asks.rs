//! What is asked for: every list that grows with the orders, with each of its filters.

use crate::fill::{self, Shop};

/// The pages, as the paths of their requests.
pub(crate) fn paths(shop: &Shop, orders: u64) -> Vec<String> {
    let (old, late) = (fill::time_of(shop, 10), fill::time_of(shop, orders - 10));
    let number = format!("{}-{}", shop.order, orders / 2);
    let deliveries = format!("/webhook-endpoints/{}/deliveries", shop.endpoint);
    let lists: [(&str, &[String]); 6] = [
        (
            "/orders",
            &[
                "status=confirmed".to_owned(),
                "status=cancelled".to_owned(),
                "payment_status=voided".to_owned(),
                "fulfillment_status=delivered".to_owned(),
                "status=cancelled&payment_status=voided".to_owned(),
                format!("created_to={old}"),
                format!("created_from={late}"),
                format!("updated_to={old}"),
                format!("updated_from={late}&status=completed"),
                "customer_reference=c-7".to_owned(),
                "customer_reference=c-7&status=cancelled".to_owned(),
            ],
        ),
        (
            "/payments",
            &[
                "status=succeeded".to_owned(),
                "status=failed".to_owned(),
                "late=true".to_owned(),
                "late=false".to_owned(),
                format!("order_number={number}"),
                format!("created_to={old}"),
            ],
        ),
        (
            "/refunds",
            &["status=failed".to_owned(), format!("order_number={number}"), format!("created_to={old}")],
        ),
        (
            "/subscriptions",
            &[
                "status=cancelled".to_owned(),
                "customer_reference=c-7".to_owned(),
                format!("created_to={old}"),
            ],
        ),
        (
            "/events",
            &[
                "type=order.created".to_owned(),
                "type=order.cancelled".to_owned(),
                "type=order.cancelled,refund.failed".to_owned(),
                "type=refund.*".to_owned(),
                format!("resource={number}"),
                format!("created_from={late}"),
                format!("created_from={late}&type=order.created"),
            ],
        ),
        (
            &deliveries,
            &[
                "status=succeeded".to_owned(),
                "status=failed".to_owned(),
                "event_type=order.cancelled".to_owned(),
                "event_id=evt_7".to_owned(),
                format!("created_to={old}"),
            ],
        ),
    ];
    let mut paths = vec!["/v1/merchant/sync/orders".to_owned()];
    for (list, filters) in lists {
        paths.push(format!("/v1/merchant{list}?limit=100"));
        paths.extend(filters.iter().map(|filter| format!("/v1/merchant{list}?limit=100&{filter}")));
    }
    paths
}
