//! `--forward-to [TYPE=]URL`: which receiver gets which events.
//!
//! The most specific route wins: that of the event type, then that of its category (`order.*`), then the one without a
//! type. Every event goes to one receiver at most. No message repeats a URL, which may hold a token.

use authority_domain::endpoint::url::{NetworkScope, TargetUrl, UrlPolicy, UrlRules};
use strsim::damerau_levenshtein;
use verify_core::catalog::EventType;

use super::Failure;

/// The routes of a session, in the order in which they were given.
#[derive(Debug)]
pub(super) struct Routes(Vec<(Option<String>, TargetUrl)>);

impl Routes {
    /// Reads the values of `--forward-to`.
    ///
    /// # Errors
    /// [`Failure::Usage`]: a type is unknown or given twice, or a URL may not be forwarded to.
    pub(super) fn parse(options: &[String], allow_remote: bool) -> Result<Self, Failure> {
        let mut routes: Vec<(Option<String>, TargetUrl)> = Vec::new();
        for option in options {
            let (types, url) = split(option);
            if let Some(types) = types.filter(|types| !is_known(types)) {
                let likely = likely(types).map(|likely| format!(": is {likely} meant?")).unwrap_or_default();
                let line = format!("--forward-to TYPE=URL takes an event type or category.*{likely}");
                return Err(Failure::Usage(line));
            }
            if routes.iter().any(|(given, _)| given.as_deref() == types) {
                let what = types.map_or("a receiver of the rest", |types| types);
                return Err(Failure::Usage(format!("--forward-to: {what} is given more than once")));
            }
            routes.push((types.map(ToOwned::to_owned), target(url, allow_remote)?));
        }
        Ok(Self(routes))
    }

    /// The receiver of an event, if one takes this type.
    pub(super) fn target(&self, event_type: &str) -> Option<&TargetUrl> {
        let category = event_type.split('.').next().map(|category| format!("{category}.*"));
        [Some(event_type), category.as_deref(), None]
            .into_iter()
            .find_map(|types| self.iter().find(|(given, _)| *given == types))
            .map(|(_, target)| target)
    }

    /// The types that the routes take, as a filter of the event list; `None` when they take all.
    pub(super) fn types(&self) -> Option<String> {
        let types: Option<Vec<&str>> = self.iter().map(|(types, _)| types).collect();
        types.map(|types| types.join(","))
    }

    /// All routes.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Option<&str>, &TargetUrl)> {
        self.0.iter().map(|(types, target)| (types.as_deref(), target))
    }
}

/// The filter of the event list: catalog names and `category.*`, separated by commas.
///
/// # Errors
/// [`Failure::Usage`]: one of them is unknown.
pub(super) fn types(text: &str) -> Result<String, Failure> {
    if text.split(',').all(is_known) {
        return Ok(text.to_owned());
    }
    Err(Failure::Usage("--events must be event types or category.*, separated by commas".to_owned()))
}

/// The type and the URL. What stands before the first `=` of a URL alone has a colon.
fn split(option: &str) -> (Option<&str>, &str) {
    match option.split_once('=') {
        Some((types, url)) if !types.contains([':', '/']) => (Some(types), url),
        _ => (None, option),
    }
}

fn target(text: &str, allow_remote: bool) -> Result<TargetUrl, Failure> {
    let rules = UrlRules::new(UrlPolicy::Development);
    let local = rules.parse(text, false).ok().filter(|target| target.scope() == NetworkScope::Loopback);
    if let Some(local) = local {
        return Ok(local);
    }
    let anywhere = TargetUrl::anywhere(text).map_err(|_| {
        Failure::Usage("--forward-to must be an http or https URL without user and fragment".to_owned())
    })?;
    if allow_remote {
        return Ok(anywhere);
    }
    Err(Failure::Usage(
        "--forward-to must be a URL of this machine (127.0.0.1, [::1] or localhost) without --allow-remote"
            .to_owned(),
    ))
}

fn is_known(types: &str) -> bool {
    EventType::parse(types).is_some() || all_types().any(|known| known == types)
}

/// Event types and categories.
fn all_types() -> impl Iterator<Item = String> {
    let categories = EventType::ALL.iter().map(|event| format!("{}.*", event.category()));
    EventType::ALL.iter().map(|event| event.as_str().to_owned()).chain(categories)
}

/// The known one that was probably meant: the nearest, unless more than a third of it differs.
fn likely(types: &str) -> Option<String> {
    let near = all_types().map(|known| (damerau_levenshtein(types, &known), known));
    let (distance, nearest) = near.min_by_key(|(distance, _)| *distance)?;
    (distance * 3 <= nearest.len()).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routes(options: &[&str], allow_remote: bool) -> Result<Routes, String> {
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        Routes::parse(&options, allow_remote).map_err(|failure| match failure {
            Failure::Usage(line) => line,
            other => format!("{other:?}"),
        })
    }

    #[test]
    fn only_receivers_of_this_machine_are_forwarded_to_unless_others_are_allowed() {
        for allowed in [
            "http://127.0.0.1:3000/hook",
            "http://localhost:3000",
            "https://[::1]:8443/",
            "http://localhost/?order.created=1",
        ] {
            assert!(routes(&[allowed], false).is_ok(), "{allowed}");
        }
        for remote in
            ["https://hooks.example.com/", "http://10.0.0.1/", "http://127.0.0.2/", "http://web:3000/"]
        {
            assert!(routes(&[remote], false).unwrap_err().ends_with("without --allow-remote"), "{remote}");
            assert!(routes(&[remote], true).is_ok(), "{remote}");
        }
        for refused in ["localhost:3000", "", "ftp://127.0.0.1/", "http://u:p@127.0.0.1/"] {
            for allow_remote in [false, true] {
                let line = routes(&[refused], allow_remote).unwrap_err();
                assert_eq!(
                    line, "--forward-to must be an http or https URL without user and fragment",
                    "{refused}"
                );
            }
        }
    }

    #[test]
    fn the_most_specific_route_wins() {
        let [one, two, rest] = ["http://localhost/1", "http://localhost/2", "http://localhost/?x=3"];
        let given = [rest, &format!("order.*={two}"), &format!("order.created={one}")];
        let all = routes(&given, false).unwrap();
        for (event_type, url) in [("order.created", one), ("order.shipped", two), ("refund.created", rest)] {
            assert_eq!(all.target(event_type).map(TargetUrl::as_str), Some(url));
        }
        assert_eq!(all.types(), None);
        let some = routes(&given[1..], false).unwrap();
        assert_eq!(
            (some.types().as_deref(), some.target("refund.created")),
            (Some("order.*,order.created"), None)
        );
    }

    #[test]
    fn a_type_is_known_and_given_once() {
        let url = "http://localhost/";
        for (types, line) in [
            ("orders.*", "--forward-to TYPE=URL takes an event type or category.*: is order.* meant?"),
            (
                "order.creatd",
                "--forward-to TYPE=URL takes an event type or category.*: is order.created meant?",
            ),
            ("*", "--forward-to TYPE=URL takes an event type or category.*"),
            ("", "--forward-to TYPE=URL takes an event type or category.*"),
        ] {
            assert_eq!(routes(&[&format!("{types}={url}")], false).unwrap_err(), line);
        }
        let twice = format!("order.*={url}");
        assert_eq!(
            routes(&[&twice, &twice], false).unwrap_err(),
            "--forward-to: order.* is given more than once"
        );
        let line = "--forward-to: a receiver of the rest is given more than once";
        assert_eq!(routes(&[url, url], false).unwrap_err(), line);
    }

    #[test]
    fn a_misspelt_event_type_is_told_before_anything_is_asked() {
        for allowed in ["order.created", "order.*,refund.completed", "webhook.*"] {
            assert_eq!(types(allowed), Ok(allowed.to_owned()));
        }
        for refused in ["", "order", "*", "order.*,", "orders.*", "order.create"] {
            assert!(matches!(types(refused), Err(Failure::Usage(line)) if line.starts_with("--events ")));
        }
    }
}
