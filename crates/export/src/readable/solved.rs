//! v̇ in closed form, for readers. With a = Γ⁻¹(F + C) and G = Γ⁻¹Aᵀ,
//!
//! ```text
//! λ = (A G)⁻¹ (b − A a),   v̇ = a + G λ
//! ```
//!
//! and for momenta a = f + C and G = Aᵀ with Lagrange's A. Of rows that depend on
//! each other at the start, enough are taken; where Γ is singular, Γ + AᵀA and
//! F + Aᵀb stand for Γ and F. What comes out is simplified modulo the constraints
//! and their rates: it is v̇ at states that satisfy them.
//!
//! No number comes this way. The form is shown only if it solves the equations
//! at the start.

use super::Readable;
use super::start::Numbers;
use dalembert_derive::Variables;
use dalembert_expr::{Assumption, ExprId, Jacobian, Symbol};

/// A closed form.
#[derive(Clone, Debug)]
pub struct Solved {
    /// λ, where there are constraints.
    pub multipliers: Vec<(Symbol, ExprId)>,
    /// v̇.
    pub rates: Vec<(Symbol, ExprId)>,
    /// Whether v̇ is written with λ, since it is long.
    pub holds_multipliers: bool,
    /// Constraints that follow from the others at the start, and were left out.
    pub left_out: Vec<usize>,
    /// Signs at the start that were used.
    pub assumptions: Vec<Assumption>,
}

/// Coupled rates or constraints beyond this are not written out.
const LARGEST: usize = 3;
/// Nodes of one closed form; above that it is given with λ.
const SHORT: u64 = 120;
/// Nodes of one formula at most.
const ROOM: u64 = 4_000;

/// v̇ = a + G λ, A v̇ = b.
struct Problem {
    a: Vec<ExprId>,
    /// Columns of G, one for each row of A.
    g: Vec<Vec<ExprId>>,
    rows: Vec<Vec<ExprId>>,
    b: Vec<ExprId>,
    /// The row of the equations that each is.
    kept: Vec<usize>,
}

impl Readable {
    /// The closed form, or why there is none.
    pub fn solved(&self) -> Result<Solved, String> {
        let equations = &self.equations;
        let exprs = self.exprs();
        if equations.v.is_empty() {
            return Err("the constraints leave no unknown".to_owned());
        }
        let own: Vec<ExprId> = equations.force.iter().chain(&equations.nonideal).copied().collect();
        if exprs.depend_on(&own, |s| self.multipliers.contains(&s)).contains(&true) {
            return Err("forces depend on the multipliers".to_owned());
        }
        let numbers = self.start.as_ref();
        let problem = self.problem(numbers)?;
        let mut assumptions = Vec::new();
        let lambda = self.multipliers_of(&problem, &mut assumptions)?;
        let rates = self.rates();
        let symbols: Vec<Symbol> =
            problem.kept.iter().map(|&row| self.multipliers[equations.rows[row]]).collect();
        let mut solved = Solved {
            multipliers: symbols.iter().copied().zip(lambda.iter().copied()).collect(),
            rates: Vec::new(),
            holds_multipliers: false,
            left_out: (0..equations.rows.len()).filter(|row| !problem.kept.contains(row)).collect(),
            assumptions: Vec::new(),
        };
        let with = |lambda: &[ExprId], i: usize| -> ExprId {
            let mut terms = vec![problem.a[i]];
            for (column, &lambda) in problem.g.iter().zip(lambda) {
                terms.push(exprs.product(&[column[i], lambda]));
            }
            exprs.sum(&terms)
        };
        let of_symbols: Vec<ExprId> = symbols.iter().map(|&s| exprs.of_symbol(s)).collect();
        let mut explicit = Vec::new();
        for i in 0..rates.len() {
            explicit.push(self.shortest(with(&lambda, i), &mut assumptions)?);
        }
        let long = explicit.iter().any(|&e| exprs.count_tree_size(e) > SHORT);
        if long && !symbols.is_empty() {
            solved.holds_multipliers = true;
            for (i, place) in explicit.iter_mut().enumerate() {
                *place = self.shortest(with(&of_symbols, i), &mut assumptions)?;
            }
        }
        solved.rates = rates.into_iter().zip(explicit).collect();
        assumptions.dedup();
        solved.assumptions = assumptions;
        match numbers {
            Some(numbers) => self.check(&solved, numbers).map(|()| solved),
            None => Ok(solved),
        }
    }

    /// Simplified, on the branch of the start, modulo the constraints.
    fn shortest(&self, id: ExprId, assumptions: &mut Vec<Assumption>) -> Result<ExprId, String> {
        let exprs = self.exprs();
        if exprs.count_tree_size(id) > 16 * ROOM {
            return Err("the closed form is too long to be read".to_owned());
        }
        let mut branch = |id: ExprId| {
            let (plain, assumed) = self.on_branch(id);
            for one in assumed {
                if !assumptions.contains(&one) {
                    assumptions.push(one);
                }
            }
            plain
        };
        let plain = self.modulo(branch(self.readable(id)));
        // On √(x² + y²) = l, what was no square may be one.
        let plain = self.modulo(self.readable(branch(plain)));
        if exprs.count_tree_size(plain) > ROOM {
            return Err("the closed form is too long to be read".to_owned());
        }
        Ok(plain)
    }

    /// Modulo the constraints that v does not satisfy by itself, and their rates.
    pub(super) fn modulo(&self, id: ExprId) -> ExprId {
        let effort = &mut self.work.borrow_mut().effort;
        self.exprs().simplify_modulo(id, &self.relations, effort)
    }

    fn problem(&self, numbers: Option<&Numbers>) -> Result<Problem, String> {
        let equations = &self.equations;
        let exprs = self.exprs();
        let n = equations.v.len();
        let row_of = |matrix: &Jacobian, row: usize| {
            let mut line = vec![ExprId::ZERO; matrix.columns];
            matrix.rows[row].iter().for_each(|&(column, value)| line[column] = value);
            line
        };
        let kept = self.independent_rows(numbers)?;
        let rows: Vec<Vec<ExprId>> =
            kept.iter().map(|&row| row_of(&equations.jacobian, row)).collect();
        let b: Vec<ExprId> = kept.iter().map(|&row| equations.bias[row]).collect();
        let sums = |a: &[ExprId], b: &[ExprId]| -> Vec<ExprId> {
            a.iter().zip(b).map(|(&a, &b)| exprs.sum(&[a, b])).collect()
        };
        if let (Variables::Momenta, Some(canonical)) = (equations.variables, &equations.canonical)
            && let Some((jacobian, nonideal)) = &self.lagrange
        {
            let a = sums(&canonical.force, nonideal);
            let g = kept.iter().map(|&row| row_of(jacobian, row)).collect();
            return Ok(Problem { a, g, rows, b, kept });
        }
        let mut metric: Vec<Vec<ExprId>> = (0..n).map(|i| row_of(&equations.metric, i)).collect();
        let mut right = sums(&equations.force, &equations.nonideal);
        if !self.is_regular(&metric, numbers) {
            for (row, &bias) in rows.iter().zip(&b) {
                for i in (0..n).filter(|&i| row[i] != ExprId::ZERO) {
                    for j in (0..n).filter(|&j| row[j] != ExprId::ZERO) {
                        let product = exprs.product(&[row[i], row[j]]);
                        metric[i][j] = exprs.sum(&[metric[i][j], product]);
                    }
                    right[i] = exprs.sum(&[right[i], exprs.product(&[row[i], bias])]);
                }
            }
            for place in metric.iter_mut().flatten().chain(&mut right) {
                *place = self.modulo(self.readable(*place));
            }
        }
        let blocks = blocks(&metric);
        if let Some(large) = blocks.iter().find(|block| block.len() > LARGEST) {
            return Err(format!("{} rates are coupled with each other", large.len()));
        }
        let a = self.solve(&metric, &blocks, &right)?;
        let g: Result<Vec<Vec<ExprId>>, String> =
            rows.iter().map(|row| self.solve(&metric, &blocks, row)).collect();
        Ok(Problem { a, g: g?, rows, b, kept })
    }

    /// Γ⁻¹ r, block by block.
    fn solve(
        &self,
        metric: &[Vec<ExprId>],
        blocks: &[Vec<usize>],
        right: &[ExprId],
    ) -> Result<Vec<ExprId>, String> {
        let exprs = self.exprs();
        let mut solution = vec![ExprId::ZERO; right.len()];
        for block in blocks {
            let r: Vec<ExprId> = block.iter().map(|&i| right[i]).collect();
            if r.iter().all(|&e| e == ExprId::ZERO) {
                continue;
            }
            let k: Vec<ExprId> =
                block.iter().flat_map(|&i| block.iter().map(move |&j| metric[i][j])).collect();
            for (&i, node) in block.iter().zip(exprs.solve(&k, &r)) {
                solution[i] = self.modulo(self.readable(node));
            }
        }
        if exprs.count_tree_size(exprs.sum(&solution)) > 16 * ROOM {
            return Err("the closed form is too long to be read".to_owned());
        }
        Ok(solution)
    }

    fn multipliers_of(
        &self,
        problem: &Problem,
        assumptions: &mut Vec<Assumption>,
    ) -> Result<Vec<ExprId>, String> {
        let exprs = self.exprs();
        let m = problem.rows.len();
        if m == 0 {
            return Ok(Vec::new());
        }
        let dot = |row: &[ExprId], column: &[ExprId]| -> ExprId {
            let terms: Vec<ExprId> =
                row.iter().zip(column).map(|(&a, &b)| exprs.product(&[a, b])).collect();
            exprs.sum(&terms)
        };
        let mut k = vec![vec![ExprId::ZERO; m]; m];
        let mut r = vec![ExprId::ZERO; m];
        for (i, row) in problem.rows.iter().enumerate() {
            for (j, column) in problem.g.iter().enumerate() {
                k[i][j] = self.shortest(dot(row, column), assumptions)?;
            }
            let right = (exprs.at(problem.b[i]) - exprs.at(dot(row, &problem.a))).id;
            r[i] = self.shortest(right, assumptions)?;
        }
        let blocks = blocks(&k);
        if let Some(large) = blocks.iter().find(|block| block.len() > LARGEST) {
            return Err(format!("{} multipliers are coupled with each other", large.len()));
        }
        let solution = self.solve(&k, &blocks, &r)?;
        solution.into_iter().map(|e| self.shortest(e, assumptions)).collect()
    }

    /// Rows of A that are independent at the start; all, where there is none.
    fn independent_rows(&self, numbers: Option<&Numbers>) -> Result<Vec<usize>, String> {
        let jacobian = &self.equations.jacobian;
        let all: Vec<usize> = (0..jacobian.rows.len()).collect();
        let Some(numbers) = numbers else { return Ok(all) };
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let mut kept = Vec::new();
        for &at in &all {
            let entries: Vec<ExprId> = jacobian.rows[at].iter().map(|e| e.1).collect();
            let mut row = vec![0.0; jacobian.columns];
            let values = numbers.of(self.exprs(), &entries);
            jacobian.rows[at].iter().zip(values).for_each(|(e, value)| row[e.0] = value);
            let size = norm(&row);
            if !size.is_finite() {
                return Err("A is no number at the start".to_owned());
            }
            for _ in 0..2 {
                for other in &basis {
                    let along: f64 = row.iter().zip(other).map(|(a, b)| a * b).sum();
                    row.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
                }
            }
            let left = norm(&row);
            // Rounding leaves some 1e-15 of a row that depends on others.
            if left > 1e-9 * size && size > 0.0 {
                row.iter_mut().for_each(|a| *a /= left);
                basis.push(row);
                kept.push(at);
            }
        }
        Ok(kept)
    }

    fn is_regular(&self, metric: &[Vec<ExprId>], numbers: Option<&Numbers>) -> bool {
        let n = metric.len();
        let entries: Vec<ExprId> = metric.iter().flatten().copied().collect();
        let Some(numbers) = numbers else { return true };
        let mut values = numbers.of(self.exprs(), &entries);
        let scale = values.iter().fold(0.0f64, |a, b| a.max(b.abs()));
        for column in 0..n {
            let size = |values: &[f64], i: usize| values[i * n + column].abs();
            let pivot = (column..n).max_by(|&i, &j| size(&values, i).total_cmp(&size(&values, j)));
            let Some(pivot) = pivot.filter(|&i| size(&values, i) > 1e-12 * scale) else {
                return false;
            };
            for j in 0..n {
                values.swap(pivot * n + j, column * n + j);
            }
            for i in column + 1..n {
                let factor = values[i * n + column] / values[column * n + column];
                for j in column..n {
                    values[i * n + j] -= factor * values[column * n + j];
                }
            }
        }
        true
    }

    /// Whether the form solves Γ v̇ = F + C + Aᵀλ and A v̇ = b at the start.
    fn check(&self, solved: &Solved, numbers: &Numbers) -> Result<(), String> {
        let mut numbers = numbers.clone();
        let (symbols, values): (Vec<Symbol>, Vec<ExprId>) =
            solved.multipliers.iter().copied().unzip();
        let lambda = numbers.of(self.exprs(), &values);
        self.multipliers.iter().for_each(|&s| numbers.set(s, 0.0));
        symbols.iter().zip(lambda).for_each(|(&s, value)| numbers.set(s, value));
        let (symbols, values): (Vec<Symbol>, Vec<ExprId>) = solved.rates.iter().copied().unzip();
        let rates = numbers.of(self.exprs(), &values);
        symbols.iter().zip(rates).for_each(|(&s, value)| numbers.set(s, value));
        for row in self.rows().into_iter().chain(self.constraint_rows()) {
            let mut terms = self.exprs().terms(row.left);
            terms.extend(self.exprs().terms(row.right));
            let size: f64 = numbers.of(self.exprs(), &terms).iter().map(|x| x.abs()).sum();
            let sides = numbers.of(self.exprs(), &[row.left, row.right]);
            if !(sides[0] - sides[1]).is_finite() {
                return Err("a term has no value at the start".to_owned());
            }
            let holds = (sides[0] - sides[1]).abs() <= 1e-8 * (size + f64::MIN_POSITIVE);
            if !holds {
                return Err("it does not hold at the start".to_owned());
            }
        }
        Ok(())
    }
}

fn norm(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Groups of rows that are coupled with each other.
fn blocks(matrix: &[Vec<ExprId>]) -> Vec<Vec<usize>> {
    let n = matrix.len();
    let mut leader: Vec<usize> = (0..n).collect();
    for i in 0..n {
        for j in 0..n {
            if matrix[i][j] != ExprId::ZERO && leader[i] != leader[j] {
                let (from, to) = (leader[i].max(leader[j]), leader[i].min(leader[j]));
                leader.iter_mut().filter(|l| **l == from).for_each(|l| *l = to);
            }
        }
    }
    let mut blocks: Vec<Vec<usize>> = vec![Vec::new(); n];
    (0..n).for_each(|i| blocks[leader[i]].push(i));
    blocks.retain(|block| !block.is_empty());
    blocks
}
