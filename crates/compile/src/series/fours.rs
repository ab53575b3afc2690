//! Polynomials of many components, taken out of series: four components side by side, order after
//! order, as series lie.
//!
//! ```text
//! p = c_m + h p ,   ṗ = m c_m + h ṗ          from the last order down
//! ```
//!
//! Every question goes through all orders, and each sum waits for the one before; four components
//! at once wait no longer than one.

use super::{Jets, LANES, Series, node, place};
use dalembert_machine::{Wide, wide};

/// So many fours have room of their own while they are found.
const BLOCK: usize = 4;

/// Components of one kind, one after the other.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The first of them, and how many there are.
    first: usize,
    count: usize,
    /// The first of their fours.
    four: usize,
    /// Whether they stay as they are.
    is_held: bool,
}

impl Run {
    fn fours(&self) -> usize {
        self.count.div_ceil(LANES)
    }
}

/// Polynomials of a list of components. Beside the last of a kind there may be anything.
#[derive(Clone, Debug, Default)]
pub struct Fours {
    terms: usize,
    runs: Vec<Run>,
    all: Vec<[f64; LANES]>,
}

impl Fours {
    /// Room for so many coefficients each of components of some kinds, so many of each. What was
    /// there is kept if it had the same shape.
    pub fn shape(&mut self, terms: usize, kinds: &[usize]) {
        let has_shape = self.terms == terms
            && self.runs.len() == kinds.len()
            && self.runs.iter().zip(kinds).all(|(run, count)| run.count == *count);
        if has_shape {
            return;
        }
        self.terms = terms;
        self.runs.clear();
        let (mut first, mut four) = (0, 0);
        for &count in kinds {
            let run = Run { first, count, four, is_held: false };
            self.runs.push(run);
            (first, four) = (first + count, four + run.fours());
        }
        self.all.clear();
        self.all.resize(four * terms, [0.0; LANES]);
    }

    /// How many coefficients each component has.
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// How many components there are.
    pub fn components(&self) -> usize {
        self.runs.last().map_or(0, |run| run.first + run.count)
    }

    /// The coefficients of variables that follow on each other, as those of a kind; 0 beyond the
    /// order of the series.
    pub fn take(&mut self, kind: usize, series: &Series, jets: &Jets, first: usize) {
        let (terms, run) = (self.terms, self.runs[kind]);
        self.runs[kind].is_held = false;
        let fours = &mut self.all[run.four * terms..(run.four + run.fours()) * terms];
        let (shape, known) = (jets.shape(), terms.min(jets.room));
        let all = jets.all.as_slice();
        let variables = &series.variables[first..first + run.count];
        for (to, four) in fours.chunks_exact_mut(terms.max(1)).zip(variables.chunks(LANES)) {
            let start = four[0] as usize;
            let is_side_by_side = four[0] != node::STILL
                && place(four[0], 0, shape).is_multiple_of(LANES)
                && start.is_multiple_of(LANES)
                && four.iter().zip(start..).all(|(jet, id)| *jet as usize == id);
            if is_side_by_side {
                let from = all[place(four[0], 0, shape)..].as_chunks::<LANES>().0;
                to[..known].copy_from_slice(&from[..known]);
                to[known..].fill([0.0; LANES]);
                continue;
            }
            for (lane, &jet) in four.iter().enumerate() {
                for (order, lanes) in to.iter_mut().enumerate() {
                    let is_there = jet != node::STILL && order < known;
                    lanes[lane] = if is_there { jets.at(jet, order) } else { 0.0 };
                }
            }
        }
    }

    /// Sets the one component of a kind, order by order.
    pub fn set(&mut self, kind: usize, coefficients: impl Iterator<Item = f64>) {
        let run = &mut self.runs[kind];
        run.is_held = false;
        let own = &mut self.all[run.four * self.terms..(run.four + 1) * self.terms];
        own.iter_mut().zip(coefficients).for_each(|(place, value)| place[0] = value);
    }

    /// Lets the one component of a kind be a constant.
    pub fn hold(&mut self, kind: usize, value: f64) {
        let run = &mut self.runs[kind];
        let own = &mut self.all[run.four * self.terms..(run.four + 1) * self.terms];
        if !std::mem::replace(&mut run.is_held, true) {
            own.fill([0.0; LANES]);
        }
        if let Some(first) = own.first_mut() {
            first[0] = value;
        }
    }

    /// A coefficient of a component.
    #[inline]
    pub fn at(&self, component: usize, order: usize) -> f64 {
        let mut own = self.runs.iter().rev();
        let Some(run) = own.find(|run| run.first <= component) else { return 0.0 };
        let at = component - run.first;
        self.all[(run.four + at / LANES) * self.terms + order][at % LANES]
    }

    /// The sizes of the coefficients of an order, of all components.
    pub fn sizes(&self, order: usize, into: &mut [f64]) {
        for run in &self.runs {
            let mut four = run.four * self.terms + order;
            for to in into[run.first..][..run.count].chunks_mut(LANES) {
                let from = &self.all[four];
                to.iter_mut().zip(from).for_each(|(to, from)| *to = from.abs());
                four += self.terms;
            }
        }
    }

    /// All coefficients, one component after the other.
    pub fn one_by_one(&self, into: &mut Vec<f64>) {
        into.clear();
        for component in 0..self.components() {
            into.extend((0..self.terms).map(|order| self.at(component, order)));
        }
    }

    /// A component whose coefficients are not all numbers.
    pub fn not_finite(&self) -> Option<usize> {
        let mut carried = 0;
        let moving = self.runs.iter().rev().skip_while(|run| run.is_held);
        let fours = moving.map(|run| run.four + run.fours()).next().unwrap_or(0);
        wide(Carried { all: &self.all[..fours * self.terms], carried: &mut carried });
        if carried >> 63 == 0 {
            return None;
        }
        let is_wrong = |at: &usize| (0..self.terms).any(|order| !self.at(*at, order).is_finite());
        (0..self.components()).find(is_wrong)
    }

    /// The components at h.
    pub fn evaluate(&self, h: f64, x: &mut [f64]) {
        wide(Evaluate { fours: self, h, x, rates: &mut [] });
    }

    /// The components and their rates at h.
    pub fn evaluate_with_rates(&self, h: f64, x: &mut [f64], rates: &mut [f64]) {
        wide(Evaluate { fours: self, h, x, rates });
    }
}

/// Whether all bits of an exponent are set somewhere: one more carries into the sign.
struct Carried<'a> {
    all: &'a [[f64; LANES]],
    carried: &'a mut u64,
}

impl Wide for Carried<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        const EXPONENT: u64 = f64::INFINITY.to_bits();
        const ONE: u64 = 1 << (f64::MANTISSA_DIGITS - 1);
        let all = self.all.as_flattened().iter();
        *self.carried = all.fold(0, |carried, x| carried | ((x.to_bits() & EXPONENT) + ONE));
    }
}

/// Polynomials, and their rates where there is room for these.
struct Evaluate<'a> {
    fours: &'a Fours,
    h: f64,
    x: &'a mut [f64],
    rates: &'a mut [f64],
}

impl Wide for Evaluate<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Evaluate { fours: Fours { terms, runs, all }, h, x, rates } = self;
        let mut room = [[0.0; LANES]; BLOCK];
        for run in runs {
            let places = run.first..run.first + run.count;
            let polynomials = &all[run.four * terms..(run.four + run.fours()) * terms];
            if run.is_held {
                x[run.first] = polynomials[0][0];
                rates.get_mut(places).into_iter().for_each(|rates| rates.fill(0.0));
                continue;
            }
            let x = x[places.clone()].chunks_mut(LANES);
            for (number, (x, c)) in x.zip(polynomials.chunks_exact(*terms)).enumerate() {
                // In memory, so that four are found at once.
                let found = &mut room[number % BLOCK];
                horner(c, h, found);
                x.iter_mut().zip(&*found).for_each(|(x, value)| *x = *value);
                if let Some(rates) = rates.get_mut(run.first + LANES * number..) {
                    let rates = rates.iter_mut().take(x.len());
                    horner_of_rate(c, h, found);
                    rates.zip(&*found).for_each(|(rate, value)| *rate = *value);
                }
            }
        }
    }
}

#[inline(always)]
fn horner(c: &[[f64; LANES]], h: f64, found: &mut [f64; LANES]) {
    let mut value = [0f64; LANES];
    for c in c.iter().rev() {
        value = [0, 1, 2, 3].map(|lane| value[lane].mul_add(h, c[lane]));
    }
    *found = value;
}

#[inline(always)]
fn horner_of_rate(c: &[[f64; LANES]], h: f64, found: &mut [f64; LANES]) {
    let (mut rate, mut order) = ([0f64; LANES], c.len() as f64);
    for c in c.iter().skip(1).rev() {
        order -= 1.0;
        rate = [0, 1, 2, 3].map(|lane| rate[lane].mul_add(h, order * c[lane]));
    }
    *found = rate;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_found_in_any_shape() {
        let mut fours = Fours::default();
        for kinds in [&[5, 2, 1][..], &[1], &[4, 4, 1], &[0, 3, 1]] {
            fours.shape(3, kinds);
            let count: usize = kinds.iter().sum();
            assert_eq!(fours.components(), count);
            let c = |component: usize, order: usize| (1 + component + 10 * order) as f64;
            let mut first = 0;
            for (kind, &own) in kinds.iter().enumerate() {
                let four = fours.runs[kind].four;
                for (at, order) in (0..own).flat_map(|at| (0..3).map(move |order| (at, order))) {
                    fours.all[(four + at / 4) * 3 + order][at % 4] = c(first + at, order);
                }
                first += own;
            }
            let (mut x, mut rates) = (vec![0.0; count], vec![0.0; count]);
            fours.evaluate_with_rates(0.5, &mut x, &mut rates);
            let mut plain = vec![0.0; count];
            fours.evaluate(0.5, &mut plain);
            assert_eq!(x, plain);
            let (mut list, mut last) = (Vec::new(), vec![0.0; count]);
            fours.one_by_one(&mut list);
            fours.sizes(2, &mut last);
            for at in 0..count {
                let [a, b, c] = [0, 1, 2].map(|order| c(at, order));
                assert_eq!((x[at], rates[at]), (a + 0.5 * b + 0.25 * c, b + c));
                assert_eq!((&list[3 * at..3 * at + 3], last[at]), (&[a, b, c][..], c));
            }
            assert_eq!(fours.not_finite(), None);
            let kind = kinds.len() - 1;
            if kinds[kind] == 1 {
                fours.set(kind, [1.0, f64::NAN, 0.0].into_iter());
                assert_eq!(fours.not_finite(), Some(count - 1));
                fours.hold(kind, 7.0);
                assert_eq!(fours.not_finite(), None);
                fours.evaluate_with_rates(0.5, &mut x, &mut rates);
                assert_eq!((x[count - 1], rates[count - 1]), (7.0, 0.0));
            }
        }
    }
}
