//! Whether rows that doubles take for dependent do follow from the others.
//!
//! A row that floating point leaves out may be implied by those in use, or it may say something
//! of its own, next to nothing in size: sin x + y + z = 1 and sin(x + εz) + y + z = 1 together
//! determine z = 0, however small ε is. Doubles cannot tell the two apart, more digits can:
//!
//! 1. A point next to the state, so that a singular position is not taken for a dependence, and
//!    rows I that are independent there, the others being D.
//! 2. The point is brought onto the rows I in extended precision. Each step solves with the
//!    factors in doubles of A_I and gains what these are exact to, φ being evaluated with all
//!    digits: q ← q − A_I⁺ φ_I(q).
//! 3. What is left of each row of D beside those of I, r = a − A_Iᵀw with w refined in the same way.
//!
//! A row with |r|/|a| at the precision's end follows from the others at this point, and, the
//! functions being analytic, near it. One with more nearly does, by that ratio. Two points must
//! agree, as a ratio that falls from point to point is that of a singular position nearby.
//!
//! Where no point on the rows is found, rows that follow from the others even off them do.

mod chosen;
mod digits;
mod problem;
mod rounded;

use crate::setting::tolerances::dependence::{DISTANCES, FALL, INDEPENDENT, NOWHERE, PART};
use crate::setting::{Setting, Table};
use dalembert_derive::Auxiliary;
use dalembert_expr::{ExprId, Jacobian, Symbol};
use dalembert_gauss::Pattern;
use dalembert_gauss::sparse::dependent_sets;
use problem::{At, Problem};
pub(super) use rounded::Rounded;
use rustc_hash::{FxHashMap, FxHashSet};

/// A row that nearly depends on others.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearly {
    /// What it adds to the others, relative to itself.
    pub ratio: f64,
    /// Its constraint.
    pub row: usize,
    /// Those that it nearly follows from.
    pub others: Vec<usize>,
}

impl Nearly {
    /// All constraints that have to do with it.
    pub fn constraints(&self) -> Vec<usize> {
        let mut all = self.others.clone();
        all.push(self.row);
        all.sort_unstable();
        all
    }
}

/// Constraint rows and their functions.
pub(crate) struct Rows<'a> {
    /// The constraint of each row.
    pub constraints: &'a [usize],
    /// Positions and velocities.
    pub q: &'a [Symbol],
    pub v: &'a [Symbol],
    pub jacobian: &'a Jacobian,
    /// (constraint, φ) and (constraint, ψ).
    pub phi: &'a [(usize, ExprId)],
    pub psi: &'a [(usize, ExprId)],
    /// Momenta without a formula that the rows go by.
    pub auxiliary: Option<&'a Auxiliary>,
}

/// Points are looked for with up to this many entries of A; of larger systems, those parts that
/// doubles take for dependent.
const LARGEST: usize = 400_000;

/// What is known of rows that doubles take for dependent.
#[derive(Clone, Debug, PartialEq)]
pub enum Dependence {
    /// There are none beside the state: it is singular.
    Singular,
    /// They follow from the others.
    Follows,
    /// They nearly do: the row that adds the most to the others.
    Nearly(Nearly),
    /// More digits do not tell.
    Undecided(Doubt),
}

/// Why more digits do not tell whether rows follow from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The rows go by velocities for which there is no formula.
    NoFormula,
    /// They are independent, and rounding hides it.
    Rounding,
    /// A row has no gradient where it holds, and the others do not imply it.
    NoGradient,
    /// There are more rows and coordinates than are looked at with more digits.
    TooMany,
    /// No point was found beside the state where the others hold and all functions have values.
    NoPoint,
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Doubt::NoFormula => "they go by quantities that have no formula",
            Doubt::Rounding => "they do not follow, and rounding hides what they add",
            Doubt::NoGradient => "one of them has no gradient where it holds, as z² = 0",
            Doubt::TooMany => "too many rows have to do with each other",
            Doubt::NoPoint => {
                "no point was found beside the state where the others hold and have derivatives"
            }
        })
    }
}

/// What is known of rows that doubles take for dependent near a point.
pub(crate) fn dependence(setting: &Setting, rows: &Rows, at: (f64, Table)) -> Dependence {
    // A row that is another once more follows from it, whatever the state.
    let different = different(rows);
    if different.len() < rows.constraints.len() {
        let part = Part::new(setting, rows, &different);
        let rows = part.rows(rows);
        return match are_independent(setting, &rows, &at.1) {
            true => Dependence::Follows,
            false => dependence(setting, &rows, at),
        };
    }
    if rows.constraints.len() * rows.v.len() > LARGEST {
        return of_many(setting, rows, at);
    }
    let (t, table) = at;
    let mut problem = match Problem::new(setting, rows, t, table) {
        Ok(problem) => problem,
        Err(dependence) => return dependence,
    };
    problem.settle_state();
    if problem.at(0.0, 0) == At::Independent {
        return Dependence::Undecided(Doubt::Rounding);
    }
    let mut first: Option<Nearly> = None;
    let mut is_singular = false;
    for (at, distance) in DISTANCES.into_iter().enumerate() {
        let found = match problem.at(distance, at as u64 + 1) {
            At::Nearly(nearly) => nearly,
            At::Follows => return Dependence::Follows,
            At::Independent => {
                is_singular = true;
                continue;
            }
            At::Nowhere => continue,
            At::NoGradient => return Dependence::Undecided(Doubt::NoGradient),
        };
        match &first {
            None => first = Some(found),
            Some(before) => {
                let is_general =
                    found.ratio * FALL > before.ratio || found.ratio.max(before.ratio) < NOWHERE;
                return if is_general { Dependence::Nearly(found) } else { Dependence::Singular };
            }
        }
    }
    match first {
        Some(nearly) if nearly.ratio < NOWHERE => Dependence::Nearly(nearly),
        _ if is_singular => Dependence::Singular,
        _ => Dependence::Undecided(Doubt::NoPoint),
    }
}

/// The rows without those that say the same as one before them: the same functions with the same
/// derivatives.
fn different(rows: &Rows) -> Vec<usize> {
    let of = |list: &[(usize, ExprId)]| list.iter().copied().collect::<FxHashMap<_, _>>();
    let (phi, psi) = (of(rows.phi), of(rows.psi));
    let mut seen = FxHashSet::default();
    let mut is_new = |row: usize, entries: &[(usize, ExprId)]| {
        let functions = (phi.get(&row), psi.get(&row));
        // Rows on accelerations alone have right-hand sides that are not known here.
        functions == (None, None) || seen.insert((functions, entries.to_vec()))
    };
    let list = rows.constraints.iter().zip(&rows.jacobian.rows).enumerate();
    list.filter_map(|(at, (&row, entries))| is_new(row, entries).then_some(at)).collect()
}

/// Whether rows are independent by far at a state.
fn are_independent(setting: &Setting, rows: &Rows, table: &Table) -> bool {
    let entries: Vec<ExprId> = rows.jacobian.rows.iter().flatten().map(|e| e.1).collect();
    let values = setting.numbers(&entries, table);
    values.iter().all(|a| a.is_finite())
        && dependent_sets(&pattern(rows.jacobian), &values, INDEPENDENT, PART).is_empty()
}

fn pattern(jacobian: &Jacobian) -> Pattern {
    Pattern::new(jacobian.columns, jacobian.rows.iter().map(|row| row.iter().map(|e| e.0)))
}

/// What is known of the rows of a large system: each row that doubles take for dependent, with those
/// that it depends on, by itself.
fn of_many(setting: &Setting, rows: &Rows, (t, table): (f64, Table)) -> Dependence {
    let problem = match Problem::new(setting, rows, t, table.clone()) {
        Ok(problem) => problem,
        Err(dependence) => return dependence,
    };
    let places = rows.jacobian.rows.iter().flatten().map(|e| e.0);
    let values = setting.numbers(&problem.entries, &table);
    let values: Vec<f64> = values.iter().zip(places).map(|(a, i)| a * problem.units[i]).collect();
    if values.iter().any(|a| !a.is_finite()) {
        return Dependence::Undecided(Doubt::NoPoint);
    }
    let sets = dependent_sets(&pattern(rows.jacobian), &values, INDEPENDENT, PART);
    let mut worst = Dependence::Singular;
    for set in sets {
        let part = Part::new(setting, rows, &set);
        if part.constraints.len() * part.v.len() > LARGEST {
            return Dependence::Undecided(Doubt::TooMany);
        }
        match (dependence(setting, &part.rows(rows), (t, table.clone())), &worst) {
            (Dependence::Undecided(why), _) => return Dependence::Undecided(why),
            (Dependence::Nearly(found), Dependence::Nearly(before))
                if found.ratio <= before.ratio => {}
            (Dependence::Nearly(found), _) => worst = Dependence::Nearly(found),
            (Dependence::Follows, Dependence::Singular) => worst = Dependence::Follows,
            _ => {}
        }
    }
    worst
}

/// Some of the rows, in the coordinates that they depend on.
struct Part {
    constraints: Vec<usize>,
    q: Vec<Symbol>,
    v: Vec<Symbol>,
    jacobian: Jacobian,
    phi: Vec<(usize, ExprId)>,
    psi: Vec<(usize, ExprId)>,
}

impl Part {
    fn new(setting: &Setting, rows: &Rows, set: &[usize]) -> Part {
        let constraints: Vec<usize> = set.iter().map(|&row| rows.constraints[row]).collect();
        let chosen: FxHashSet<usize> = constraints.iter().copied().collect();
        let own = |list: &[(usize, ExprId)]| -> Vec<(usize, ExprId)> {
            list.iter().copied().filter(|r| chosen.contains(&r.0)).collect()
        };
        let (phi, psi) = (own(rows.phi), own(rows.psi));
        let entries = set.iter().flat_map(|&row| &rows.jacobian.rows[row]);
        let mut all: Vec<ExprId> = phi.iter().chain(&psi).map(|r| r.1).collect();
        all.extend(entries.clone().map(|e| e.1));
        let symbols: FxHashSet<Symbol> = setting.model.exprs.symbols_of(&all).into_iter().collect();
        let mut is_in: Vec<bool> = (0..rows.v.len())
            .map(|j| symbols.contains(&rows.q[j]) || symbols.contains(&rows.v[j]))
            .collect();
        entries.for_each(|e| is_in[e.0] = true);
        let columns: Vec<usize> = (0..rows.v.len()).filter(|&j| is_in[j]).collect();
        let place = |j: usize| columns.binary_search(&j).unwrap_or(0);
        let of_row = |&row: &usize| -> Vec<(usize, ExprId)> {
            rows.jacobian.rows[row].iter().map(|e| (place(e.0), e.1)).collect()
        };
        let jacobian = Jacobian { rows: set.iter().map(of_row).collect(), columns: columns.len() };
        let q = columns.iter().map(|&j| rows.q[j]).collect();
        let v = columns.iter().map(|&j| rows.v[j]).collect();
        Part { constraints, q, v, jacobian, phi, psi }
    }

    fn rows<'a>(&'a self, all: &Rows<'a>) -> Rows<'a> {
        Rows {
            constraints: &self.constraints,
            q: &self.q,
            v: &self.v,
            jacobian: &self.jacobian,
            phi: &self.phi,
            psi: &self.psi,
            auxiliary: all.auxiliary,
        }
    }
}
