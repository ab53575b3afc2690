//! The search for a state of equilibrium or steady motion.
//!
//! Unknowns are q, the multipliers λ and the amounts α of the symmetries ξ = ξ_t + Σ α_k ξ_k. With
//! v = ξ(q) = B q + c (in a model given by H the momenta are unknowns too, with q̇ = ξ(q)) the
//! equations are
//!
//! ```text
//! Γ B v = F + C + Aᵀλ        φ(q, t) = 0        ψ(q, v, t) = 0
//! ```
//!
//! and those `=` of the start that are held. States z are unknowns too, with ż = 0. The state nearest to the guess is taken, each
//! coordinate measured by its mass (`solve`). Dependent rows, a singular mass and unknowns that
//! stay open (multipliers that are not unique) do no harm.

use super::rates::{Point, Rates};
use super::solve::{Ended, Equations, Values};
use super::steady::{Given, by_momenta, largest_force, multiplier_sizes, scales};
use super::symmetry::{Symmetries, Symmetry};
use dalembert_expr::{ExprId, Jacobian, Number, Symbol, SymbolKind};
use dalembert_gauss::linalg::{largest, norm};
use dalembert_simulate::State;
use std::cell::OnceCell;

/// What a search was left with where it failed.
#[derive(Clone, Debug)]
pub(crate) struct Missed {
    pub state: Option<State>,
    /// What is left of the balance of forces, by coordinate.
    pub push: Vec<f64>,
    /// What is left of the constraints: (row, value).
    pub broken: Vec<(usize, f64)>,
    pub size: f64,
}

impl Missed {
    /// Nothing was even tried.
    pub fn nothing() -> Missed {
        Missed { state: None, push: Vec::new(), broken: Vec::new(), size: f64::INFINITY }
    }
}

/// The symbols and equations of the search; made once, used by every attempt.
pub(crate) struct Search<'s, 'r> {
    rates: &'r Rates<'s>,
    with: Symmetry,
    others: Vec<Symmetry>,
    /// q, p in a model given by H, λ and α.
    unknowns: Vec<Symbol>,
    /// The equations R, φ and ψ; in a model given by H, those for p after them.
    equations: Vec<ExprId>,
    /// What velocities are replaced by: ξ(q) itself.
    velocities: Vec<(Symbol, ExprId)>,
    slopes: OnceCell<Jacobian>,
    /// Natural sizes of q and v.
    sizes: (Vec<f64>, Vec<f64>),
    /// Natural sizes of λ: what makes a force as large as those there are.
    multiplier_sizes: Vec<f64>,
    /// The largest force, in natural units.
    force: f64,
}

impl<'s, 'r> Search<'s, 'r> {
    pub fn new(
        rates: &'r Rates<'s>,
        symmetries: &Symmetries,
        with: &Symmetry,
        near: &Point,
    ) -> Search<'s, 'r> {
        let exprs = &rates.setting.model.exprs;
        let (n, e) = (rates.n, &rates.equations);
        let amounts: Vec<Symbol> = (0..symmetries.others.len())
            .map(|k| exprs.symbol(&format!("alpha[{}]", k + 1), SymbolKind::Constant))
            .collect();
        let number =
            |x: f64| exprs.of_number(Number::from_f64(x).unwrap_or_else(|| Number::integer(0)));
        let symbol = |s: Symbol| exprs.at(exprs.of_symbol(s));
        // Every entry of B and c is linear in the amounts.
        let entry = |pick: &dyn Fn(&Symmetry) -> f64| -> ExprId {
            let mut terms = vec![number(pick(with))];
            for (symmetry, &amount) in symmetries.others.iter().zip(&amounts) {
                let x = pick(symmetry);
                if x != 0.0 {
                    terms.push((exprs.at(number(x)) * symbol(amount)).id);
                }
            }
            exprs.sum(&terms)
        };
        let turned = |x: &[ExprId], i: usize| -> Vec<ExprId> {
            (0..n).map(|j| (exprs.at(entry(&|s| s.turn[i * n + j])) * exprs.at(x[j])).id).collect()
        };
        let q: Vec<ExprId> = e.positions().iter().map(|&s| exprs.of_symbol(s)).collect();
        let moved: Vec<ExprId> = (0..n)
            .map(|i| {
                let mut terms = turned(&q, i);
                terms.push(entry(&|s| s.shift[i]));
                exprs.sum(&terms)
            })
            .collect();
        let by_momenta = by_momenta(rates.setting);
        let own: Vec<ExprId> = e.v.iter().map(|&s| exprs.of_symbol(s)).collect();
        let v = if by_momenta { &own } else { &moved };
        let mut replaced: Vec<(Symbol, ExprId)> =
            (0..n).map(|i| (rates.residual.accelerations[i], exprs.sum(&turned(v, i)))).collect();
        if !by_momenta {
            replaced.extend(e.v.iter().copied().zip(moved.iter().copied()));
        }
        let mut equations = rates.residual.dynamics.clone();
        equations.extend(e.configuration_residuals.iter().map(|r| r.1));
        equations.extend(e.velocity_residuals.iter().map(|r| r.1));
        let states = exprs.substitute(&e.kinematics[n..], &replaced);
        let mut equations = exprs.substitute(&equations, &replaced);
        let mut unknowns = e.q.clone();
        if by_momenta {
            let off = |i: usize| (exprs.at(e.kinematics[i]) - exprs.at(moved[i])).id;
            equations.extend((0..n).map(off));
            unknowns.extend(&e.v);
        }
        // The rates of states vanish.
        equations.extend(states);
        unknowns.extend(&rates.residual.multipliers);
        unknowns.extend(&amounts);
        let velocities = rates.setting.model.system.velocities();
        Search {
            rates,
            with: with.clone(),
            others: symmetries.others.clone(),
            unknowns,
            equations,
            velocities: velocities.into_iter().zip(moved).collect(),
            slopes: OnceCell::new(),
            sizes: scales(rates, near),
            multiplier_sizes: multiplier_sizes(rates, near),
            force: largest_force(rates, near),
        }
    }

    /// The symmetry that goes with time.
    pub fn with(&self) -> &Symmetry {
        &self.with
    }

    /// The steady state nearest to a guess, with the motion along the symmetries near the given
    /// amounts; at rest, all of them are 0.
    pub fn find(
        &self,
        guess: &State,
        multipliers: &[f64],
        amounts: &[f64],
        held: &[&Given],
        rest: bool,
    ) -> Result<State, Box<Missed>> {
        let (none, all) = (vec![false; amounts.len()], vec![true; amounts.len()]);
        if rest {
            let zero = vec![0.0; amounts.len()];
            return self.find_with(guess, multipliers, &zero, held, &all).map(|found| found.0);
        }
        let (state, found, multipliers) =
            self.find_with(guess, multipliers, amounts, held, &none)?;
        // An amount that tends to 0 as a double root (turning, where the centrifugal force must
        // vanish) is only found to half its digits; without it the rest is regular.
        let of_rate = if by_momenta(self.rates.setting) { &self.sizes.0 } else { &self.sizes.1 };
        let speed = |k: usize| {
            let moved = self.others[k].moved(&state.q);
            let scaled: Vec<f64> = moved.iter().zip(of_rate).map(|(x, s)| x / s).collect();
            found[k].abs() * norm(&scaled)
        };
        let speeds: Vec<f64> = (0..found.len()).map(speed).collect();
        let small: Vec<bool> = speeds.iter().map(|s| *s < 1e-4 * largest(&speeds)).collect();
        if !small.contains(&true) {
            return Ok(state);
        }
        let kept: Vec<f64> =
            found.iter().zip(&small).map(|(&x, &small)| if small { 0.0 } else { x }).collect();
        let without = self.find_with(&state, &multipliers, &kept, held, &small);
        Ok(without.map_or(state, |found| found.0))
    }

    /// The same, some amounts being held; with the state the amounts and multipliers.
    fn find_with(
        &self,
        guess: &State,
        multipliers: &[f64],
        amounts: &[f64],
        held: &[&Given],
        fixed_amounts: &[bool],
    ) -> Result<(State, Vec<f64>, Vec<f64>), Box<Missed>> {
        let setting = self.rates.setting;
        let exprs = &setting.model.exprs;
        let (n, wide) = (self.rates.n, self.rates.wide);
        let by_momenta = by_momenta(setting);
        let unknowns = &self.unknowns;
        let mut values = guess.q.clone();
        // The amount of a symmetry is measured by the velocity it makes.
        let (of_q, of_v) = &self.sizes;
        let of_rate = if by_momenta { of_q } else { of_v };
        // Units in which the guess is 1, so that nothing depends on the user's.
        let largest_in = |x: &[f64], sizes: &[f64]| {
            x.iter().zip(sizes).fold(0f64, |m, (x, s)| m.max((x / s).abs()))
        };
        let or = |x: f64, other: f64| if x > 0.0 { x } else { other };
        let long = or(largest_in(&guess.q, of_q), 1.0);
        let fast = or(largest_in(&guess.velocity, of_rate), (self.force * long).sqrt());
        let mut sizes: Vec<f64> = of_q.iter().map(|s| s * long).collect();
        // States have no size of their own.
        sizes.resize(wide, 0.0);
        if by_momenta {
            values.extend(&guess.momentum);
            sizes.extend(of_v.iter().map(|s| s * or(largest_in(&guess.momentum, of_v), fast)));
        }
        values.extend(multipliers);
        sizes.extend(&self.multiplier_sizes);
        for (symmetry, amount) in self.others.iter().zip(amounts) {
            let moved = symmetry.moved(&guess.q);
            let speed = norm(&moved.iter().zip(of_rate).map(|(x, s)| x / s).collect::<Vec<_>>());
            sizes.push(if speed > 0.0 { fast / speed } else { 0.0 });
            values.push(*amount);
        }
        let table = guess.table(&setting.model.system);
        let mut fixed = vec![false; unknowns.len()];
        fixed[unknowns.len() - amounts.len()..].copy_from_slice(fixed_amounts);
        let mut more: Vec<ExprId> = Vec::new();
        for item in held {
            let value = setting.number(item.right, &table);
            let constant = setting.constants().0;
            let symbols = exprs.symbols_of(&[item.right]);
            let known = symbols.iter().all(|s| constant.contains(s));
            let place =
                exprs.as_symbol(item.left).and_then(|s| unknowns.iter().position(|&u| u == s));
            match place {
                Some(at) if known && value.is_finite() && !fixed[at] => {
                    fixed[at] = true;
                    values[at] = value;
                }
                _ => {
                    let off = (exprs.at(item.left) - exprs.at(item.right)).id;
                    more.extend(exprs.substitute(&[off], &self.velocities));
                }
            }
        }
        let slopes = self.slopes.get_or_init(|| exprs.jacobian(&self.equations, unknowns));
        let slopes_more = exprs.jacobian(&more, unknowns);
        let free: Vec<usize> = (0..unknowns.len()).filter(|&j| !fixed[j]).collect();
        let mut column = vec![None; unknowns.len()];
        free.iter().enumerate().for_each(|(k, &j)| column[j] = Some(k));
        let roots: Vec<ExprId> = self.equations.iter().chain(&more).copied().collect();
        let entries: Vec<(usize, usize, ExprId)> = slopes
            .rows
            .iter()
            .chain(&slopes_more.rows)
            .enumerate()
            .flat_map(|(i, row)| row.iter().map(move |&(j, s)| (i, j, s)))
            .filter_map(|(i, j, s)| column[j].map(|k| (i, k, s)))
            .collect();
        let slope_ids: Vec<ExprId> = entries.iter().map(|x| x.2).collect();
        let placed = |x: &[f64]| {
            let mut all = values.clone();
            free.iter().zip(x).for_each(|(&j, &x)| all[j] = x);
            all
        };
        let at = |x: &[f64]| -> Option<Values> {
            let mut table = table.clone();
            table.set_all(unknowns, &placed(x));
            let found = setting.evaluate(&roots, &table);
            let numbers = setting.numbers(&slope_ids, &table);
            let finite = found.iter().all(|v| v.value.is_finite());
            if !finite || numbers.iter().any(|x| !x.is_finite()) {
                return None;
            }
            let mut jacobian = vec![0.0; roots.len() * free.len()];
            let places = entries.iter().map(|&(i, k, _)| i * free.len() + k);
            places.zip(numbers).for_each(|(place, x)| jacobian[place] = x);
            let noise = found.iter().map(|v| if v.noise.is_finite() { v.noise } else { 0.0 });
            Some(Values {
                residuals: found.iter().map(|v| v.value).collect(),
                noise: noise.collect(),
                jacobian,
            })
        };
        let problem = Equations {
            guess: free.iter().map(|&j| values[j]).collect(),
            sizes: free.iter().map(|&j| sizes[j]).collect(),
            counted: free
                .iter()
                .map(|&j| !self.rates.residual.multipliers.contains(&unknowns[j]))
                .collect(),
            at: &at,
        };
        let ended = problem.solve();
        let all = placed(&ended.x);
        let q = all[..wide].to_vec();
        let (rest, amounts) = all.split_at(all.len() - self.others.len());
        let multipliers = rest[rest.len() - self.rates.m..].to_vec();
        let amounts = amounts.to_vec();
        let state = if by_momenta {
            State::of_momenta(setting, guess.t, q, all[wide..wide + n].to_vec())
        } else {
            let along = self.with.plus(&self.others, &amounts);
            let velocity = along.moved(&q);
            State::of_velocities(setting, guess.t, q, velocity)
        };
        match state {
            Ok(state) if ended.is_met() => Ok((state, amounts, multipliers)),
            state => Err(Box::new(self.missed(&ended, state.ok()))),
        }
    }

    fn missed(&self, ended: &Ended, state: Option<State>) -> Missed {
        let (n, e) = (self.rates.n, &self.rates.equations);
        // Where nothing could be evaluated, nothing is known to be left.
        let finite = |r: &&f64| r.is_finite();
        let at = |i: usize| ended.residuals.get(i).filter(finite).copied().unwrap_or(0.0);
        let rows = e.configuration_residuals.iter().chain(&e.velocity_residuals);
        let broken: Vec<(usize, f64)> =
            rows.enumerate().map(|(i, r)| (r.0, at(n + i))).filter(|b| b.1 != 0.0).collect();
        // R = −(force that is left).
        let push: Vec<f64> = (0..n).map(|i| -at(i) + 0.0).collect();
        Missed { state, size: largest(&ended.residuals), push, broken }
    }
}
