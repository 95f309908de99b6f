//! `authority key`: the API keys of merchants.

use authority_domain::{KeyId, Mode, Scope};
use serde_json::json;

use super::args::{Key, KeyIssue, KeyRotate, Revoke};
use super::table::print_list;
use super::{all_pages, by_command, named_merchant, print_key, print_record, refused, with_app};
use crate::app::Answer;
use crate::cli::{Exit, Failure, Process};

const SHOWN: [&str; 6] = ["id", "status", "livemode", "display", "name", "scopes"];

pub(in crate::cli) fn run(command: Key, process: &mut Process<'_>) -> Result<Exit, Failure> {
    match command {
        Key::Issue(issue) => print_key(&self::issue(&issue, process)?, issue.json, process)?,
        Key::Rotate(rotate) => print_key(&self::rotate(&rotate, process)?, rotate.json, process)?,
        Key::Revoke(revoke) => {
            let answer = self::revoke(&revoke, process)?;
            print_record(&answer.body, &SHOWN, revoke.json, process)?;
        }
        Key::List(list) => {
            let found = with_app(process, async |app| {
                let merchant = named_merchant(app, &list.merchant).await?;
                all_pages(async |page| app.api_keys_list(&page, Ok(merchant.clone())).await).await
            })?;
            print_list(&found, &SHOWN, list.json, process)?;
        }
    }
    Ok(Exit::Done)
}

fn issue(issue: &KeyIssue, process: &Process<'_>) -> Result<Answer, Failure> {
    let all = || Scope::ALL.iter().map(|scope| scope.as_str().to_owned()).collect();
    let scopes: Vec<String> = if issue.scopes.is_empty() { all() } else { issue.scopes.clone() };
    let mut body = json!({ "name": issue.name, "mode": Mode::from(issue.mode), "scopes": scopes });
    if let (Some(expires_at), Some(members)) = (&issue.expires_at, body.as_object_mut()) {
        members.insert("expires_at".to_owned(), json!(expires_at));
    }
    with_app(process, async |app| {
        let merchant = named_merchant(app, &issue.merchant).await?;
        let mutation = by_command(app, "api_keys.issue");
        app.api_key_issue(mutation.with(body), Ok(merchant)).await.map_err(refused)
    })
}

fn rotate(rotate: &KeyRotate, process: &Process<'_>) -> Result<Answer, Failure> {
    let body = rotate.overlap_seconds.map_or_else(|| json!({}), |s| json!({ "overlap_seconds": s }));
    with_app(process, async |app| {
        let mutation = by_command(app, "api_keys.rotate");
        app.api_key_rotate(mutation.with(body), KeyId::named(&rotate.id)).await.map_err(refused)
    })
}

fn revoke(revoke: &Revoke, process: &Process<'_>) -> Result<Answer, Failure> {
    let body = json!({ "reason": revoke.reason });
    with_app(process, async |app| {
        let mutation = by_command(app, "api_keys.revoke");
        app.api_key_revoke(mutation.with(body), KeyId::named(&revoke.id)).await.map_err(refused)
    })
}
