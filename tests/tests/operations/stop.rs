//! Ending and starting: in order, at once, and only one at a time on a database (contract 12 T8, 16).

use http::Method;
use tests::database_proxy::DatabaseProxy;
use tests::{Answer, Authority, Gate, Merchant, Receiver, checkout_body, terminate, within};
use tokio::net::TcpListener;

/// An authority with one delivery in flight, whose answer waits at the gate.
async fn in_flight(gate: &Gate) -> (Authority, Receiver, Merchant) {
    let held = gate.clone();
    let receiver = Receiver::start(move |arrival| match arrival.nth {
        1 => Answer::status(200).held_by(&held),
        _ => Answer::status(200),
    })
    .await;
    let (authority, merchant) =
        Merchant::alone_with(&[("AUTHORITY_DELIVERY_TIMEOUT_MS", "50000")], "stopping").await;
    merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    merchant.checkout().await;
    receiver.until("a delivery in flight", |arrivals| arrivals.all.len() == 1).await;
    (authority, receiver, merchant)
}

#[tokio::test]
async fn a_stop_waits_for_the_delivery_in_flight_and_keeps_its_outcome() {
    let gate = Gate::closed();
    let (mut authority, receiver, merchant) = in_flight(&gate).await;
    authority.ask_to_stop();
    authority.stopping().await;
    authority.goes_on().await;
    gate.open();
    assert_eq!(authority.ended().await.code(), Some(0));

    authority.restart().await;
    authority.nothing_pending().await;
    merchant.checkout().await;
    let arrivals = receiver.until("the next event", |arrivals| arrivals.accepted("/hook") == 2).await;
    authority.terminate().await;
    assert_eq!(arrivals.all.len(), 2, "the first was not sent again");
    assert_eq!(receiver.arrivals().all.len(), 2);
}

#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let gate = Gate::closed();
    let (mut authority, receiver, _) = in_flight(&gate).await;
    authority.ask_to_stop();
    authority.stopping().await;
    authority.ask_to_stop();
    // The gate is still closed, and the delivery could go on for 50 s.
    assert_eq!(authority.ended().await.code(), Some(0));

    // Nobody knows what came of the delivery: it is made again.
    authority.restart().await;
    let arrivals = receiver.until("the same event again", |arrivals| arrivals.all.len() == 2).await;
    assert_eq!(arrivals.all[0].event_id, arrivals.all[1].event_id);
    assert_eq!(arrivals.all[0].header("service-delivery-id"), arrivals.all[1].header("service-delivery-id"));
    assert_eq!(arrivals.all[1].header("service-attempt"), "1");
    authority.nothing_pending().await;
}

#[tokio::test]
async fn a_database_has_one_authority() {
    let (mut authority, merchant) = Merchant::alone("the-only-one").await;
    let message = authority.refuses(&[], &["serve"], 1).await;
    assert!(
        message.contains("the database cannot be used") && message.contains("another process"),
        "{message}"
    );
    merchant.checkout().await;

    // A dead one holds nothing.
    authority.kill().await;
    authority.restart().await;
    assert_eq!(merchant.events().await.len(), 1);
}

#[tokio::test]
async fn a_key_encryption_key_that_does_not_fit_is_refused_before_anything_is_sent() {
    let (mut authority, merchant) = Merchant::alone("kek").await;
    let receiver = Receiver::accepting().await;
    merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    authority.kill().await;
    let other = ("AUTHORITY_SECRET_KEK", "YW5vdGhlciBrZXktZW5jcnlwdGlvbi1rZXktMzJieXQ=");
    let message = authority.refuses(&[other], &["serve"], 2).await;
    assert!(message.contains("AUTHORITY_SECRET_KEK") && !message.contains(other.1), "{message}");

    authority.restart().await;
    merchant.checkout().await;
    receiver.until("the event", |arrivals| arrivals.accepted("/hook") == 1).await;
}

#[tokio::test]
async fn a_port_that_is_taken_is_named() {
    let authority = Authority::start(&[]).await;
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let files = tempfile::tempdir().unwrap();
    let database = format!("sqlite://{}", files.path().join("other.db").display());
    for variable in ["AUTHORITY_LISTEN", "AUTHORITY_OPERATOR_LISTEN"] {
        let variables = [("AUTHORITY_DATABASE_URL", &*database), (variable, &*address)];
        let message = authority.refuses(&variables, &["serve"], 1).await;
        assert!(message.contains(&format!("{variable}: cannot listen on {address}")), "{message}");
    }
}

/// Requests that were taken before the signal are finished and answered (T8): what is written and what was answered
/// are the same.
#[tokio::test]
async fn a_stop_answers_what_it_has_begun() {
    let (mut authority, merchant) = Merchant::alone("answered").await;
    let write = |_| {
        let merchant = merchant.clone();
        let path = merchant.platform_path("checkouts");
        tokio::spawn(async move {
            merchant.operator.call(Method::POST, &path).json(&checkout_body()).try_send().await
        })
    };
    let writes: Vec<_> = (0..100).map(write).collect();
    merchant.checkout().await;
    authority.terminate().await;
    let mut answered = 1;
    for write in writes {
        if let Ok(reply) = write.await.unwrap() {
            reply.expect(201);
            answered += 1;
        }
    }
    authority.restart().await;
    assert_eq!(merchant.events().await.len(), answered);
    println!("{answered} of 101 were answered before the end");
}

/// A log on a full disk, or whose reader is gone. Every attempt that fails is a line, every stop is.
#[tokio::test]
async fn a_log_that_takes_no_line_stops_nothing() {
    let receiver = Receiver::start(|arrival| match arrival.path.as_str() {
        "/fails" => Answer::status(500),
        _ => Answer::status(200),
    })
    .await;
    let mut authority = Authority::start(&[]).await;
    authority.terminate().await;
    authority.restart_without_log().await;
    let merchant = Merchant::create(&authority, "unheard").await;
    for path in ["/fails", "/works"] {
        merchant.endpoint(&receiver.url(path), &["checkout.created"]).await;
    }
    merchant.checkouts(3).await;
    authority.nothing_pending().await;
    let arrivals = receiver.arrivals();
    let counts = ["/fails", "/works"].map(|path| arrivals.at(path).count());
    assert_eq!(counts, [12, 3], "four attempts of each, and one");
    authority.ask_to_stop();
    assert_eq!(authority.ended().await.code(), Some(0));
}

/// The stop waits for the database as long as for any answer, and a reload that has begun to read does not hold it up.
#[tokio::test]
async fn a_stop_ends_although_the_database_is_silent() {
    let proxy = DatabaseProxy::start(&postgres_cluster::database().await);
    let (mut authority, merchant) =
        Merchant::alone_with(&[("AUTHORITY_DATABASE_URL", proxy.url())], "stopping").await;
    merchant.checkout().await;
    proxy.stall();
    authority.ask_to_reload();
    authority.terminate().await;
}

/// A start waits as long as the database is silent; whoever is told to end meanwhile ends.
#[tokio::test]
async fn a_start_that_waits_for_the_database_ends_at_a_signal() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut authority = Authority::start(&[]).await;
    let url = format!("postgres://authority@{}/orders?sslmode=disable", silent.local_addr().unwrap());
    authority.set("AUTHORITY_DATABASE_URL", &url);
    for arguments in [&["serve"][..], &["serve", "--migrate"]] {
        let mut starting = authority.begin(arguments);
        let _connection = within("a connection", silent.accept()).await.unwrap();
        terminate(&starting);
        let ended = within("the end", starting.wait()).await.unwrap();
        assert_eq!(ended.code(), Some(0), "{arguments:?}");
    }
}
