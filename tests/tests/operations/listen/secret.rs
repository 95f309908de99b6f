//! The signing secret of a machine.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tests::{Authority, Merchant, Receiver};

use super::Session;

/// The secret is made once and stays the same; a variable overrides it for a session.
#[tokio::test]
async fn a_machine_has_one_secret_for_its_receiver_and_all_sessions() {
    let mut authority = Authority::start(&[]).await;
    let printed = authority.run(&["listen", "--print-secret"]).await;
    assert_eq!((printed.status.code(), printed.stderr.len()), (Some(0), 0), "{printed:?}");
    let printed = String::from_utf8(printed.stdout).unwrap();
    let secret = printed.strip_suffix('\n').unwrap().to_owned();
    assert!(secret.starts_with("whsec_") && secret.len() == 49, "one secret and nothing else");
    let again = authority.run(&["listen", "--print-secret"]).await;
    assert_eq!(again.stdout, printed.as_bytes());
    let other = "whsec_4fQ2mZr8Kc0VtYb7NwXh1LpJd5Ss9RgAeUoTiCnEq3M";
    authority.set("HOOK_SECRET", other);
    let named = authority.run(&["listen", "--print-secret", "--secret-env", "HOOK_SECRET"]).await;
    assert_eq!(named.stdout, format!("{other}\n").as_bytes());

    let receiver = Receiver::accepting().await;
    let merchant = Merchant::create(&authority, "shared-secret").await;
    merchant.checkout().await;
    let target = receiver.url("/hook");
    for arguments in [&[][..], &["--secret-env", "HOOK_SECRET"]] {
        let arguments = [&["--forward-to", &target, "--from", "start"], arguments].concat();
        let mut session = Session::start(&mut authority, &merchant, &arguments);
        while !session.line().await.contains(" -> 200 (") {}
        session.stop().await;
    }
    let arrivals = receiver.arrivals().all;
    assert!(arrivals[0].verify(&secret).is_ok() && arrivals[1].verify(other).is_ok());
}

#[tokio::test]
async fn a_kept_secret_is_private_and_never_replaced() {
    let authority = Authority::start(&[]).await;
    let file = authority.home().join(".local/state/authority/signing-secret");
    let print = ["listen", "--print-secret"];
    assert!(authority.run(&print).await.status.success());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
    let kept = fs::read_to_string(&file).unwrap();
    let refused = async |variables: &[(&str, &str)]| {
        let refused = authority.run_with(variables, &print).await;
        assert!(refused.stdout.is_empty());
        (String::from_utf8(refused.stderr).unwrap(), refused.status.code())
    };
    let told = |reason: &str| {
        format!("authority: the signing secret in {} cannot be used: {reason}\n", file.display())
    };
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let line = told("it is open to other users: remove it to have a new secret made");
    assert_eq!(refused(&[]).await, (line, Some(1)));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    for damage in ["", &kept[..20], "another text\n"] {
        fs::write(&file, damage).unwrap();
        let line = told("it is damaged: restore it, or remove it to have a new secret made");
        assert_eq!(refused(&[]).await, (line, Some(1)), "{damage:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), damage);
    }
    // Another directory for state has another secret; without any there is nowhere to keep one.
    let elsewhere = tempfile::tempdir().unwrap();
    let state = [("XDG_STATE_HOME", elsewhere.path().to_str().unwrap())];
    assert!(authority.run_with(&state, &print).await.status.success());
    assert_ne!(fs::read_to_string(elsewhere.path().join("authority/signing-secret")).unwrap(), kept);
    let line = "authority: HOME must be set, to keep the signing secret; or give --secret-env\n";
    assert_eq!(refused(&[("HOME", "")]).await, (line.to_owned(), Some(2)));
}
