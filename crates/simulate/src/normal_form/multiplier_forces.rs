//! Forces as functions of multipliers, branch by branch.
//!
//! `abs(multiplier(n))` bends where the normal force changes its sign, and friction may
//! jump there. With the branches frozen the forces are smooth in λ; a solution counts if
//! it lies on the branch it was found on. Few branches are all tried, which tells whether
//! there is exactly one solution where the forces are affine in λ on each.

use crate::setting::{Setting, Table};
use dalembert_derive::EquationsOfMotion;
use dalembert_expr::{ExprId, Exprs, Jacobian, Switch, SwitchKind, Symbol};
use dalembert_gauss::Solver;
use dalembert_gauss::coupled::{Coupled, CoupledError, Forces, Law};
use dalembert_gauss::eliminations::{Elimination, Scratch};
use dalembert_gauss::outcome::Outcome;
use dalembert_gauss::terms::{Terms, Tolerances};
use dalembert_model::system::System;

/// Up to so many switches that depend on multipliers, all their branches are tried.
const ALL_BRANCHES: usize = 6;
/// Of more switches, so many branches are followed.
const MOST_BRANCHES: usize = 64;
/// Solutions closer than this are one.
const SAME: f64 = 1e-9;

/// What a branch has: the multipliers solved for on it, and the branches they are on.
pub struct Attempt {
    /// λ̄.
    pub lambda: Vec<f64>,
    /// The modes there.
    pub modes: Vec<f64>,
}

/// Solves on a branch; `None` where there is no solution.
pub type Attempts<'a> = dyn FnMut(&[f64]) -> Result<Option<Attempt>, CoupledError> + 'a;

/// The modes whose solution lies on them, if there is one and one only.
pub fn only_branch(
    kinds: &[SwitchKind],
    attempt: &mut Attempts<'_>,
) -> Result<Vec<f64>, CoupledError> {
    let lower = |kind: SwitchKind| if kind == SwitchKind::Sign { -1.0 } else { 0.0 };
    let count = kinds.len();
    if count <= ALL_BRANCHES {
        let mut found: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        for bits in 0..1usize << count {
            let modes: Vec<f64> = (0..count)
                .map(|i| if bits >> i & 1 == 0 { 1.0 } else { lower(kinds[i]) })
                .collect();
            let Some(tried) = attempt(&modes)? else { continue };
            let is_new = || found.iter().all(|(_, lambda)| !is_same(lambda, &tried.lambda));
            if agree(kinds, &modes, &tried.modes) && is_new() {
                found.push((modes, tried.lambda));
            }
        }
        return match found.len() {
            0 => Err(CoupledError::NoSolution),
            1 => Ok(found.swap_remove(0).0),
            _ => Err(CoupledError::Several),
        };
    }
    let mut modes = vec![1.0; count];
    for _ in 0..MOST_BRANCHES {
        let Some(tried) = attempt(&modes)? else { return Err(CoupledError::NoSolution) };
        if agree(kinds, &modes, &tried.modes) {
            return Ok(modes);
        }
        for ((own, found), kind) in modes.iter_mut().zip(&tried.modes).zip(kinds) {
            if *found != 0.0 || *kind == SwitchKind::Condition {
                *own = *found;
            }
        }
    }
    Err(CoupledError::NoSolution)
}

/// Whether a solution is on the branches it was found on. A sign that is 0 is on either.
pub fn agree(kinds: &[SwitchKind], own: &[f64], found: &[f64]) -> bool {
    let mut pairs = own.iter().zip(found).zip(kinds);
    pairs.all(|((a, b), kind)| a == b || (*b == 0.0 && *kind == SwitchKind::Sign))
}

fn is_same(a: &[f64], b: &[f64]) -> bool {
    let size = a.iter().chain(b).fold(0f64, |m, x| m.max(x.abs()));
    a.iter().zip(b).all(|(a, b)| (a - b).abs() <= SAME * size)
}

/// Which switches depend on some symbols, be it by way of other switches.
pub fn dependent(exprs: &Exprs, switches: &[Switch], symbols: &[Symbol]) -> Vec<usize> {
    let mut moved: rustc_hash::FxHashSet<Symbol> = symbols.iter().copied().collect();
    let mut list = Vec::new();
    // What is inside of a switch comes before it.
    for (at, switch) in switches.iter().enumerate() {
        let mut roots = switch.guards.clone();
        roots.push(switch.value);
        if exprs.symbols_of(&roots).iter().any(|s| moved.contains(s)) {
            moved.insert(switch.mode);
            list.push(at);
        }
    }
    list
}

/// Which multipliers belong to constraints that inputs hold.
pub fn directed(system: &System, constraints: &[usize]) -> Vec<bool> {
    constraints.iter().map(|&row| system.constraints[row].servo).collect()
}

/// D = ∂(F + C)/∂λ.
pub fn derivatives(
    exprs: &Exprs,
    force: &[ExprId],
    nonideal: &[ExprId],
    by: &[Symbol],
) -> Jacobian {
    let total: Vec<ExprId> =
        force.iter().zip(nonideal).map(|(&f, &c)| (exprs.at(f) + exprs.at(c)).id).collect();
    exprs.jacobian(&total, by)
}

/// The forces of equations with their branches frozen.
#[derive(Clone, Debug)]
pub struct Frozen {
    symbols: Vec<Symbol>,
    /// The row of each multiplier that occurs.
    places: Vec<Option<usize>>,
    roots: Vec<ExprId>,
    slopes: Jacobian,
    switches: Vec<Switch>,
    dependent: Vec<usize>,
    /// The constraint of each multiplier that occurs.
    constraints: Vec<usize>,
}

impl Frozen {
    /// The forces of equations; `None` if they depend on no multiplier.
    pub fn new(exprs: &Exprs, equations: &EquationsOfMotion) -> Option<Frozen> {
        if equations.multipliers.is_empty() {
            return None;
        }
        let symbols: Vec<Symbol> = equations.multipliers.iter().map(|m| m.1).collect();
        let both: Vec<ExprId> =
            equations.force.iter().chain(&equations.nonideal).copied().collect();
        let (mut roots, switches) = exprs.freeze_switches(&both);
        let (force, nonideal) = roots.split_at(equations.force.len());
        let slopes = derivatives(exprs, force, nonideal, &symbols);
        roots.extend(slopes.rows.iter().flatten().map(|e| e.1));
        Some(Frozen {
            places: equations.multiplier_rows(),
            dependent: dependent(exprs, &switches, &symbols),
            symbols,
            roots,
            slopes,
            switches,
            constraints: equations.multipliers.iter().map(|m| m.0).collect(),
        })
    }

    /// Solves for the motion and the multipliers at the values of a table, by an
    /// elimination; sets the multipliers in the table.
    pub fn solve(
        &self,
        setting: &Setting,
        table: &mut Table,
        terms: &Terms,
        elimination: &dyn Elimination,
        tolerances: &Tolerances,
        outcome: &mut Outcome,
    ) -> Result<Coupled, CoupledError> {
        // Branches that do not depend on multipliers are those of the state.
        for (at, switch) in self.switches.iter().enumerate() {
            if !self.dependent.contains(&at) {
                let mode = setting.number(switch.value, table);
                table.set(switch.mode, mode);
            }
        }
        let kinds: Vec<SwitchKind> =
            self.dependent.iter().map(|&at| self.switches[at].kind).collect();
        let mut coupled = Coupled::new(self.symbols.len(), terms.n, terms.m)
            .directed(&directed(&setting.model.system, &self.constraints));
        let mut scratch = Scratch::default();
        let mut on = |modes: &[f64], table: &mut Table, coupled: &mut Coupled| {
            for (&at, &mode) in self.dependent.iter().zip(modes) {
                table.set(self.switches[at].mode, mode);
            }
            coupled.forget();
            let mut law = AtTable { frozen: self, setting, table };
            let places = &self.places;
            let mut solver = Solver::new(elimination, tolerances, &mut scratch, None);
            coupled.solve(&mut law, terms, places, &mut solver, outcome)
        };
        let mut failure = None;
        let modes = only_branch(&kinds, &mut |modes| {
            if let Err(error) = on(modes, table, &mut coupled) {
                failure = Some(error);
                return Ok(None);
            }
            table.set_all(&self.symbols, &coupled.lambda);
            let values: Vec<ExprId> =
                self.dependent.iter().map(|&at| self.switches[at].value).collect();
            let modes = setting.numbers(&values, table);
            Ok(Some(Attempt { lambda: coupled.lambda.clone(), modes }))
        });
        // Where no branch has a solution and forces had no value on one, that is why.
        let modes = modes.map_err(|error| match failure {
            Some(failure @ CoupledError::Solve(_)) if error == CoupledError::NoSolution => failure,
            Some(failure) if kinds.is_empty() => failure,
            _ => error,
        })?;
        on(&modes, table, &mut coupled)?;
        table.set_all(&self.symbols, &coupled.lambda);
        coupled.check()?;
        Ok(coupled)
    }

    /// As [`Coupled::ambiguous`], by constraint.
    pub fn ambiguous(
        &self,
        equations: &EquationsOfMotion,
        coupled: &Coupled,
        terms: &Terms,
        open: &[bool],
    ) -> Result<(), CoupledError> {
        match coupled.ambiguous(terms, &self.places, open) {
            Some(place) => Err(CoupledError::NotUnique { row: equations.rows[place] }),
            None => Ok(()),
        }
    }
}

/// Forces by the values of a table.
struct AtTable<'a> {
    frozen: &'a Frozen,
    setting: &'a Setting,
    table: &'a mut Table,
}

impl Law for AtTable<'_> {
    fn evaluate(&mut self, lambda: &[f64], at: &mut Forces) {
        self.table.set_all(&self.frozen.symbols, lambda);
        let values = self.setting.numbers(&self.frozen.roots, self.table);
        let n = at.force.len();
        at.force.copy_from_slice(&values[..n]);
        at.nonideal.copy_from_slice(&values[n..2 * n]);
        at.slopes.fill(0.0);
        let mut next = values[2 * n..].iter();
        for (i, row) in self.frozen.slopes.rows.iter().enumerate() {
            for &(c, _) in row {
                at.slopes[c * n + i] = next.next().copied().unwrap_or(0.0);
            }
        }
    }
}
