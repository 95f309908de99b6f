//! Shards, and the turns that a writing transaction holds (contract 21).
//!
//! Every merchant belongs to one of [`MERCHANT_SHARDS`] shards for life. On PostgreSQL each shard has a row in the
//! table `turns`, and a transaction locks the rows of the shards that it writes: that is its turn. Transactions of
//! different shards, in one instance or in several, do not wait for each other. The operator's own tenant, which owns
//! the platform's endpoint, has a shard of its own behind the merchants'. SQLite has one writer, which holds every
//! turn.
//!
//! Every row of a merchant has the number of its shard in the column `shard`, which leads the keys of its table; the
//! statements name it (`Query::bind_tenant`). On SQLite there is one shard, 0.
//!
//! A job says beforehand which turns it needs ([`Turns`]). When it finds out half way that it needs another one, it
//! is undone and runs again with all of them (`writer`). No request takes every turn: nothing is everybody's.

use std::fmt;

use authority_domain::{MerchantId, Tenant};
use sha2::{Digest, Sha256};

/// Shards of merchants. Fixed: the migration that makes the table `turns` has the same number.
pub const MERCHANT_SHARDS: u32 = 64;

/// The shard of the operator's own tenant.
const OPERATOR_SHARD: u32 = MERCHANT_SHARDS;

/// The number of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shard(u8);

impl Shard {
    /// The shard of the operator's own tenant.
    pub(crate) const OPERATOR: Self = Self(64);

    /// The shard of a merchant: the first byte of its id's SHA-256, which PostgreSQL computes alike (`shard_of`).
    #[must_use]
    pub fn of(merchant: &MerchantId) -> Self {
        if Tenant::is_of_operator(merchant) {
            return Self::OPERATOR;
        }
        Self(Sha256::digest(merchant.as_str()).first().copied().unwrap_or(0) % 64)
    }

    /// The number that PostgreSQL stores.
    pub(crate) fn number(self) -> i16 {
        self.0.into()
    }
}

/// A set of shards.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct ShardSet(u128);

impl ShardSet {
    /// Every shard, the operator's included.
    pub const ALL: Self = Self((1 << (MERCHANT_SHARDS + 1)) - 1);
    /// The shard of a database that has one.
    pub(crate) const ONLY: Self = Self(1);
    /// No shard.
    pub const NONE: Self = Self(0);

    /// The shard of a merchant.
    #[must_use]
    pub fn of(merchant: &MerchantId) -> Self {
        Self::one(Shard::of(merchant).0.into())
    }

    /// The shards of the deliveries of a tenant's events: those to its own endpoints, and those to the platform's.
    pub(crate) fn of_deliveries(tenant: &Tenant) -> Self {
        Self::of(&tenant.merchant_id).or(Self::of(&Tenant::operator().merchant_id))
    }

    /// The shards, ascending.
    pub(crate) fn all(self) -> impl Iterator<Item = Shard> {
        (0..=64).map(Shard).filter(move |shard| self.contains(Self::one(shard.0.into())))
    }

    /// A set of each of its shards alone, ascending.
    pub fn apart(self) -> impl Iterator<Item = Self> {
        self.all().map(|shard| Self::one(shard.0.into()))
    }

    /// The set of one shard; empty when there is no such shard.
    pub(crate) fn one(shard: u32) -> Self {
        Self(1_u128.checked_shl(shard).unwrap_or(0)).and(Self::ALL)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether all of `other` are in it.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Whether the sets have a shard in common.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Those in both sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Those in either set.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Those that are not in `other`.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl fmt::Debug for ShardSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.all().map(Shard::number)).finish()
    }
}

impl<'m> FromIterator<&'m MerchantId> for ShardSet {
    fn from_iter<I: IntoIterator<Item = &'m MerchantId>>(merchants: I) -> Self {
        merchants.into_iter().fold(Self::NONE, |all, merchant| all.or(Self::of(merchant)))
    }
}

/// The turns that a job needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    pub(crate) shards: ShardSet,
    /// The job does what it can with those of them that can be had at once, maybe none.
    pub(crate) part: bool,
    /// Where none of them is free in this instance, it runs with none, and does not stand in the queue.
    pub(crate) at_once: bool,
}

impl Turns {
    /// Every turn: nobody else writes meanwhile.
    pub const ALL: Self = Self { shards: ShardSet::ALL, part: false, at_once: false };
    /// The turn of the operator's own tenant: for requests of the operator that concern no merchant, and for rows of
    /// no merchant.
    pub const OPERATOR: Self = Self { shards: ShardSet(1 << OPERATOR_SHARD), part: false, at_once: false };
    /// None: for rows of no merchant, on which no rule rests that looks at more than one of them.
    pub const NONE: Self = Self { shards: ShardSet::NONE, part: false, at_once: false };

    /// The turn of this merchant's shard.
    #[must_use]
    pub fn of(merchant: &MerchantId) -> Self {
        Self::each(ShardSet::of(merchant))
    }

    /// The turns of these shards.
    #[must_use]
    pub fn each(shards: ShardSet) -> Self {
        Self { shards, part: false, at_once: false }
    }

    /// Those turns of `shards` that can be had once one of them is free in this instance: until then the job stands in
    /// the queue, where whoever has waited for one takes it along. It asks which it holds ([`crate::tx::Tx::holds`])
    /// and leaves the rest.
    #[must_use]
    pub fn some_of(shards: ShardSet) -> Self {
        Self { shards, part: true, at_once: false }
    }

    /// The same for a job that others wait for: it goes ahead also where none of them is free, with none.
    #[must_use]
    pub fn at_once(shards: ShardSet) -> Self {
        Self { shards, part: true, at_once: true }
    }

    /// Whether a transaction that holds `held` may run the job.
    pub(crate) fn allow(self, held: ShardSet) -> bool {
        self.part || held.contains(self.shards)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merchant(id: &str) -> MerchantId {
        MerchantId::from_store(id.to_owned())
    }

    #[test]
    fn a_merchant_has_one_shard_and_the_operator_another() {
        // `SELECT get_byte(sha256('mer_1'), 0) % 64` and so on.
        for (id, shard) in [("mer_1", 54), ("mer_2", 51)] {
            assert_eq!(
                ShardSet::of(&merchant(id)).all().map(Shard::number).collect::<Vec<_>>(),
                [shard],
                "{id}"
            );
        }
        assert_eq!(ShardSet::of(&Tenant::operator().merchant_id), ShardSet::one(64));
    }

    #[test]
    fn merchants_spread_over_all_shards() {
        let merchants: Vec<_> = (0..2_000).map(|n| merchant(&format!("mer_{n}"))).collect();
        assert_eq!(merchants.iter().collect::<ShardSet>(), ShardSet::ALL.without(ShardSet::one(64)));
    }

    #[test]
    fn there_is_no_shard_behind_the_last() {
        assert_eq!(ShardSet::one(65), ShardSet::NONE);
        assert_eq!(ShardSet::one(500), ShardSet::NONE);
        assert_eq!(ShardSet::ALL.all().count(), 65);
    }

    #[test]
    fn a_job_runs_with_all_its_turns_or_with_some_when_it_says_so() {
        let (one, two) = (ShardSet::one(1), ShardSet::one(2));
        let both = one.or(two);
        for (turns, held, allowed) in [
            (Turns::NONE, ShardSet::NONE, true),
            (Turns::each(one), one, true),
            (Turns::each(one), both, true),
            (Turns::each(both), one, false),
            (Turns::some_of(both), one, true),
            (Turns::some_of(both), ShardSet::NONE, true),
            (Turns::at_once(both), ShardSet::NONE, true),
            (Turns::ALL, both, false),
            (Turns::ALL, ShardSet::ALL, true),
        ] {
            assert_eq!(turns.allow(held), allowed, "{turns:?} with {held:?}");
        }
    }
}
