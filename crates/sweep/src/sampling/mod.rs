//! Where in the unit cube a case lies: one file a way.

mod quantile;
mod random;
mod sobol;

pub use quantile::normal;

/// The coordinates of a case: a function of its number, of the axis and of the seed.
type Place = fn(case: u64, axis: usize, seed: u64) -> f64;

/// A way to choose cases.
pub struct Way {
    /// Its name.
    pub name: &'static str,
    /// Strictly between 0 and 1.
    pub place: Place,
    /// The most axes it has places for.
    pub axes: usize,
}

macro_rules! ways {
    ($($module:ident,)*) => {
        /// Every way but the grid, which takes the values of lists in turn.
        pub const ALL: &[Way] = &[
            $(Way { name: stringify!($module), place: $module::place, axes: $module::AXES },)*
        ];
    };
}

ways! {
    random,
    sobol,
}

/// The name of the grid.
pub const GRID: &str = "grid";

/// The way of this name.
pub fn by_name(name: &str) -> Option<&'static Way> {
    ALL.iter().find(|way| way.name == name)
}

/// The middle of one of 2⁵² cells of the unit interval, by the highest bits of a word: neither 0
/// nor 1.
fn inside(word: u64) -> f64 {
    ((word >> 12) as f64 + 0.5) / (1u64 << 52) as f64
}

/// A word that looks random, of another word (the finalizer of SplitMix64: Steele, Lea and Flood,
/// OOPSLA 2014).
fn mixed(word: u64) -> u64 {
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}
