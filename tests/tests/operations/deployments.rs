//! What `deploy` promises beside the names of its settings ([`crate::config`]). That the parts run as they are is for
//! `cargo xtask prove release`.

const UNIT: &str = include_str!("../../../deploy/systemd/authority.service");

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
