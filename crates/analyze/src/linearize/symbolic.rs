//! A, B, C and D in the parameters of a model.
//!
//! About an equilibrium that is one for all values of the parameters, the slopes of `rates` are
//! expressions of these alone, and so is what solves
//!
//! ```text
//! [Γ −Aᵀ−D; A 0] [δa; δλ] = −[R_x; S_x] δx
//! ```
//!
//! for each column. It is eliminated with the pivots that the numbers have, each entry simplified on
//! its way. Positions have to be known exactly: as the start says them in parameters, 0, or a part of
//! π; and the multipliers they need are solved for. That forces balance is then proven, not assumed.
//! Systems of more than a few unknowns are refused: nobody would read what they give.

use super::operating::Operating;
use super::outputs;
use super::rates::{Point, Rates};
use super::{Kind, Linearization, LinearizeError};
use dalembert_expr::{ExprId, Exprs, Number, Symbol};
use dalembert_gauss::linalg::lu;
use dalembert_model::tree::StartRelation;
use dalembert_simulate::Setting;

/// The matrices as expressions in the parameters.
#[derive(Clone, Debug)]
pub struct Symbolic {
    /// Configuration and what each is held to be.
    pub state: Vec<(String, ExprId)>,
    /// A, row by row.
    pub a: Vec<ExprId>,
    /// B.
    pub b: Vec<ExprId>,
    /// C.
    pub c: Vec<ExprId>,
    /// D.
    pub d: Vec<ExprId>,
}

/// Why there are no such matrices.
#[derive(Clone, Debug)]
pub enum NotSymbolic {
    /// It moves.
    Moves,
    /// A position is known as a number only.
    Known {
        /// Of this coordinate or state.
        name: String,
        /// The number.
        value: f64,
    },
    /// It is an equilibrium for these values of the parameters, and not shown to be one for all.
    Balance,
    /// There are too many unknowns.
    Large {
        /// As many.
        unknowns: usize,
    },
    /// There are no equations.
    Equations(Box<LinearizeError>),
}

/// Most unknowns of the system that is solved.
const MOST: usize = 8;

/// The matrices of a linearization as expressions.
pub fn symbolic(setting: &Setting, found: &Linearization) -> Result<Symbolic, NotSymbolic> {
    if found.kind != Kind::Equilibrium {
        return Err(NotSymbolic::Moves);
    }
    let Operating { open, .. } = &Operating::new(setting);
    let of = |error: LinearizeError| NotSymbolic::Equations(Box::new(error));
    let rates = Rates::new(open).map_err(of)?;
    let point = rates.at(&found.state).map_err(of)?;
    let (exprs, system) = (&open.model.exprs, &open.model.system);
    let (n, m) = (rates.n, rates.m);
    if n + m > MOST {
        return Err(NotSymbolic::Large { unknowns: n + m });
    }
    // What the state is.
    let mut map: Vec<(Symbol, ExprId)> = Vec::new();
    let mut state = Vec::new();
    for (at, symbol) in system.configuration().into_iter().enumerate() {
        let name = exprs.symbol_info(symbol).full_name();
        let x = found.state.q[at];
        let Some(value) = exact(setting, symbol, x) else {
            return Err(NotSymbolic::Known { name, value: x });
        };
        map.push((symbol, value));
        state.push((name, value));
    }
    map.extend(rates.equations.v.iter().map(|&v| (v, ExprId::ZERO)));
    map.extend(rates.residual.accelerations.iter().map(|&a| (a, ExprId::ZERO)));
    map.push((Symbol::TIME, system.run.from));
    for (at, input) in system.inputs.iter().enumerate() {
        let value = setting.model.system.inputs[at].value.unwrap_or(ExprId::ZERO);
        let value = exprs.substitute(&[value], &[(Symbol::TIME, system.run.from)])[0];
        map.extend([
            (input.symbol, value),
            (input.rate, ExprId::ZERO),
            (input.second, ExprId::ZERO),
        ]);
    }
    // The multipliers that hold it.
    let residual = &rates.residual;
    let by_lambda = exprs.jacobian(&residual.dynamics, &residual.multipliers);
    let at_state = |list: &[ExprId], map: &[(Symbol, ExprId)]| -> Vec<ExprId> {
        exprs.substitute(list, map).into_iter().map(|e| exprs.simplify(e)).collect()
    };
    let numbers = |list: &[ExprId]| setting.numbers(list, &Default::default());
    let zero_lambda: Vec<(Symbol, ExprId)> =
        residual.multipliers.iter().map(|&l| (l, ExprId::ZERO)).collect();
    let unloaded = at_state(&residual.dynamics, &[map.clone(), zero_lambda.clone()].concat());
    let slopes: Vec<ExprId> =
        (0..n * m).map(|p| by_lambda.get(p / m.max(1), p % m.max(1))).collect();
    let slopes = at_state(&slopes, &[map.clone(), zero_lambda].concat());
    let (rows, columns) = lu::pivots(&numbers(&slopes), n, m, 1e-10);
    let block: Vec<Vec<ExprId>> =
        rows.iter().map(|&i| columns.iter().map(|&j| slopes[i * m + j]).collect()).collect();
    let right: Vec<Vec<ExprId>> = rows.iter().map(|&i| vec![(-exprs.at(unloaded[i])).id]).collect();
    let solved = eliminate(exprs, setting, block, right).ok_or(NotSymbolic::Balance)?;
    let mut lambda = vec![ExprId::ZERO; m];
    columns.iter().zip(&solved).for_each(|(&j, row)| lambda[j] = row[0]);
    map.extend(residual.multipliers.iter().copied().zip(lambda));
    let mut claims = residual.dynamics.clone();
    claims.extend(&residual.kinematics);
    claims.extend(&residual.positions);
    claims.extend(&residual.velocities);
    let claims = exprs.substitute(&claims, &map);
    if !exprs.all_zero(&claims).is_zero() {
        return Err(NotSymbolic::Balance);
    }
    solve(setting, &rates, &point, found, &map).map(|[a, b, c, d]| Symbolic { state, a, b, c, d })
}

/// A position exactly: as the start says it, 0, or a part of π.
fn exact(setting: &Setting, symbol: Symbol, x: f64) -> Option<ExprId> {
    let (exprs, system) = (&setting.model.exprs, &setting.model.system);
    let own = exprs.of_symbol(symbol);
    let constants = setting.constants().0;
    let near = |y: f64| (y - x).abs() <= 1e-9 * x.abs().max(1.0);
    let asked = system.state.iter().copied();
    let said = system.start.iter().filter(|s| s.relation == StartRelation::Equals || s.left == own);
    let given = asked.chain(said.map(|s| (s.left, s.right))).filter(|item| item.0 == own);
    for (_, right) in given {
        let known = exprs.symbols_of(&[right]).iter().all(|s| constants.contains(s));
        if known && near(setting.number(right, &Default::default())) {
            return Some(right);
        }
    }
    if x.abs() <= 1e-9 {
        return Some(ExprId::ZERO);
    }
    let twelfths = x * 12.0 / std::f64::consts::PI;
    (near(twelfths.round() * std::f64::consts::PI / 12.0) && twelfths.abs() < 1e6).then(|| {
        let part = Number::from_f64(twelfths.round()).map(|k| exprs.of_number(k));
        let part = exprs.at(part.unwrap_or(ExprId::ZERO));
        (part * exprs.at(exprs.of_symbol(Symbol::PI)) / 12).id
    })
}

/// The four matrices, given what all symbols of the equations are.
fn solve(
    setting: &Setting,
    rates: &Rates,
    point: &Point,
    found: &Linearization,
    map: &[(Symbol, ExprId)],
) -> Result<[Vec<ExprId>; 4], NotSymbolic> {
    let exprs = &rates.setting.model.exprs;
    let (n, wide, m) = (rates.n, rates.wide, rates.m);
    let (blocks, width) = (rates.blocks(), point.columns());
    let residual = &rates.residual;
    let dense = |matrix: &dalembert_expr::Jacobian| -> Vec<Vec<ExprId>> {
        let list: Vec<ExprId> = matrix.rows.iter().flatten().map(|e| e.1).collect();
        let new = exprs.substitute(&list, map).into_iter().map(|e| exprs.simplify(e));
        let mut new = new.collect::<Vec<_>>().into_iter();
        let place = |row: &Vec<(usize, ExprId)>| {
            let mut line = vec![ExprId::ZERO; matrix.columns];
            row.iter().for_each(|&(j, _)| line[j] = new.next().unwrap_or(ExprId::ZERO));
            line
        };
        matrix.rows.iter().map(place).collect()
    };
    let slopes = dense(rates.slopes());
    let unknowns: Vec<Symbol> =
        residual.accelerations.iter().chain(&residual.multipliers).copied().collect();
    let mut equations = residual.dynamics.clone();
    equations.extend(residual.rows.iter().map(|row| row.acceleration));
    let held = dense(&exprs.jacobian(&equations, &unknowns));
    // Rows that depend on others, and multipliers that stay open, are left out by the numbers.
    let flat: Vec<ExprId> = held.iter().flatten().copied().collect();
    let size = n + m;
    let (mut rows, mut columns) =
        lu::pivots(&setting.numbers(&flat, &Default::default()), size, size, 1e-10);
    rows.sort_unstable();
    columns.sort_unstable();
    let block: Vec<Vec<ExprId>> =
        rows.iter().map(|&i| columns.iter().map(|&j| held[i][j]).collect()).collect();
    let sum = |terms: &[(ExprId, ExprId)]| -> ExprId {
        let list: Vec<ExprId> = terms
            .iter()
            .filter(|t| t.0 != ExprId::ZERO && t.1 != ExprId::ZERO)
            .map(|t| (exprs.at(t.0) * exprs.at(t.1)).id)
            .collect();
        exprs.simplify(exprs.sum(&list))
    };
    let along = |row: &[ExprId], x: &[ExprId]| -> ExprId {
        sum(&row.iter().copied().zip(x.iter().copied()).collect::<Vec<_>>())
    };
    // Directions: the free quantities, then the inputs; the constraints complete them.
    let reduced = &found.reduced;
    let dim = reduced.dimension();
    let inputs = (0..rates.inputs.len()).map(|j| wide + n + 1 + j);
    let mut directions: Vec<Vec<ExprId>> = Vec::new();
    for place in reduced.places().chain(inputs) {
        let mut full = vec![ExprId::ZERO; width];
        full[place] = ExprId::ONE;
        let levels = [
            (blocks.configuration..blocks.velocity, 0, &reduced.positions),
            (blocks.velocity..blocks.end, wide, &reduced.velocities),
        ];
        for (range, first, free) in levels {
            let dependent: Vec<usize> =
                (0..n).filter(|i| !free.contains(i)).map(|i| first + i).collect();
            let rows: Vec<&Vec<ExprId>> = range.map(|r| &slopes[r]).collect();
            let flat: Vec<ExprId> =
                rows.iter().flat_map(|row| dependent.iter().map(|&j| row[j])).collect();
            let numbers = setting.numbers(&flat, &Default::default());
            let (chosen, order) = lu::pivots(&numbers, rows.len(), dependent.len(), 1e-10);
            let block = chosen
                .iter()
                .map(|&r| order.iter().map(|&j| rows[r][dependent[j]]).collect())
                .collect();
            let right =
                chosen.iter().map(|&r| vec![(-exprs.at(along(rows[r], &full))).id]).collect();
            let solved = eliminate(exprs, setting, block, right).ok_or(NotSymbolic::Balance)?;
            order.iter().zip(&solved).for_each(|(&j, row)| full[dependent[j]] = row[0]);
        }
        directions.push(full);
    }
    // All responses at once.
    let right: Vec<Vec<ExprId>> = rows
        .iter()
        .map(|&i| {
            let row = &slopes[blocks.balance + i];
            directions.iter().map(|full| (-exprs.at(along(row, full))).id).collect()
        })
        .collect();
    let solved = eliminate(exprs, setting, block, right).ok_or(NotSymbolic::Balance)?;
    let response = |k: usize| -> Vec<ExprId> {
        let mut all = vec![ExprId::ZERO; size];
        columns.iter().zip(&solved).for_each(|(&j, row)| all[j] = row[k]);
        all
    };
    let outputs = outputs::Outputs::new(rates);
    let (by_state, by_unknowns) = outputs.slopes();
    let (by_state, by_unknowns) = (dense(by_state), dense(by_unknowns));
    let (count, outs) = (rates.inputs.len(), by_state.len());
    let mut matrices = [
        vec![ExprId::ZERO; dim * dim],
        vec![ExprId::ZERO; dim * count],
        vec![ExprId::ZERO; outs * dim],
        vec![ExprId::ZERO; outs * count],
    ];
    let places: Vec<usize> = reduced.places().collect();
    for (k, full) in directions.iter().enumerate() {
        let solved = response(k);
        let (which, j, wide_by) = match k.checked_sub(dim) {
            None => (0, k, dim),
            Some(j) => (1, j, count),
        };
        for (i, &place) in places.iter().enumerate() {
            let entry = match place.checked_sub(wide) {
                None => along(&slopes[place], full),
                Some(own) => solved[own],
            };
            matrices[which][i * wide_by + j] = entry;
        }
        for i in 0..outs {
            let own = along(&by_state[i], full);
            let more = along(&by_unknowns[i], &solved);
            let entry = exprs.simplify((exprs.at(own) + exprs.at(more)).id);
            matrices[which + 2][i * wide_by + j] = entry;
        }
    }
    Ok(matrices)
}

/// K⁻¹ R by Gauss's elimination, pivots chosen by the numbers, entries simplified.
fn eliminate(
    exprs: &Exprs,
    setting: &Setting,
    mut k: Vec<Vec<ExprId>>,
    mut r: Vec<Vec<ExprId>>,
) -> Option<Vec<Vec<ExprId>>> {
    let size = k.len();
    let is_zero = |e: ExprId| e == ExprId::ZERO;
    let simple = |e: ExprId| exprs.simplify(e);
    for column in 0..size {
        // A number keeps fractions away; else the entry that is shortest and not 0.
        let entries: Vec<ExprId> = (column..size).map(|i| k[i][column]).collect();
        let values = setting.numbers(&entries, &Default::default());
        let largest = values.iter().fold(0f64, |m, x| m.max(x.abs()));
        let pivot =
            (0..entries.len()).filter(|&i| values[i].abs() > 1e-10 * largest).min_by_key(|&i| {
                let is_number = exprs.as_number(entries[i]).is_some();
                (!is_number, exprs.count_tree_size(entries[i]))
            })?;
        k.swap(column, column + pivot);
        r.swap(column, column + pivot);
        let scale = exprs.at(k[column][column]);
        for place in k[column][column..].iter_mut().chain(&mut r[column]) {
            if !is_zero(*place) {
                *place = simple((exprs.at(*place) / scale).id);
            }
        }
        for i in (0..size).filter(|&i| i != column) {
            let factor = k[i][column];
            if is_zero(factor) {
                continue;
            }
            let (own, pivot) = if i < column {
                let (head, tail) = (i, column);
                let (a, b) = k.split_at_mut(tail);
                (&mut a[head], &b[0])
            } else {
                let (a, b) = k.split_at_mut(i);
                (&mut b[0], &a[column])
            };
            for (x, p) in own.iter_mut().zip(pivot).skip(column) {
                if !is_zero(*p) {
                    *x = simple((exprs.at(*x) - exprs.at(factor) * exprs.at(*p)).id);
                }
            }
            let pivot = r[column].clone();
            for (x, p) in r[i].iter_mut().zip(&pivot) {
                if !is_zero(*p) {
                    *x = simple((exprs.at(*x) - exprs.at(factor) * exprs.at(*p)).id);
                }
            }
        }
    }
    Some(r)
}
