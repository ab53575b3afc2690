//! Keys by which factors and terms are sorted.

use std::cmp::Ordering;

/// Class, place within it, rank.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::print) struct FactorKey(pub u8, pub u64, pub u32);

/// What decides a term's place in its sum; see [`super`] for what comes first.
#[derive(Default)]
pub(in crate::print) struct TermKey {
    /// In accelerations, velocities, coordinates.
    pub degrees: [f32; 3],
    pub has_function: bool,
    pub variables: Vec<(u64, f32)>,
    pub others: Vec<(u32, f32)>,
    pub constant_degree: f32,
    pub constants: Vec<(u64, u32, f32)>,
    pub sines: f32,
    pub functions: Vec<(u32, f32)>,
}

impl TermKey {
    /// Whether the term holds neither variables nor time.
    pub fn is_constant(&self) -> bool {
        self.variables.is_empty() && self.others.is_empty() && self.functions.is_empty()
    }

    pub fn compare(&self, other: &TermKey) -> Ordering {
        let descending = |a: f32, b: f32| b.total_cmp(&a);
        descending(self.degrees[0], other.degrees[0])
            .then_with(|| descending(self.degrees[1], other.degrees[1]))
            .then_with(|| self.has_function.cmp(&other.has_function))
            .then_with(|| descending(self.degrees[2], other.degrees[2]))
            .then_with(|| monomials(&self.variables, &other.variables))
            .then_with(|| self.others.len().cmp(&other.others.len()))
            .then_with(|| self.constant_degree.total_cmp(&other.constant_degree))
            .then_with(|| {
                let place = |c: &(u64, u32, f32)| ((c.0, c.1), c.2);
                let (a, b): (Vec<_>, Vec<_>) = (
                    self.constants.iter().map(place).collect(),
                    other.constants.iter().map(place).collect(),
                );
                monomials(&a, &b)
            })
            .then_with(|| self.sines.total_cmp(&other.sines))
            .then_with(|| monomials(&self.functions, &other.functions))
            .then_with(|| monomials(&self.others, &other.others))
    }
}

/// Alphabetical order of monomials: x², x y, x, y², y, 1.
fn monomials<K: Ord>(a: &[(K, f32)], b: &[(K, f32)]) -> Ordering {
    for ((ka, ea), (kb, eb)) in a.iter().zip(b) {
        match ka.cmp(kb).then_with(|| eb.total_cmp(ea)) {
            Ordering::Equal => {}
            unequal => return unequal,
        }
    }
    b.len().cmp(&a.len())
}
