//! Reads a Markdown document: its title, its sections, and its links, which are made to fit where it is served.

use std::collections::BTreeMap;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

/// A document that is ready to be served.
pub(crate) struct Prepared {
    /// The first heading.
    pub(crate) title: String,
    /// The Markdown.
    pub(crate) text: String,
    /// From heading to heading.
    pub(crate) sections: Vec<Section>,
}

/// A heading and what stands below it, up to the next heading of any level.
pub(crate) struct Section {
    /// 1 to 6.
    pub(crate) level: usize,
    /// The heading without its marks.
    pub(crate) title: String,
    /// The fragment by which links name it.
    pub(crate) anchor: String,
    /// Where the heading begins, in bytes.
    pub(crate) start: usize,
    /// Where the section ends.
    pub(crate) end: usize,
}

/// Reads `text`. `target` says where a relative link leads; `None` for a place that is not served, of which only the
/// text of the link stays.
pub(crate) fn prepare(text: &str, target: impl Fn(&str) -> Option<String>) -> Prepared {
    let text = with_links(text, target);
    let sections = sections(&text);
    let title = sections.first().map(|section| section.title.clone()).unwrap_or_default();
    Prepared { title, text, sections }
}

fn with_links(text: &str, target: impl Fn(&str) -> Option<String>) -> String {
    let mut result = String::with_capacity(text.len());
    let mut copied = 0;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let Event::Start(Tag::Link { link_type: LinkType::Inline, dest_url, .. }) = event else { continue };
        if dest_url.starts_with('#') || dest_url.starts_with('/') || dest_url.contains("://") {
            continue;
        }
        let link = text.get(range.clone()).unwrap_or_default();
        let label = link.rsplit_once("](").and_then(|(label, _)| label.strip_prefix('[')).unwrap_or(link);
        result.push_str(text.get(copied..range.start).unwrap_or_default());
        match target(&dest_url) {
            Some(url) => result.push_str(&format!("[{label}]({url})")),
            None => result.push_str(label),
        }
        copied = range.end;
    }
    result.push_str(text.get(copied..).unwrap_or_default());
    result
}

fn sections(text: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut heading: Option<Section> = None;
    let mut used = BTreeMap::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match (event, &mut heading) {
            (Event::Start(Tag::Heading { level, .. }), _) => {
                if let Some(before) = sections.last_mut() {
                    before.end = range.start;
                }
                let (title, anchor) = (String::new(), String::new());
                heading = Some(Section {
                    level: level as usize,
                    title,
                    anchor,
                    start: range.start,
                    end: text.len(),
                });
            }
            (Event::Text(part) | Event::Code(part), Some(heading)) => heading.title.push_str(&part),
            (Event::End(TagEnd::Heading(_)), found) => {
                sections.extend(found.take().map(|section| {
                    let anchor = unique(&slug(&section.title), &mut used);
                    Section { anchor, ..section }
                }));
            }
            _ => {}
        }
    }
    sections
}

/// The fragment of a heading, as GitHub makes it.
pub(crate) fn slug(title: &str) -> String {
    let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The same, with a number behind it when an earlier heading has it.
fn unique(slug: &str, used: &mut BTreeMap<String, u32>) -> String {
    let times = used.entry(slug.to_owned()).or_default();
    *times += 1;
    if *times == 1 { slug.to_owned() } else { format!("{slug}-{}", *times - 1) }
}
