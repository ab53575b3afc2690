//! A small generator of numbers: the same systems on every machine.

use dalembert::expr;

/// A generator whose neighboring seeds give unrelated numbers.
pub struct Random(expr::Random);

impl Random {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Random {
        let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Random(expr::Random::new(x ^ (x >> 31)))
    }

    /// One of 0, …, n − 1.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.below(n)
    }

    /// True once in n times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Uniform in (−1, 1), kept off 0.
    pub fn signed(&mut self) -> f64 {
        let size = 0.1 + 0.9 * self.0.unit();
        if self.one_in(2) { size } else { -size }
    }

    /// A vector of such numbers.
    pub fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.signed()).collect()
    }

    /// A coefficient: eighths between −1 and 1 without 0, as text.
    pub fn coefficient(&mut self) -> String {
        let size = (1 + self.below(8)) as f64 / 8.0;
        if self.one_in(2) { format!("{size}") } else { format!("(-{size})") }
    }

    /// One of the entries.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}
