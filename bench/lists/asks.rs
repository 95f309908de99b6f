//! What is asked for: every list that grows with the orders, with each of its filters, which blanks separate.

use crate::fill::{self, Shop};

/// The pages, as the paths of their requests.
pub(crate) fn paths(shop: &Shop, orders: u64) -> Vec<String> {
    let (old, late) = (fill::time_of(shop, 10), fill::time_of(shop, orders - 10));
    let number = format!("{}-{}", shop.order, orders / 2);
    let deliveries = format!("/webhook-endpoints/{}/deliveries", shop.endpoint);
    let lists = [
        (
            "/orders",
            format!(
                "status=confirmed status=cancelled payment_status=voided fulfillment_status=delivered \
                 status=cancelled&payment_status=voided created_to={old} created_from={late} updated_to={old} \
                 updated_from={late}&status=completed customer_reference=c-7 customer_reference=c-7&status=cancelled"
            ),
        ),
        (
            "/payments",
            format!(
                "status=succeeded status=failed late=true late=false order_number={number} created_to={old}"
            ),
        ),
        ("/refunds", format!("status=failed order_number={number} created_to={old}")),
        ("/subscriptions", format!("status=cancelled customer_reference=c-7 created_to={old}")),
        (
            "/events",
            format!(
                "type=order.created type=order.cancelled type=order.cancelled,refund.failed type=refund.* \
                 resource={number} created_from={late} created_from={late}&type=order.created"
            ),
        ),
        (
            &deliveries,
            format!(
                "status=succeeded status=failed event_type=order.cancelled event_id=evt_7 created_to={old}"
            ),
        ),
    ];
    let mut paths = vec!["/v1/merchant/sync/orders".to_owned()];
    for (list, filters) in lists {
        paths.push(format!("/v1/merchant{list}?limit=100"));
        paths.extend(filters.split(' ').map(|filter| format!("/v1/merchant{list}?limit=100&{filter}")));
    }
    paths
}
