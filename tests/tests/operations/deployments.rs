//! What `deploy` promises beside the names of its settings ([`crate::config`]). That the parts run as they are is for
//! `cargo xtask prove release`.

const UNIT: &str = include_str!("../../../deploy/systemd/authority.service");
const DEBIAN: &str = include_str!("../../../deploy/debian/env");
const INSTALLED: &str = include_str!("../../../deploy/debian/postinst");
const KUBERNETES: &str = include_str!("../../../deploy/kubernetes/authority.yaml");
const COMPOSE: &str = include_str!("../../../deploy/compose/compose.yaml");

/// The settings of a section of the unit.
fn section(name: &str) -> Vec<&'static str> {
    let (_, after) = UNIT.split_once(&format!("\n[{name}]\n")).unwrap();
    after.lines().take_while(|line| !line.starts_with('[')).collect()
}

/// A database that comes minutes after the service, as after a power cut: systemd's own limit is five starts in 10 s.
#[test]
fn the_unit_tries_again_for_ever() {
    assert!(section("Unit").contains(&"StartLimitIntervalSec=0"));
    let service = section("Service");
    for setting in ["Restart=on-failure", "RestartSec=2", "RestartPreventExitStatus=2"] {
        assert!(service.contains(&setting), "{setting}");
    }
}

/// The environment of a running process cannot change: the file of the previous key is there before it is needed.
#[test]
fn the_key_can_be_changed_in_every_deployment() {
    for (deployment, file) in [
        (DEBIAN, "/etc/authority/kek-previous"),
        (KUBERNETES, "/run/secrets/authority/kek-previous"),
        (COMPOSE, "/run/secrets/kek_previous"),
    ] {
        let lines: Vec<&str> =
            deployment.lines().filter(|line| line.contains("AUTHORITY_SECRET_KEK_PREVIOUS_FILE")).collect();
        assert!(lines.len() == 1 && lines[0].contains(file), "{file}: {lines:?}");
    }
    let made = "install -m 0640 -o root -g authority /dev/null /etc/authority/kek-previous";
    assert!(INSTALLED.contains(made), "empty, and readable by the service");
    let secret = "--from-file=kek --from-file=kek-previous --from-file=database-url";
    let manual = include_str!("../../../docs/operations.md");
    assert!(KUBERNETES.contains(secret) && manual.matches(secret).count() == 2);
    assert!(COMPOSE.contains("secrets: [database_url, kek, kek_previous]"));
}

/// A signal closes the listeners at once; those who send requests learn of it a moment later.
#[test]
fn a_pod_is_left_by_its_clients_before_it_is_told_to_stop() {
    let number = |before: &str| -> u64 {
        let (_, after) = KUBERNETES.split_once(before).unwrap();
        after.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
    };
    let unit: u64 = section("Service")
        .iter()
        .find_map(|line| line.strip_prefix("TimeoutStopSec="))
        .and_then(|seconds| seconds.parse().ok())
        .unwrap();
    let (asleep, stopped) =
        (number("preStop: {sleep: {seconds: "), number("terminationGracePeriodSeconds: "));
    assert_eq!((asleep, stopped - asleep), (5, unit), "the whole time of a stop in order comes after it");
    let (_, probe) = KUBERNETES.split_once("startupProbe:").unwrap();
    assert!(probe.contains("periodSeconds: 2\n            failureThreshold: 900\n"), "half an hour");
    assert!(number("progressDeadlineSeconds: ") > 2 * 900);
}
