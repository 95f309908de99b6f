//! What a person gets wrong around a command is told in one line: a misspelt variable, a database that is not there.
//! What a person reads is a table, and a reader that has gone ends a command silently (contract 16).

use tests::damage::execute;
use tests::{Authority, Database, Merchant, on_both_databases, text, within};
use tokio::io::AsyncReadExt as _;

#[tokio::test]
async fn serve_refuses_a_misspelt_variable_and_names_the_likely_one() {
    let authority = Authority::start(&[]).await;
    let said = authority.refuses(&[("AUTHORITY_EVENT_RETENTION_DAY", "a value")], &["serve"], 2).await;
    let line = "authority: AUTHORITY_EVENT_RETENTION_DAY is not a variable of this program: \
                is AUTHORITY_EVENT_RETENTION_DAYS meant?\n";
    assert_eq!(said, line);
}

#[tokio::test]
async fn serve_starts_with_the_variables_of_other_commands_and_of_a_kubernetes_service() {
    let variables = [
        ("AUTHORITY_API_KEY", "svc_test_x"),
        ("AUTHORITY_COLOUR", "a variable of the deployment's own"),
        ("AUTHORITY_SERVICE_HOST", "10.0.0.7"),
        ("AUTHORITY_PORT", "tcp://10.0.0.7:8080"),
        ("AUTHORITY_PORT_8080_TCP_ADDR", "10.0.0.7"),
    ];
    Authority::start(&variables).await.is_sound().await;
}

#[tokio::test]
async fn a_database_that_cannot_be_opened_is_named_without_its_password() {
    let authority = Authority::start(&[]).await;
    let file = "sqlite:///nonexistent/authority.db";
    let server = "postgres://shop:topsecret@127.0.0.1:1/orders?sslmode=disable";
    for (url, name) in [
        (file, "the SQLite file /nonexistent/authority.db (AUTHORITY_DATABASE_URL)"),
        (server, "the PostgreSQL database orders on 127.0.0.1:1 (AUTHORITY_DATABASE_URL)"),
    ] {
        for command in [&["serve"][..], &["migrate"], &["operator-key", "list"], &["merchant", "list"]] {
            let said = authority.refuses(&[("AUTHORITY_DATABASE_URL", url)], command, 1).await;
            let beginning = format!("authority: the database cannot be used: {name}: ");
            assert!(said.starts_with(&beginning) && !said.contains("topsecret"), "{command:?}: {said}");
        }
        let doctor = authority.run_with(&[("AUTHORITY_DATABASE_URL", url)], &["doctor"]).await;
        let said = String::from_utf8(doctor.stdout).unwrap();
        assert!(said.contains(name) && !said.contains("topsecret"), "{said}");
    }
}

on_both_databases!(a_database_that_fails_later_is_named_too);

/// It opens, and then a table is gone.
async fn a_database_that_fails_later_is_named_too(database: Database) {
    let mut authority = Authority::on(database, &[]).await;
    authority.terminate().await;
    for table in ["merchants", "operator_keys"] {
        execute(authority.database_url(), &format!("ALTER TABLE {table} RENAME TO {table}_gone")).await;
    }
    let name = match database {
        Database::Sqlite => "the SQLite file /",
        Database::Postgres | Database::Citus => "the PostgreSQL database ",
    };
    for command in
        [&["merchant", "list"][..], &["operator-key", "list"], &["key", "list", "--merchant", "acme"]]
    {
        let said = authority.refuses(&[], command, 1).await;
        let beginning = format!("authority: the database cannot be used: {name}");
        assert!(said.starts_with(&beginning), "{command:?}: {said}");
        let (_, cause) = said.split_once(" (AUTHORITY_DATABASE_URL): ").unwrap();
        let table = if command[0] == "operator-key" { "operator_keys" } else { "merchants" };
        assert!(cause.contains(table), "{command:?}: {said}");
    }
}

#[tokio::test]
async fn what_an_endpoint_missed_is_a_table() {
    let (authority, merchant) = Merchant::alone("missed").await;
    let endpoint = merchant.endpoint("http://127.0.0.1:9/hook", &["checkout.created"]).await;
    let disabled = authority.run(&["endpoint", "disable", "--id", &endpoint.id]).await;
    assert_eq!(disabled.status.code(), Some(0), "{disabled:?}");
    merchant.checkout().await;
    let [event] = &merchant.events().await[..] else { panic!("one event") };
    let listed = authority.run(&["endpoint", "undelivered", "--id", &endpoint.id]).await;
    let listed = String::from_utf8(listed.stdout).unwrap();
    let (id, created_at) = (text(event, "id"), text(event, "created_at"));
    let width = id.len();
    let expected = format!(
        "SEQUENCE  {:width$}  EVENT TYPE        {:24}  REASON\n\
         1         {id}  checkout.created  {created_at}  endpoint_disabled\n",
        "EVENT ID", "CREATED AT",
    );
    assert_eq!(listed, expected);
}

#[tokio::test]
async fn lists_for_people_have_headings() {
    let (authority, merchant) = Merchant::alone("listed").await;
    merchant.endpoint("http://127.0.0.1:9/hook", &["checkout.created"]).await;
    merchant.checkout().await;
    let of_merchant = ["--merchant", "listed"];
    for (command, more, headings) in [
        (["merchant", "list"], &[][..], "ID STATUS SLUG NAME"),
        (["key", "list"], &of_merchant[..], "ID STATUS LIVEMODE KEY NAME SCOPES"),
        (["operator-key", "list"], &[], "ID STATUS KEY NAME SCOPES"),
        (
            ["delivery", "list"],
            &of_merchant,
            "ID STATUS TRIGGER EVENT TYPE ENDPOINT ID ATTEMPT COUNT LAST OUTCOME",
        ),
        (
            ["endpoint", "list"],
            &["--merchant", "listed", "--mode", "test"],
            "ID STATUS DISABLED REASON URL ENABLED EVENTS",
        ),
    ] {
        let listed = authority.run(&[&command[..], more].concat()).await;
        let text = String::from_utf8(listed.stdout).unwrap();
        let words = |line: &str| {
            let mut words: Vec<String> = line.split_whitespace().map(ToOwned::to_owned).collect();
            words.sort();
            words
        };
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(words(lines[0]), words(headings), "{command:?}");
        assert!(lines.len() > 1, "{text}");
        // The second column begins below its heading.
        let column = lines[0].find("  ").unwrap();
        let column = column + lines[0][column..].len() - lines[0][column..].trim_start().len();
        for row in &lines[1..] {
            assert!(row.is_char_boundary(column) && &row[column - 2..column] == "  ", "{text}");
        }
        let json = authority.run(&[&command[..], more, &["--json"]].concat()).await;
        assert!(json.stdout.starts_with(b"{") && !json.stdout.is_empty(), "no headings for programs");
    }
}

/// `authority key list | head -0`: the reader ends before anything is printed.
#[tokio::test]
async fn a_reader_that_has_gone_ends_a_command_without_a_word() {
    let (authority, merchant) = Merchant::alone("piped").await;
    merchant.paid_order().await;
    let tail = ["events", "tail", "--merchant", "piped", "--mode", "test", "--from", "1"];
    for command in
        [&["key", "list", "--merchant", "piped"][..], &["merchant", "list", "--json"], &tail, &["--help"]]
    {
        let mut child = authority.begin(command);
        drop(child.stdout.take());
        let mut said = String::new();
        let mut stderr = child.stderr.take().unwrap();
        within("the end", stderr.read_to_string(&mut said)).await.unwrap();
        let status = within("the end", child.wait()).await.unwrap();
        assert_eq!((said.as_str(), status.code()), ("", Some(1)), "{command:?}");
    }
}

#[tokio::test]
async fn an_address_or_a_key_that_cannot_be_used_is_named() {
    let authority = Authority::start(&[]).await;
    let trigger = async |key: &str, url: &str| {
        authority.refuses(&[("AUTHORITY_API_KEY", key)], &["trigger", "order.created", "--url", url], 2).await
    };
    for url in ["", "not a url", "ftp://127.0.0.1:9", "http://user@127.0.0.1:9"] {
        let line = "authority: --url must be an http or https address without user, query and fragment\n";
        assert_eq!(trigger("svc_test_x", url).await, line, "{url}");
    }
    for key in ["svc_test_a b", "svc_live_x"] {
        let said = trigger(key, "http://127.0.0.1:9").await;
        assert_eq!(said, "authority: AUTHORITY_API_KEY must hold a test key (svc_test_…)\n");
    }
}
