//! Servo constraints: held by inputs instead of by an ideal force.
//!
//! ```text
//! constraint track by u: φ = 0          M q̈ = Q + B u + Aᵀλ ,   B = ∂Q/∂u
//! ```
//!
//! The inputs u enter forces linearly, and what acts in place of the ideal force Aₛᵀμ of the rows
//! Aₛ is B u. That is the non-ideal part of a constraint force, in given directions (Chetaev's
//! rule is not used for these rows; Béghin 1922, Appell):
//!
//! ```text
//! C = B u − Aₛᵀμ ,   u = μ
//! ```
//!
//! so that u is found where all multipliers are. With as many inputs as rows each is the multiplier
//! of a row. More inputs share the work by least uᵀW u,
//!
//! ```text
//! u = W⁻¹Bᵀ P Aₛᵀ μ ,   P = M⁻¹ − M⁻¹Aᵢᵀ(Aᵢ M⁻¹Aᵢᵀ)⁻¹Aᵢ M⁻¹
//! ```
//!
//! P being the response under the ideal rows Aᵢ (Udwadia 2008: with an input on every coordinate and
//! W = M⁻¹ it is the ideal force itself). It is written as a linear solve, never as an inverse.
//!
//! What inputs cannot push along is decided by numbers, not here.

use super::labels::ROWS;
use super::*;
use crate::system::{Commanded, Energy, Force, Input, Servo, System};

/// What a constraint statement says of its inputs.
#[derive(Clone)]
pub(super) struct By<'a> {
    pub inputs: &'a [Expr],
    pub weight: Option<&'a Expr>,
    pub scope: ScopeId,
    pub env: EnvId,
}

/// A servo constraint before the system is put together.
pub(super) struct Planned<'a> {
    group: usize,
    by: By<'a>,
    /// Places among the inputs.
    inputs: Vec<usize>,
    /// The multipliers of its rows.
    multipliers: Vec<ExprId>,
}

impl<'a> Resolver<'a, '_> {
    /// Finds the inputs of all servo constraints, and the symbols of their multipliers. Comes
    /// before rows have their final numbers.
    pub(super) fn plan_servos(&mut self) -> Vec<Planned<'a>> {
        let mut list: Vec<Planned<'a>> = Vec::new();
        for group in 0..self.constraint_rows.len() {
            let Some(by) = self.constraint_rows[group].by.clone() else { continue };
            let taken: Vec<usize> = list.iter().flat_map(|p| p.inputs.clone()).collect();
            let Some(inputs) = self.settle(|r| r.servo_inputs(group, &by, &taken)) else {
                continue;
            };
            let def = self.constraint_rows[group].def;
            let Some(value) = self.settle(|r| r.def_value(def)) else { continue };
            let multipliers = (0..value.components().len())
                .filter(|at| self.final_rows.contains_key(&(group * ROWS + at)))
                .collect::<Vec<_>>()
                .into_iter()
                .map(|at| {
                    let shown = format!("multiplier({})", self.row_name(group, at, &value));
                    self.unknown_expr(Unknown::Multiplier(group * ROWS + at), shown)
                })
                .collect();
            list.push(Planned { group, by, inputs, multipliers });
        }
        list
    }

    /// The inputs that a constraint is held by.
    fn servo_inputs(&mut self, group: usize, by: &By<'a>, taken: &[usize]) -> Eval<Vec<usize>> {
        let label = self.constraint_rows[group].label.clone();
        let cx = Cx { scope: by.scope, env: by.env, locals: None, constant: false };
        let mut list: Vec<usize> = Vec::new();
        for expr in by.inputs {
            let value = self.eval(expr, cx)?;
            for &id in value.components() {
                let symbol = self.exprs.as_symbol(id);
                let place = self.parts.inputs.iter().position(|u| Some(u.symbol) == symbol);
                let Some(place) = place else {
                    let message = format!("`{label}` is to be held by something that is no input");
                    return Err(self.report(
                        Diagnostic::fault(Code::ServoLinear, expr.span, message).hint(
                            "declare it: `input F`, without a value, and let a force hold it",
                        ),
                    ));
                };
                let Input { name, value, span, .. } = self.parts.inputs[place].clone();
                if value.is_some() {
                    let message = format!(
                        "the input `{name}` has a value, and the constraint `{label}` is to find it"
                    );
                    return Err(self.report(
                        Diagnostic::fault(Code::InputTaken, expr.span, message)
                            .with(span, "declared here")
                            .hint(format!("leave its value out: `input {name}`")),
                    ));
                }
                if taken.contains(&place) || list.contains(&place) {
                    let message = format!("the input `{name}` serves two constraints");
                    return Err(self.report(
                        Diagnostic::fault(Code::InputTaken, expr.span, message).hint(
                            "put the rows into one statement: `constraint track by F, T: [x, y] = path(t)`",
                        ),
                    ));
                }
                list.push(place);
            }
        }
        Ok(list)
    }

    /// Puts the servo constraints into a system: non-ideal forces by multipliers in the place of
    /// the forces that hold their inputs.
    pub(super) fn apply_servos(&mut self, system: &mut System, planned: Vec<Planned<'a>>) {
        let symbols: Vec<Symbol> =
            planned.iter().flat_map(|p| &p.inputs).map(|&at| system.inputs[at].symbol).collect();
        // A force that could not be read may be the one that holds an input.
        if symbols.is_empty() || self.diagnostics.iter().any(|d| d.severity == Severity::Fault) {
            return;
        }
        let several = planned.len() > 1;
        let mut replaced: Vec<(Symbol, ExprId)> = Vec::new();
        for plan in planned {
            let span = self.constraint_rows[plan.group].span;
            let label = self.constraint_rows[plan.group].label.clone();
            let rows: Vec<usize> = (0..system.constraints.len())
                .filter(|&at| self.is_row_of(plan.group, at))
                .collect();
            let (m, k) = (rows.len(), plan.inputs.len());
            if k < m {
                let message = format!("{m} rows of `{label}` are to be held by {}", count(k));
                self.report(Diagnostic::fault(Code::ServoRank, span, message).hint(
                    "name an input for each row behind `by`, or let an ideal constraint hold the rest",
                ));
                continue;
            }
            let Some(columns) = self.settle(|r| r.columns(system, &plan.inputs, &symbols, span))
            else {
                continue;
            };
            let gradients = system.gradients(&self.exprs, &rows);
            let weight = match plan.by.weight {
                Some(weight) => match self.settle(|r| r.servo_weight(weight, &plan.by, k)) {
                    Some(weight) => Some(weight),
                    None => continue,
                },
                None => None,
            };
            let values = match (&weight, k > m) {
                (_, false) => plan.multipliers.clone(),
                (None, true) => {
                    let message = format!(
                        "{} share what holds {} of `{label}`, in no given way",
                        count(k),
                        if m == 1 { "the one row".to_owned() } else { format!("the {m} rows") }
                    );
                    self.report(Diagnostic::fault(Code::ServoWeight, span, message).hint(
                        "least uᵀW u is taken: `constraint track by u weight W: …`, with W a number, \
                         a list of one for each input, or a matrix",
                    ));
                    continue;
                }
                (Some(_), true) if several => {
                    let message = "inputs that share the work of a constraint by a weight leave no other \
                                   servo constraint beside it";
                    self.report(
                        Diagnostic::fault(Code::ServoWeight, span, message)
                            .hint("put all rows and inputs into one statement"),
                    );
                    continue;
                }
                (Some(weight), true) => shared(
                    &self.exprs,
                    system,
                    [&columns, &gradients],
                    (weight, &plan.multipliers),
                    &rows,
                ),
            };
            let force = force(&self.exprs, &columns, &values, &gradients, &plan.multipliers, span);
            for &row in &rows {
                system.constraints[row].servo = true;
            }
            let commanded = plan.inputs.iter().zip(&values).zip(&columns);
            let commanded = commanded.map(|((&at, &value), column)| {
                let Input { name, symbol, span, .. } = system.inputs[at].clone();
                replaced.push((symbol, value));
                Commanded { name, symbol, value, column: column.clone(), span }
            });
            let inputs = commanded.collect();
            let weight = weight.filter(|_| k > m).unwrap_or_default();
            let place = system.nonideal.len();
            system.nonideal.push(force);
            system.servos.push(Servo { label, rows, inputs, weight, force: place, span });
        }
        // Outputs, events and checks may speak of the inputs, which are what was found.
        let mut places: Vec<ExprId> = Vec::new();
        system.each(&mut |id| places.push(*id));
        let mut next = self.exprs.substitute(&places, &replaced).into_iter();
        system.each(&mut |id| *id = next.next().unwrap_or(*id));
        for servo in &system.servos {
            for u in &servo.inputs {
                if system.observes.iter().all(|o| o.name != u.name) {
                    let (name, value, span) = (u.name.clone(), u.value, u.span);
                    system.observes.push(crate::system::Observe { name, value, span });
                }
            }
        }
        system.inputs.retain(|u| !symbols.contains(&u.symbol));
    }

    /// Whether a row of the system belongs to a statement.
    fn is_row_of(&self, group: usize, at: usize) -> bool {
        self.final_rows.iter().any(|(&row, &own)| own == at && row / ROWS == group)
    }

    /// B, a column for each input, taken out of the forces.
    fn columns(
        &mut self,
        system: &mut System,
        inputs: &[usize],
        all: &[Symbol],
        span: Span,
    ) -> Eval<Vec<Vec<(usize, ExprId)>>> {
        let own: Vec<Symbol> = inputs.iter().map(|&at| system.inputs[at].symbol).collect();
        let name = |system: &System, at: usize| system.inputs[inputs[at]].name.clone();
        let mut columns = vec![vec![Vec::<ExprId>::new(); system.n_coordinates()]; own.len()];
        let mut held: Vec<Span> = Vec::new();
        for force in system.forces.iter_mut().chain(&mut system.nonideal) {
            for (coordinate, value) in &mut force.components {
                let slopes = self.exprs.gradient(*value, &own);
                for (at, &slope) in slopes.iter().enumerate() {
                    if slope == ExprId::ZERO {
                        continue;
                    }
                    if self.exprs.symbols_of(&[slope]).iter().any(|s| all.contains(s)) {
                        let name = self.exprs.symbol_info(own[at]).full_name();
                        let message = format!(
                            "a force is not linear in `{name}`, which a constraint is to find"
                        );
                        return Err(self.report(
                            Diagnostic::fault(Code::ServoLinear, force.span, message)
                                .with(span, "this constraint")
                                .hint("name what the force is linear in as the input"),
                        ));
                    }
                    columns[at][*coordinate].push(slope);
                    held.push(force.span);
                }
                let zero: Vec<(Symbol, ExprId)> = own.iter().map(|&s| (s, ExprId::ZERO)).collect();
                *value = self.exprs.substitute(&[*value], &zero)[0];
            }
            force.components.retain(|c| c.1 != ExprId::ZERO);
        }
        // Forces that were nothing but inputs are those of the constraint now.
        let emptied = |force: &Force| force.components.is_empty() && held.contains(&force.span);
        system.forces.retain(|force| !emptied(force));
        // What is found with the motion may stand in nothing else that makes the motion.
        let mut others: Vec<(ExprId, Span)> = system.energy_terms.clone();
        others.push(match &system.energy {
            Energy::Lagrangian { lagrangian, .. } => (*lagrangian, span),
            Energy::Hamiltonian { hamiltonian, .. } => (*hamiltonian, span),
        });
        others.extend(system.constraints.iter().map(|c| (c.residual, c.span)));
        // Rates of states may hold it, and not how fast it changes.
        let rates: Vec<(ExprId, Span)> = system.states.iter().map(|z| (z.rate, z.span)).collect();
        others.extend(system.speeds.iter().map(|s| (s.value, s.span)));
        others.push((system.dissipation, span));
        let forces = system.forces.iter().chain(&system.nonideal);
        others.extend(forces.flat_map(|f| f.components.iter().map(|c| (c.1, f.span))));
        for (at, symbol) in own.iter().enumerate() {
            let input = &system.inputs[inputs[at]];
            let family = [*symbol, input.rate, input.second];
            let places = others.iter().map(|place| (place, &family[..]));
            let places = places.chain(rates.iter().map(|place| (place, &family[1..])));
            for (&(id, place), family) in places {
                let found = self.exprs.symbols_of(&[id]);
                if family.iter().any(|s| found.contains(s)) {
                    let name = name(system, at);
                    let message =
                        format!("`{name}` is found with the motion, and forces alone may hold it");
                    return Err(self.report(
                        Diagnostic::fault(Code::ServoLinear, place, message)
                            .with(span, "this constraint finds it")
                            .hint("forces linear in it, rates of states, outputs, events and checks may hold it"),
                    ));
                }
            }
            if columns[at].iter().all(Vec::is_empty) {
                let name = name(system, at);
                let message =
                    format!("no force holds the input `{name}`, so that it pushes nothing");
                return Err(self.report(
                    Diagnostic::fault(Code::ServoRank, span, message)
                        .hint(format!("let a force hold it: `force x: {name}`")),
                ));
            }
        }
        let sums = |column: Vec<Vec<ExprId>>| -> Vec<(usize, ExprId)> {
            let sums = column.iter().map(|terms| self.exprs.sum(terms)).enumerate();
            sums.filter(|c| c.1 != ExprId::ZERO).collect()
        };
        Ok(columns.into_iter().map(sums).collect())
    }

    /// W, row by row: a number, one for each input, or a matrix.
    fn servo_weight(&mut self, weight: &'a Expr, by: &By<'a>, k: usize) -> Eval<Vec<ExprId>> {
        let cx = Cx { scope: by.scope, env: by.env, locals: None, constant: false };
        let value = self.eval(weight, cx)?;
        for &id in value.components() {
            self.allow(id, weight.span, statements::STATE, "a weight")?;
        }
        let entries = self.normalize_all(value.components());
        let diagonal = |entry: &dyn Fn(usize) -> ExprId| -> Vec<ExprId> {
            let at = |p: usize| if p / k == p % k { entry(p / k) } else { ExprId::ZERO };
            (0..k * k).map(at).collect()
        };
        let matrix = match entries.len() {
            1 if value.scalar().is_some() => diagonal(&|_| entries[0]),
            length if length == k => diagonal(&|i| entries[i]),
            length if length == k * k => entries,
            length => {
                let message = format!("a weight of {length} entries for {}", count(k));
                return Err(self.report(
                    Diagnostic::fault(Code::ServoWeight, weight.span, message)
                        .hint("give a number, a list of one for each input, or a matrix"),
                ));
            }
        };
        let values: Option<Vec<f64>> = matrix.iter().map(|&id| self.known_value(id)).collect();
        if values.is_some_and(|values| !is_measure(&values, k)) {
            let message = "these weights measure nothing: uᵀW u has no least";
            return Err(self.report(
                Diagnostic::fault(Code::ServoWeight, weight.span, message)
                    .hint("W is symmetric and positive definite: weights of inputs are above 0"),
            ));
        }
        Ok(matrix)
    }
}

/// Whether a matrix, row by row, is symmetric and positive definite.
fn is_measure(matrix: &[f64], k: usize) -> bool {
    let largest = matrix.iter().fold(0f64, |m, x| m.max(x.abs()));
    let off = |p: usize| (matrix[p] - matrix[p % k * k + p / k]).abs();
    if !(0..k * k).all(|p| off(p) <= 1e-12 * largest) {
        return false;
    }
    // Pivots of L D Lᵀ.
    let mut rest = matrix.to_vec();
    (0..k).all(|j| {
        let pivot = rest[j * k + j];
        for r in j + 1..k {
            let factor = rest[r * k + j] / pivot;
            (j..k).for_each(|c| rest[r * k + c] -= factor * rest[j * k + c]);
        }
        pivot.is_finite() && pivot > 0.0
    })
}

fn count(inputs: usize) -> String {
    if inputs == 1 { "one input".to_owned() } else { format!("{inputs} inputs") }
}

/// C = B u − Aₛᵀμ.
fn force(
    exprs: &Exprs,
    columns: &[Vec<(usize, ExprId)>],
    values: &[ExprId],
    gradients: &[Vec<(usize, ExprId)>],
    multipliers: &[ExprId],
    span: Span,
) -> Force {
    let mut terms: std::collections::BTreeMap<usize, Vec<ExprId>> = Default::default();
    for (column, &u) in columns.iter().zip(values) {
        for &(i, b) in column {
            terms.entry(i).or_default().push((exprs.at(b) * exprs.at(u)).id);
        }
    }
    for (row, &mu) in gradients.iter().zip(multipliers) {
        for &(i, a) in row {
            terms.entry(i).or_default().push((-(exprs.at(a) * exprs.at(mu))).id);
        }
    }
    let sums = terms.into_iter().map(|(i, list)| (i, exprs.sum(&list)));
    Force { components: sums.filter(|c| c.1 != ExprId::ZERO).collect(), span }
}

/// u = W⁻¹Bᵀ P Aₛᵀ μ.
fn shared(
    exprs: &Exprs,
    system: &System,
    [columns, own]: [&[Vec<(usize, ExprId)>]; 2],
    (weight, multipliers): (&[ExprId], &[ExprId]),
    rows: &[usize],
) -> Vec<ExprId> {
    let n = system.n_coordinates();
    let ideal: Vec<usize> = (0..system.constraints.len()).filter(|r| !rows.contains(r)).collect();
    let held = system.gradients(exprs, &ideal);
    let size = n + ideal.len();
    // [M, Aᵢᵀ; Aᵢ, 0] [y; κ] = [Aₛᵀμ; 0], in a model given by H with H_pp in front.
    let mut matrix = vec![ExprId::ZERO; size * size];
    let mut right = vec![ExprId::ZERO; size];
    let mut push: Vec<Vec<ExprId>> = vec![Vec::new(); n];
    for (row, &mu) in own.iter().zip(multipliers) {
        for &(i, a) in row {
            push[i].push((exprs.at(a) * exprs.at(mu)).id);
        }
    }
    let push: Vec<ExprId> = push.iter().map(|terms| exprs.sum(terms)).collect();
    let metric = match &system.energy {
        Energy::Lagrangian { momenta, .. } => {
            let m = exprs.jacobian(momenta, &system.velocities());
            (0..n * n).map(|p| m.get(p / n, p % n)).collect::<Vec<_>>()
        }
        Energy::Hamiltonian { velocities, .. } => {
            // M = H_pp⁻¹ by its columns.
            let h = exprs.jacobian(velocities, &system.momenta());
            let h: Vec<ExprId> = (0..n * n).map(|p| h.get(p / n, p % n)).collect();
            let column = |j: usize| {
                let unit: Vec<ExprId> =
                    (0..n).map(|i| if i == j { ExprId::ONE } else { ExprId::ZERO }).collect();
                exprs.solve(&h, &unit)
            };
            let all: Vec<Vec<ExprId>> = (0..n).map(column).collect();
            (0..n * n).map(|p| all[p % n][p / n]).collect()
        }
    };
    for i in 0..n {
        matrix[i * size..i * size + n].copy_from_slice(&metric[i * n..(i + 1) * n]);
        right[i] = push[i];
    }
    for (r, row) in held.iter().enumerate() {
        for &(i, a) in row {
            matrix[i * size + n + r] = a;
            matrix[(n + r) * size + i] = a;
        }
    }
    let y = exprs.solve(&matrix, &right);
    let pushed: Vec<ExprId> = columns
        .iter()
        .map(|column| {
            let terms = column.iter().map(|&(i, b)| (exprs.at(b) * exprs.at(y[i])).id);
            exprs.sum(&terms.collect::<Vec<_>>())
        })
        .collect();
    exprs.solve(weight, &pushed)
}
