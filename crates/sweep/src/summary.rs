//! Mean, deviation and extremes of columns.
//!
//! ```text
//! n ← n + 1,   δ = x − μ,   μ ← μ + δ/n,   S ← S + δ (x − μ)
//! ```
//!
//! in the order of cases, part after part; parts are joined by
//! μ = (n₁μ₁ + n₂μ₂)/n, S = S₁ + S₂ + (μ₂ − μ₁)² n₁n₂/n. Sources: B. P. Welford, Technometrics 4
//! (1962); T. F. Chan, G. H. Golub and R. J. LeVeque, The American Statistician 37 (1983).

use serde_json::{Value, json};

/// A column so far. What is not a number is not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// How many values there are.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// The sum of squares of what they differ from it.
    squares: f64,
    /// The least.
    pub least: f64,
    /// The largest.
    pub largest: f64,
}

impl Default for Column {
    fn default() -> Column {
        let (least, largest) = (f64::INFINITY, f64::NEG_INFINITY);
        Column { count: 0, mean: 0.0, squares: 0.0, least, largest }
    }
}

impl Column {
    /// Counts a value.
    pub fn see(&mut self, x: f64) {
        if !x.is_finite() {
            return;
        }
        self.count += 1;
        let off = x - self.mean;
        self.mean += off / self.count as f64;
        self.squares += off * (x - self.mean);
        (self.least, self.largest) = (self.least.min(x), self.largest.max(x));
    }

    /// Joins what comes after.
    pub fn join(&mut self, other: &Column) {
        if other.count == 0 {
            return;
        }
        let (own, more) = (self.count as f64, other.count as f64);
        let (whole, off) = (own + more, other.mean - self.mean);
        self.count += other.count;
        self.mean += off * (more / whole);
        self.squares += other.squares + off * off * (own * more / whole);
        (self.least, self.largest) = (self.least.min(other.least), self.largest.max(other.largest));
    }

    /// The deviation of a value, from a sample of them; NaN below two.
    pub fn deviation(&self) -> f64 {
        match self.count {
            0 | 1 => f64::NAN,
            count => (self.squares / (count - 1) as f64).sqrt(),
        }
    }

    /// For a file.
    pub(crate) fn to_list(self) -> Value {
        // Through bits: a file has them all.
        let bits = |x: f64| format!("{:016x}", x.to_bits());
        json!([
            self.count,
            bits(self.mean),
            bits(self.squares),
            bits(self.least),
            bits(self.largest)
        ])
    }

    pub(crate) fn of_list(value: &Value) -> Option<Column> {
        let list = value.as_array()?;
        let number = |at: usize| {
            let bits = u64::from_str_radix(list.get(at)?.as_str()?, 16).ok()?;
            Some(f64::from_bits(bits))
        };
        Some(Column {
            count: list.first()?.as_u64()?,
            mean: number(1)?,
            squares: number(2)?,
            least: number(3)?,
            largest: number(4)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_join_to_the_whole() {
        let values: Vec<f64> = (0..1000).map(|k| 1e6 + (k as f64 * 0.7).sin()).collect();
        let mut whole = Column::default();
        values.iter().for_each(|&x| whole.see(x));
        let mut joined = Column::default();
        for part in values.chunks(37) {
            let mut own = Column::default();
            part.iter().for_each(|&x| own.see(x));
            joined.join(&Column::of_list(&own.to_list()).unwrap());
        }
        let mean = values.iter().sum::<f64>() / 1000.0;
        let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
        for column in [whole, joined] {
            assert!((column.mean - mean).abs() < 1e-9);
            assert!((column.deviation() - (squares / 999.0).sqrt()).abs() < 1e-9);
            assert_eq!(column.count, 1000);
        }
        let mut none = Column::default();
        none.see(f64::NAN);
        assert_eq!(none.count, 0);
        assert!(none.deviation().is_nan());
    }
}
