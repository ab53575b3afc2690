//! What each component may be off by in a step, from the sizes, the masses and the noise at a state.

use super::{Component, Unit, larger};
use crate::drive::Driver;
use crate::drive::abreast::Measure;
use crate::drive::abreast::Measures;
use crate::drive::tolerances::scales::{
    COUPLED, DIGITS, GROWN, LIGHT, SMALL, TINY, TOGETHER, WORK,
};
use crate::integrators::Needs;
use crate::program::field::still;

impl Driver {
    /// The same for steps whose size does not follow the error, and across singular
    /// positions: sizes are those of the coordinates themselves, of what the step `moves`
    /// them by, and of the largest in units of equal mass.
    pub(in crate::drive) fn weigh_together(&self, weights: &mut [f64], moves: &[f64]) {
        let scales = &self.scales;
        let n = self.field.n;
        let moved = |i: usize| moves.get(i).map_or(0.0, |m| m.abs());
        let sizes = self.x.iter().zip(&scales.own).map(|(x, o)| x.abs().max(*o));
        let own: Vec<f64> = sizes.enumerate().map(|(i, size)| size.max(moved(i))).collect();
        let [far, fast] = scales.joined(&own);
        for (i, weight) in weights.iter_mut().enumerate() {
            let others = scales.joint(i).back(if i < n { far } else { fast });
            let size = if i + 1 < self.x.len() { own[i].max(others) } else { 0.0 };
            *weight = if size > 0.0 { 1.0 / (self.control.tolerance * size) } else { 0.0 };
        }
    }

    /// What motions abreast are measured by, at the state at hand; none if that needs more than they
    /// have.
    pub(in crate::drive) fn measures(&mut self) -> Option<Measures> {
        let x = self.x.clone();
        self.scales.begin(self.field.n, &x);
        self.weigh_masses();
        self.weigh_rest();
        let scales = &self.scales;
        if scales.has_massless {
            return None;
        }
        let n = self.field.n;
        let of = |unit: Unit| [unit.root, unit.inverse];
        let measure = |(i, c): (usize, &Component)| {
            let noise = i.checked_sub(n).and_then(|j| scales.shaken.get(j));
            Measure {
                unit: of(c.unit),
                joint: of(c.joint),
                part: c.part,
                shaken: noise.copied().unwrap_or(0.0),
            }
        };
        Some(Measures {
            components: scales.components.iter().enumerate().map(measure).collect(),
            parts: 1 + scales.components.iter().map(|c| c.part).max().unwrap_or(0),
            is_rate: scales.is_rate,
            tolerance: self.control.tolerance,
            span: self.control.span,
        })
    }

    /// The inverses of what each component may be off by in a step h; 0 for one without size.
    pub(in crate::drive) fn weigh(&mut self, weights: &mut [f64], rates: &[f64], h: f64) {
        if self.control.step.is_some() {
            return self.weigh_together(weights, &[]);
        }
        let [far, fast] = self.scales.couple(&self.x);
        let (scales, n) = (&self.scales, self.field.n);
        let (tolerance, span) = (self.control.tolerance, self.control.span);
        let far = far.max(fast * h.abs());
        // At rest, it is what would bring them somewhere in the time of the run.
        let together = fast.max(far / span);
        let is_residual = self.integrator.needs() == Needs::Residual;
        // What only few motions have: components without mass, and a beginning at rest.
        let is_plain = scales.rest.is_empty() && !scales.has_massless;
        let joint_part = TOGETHER * tolerance;
        let coupled_part = COUPLED * tolerance;
        let extents = &self.field.noise().extents;
        // Along a tree what rounding does to velocities is measured.
        let is_along = self.field.equations.bodies.is_some();
        let odd = |i: usize, component: &Component, mut allowed: f64| {
            // What has no mass is where the constraints put it, on their scale.
            if component.is_massless {
                let extent = extents.get(i).copied().unwrap_or(0.0);
                allowed = larger(allowed + DIGITS * extent, joint_part * extent);
            }
            allowed + scales.at_rest(i, &self.x, h, span)
        };
        weights.fill(0.0);
        let (positions, velocities) = scales.components.split_at(n);
        let (first, second) = weights.split_at_mut(n);
        for (i, (weight, component)) in first.iter_mut().zip(positions).enumerate() {
            let mut allowed = scales.allowed(i, tolerance, &self.x, rates, h);
            if !(allowed > 0.0) {
                continue;
            }
            let joined = component.joint.back(far);
            if joined > 0.0 {
                allowed = larger(allowed + DIGITS * joined, joint_part * joined);
            }
            allowed = larger(allowed, coupled_part * scales.coupled(component, 0));
            // A position that is carried along a tree is off by what its velocity is off by.
            if is_along && scales.is_rate {
                allowed += scales.shaken.get(i).map_or(0.0, |noise| noise * h * h);
            }
            *weight = 1.0 / if is_plain { allowed } else { odd(i, component, allowed) };
        }
        // At rest, velocities are what the positions are in the time of the run.
        let once = if scales.is_rate { 1.0 / span } else { 0.0 };
        for (j, (weight, component)) in second.iter_mut().zip(velocities).enumerate() {
            let i = n + j;
            let mut allowed = scales.allowed(i, tolerance, &self.x, rates, h);
            if !(allowed > 0.0) {
                continue;
            }
            let joint = component.joint;
            let most = joint.back(together);
            if most > 0.0 {
                allowed = larger(allowed + DIGITS * joint.back(fast), joint_part * most);
            }
            let mut coupled = scales.coupled(component, 1);
            if once > 0.0 {
                coupled = larger(coupled, scales.coupled(&positions[j], 0) * once);
            }
            allowed = larger(allowed, coupled_part * coupled);
            if !is_plain {
                allowed = odd(i, component, allowed);
            }
            // Rounding of the forces at hand is in every velocity, however short the step; a bound
            // on it is no more than rounding where it is far below the velocity itself.
            let shaken = scales.shaken.get(j).map_or(0.0, |noise| noise * h.abs());
            allowed += if is_along { shaken } else { shaken.min(SMALL * scales.own[i]) };
            // A method that solves for positions has velocities as their differences.
            if is_residual {
                let is_own = self.field.size == self.field.equations.n_coordinates();
                let own = if is_own { self.x[j].abs() } else { 0.0 };
                allowed += DIGITS * own.max(joint.back(far)) / h.abs();
            }
            *weight = 1.0 / allowed;
        }
        if self.integrator.needs() == Needs::Series && self.field.follows_work() {
            let moved = |(j, c): (usize, &Component)| {
                c.unit.root * larger(scales.own[n + j], (rates[n + j] * h).abs())
            };
            let least = |(j, c): (usize, &Component)| c.unit.root * scales.least(n + j);
            let slowest = velocities.iter().enumerate().map(least).fold(0f64, f64::max);
            let fastest = velocities.iter().enumerate().map(moved).fold(0f64, f64::max);
            // Forces of which rounding leaves 16 ε work along what it moves in the step.
            let shaken = |(c, noise): (&Component, &f64)| c.unit.root * noise * h.abs();
            let left = velocities.iter().zip(&scales.shaken).map(shaken).fold(0f64, f64::max);
            let left = left * left / (16.0 * f64::EPSILON);
            let speed = if fastest > 0.0 { larger(fastest, slowest) } else { 0.0 };
            let energy = if speed > 0.0 { larger(speed * speed, TINY) } else { 0.0 };
            let allowed = WORK * tolerance * energy + left;
            if let Some(weight) = weights.last_mut().filter(|_| allowed > 0.0) {
                *weight = 1.0 / allowed;
            }
        }
    }

    /// Looks whether the motion begins at rest.
    pub(in crate::drive) fn weigh_rest(&mut self) {
        let x = self.x.clone();
        let (rates, noise) = self.field.rate_noise(self.t, &x);
        let rest = still(&rates, &noise);
        self.scales.rest = if rest.iter().any(|a| *a > 0.0) { rest } else { Vec::new() };
        self.scales.shaken = noise;
        self.scales.pushed = self.field.push();
    }

    /// Measures anew what rounding does to velocities along a tree, where the forces have become others
    /// than those that it was measured with: what a motion from rest makes of them is far above what
    /// holds it there.
    pub(in crate::drive) fn weigh_noise(&mut self) {
        if self.field.equations.bodies.is_none() {
            return;
        }
        let (now, then) = (self.field.push(), self.scales.pushed);
        if now <= GROWN * then && then <= GROWN * GROWN * now {
            return;
        }
        let x = self.x.clone();
        self.scales.shaken = self.field.rate_noise(self.t, &x).1;
        self.scales.pushed = now;
    }

    /// Looks at the masses, where constraints join coordinates.
    pub(in crate::drive) fn weigh_masses(&mut self) {
        let x = self.x.clone();
        let masses = self.field.mass_diagonal(self.t, &x);
        let metric = self.metric_diagonal(&x).unwrap_or_default();
        self.scales.began.clone_from(&metric);
        self.scales.is_rate = self.field.equations.v == self.field.model().system.velocities();
        if self.scales.parts.is_empty() {
            self.scales.parts = crate::program::energy::parts(self.field.setting());
        }
        let (n, size) = (self.field.n, self.field.size);
        let coordinates = self.field.equations.n_coordinates();
        // What a chart has solved joins them too.
        let is_charted = self.field.equations.chart.is_some();
        let mut held = vec![is_charted; size];
        let rows = self.field.equations.jacobian.rows.iter();
        rows.flatten().for_each(|entry| held[entry.0] = true);
        let is_joined = is_charted || !self.field.equations.rows.is_empty();
        let has_own = self.scales.is_rate;
        let parts = &self.scales.parts;
        let noise = self.field.noise();
        let component = |i: usize| {
            let (list, at) = if i < n { (&masses, i) } else { (&metric, i - n) };
            // A mass that is next to nothing here and not nearby is that of no component: the others
            // would leave it all there is.
            let near = match i < n {
                true => noise.mass_inertia.get(at),
                false => noise.inertia.get(at).filter(|_| has_own),
            };
            let is_light = |g: f64| near.is_some_and(|near| g.abs() <= LIGHT * near);
            let mass = list.get(at).copied().filter(|g| !is_light(*g));
            let unit = mass.map_or_else(Unit::default, Unit::of);
            // Velocities that are not those of the coordinates belong to all of them; states
            // stand alone.
            let is_state = (coordinates..n).contains(&i);
            let has_part = i < n || size == coordinates;
            let is_held = is_joined
                && !is_state
                && if i < n { size != coordinates || held[at] } else { held[at] };
            Component {
                unit,
                joint: if is_held { unit } else { Unit::default() },
                part: if has_part { parts.get(at).copied().unwrap_or(at) } else { 0 },
                is_massless: at < list.len() && unit.g == 0.0 && (i < n || has_own),
            }
        };
        self.scales.components = (0..n + size).map(component).collect();
        self.scales.has_massless = self.scales.components.iter().any(|c| c.is_massless);
    }

    /// The diagonal of the metric of the own velocities, by the mass that each of them moves;
    /// 1/M_jj for momenta, where M is known.
    pub(in crate::drive) fn metric_diagonal(&mut self, x: &[f64]) -> Option<Vec<f64>> {
        let size = self.field.size;
        let (t, n) = (self.t, self.field.equations.n_coordinates());
        self.field.matrices(t, x).ok()?;
        let mut diagonal: Vec<f64> = (0..size).map(|j| self.field.last_mass(j).abs()).collect();
        let momenta = self.field.model().system.momenta();
        let own = &self.field.equations.v;
        if size == n && momenta.iter().zip(own).any(|(p, v)| p == v) {
            let mass = self.field.mass_diagonal(t, x);
            for j in 0..n {
                if momenta[j] == self.field.equations.v[j] {
                    let m = mass[j].abs();
                    diagonal[j] = if m > 0.0 { 1.0 / m } else { 0.0 };
                }
            }
        } else if let Some(kinetic) = self.field.kinetic_diagonal(t, x) {
            // Reduced momenta have no metric of their own: Γ is 1, whatever their units.
            diagonal = kinetic;
        }
        Some(diagonal)
    }
}
