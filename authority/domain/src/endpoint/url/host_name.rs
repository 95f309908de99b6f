//! DNS names: their form, and which lie below which.

/// The longest DNS name in bytes as written with dots (RFC 1035 section 3.1).
const MAX_HOST_BYTES: usize = 253;

/// The longest label of a DNS name in bytes (RFC 1035 section 2.3.4).
const MAX_LABEL_BYTES: usize = 63;

/// Letters, digits, hyphens and underscores in labels of bounded length. RFC 1123 does not allow underscores in host
/// names, but such names resolve and are in use.
pub(in crate::endpoint) fn is_dns_name(host: &str) -> bool {
    host.len() <= MAX_HOST_BYTES
        && host.split('.').all(|label| {
            (1..=MAX_LABEL_BYTES).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        })
}

/// Whether `host` is `name` or a name below it.
pub(in crate::endpoint) fn is_or_is_below(host: &str, name: &str) -> bool {
    host.strip_suffix(name).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
