//! Exact arithmetic at a random point of a finite field: whether a rational
//! function of its symbols is 0, without rounding.
//!
//! Let p = 4q + 1 with p and q prime. A value is three residues: the value
//! itself mod p, and its values mod q as an exponent and as an angle. With random
//! g and h of order q and ι² = −1 in the field of p,
//!
//! ```text
//! exp a = g^a,   cos a + ι sin a = h^a′
//! ```
//!
//! where a is the exponent and a′ the angle, so that the laws of exponentials
//! and addition theorems hold (G. H. Gonnet, Determining equivalence of
//! expressions in random polynomial time, STOC 1984). Other functions and roots
//! take random values, the same for the same arguments, and obey what is always
//! true of them: parity, acos = π/2 − asin, max(a, b) = (a + b + |a − b|)/2,
//! if(c, a, b) = t·a + (1 − t)·b.
//!
//! Only true laws are used, so an expression that vanishes identically in this
//! model is 0 wherever it is defined. The converse holds for rational functions
//! alone: others may be 0 by laws that are not known here.

mod field;

use crate::eval::Arithmetic;
use crate::function::{Function, Parity};
use crate::number::Number;
use crate::symbol::Symbol;
use field::{add, inverse, multiply, negate, power};
use num_traits::ToPrimitive;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// q of the moduli: the first primes from successive digits of π with 4q + 1
/// prime, so that nobody chose them.
const PRIMES: [u64; 8] = [
    0x0a43_f6a8_885a_316f,
    0x0931_98a2_e037_0ceb,
    0x0a40_9382_2299_f573,
    0x0882_efa9_8ec4_f587,
    0x0c52_821e_638d_0c4d,
    0x0be5_466c_f34e_9bcd,
    0x0c0a_c29b_7c97_d6d1,
    0x0bf8_4d5b_5b54_7091,
];

/// n/d as m/240 if it can be: square roots, cube roots, fourth roots, … are
/// powers of one, so that their exponents add up.
pub(crate) fn common_root(n: i64, d: i64) -> (i64, i64) {
    match n.checked_mul(240) {
        Some(m) if d > 1 && 240 % d == 0 => (m / d, 240),
        _ => (n, d),
    }
}

/// The binary logarithm of the least q, rounded down: a polynomial of degree d
/// vanishes at a random point with probability at most d/2^BITS.
pub(crate) const BITS: i32 = 59;

/// A finalizer that spreads each bit over all (splitmix64).
pub(crate) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Residues of a value mod p, and mod q as an exponent and as an angle.
pub(crate) type Residues = [u64; 3];

/// A value, or none where a division by 0 came up.
pub(crate) type Residue = Option<Residues>;

/// The arithmetic at one random point.
pub(crate) struct Modular {
    /// p, q, q.
    moduli: Residues,
    /// Elements of order q, for exponents and angles.
    generators: [u64; 2],
    /// A square root of −1.
    iota: u64,
    seed: u64,
    numbers: RefCell<FxHashMap<Number, Residue>>,
}

// What a random value stands for, beside the functions.
const SYMBOL: u64 = 0x100;
const PI: u64 = 0x101;
const ROOT: u64 = 0x102;
const POWER: u64 = 0x103;
const GENERATOR: u64 = 0x104;

impl Modular {
    /// The point of that number; the seed chooses among sets of points.
    pub fn new(seed: u64, point: u32) -> Self {
        // Successive points take different primes, from a random one on.
        let first = (mix(seed) >> 61) as usize;
        let q = PRIMES[(point as usize + first) % PRIMES.len()];
        let p = 4 * q + 1;
        let seed = mix(seed ^ mix(point as u64));
        let mut modular = Modular {
            moduli: [p, q, q],
            generators: [1, 1],
            iota: power(2, q, p),
            seed,
            numbers: RefCell::default(),
        };
        // 2 generates all of the field, a test makes sure, and 2⁴ the elements
        // of order q. Were one fixed, it would be e, and e a rational number.
        let generator = |k: usize| power(16, modular.random(k, GENERATOR, &[]).max(1), p);
        modular.generators = [generator(1), generator(2)];
        modular
    }

    /// The value of a symbol.
    pub fn symbol(&self, symbol: Symbol) -> Residue {
        Some([0, 1, 2].map(|k| self.random(k, SYMBOL, &[symbol.index() as u64])))
    }

    /// a b + c mod p.
    pub fn fused(&self, a: u64, b: u64, c: u64) -> u64 {
        let p = self.moduli[0];
        add(c, multiply(a, b, p), p)
    }

    /// −a mod p.
    pub fn negative(&self, a: u64) -> u64 {
        negate(a, self.moduli[0])
    }

    /// 1/a mod p, of what is not 0.
    pub fn reciprocal(&self, a: u64) -> u64 {
        inverse(a, self.moduli[0])
    }

    /// A residue that is as good as random, the same for the same key.
    fn random(&self, k: usize, kind: u64, key: &[u64]) -> u64 {
        let start = mix(self.seed ^ mix(kind << 2 | k as u64));
        let mixed = key.iter().fold(start, |state, &word| mix(state ^ mix(word)));
        let wide = (mixed as u128) << 64 | mix(mixed) as u128;
        (wide % self.moduli[k] as u128) as u64
    }

    /// A function of which no more is known than its parity.
    fn opaque(&self, k: usize, function: Function, key: &[u64]) -> u64 {
        let (m, kind) = (self.moduli[k], function as u64);
        match (function.parity(), key) {
            (Parity::Odd, [0]) => 0,
            (Parity::Even, [0]) if function == Function::Abs => 0,
            (Parity::Odd, &[x]) if x > m - x => negate(self.random(k, kind, &[m - x]), m),
            (Parity::Even, &[x]) => self.random(k, kind, &[x.min(m - x)]),
            _ => self.random(k, kind, key),
        }
    }

    fn each(&self, f: impl Fn(usize, u64) -> u64) -> Residues {
        [0, 1, 2].map(|k| f(k, self.moduli[k]))
    }

    fn add3(&self, a: Residues, b: Residues) -> Residues {
        self.each(|k, m| add(a[k], b[k], m))
    }

    fn sub3(&self, a: Residues, b: Residues) -> Residues {
        self.each(|k, m| add(a[k], negate(b[k], m), m))
    }

    fn mul3(&self, a: Residues, b: Residues) -> Residues {
        self.each(|k, m| multiply(a[k], b[k], m))
    }

    fn inverse3(&self, a: Residues) -> Residue {
        a.iter().all(|&x| x != 0).then(|| self.each(|k, m| inverse(a[k], m)))
    }

    fn half(&self, a: Residues) -> Residues {
        // Odd moduli: a or a + m is even.
        self.each(|k, m| if a[k].is_multiple_of(2) { a[k] / 2 } else { (a[k] + m) / 2 })
    }

    fn power3(&self, base: Residues, n: i64) -> Residue {
        let base = if n < 0 { self.inverse3(base)? } else { base };
        Some(self.each(|k, m| power(base[k], n.unsigned_abs(), m)))
    }

    /// Functions that are exponentials, mod p.
    fn exponential(&self, function: Function, x: Residues) -> Option<u64> {
        let p = self.moduli[0];
        let angle = matches!(function, Function::Sin | Function::Cos | Function::Tan);
        let z = power(self.generators[angle as usize], x[1 + angle as usize], p);
        let w = inverse(z, p);
        let half = p.div_ceil(2);
        let even = multiply(add(z, w, p), half, p);
        let odd = multiply(add(z, negate(w, p), p), half, p);
        // 1/ι = −ι
        let odd = if angle { negate(multiply(odd, self.iota, p), p) } else { odd };
        match function {
            Function::Exp => Some(z),
            Function::Cos | Function::Cosh => Some(even),
            Function::Sin | Function::Sinh => Some(odd),
            _ => (even != 0).then(|| multiply(odd, inverse(even, p), p)),
        }
    }

    /// A function of which at most the parity is known, for all residues.
    fn opaque3(&self, function: Function, x: &[Residues]) -> Residues {
        [0, 1, 2].map(|k| {
            let mut key: Vec<u64> = x.iter().map(|a| a[k]).collect();
            if matches!(function, Function::Min | Function::Max | Function::And | Function::Or) {
                key.sort_unstable();
            }
            self.opaque(k, function, &key)
        })
    }
}

impl Arithmetic for Modular {
    type Value = Residue;

    fn number(&self, number: &Number) -> Residue {
        if let Some(n) = number.as_integer() {
            return Some(self.each(|_, m| n.rem_euclid(m as i64) as u64));
        }
        if let Some(&known) = self.numbers.borrow().get(number) {
            return known;
        }
        let (n, d) = number.big();
        let reduce = |x: &num_bigint::BigInt, m: u64| {
            let m = num_bigint::BigInt::from(m);
            ((x % &m + &m) % m).to_u64().unwrap_or(0)
        };
        let denominator = self.inverse3(self.each(|_, m| reduce(&d, m)));
        let value = denominator.map(|d| self.mul3(self.each(|_, m| reduce(&n, m)), d));
        self.numbers.borrow_mut().insert(number.clone(), value);
        value
    }

    fn pi(&self) -> Residue {
        Some([0, 1, 2].map(|k| self.random(k, PI, &[])))
    }

    fn add(&self, a: &Residue, b: &Residue) -> Residue {
        Some(self.add3((*a)?, (*b)?))
    }

    fn mul(&self, a: &Residue, b: &Residue) -> Residue {
        Some(self.mul3((*a)?, (*b)?))
    }

    fn power(&self, base: &Residue, exponent: &Number) -> Residue {
        let base = (*base)?;
        match exponent.as_small() {
            Some((n, 1)) => self.power3(base, n),
            Some((n, d)) => {
                let (n, d) = common_root(n, d);
                let root = |k: usize| {
                    if base[k] == 0 { 0 } else { self.random(k, ROOT, &[base[k], d as u64]) }
                };
                self.power3([0, 1, 2].map(root), n)
            }
            None => {
                let exponent = self.number(exponent)?;
                Some([0, 1, 2].map(|k| self.random(k, POWER, &[base[k], exponent[k]])))
            }
        }
    }

    fn pow(&self, base: &Residue, exponent: &Residue) -> Residue {
        let (base, exponent) = ((*base)?, (*exponent)?);
        Some([0, 1, 2].map(|k| self.random(k, POWER, &[base[k], exponent[k]])))
    }

    fn call(&self, function: Function, arguments: &[Residue]) -> Residue {
        let x: Option<Vec<Residues>> = arguments.iter().copied().collect();
        let x = x?;
        match (function, x.as_slice()) {
            (
                Function::Sin
                | Function::Cos
                | Function::Tan
                | Function::Sinh
                | Function::Cosh
                | Function::Tanh
                | Function::Exp,
                &[a],
            ) => {
                // Inside another exponential it is any function.
                let mut value = self.opaque3(function, &x);
                value[0] = self.exponential(function, a)?;
                Some(value)
            }
            (Function::Acos, _) => {
                let asin = self.opaque3(Function::Asin, &x);
                Some(self.sub3(self.half(self.pi()?), asin))
            }
            (Function::Min | Function::Max, &[a, b]) => {
                let size = self.opaque3(Function::Abs, &[self.sub3(a, b)]);
                let sum = self.add3(a, b);
                let twice = if function == Function::Max {
                    self.add3(sum, size)
                } else {
                    self.sub3(sum, size)
                };
                Some(self.half(twice))
            }
            (Function::If, &[c, a, b]) => {
                let t = self.opaque3(Function::If, &[c]);
                Some(self.add3(b, self.mul3(t, self.sub3(a, b))))
            }
            // x ≤ 0 just where not −x < 0.
            (Function::NotPositive, &[a]) => {
                let minus = self.sub3([0; 3], a);
                Some(self.sub3([1; 3], self.opaque3(Function::Negative, &[minus])))
            }
            _ => Some(self.opaque3(function, &x)),
        }
    }

    fn solve(&self, k: &[Residue], r: &[Residue]) -> Vec<Residue> {
        let n = r.len();
        let solve = || {
            let a: Vec<Residues> = k.iter().copied().collect::<Option<_>>()?;
            let b: Vec<Residues> = r.iter().copied().collect::<Option<_>>()?;
            let mut x = vec![[0; 3]; n];
            for component in 0..3 {
                let part =
                    |values: &[Residues]| values.iter().map(|v| v[component]).collect::<Vec<u64>>();
                let solution = field::solve(part(&a), part(&b), self.moduli[component])?;
                for (x, value) in x.iter_mut().zip(solution) {
                    x[component] = value;
                }
            }
            Some(x)
        };
        solve().map_or_else(|| vec![None; n], |x| x.into_iter().map(Some).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Miller and Rabin's test with bases that decide for all of 64 bits.
    fn is_prime(n: u64) -> bool {
        let bases = [2u64, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];
        let twos = (n - 1).trailing_zeros();
        bases.iter().all(|&a| {
            let mut x = power(a, (n - 1) >> twos, n);
            x == 1
                || (0..twos).any(|_| {
                    let found = x == n - 1;
                    x = multiply(x, x, n);
                    found
                })
        })
    }

    #[test]
    fn moduli_are_what_is_said_of_them() {
        assert!(!is_prime(PRIMES[0] + 2) && !is_prime(3 * 5 * 7 * 1_000_003));
        for (at, &q) in PRIMES.iter().enumerate() {
            let p = 4 * q + 1;
            assert!(q >> BITS == 1 && is_prime(q) && is_prime(p));
            assert!(!PRIMES[..at].contains(&q));
            // 16 = 2⁴ is of order q, and 2^q of order 4.
            assert_eq!(power(16, q, p), 1);
            assert_eq!(power(power(2, q, p), 2, p), p - 1);
        }
    }

    #[test]
    fn field_operations_agree() {
        let modular = Modular::new(1, 0);
        for m in modular.moduli {
            for x in [1, 2, 3, m - 1, m / 2, 0x0123_4567_89ab_cdef] {
                assert_eq!(multiply(x, inverse(x, m), m), 1);
                assert_eq!(power(x, m - 1, m), 1);
                assert_eq!(add(x, negate(x, m), m), 0);
            }
        }
        let third = modular.number(&Number::ratio(-1, 3).unwrap());
        assert_eq!(
            modular.mul(&third, &modular.number(&Number::integer(3))),
            modular.number(&Number::MINUS_ONE)
        );
        let big = Number::from_decimal("-1e40").unwrap();
        let product = modular.mul(&modular.number(&big), &modular.number(&big.recip().unwrap()));
        assert_eq!(product, modular.number(&Number::ONE));
    }
}
