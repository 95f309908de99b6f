//! How events leave: what a service is told of it must be usable when it starts (contract 6.5, 7.6).

use std::ffi::OsString;
use std::sync::Arc;

use authority::config::Config;
use authority::dice::SystemDice;
use authority::service::{Service, StartError};
use tests::service::new_database;
use tests::{Database, HandClock, KEK};

/// What a start with this file of roots says.
async fn started_with(roots: &std::path::Path) -> Result<(), StartError> {
    let folder = tempfile::tempdir().unwrap();
    let url = new_database(Database::Sqlite, &folder).await;
    let lookup = |name: &str| match name {
        "AUTHORITY_DATABASE_URL" => Some(OsString::from(&url)),
        "AUTHORITY_SECRET_KEK" => Some(OsString::from(KEK)),
        "AUTHORITY_LISTEN" | "AUTHORITY_OPERATOR_LISTEN" => Some(OsString::from("127.0.0.1:0")),
        "AUTHORITY_EXTRA_ROOTS" => Some(roots.as_os_str().to_owned()),
        _ => None,
    };
    let config = Config::read(&lookup).unwrap();
    let service = Service::start(config, HandClock::following(0), Arc::new(SystemDice)).await?;
    service.stop().await;
    Ok(())
}

#[tokio::test]
async fn roots_that_cannot_be_used_end_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.pem");
    let other = folder.path().join("other.pem");
    std::fs::write(&other, "no certificate").unwrap();
    for (path, why) in [(missing, "the file cannot be read"), (other, "are not PEM certificates")] {
        let error = started_with(&path).await.unwrap_err().to_string();
        assert!(error.starts_with("AUTHORITY_EXTRA_ROOTS: ") && error.contains(why), "{error}");
    }
}
