//! Taylor coefficients as intervals: recurrences of a few orders.
//!
//! A jet has intervals that enclose y⁽ʲ⁾(s)/j! at all points s of an interval. The recurrences are
//! those of `series`, on whole jets, since all operands are known.

use super::interval::Interval;

/// The highest order that jets have where nothing else is said.
pub const ORDER: usize = 5;

/// The coefficients of order 0, 1, …, so many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jet<const N: usize = { ORDER + 1 }>(pub [Interval; N]);

impl<const N: usize> Jet<N> {
    /// Nothing is known.
    pub const ALL: Jet<N> = Jet([Interval::ALL; N]);

    /// A constant.
    pub fn constant(x: Interval) -> Jet<N> {
        let mut jet = Jet([Interval::ZERO; N]);
        jet.0[0] = x;
        jet
    }

    /// A value of which no derivative is known.
    pub fn value(x: Interval) -> Jet<N> {
        let mut jet = Jet::ALL;
        jet.0[0] = x;
        jet
    }

    fn each(f: impl Fn(usize) -> Interval) -> Jet<N> {
        Jet(std::array::from_fn(f))
    }

    /// a + b.
    pub fn plus(&self, other: &Jet<N>) -> Jet<N> {
        Jet::each(|k| self.0[k] + other.0[k])
    }

    /// a − b.
    pub fn minus(&self, other: &Jet<N>) -> Jet<N> {
        Jet::each(|k| self.0[k] - other.0[k])
    }

    /// −a.
    pub fn negated(&self) -> Jet<N> {
        Jet::each(|k| -self.0[k])
    }

    /// Σ a_j b_{k−j}
    fn sum(a: &[Interval], b: &[Interval], k: usize) -> Interval {
        (0..=k).fold(Interval::ZERO, |sum, j| sum + a[j] * b[k - j])
    }

    /// a b.
    pub fn times(&self, other: &Jet<N>) -> Jet<N> {
        Jet::each(|k| Jet::<N>::sum(&self.0, &other.0, k))
    }

    /// a², where both factors are one.
    pub fn square(&self) -> Jet<N> {
        let mut jet = self.times(self);
        jet.0[0] = jet.0[0].and(self.0[0].square());
        jet
    }

    /// a / b.
    pub fn over(&self, other: &Jet<N>) -> Jet<N> {
        let mut y = Jet::constant(self.0[0] / other.0[0]);
        for k in 1..N {
            // What is not known yet is 0.
            let rest = self.0[k] - Jet::<N>::sum(&other.0, &y.0, k);
            y.0[k] = rest / other.0[0];
        }
        y
    }

    /// y′ = c a′ for orders that are known of c up to k − 1: k y_k = Σ j a_j c_{k−j}.
    fn slope(&self, c: &[Interval], k: usize) -> Interval {
        let terms = (1..=k).map(|j| Interval::of(j as f64) * self.0[j] * c[k - j]);
        terms.fold(Interval::ZERO, |sum, term| sum + term) / Interval::of(k as f64)
    }

    /// y′ = c a′, with the value of y.
    fn integral(&self, value: Interval, c: &Jet<N>) -> Jet<N> {
        let mut y = Jet::constant(value);
        (1..N).for_each(|k| y.0[k] = self.slope(&c.0, k));
        y
    }

    /// √a.
    pub fn sqrt(&self) -> Jet<N> {
        let mut y = Jet::constant(self.0[0].sqrt());
        let twice = y.0[0] + y.0[0];
        for k in 1..N {
            y.0[k] = (self.0[k] - Jet::<N>::sum(&y.0, &y.0, k)) / twice;
        }
        y
    }

    /// eᵃ.
    pub fn exp(&self) -> Jet<N> {
        let positive = Interval { low: 0.0, high: f64::INFINITY };
        let mut y = Jet::constant(self.0[0].growing(f64::exp, positive));
        (1..N).for_each(|k| y.0[k] = self.slope(&y.0, k));
        y
    }

    /// The natural logarithm.
    pub fn log(&self) -> Jet<N> {
        if self.0[0].low <= 0.0 {
            return Jet::ALL;
        }
        let value = self.0[0].growing(f64::ln, Interval::ALL);
        self.integral(value, &Jet::constant(Interval::ONE).over(self))
    }

    /// a to the power b.
    pub fn power(&self, exponent: &Jet<N>) -> Jet<N> {
        if self.0[0].low <= 0.0 {
            return Jet::ALL;
        }
        exponent.times(&self.log()).exp()
    }

    /// Sine and cosine.
    pub fn sin_cos(&self) -> (Jet<N>, Jet<N>) {
        let (sin, cos) = self.0[0].sin_cos();
        let (mut sin, mut cos) = (Jet::constant(sin), Jet::constant(cos));
        for k in 1..N {
            sin.0[k] = self.slope(&cos.0, k);
            cos.0[k] = -self.slope(&sin.0, k);
        }
        (sin, cos)
    }

    /// tan a.
    pub fn tan(&self) -> Jet<N> {
        let (sin, cos) = self.sin_cos();
        sin.over(&cos)
    }

    /// Both hyperbolic functions.
    pub fn sinh_cosh(&self) -> (Jet<N>, Jet<N>) {
        let value = self.0[0].growing(f64::sinh, Interval::ALL);
        let (mut sinh, mut cosh) = (Jet::constant(value), Jet::constant(self.0[0].cosh()));
        for k in 1..N {
            sinh.0[k] = self.slope(&cosh.0, k);
            cosh.0[k] = self.slope(&sinh.0, k);
        }
        (sinh, cosh)
    }

    /// tanh a.
    pub fn tanh(&self) -> Jet<N> {
        let range = Interval { low: -1.0, high: 1.0 };
        let mut y = Jet::constant(self.0[0].growing(f64::tanh, range));
        // 1 − y² = 1/cosh², which is exact also where y is next to 1.
        let cosh = self.0[0].cosh();
        let mut slope: Jet<N> = Jet::constant(Interval::ONE / cosh / cosh);
        for k in 1..N {
            y.0[k] = self.slope(&slope.0, k);
            slope.0[k] = -Jet::<N>::sum(&y.0, &y.0, k);
        }
        y
    }

    /// 1 − a² and 1 + a².
    fn beside_one(&self) -> (Jet<N>, Jet<N>) {
        let (one, square) = (Jet::constant(Interval::ONE), self.square());
        (one.minus(&square), one.plus(&square))
    }

    /// arcsin a.
    pub fn asin(&self) -> Jet<N> {
        let below = self.beside_one().0;
        if below.0[0].low <= 0.0 {
            return Jet::ALL;
        }
        let slope = Jet::constant(Interval::ONE).over(&below.sqrt());
        self.integral(self.0[0].growing(f64::asin, Interval::ALL), &slope)
    }

    /// arccos a.
    pub fn acos(&self) -> Jet<N> {
        let quarter = Interval::around(std::f64::consts::FRAC_PI_2, f64::EPSILON);
        Jet::constant(quarter).minus(&self.asin())
    }

    /// arctan a.
    pub fn atan(&self) -> Jet<N> {
        let slope = Jet::constant(Interval::ONE).over(&self.beside_one().1);
        self.integral(self.0[0].growing(f64::atan, Interval::ALL), &slope)
    }

    /// The angle of the points (x, y): θ′ = (x y′ − y x′)/(x² + y²).
    pub fn angle(y: &Jet<N>, x: &Jet<N>) -> Jet<N> {
        let value = Interval::angle(y.0[0], x.0[0]);
        if !value.is_bounded() {
            return Jet::ALL;
        }
        let whole = x.square().plus(&y.square());
        let by_y = y.integral(Interval::ZERO, &x.over(&whole));
        let mut jet = by_y.minus(&x.integral(Interval::ZERO, &y.over(&whole)));
        jet.0[0] = value;
        jet
    }

    /// Either of two, by where a third is known to be.
    pub fn either(is_first: Option<bool>, first: &Jet<N>, second: &Jet<N>) -> Jet<N> {
        match is_first {
            Some(true) => *first,
            Some(false) => *second,
            None => Jet::value(first.0[0].hull(second.0[0])),
        }
    }
}
