//! What the sides are asked to do.

/// One unit of it is one answer, or one paid order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// `GET /orders/:order`, any of 166,000.
    Order,
    /// `GET /events?limit=100`, from anywhere in the history.
    Events,
    /// Pages from anywhere, in the long history and in the short one.
    AnyPages,
    /// The same hundred pages again and again, spread over the history: what a page costs when its rows are at hand,
    /// behind many events and behind few.
    SamePages,
    /// `POST …/payments` and `POST …/reports`: one payment of an open checkout and its success, five events.
    PaidOrder,
}

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Side {
    /// The authority over the long history.
    Authority,
    /// The same database without it.
    Floor,
    /// The authority over the short history.
    Short,
}

impl Work {
    pub(crate) const ALL: [Self; 5] =
        [Self::Order, Self::Events, Self::AnyPages, Self::SamePages, Self::PaidOrder];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Order => "GET /orders/:order",
            Self::Events => "GET /events?limit=100",
            Self::AnyPages => "pages from anywhere: 1,000,000 / 10,000 events",
            Self::SamePages => "the same 100 pages: 1,000,000 / 10,000 events",
            Self::PaidOrder => "paid order, 2 requests, 5 events",
        }
    }

    pub(crate) fn sides(self) -> &'static [Side] {
        match self {
            Self::Order | Self::Events | Self::PaidOrder => &[Side::Authority, Side::Floor],
            Self::AnyPages | Self::SamePages => &[Side::Authority, Side::Short],
        }
    }

    /// Beside whom the authority's figures stand.
    pub(crate) fn measure(self) -> Side {
        if self.sides().contains(&Side::Short) { Side::Short } else { Side::Floor }
    }
}
