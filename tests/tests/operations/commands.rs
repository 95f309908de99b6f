//! The commands that manage, beside a running service (contract 6.4, 16): what they do holds at once, a key is shown
//! once and nowhere else, what is refused is one line and the right exit code.

use std::process::Output;

use serde_json::{Value, json};
use tests::{
    Answer, Api, Authority, Database, Merchant, Receiver, Reply, eventually, has, on_both_databases, retries,
    rows, terminate, text, within,
};
use tokio::io::{AsyncBufReadExt as _, BufReader};

on_both_databases!(
    merchants_and_keys_are_managed_beside_a_service,
    operator_keys_are_listed_and_revoked,
    endpoints_and_deliveries_are_looked_after,
    events_are_tailed
);

fn lines(output: &Output) -> Vec<Value> {
    let text = std::str::from_utf8(&output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn done(authority: &Authority, arguments: &[&str]) -> Vec<Value> {
    let output = authority.run(&[arguments, &["--json"]].concat()).await;
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    lines(&output)
}

async fn refused(authority: &Authority, arguments: &[&str], code: i32, line: &str) {
    assert_eq!(authority.refuses(&[], arguments, code).await, format!("authority: {line}\n"));
}

async fn merchants_and_keys_are_managed_beside_a_service(database: Database) {
    let authority = Authority::on(database, &[("AUTHORITY_LOG", "trace")]).await;
    let create = ["merchant", "create", "--slug", "acme", "--name", "Acme Ltd"];
    let create = [&create[..], &["--default-currency", "EUR"]].concat();
    let made = done(&authority, &create).await;
    assert_eq!(
        (made.len(), &made[0]["status"], &made[0]["default_currency"]),
        (1, &json!("active"), &json!("EUR"))
    );
    let id = text(&made[0], "id");
    limits_are_set(&authority).await;
    refused(&authority, &create, 1, "--slug: is taken").await;
    let bad = ["merchant", "create", "--slug", "A!", "--name", "x", "--default-currency", "EUR"];
    refused(&authority, &bad, 2, "--slug: Must be 1 to 63 of a-z, 0-9 and inner hyphens.").await;
    refused(&authority, &["key", "list", "--merchant", "nobody"], 1, "there is no such merchant").await;

    let issue = ["key", "issue", "--merchant", "acme", "--mode", "test", "--name", "backend"];
    let issued = authority.run(&issue).await;
    assert_eq!(issued.status.code(), Some(0), "{issued:?}");
    let key = std::str::from_utf8(&issued.stdout).unwrap().trim_end().to_owned();
    assert!(key.starts_with("svc_test_") && key.lines().count() == 1, "the key and nothing else");
    assert!(!String::from_utf8(issued.stderr).unwrap().contains(&key));
    let api = authority.merchant(&key);
    api.get("/orders").await.expect(200);

    let listed = done(&authority, &["key", "list", "--merchant", &id]).await;
    assert_eq!(
        (listed.len(), &listed[0]["created_by"], &listed[0]["livemode"]),
        (1, &json!("cli"), &json!(false))
    );
    assert!(!listed[0].to_string().contains(&key[12..]) && listed[0].get("key").is_none());
    let key_id = text(&listed[0], "id");
    let narrow = ["--scopes", "events:read,orders:read"];
    let live =
        done(&authority, &[&issue[..4], &["--mode", "live", "--name", "b"], &narrow[..]].concat()).await;
    assert_eq!(live[0]["scopes"], json!(["orders:read", "events:read"]));

    let rotated = done(&authority, &["key", "rotate", "--id", &key_id, "--overlap-seconds", "0"]).await;
    let newer = authority.merchant(&text(&rotated[0], "key"));
    newer.get("/orders").await.expect(200);
    once(401, async || api.get("/orders").await).await.refused(401, "expired_api_key");
    let newer_id = text(&rotated[0], "id");
    suspended_merchants_only_read(&authority, &newer).await;
    done(&authority, &["key", "revoke", "--id", &newer_id, "--reason", "a test"]).await;
    once(401, async || newer.get("/orders").await).await.refused(401, "invalid_api_key");
    refused(&authority, &["key", "revoke", "--id", "key_x"], 1, "There is no such API key.").await;
    assert_eq!(done(&authority, &["key", "list", "--merchant", "acme"]).await.len(), 3);

    // Whoever reads the audit log sees who it was; whoever reads the log sees no key.
    let entries = authority.operator().get("/audit-log?limit=100").await.expect(200);
    let by_command = |entry: &&Value| entry["created_by"] == "cli";
    let operations: Vec<_> = rows(&entries).iter().filter(by_command).map(|e| text(e, "operation")).collect();
    for operation in
        ["merchants.create", "merchants.update", "api_keys.issue", "api_keys.rotate", "api_keys.revoke"]
    {
        assert!(operations.iter().any(|known| known == operation), "{operation}: {operations:?}");
    }
    assert!(!authority.log().contains(&key));
    authority.is_sound().await;
}

/// The answer once it has this status: what another process changed, a service knows within a second (contract 6.2).
async fn once(status: u16, ask: impl AsyncFn() -> Reply) -> Reply {
    let answered = async || Some(ask().await).filter(|reply| reply.status == status);
    eventually(format!("status {status}"), answered).await
}

async fn limits_are_set(authority: &Authority) {
    let limits = ["merchant", "limits", "--merchant", "acme"];
    let set = async |more: &[&str]| done(authority, &[&limits[..], more].concat()).await.remove(0);
    let shown = set(&[]).await;
    assert_eq!(
        (&shown["resource_version"], &shown["effective_limits"]["endpoints"]),
        (&json!(1), &json!(16))
    );
    let changed = set(&["--endpoints", "20", "--max-in-flight", "200"]).await;
    has(&changed["limits"], json!({ "endpoints": 20, "max_in_flight": 200 }));
    let back = set(&["--endpoints", "default"]).await;
    assert_eq!((&back["limits"]["endpoints"], &back["limits"]["max_in_flight"]), (&Value::Null, &json!(200)));
    let wrong = [&limits[..], &["--max-in-flight", "257"]].concat();
    refused(authority, &wrong, 2, "--max-in-flight: Must be from 1 to 256.").await;
}

async fn suspended_merchants_only_read(authority: &Authority, api: &Api) {
    let endpoint = json!({ "url": "http://127.0.0.1:9/" });
    let made = api.post("/webhook-endpoints", &endpoint).await.expect(201);
    let path = format!("/webhook-endpoints/{}", text(&made, "id"));
    // Repeated until it is answered as wanted, however often that is: it uses nothing up.
    let change = async || api.patch(&path, &json!({ "description": "A" })).await;
    let suspended = done(authority, &["merchant", "suspend", "--merchant", "acme"]).await;
    assert_eq!(suspended[0]["status"], "suspended");
    api.get("/orders").await.expect(200);
    once(403, change).await.refused(403, "merchant_suspended");
    api.post("/webhook-endpoints", &endpoint).await.refused(403, "merchant_suspended");
    assert_eq!(done(authority, &["merchant", "list"]).await[0]["status"], "suspended");
    done(authority, &["merchant", "activate", "--merchant", "acme"]).await;
    once(200, change).await.expect(200);
}

async fn operator_keys_are_listed_and_revoked(database: Database) {
    let authority = Authority::on(database, &[]).await;
    let create = ["operator-key", "create", "--name", "reader", "--scopes", "operator:read"];
    let made = done(&authority, &create).await;
    let (id, key) = (text(&made[0], "id"), text(&made[0], "key"));
    let reader = authority.operator().with_key(Some(&key));
    reader.get("/merchants").await.expect(200);
    let listed = done(&authority, &["operator-key", "list"]).await;
    let shown = |key: &Value| (text(key, "name"), text(key, "status"));
    assert_eq!(
        listed.iter().map(shown).collect::<Vec<_>>(),
        [("reader".to_owned(), "active".to_owned()), ("tests".to_owned(), "active".to_owned())]
    );
    assert!(!listed[0].to_string().contains(&key[10..]));
    for _ in 0..2 {
        let revoked = done(&authority, &["operator-key", "revoke", "--id", &id]).await;
        assert_eq!((&revoked[0]["id"], &revoked[0]["status"]), (&json!(id), &json!("revoked")));
        let read = async || reader.get("/merchants").await;
        once(401, read).await.refused(401, "invalid_api_key");
    }
    authority.operator().get("/merchants").await.expect(200);
    let nobody = "key_01k3zqa7000000000000000000";
    for (name, why) in
        [("", "Must have at least 1 character(s)."), ("a\u{85}b", "Must not contain control characters.")]
    {
        let create = ["operator-key", "create", "--name", name];
        refused(&authority, &create, 2, &format!("--name: {why}")).await;
    }
    refused(&authority, &["operator-key", "revoke", "--id", nobody], 1, "there is no such operator key")
        .await;
    refused(&authority, &["operator-key", "revoke", "--id", &key], 1, "there is no such operator key").await;
}

async fn endpoints_and_deliveries_are_looked_after(database: Database) {
    let (authority, merchant) = Merchant::on_with(database, &[retries("0")], "looked-after").await;
    let receiver =
        Receiver::start(|arrival| Answer::status(if arrival.number == 1 { 500 } else { 200 })).await;
    let endpoint = merchant.endpoint(&receiver.url("/hook"), &["checkout.created"]).await;
    let list = ["endpoint", "list", "--merchant", "looked-after", "--mode", "test"];
    let listed = done(&authority, &list).await;
    assert_eq!(
        (listed.len(), &listed[0]["id"], &listed[0]["status"]),
        (1, &json!(endpoint.id), &json!("enabled"))
    );
    assert!(!listed[0].to_string().contains(&endpoint.secret[6..]));

    // One failure and no second attempt: the next one is the operator's.
    merchant.checkout().await;
    authority.nothing_pending().await;
    let failed = ["delivery", "list", "--merchant", "looked-after", "--status", "failed"];
    let failed = done(&authority, &failed).await;
    assert_eq!((failed.len(), &failed[0]["endpoint_id"]), (1, &json!(endpoint.id)));
    let retried = done(&authority, &["delivery", "retry", "--id", &text(&failed[0], "id")]).await;
    assert_eq!(retried[0]["trigger"], "replay");
    receiver.until("the retry", |arrivals| arrivals.accepted("/hook") == 1).await;
    authority.nothing_pending().await;
    let of_endpoint = ["delivery", "list", "--endpoint", &endpoint.id, "--mode", "test"];
    assert_eq!(done(&authority, &of_endpoint).await.len(), 2);
    assert_eq!(done(&authority, &[&of_endpoint[..], &["--limit", "1"]].concat()).await.len(), 1);
    assert_eq!(done(&authority, &["delivery", "list", "--mode", "live"]).await, Vec::<Value>::new());

    let disable = ["endpoint", "disable", "--id", &endpoint.id, "--reason", "a test"];
    assert_eq!(done(&authority, &disable).await[0]["disabled_reason"], "operator");
    authority.refuses(&[], &["delivery", "retry", "--id", &text(&failed[0], "id")], 1).await;
    assert_eq!(merchant.endpoint_now(&endpoint).await["status"], "disabled");
    let enabled = done(&authority, &["endpoint", "enable", "--id", &endpoint.id]).await;
    assert_eq!(enabled[0]["status"], "enabled");
    merchant.checkout().await;
    receiver.until("what came after", |arrivals| arrivals.accepted("/hook") == 2).await;
    authority.refuses(&[], &["endpoint", "disable", "--id", "we_x"], 1).await;
    authority.refuses(&[], &["delivery", "retry", "--id", "dlv_x"], 1).await;
    authority.refuses(&[], &["delivery", "list", "--status", "lost"], 2).await;
    authority.nothing_pending().await;
    authority.is_sound().await;
}

async fn events_are_tailed(database: Database) {
    let (authority, merchant) = Merchant::on(database, "tailed").await;
    merchant.paid_order().await;
    let tail = ["events", "tail", "--merchant", "tailed", "--mode", "test"];
    let all = done(&authority, &[&tail[..], &["--from", "1", "--once"]].concat()).await;
    assert_eq!(all, merchant.events().await);
    let rest = done(&authority, &[&tail[..], &["--from", "6", "--once"]].concat()).await;
    assert_eq!(rest, all[5..]);
    // It begins with the last ten, or as many as are asked for.
    merchant.paid_order().await;
    let all = merchant.events().await;
    assert_eq!(done(&authority, &[&tail[..], &["--once"]].concat()).await, all[all.len() - 10..]);
    let last = done(&authority, &[&tail[..], &["--once", "--last", "2"]].concat()).await;
    assert_eq!(last, all[all.len() - 2..]);
    let none = done(&authority, &[&tail[..], &["--once", "--last", "0"]].concat()).await;
    assert_eq!(none, Vec::<Value>::new());
    refused(
        &authority,
        &[&tail[..], &["--from", "0"]].concat(),
        2,
        "--from must be a sequence: 1 is the first event",
    )
    .await;
    let short = authority.run(&[&tail[..], &["--from", "6", "--once"]].concat()).await;
    let short = String::from_utf8(short.stdout).unwrap();
    let (headings, row) = short.split_once('\n').unwrap();
    assert_eq!(
        headings.split("  ").filter(|cell| !cell.is_empty()).map(str::trim).collect::<Vec<_>>(),
        ["SEQUENCE", "WHEN", "TYPE", "RECORD", "VERSION"]
    );
    let cells: Vec<_> =
        row.lines().next().unwrap().split("  ").filter(|cell| !cell.is_empty()).map(str::trim).collect();
    assert_eq!((cells[0], cells[2], cells[4]), ("6", "order.confirmed", "2"), "{short}");
    assert!(cells[1] == "now" || cells[1].ends_with(" ago"), "{short}");

    let mut following =
        authority.begin(&[&tail[..], &["--from", &(all.len() + 1).to_string(), "--json"]].concat());
    let mut printed = BufReader::new(following.stdout.take().unwrap()).lines();
    merchant.paid_order().await;
    for event in &merchant.events().await[all.len()..] {
        let line = within("a tailed event", printed.next_line()).await.unwrap().unwrap();
        assert_eq!(&serde_json::from_str::<Value>(&line).unwrap(), event);
    }
    terminate(&following);
    assert_eq!(within("the end", following.wait()).await.unwrap().code(), Some(0));
}
