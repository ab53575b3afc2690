//! The reduced bracket: J_r, the Jacobi identity and its defect.
//!
//! For scleronomic, catastatic rows and M ≻ 0, with q̇ = S(q) u and p̃ = Sᵀp,
//!
//! ```text
//! {F, G}_r = ∇Fᵀ J_r ∇G,   J_r = [[0, S], [−Sᵀ, B]]                      (19), (21)
//! Jac_abc = Σ_d J_ad ∂_d J_bc + cyclic
//! Jac(q_l, p̃_i, p̃_j) = [(I − Π_D)[S_i, S_j]]_l,   Π_D = S(SᵀMS)⁻¹SᵀM
//! ```
//!
//! (van der Schaft & Maschke 1994). The identity holds just where the rows are
//! holonomic (their theorem 2.1). Then the static chart is a canonical one: its free
//! coordinates q̄, the p̃ that belong to them, and the potentials s̄ of the rows make
//! J_r the constant matrix (25), since \[S_i, S_j\] = 0 in it.

use crate::pfaff::{self, Flag};
use crate::places::Places;
use crate::rows::Forms;
use dalembert_derive::formulations::{Formulation, bracket};
use dalembert_derive::picture::Picture;
use dalembert_derive::{Chart, Choices, EquationsOfMotion};
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_gauss::linalg::lu;
use dalembert_model::system::{Level, System};

/// Up to this many variables (q, p̃) the Jacobiator is written out.
const LARGEST: usize = 14;
/// And up to this many nodes of J_r.
const WRITTEN: usize = 600;
/// Expressions of more nodes are not rewritten for readers.
const READABLE: usize = 400;

/// The bracket of a system.
#[derive(Clone, Debug)]
pub struct Bracket {
    /// The equations it comes from; v is p̃.
    pub equations: EquationsOfMotion,
    /// (q, p̃).
    pub variables: Vec<Symbol>,
    /// J_r.
    pub structure: Jacobian,
    /// Entries of the Jacobiator that are not 0, for a < b < c; `None` where there
    /// are too many to write.
    pub jacobiator: Option<Vec<([usize; 3], ExprId)>>,
}

/// {F, G}_r.
#[derive(Clone, Debug)]
pub struct Value {
    /// F and G in (q, p̃).
    pub arguments: [ExprId; 2],
    /// {F, G}_r in (q, p̃).
    pub bracket: ExprId,
}

/// Why a system has no J_r.
pub fn refusal(
    exprs: &Exprs,
    system: &System,
    forms: &Forms,
    regular_mass: bool,
) -> Option<String> {
    let name = |row: usize| &system.constraints[row].name;
    if let Some(row) =
        (0..system.constraints.len()).find(|&r| system.constraints[r].level == Level::Acceleration)
    {
        return Some(format!("`{}` is given for accelerations", name(row)));
    }
    if let Some(&row) = forms.nonlinear.iter().chain(&forms.open).next() {
        return Some(format!("`{}` is nonlinear in the velocities", name(row)));
    }
    if let Some(&row) = forms.disguised.first() {
        return Some(format!("`{}` is written nonlinearly; write it as an affine row", name(row)));
    }
    let time = forms.x.len() - 1;
    for (form, &row) in forms.named.rows.iter().zip(&forms.rows) {
        if form.iter().any(|&(at, e)| at == time && !exprs.is_zero(e).is_zero()) {
            return Some(format!("`{}` does not admit rest", name(row)));
        }
        let entries: Vec<ExprId> = form.iter().map(|e| e.1).collect();
        let symbols = exprs.symbols_of(&entries);
        if symbols.contains(&Symbol::TIME) {
            return Some(format!("`{}` depends on time", name(row)));
        }
        if let Some(state) = system.states.iter().find(|z| symbols.contains(&z.symbol)) {
            return Some(format!("`{}` depends on state `{}`", name(row), state.name));
        }
    }
    (!regular_mass).then(|| "the mass matrix is singular".to_owned())
}

impl Bracket {
    /// The bracket in the chart of a flag; `None` where J_r is too large to write
    /// out, or L is not quadratic in the velocities.
    pub fn of(exprs: &Exprs, system: &System, forms: &Forms, flag: &Flag) -> Option<Bracket> {
        let mut pairs: Vec<(usize, usize)> = flag
            .independent
            .iter()
            .zip(&flag.dependent)
            .map(|(&form, &column)| (forms.rows[form], column))
            .collect();
        pairs.sort_unstable();
        let chart = Chart {
            rows: pairs.iter().map(|p| p.0).collect(),
            columns: pairs.iter().map(|p| p.1).collect(),
        };
        let choices = Choices { chart: Some(chart), ..Choices::default() };
        let equations = bracket::FORMULATION.derive(exprs, system, &choices).ok()?;
        let equations = equations.on_constraints(exprs);
        let structure = equations.bracket.as_ref()?.structure.clone();
        let variables: Vec<Symbol> =
            equations.positions().iter().chain(&equations.v).copied().collect();
        let mut found = Bracket { equations, variables, structure, jacobiator: None };
        let entries: Vec<ExprId> = found.structure.rows.iter().flatten().map(|e| e.1).collect();
        if found.variables.len() <= LARGEST && exprs.count_nodes(&entries) <= WRITTEN {
            found.jacobiator = Some(found.nonzero(exprs));
        }
        Some(found)
    }

    /// Jac_abc = Σ_d (J_ad ∂_d J_bc + J_bd ∂_d J_ca + J_cd ∂_d J_ab).
    pub fn jacobiator(&self, exprs: &Exprs, [a, b, c]: [usize; 3]) -> ExprId {
        let mut terms = Vec::new();
        for (a, b, c) in [(a, b, c), (b, c, a), (c, a, b)] {
            let entry = self.structure.get(b, c);
            for &(d, j) in &self.structure.rows[a] {
                let slope = exprs.derivative(entry, self.variables[d]);
                terms.push((exprs.at(j) * exprs.at(slope)).id);
            }
        }
        exprs.sum(&terms)
    }

    fn nonzero(&self, exprs: &Exprs) -> Vec<([usize; 3], ExprId)> {
        let size = self.variables.len();
        let n = self.equations.n_coordinates();
        let mut found = Vec::new();
        for a in 0..size {
            for b in a + 1..size {
                // Two positions and anything: 0 by the form of J_r.
                for c in (b + 1).max(n)..size {
                    if b < n {
                        continue;
                    }
                    let value = self.jacobiator(exprs, [a, b, c]);
                    if value != ExprId::ZERO && !exprs.is_zero(value).is_zero() {
                        found.push(([a, b, c], readable(exprs, value)));
                    }
                }
            }
        }
        found
    }

    /// {F, G}_r of functions of q and q̇ (or p): on the constraints they are functions
    /// of q and p̃.
    pub fn value(&self, exprs: &Exprs, system: &System, f: ExprId, g: ExprId) -> Value {
        // In a model given by H expressions hold p; by L, q̇.
        let velocities = system.velocities();
        let mut map: Vec<(Symbol, ExprId)> =
            velocities.iter().copied().zip(self.equations.kinematics.iter().copied()).collect();
        if let dalembert_model::system::Energy::Hamiltonian { .. } = system.energy
            && let Ok(picture) = Picture::new(exprs, system)
        {
            let momenta = exprs.substitute(&picture.momenta, &map);
            map.extend(system.momenta().into_iter().zip(momenta));
        }
        let arguments: Vec<ExprId> =
            exprs.substitute(&[f, g], &map).into_iter().map(|e| readable(exprs, e)).collect();
        let [df, dg] = [0, 1].map(|k| exprs.gradient(arguments[k], &self.variables));
        let mut terms = Vec::new();
        for (row, &left) in self.structure.rows.iter().zip(&df) {
            if left == ExprId::ZERO {
                continue;
            }
            for &(column, entry) in row {
                let term = exprs.at(left) * exprs.at(entry) * exprs.at(dg[column]);
                terms.push(term.id);
            }
        }
        let total = exprs.sum(&terms);
        Value { arguments: [arguments[0], arguments[1]], bracket: readable(exprs, total) }
    }
}

/// A shorter form for readers: small `solve`s written out, and without the
/// parameters that it does not depend on (m y/(m y² + m) is y/(1 + y²)).
pub fn readable(exprs: &Exprs, id: ExprId) -> ExprId {
    if exprs.count_nodes(&[id]) > READABLE {
        return id;
    }
    if exprs.is_zero(id).is_zero() {
        return ExprId::ZERO;
    }
    let mut form = exprs.simplify(exprs.without_solves(exprs.simplify(id), 3));
    for symbol in exprs.symbols_of(&[form]) {
        if !exprs.is_zero(exprs.derivative(form, symbol)).is_zero() {
            continue;
        }
        let without = [ExprId::ZERO, ExprId::ONE]
            .map(|value| exprs.simplify(exprs.substitute(&[form], &[(symbol, value)])[0]));
        let equal = |&e: &ExprId| exprs.is_zero((exprs.at(e) - exprs.at(form)).id).is_zero();
        let best = without.into_iter().filter(equal).min_by_key(|&e| exprs.count_tree_size(e));
        form = best.unwrap_or(form);
    }
    form
}

/// The largest |(I − Π_D)[S_i, S_j]| over the points, relative to the largest
/// |[S_i, S_j]|: exactly 0 where the flag shows the rows to be holonomic.
pub fn defect(
    exprs: &Exprs,
    picture: &Picture,
    values: &[(Symbol, ExprId)],
    forms: &Forms,
    flag: &Flag,
    places: &Places,
) -> Option<f64> {
    if flag.is_involutive() {
        return Some(0.0);
    }
    let n = picture.q.len();
    // ∂_t is one of the fields, and the only one along t.
    let s: Vec<&Vec<ExprId>> =
        flag.fields[..flag.growth[0]].iter().filter(|f| f[n] == ExprId::ZERO).collect();
    let k = s.len();
    let mut roots: Vec<ExprId> = s.iter().flat_map(|f| f[..n].to_vec()).collect();
    let metric = crate::rows::replaced(exprs, &picture.metric, values);
    for i in 0..n {
        roots.extend((0..n).map(|j| metric.get(i, j)));
    }
    for i in 0..k {
        for j in i + 1..k {
            roots.extend(&pfaff::bracket(exprs, &forms.x, s[i], s[j])[..n]);
        }
    }
    let (mut off, mut size) = (0f64, 0f64);
    for point in &places.points {
        let numbers = exprs.eval_f64(&roots, |symbol| point.value(symbol));
        let (part, whole) = at_point(&numbers, n, k)?;
        if part.is_finite() && whole.is_finite() {
            off = off.max(part);
            size = size.max(whole);
        }
    }
    (size > 0.0).then(|| off / size)
}

/// Largest entries of (I − Π_D)[S_i, S_j] and of [S_i, S_j].
fn at_point(numbers: &[f64], n: usize, k: usize) -> Option<(f64, f64)> {
    let (s, rest) = numbers.split_at(n * k);
    let (metric, brackets) = rest.split_at(n * n);
    // Rows of S are fields here: MSᵢ, then SᵀMS.
    let mut ms = vec![0.0; n * k];
    for a in 0..k {
        for i in 0..n {
            ms[a * n + i] = (0..n).map(|j| metric[i * n + j] * s[a * n + j]).sum();
        }
    }
    let dot = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(a, b)| a * b).sum() };
    let mut gram: Vec<f64> = (0..k * k)
        .map(|ab| dot(&s[(ab / k) * n..(ab / k + 1) * n], &ms[(ab % k) * n..(ab % k + 1) * n]))
        .collect();
    let mut order = vec![0; k];
    if !lu::factor(&mut gram, k, &mut order) {
        return None;
    }
    let (mut off, mut size) = (0f64, 0f64);
    let mut work = vec![0.0; k];
    for c in brackets.chunks(n) {
        let mut x: Vec<f64> = (0..k).map(|a| dot(&ms[a * n..(a + 1) * n], c)).collect();
        lu::solve(&gram, k, &order, &mut x, &mut work);
        for i in 0..n {
            let along: f64 = (0..k).map(|a| s[a * n + i] * x[a]).sum();
            off = off.max((c[i] - along).abs());
            size = size.max(c[i].abs());
        }
    }
    Some((off, size))
}

/// The value of an expression in (q, p̃) at a state: p̃ from the state.
pub fn at_state(
    setting: &dalembert_simulate::Setting,
    equations: &EquationsOfMotion,
    state: &dalembert_simulate::State,
    value: ExprId,
) -> Option<f64> {
    let mut table = state.table(&setting.model.system);
    let own = setting.numbers(&equations.own, &table);
    table.set_all(&equations.v, &own);
    Some(setting.number(value, &table)).filter(|x| x.is_finite())
}
