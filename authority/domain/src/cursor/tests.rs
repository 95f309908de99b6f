//! The layout, and everything that must not decode.

use std::sync::LazyLock;

use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

use super::*;
use crate::id::MerchantId;
use crate::tenant::Tenant;

fn tenant(merchant_id: &str, livemode: bool) -> Tenant {
    Tenant { merchant_id: MerchantId::from_store(merchant_id.to_owned()), livemode }
}

static MERCHANT: LazyLock<Tenant> = LazyLock::new(|| tenant("mer_01k3zqa7w5e8v9r2t4y6m8n0pq", true));

fn merchant() -> Owner<'static> {
    Owner::Tenant(&MERCHANT)
}

fn keys() -> CursorKeys {
    CursorKeys::new((7, [1; 32]), vec![(3, [2; 32])]).unwrap()
}

#[test]
fn both_forms_have_their_length_in_url_safe_characters() {
    let by_sequence = keys().encode(ListKind::Events, u64::MAX, merchant(), "type=order.%2A");
    let by_id = keys().encode_id(ListKind::OperatorEvents, u128::MAX, "status=requested");
    for (text, length) in [(by_sequence, 47), (by_id, 58)] {
        assert_eq!(text.len(), length);
        assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
    }
}

#[test]
fn the_layout_is_fixed() {
    // Computed with Python's hmac and base64 over the table in the module's story.
    let text = keys().encode(ListKind::Orders, 41, merchant(), "status=confirmed");
    assert_eq!(text, "AQcDAAAAAAAAACmPIhiZP5zZE4RZ-89fLQveSBsFt755X1s");
}

/// An id as an operator's list meets it.
const UUID: u128 = 0x0199_0000_0000_7000_8000_0000_0000_00ff;

#[test]
fn the_layout_by_id_is_fixed() {
    // Computed as above.
    let text = keys().encode_id(ListKind::OperatorRefunds, UUID, "status=requested");
    assert_eq!(text, "AgciAZkAAAAAcACAAAAAAAAA_8sRlocuVPBLGofRM6tJbOZ5zqtaB540aA");
    assert_eq!(keys().decode_id(&text, ListKind::OperatorRefunds, "status=requested"), Ok(UUID));
}

#[test]
fn a_cursor_by_id_belongs_to_its_list_and_filter_and_to_no_merchant() {
    let keys = keys();
    let text = keys.encode_id(ListKind::OperatorRefunds, UUID, "status=requested");
    let decode = |list, filter| keys.decode_id(&text, list, filter);
    assert_eq!(decode(ListKind::OperatorRefunds, ""), Err(CursorError::OtherFilter));
    for list in ListKind::ALL.iter().filter(|list| **list != ListKind::OperatorRefunds) {
        assert_eq!(decode(*list, "status=requested"), Err(CursorError::OtherList), "{list:?}");
    }
    // The two forms are not taken for each other, whoever asks.
    for owner in [Owner::Operator, merchant()] {
        let other = keys.decode(&text, ListKind::OperatorRefunds, owner, "status=requested");
        assert_eq!(other, Err(CursorError::Malformed));
    }
    let by_sequence = keys.encode(ListKind::OperatorRefunds, 41, Owner::Operator, "");
    assert_eq!(keys.decode_id(&by_sequence, ListKind::OperatorRefunds, ""), Err(CursorError::Malformed));
    // What is genuine under one owner is not under another, even in the same form.
    let merchants = keys.seal(BY_ID, ListKind::OperatorRefunds, UUID.to_be_bytes(), merchant(), "");
    assert_eq!(keys.decode_id(&merchants, ListKind::OperatorRefunds, ""), Err(CursorError::NotAuthentic));
}

/// A cursor of either form, and whether a text decodes as one.
type Case<'k> = (String, Box<dyn Fn(&str) -> Result<(), CursorError> + 'k>);

fn both_forms(keys: &CursorKeys) -> [Case<'_>; 2] {
    let by_sequence = keys.encode(ListKind::Events, 41, merchant(), "");
    let by_id = keys.encode_id(ListKind::OperatorRefunds, UUID, "");
    [
        (by_sequence, Box::new(|text| keys.decode(text, ListKind::Events, merchant(), "").map(drop))),
        (by_id, Box::new(|text| keys.decode_id(text, ListKind::OperatorRefunds, "").map(drop))),
    ]
}

#[test]
fn every_altered_byte_is_refused() {
    let keys = keys();
    for (text, decode) in both_forms(&keys) {
        let bytes = URL_SAFE_NO_PAD.decode(&text).unwrap();
        for at in 0..bytes.len() {
            for flip in 1..=255_u8 {
                let mut altered = bytes.clone();
                altered[at] ^= flip;
                assert!(decode(&URL_SAFE_NO_PAD.encode(&altered)).is_err(), "byte {at} ^ {flip}");
            }
        }
    }
}

#[test]
fn every_other_character_is_refused() {
    // Also covers the two spare bits of the last character, which carry nothing and must be zero.
    let keys = keys();
    let text = keys.encode(ListKind::Events, 41, merchant(), "");
    for at in 0..text.len() {
        for other in 0..=127_u8 {
            let mut altered = text.clone().into_bytes();
            if altered[at] == other {
                continue;
            }
            altered[at] = other;
            let altered = String::from_utf8(altered).unwrap();
            assert!(keys.decode(&altered, ListKind::Events, merchant(), "").is_err(), "{altered}");
        }
    }
}

#[test]
fn belongs_to_its_tenant_mode_list_and_filter() {
    let keys = keys();
    let text = keys.encode(ListKind::Events, 41, merchant(), "type=order.*");
    let decode = |list, owner, filter| keys.decode(&text, list, owner, filter);
    assert_eq!(decode(ListKind::Events, merchant(), "type=order.*"), Ok(41));
    let test_mode = tenant("mer_01k3zqa7w5e8v9r2t4y6m8n0pq", false);
    let other = tenant("mer_01k3zqa7w5e8v9r2t4y6m8n0pr", true);
    for owner in [Owner::Tenant(&test_mode), Owner::Tenant(&other), Owner::Operator] {
        assert_eq!(decode(ListKind::Events, owner, "type=order.*"), Err(CursorError::NotAuthentic));
    }
    for filter in ["", "type=order.shipped"] {
        assert_eq!(decode(ListKind::Events, merchant(), filter), Err(CursorError::OtherFilter));
    }
    for list in ListKind::ALL.iter().filter(|list| **list != ListKind::Events) {
        assert_eq!(decode(*list, merchant(), "type=order.*"), Err(CursorError::OtherList), "{list:?}");
    }
    assert_eq!(keys.decode_any_filter(&text, ListKind::Events, merchant()), Ok(41));
    assert_eq!(keys.decode_any_filter(&text, ListKind::SyncOrders, merchant()), Err(CursorError::OtherList));
}

#[test]
fn truncated_padded_and_oversized_texts_are_malformed() {
    let keys = keys();
    for (text, decode) in both_forms(&keys) {
        for end in 0..text.len() {
            assert_eq!(decode(&text[..end]), Err(CursorError::Malformed), "{end} characters");
        }
        let longer = [format!("{text}A"), format!("{text}="), format!(" {text}")];
        for text in longer.into_iter().chain(["A".repeat(10_240), "é".repeat(20)]) {
            assert_eq!(decode(&text), Err(CursorError::Malformed), "{text:.60}");
        }
    }
}

#[test]
fn an_older_key_verifies_until_it_is_retired() {
    let before = CursorKeys::new((3, [2; 32]), vec![]).unwrap();
    let text = before.encode(ListKind::Events, 5, merchant(), "");
    assert_eq!(keys().decode(&text, ListKind::Events, merchant(), ""), Ok(5));
    let after = CursorKeys::new((7, [1; 32]), vec![]).unwrap();
    assert_eq!(after.decode(&text, ListKind::Events, merchant(), ""), Err(CursorError::UnknownKey));
    let replaced = CursorKeys::new((3, [9; 32]), vec![]).unwrap();
    assert_eq!(replaced.decode(&text, ListKind::Events, merchant(), ""), Err(CursorError::NotAuthentic));
}

#[test]
fn key_lists() {
    let one = STANDARD.encode([1; 32]);
    let table = [
        (format!("7:{one}"), None),
        (format!("7:{one}, 3:{}", STANDARD.encode([2; 32])), None),
        (String::new(), Some(CursorKeyError::Empty)),
        (" , ".into(), Some(CursorKeyError::Empty)),
        (one.clone(), Some(CursorKeyError::Malformed)),
        (format!("256:{one}"), Some(CursorKeyError::Malformed)),
        (format!("7:{}", STANDARD.encode([1; 31])), Some(CursorKeyError::Malformed)),
        ("7:*".into(), Some(CursorKeyError::Malformed)),
        (format!("7:{one},7:{one}"), Some(CursorKeyError::DuplicateId)),
    ];
    for (text, expected) in table {
        assert_eq!(CursorKeys::parse(&text).err(), expected, "{text}");
    }
    assert_eq!(format!("{:?}", keys()), "CursorKeys(2 keys, redacted)");
}

proptest! {
    #[test]
    fn what_is_encoded_decodes(
        position: u64, livemode: bool, merchant_id in "mer_[0-9a-z]{26}", filter in ".{0,40}",
        list in prop::sample::select(ListKind::ALL),
    ) {
        let tenant = tenant(&merchant_id, livemode);
        let text = keys().encode(list, position, Owner::Tenant(&tenant), &filter);
        prop_assert_eq!(keys().decode(&text, list, Owner::Tenant(&tenant), &filter), Ok(position));
    }

    #[test]
    fn what_is_encoded_by_id_decodes(
        uuid: u128, filter in ".{0,40}", list in prop::sample::select(ListKind::ALL),
    ) {
        let text = keys().encode_id(list, uuid, &filter);
        prop_assert_eq!(keys().decode_id(&text, list, &filter), Ok(uuid));
    }

    #[test]
    fn no_text_breaks_the_decoder(text in "\\PC{0,300}") {
        prop_assert!(keys().decode_id(&text, ListKind::OperatorEvents, "").is_err());
        prop_assert!(keys().decode(&text, ListKind::Events, merchant(), "").is_err());
    }
}
