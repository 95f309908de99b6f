//! The source of demonstration data: the n-th story of a seed (contract 6.3).
//!
//! A story is a basket and what becomes of it. The same dice give the same story; a caller uses fresh dice for every
//! order, so that each order is the same whichever orders were made before it. Deliberately absent: carrying it out.
//! The sandbox does so through the functions that all other requests use.

use rand_core::Rng;
use serde_json::{Value, json};

use crate::text_enum::text_enum;

text_enum! {
    /// What becomes of an order.
    Plot {
        /// The money is on its way.
        Pending = "pending",
        /// The money is reserved.
        Authorized = "authorized",
        /// Given up before it was paid.
        Cancelled = "cancelled",
        /// Declined first, then paid.
        PaidAtSecondTry = "paid_at_second_try",
        /// Paid, to be packed.
        Paid = "paid",
        /// Packed.
        Fulfilled = "fulfilled",
        /// One parcel is out, more to come.
        PartlyShipped = "partly_shipped",
        /// On its way.
        InTransit = "in_transit",
        /// Held up at the carrier.
        HeldUp = "held_up",
        /// Arrived.
        Delivered = "delivered",
        /// Arrived, and a part of the money went back.
        PartlyRefunded = "partly_refunded",
        /// All of the money went back.
        Refunded = "refunded",
        /// Sold over the counter.
        AtTheTill = "at_the_till",
    }
}

/// How many of a hundred stories have which plot.
const PLOTS: [(u64, Plot); 13] = [
    (27, Plot::Delivered),
    (13, Plot::InTransit),
    (12, Plot::Paid),
    (8, Plot::Fulfilled),
    (8, Plot::AtTheTill),
    (7, Plot::PartlyRefunded),
    (6, Plot::PartlyShipped),
    (5, Plot::Pending),
    (4, Plot::Authorized),
    (4, Plot::PaidAtSecondTry),
    (3, Plot::Refunded),
    (2, Plot::Cancelled),
    (1, Plot::HeldUp),
];

/// SKU, name, price, whether it ships.
const GOODS: [(&str, &str, i64, bool); 8] = [
    ("TSHIRT-M", "T-shirt", 2_400, true),
    ("MUG-WHITE", "Mug", 1_250, true),
    ("POSTER-A2", "Poster", 1_800, true),
    ("NOTEBOOK", "Notebook", 900, true),
    ("BACKPACK", "Backpack", 7_900, true),
    ("LAMP-DESK", "Desk lamp", 5_450, true),
    ("EBOOK-GUIDE", "Guide (e-book)", 1_500, false),
    ("GIFT-CARD", "Gift card", 2_500, false),
];

/// Name, street, city, postal code, country.
const PEOPLE: [(&str, &str, &str, &str, &str); 8] = [
    ("Ada Byron", "1 Main St", "Leeds", "LS1 1AA", "GB"),
    ("Grace Murray", "12 Elm Ave", "Arlington", "22201", "US"),
    ("Emmy Roth", "Hauptstr. 5", "Erlangen", "91054", "DE"),
    ("Sofia Lund", "Storgatan 8", "Uppsala", "753 31", "SE"),
    ("Marie Sklod", "3 rue du Lac", "Lyon", "69003", "FR"),
    ("Chien Wu", "88 Harbour Rd", "Singapore", "098632", "SG"),
    ("Rosa Diaz", "Calle Sol 14", "Sevilla", "41001", "ES"),
    ("Katja Novak", "Cankarjeva 2", "Ljubljana", "1000", "SI"),
];

/// One order to be told.
#[derive(Clone, Debug, PartialEq)]
pub struct Story {
    /// The members that a checkout and an order have in common: currency, lines, customer, addresses.
    pub basket: Value,
    /// What becomes of it.
    pub plot: Plot,
}

/// The story that these dice tell.
#[must_use]
pub fn story(currency: &str, dice: &mut dyn Rng) -> Story {
    let plot = plot(dice);
    let mut lines: Vec<Value> = Vec::new();
    let first = below(dice, 6);
    for n in 0..=below(dice, 3) {
        // The first line ships; seven is no divisor of eight, so that none comes twice.
        let Some((sku, name, price, ships)) = cyclic(&GOODS, first + n * 7) else { continue };
        let ships = *ships && plot != Plot::AtTheTill;
        let quantity = 1 + below(dice, 3);
        lines.push(json!({
            "sku": sku, "name": name, "quantity": quantity, "unit_amount": price, "requires_shipping": ships,
        }));
    }
    let who = below(dice, 8);
    let shipping = if plot == Plot::AtTheTill { 0 } else { 400 + 100 * below(dice, 6) };
    let mut basket = json!({ "currency": currency, "line_items": lines, "shipping": shipping });
    if let (Some((name, line1, city, postal_code, country)), Value::Object(basket)) =
        (cyclic(&PEOPLE, who), &mut basket)
    {
        let reference = format!("c-{}", 100 + who);
        let email = format!("{}@example.com", name.to_lowercase().replace(' ', "."));
        basket.insert("customer".to_owned(), json!({ "reference": reference, "email": email, "name": name }));
        if plot != Plot::AtTheTill {
            basket.insert(
                "shipping_address".to_owned(),
                json!({ "name": name, "line1": line1, "city": city, "postal_code": postal_code,
                        "country": country }),
            );
        }
    }
    Story { basket, plot }
}

fn plot(dice: &mut dyn Rng) -> Plot {
    let mut rolled = below(dice, PLOTS.iter().map(|(share, _)| share).sum());
    for (share, plot) in PLOTS {
        if rolled < share {
            return plot;
        }
        rolled -= share;
    }
    Plot::Paid
}

fn cyclic<T>(items: &[T], index: u64) -> Option<&T> {
    let length = u64::try_from(items.len()).ok()?;
    usize::try_from(index % length).ok().and_then(|index| items.get(index))
}

/// Any number below `end`, which is small beside 2^64.
fn below(dice: &mut dyn Rng, end: u64) -> u64 {
    dice.next_u64() % end.max(1)
}
