//! Identifiers and new secrets: the issued forms of contract 1.1 and 1.2.

use proptest::prelude::*;
use verify_core::{Secret, base62, id, secret};

#[test]
fn the_typeid_layout() {
    // The example of the TypeID specification: UUID 01890a5d-ac96-774b-bcce-b302099a8057.
    let uuid = 0x0189_0a5d_ac96_774b_bcce_b302_099a_8057;
    assert_eq!(id::encode("evt", uuid), "evt_01h455vb4pex5vsknk084sn02q");
    assert_eq!(id::timestamp_ms("evt_01h455vb4pex5vsknk084sn02q"), Some(0x0189_0a5d_ac96));
    assert_eq!(id::uuid("evt_01h455vb4pex5vsknk084sn02q"), Some(uuid));
    assert_eq!(id::encode("we", 0), "we_00000000000000000000000000");
    assert_eq!(id::encode("chk", u128::MAX), "chk_7zzzzzzzzzzzzzzzzzzzzzzzzz");
}

#[test]
fn version_variant_and_random_bits() {
    assert_eq!(id::uuid_v7(0, [0; 10]), 0x0000_0000_0000_7000_8000_0000_0000_0000);
    assert_eq!(id::uuid_v7(u64::MAX, [0xff; 10]), 0xffff_ffff_ffff_7fff_bfff_ffff_ffff_ffff);
    assert_eq!(
        id::uuid_v7(0x0123_4567_89ab, [0xf1, 0x23, 0xc4, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf0, 0x12]),
        0x0123_4567_89ab_7123_8456_789a_bcde_f012
    );
}

#[test]
fn what_is_not_an_issued_id() {
    let good = "evt_01h455vb4pex5vsknk084sn02q";
    assert!(id::is_issued("evt", good));
    let bad = "evt evt_ evt_1 evt_81h455vb4pex5vsknk084sn02q evt_01h455vb4pex5vsknk084sn02 \
        evt_01h455vb4pex5vsknk084sn02qq evt_01h455vb4pex5vsknk084sn02Q evt_01h455vb4pex5vsknk084sn02i \
        evt_01h455vb4pex5vsknk084sn02l evt_01h455vb4pex5vsknk084sn02o evt_01h455vb4pex5vsknk084sn02u \
        evt-01h455vb4pex5vsknk084sn02q mer_01h455vb4pex5vsknk084sn02q evt_01h455vb4pex5vsknk084sn02é";
    for text in bad.split(' ').chain(["", " evt_01h455vb4pex5vsknk084sn02q"]) {
        assert!(!id::is_issued("evt", text), "{text:?}");
    }
    for prefix in ["e", "events", "Evt", "ev1", ""] {
        let text = format!("{prefix}_01h455vb4pex5vsknk084sn02q");
        assert!(!id::is_issued(prefix, &text), "{text:?}");
        assert_eq!(id::timestamp_ms(&text), None, "{text:?}");
        assert_eq!(id::uuid(&text), None, "{text:?}");
    }
}

#[test]
fn secrets_are_shown_by_their_last_three_characters() {
    assert_eq!(secret::hint(crate::delivery::S1), "…q3M");
    assert_eq!(secret::hint("ab"), "…ab");
    assert_eq!(secret::hint("é🛒x"), "…é🛒x");
    assert_eq!(secret::hint("aé🛒x"), "…é🛒x");
}

#[test]
fn base62_at_its_borders() {
    let text = |bytes| String::from_utf8(base62::encode(bytes).to_vec()).unwrap();
    assert_eq!(text([0; 32]), "0".repeat(43));
    let mut one = [0; 32];
    one[31] = 61;
    assert_eq!(text(one), format!("{}z", "0".repeat(42)));
    one[31] = 62;
    assert_eq!(text(one), format!("{}10", "0".repeat(41)));
    // 2^256 - 1, by independent arithmetic.
    assert_eq!(text([0xff; 32]), "yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp1");
}

proptest! {
    #[test]
    fn ids_sort_by_time_and_give_it_back(ms in 0_u64..1 << 48, later in 0_u64..1 << 48, random: [u8; 10]) {
        let text = id::encode("evt", id::uuid_v7(ms, random));
        prop_assert!(id::is_issued("evt", &text));
        prop_assert_eq!(id::timestamp_ms(&text), Some(ms));
        prop_assert_eq!(id::uuid(&text), Some(id::uuid_v7(ms, random)));
        let other = id::encode("evt", id::uuid_v7(later, random));
        prop_assert_eq!(text.cmp(&other), ms.cmp(&later));
    }

    #[test]
    fn new_secrets_are_usable_and_hold_all_their_bits(random: [u8; 32]) {
        let text = secret::generate(random);
        prop_assert_eq!(text.len(), 49);
        prop_assert!(Secret::parse(&text).is_ok());
        // Read back: base 62 to 32 bytes.
        let mut bytes = [0_u8; 32];
        for digit in text.strip_prefix("whsec_").unwrap().bytes() {
            let mut carry = base62::ALPHABET.iter().position(|known| *known == digit).unwrap();
            for byte in bytes.iter_mut().rev() {
                carry += usize::from(*byte) * 62;
                *byte = carry as u8;
                carry >>= 8;
            }
            prop_assert_eq!(carry, 0);
        }
        prop_assert_eq!(bytes, random);
    }
}
