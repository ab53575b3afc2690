//! Relations φ(q, t) = c behind integrable rows at velocity level.
//!
//! Frobenius says how many there are; a formula is looked for as follows. A form that
//! is closed is integrated coordinate by coordinate. One that is not is multiplied by
//! simple factors: 1/ω_i, 1/ω_i², 1/x_a, 1/(x_a x_b), 1/(x_a² + x_b²). The forms are
//! the rows as written and the annihilator of D_∞; where a coordinate is constant on
//! all leaves (φ = x_d), others are integrated with x_d held fixed.
//!
//! Nothing is claimed that was not verified: dφ lies in the span of the rows, by the
//! rank of both, and is independent of what was found before. Where no formula is
//! found, Frobenius' count stands.

use crate::integrability::Integrability;
use crate::pfaff::Pfaffian;
use crate::places::{Places, matrix_of};
use crate::rows::{Forms, parameter_values};
use crate::shown::Shown;
use dalembert_derive::matrix::{self, Inverse};
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_gauss::linalg::svd::Svd;
use dalembert_model::system::Level;
use dalembert_simulate::{Setting, State};

/// Forms of more nodes are left alone.
const LARGEST: usize = 250;
/// Factors are tried on forms of no more nodes.
const SMALL: usize = 80;

/// A relation φ(q, t) = c that follows from rows at velocity level.
#[derive(Clone, Debug)]
pub struct Potential {
    /// φ.
    pub expression: ExprId,
    /// c at the start.
    pub value: f64,
    /// The constraints it follows from.
    pub rows: Vec<usize>,
    /// How it was established.
    pub shown: Shown,
}

struct Search<'a> {
    exprs: &'a Exprs,
    forms: &'a Forms,
    places: &'a Places,
    values: Vec<(Symbol, ExprId)>,
    /// Differentials of what is known, parameters put in.
    known: Vec<Vec<ExprId>>,
    /// Coordinates that are constant on the leaves.
    held: Vec<usize>,
}

/// Potentials of integrable combinations.
pub fn potentials(
    setting: &Setting,
    forms: &Forms,
    found: &Integrability,
    places: &Places,
    state: &State,
) -> Vec<Potential> {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let is_velocity = |row: usize| system.constraints[row].level == Level::Velocity;
    let Some(flag) = &found.flag else { return Vec::new() };
    let wanted = found.integrable.unwrap_or(0);
    if !forms.rows.iter().any(|&r| is_velocity(r)) {
        return Vec::new();
    }
    let size = forms.x.len();
    let dense = |row: &[(usize, ExprId)]| {
        let mut full = vec![ExprId::ZERO; size];
        row.iter().for_each(|&(at, e)| full[at] = e);
        full
    };
    let mut search = Search {
        exprs,
        forms,
        places,
        values: parameter_values(exprs, system),
        known: Vec::new(),
        held: Vec::new(),
    };
    // Rows among positions are potentials that are written already.
    for (at, &row) in forms.rows.iter().enumerate() {
        if !is_velocity(row) {
            search.add(dense(&forms.forms.rows[at]));
        }
    }
    let mut candidates: Vec<Vec<ExprId>> = Vec::new();
    for (at, &row) in forms.rows.iter().enumerate() {
        if is_velocity(row) && found.rows[row] != Some(crate::rows::Integrable::Not) {
            candidates.push(dense(&forms.named.rows[at]));
        }
    }
    let named = Pfaffian { exprs, x: forms.x.clone(), forms: forms.named.clone() };
    let fields = if flag.is_involutive() {
        let all: Vec<usize> = (0..size).collect();
        let chosen = matrix::part(&forms.named, &flag.independent, &all);
        named.basis(&chosen, &flag.dependent)
    } else {
        Some(flag.fields.clone())
    };
    if let Some(fields) = fields {
        candidates.extend(annihilator(exprs, &fields, size, places));
    }
    candidates.retain(|form| exprs.count_nodes(form) <= LARGEST);
    let mut list: Vec<Potential> = Vec::new();
    // Again once more is held fixed.
    for _ in 0..3 {
        let before = list.len();
        for form in &candidates {
            if search.known.len() >= wanted {
                break;
            }
            let Some(phi) = search.integrate(form) else { continue };
            let Some((differential, shown)) = search.verify(phi) else { continue };
            let rows = search.origin(&differential).into_iter().map(|at| forms.rows[at]).collect();
            search.add(differential);
            let value = setting.number(phi, &state.table(system));
            if value.is_finite() {
                list.push(Potential { expression: phi, value, rows, shown });
            }
        }
        if search.known.len() >= wanted || list.len() == before {
            break;
        }
    }
    list
}

/// One-forms dx_d − Σ w_c dx_c that vanish on all fields.
fn annihilator(
    exprs: &Exprs,
    fields: &[Vec<ExprId>],
    size: usize,
    places: &Places,
) -> Vec<Vec<ExprId>> {
    let all = matrix_of(fields, size);
    let Some(ranked) = places.rank(exprs, &all) else { return Vec::new() };
    if ranked.rank() != fields.len() {
        return Vec::new();
    }
    let rows: Vec<usize> = (0..fields.len()).collect();
    let columns = &ranked.at.columns;
    let Some(inverse) = Inverse::new(&matrix::part(&all, &rows, columns)) else {
        return Vec::new();
    };
    let mut forms = Vec::new();
    for d in (0..size).filter(|d| !columns.contains(d)) {
        let right: Vec<ExprId> = fields.iter().map(|f| f[d]).collect();
        let mut form = vec![ExprId::ZERO; size];
        form[d] = ExprId::ONE;
        let solved = inverse.solve(exprs, &right);
        if exprs.count_nodes(&solved) > LARGEST {
            continue;
        }
        for (&c, w) in columns.iter().zip(solved) {
            let w = exprs.simplify(exprs.without_solves(exprs.simplify(w), 3));
            form[c] = (-exprs.at(w)).id;
        }
        forms.push(form);
    }
    forms
}

impl Search<'_> {
    fn add(&mut self, differential: Vec<ExprId>) {
        let mut all = self.known.clone();
        all.push(differential.clone());
        let ranked = self.places.rank(self.exprs, &matrix_of(&all, self.forms.x.len()));
        if ranked.is_some_and(|r| r.rank() == all.len()) {
            let moving: Vec<usize> =
                (0..differential.len()).filter(|&i| differential[i] != ExprId::ZERO).collect();
            if let [one] = moving[..] {
                self.held.push(one);
            }
            self.known = all;
        }
    }

    /// A potential of the form or of a multiple of it.
    fn integrate(&self, form: &[ExprId]) -> Option<ExprId> {
        let free: Vec<usize> = (0..form.len()).filter(|i| !self.held.contains(i)).collect();
        let x: Vec<Symbol> = free.iter().map(|&i| self.forms.x[i]).collect();
        let form: Vec<ExprId> = free.iter().map(|&i| form[i]).collect();
        if form.iter().all(|&e| e == ExprId::ZERO) {
            return None;
        }
        let small = self.exprs.count_nodes(&form) <= SMALL;
        let most = if small { usize::MAX } else { 1 };
        for factor in self.factors(&x, &form).into_iter().take(most) {
            let scaled: Vec<ExprId> =
                form.iter().map(|&e| (self.exprs.at(e) * self.exprs.at(factor)).id).collect();
            if !is_closed(self.exprs, &x, &scaled) {
                continue;
            }
            let scaled: Vec<ExprId> = scaled.iter().map(|&e| self.exprs.simplify(e)).collect();
            if let Some(phi) = integrate_closed(self.exprs, &x, &scaled) {
                return Some(phi);
            }
        }
        None
    }

    /// Integrating factors to try.
    fn factors(&self, x: &[Symbol], form: &[ExprId]) -> Vec<ExprId> {
        let exprs = self.exprs;
        let mut list = vec![ExprId::ONE];
        let entries = form.iter().copied().filter(|&e| e != ExprId::ZERO);
        for entry in entries {
            list.push(exprs.at(entry).powi(-1).id);
            list.push(exprs.at(entry).powi(-2).id);
        }
        let symbols = exprs.symbols_of(form);
        let present: Vec<ExprId> = x
            .iter()
            .filter(|s| symbols.contains(s) && **s != Symbol::TIME)
            .take(4)
            .map(|&s| exprs.of_symbol(s))
            .collect();
        for (i, &a) in present.iter().enumerate() {
            let a = exprs.at(a);
            list.push(a.powi(-1).id);
            for &b in &present[i + 1..] {
                let b = exprs.at(b);
                list.push((a * b).powi(-1).id);
                list.push((a.powi(2) + b.powi(2)).powi(-1).id);
            }
        }
        let mut seen = rustc_hash::FxHashSet::default();
        list.retain(|&e| seen.insert(e));
        list
    }

    /// dφ, if it lies in the span of the rows and is new.
    fn verify(&self, phi: ExprId) -> Option<(Vec<ExprId>, Shown)> {
        let (exprs, size) = (self.exprs, self.forms.x.len());
        let put = exprs.substitute(&[phi], &self.values)[0];
        let differential = exprs.gradient(put, &self.forms.x);
        let mut rows: Vec<Vec<ExprId>> = (0..self.forms.forms.rows.len())
            .map(|r| (0..size).map(|c| self.forms.forms.get(r, c)).collect())
            .collect();
        let alone = self.places.rank(exprs, &matrix_of(&rows, size))?;
        rows.push(differential.clone());
        let with = self.places.rank(exprs, &matrix_of(&rows, size))?;
        let mut known = self.known.clone();
        known.push(differential.clone());
        let new = self.places.rank(exprs, &matrix_of(&known, size))?;
        (with.rank() == alone.rank() && new.rank() == known.len())
            .then_some((differential, with.shown))
    }

    /// The forms that dφ is a combination of.
    fn origin(&self, differential: &[ExprId]) -> Vec<usize> {
        let (size, m) = (self.forms.x.len(), self.forms.forms.rows.len());
        let Some(point) = self.places.points.first() else { return (0..m).collect() };
        let number = |e: ExprId| self.exprs.eval_f64(&[e], |s| point.value(s))[0];
        let mut matrix = vec![0.0; size * m];
        for (j, row) in self.forms.forms.rows.iter().enumerate() {
            row.iter().for_each(|&(i, e)| matrix[i * m + j] = number(e));
        }
        let right: Vec<f64> = differential.iter().map(|&e| number(e)).collect();
        let mut svd = Svd::default();
        svd.decompose(&matrix, size, m);
        let mut weights = vec![0.0; m];
        svd.apply_pseudo_inverse(svd.rank(1e-10), &right, &mut weights);
        let largest = weights.iter().fold(0f64, |a, w| a.max(w.abs()));
        (0..m).filter(|&j| weights[j].abs() > 1e-9 * largest).collect()
    }
}

/// Whether ∂_i ω_j = ∂_j ω_i.
pub fn is_closed(exprs: &Exprs, x: &[Symbol], form: &[ExprId]) -> bool {
    let slopes: Jacobian = exprs.jacobian(form, x);
    let mut differences = Vec::new();
    for i in 0..x.len() {
        for j in i + 1..x.len() {
            let (a, b) = (exprs.at(slopes.get(j, i)), exprs.at(slopes.get(i, j)));
            let difference = (a - b).id;
            if difference != ExprId::ZERO {
                differences.push(difference);
            }
        }
    }
    differences.is_empty() || exprs.all_zero(&differences).is_zero()
}

/// φ with dφ = ω for a closed ω: ω_1 integrated, what is left of ω_2, and so on.
pub fn integrate_closed(exprs: &Exprs, x: &[Symbol], form: &[ExprId]) -> Option<ExprId> {
    let mut phi = ExprId::ZERO;
    for (&symbol, &entry) in x.iter().zip(form) {
        let left = exprs.at(entry) - exprs.at(exprs.derivative(phi, symbol));
        if exprs.is_zero(left.id).is_zero() {
            continue;
        }
        let part = exprs.antiderivative(exprs.simplify(exprs.expand(left.id)), symbol)?;
        phi = (exprs.at(phi) + exprs.at(part)).id;
    }
    let phi = exprs.simplify(phi);
    let off: Vec<ExprId> = exprs
        .gradient(phi, x)
        .iter()
        .zip(form)
        .map(|(&a, &b)| (exprs.at(a) - exprs.at(b)).id)
        .collect();
    exprs.all_zero(&off).is_zero().then_some(phi)
}
