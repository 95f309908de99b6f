//! An instance that does not start, is ended, refuses its configuration, or uses too much.

use tests::{Authority, KEK, Merchant, Receiver, eventually};
use tokio::process::Command;

use super::{Section, said};

#[tokio::test]
async fn an_instance_that_does_not_start_says_which_variable_is_wrong() {
    let section = Section::of("AuthorityDown");
    let mut authority = Authority::start(&[]).await;
    authority.terminate().await;
    let wrong = [("AUTHORITY_DELIVERY_CONCURRENCY", "many")];
    for command in [&["serve"][..], &["config", "check"], &["doctor"]] {
        let refused = authority.run_with(&wrong, command).await;
        assert_eq!(refused.status.code(), Some(2), "{command:?}");
        let last = said(&refused).lines().last().unwrap().to_owned();
        assert!(last.contains("AUTHORITY_DELIVERY_CONCURRENCY"), "{last}");
    }
    // Corrected, both say so without serving.
    for command in ["authority config check", "authority doctor"] {
        let tried = section.runs(&authority, command, &[]).await;
        assert!(tried.status.success(), "{}", said(&tried));
    }
    authority.restart().await;
}

/// Memory that grows ends with a restart, here the hardest: what was in flight is sent again, under its event id.
#[tokio::test]
async fn a_restart_loses_nothing() {
    let section = Section::of("AuthorityMemoryHigh");
    assert!(section.text.contains("restart the instance; nothing is lost"));
    let (mut authority, merchant) = Merchant::alone("restarted").await;
    let (receiver, gate) = Receiver::gated(200).await;
    merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    let checkout = merchant.checkout().await;
    receiver.until("the first attempt", |arrivals| arrivals.all.len() == 1).await;
    authority.kill().await;
    gate.open();
    authority.restart().await;
    authority.nothing_pending().await;
    let arrivals = receiver.arrivals();
    assert_eq!(arrivals.all.len(), 2);
    assert_eq!(arrivals.all[0].event_id, arrivals.all[1].event_id);
    assert_eq!(merchant.events().await[0]["data"]["object"]["id"], checkout["id"]);
}

#[tokio::test]
async fn what_was_refused_at_a_reload_is_corrected() {
    let section = Section::of("AuthorityConfigNotReloaded");
    let mut authority = Authority::start(&[]).await;
    authority.terminate().await;
    authority.unset("AUTHORITY_SECRET_KEK");
    let good = format!("{}\n", KEK);
    authority.set("AUTHORITY_SECRET_KEK_FILE", &authority.put("kek", &good));
    authority.restart().await;
    let reloads = async |outcome: &str| {
        authority.ask_to_reload();
        let line = format!("authority_config_reloads_total{{outcome=\"{outcome}\"}} 1");
        eventually(&line, async || authority.probe("/metrics").await.text().contains(&line).then_some(()))
            .await;
    };
    let file = authority.put("kek", "too short\n");
    reloads("refused").await;
    let log = authority.log();
    let line = log.lines().find(|line| line.contains(section.code("configuration not reloaded"))).unwrap();
    assert!(line.contains("AUTHORITY_SECRET_KEK must be 32 random bytes"), "{line}");
    let check = section.runs(&authority, "authority config check", &[]).await;
    assert_eq!(check.status.code(), Some(2), "{}", said(&check));
    assert_eq!(authority.put("kek", &good), file);
    assert!(section.runs(&authority, "authority config check", &[]).await.status.success());
    reloads("applied").await;
}

#[tokio::test]
async fn open_sockets_are_counted() {
    let section = Section::of("AuthorityFilesRunOut");
    let (authority, merchant) = Merchant::alone("sockets").await;
    let (receiver, gate) = Receiver::gated(200).await;
    merchant.endpoint(&receiver.url("/hook"), &["*"]).await;
    let sockets = async || {
        let pipe = section.code("ls -l /proc/PID/fd | awk '{print $NF}' | cut -d: -f1 | sort | uniq -c");
        let pipe = pipe.replace("PID", &authority.pid().to_string());
        let counted = Command::new("sh").args(["-c", &pipe]).output().await.unwrap();
        let counted = String::from_utf8(counted.stdout).unwrap();
        let line = counted.lines().find(|line| line.ends_with(" socket")).unwrap().to_owned();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap()
    };
    merchant.checkouts(5).await;
    receiver.until("five deliveries in flight", |arrivals| arrivals.all.len() == 5).await;
    // And two listeners.
    assert!(sockets().await >= 7);
    section.code("LimitNOFILE=65536");
    gate.open();
    authority.nothing_pending().await;
}
