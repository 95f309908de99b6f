//! `--forward-to` several times, and receivers elsewhere.

use serde_json::json;
use tests::{Merchant, Receiver, text};

use super::Session;

/// A receiver for each kind of event, and one for the rest. The secret is that of the machine.
#[tokio::test]
async fn events_go_to_the_receiver_of_their_type() {
    let (mut authority, merchant) = Merchant::alone("routed").await;
    merchant.paid_order().await;
    let receiver = Receiver::accepting().await;
    let [orders, created, rest] = ["/orders", "/created", "/rest?a=b"].map(|path| receiver.url(path));
    let routes = [format!("order.*={orders}"), format!("order.created={created}"), rest.clone()];
    let [one, two, three] = [&routes[0], &routes[1], &routes[2]].map(String::as_str);
    let arguments = ["--from", "start", "--forward-to", one, "--forward-to", two, "--forward-to", three];
    let mut session = Session::start(&mut authority, &merchant, &arguments);
    for heading in [
        format!("Forwarding order.* in test mode to {orders}"),
        format!("Forwarding order.created in test mode to {created}"),
        format!("Forwarding all other test events to {rest}"),
    ] {
        assert_eq!(session.line().await, heading);
    }
    while !session.line().await.contains("POST order.confirmed ") {}
    session.stop().await;
    let arrivals = receiver.arrivals();
    assert_eq!(arrivals.types_at("/orders"), ["order.confirmed"]);
    assert_eq!(arrivals.types_at("/created"), ["order.created"]);
    let others: Vec<String> = merchant
        .events()
        .await
        .iter()
        .map(|event| text(event, "type"))
        .filter(|t| !t.starts_with("order."))
        .collect();
    assert!(others.starts_with(&arrivals.types_at("/rest?a=b")) && arrivals.all.len() > 3, "{others:?}");

    // Without a receiver of the rest, the rest is not asked for.
    let arguments = ["--from", "start", "--json", "--forward-to", one];
    let mut session = Session::start(&mut authority, &merchant, &arguments);
    assert_eq!(session.json().await["forward_to"], json!([{ "type": "order.*", "url": orders }]));
    for event_type in ["order.created", "order.confirmed"] {
        let line = session.json().await;
        assert_eq!((&line["type"], &line["url"]), (&json!(event_type), &json!(orders)));
    }
    session.stop().await;
}

/// A receiver at an address that is not this machine's loopback needs to be allowed.
#[tokio::test]
async fn a_remote_receiver_has_to_be_allowed() {
    let (mut authority, merchant) = Merchant::alone("remote").await;
    merchant.checkout().await;
    let receiver = Receiver::accepting().await;
    // This machine in another notation, which does not count as local.
    let target = receiver.url("/hook").replace("127.0.0.1", "[::ffff:7f00:1]");
    let arguments = ["--forward-to", &target, "--from", "start"];
    authority.set("AUTHORITY_API_KEY", &merchant.key);
    let refused = authority.refuses(&[], &[&["listen"], &arguments[..]].concat(), 2).await;
    let line = "authority: --forward-to must be a URL of this machine (127.0.0.1, [::1] or localhost) without \
                --allow-remote\n";
    assert_eq!(refused, line);
    let mut session =
        Session::start(&mut authority, &merchant, &[&arguments[..], &["--allow-remote"]].concat());
    while !session.line().await.contains(" -> 200 (") {}
    session.stop().await;
    assert_eq!(receiver.arrivals().types_at("/hook"), ["checkout.created"]);
}
