//! `docs/runbook.md`, section by section: the condition of each alert is made, seen by what "See" says, and ended by
//! what "Do" says. The commands and queries are those of the document, which is asked for each of them.

mod database;
mod deliveries;
mod process;

use std::process::Output;

use tests::Authority;

const RUNBOOK: &str = include_str!("../../../../docs/runbook.md");
const DASHBOARD: &str = include_str!("../../../../deploy/monitoring/dashboard.json");

/// The sections that a test of these files follows, in the order of the document.
const FOLLOWED: [&str; 14] = [
    "AuthorityDown",
    "AuthorityRestarts",
    "AuthorityDatabaseDown",
    "AuthorityRequestsFail",
    "AuthorityRequestsSlow",
    "AuthorityWritesQueue",
    "AuthorityReadersBusy",
    "AuthorityDeliveriesOverdue",
    "AuthorityFirstAttemptsLate",
    "AuthorityAttemptsFail",
    "AuthorityEndpointsDisabled",
    "AuthorityConfigNotReloaded",
    "AuthorityFilesRunOut",
    "AuthorityMemoryHigh",
];

/// What the document says of one alert, its lines joined.
struct Section {
    alert: &'static str,
    text: String,
}

impl Section {
    fn of(alert: &'static str) -> Self {
        assert!(FOLLOWED.contains(&alert), "{alert}");
        let (_, after) = RUNBOOK.split_once(&format!("\n## {alert}\n")).unwrap();
        let text = after.split("\n## ").next().unwrap();
        Self { alert, text: text.split_whitespace().collect::<Vec<_>>().join(" ") }
    }

    /// The document has these words as code; returns them.
    fn code<'c>(&self, code: &'c str) -> &'c str {
        assert!(self.text.contains(&format!("`{code}`")), "{} does not say `{code}`", self.alert);
        code
    }

    /// The document has the command `authority …`; runs it with what it leaves open filled in.
    async fn runs(&self, authority: &Authority, command: &str, more: &[&str]) -> Output {
        let words = self.code(command).strip_prefix("authority ").unwrap().split(' ');
        authority.run(&words.chain(more.iter().copied()).collect::<Vec<_>>()).await
    }

    /// The document has this request: a method and a path with parts left open (`:id`). Returns the path with those
    /// parts.
    fn request(&self, request: &str, parts: &[&str]) -> String {
        let (_, path) = self.code(request).split_once(' ').unwrap();
        let mut parts = parts.iter();
        let filled =
            path.split('/').map(|part| if part.starts_with(':') { *parts.next().unwrap() } else { part });
        let filled = filled.collect::<Vec<_>>().join("/");
        assert_eq!(parts.next(), None, "{path} has no place for it");
        filled
    }
}

#[test]
fn every_section_is_followed_and_every_panel_exists() {
    let sections = RUNBOOK.lines().filter_map(|line| line.strip_prefix("## "));
    let sections: Vec<&str> = sections.filter(|section| section.starts_with("Authority")).collect();
    assert_eq!(sections, FOLLOWED);
    let named = FOLLOWED.map(Section::of).map(|section| {
        let panels = section.text.split("panel").skip(1).flat_map(|rest| {
            let sentence = rest.split(". ").next().unwrap().to_owned();
            sentence.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()
        });
        panels.collect::<Vec<_>>()
    });
    let named: Vec<String> = named.into_iter().flatten().collect();
    assert!(named.len() >= 5, "{named:?}");
    for panel in named {
        assert!(DASHBOARD.contains(&format!("\"title\": \"{panel}\"")), "there is no panel {panel}");
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
