//! Candidates: null vectors of the conditions, with their coefficients read as exact
//! ones.

use super::InvariantOptions;
use super::identity::{Generator, Identity};
use super::library::{self, Column};
use super::symbolic::{OnConstraints, Vanishing};
use super::{recognise, search};
use crate::Shown;
use crate::watch::{Interrupted, Watch};
use dalembert_expr::{ExprId, Exprs, Number, Symbol};
use dalembert_simulate::start::{self, Guess};
use dalembert_simulate::{Setting, Start, State};

/// A null vector with more entries is not read as one with parameters in it.
const LONGEST: usize = 16;

/// Generators whose coefficients solve the conditions at consistent states, with the
/// coefficients read as exact ones.
pub fn candidates(
    identity: &Identity,
    setting: &Setting,
    start: &Start,
    on: &OnConstraints,
    few: &[State],
    options: &InvariantOptions,
    watch: &Watch,
) -> Result<Candidates, Interrupted> {
    let columns = library::columns(identity, setting, few, options.most_columns);
    let search = Search { identity, setting, start, on, few, seed: options.seed, watch };
    let mut generators = search.among(&columns.list)?;
    // What holds the energy was found before.
    let unit = search.among(&library::unit_columns(identity))?;
    generators.extend(unit.into_iter().filter(|g| !g.with_energy));
    watch.on("proving that integrals are constant")?;
    let turns = turns(identity, &generators);
    generators.extend(turns.into_iter().filter(|g| search.holds(g).is_some()));
    Ok(Candidates { generators, without_rotations: columns.without_rotations })
}

/// What was found.
pub struct Candidates {
    /// Generators.
    pub generators: Vec<Generator>,
    /// Whether rotations were left out, because they are too many.
    pub without_rotations: bool,
}

/// What a search is made with.
struct Search<'a> {
    identity: &'a Identity<'a>,
    setting: &'a Setting,
    start: &'a Start,
    on: &'a OnConstraints,
    few: &'a [State],
    seed: u64,
    watch: &'a Watch<'a>,
}

impl Search<'_> {
    /// Generators among the combinations of columns.
    fn among(&self, columns: &[Column]) -> Result<Vec<Generator>, Interrupted> {
        let Search { identity, setting, start, seed, watch, .. } = *self;
        let (exprs, n) = (identity.exprs, identity.q.len());
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        watch.on("looking for fields along which nothing changes")?;
        let (found, places) = search::look(identity, setting, start, columns, seed);
        let vectors = |setting: &Setting, start: &Start| {
            search::at_places(identity, setting, start, columns, places, seed)
        };
        // Parameters changed one at a time, when a coefficient is not what it seems to be.
        let mut changed: Option<Vec<Response>> = None;
        let mut generators = Vec::new();
        for vector in found {
            watch.on("proving that integrals are constant")?;
            let plain: Option<Vec<ExprId>> = vector.iter().map(|&c| number(exprs, c)).collect();
            let plain = plain.map(|list| assemble(exprs, n, columns, &list));
            let holds = |generator: &Generator| self.holds(generator);
            let verdict = plain.as_ref().and_then(holds);
            let decided = verdict.as_ref().is_some_and(|v| {
                let open = matches!(v.shown, Shown::RandomPoints { error: None, .. });
                !v.for_these_values && !open
            });
            if let (Some(plain), true) = (&plain, decided) {
                generators.push(plain.clone());
                continue;
            }
            // What depends on parameters is short; long vectors are numbers that almost vanish.
            if vector.iter().filter(|&&c| c != 0.0).count() > LONGEST {
                continue;
            }
            if changed.is_none() {
                changed = Some(responses(identity, setting, start, &vectors, watch)?);
            }
            match (read(exprs, &vector, changed.as_deref().unwrap_or_default()), plain) {
                (Some(exact), plain) => {
                    let exact = assemble(exprs, n, columns, &exact);
                    match holds(&exact) {
                        Some(_) => generators.push(exact),
                        None => generators.extend(plain.filter(is_plain)),
                    }
                }
                // For these values of the parameters only: worth saying of plain fields, as of a
                // body that happens to be symmetric.
                (None, plain) => generators.extend(plain.filter(is_plain)),
            }
        }
        Ok(generators)
    }

    fn holds(&self, generator: &Generator) -> Option<Vanishing> {
        let Search { identity, setting, on, few, .. } = *self;
        let conditions = identity.conditions(generator);
        let mut roots = vec![conditions.power];
        roots.extend(&conditions.rows);
        on.vanish(identity, setting, few, &roots)
    }
}

/// Rotations that two translations suggest: if coordinates x_k shift together and so do
/// coordinates y_k of the same constant masses, these are likely the axes of bodies, which may turn
///
/// ```text
/// Σ x_k e_yk − y_k e_xk ,   Σ (x_k − X) e_yk − (y_k − Y) e_xk
/// ```
///
/// about the origin, or in a uniform field about their center of mass X = Σ m x / Σ m. Its
/// coefficients are no numbers that could be read.
fn turns(identity: &Identity, generators: &[Generator]) -> Vec<Generator> {
    let exprs = identity.exprs;
    let at = |id: ExprId| exprs.at(id);
    let mass = |i: usize| match identity.metric.rows[i].as_slice() {
        &[(j, mass)] if i == j => {
            let symbols = exprs.symbols_of(&[mass]);
            (!symbols.iter().any(|s| library::moves(identity, *s))).then_some(mass)
        }
        _ => None,
    };
    // Coordinates that shift together, with their masses.
    let shifts: Vec<Vec<(usize, ExprId)>> = generators
        .iter()
        .filter(|g| !g.with_energy)
        .filter_map(|g| {
            let along = g.field.iter().enumerate().filter(|x| *x.1 != ExprId::ZERO);
            let entry = |(i, &x): (usize, &ExprId)| {
                mass(i).filter(|_| x == ExprId::ONE).map(|mass| (i, mass))
            };
            along.map(entry).collect::<Option<Vec<_>>>().filter(|list| list.len() > 1)
        })
        .collect();
    let q: Vec<ExprId> = identity.q.iter().map(|&s| exprs.of_symbol(s)).collect();
    let center = |list: &[(usize, ExprId)]| {
        let moments: Vec<ExprId> = list.iter().map(|&(i, m)| (at(m) * at(q[i])).id).collect();
        let masses: Vec<ExprId> = list.iter().map(|x| x.1).collect();
        at(exprs.sum(&moments)) / at(exprs.sum(&masses))
    };
    let mut list = Vec::new();
    for (k, x) in shifts.iter().enumerate() {
        for y in &shifts[k + 1..] {
            let alike = x.len() == y.len() && x.iter().zip(y).all(|(x, y)| x.1 == y.1);
            if !alike || x.iter().any(|x| y.iter().any(|y| x.0 == y.0)) {
                continue;
            }
            let zero = exprs.integer(0);
            for [cx, cy] in [[zero, zero], [center(x), center(y)]] {
                let mut field = vec![ExprId::ZERO; q.len()];
                for (&(i, _), &(j, _)) in x.iter().zip(y) {
                    field[j] = (at(q[i]) - cx).id;
                    field[i] = (cy - at(q[j])).id;
                }
                list.push(Generator { field, with_energy: false, gauge: ExprId::ZERO });
            }
        }
    }
    list
}

/// Whether a field is made of numbers, and nothing else.
fn is_plain(generator: &Generator) -> bool {
    let numbers = generator.field.iter().filter(|&&x| x != ExprId::ZERO).count();
    generator.gauge == ExprId::ZERO && numbers == 1
}

/// What the null vectors are with one parameter changed.
struct Response {
    parameter: Symbol,
    value: f64,
    factor: f64,
    vectors: Vec<Vec<f64>>,
}

fn responses(
    identity: &Identity,
    setting: &Setting,
    start: &Start,
    vectors: &dyn Fn(&Setting, &Start) -> Vec<Vec<f64>>,
    watch: &Watch,
) -> Result<Vec<Response>, Interrupted> {
    /// Each costs a search.
    const MOST: usize = 24;
    const FACTOR: f64 = 1.125;
    let (symbols, values) = setting.constants();
    let mut roots = vec![identity.energy];
    roots.extend(identity.jacobian.rows.iter().flatten().map(|e| e.1));
    roots.extend(&identity.drag);
    roots.extend(&identity.impressed);
    roots.extend(&identity.nonideal);
    let used = identity.exprs.symbols_of(&roots);
    let by_momenta = identity.rates == identity.system.momenta();
    let state = &start.state;
    let rate = if by_momenta { &state.momentum } else { &state.velocity };
    let guess = Guess { q: state.q.clone(), rate: rate.clone(), by_momenta };
    let tried = symbols.into_iter().zip(values);
    let tried = tried.filter(|&(s, value)| value != 0.0 && used.contains(&s)).take(MOST);
    let mut responses = Vec::new();
    for (parameter, value) in tried {
        watch.on("looking how integrals depend on the parameters")?;
        let other = setting.with(parameter, FACTOR * value);
        let Ok(start) = start::from(&other, state.t, &guess, false) else { continue };
        let vectors = vectors(&other, &start);
        responses.push(Response { parameter, value, factor: FACTOR, vectors });
    }
    Ok(responses)
}

/// Exact coefficients by what they do when parameters change.
fn read(exprs: &Exprs, vector: &[f64], responses: &[Response]) -> Option<Vec<ExprId>> {
    let lead = vector.iter().position(|&c| c != 0.0)?;
    let mut exact = Vec::new();
    for (at, &c) in vector.iter().enumerate() {
        if c == 0.0 {
            exact.push(ExprId::ZERO);
            continue;
        }
        let list: Vec<(Symbol, f64, f64, f64)> = responses
            .iter()
            .filter_map(|r| {
                // Vectors are told apart by their leading columns. One that is gone for another
                // value of the parameter has nothing to say about the coefficient.
                let leads = |v: &&Vec<f64>| v.iter().position(|&c| c != 0.0) == Some(lead);
                let same = r.vectors.iter().find(leads)?;
                (same[at] != 0.0).then_some((r.parameter, r.value, r.factor, same[at]))
            })
            .collect();
        exact.push(recognise::monomial(exprs, c, &list)?);
    }
    Some(exact)
}

/// A coefficient that is rational with a small denominator.
fn number(exprs: &Exprs, value: f64) -> Option<ExprId> {
    if value == 0.0 {
        return Some(ExprId::ZERO);
    }
    let (numerator, denominator) = recognise::rational(value)?;
    Number::ratio(numerator, denominator).map(|n| exprs.of_number(n))
}

fn assemble(exprs: &Exprs, n: usize, columns: &[Column], coefficients: &[ExprId]) -> Generator {
    let mut terms: Vec<Vec<ExprId>> = vec![Vec::new(); n + 1];
    let mut with_energy = false;
    for (column, &c) in columns.iter().zip(coefficients).filter(|pair| *pair.1 != ExprId::ZERO) {
        match column {
            // It is the first column, so that its coefficient is 1 if it is there.
            Column::Energy => with_energy = true,
            Column::Field { along, factor, gauge } => {
                terms[*along].push(exprs.product(&[c, *factor]));
                terms[n].push(exprs.product(&[c, *gauge]));
            }
            Column::Whole { field, gauge } => {
                let products = field.iter().chain([gauge]).map(|&x| exprs.product(&[c, x]));
                terms.iter_mut().zip(products).for_each(|(list, x)| list.push(x));
            }
            Column::Gauge(f) => terms[n].push(exprs.product(&[c, *f])),
        }
    }
    let gauge = exprs.sum(&terms[n]);
    let field = terms[..n].iter().map(|list| exprs.sum(list)).collect();
    Generator { field, with_energy, gauge }
}
