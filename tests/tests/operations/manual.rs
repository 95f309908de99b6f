//! What a shell and `man` are given: a script that bash accepts and completes with, a page per command.

use std::collections::BTreeSet;
use std::fs;

use tests::Authority;
use tokio::process::Command;

/// Completes `authority k` as bash does, in bash.
const COMPLETE: &str = r#"
eval "$(cat)"
COMP_WORDS=(authority k) COMP_CWORD=1
"$(complete -p authority | sed 's/.*-F \([^ ]*\).*/\1/')" authority k authority
echo "${COMPREPLY[@]}"
"#;

#[tokio::test]
async fn bash_completes_a_command() {
    let authority = Authority::start(&[]).await;
    let script = authority.run(&["completion", "bash"]).await;
    assert!(script.status.success());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.bash");
    fs::write(&file, &script.stdout).unwrap();
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", COMPLETE]).stdin(fs::File::open(&file).unwrap());
    let completed = bash.output().await.unwrap();
    assert_eq!(String::from_utf8(completed.stdout).unwrap(), "key\n");
}

#[tokio::test]
async fn every_shell_has_a_script_and_another_word_is_refused() {
    let authority = Authority::start(&[]).await;
    for shell in ["bash", "zsh", "fish"] {
        let script = authority.run(&["completion", shell]).await;
        let text = String::from_utf8(script.stdout).unwrap();
        assert!(script.status.success() && text.contains("forward-to"), "{shell}: {text}");
    }
    let refused = authority.run(&["completion", "csh"]).await;
    assert_eq!((refused.status.code(), refused.stdout), (Some(2), Vec::new()));
}

#[tokio::test]
async fn every_command_has_a_page() {
    let authority = Authority::start(&[]).await;
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    let written = authority.run(&["man", pages.to_str().unwrap()]).await;
    assert!(written.status.success());
    let names: BTreeSet<String> = fs::read_dir(&pages)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for name in ["authority.1", "authority-serve.1", "authority-key-issue.1", "authority-listen.1"] {
        assert!(names.contains(name), "{name} is not among {names:?}");
    }
    let listen = fs::read_to_string(pages.join("authority-listen.1")).unwrap();
    assert!(listen.contains("Receiver to forward to"), "{listen}");
    let said = authority.refuses(&[], &["man", "/dev/null/man1"], 1).await;
    assert!(said.starts_with("authority: /dev/null/man1 cannot be written: "), "{said}");
}
