//! Numbers without a pattern, the same on every machine: points of no special position for
//! what is tried at points, and data for tests.

/// Knuth's MMIX generator, of which the upper 31 bits are used.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// 31 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    /// One of 0, …, n − 1; 0 if n is 0.
    pub fn below(&mut self, n: usize) -> usize {
        self.bits() as usize % n.max(1)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.bits() as f64 / (1u64 << 31) as f64
    }

    /// Uniform in [−1, 1).
    pub fn signed(&mut self) -> f64 {
        self.bits() as f64 / (1u64 << 30) as f64 - 1.0
    }
}
