//! Names of processors and carriers (contract 18.3): `DHL`, `dhl` and ` dhl ` are one. They are stored in lower case
//! without blanks around them. Names that were stored before that rule are compared by it.

/// The form in which a name is stored and compared.
#[must_use]
pub fn normalized(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Whether two names are of the same processor or carrier.
#[must_use]
pub fn is_same(one: &str, other: &str) -> bool {
    normalized(one) == normalized(other)
}

#[cfg(test)]
mod tests {
    use super::{is_same, normalized};

    #[test]
    fn case_and_outer_blanks_make_no_difference() {
        for (name, normal) in [("DHL", "dhl"), (" Acme Pay ", "acme pay"), ("ÖBB", "öbb"), ("a  b", "a  b")]
        {
            assert_eq!(normalized(name), normal);
            assert!(is_same(name, normal), "{name}");
        }
        assert!(!is_same("acme pay", "acme-pay"));
    }
}
