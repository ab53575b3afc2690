//! What components of motions abreast may be off by, as the driver has it for one motion whose
//! masses are not 0 and which does not begin in balance ([`scales`](super::super::scales)).

use super::{Lane, each};
use crate::drive::tolerances::scales::{COUPLED, DIGITS, KEEPS, SHAKEN, SMALL, TINY, TOGETHER};

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

/// What motions have been through. Lists are flat, one component after the other, with a number of
/// each motion, and loops go over all of them: such are compiled to vectors.
pub(super) struct Sizes<const W: usize> {
    n: usize,
    /// Where positions began; 0 of velocities.
    pub(super) origin: Vec<Lane<W>>,
    pub(super) own: Vec<Lane<W>>,
    /// The measures, for each motion; of each position what a rate of its momentum moves it by, 0
    /// where there is none.
    by_force: Vec<Lane<W>>,
    joint: Vec<Lane<W>>,
    shaken: Vec<Lane<W>>,
    /// What each component is now, or has been, at most.
    sizes: Vec<Lane<W>>,
    /// The largest position and velocity of each part, and of what is joined.
    most: [Vec<Lane<W>>; 2],
    joined: [Lane<W>; 2],
    /// The largest that each component is coupled to, in its own units.
    coupled: Vec<Lane<W>>,
    /// Steps, and the largest that a component is joined to: for each component.
    h: Vec<Lane<W>>,
    far: Vec<Lane<W>>,
    near: Vec<Lane<W>>,
}

#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The same number for each motion.
fn spread<const W: usize>(measures: &Measures, of: impl Fn(&Measure) -> f64) -> Vec<Lane<W>> {
    measures.components.iter().map(|measure| [of(measure); W]).collect()
}

impl<const W: usize> Sizes<W> {
    pub(super) fn new(n: usize, size: usize, measures: &Measures) -> Sizes<W> {
        let most = || vec![[0.0; W]; measures.parts.max(1)];
        let list = || vec![[0.0; W]; n + size];
        let masses = measures.components.iter().skip(n).map(|measure| measure.unit[0]);
        let mut by_force: Vec<Lane<W>> = masses.map(|root| [root * root; W]).collect();
        if size != n {
            by_force = vec![[0.0; W]; n];
        }
        Sizes {
            n,
            by_force,
            origin: list(),
            own: list(),
            joint: spread(measures, |measure| measure.joint[1]),
            shaken: spread(measures, |measure| measure.shaken),
            sizes: list(),
            most: [most(), most()],
            joined: [[0.0; W]; 2],
            coupled: list(),
            h: list(),
            far: list(),
            near: list(),
        }
    }

    /// Takes states into account, of those motions that moved.
    #[inline(always)]
    pub(super) fn see(&mut self, x: &[Lane<W>], moved: &[bool; W]) {
        let all = self.own.iter_mut().zip(x).zip(&self.origin);
        for ((own, x), from) in all {
            *own = each(|lane| {
                let size = larger((x[lane] - from[lane]).abs(), own[lane]);
                if moved[lane] { size } else { own[lane] }
            });
        }
    }

    /// The largest of what is joined and of each part, at states.
    #[inline(always)]
    pub(super) fn couple(&mut self, x: &[Lane<W>], measures: &Measures) {
        let n = self.n;
        let sizes = self.sizes.as_flattened_mut().iter_mut();
        let now = x.as_flattened().iter().zip(self.own.as_flattened());
        sizes.zip(now).for_each(|(size, (x, own))| *size = larger(x.abs(), *own));
        self.joined = [[0.0; W]; 2];
        self.most.iter_mut().flatten().for_each(|most| *most = [0.0; W]);
        for (i, (measure, size)) in measures.components.iter().zip(&self.sizes).enumerate() {
            let kind = usize::from(i >= n);
            let (joint, unit) = (measure.joint[0], measure.unit[0]);
            let joined = self.joined[kind];
            self.joined[kind] = each(|lane| larger(joined[lane], joint * size[lane]));
            let most = &mut self.most[kind][measure.part];
            *most = each(|lane| larger(most[lane], unit * size[lane]));
        }
        let once = if measures.is_rate { 1.0 / measures.span } else { 0.0 };
        for (i, measure) in measures.components.iter().enumerate() {
            let most = &self.most[usize::from(i >= n)][measure.part];
            let unit = measure.unit[1];
            let own: Lane<W> = each(|lane| most[lane] * unit);
            self.coupled[i] = match i.checked_sub(n).and_then(|j| measures.components.get(j)) {
                // At rest, velocities are what the positions are in the time of the run.
                Some(position) if measures.is_rate => {
                    let most = &self.most[0][position.part];
                    let unit = position.unit[1];
                    each(|lane| larger(own[lane], most[lane] * unit * once))
                }
                _ => own,
            };
        }
    }

    /// The inverses of what components may be off by in steps h; 0 of one without size.
    /// [`couple`](Sizes::couple) comes first.
    #[inline(always)]
    pub(super) fn weigh(
        &mut self,
        (x, rates): (&[Lane<W>], &[Lane<W>]),
        h: Lane<W>,
        measures: &Measures,
        weights: &mut [Lane<W>],
    ) {
        let n = self.n;
        let Measures { is_rate, tolerance, span, .. } = measures;
        let (tolerance, [far, fast]) = (*tolerance, self.joined);
        let far: Lane<W> = each(|lane| larger(far[lane], fast[lane] * h[lane]));
        let together: Lane<W> = each(|lane| larger(fast[lane], far[lane] / span));
        self.h.fill(h);
        self.far[..n].fill(far);
        self.near[..n].fill(far);
        self.far[n..].fill(together);
        self.near[n..].fill(fast);
        let (joint_part, coupled_part) = (TOGETHER * tolerance, COUPLED * tolerance);
        let keeps = KEEPS;
        let lists = |range: std::ops::Range<usize>| {
            (
                x[range.clone()].as_flattened(),
                rates[range.clone()].as_flattened(),
                self.origin[range.clone()].as_flattened(),
                self.own[range.clone()].as_flattened(),
                self.h[range].as_flattened(),
            )
        };
        let (first, second) = weights.split_at_mut(n);
        // How large components are, in the place of the weights at first.
        let (xs, rate, origin, own, steps) = lists(0..n);
        let places = first.as_flattened_mut();
        let count = places.len();
        let (xs, rate, origin, own, steps) =
            (&xs[..count], &rate[..count], &origin[..count], &own[..count], &steps[..count]);
        match *is_rate {
            true => {
                // From rest a position goes with the square of the time.
                let force = &rates[n..2 * n].as_flattened()[..count];
                for k in 0..count {
                    let own = larger(own[k], (xs[k] - origin[k]).abs());
                    let unmoved = 0.5 * (force[k] * steps[k] * steps[k]).abs();
                    let own = if own > 0.0 { own } else { unmoved };
                    places[k] = larger(own, (rate[k] * steps[k]).abs());
                }
            }
            false => {
                // Momenta move it by 1/M_ii; from rest in other velocities nothing tells how far it
                // will go.
                let by_force = &self.by_force.as_flattened()[..count];
                let all = rates.as_flattened();
                for k in 0..count {
                    let own = larger(own[k], (xs[k] - origin[k]).abs());
                    let force = if by_force[k] > 0.0 { all[count + k] } else { 0.0 };
                    let unmoved = 0.5 * by_force[k] * (force * steps[k] * steps[k]).abs();
                    let own = if own > 0.0 { own } else { unmoved };
                    let size = larger(own, (rate[k] * steps[k]).abs());
                    places[k] = if size > 0.0 { size } else { COUPLED * xs[k].abs() };
                }
            }
        }
        let (xs, rate, _, own, steps) = lists(n..x.len());
        let places = second.as_flattened_mut();
        let count = places.len();
        let (xs, rate, own, steps) = (&xs[..count], &rate[..count], &own[..count], &steps[..count]);
        for k in 0..count {
            let size = larger(xs[k].abs(), keeps * own[k]);
            places[k] = larger(size, (rate[k] * steps[k]).abs());
        }
        // What is allowed to each, and its inverse.
        let places = weights.as_flattened_mut();
        let count = places.len();
        let [xs, far, near, joint, coupled, shaken, steps, own] = [
            x,
            &self.far,
            &self.near,
            &self.joint,
            &self.coupled,
            &self.shaken,
            &self.h,
            &self.own,
        ]
        .map(|list| &list.as_flattened()[..count]);
        for k in 0..count {
            let size = places[k];
            let plain = tolerance * larger(size, TINY) + DIGITS * xs[k].abs();
            let most = far[k] * joint[k];
            let among = larger(plain + DIGITS * (near[k] * joint[k]), joint_part * most);
            let allowed = larger(if most > 0.0 { among } else { plain }, coupled_part * coupled[k]);
            let noise = shaken[k] * steps[k];
            let small = SMALL * own[k];
            let allowed = allowed + if noise < small { noise } else { small };
            places[k] = if size > 0.0 { 1.0 / allowed } else { 0.0 };
        }
    }

    /// Measures what of a lane had no size where a step began by what it has at its end, as the driver
    /// does.
    pub(super) fn weigh_new(
        &self,
        lane: usize,
        (x, rates): (&[Lane<W>], &[Lane<W>]),
        h: f64,
        measures: &Measures,
        weights: &mut [Lane<W>],
    ) {
        let n = self.n;
        // A position goes by its velocity, or by a rate that the step has not seen.
        let size = |i: usize| {
            let by_step = (rates[i][lane] * h).abs();
            let own = (x[i][lane] - self.origin[i][lane]).abs();
            larger(larger(own, self.own[i][lane] * if i < n { 1.0 } else { KEEPS }), by_step)
        };
        let mut most = [vec![0f64; measures.parts.max(1)], vec![0f64; measures.parts.max(1)]];
        for (i, measure) in measures.components.iter().enumerate() {
            let most = &mut most[usize::from(i >= n)][measure.part];
            *most = larger(*most, measure.unit[0] * size(i));
        }
        for (i, measure) in measures.components.iter().enumerate() {
            let noise = match i.checked_sub(n) {
                Some(_) => measure.shaken * h,
                None => measures.components.get(n + i).map_or(0.0, |c| c.shaken * h * h),
            };
            if weights[i][lane] > 0.0 || !(size(i) > SHAKEN * noise) {
                continue;
            }
            let among = measure.unit[1] * most[usize::from(i >= n)][measure.part];
            let size = larger(larger(size(i), among), TINY);
            let allowed = measures.tolerance * size + noise + DIGITS * x[i][lane].abs();
            weights[i][lane] = 1.0 / allowed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::{Control, Driver, Stabilize};
    use crate::integrators::by_name;
    use crate::points::start;
    use crate::program::field::Field;
    use crate::setting::Setting;
    use dalembert_derive::picture::Picture;
    use dalembert_expr::Random;
    use dalembert_model::load::{Syntax, load};
    use dalembert_model::resolve::Limits;

    const MODELS: [&str; 4] = [
        "coord a, b\nkinetic a'^2 + b'^2/2 + a'*b'*cos(a - b)\npotential -19.6*cos(a) - 9.8*cos(b)\n\
         start a = 1, b = 0.3, a' = 0.2",
        "coord x, y, z\nkinetic (x'^2 + y'^2 + 3*z'^2)/2\npotential 9.81*z\n\
         constraint c: x^2 + y^2 + z^2 = 1\nstart x = 0.6, z = -0.8, y' = 0.3",
        // Parts that do not know of each other, and rows that join only some.
        "coord x, y, u, w\nkinetic (x'^2 + y'^2)/2 + 7e4*(u'^2 + w'^2)\n\
         potential x^2 + 1e-3*u^4 + w^2\nconstraint c: x*x' + y*y' = 0\n\
         start x = 1, y = 0.2, u = 30, w = 0.1, x' = -0.2, y' = 1",
        "coord q\nhamiltonian p_q^2/(2 + q^2) + q^4\nstart q = 1, p_q = 0.3",
    ];

    /// What is allowed to components abreast is what the driver allows to them, for any state, step
    /// and past.
    #[test]
    fn weights_are_those_of_the_driver() {
        let mut random = Random::new(31);
        let mut count = 0;
        for text in MODELS {
            let loaded = load("model", text, Syntax::Plain, &[], Limits::default());
            let model = loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
            let setting = Setting::new(&model).expect("values");
            let picture = Picture::new(&model.exprs, &model.system).expect("a picture");
            for formulation in dalembert_derive::ALL {
                let derived = formulation.derive(&model.exprs, &model.system, &Default::default());
                let Ok(equations) = derived else { continue };
                if equations.chart.is_some() || equations.auxiliary.is_some() {
                    continue;
                }
                let elimination = dalembert_gauss::DEFAULT;
                let field = Field::on(&setting, Some(&picture), &equations, elimination);
                let (n, size) = (field.n, field.size);
                let state = start::start(&setting).expect("a start").state;
                let mut x = state.q.clone();
                x.extend(setting.numbers(&equations.own, &state.table(&model.system)));
                x.push(0.0);
                let integrator = by_name("taylor", x.len()).expect("an integrator");
                let control = Control {
                    tolerance: 1e-9,
                    step: None,
                    stabilize: Stabilize::Projection,
                    most_steps: 1000,
                    leaves_when_stiff: false,
                    span: 7.0,
                    longest: None,
                };
                let mut driver = Driver::new(field, integrator, control, 0.0, x.clone());
                driver.prepare();
                let Some(measures) = driver.measures() else { continue };
                if !driver.scales.rest.is_empty() {
                    continue;
                }
                let mut sizes: Sizes<1> = Sizes::new(n, size, &measures);
                for case in 0..40 {
                    let mut rates = vec![0.0; n + size + 1];
                    for (i, rate) in rates[..n + size].iter_mut().enumerate() {
                        let own = |a: f64| 10f64.powf(3.0 * a);
                        x[i] = own(random.signed()) * random.signed();
                        *rate = own(random.signed()) * random.signed();
                        // Some have not moved yet, and some are at 0.
                        let before = match case % 4 {
                            0 => 0.0,
                            _ => own(random.signed()),
                        };
                        let is_still = case % 4 == 0 && i < n;
                        let origin = if is_still { x[i] } else { x[i] + random.signed() };
                        driver.scales.own[i] = before;
                        sizes.own[i] = [before];
                        if i < n {
                            driver.scales.origin[i] = origin;
                            sizes.origin[i] = [origin];
                        }
                    }
                    let h = 10f64.powf(2.0 * random.signed() - 1.0);
                    driver.x.clone_from(&x);
                    let mut right = vec![0.0; n + size + 1];
                    driver.weigh(&mut right, &rates, h);
                    let lanes =
                        |list: &[f64]| list[..n + size].iter().map(|v| [*v]).collect::<Vec<_>>();
                    let mut weights = vec![[0.0]; n + size];
                    sizes.couple(&lanes(&x), &measures);
                    sizes.weigh((&lanes(&x), &lanes(&rates)), [h], &measures, &mut weights);
                    for (i, (own, right)) in weights.iter().zip(&right).enumerate() {
                        let off = (own[0] - right).abs();
                        let what = formulation.name();
                        assert!(off <= 1e-13 * right, "{what} {i} {case}: {} {right}", own[0]);
                        count += 1;
                    }
                }
            }
        }
        assert!(count > 1000, "{count}");
    }
}
