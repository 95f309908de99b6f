//! Orders that merchants share: what a partner can see against what it may see, and many writers at once (contract
//! 2.14, 3.10, 8.3).

mod many;
mod visibility;
mod world;
mod writers;
