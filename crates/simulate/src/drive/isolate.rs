//! Where functions of the state can be zero on the polynomial of a step, with certainty.
//!
//! On a stretch of radius r about c a function g of the motion is
//!
//! ```text
//! g(c + δ) = Σ g_j(c) δʲ + g_K(ξ) δᴷ,   j < K,   |δ| ≤ r
//! ```
//!
//! with g_j = g⁽ʲ⁾/j!, and its derivatives likewise. The coefficients come from the tape of g on jets of
//! intervals ([`Enclosure`]): those at c, and the last one for all ξ of the stretch at once. So
//!
//! ```text
//! 0 not in g     there is no zero
//! 0 not in g′    there is one at most: the signs at the ends tell
//! 0 not in g″    there are two at most: the signs at the ends and where g′ = 0 tell
//! else           the stretch is halved
//! ```
//!
//! What is found are places such that the signs there tell of all zeros, none left out for lack
//! of samples. A function that has no value, or jumps, on the way is not certain: it is sampled.
//! Source: R. Moore, R. Kearfott and M. Cloud, *Introduction to Interval Analysis* (2009), §8.

use crate::integrators::Polynomial;
use dalembert_compile::enclosure::{Enclosure, Interval, Jet, ORDER};

/// A stretch is halved no more often than this: zeros closer than that are one.
const DEEPEST: u32 = 30;
/// Most stretches of a step; beyond them nothing is certain.
const MOST: usize = 512;
/// Most tries for where a derivative is 0.
const TRIES: usize = 8;
/// Where it is only asked whether there are zeros at all, a stretch is halved so often, and so many
/// are looked at: what takes more is near enough to one.
const SHALLOW: u32 = 6;
const FEW: usize = 24;

/// What is known of the functions on a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Isolated {
    /// Fractions of the step at which functions have to be looked at.
    pub places: Vec<f64>,
    /// For each function, whether these places tell of all its zeros.
    pub is_certain: Vec<bool>,
}

/// Functions of the variables of a step.
pub(super) struct Functions<'a> {
    pub enclosure: &'a mut Enclosure,
    /// For each function its output of the enclosure, if there is one.
    pub outputs: &'a [Option<usize>],
    /// Each variable as a polynomial in the fraction of the step: one number if it is constant.
    pub variables: &'a [Vec<f64>],
}

/// The variables (t, q, v) of a step as polynomials in its fraction θ, those that are read.
pub(super) fn variables(
    t: f64,
    step: &Polynomial<'_>,
    moving: usize,
    enclosure: &Enclosure,
) -> Vec<Vec<f64>> {
    let reads = enclosure.reads();
    let mut list = vec![vec![t, step.h]];
    for (at, coefficients) in step.coefficients.chunks_exact(step.terms).take(moving).enumerate() {
        // What is not read may be anything.
        if reads.get(1 + at) != Some(&true) {
            list.push(Vec::new());
            continue;
        }
        let mut power = 1.0;
        let scaled = coefficients.iter().map(|c| {
            let term = c * power;
            power *= step.h;
            term
        });
        list.push(scaled.collect());
    }
    list
}

/// A stretch of the step, and the functions that are open there.
struct Stretch {
    from: f64,
    to: f64,
    depth: u32,
    open: Vec<usize>,
}

/// What is found out about a function on a stretch.
enum Verdict {
    /// It is not zero.
    Away,
    /// It goes one way.
    OneWay,
    /// It turns once at most; the least size of its second coefficient.
    Bends(f64),
    /// Nothing yet.
    Open,
    /// Nothing, and halves will not tell more.
    Hopeless,
}

impl Functions<'_> {
    /// Looks at a part of the step.
    pub fn isolate(&mut self, until: f64) -> Isolated {
        let count = self.outputs.len();
        let mut found = Isolated { places: vec![0.0, until], is_certain: vec![true; count] };
        let open: Vec<usize> = (0..count).filter(|&f| self.outputs[f].is_some()).collect();
        (0..count).for_each(|f| found.is_certain[f] = self.outputs[f].is_some());
        let open = self.open(open, until);
        let mut rest = vec![Stretch { from: 0.0, to: until, depth: 0, open }];
        let mut looked = 0;
        while let Some(stretch) = rest.pop() {
            let Stretch { from, to, depth, mut open } = stretch;
            open.retain(|&f| found.is_certain[f]);
            if open.is_empty() {
                continue;
            }
            looked += 1;
            if looked > MOST {
                open.iter().for_each(|&f| found.is_certain[f] = false);
                continue;
            }
            let (middle, radius) = (0.5 * (from + to), 0.5 * (to - from));
            let wide = self.jets(middle, radius, &open);
            // Often this is enough, and the coefficients at the middle are not asked for.
            if wide.iter().all(|jet| !jet.0[0].has(0.0)) {
                continue;
            }
            let thin = self.jets(middle, 0.0, &open);
            let mut still = Vec::new();
            for (at, &function) in open.iter().enumerate() {
                match verdict(&thin[at], &wide[at], radius) {
                    Verdict::Away => {}
                    Verdict::OneWay => found.places.extend([from, to]),
                    Verdict::Bends(bend) => {
                        let turn = self.turn(function, (from, to), &thin[at], bend);
                        found.places.extend([from, turn, to]);
                    }
                    Verdict::Open if depth < DEEPEST => still.push(function),
                    Verdict::Open if wide[at].0[0].is_bounded() => {
                        found.places.extend([from, middle, to]);
                    }
                    Verdict::Open | Verdict::Hopeless => found.is_certain[function] = false,
                }
            }
            if !still.is_empty() {
                let half = |from, to| Stretch { from, to, depth: depth + 1, open: still.clone() };
                rest.extend([half(middle, to), half(from, middle)]);
            }
        }
        found.places.sort_by(f64::total_cmp);
        found.places.dedup();
        found
    }

    /// Whether all functions stay on a side of zero through the whole step, +1 or −1 each. If not
    /// so, that may be for lack of effort. `open` are those of which more than their values is
    /// asked.
    pub fn stay(&mut self, sides: &[i8], open: Vec<usize>) -> bool {
        let mut rest = vec![Stretch { from: 0.0, to: 1.0, depth: 0, open }];
        let mut looked = 0;
        while let Some(Stretch { from, to, depth, open }) = rest.pop() {
            looked += 1;
            if looked > FEW {
                return false;
            }
            let (middle, radius) = (0.5 * (from + to), 0.5 * (to - from));
            let wide = self.jets(middle, radius, &open);
            let thin = self.jets(middle, 0.0, &open);
            let mut still = Vec::new();
            for (at, &function) in open.iter().enumerate() {
                let mut places = vec![middle];
                match verdict(&thin[at], &wide[at], radius) {
                    Verdict::Away => {}
                    Verdict::OneWay => places = vec![from, to],
                    Verdict::Bends(bend) => {
                        let turn = self.turn(function, (from, to), &thin[at], bend);
                        let [value, slope, ..] = self.jets(turn, 0.0, &[function])[0].0;
                        // Else its sign there need not be that of the whole stretch.
                        if !(slope.size() * slope.size() < 4.0 * bend * value.least_size()) {
                            return false;
                        }
                        places = vec![from, turn, to];
                    }
                    Verdict::Open if depth < SHALLOW => {
                        still.push(function);
                        continue;
                    }
                    Verdict::Open | Verdict::Hopeless => return false,
                }
                let is_there = |place: f64| {
                    self.jets(place, 0.0, &[function])[0].0[0].side() == sides[function]
                };
                if !places.into_iter().all(is_there) {
                    return false;
                }
            }
            if !still.is_empty() {
                let half = |from, to| Stretch { from, to, depth: depth + 1, open: still.clone() };
                rest.extend([half(middle, to), half(from, middle)]);
            }
        }
        true
    }

    /// Those that may be zero in a part of the step, by their values alone: most often that is none.
    fn open(&mut self, mut functions: Vec<usize>, until: f64) -> Vec<usize> {
        let values: Vec<Jet<1>> = self.variables.iter().map(|p| whole(p, until)).collect();
        self.enclosure.run_values(&values);
        let may_be =
            |&f: &usize| self.outputs[f].is_none_or(|at| self.enclosure.value(at).has(0.0));
        functions.retain(may_be);
        functions
    }

    /// The jets of some functions on a stretch; of radius 0, at its middle.
    fn jets(&mut self, middle: f64, radius: f64, of: &[usize]) -> Vec<Jet> {
        let jets: Vec<Jet> = self.variables.iter().map(|p| shifted(p, middle, radius)).collect();
        self.enclosure.run(&jets);
        let output = |&f: &usize| self.outputs[f].map_or(Jet::ALL, |at| *self.enclosure.output(at));
        of.iter().map(output).collect()
    }

    /// Where a function that bends one way turns: near enough that, if it has its sign there, it
    /// has it on the whole stretch.
    fn turn(&mut self, function: usize, (from, to): (f64, f64), thin: &Jet, bend: f64) -> f64 {
        let (mut low, mut high) = (from, to);
        let mut jet = *thin;
        let mut place = 0.5 * (from + to);
        for _ in 0..TRIES {
            let [value, slope, second] = [0, 1, 2].map(|k| 0.5 * (jet.0[k].low + jet.0[k].high));
            // The function goes beyond its value by no more than this.
            if slope * slope < 4.0 * bend * value.abs() {
                break;
            }
            if slope * second > 0.0 {
                high = place
            } else {
                low = place
            }
            let next = place - 0.5 * slope / second;
            let next = if next > low && next < high { next } else { 0.5 * (low + high) };
            if next == place {
                break;
            }
            place = next;
            jet = self.jets(place, 0.0, &[function])[0];
        }
        place
    }
}

/// What the coefficients at the middle and those of the whole stretch tell.
fn verdict(thin: &Jet, wide: &Jet, radius: f64) -> Verdict {
    let bound = |derivative: usize| {
        let terms = (derivative..=ORDER).map(|j| {
            let coefficient = if j == ORDER { wide.0[j] } else { thin.0[j] };
            let factor = falling(j, derivative);
            coefficient * Interval::of(factor) * power(radius, j - derivative)
        });
        let whole = terms.fold(Interval::ZERO, |sum, term| sum + term);
        let factor = Interval::of(falling(derivative, derivative));
        whole.and(wide.0[derivative] * factor)
    };
    let is_off = |interval: Interval| !interval.has(0.0);
    if is_off(bound(0)) {
        return Verdict::Away;
    }
    if is_off(bound(1)) {
        return Verdict::OneWay;
    }
    let second = bound(2);
    if is_off(second) {
        return Verdict::Bends(0.5 * second.least_size());
    }
    // Zero with all its derivatives, as far as can be told.
    if thin.0.iter().all(|c| c.has(0.0) && c.is_bounded()) {
        return Verdict::Hopeless;
    }
    Verdict::Open
}

/// j (j − 1) … , so many factors.
fn falling(j: usize, factors: usize) -> f64 {
    (0..factors).fold(1.0, |product, i| product * (j - i) as f64)
}

/// All δⁿ with |δ| ≤ r.
fn power(radius: f64, n: usize) -> Interval {
    let most = radius.powi(n as i32) * (1.0 + n as f64 * f64::EPSILON);
    match n {
        0 => Interval::ONE,
        n if n % 2 == 0 => Interval { low: 0.0, high: most },
        _ => Interval { low: -most, high: most },
    }
}

/// The values of a polynomial from 0 to a place: each term is between 0 and its last value.
pub(super) fn whole(polynomial: &[f64], until: f64) -> Jet<1> {
    let (mut low, mut high, mut size, mut power) = (0.0, 0.0, 0.0, 1.0);
    for (m, c) in polynomial.iter().enumerate() {
        let term = c * power;
        size += term.abs();
        low += if m == 0 { term } else { term.min(0.0) };
        high += if m == 0 { term } else { term.max(0.0) };
        power *= until;
    }
    let noise = f64::EPSILON * polynomial.len() as f64 * size;
    Jet::constant(Interval::new(low - noise, high + noise))
}

/// The jet of a polynomial at all places that are no further than a radius from a middle:
///
/// ```text
/// p_j = b_j ± Σ C(m, j) |b_m| rᵐ⁻ʲ,   m > j,   b: the coefficients at the middle
/// ```
fn shifted(polynomial: &[f64], middle: f64, radius: f64) -> Jet {
    let mut b = polynomial.to_vec();
    let degree = b.len().saturating_sub(1);
    for i in 0..degree {
        for j in (i..degree).rev() {
            b[j] += middle * b[j + 1];
        }
    }
    let noise = f64::EPSILON * degree as f64;
    let mut jet = Jet::constant(Interval::ZERO);
    for (j, place) in jet.0.iter_mut().enumerate().take(b.len()) {
        let (mut reach, mut size, mut binomial, mut power) = (0.0, 0.0, 1.0, 1.0);
        for (m, term) in b.iter().enumerate().skip(j) {
            let term = binomial * term.abs();
            // Sums at the middle are rounded as their terms are, which are at most these.
            size += term;
            if m > j {
                reach += term * power;
            }
            power *= radius;
            binomial *= (m + 1) as f64 / (m + 1 - j) as f64;
        }
        *place = Interval::around(b[j], reach * (1.0 + noise) + noise * size);
    }
    jet
}

#[cfg(test)]
mod tests {
    use super::*;
    use dalembert_compile::Tape;
    use dalembert_expr::{Expr, Exprs, Function, Number, Random};

    fn number(exprs: &Exprs, x: f64) -> Expr<'_> {
        exprs.at(exprs.of_number(Number::from_f64(x).expect("finite")))
    }

    /// What is found of g(t, x) with x a polynomial in t on a step of length h, from t = 0.
    fn isolated((exprs, variable): (&Exprs, Expr<'_>), g: Expr<'_>, x: &[f64], h: f64) -> Isolated {
        let symbols = [exprs.time(), variable].map(|e| e.symbol().expect("a symbol"));
        let mut enclosure = Enclosure::new(Tape::lower(exprs, &[g.id], &[], &symbols)).unwrap();
        enclosure.prepare(&[]);
        let step = Polynomial { coefficients: x, terms: x.len(), h };
        let variables = variables(0.0, &step, 1, &enclosure);
        Functions { enclosure: &mut enclosure, outputs: &[Some(0)], variables: &variables }
            .isolate(1.0)
    }

    /// The value of g at a fraction of the step.
    fn value(exprs: &Exprs, g: Expr<'_>, x: &[f64], h: f64, theta: f64) -> f64 {
        let t = theta * h;
        let state = x.iter().rev().fold(0.0, |sum, c| sum * t + c);
        let time = exprs.time().symbol();
        exprs.eval_f64(&[g.id], |s| if Some(s) == time { t } else { state })[0]
    }

    /// How often the sign changes at places, in order.
    fn changes(values: impl Iterator<Item = f64>) -> usize {
        let signs: Vec<bool> = values.filter(|v| *v != 0.0).map(|v| v > 0.0).collect();
        signs.windows(2).filter(|pair| pair[0] != pair[1]).count()
    }

    /// As many changes of sign at the places that are found as on a grid so fine that two zeros are
    /// hardly between two of its points, and never fewer.
    #[test]
    fn no_zero_is_missed() {
        let exprs = Exprs::new();
        let (t, x) = (exprs.time(), exprs.variable("x"));
        let mut random = Random::new(5);
        let mut most = 0;
        for case in 0..100 {
            let degree = 2 + case % 15;
            let curve: Vec<f64> = (0..=degree).map(|_| 2.0 * random.unit() - 1.0).collect();
            let rational = |x: f64| number(&exprs, x);
            let (a, b) = (rational(60.0 * random.unit()), rational(random.unit() - 0.5));
            let g = match case % 5 {
                0 => (a * t).sin() - b,
                1 => (a * x).sin() * x - b,
                2 => x * x * x - b * x * t + (a * t).cos() / exprs.integer(9),
                3 => exprs.at(exprs.call(Function::Tanh, &[(a * (x - b)).id])) - b,
                _ => {
                    exprs.at(exprs.call(Function::Exp, &[(-x * x).id])) * (a * t + x).sin() - b * b
                }
            };
            let h = 0.2 + random.unit();
            let found = isolated((&exprs, x), g, &curve, h);
            assert_eq!(found.is_certain, [true], "{case}");
            let at = |theta: f64| value(&exprs, g, &curve, h, theta);
            let own = changes(found.places.iter().map(|&theta| at(theta)));
            let dense = changes((0..=20_000).map(|i| at(f64::from(i) / 20_000.0)));
            assert!(own >= dense, "{case}: {own} for {dense}");
            assert!(own <= dense + 2, "{case}: {own} for {dense}");
            most = most.max(own);
        }
        assert!(most > 8, "{most}");
    }

    /// (t − a)² − ε for any ε, from above to below zero: two zeros however near, or none.
    #[test]
    fn two_zeros_next_to_each_other_are_two() {
        let exprs = Exprs::new();
        let (t, x) = (exprs.time(), exprs.variable("x"));
        let mut random = Random::new(6);
        for digits in 2..15 {
            for sign in [1.0, -1.0] {
                let middle = random.unit();
                let rational = |x: f64| number(&exprs, x);
                let off = sign * 10f64.powi(-digits);
                let shape = exprs.at(exprs.call(Function::Exp, &[t.id]));
                let g = ((t - rational(middle)).powi(2) - rational(off)) * shape;
                let found = isolated((&exprs, x), g, &[0.0], 1.0);
                assert_eq!(found.is_certain, [true]);
                let values = found.places.iter().map(|&theta| value(&exprs, g, &[0.0], 1.0, theta));
                let inside = (off > 0.0).then(|| {
                    let root = off.sqrt();
                    usize::from(middle > root) + usize::from(middle + root < 1.0)
                });
                assert_eq!(changes(values), inside.unwrap_or(0), "{off:e} {middle}");
            }
        }
    }

    /// What has no value somewhere is not certain, nor what is zero throughout.
    #[test]
    fn what_cannot_be_told_is_not() {
        let exprs = Exprs::new();
        let (t, x) = (exprs.time(), exprs.variable("x"));
        let half = number(&exprs, 0.5);
        for g in [(half - t).sqrt(), half / (t - half), x - t] {
            assert_eq!(isolated((&exprs, x), g, &[0.0, 1.0], 1.0).is_certain, [false]);
        }
        // A corner away from zero does no harm, nor does one at zero.
        for off in [0.1, 0.0] {
            let corner = exprs.at(exprs.call(Function::Abs, &[(t - half).id]));
            let g = corner - number(&exprs, off);
            assert_eq!(isolated((&exprs, x), g, &[0.0], 1.0).is_certain, [true]);
        }
    }
}
