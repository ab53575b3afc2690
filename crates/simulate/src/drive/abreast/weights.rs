//! What components of motions abreast may be off by, as the driver has it for one motion whose
//! masses are not 0 and which does not begin in balance ([`scales`](super::super::scales)).

use super::{Lane, each};
use crate::drive::tolerances::scales::{COUPLED, DIGITS, KEEPS, SMALL, TOGETHER};

/// A component as the masses have it where the model begins.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::drive) struct Measure {
    /// √g and 1/√g, 0 where g is.
    pub(in crate::drive) unit: [f64; 2],
    /// The same, where constraints join it to others.
    pub(in crate::drive) joint: [f64; 2],
    pub(in crate::drive) part: usize,
    /// What rounding does to its rate.
    pub(in crate::drive) shaken: f64,
}

/// The measures of all components, and what they are relative to.
#[derive(Clone, Debug, Default)]
pub(in crate::drive) struct Measures {
    pub(in crate::drive) components: Vec<Measure>,
    pub(in crate::drive) parts: usize,
    pub(in crate::drive) is_rate: bool,
    pub(in crate::drive) tolerance: f64,
    pub(in crate::drive) span: f64,
}

/// What motions have been through.
pub(super) struct Sizes<const W: usize> {
    pub(super) origin: Vec<Lane<W>>,
    pub(super) own: Vec<Lane<W>>,
    /// The largest position and velocity of each part.
    most: [Vec<Lane<W>>; 2],
    joined: [Lane<W>; 2],
}

#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

impl<const W: usize> Sizes<W> {
    pub(super) fn new(n: usize, size: usize, measures: &Measures) -> Sizes<W> {
        let most = || vec![[0.0; W]; measures.parts.max(1)];
        Sizes {
            origin: vec![[0.0; W]; n],
            own: vec![[0.0; W]; n + size],
            most: [most(), most()],
            joined: [[0.0; W]; 2],
        }
    }

    /// Takes states into account, of those motions that moved.
    #[inline(always)]
    pub(super) fn see(&mut self, x: &[Lane<W>], moved: &[bool; W]) {
        let n = self.origin.len();
        for (i, (own, x)) in self.own.iter_mut().zip(x).enumerate() {
            let from = if i < n { self.origin[i] } else { [0.0; W] };
            *own = each(|lane| {
                let size = larger((x[lane] - from[lane]).abs(), own[lane]);
                if moved[lane] { size } else { own[lane] }
            });
        }
    }

    /// The largest of what is joined and of each part, at states.
    #[inline(always)]
    pub(super) fn couple(&mut self, x: &[Lane<W>], measures: &Measures) {
        let n = self.origin.len();
        self.joined = [[0.0; W]; 2];
        self.most.iter_mut().flatten().for_each(|most| *most = [0.0; W]);
        for (i, (measure, x)) in measures.components.iter().zip(x).enumerate() {
            let (kind, own) = (usize::from(i >= n), &self.own[i]);
            let (joined, most) = (&mut self.joined[kind], &mut self.most[kind][measure.part]);
            for lane in 0..W {
                let size = larger(x[lane].abs(), own[lane]);
                joined[lane] = larger(joined[lane], measure.joint[0] * size);
                most[lane] = larger(most[lane], measure.unit[0] * size);
            }
        }
    }

    /// The inverses of what components may be off by in steps h; 0 of one without size.
    /// [`couple`](Sizes::couple) comes first.
    #[inline(always)]
    pub(super) fn weigh(
        &self,
        (x, rates): (&[Lane<W>], &[Lane<W>]),
        h: Lane<W>,
        measures: &Measures,
        weights: &mut [Lane<W>],
    ) {
        let n = self.origin.len();
        let Measures { components, is_rate, tolerance, span, .. } = measures;
        let [far, fast] = self.joined;
        let far: Lane<W> = each(|lane| far[lane].max(fast[lane] * h[lane]));
        let together: Lane<W> = each(|lane| fast[lane].max(far[lane] / span));
        let (joint_part, coupled_part) = (TOGETHER * tolerance, COUPLED * tolerance);
        let (positions, velocities) = components.split_at(n);
        let (first, second) = weights.split_at_mut(n);
        for (i, (weight, measure)) in first.iter_mut().zip(positions).enumerate() {
            let (x, origin, own, rate) = (&x[i], &self.origin[i], &self.own[i], &rates[i]);
            // From rest a position goes with the square of the time.
            let force = if *is_rate { rates[n + i] } else { [0.0; W] };
            let most = &self.most[0][measure.part];
            *weight = each(|lane| {
                let by_step = (rate[lane] * h[lane]).abs();
                let own = larger(own[lane], (x[lane] - origin[lane]).abs());
                let unmoved = 0.5 * (force[lane] * h[lane] * h[lane]).abs();
                let size = larger(if own > 0.0 { own } else { unmoved }, by_step);
                let allowed = tolerance * size + DIGITS * x[lane].abs();
                let joined = far[lane] * measure.joint[1];
                let among = larger(allowed + DIGITS * joined, joint_part * joined);
                let most = larger(among, coupled_part * (most[lane] * measure.unit[1]));
                if size > 0.0 { 1.0 / most } else { 0.0 }
            });
        }
        let once = if *is_rate { 1.0 / span } else { 0.0 };
        for (j, (weight, measure)) in second.iter_mut().zip(velocities).enumerate() {
            let (x, own, rate) = (&x[n + j], &self.own[n + j], &rates[n + j]);
            let most = &self.most[1][measure.part];
            let reached = match positions.get(j) {
                Some(position) if *is_rate => {
                    let most = &self.most[0][position.part];
                    each(|lane| most[lane] * position.unit[1] * once)
                }
                _ => [0.0; W],
            };
            *weight = each(|lane| {
                let by_step = (rate[lane] * h[lane]).abs();
                let size = larger(larger(x[lane].abs(), KEEPS * own[lane]), by_step);
                let mut allowed = tolerance * size + DIGITS * x[lane].abs();
                let most_joined = together[lane] * measure.joint[1];
                let joined = allowed + DIGITS * (fast[lane] * measure.joint[1]);
                let among = larger(joined, joint_part * most_joined);
                allowed = if most_joined > 0.0 { among } else { allowed };
                let coupled = larger(most[lane] * measure.unit[1], reached[lane]);
                allowed = larger(allowed, coupled_part * coupled);
                allowed += (measure.shaken * h[lane]).min(SMALL * own[lane]);
                if size > 0.0 { 1.0 / allowed } else { 0.0 }
            });
        }
    }
}
