//! What a query string may say, and which parameter a refusal names.

use authority_domain::{OrderStatus, Timestamp};

use super::*;

/// All that a list could define, read in one go.
type Read = (u16, Option<String>, Vec<OrderStatus>, Option<i64>, Option<String>);

fn read(query: &str) -> Result<(Read, Filter), (ErrorCode, Option<String>)> {
    let read = || {
        let mut query = Query::parse(Some(query))?;
        let read = (
            query.limit(25)?,
            query.cursor(),
            query.take("status")?,
            query.take::<Option<Timestamp>>("created_from")?.map(Timestamp::as_ms),
            query.take("customer_reference")?,
        );
        Ok((read, query.finish()?))
    };
    read().map_err(|refusal: Refusal| (refusal.code, refusal.param))
}

#[test]
fn takes_what_the_contract_allows() {
    let with_limit = |limit| (limit, None, vec![], None, None);
    let none = || with_limit(25);
    let table: &[(&str, Read)] = &[
        ("", none()),
        ("&&", none()),
        ("limit=1", with_limit(1)),
        ("limit=100", with_limit(100)),
        ("cursor=", none()),
        ("cursor=AQc", (25, Some("AQc".into()), vec![], None, None)),
        ("status=pending", (25, None, vec![OrderStatus::Pending], None, None)),
        (
            "status=pending,confirmed,pending",
            (25, None, vec![OrderStatus::Confirmed, OrderStatus::Pending], None, None),
        ),
        ("created_from=1970-01-01T02:00:00.001%2B02:00", (25, None, vec![], Some(1), None)),
        ("customer_reference=a+b%26%C3%A9", (25, None, vec![], None, Some("a b&é".into()))),
        ("%6Cimit=7", with_limit(7)),
    ];
    for (query, expected) in table {
        assert_eq!(read(query).map(|(read, _)| read), Ok(expected.clone()), "{query}");
    }
}

#[test]
fn refuses_everything_else_and_names_the_parameter() {
    let long = format!("customer_reference={}", "a".repeat(256));
    let many = format!("status=pending{}", ",pending".repeat(64));
    let table: &[(&str, ErrorCode, &str)] = &[
        ("limit=0", ErrorCode::InvalidParameter, "limit"),
        ("limit=101", ErrorCode::InvalidParameter, "limit"),
        ("limit=", ErrorCode::InvalidParameter, "limit"),
        ("limit", ErrorCode::InvalidParameter, "limit"),
        ("limit=-1", ErrorCode::InvalidParameter, "limit"),
        ("limit=%2B5", ErrorCode::InvalidParameter, "limit"),
        ("limit=5.0", ErrorCode::InvalidParameter, "limit"),
        ("limit=1e1", ErrorCode::InvalidParameter, "limit"),
        ("limit=0005", ErrorCode::InvalidParameter, "limit"),
        ("limit=05", ErrorCode::InvalidParameter, "limit"),
        ("limit=99999999999999999999", ErrorCode::InvalidParameter, "limit"),
        ("limit=5&limit=5", ErrorCode::InvalidParameter, "limit"),
        ("cursor=&cursor=", ErrorCode::InvalidParameter, "cursor"),
        ("limit=5&%6cimit=6", ErrorCode::InvalidParameter, "limit"),
        ("status=", ErrorCode::InvalidParameter, "status"),
        ("status=pending,", ErrorCode::InvalidParameter, "status"),
        ("status=Pending", ErrorCode::InvalidParameter, "status"),
        ("status=pending,%20confirmed", ErrorCode::InvalidParameter, "status"),
        ("created_from=2026-09-01", ErrorCode::InvalidParameter, "created_from"),
        ("created_from=2026-09-01T12:00:00+02:00", ErrorCode::InvalidParameter, "created_from"),
        ("customer_reference=", ErrorCode::InvalidParameter, "customer_reference"),
        ("customer_reference=a%00", ErrorCode::InvalidParameter, "customer_reference"),
        (&long, ErrorCode::InvalidParameter, "customer_reference"),
        ("customer_reference=%zz", ErrorCode::InvalidParameter, "customer_reference"),
        ("customer_reference=%a", ErrorCode::InvalidParameter, "customer_reference"),
        ("customer_reference=%ff", ErrorCode::InvalidParameter, "customer_reference"),
        ("crusor=AQc", ErrorCode::UnknownParameter, "crusor"),
        ("Limit=5", ErrorCode::UnknownParameter, "Limit"),
        ("merchant=mer_1", ErrorCode::UnknownParameter, "merchant"),
        ("=1", ErrorCode::UnknownParameter, ""),
        ("status[]=pending", ErrorCode::UnknownParameter, "status[]"),
        (&many, ErrorCode::InvalidParameter, "status"),
    ];
    for (query, code, param) in table {
        assert_eq!(read(query).map(|_| ()), Err((*code, Some((*param).to_owned()))), "{query}");
    }
}

#[test]
fn the_filter_string_is_equal_exactly_for_equal_filters() {
    let filter = |query: &str| read(query).map(|(_, filter)| filter.as_str().to_owned()).unwrap();
    assert_eq!(filter(""), "");
    assert_eq!(filter("limit=7&cursor=AQc"), "");
    let pending = filter("status=pending,confirmed");
    assert_eq!(pending, "status=confirmed%2Cpending");
    assert_eq!(filter("limit=9&status=confirmed,pending&cursor=AQc"), pending);
    let at = filter("created_from=2026-09-01T12:00:00Z");
    assert_eq!(filter("created_from=2026-09-01T14:00:00.000%2B02:00"), at);
    let texts = ["customer_reference=a%26status%3Dpending", "customer_reference=a&status=pending"];
    assert_ne!(filter(texts[0]), filter(texts[1]));
}

#[test]
fn a_parent_record_is_part_of_the_filter() {
    let filter = read("status=pending").unwrap().1;
    assert_eq!(filter.within("ORD-1"), "status=pending&=ORD-1");
    assert_ne!(filter.within("ORD-1"), filter.within("ORD-2"));
    assert_eq!(read("").unwrap().1.within("ORD-1"), "=ORD-1");
}

#[test]
fn the_canonical_query_is_sorted_and_encoded_in_one_way() {
    let canonical = |query: &str| Query::parse(Some(query)).unwrap().canonical().to_owned();
    assert_eq!(canonical("b=%41&a=x%20y"), "a=x+y&b=A");
    assert_eq!(canonical("a=x+y&b=A"), "a=x+y&b=A");
}
