//! What is met inside of a step and does not show at its ends: a wall e^(−k x²) that is thin, a pulse, the
//! step of tanh k x.
//!
//! Far from it such a function is next to nothing, or next to constant, with all its derivatives, so that steps
//! of any length go over it. But its argument shows: e^g is largest where g is, tanh g steep where
//! g is 0, a high power largest where its base is, a quotient where its denominator is smallest. So arguments
//! are looked at along the step, and where one of them says that something stands out inside of it, rates are
//! held against those of the step there. Quotients are common, and few of them are narrow: they are looked at
//! in [`FIRST`] places, and only where one falls and then rises in all.

use super::Driver;
use super::pass::Pass;
use super::step_size::smallest_step;
use dalembert_compile::Scratch;
use dalembert_expr::Narrow;

/// So many parts of a step are looked at.
const PARTS: usize = 16;
/// So near an end of the step is told which way an argument goes there.
const NEXT: f64 = 1.0 / (1 << 20) as f64;
/// Arguments along a step: of each function, at the ends of its parts, then next to the ends of the step.
pub(super) type Samples = [f64; PARTS + 3];
/// None taken yet.
pub(super) const NONE: Samples = [0.0; PARTS + 3];
/// The samples in the order of their places.
const ORDER: [usize; PARTS + 3] = {
    let mut order = [0; PARTS + 3];
    order[1] = PARTS + 1;
    let mut k = 1;
    while k < PARTS {
        order[k + 1] = k;
        k += 1;
    }
    order[PARTS + 1] = PARTS + 2;
    order[PARTS + 2] = PARTS;
    order
};
/// The samples that are taken first, in the order of their places: they tell of poles whether there may be
/// one.
pub(super) const FIRST: [usize; 7] =
    [0, PARTS + 1, PARTS / 4, PARTS / 2, 3 * PARTS / 4, PARTS + 2, PARTS];
/// What falls or rises by less, relative to itself and to the part of the step, stays.
const STAYS: f64 = 1e-3;

/// All other samples.
pub(super) fn others() -> impl Iterator<Item = usize> {
    (0..PARTS).filter(|k| !FIRST.contains(k))
}

/// The part of the step at which a sample is taken.
pub(super) fn place_of(sample: usize) -> f64 {
    match sample {
        k if k <= PARTS => k as f64 / PARTS as f64,
        k if k == PARTS + 1 => NEXT,
        _ => 1.0 - NEXT,
    }
}

/// What is so many times e larger than at both ends of a step stands out; and a step shows if its
/// argument is above this.
const STANDS_OUT: f64 = 2.0;
/// Below this e^g is 0.
const NOTHING: f64 = -745.0;
/// A place is known well enough if the argument changes by less in what is left.
const NEAR: f64 = 0.1;
/// So far from a top, and from a zero, are the places where derivatives are largest: x e^(−x²), and
/// tanh x/cosh² x. At a top they are 0.
const BESIDE: [f64; 2] = [0.5, 0.66];
/// Rounds in which a place is narrowed down, at most.
const ROUNDS: usize = 80;
/// With more of them a method that does not tell what its rates were is not stopped at each.
const FEW: usize = 32;

/// Where something may stand out of a step, and how it is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    kind: Narrow,
    theta: f64,
    /// It is somewhere in here.
    within: [f64; 2],
    at_zero: bool,
    /// The height at the ends of the step.
    ends: f64,
}

/// ln of how large a function is, by its argument.
fn height(kind: Narrow, g: f64) -> f64 {
    let height = match kind {
        Narrow::Exponential => g,
        Narrow::Step => -g.abs(),
        Narrow::Power(n) => n * g.abs().max(f64::MIN_POSITIVE).ln(),
        Narrow::Pole(n) => -n * g.abs().max(f64::MIN_POSITIVE).ln(),
    };
    if height.is_nan() { f64::NEG_INFINITY } else { height }
}

/// Whether a function may stand out inside of a step at all, by its argument at the [`FIRST`] places: a
/// denominator that does not fall and then rise is smallest at an end.
pub(super) fn may_stand_out(kind: Narrow, samples: &Samples) -> bool {
    let Narrow::Pole(_) = kind else { return true };
    let mut falls = false;
    FIRST.windows(2).any(|pair| {
        let [a, b] = [samples[pair[0]].abs(), samples[pair[1]].abs()];
        let least = STAYS * (place_of(pair[1]) - place_of(pair[0])) * a.max(b);
        falls |= a - b > least;
        falls && b - a > least
    })
}

/// Where a function may stand out inside of a step, by its argument along it, in order: at tops of its
/// height, by parabolas, and at zeros of an argument that is not small at either end; at poles between
/// samples beside the lowest.
pub(super) fn places(kind: Narrow, samples: &Samples) -> impl Iterator<Item = Place> + use<> {
    let samples = *samples;
    let heights = samples.map(|g| height(kind, g));
    let ends = heights[0].max(heights[PARTS]);
    let is_pole = matches!(kind, Narrow::Pole(_));
    let passes = !matches!(kind, Narrow::Power(_) | Narrow::Pole(_))
        && samples[0].abs().min(samples[PARTS].abs()) > STANDS_OUT;
    let looks = is_pole && may_stand_out(kind, &samples);
    let lowest = ORDER.windows(3).filter(move |three| {
        let [a, b, c] = [samples[three[0]], samples[three[1]], samples[three[2]]].map(f64::abs);
        looks && b <= a && b < c
    });
    let poles = lowest.map(move |three| {
        let [low, theta, high] = [place_of(three[0]), place_of(three[1]), place_of(three[2])];
        Place { kind, theta, within: [low, high], at_zero: false, ends }
    });
    let parts = if is_pole { 0..0 } else { 0..PARTS };
    let tops = parts.flat_map(move |k| {
        let place = |at: f64, at_zero: bool| {
            let theta = ((k as f64 + at) / PARTS as f64).clamp(0.0, 1.0);
            let part = 1.0 / PARTS as f64;
            let within = [(theta - part).max(0.0), (theta + part).min(1.0)];
            Place { kind, theta, within, at_zero, ends }
        };
        let [before, behind] = [samples[k], samples[k + 1]];
        let is_crossed = passes && (before * behind < 0.0 || (behind == 0.0 && before != 0.0));
        let zero = is_crossed.then(|| place((before / (before - behind)).clamp(0.0, 1.0), true));
        [top(&heights, k).map(|by| place(by, false)), zero].into_iter().flatten()
    });
    poles.chain(tops)
}

/// The top beside a sample inside of the step, relative to it, if there is one above both ends.
fn top(heights: &Samples, k: usize) -> Option<f64> {
    let [a, b, c] = [heights[k.checked_sub(1)?], heights[k], heights[k + 1]];
    let bend = a - 2.0 * b + c;
    let by = 0.5 * (a - c) / bend;
    let most = b - 0.25 * (a - c) * by;
    // Next to the ends of the step it may be beyond the middle of a part, and seem to be beyond the end.
    let low = if k == 1 { -1.5 } else { -0.5 };
    let high = if k + 1 == PARTS { 1.5 } else { 0.5 };
    let is_one = bend < 0.0 && bend.is_finite() && by > low - 1e-9 && by < high + 1e-9;
    (is_one && most > heights[0].max(heights[PARTS])).then_some(by)
}

impl Place {
    /// The place itself, by the argument at parts of the step, and those beside it; none if nothing stands
    /// out there.
    pub(super) fn narrow_down(self, g: &mut dyn FnMut(f64) -> f64) -> Option<[f64; 3]> {
        let [low, high] = self.within;
        let theta = match self.kind {
            _ if self.at_zero => self.to_zero(low, high, g),
            Narrow::Pole(_) => self.to_pole(low, high, g),
            _ => self.to_top(low, high, g),
        };
        let most = height(self.kind, g(theta));
        let is_something = self.at_zero || self.kind == Narrow::Step || most > NOTHING;
        let stands_out = is_something && (self.at_zero || most > self.ends + STANDS_OUT);
        let mut beside = |end: f64| self.beside(theta, end, most, g);
        stands_out.then(|| [beside(0.0), theta, beside(1.0)])
    }

    /// Where the function is past its steepest, from the place towards an end of the step.
    fn beside(self, theta: f64, end: f64, most: f64, g: &mut dyn FnMut(f64) -> f64) -> f64 {
        let (mut near, mut far) = (theta, end);
        for _ in 0..ROUNDS {
            let middle = 0.5 * (near + far);
            let by = match self.at_zero {
                true => g(middle).abs() / BESIDE[1],
                false => (most - height(self.kind, g(middle))) / BESIDE[0],
            };
            match by {
                by if by < 1.0 => near = middle,
                by if by > 2.0 => far = middle,
                by if by.is_nan() => far = middle,
                _ => return middle,
            }
        }
        near
    }

    fn to_zero(self, mut low: f64, mut high: f64, g: &mut dyn FnMut(f64) -> f64) -> f64 {
        let (mut theta, first) = (self.theta, g(low));
        for _ in 0..ROUNDS {
            let own = g(theta);
            if !(own.abs() > NEAR) {
                break;
            }
            if own * first > 0.0 {
                low = theta
            } else {
                high = theta
            }
            theta = 0.5 * (low + high);
        }
        theta
    }

    /// Where the height begins to fall, by which way it goes: a top that is narrow beside a sample is far
    /// from any other.
    fn to_pole(self, mut low: f64, mut high: f64, g: &mut dyn FnMut(f64) -> f64) -> f64 {
        const ASIDE: f64 = 1e-3;
        let mut own = |theta: f64| height(self.kind, g(theta));
        let mut ends = [own(low), own(high)];
        for _ in 0..ROUNDS {
            let theta = 0.5 * (low + high);
            let [here, aside] = [own(theta), own(theta + ASIDE * (high - low))];
            if here - ends[0].min(ends[1]) < NEAR && here >= ends[0].max(ends[1]) {
                break;
            }
            if aside > here {
                (low, ends[0]) = (theta, here);
            } else {
                (high, ends[1]) = (theta, here);
            }
        }
        0.5 * (low + high)
    }

    fn to_top(self, mut low: f64, mut high: f64, g: &mut dyn FnMut(f64) -> f64) -> f64 {
        const GOLDEN: f64 = 0.381_966_011_250_105_1;
        let mut own = |theta: f64| height(self.kind, g(theta));
        let mut best = (self.theta, own(self.theta));
        for _ in 0..ROUNDS {
            if best.1 - own(low).min(own(high)) < NEAR {
                break;
            }
            // In the longer of the two parts.
            let is_above = high - best.0 > best.0 - low;
            let to = if is_above { high } else { low };
            let theta = best.0 + GOLDEN * (to - best.0);
            let found = (theta, own(theta));
            let (better, worse) = if found.1 > best.1 { (found, best) } else { (best, found) };
            if worse.0 < better.0 {
                low = worse.0
            } else {
                high = worse.0
            }
            best = better;
        }
        best.0
    }
}

/// What a driver looks with.
#[derive(Default)]
pub(super) struct Look {
    scratch: Option<Scratch>,
    x: Vec<f64>,
    input: Vec<f64>,
    found: Vec<f64>,
    kinds: Vec<Narrow>,
    samples: Vec<Samples>,
}

impl Driver {
    /// The part of a step at which something is met that the step has not seen; none if there is nothing.
    pub(super) fn goes_over(&mut self, pass: &Pass, h: f64) -> Option<f64> {
        let narrow = self.field.narrow()?;
        let mut look = std::mem::take(&mut self.look);
        let mut kinds = std::mem::take(&mut look.kinds);
        kinds.clear();
        kinds.extend_from_slice(&narrow.kinds);
        look.samples.clear();
        look.samples.resize(kinds.len(), NONE);
        let over = match self.sample_along(pass, h, &kinds, &mut look) {
            true => self.first_unseen(pass, h, &kinds, &mut look),
            false => None,
        };
        look.kinds = kinds;
        self.look = look;
        over
    }

    /// Takes the arguments along a step; not all of them where nothing can stand out of it.
    fn sample_along(&self, pass: &Pass, h: f64, kinds: &[Narrow], look: &mut Look) -> bool {
        let take = |k: usize, look: &mut Look| {
            self.arguments(pass, h, place_of(k), look);
            look.samples.iter_mut().zip(&look.found).for_each(|(own, found)| own[k] = *found);
        };
        FIRST.iter().for_each(|&k| take(k, look));
        let looks = kinds.iter().zip(&look.samples).any(|(kind, own)| may_stand_out(*kind, own));
        if looks {
            others().for_each(|k| take(k, look));
        }
        looks
    }

    fn first_unseen(
        &mut self,
        pass: &Pass,
        h: f64,
        kinds: &[Narrow],
        look: &mut Look,
    ) -> Option<f64> {
        let is_pole = |kind: &Narrow| matches!(kind, Narrow::Pole(_));
        let poles = kinds.iter().filter(|kind| is_pole(kind)).count();
        let mut over: Option<f64> = None;
        for (at, kind) in kinds.iter().enumerate() {
            let count = if is_pole(kind) { poles } else { kinds.len() - poles };
            let samples = look.samples[at];
            for place in places(*kind, &samples) {
                let all = place.narrow_down(&mut |theta| {
                    self.arguments(pass, h, theta, look);
                    look.found[at]
                });
                for theta in all.into_iter().flatten() {
                    let is_first = over.is_none_or(|over| theta < over);
                    if is_first && self.is_unseen(pass, h, theta, count) {
                        over = Some(theta);
                    }
                }
            }
        }
        over
    }

    /// Whether rates inside of a step are others than the step has.
    fn is_unseen(&mut self, pass: &Pass, h: f64, theta: f64, count: usize) -> bool {
        let (before, behind) = (theta * h.abs(), (1.0 - theta) * h.abs());
        if before.min(behind) < 64.0 * smallest_step(self.t, pass.end) {
            return false;
        }
        match self.integrator.defect_at(&mut self.field, &pass.weights, theta) {
            Ok(Some(defect)) => !(defect <= 1.0),
            // The stages are elsewhere: a step that ends there has seen it.
            Ok(None) => count <= FEW,
            Err(_) => true,
        }
    }

    /// The arguments at a part of a step: on its series, else on the parabola of its ends.
    fn arguments(&self, pass: &Pass, h: f64, theta: f64, look: &mut Look) {
        let Some(narrow) = self.field.narrow() else { return };
        let Look { scratch, x, input, found, .. } = look;
        x.resize(self.x.len(), 0.0);
        if !self.integrator.foretell(self.t, theta * h, x) {
            let all = x.iter_mut().zip(&self.x).zip(pass.next.iter().zip(&pass.rates));
            for ((x, from), (to, rate)) in all {
                *x = from + theta * (h * rate + theta * (to - from - h * rate));
            }
        }
        self.field.input_at(self.t + theta * h, x, input);
        found.resize(narrow.kinds.len(), 0.0);
        narrow.call(scratch.get_or_insert_with(|| narrow.scratch()), input, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(g: impl Fn(f64) -> f64) -> Samples {
        std::array::from_fn(|k| g(place_of(k)))
    }

    fn curved_by(x: f64, at: f64) -> f64 {
        x - at + 0.2 * (x - at) * (x - at)
    }

    fn found(kind: Narrow, g: impl Fn(f64) -> f64) -> Vec<f64> {
        let all = places(kind, &sampled(&g));
        all.filter_map(|place| place.narrow_down(&mut |theta| g(theta))).flatten().collect()
    }

    /// Wherever a top is, however narrow, it is found to a part of its width.
    #[test]
    fn tops_and_zeros_are_found() {
        for k in 1..1000 {
            let at = f64::from(k) / 1000.0;
            for sharp in [1e3, 1e5, 1e8, 1e12] {
                let curved = |x: f64| curved_by(x, at);
                let g = |x: f64| -sharp * curved(x) * curved(x);
                let ends = g(0.0).max(g(1.0));
                let tops = found(Narrow::Exponential, g);
                if ends < -8.0 {
                    let is_met = |within: [f64; 2]| {
                        tops.iter().any(|x| g(*x) > within[0] && g(*x) < within[1])
                    };
                    assert!(is_met([-0.15, 1.0]) && is_met([-1.2, -0.4]), "{at} {sharp} {tops:?}");
                } else if ends > -1.0 {
                    assert!(tops.is_empty(), "{at} {sharp} {tops:?}");
                }
                let line = |x: f64| sharp * curved(x);
                let zeros = found(Narrow::Step, line);
                if line(0.0).abs().min(line(1.0).abs()) > 8.0 {
                    assert!(zeros.iter().any(|x| line(*x).abs() < 0.3), "{at} {sharp} {zeros:?}");
                }
            }
            let quartic = |x: f64| 1.0 + (1e4 * curved_by(x, at)).powi(4);
            let poles = found(Narrow::Pole(1.0), quartic);
            let is_top = |x: &f64| quartic(*x) < 1.15;
            let is_beside = |x: &f64| quartic(*x) > 1.6 && quartic(*x) < 2.8;
            assert!(poles.iter().any(is_top) && poles.iter().any(is_beside), "{at} {poles:?}");
            let base = |x: f64| (3.0 * (x - at)).cos();
            let ends = 4e4 * base(0.0).abs().max(base(1.0).abs()).ln();
            let tops = found(Narrow::Power(4e4), base);
            assert!(ends > -8.0 || tops.iter().any(|x| 4e4 * base(*x).abs().ln() > -0.3), "{at}");
        }
    }

    #[test]
    fn nothing_stands_out_of_what_goes_one_way() {
        for rate in [-1e6, -30.0, -0.1, 0.0, 0.3, 100.0] {
            let none = found(Narrow::Exponential, |x| rate * x - 1000.0);
            assert!(none.is_empty(), "{rate} {none:?}");
        }
        assert!(found(Narrow::Exponential, |x| -2000.0 - (x - 0.5) * (x - 0.5)).is_empty());
        assert!(found(Narrow::Exponential, |_| f64::NAN).is_empty());
        // A quotient that varies by little, or one way, or is largest inside.
        for n in [0.5, 1.0, 3.0] {
            for g in
                [|x: f64| 1.0 + 0.2 * (x - 0.4) * (x - 0.4), |x| 0.1 + x, |x| 2.0 + x * (1.0 - x)]
            {
                assert!(found(Narrow::Pole(n), g).is_empty());
            }
        }
    }
}
