//! Which documents the program ships: the one place where they are named.
//!
//! The build script reads this file too (`build/main.rs`). A new file in `docs/` stands in [`LISTED`] or, if it is not
//! for those who use the program, in `EXCLUDED` (`tests.rs`); a test compares both with the folder.

/// A document as it is listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    /// Its name: it is served as `/docs/<name>.md`.
    pub(crate) name: &'static str,
    /// Where it is, relative to the root of the repository.
    pub(crate) source: &'static str,
    /// What is in it, in one line.
    pub(crate) summary: &'static str,
    /// Whether a reader with little room can leave it out.
    pub(crate) optional: bool,
}

const fn document(name: &'static str, source: &'static str, summary: &'static str) -> Listed {
    Listed { name, source, summary, optional: false }
}

const fn optional(name: &'static str, source: &'static str, summary: &'static str) -> Listed {
    Listed { name, source, summary, optional: true }
}

/// In the order of the index.
pub(crate) const LISTED: &[Listed] = &[
    document(
        "start",
        "docs/start.md",
        "ten minutes from nothing to an order handled exactly once in your own framework, then to production",
    ),
    document(
        "contract",
        "docs/contract.md",
        "what merchants and receivers can rely on: records, events, errors, idempotency, delivery, verification",
    ),
    document(
        "package",
        "pkg/README.md",
        "the npm package: receive and verify deliveries in each framework, claim stores, why a signature does not \
         match, the client of the API",
    ),
    document(
        "receive",
        "docs/receive.md",
        "receiving webhooks in Python, Node, Go, PHP, Ruby and Java, with the standard library alone",
    ),
    document("operations", "docs/operations.md", "running the authority, its commands, and the operator API"),
    document(
        "console",
        "docs/console.md",
        "the operator's pages: what they show and do, signing in, sessions",
    ),
    document(
        "portal",
        "docs/portal.md",
        "the merchants' pages: how a platform hands on a link, what they show and do, sessions",
    ),
    document("runbook", "docs/runbook.md", "what to do at each alert of the monitoring"),
    document(
        "deploy-edge",
        "docs/deploy-edge.md",
        "a receiver on Cloudflare Workers, from a clone to a verified test event",
    ),
    document("edge-receiver", "edge-receiver/README.md", "how that receiver works, and its settings"),
    optional(
        "reliability",
        "docs/reliability.md",
        "what is never lost, what may arrive twice, and how this was tested",
    ),
    optional("hardening", "docs/hardening.md", "how the verification core was tested"),
    optional("changelog", "CHANGELOG.md", "what changed from version to version"),
];
