//! Fields among whose combinations integrals are looked for.
//!
//! Unit fields e_i (translations, angles), the columns of a basis S of the admissible
//! velocities, as they are and brought to unit length by the mass, q_j e_i (rotations), sin and cos of angles times e_i (momenta along a
//! heading), t e_i (boosts), and for Euler angles the fields of rotations about axes
//! that the angles do not name. Lagrangians may be invariant
//! up to the rate of a function f(q, t): fields of constants bring t times the constant
//! part of a force along, boosts M q of a constant row of M, and q and t stand alone.
//!
//! Of many coordinates not all products q_j e_i fit. A field ξ = B q that leaves a
//! constant T alone has M B antisymmetric, so that rotations q_i e_j − q_j e_i of
//! coordinates with one constant mass (the Cartesian ones of a body) are enough, and
//! those among coordinates whose masses belong together (the components of a
//! quaternion).

use super::identity::Identity;
use dalembert_derive::picture::{self, Picture};
use dalembert_derive::{Chart, matrix};
use dalembert_expr::{ExprId, Symbol};
use dalembert_simulate::{Setting, State};

/// Up to so many coordinates all products q_j e_i are tried.
const ALL_PRODUCTS: usize = 8;
/// Most columns with families that are no part of a rotation.
const MOST_OTHERS: usize = 160;
/// Charts with more dependent velocities are not written out.
const LARGEST_CHART: usize = 4;

/// One column of the ansatz.
#[derive(Clone, Debug)]
pub enum Column {
    /// τ.
    Energy,
    /// A function times the unit field of a coordinate, with an f of its own.
    Field {
        /// The coordinate.
        along: usize,
        /// The function of q and t.
        factor: ExprId,
        /// f.
        gauge: ExprId,
    },
    /// A field given by all its components, with an f of its own.
    Whole {
        /// ξ.
        field: Vec<ExprId>,
        /// f.
        gauge: ExprId,
    },
    /// A function f(q, t) alone.
    Gauge(ExprId),
}

impl Column {
    fn field(along: usize, factor: ExprId) -> Column {
        Column::Field { along, factor, gauge: ExprId::ZERO }
    }
}

/// Columns of the ansatz.
pub struct Columns {
    /// Simple ones first.
    pub list: Vec<Column>,
    /// Whether rotations were left out, because they are too many.
    pub without_rotations: bool,
}

/// The columns, simple ones first, at most as many as allowed. Whole families are
/// left out rather than parts of them.
pub fn columns(identity: &Identity, setting: &Setting, states: &[State], most: usize) -> Columns {
    let exprs = identity.exprs;
    let n = identity.q.len();
    let at = |id: ExprId| exprs.at(id);
    let q: Vec<ExprId> = identity.q.iter().map(|&s| exprs.of_symbol(s)).collect();
    let t = exprs.time();
    let mut columns = vec![Column::Energy];
    // The constant part F of a force along a field of constants is the rate of f = t F.
    let constant = |force: ExprId| {
        let short = exprs.count_tree_size(force) <= 300;
        let force = if short { exprs.simplify(force) } else { force };
        exprs.part_without(force, |s| moves(identity, s))
    };
    let forces: Vec<ExprId> = (0..n).map(|i| identity.force(i)).collect();
    let weights: Vec<ExprId> = forces.iter().map(|&f| constant(f)).collect();
    columns.extend((0..n).map(|along| Column::Field {
        along,
        factor: ExprId::ONE,
        gauge: (t * at(weights[along])).id,
    }));
    let mut add = |family: Vec<Column>, most: usize| {
        let fits = columns.len() + family.len() <= most;
        if fits {
            columns.extend(family);
        }
        fits
    };
    let blocks = blocks(identity);
    let angles = angles(identity, setting, states);
    let trig = |a: usize| [at(q[a]).cos().id, at(q[a]).sin().id];
    let headings = (0..n)
        .filter(|&a| angles[a] == Angle::Occurs)
        .flat_map(trig)
        .flat_map(|factor| (0..n).map(move |along| Column::field(along, factor)))
        .collect();
    let admissible = admissible(identity, false);
    let along = |s: &Vec<ExprId>| {
        let terms: Vec<ExprId> = s.iter().zip(&forces).map(|(&s, &f)| (at(s) * at(f)).id).collect();
        (t * at(constant(exprs.sum(&terms)))).id
    };
    let whole = |s: &Vec<ExprId>| Column::Whole { field: s.clone(), gauge: along(s) };
    add(admissible.iter().map(whole).collect(), MOST_OTHERS);
    let without_rotations = !add(rotations(identity, &q, &blocks), most);
    add(headings, MOST_OTHERS);
    add(euler(identity, &angles, &q, &blocks), MOST_OTHERS);
    // Boosts: f = M q for a constant row of M, and F t²/2 of a constant force.
    let boosts = (0..n).filter_map(|i| {
        let row = &identity.metric.rows[i];
        let mut entries: Vec<ExprId> = row.iter().map(|e| e.1).collect();
        let rest = picture::at_zero(exprs, &[identity.momenta[i]], &identity.rates)[0];
        entries.push(rest);
        let constant = !exprs.symbols_of(&entries).iter().any(|s| moves(identity, *s));
        let along = at(matrix::dot(exprs, row, &q)) + t.powi(2) * at(weights[i]) / 2;
        let gauge = (along + t * at(rest)).id;
        (constant && !row.is_empty()).then_some(Column::Field { along: i, factor: t.id, gauge })
    });
    add(boosts.collect(), usize::MAX);
    add(q.iter().chain([&t.id]).map(|&f| Column::Gauge(f)).collect(), usize::MAX);
    Columns { list: columns, without_rotations }
}

/// q_j e_i, or of many coordinates the rotations among those that belong together.
fn rotations(identity: &Identity, q: &[ExprId], blocks: &[usize]) -> Vec<Column> {
    let (exprs, n) = (identity.exprs, q.len());
    // x e_y before y e_x: a rotation then reads x p_y − y p_x.
    if n <= ALL_PRODUCTS {
        let pairs = (0..n).flat_map(|j| (0..n).map(move |along| (j, along)));
        return pairs.map(|(j, along)| Column::field(along, q[j])).collect();
    }
    let masses: Vec<Option<ExprId>> = (0..n)
        .map(|i| match identity.metric.rows[i].as_slice() {
            &[(j, mass)] if i == j => {
                let free = !exprs.symbols_of(&[mass]).iter().any(|s| moves(identity, *s));
                free.then_some(mass)
            }
            _ => None,
        })
        .collect();
    let size = |block: usize| blocks.iter().filter(|&&b| b == block).count();
    let related = |i: usize, j: usize| match (masses[i], masses[j]) {
        (Some(a), Some(b)) => a == b,
        _ => blocks[i] == blocks[j] && size(blocks[i]) <= ALL_PRODUCTS,
    };
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let rotation = |(i, j): (usize, usize)| {
        let mut field = vec![ExprId::ZERO; n];
        (field[j], field[i]) = (q[i], (-exprs.at(q[j])).id);
        Column::Whole { field, gauge: ExprId::ZERO }
    };
    pairs.filter(|&(i, j)| related(i, j)).map(rotation).collect()
}

/// Which coordinates belong together by their masses, each with the first of its block:
/// M has an entry for both, or one occurs in the row of the other.
fn blocks(identity: &Identity) -> Vec<usize> {
    let n = identity.q.len();
    let mut blocks: Vec<usize> = (0..n).collect();
    for i in 0..n {
        let row = &identity.metric.rows[i];
        let entries: Vec<ExprId> = row.iter().map(|e| e.1).collect();
        let symbols = identity.exprs.symbols_of(&entries);
        let named = (0..n).filter(|&j| symbols.contains(&identity.q[j]));
        for j in row.iter().map(|e| e.0).chain(named).collect::<Vec<_>>() {
            let (a, b) = (blocks[i].min(blocks[j]), blocks[i].max(blocks[j]));
            blocks.iter_mut().filter(|x| **x == b).for_each(|x| *x = a);
        }
    }
    blocks
}

/// Unit fields and those of S brought to unit length by the mass. They are a family of
/// their own: on the constraints they may be combinations of smoother ones, which are
/// the better answer where they exist.
pub fn unit_columns(identity: &Identity) -> Vec<Column> {
    let n = identity.q.len();
    let unit: Vec<Column> = admissible(identity, true)
        .iter()
        .filter_map(|s| normalised(identity, s))
        .map(|field| Column::Whole { field, gauge: ExprId::ZERO })
        .collect();
    if unit.is_empty() {
        return unit;
    }
    let plain = (0..n).map(|along| Column::field(along, ExprId::ONE));
    std::iter::once(Column::Energy).chain(plain).chain(unit).collect()
}

/// Columns of S that are no unit fields: the admissible velocities of a static chart;
/// where there is one row only, without denominators if so asked.
fn admissible(identity: &Identity, whole: bool) -> Vec<Vec<ExprId>> {
    let (exprs, system) = (identity.exprs, identity.system);
    let Ok(picture) = Picture::new(exprs, system) else { return Vec::new() };
    let chart = Chart::generic(exprs, system, &picture);
    if chart.rows.is_empty() || chart.rows.len() > LARGEST_CHART {
        return Vec::new();
    }
    let Some(parametrised) = chart.parametrise(exprs, &picture) else { return Vec::new() };
    // A single row may be solved without a denominator: a_d e_i − a_i e_d.
    let factor = match parametrised.chart.rows.len() {
        1 if whole => exprs.at(parametrised.a_d.get(0, 0)),
        _ => exprs.integer(1),
    };
    (0..parametrised.free.len())
        .map(|k| {
            let entries = (0..identity.q.len()).map(|i| parametrised.s.get(i, k));
            let entries = entries.map(|e| (exprs.at(e) * factor).id);
            let explicit = |e| exprs.simplify(exprs.without_solves(e, LARGEST_CHART));
            entries.map(explicit).collect::<Vec<ExprId>>()
        })
        .filter(|s| s.iter().filter(|&&e| e != ExprId::ZERO).count() > 1)
        .filter(|s| s.iter().all(|&e| exprs.count_tree_size(e) <= 200))
        .collect()
}

/// S/√(SᵀMS), up to a constant: where no force works along S alone, the momentum along
/// the field of unit length is what may stay.
fn normalised(identity: &Identity, s: &[ExprId]) -> Option<Vec<ExprId>> {
    let exprs = identity.exprs;
    let row: Vec<(usize, ExprId)> = matrix::sparse(s.iter().copied());
    let square = matrix::dot(exprs, &row, &matrix::times(exprs, &identity.metric, s));
    let moving: Vec<Symbol> = identity.q.iter().chain(&identity.rates).copied().collect();
    // In units of its value where all coordinates are 0: 1 + z⁴ and not m(1 + z⁴).
    let origin = picture::at_zero(exprs, &[square], &moving)[0];
    let unit = match exprs.is_zero(origin).is_nonzero() {
        true => exprs.at(origin),
        false => exprs.integer(1),
    };
    let ratio = exprs.simplify((exprs.at(square) / unit).id);
    let varies = exprs.symbols_of(&[ratio]).iter().any(|s| moves(identity, *s));
    let length = exprs.at(ratio).sqrt();
    let field = s.iter().map(|&x| exprs.simplify((exprs.at(x) / length).id));
    (varies && exprs.count_tree_size(ratio) <= 100).then(|| field.collect())
}

/// Whether a symbol is no parameter.
pub fn moves(identity: &Identity, symbol: Symbol) -> bool {
    symbol == Symbol::TIME || identity.q.contains(&symbol) || identity.rates.contains(&symbol)
}

/// How a coordinate enters the equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Angle {
    /// Not as an angle.
    No,
    /// With period 2π.
    Occurs,
    /// Not at all.
    Absent,
}

/// Which coordinates are angles: nothing changes when they grow by 2π. Tried by
/// numbers; a wrong guess costs columns, not correctness.
fn angles(identity: &Identity, setting: &Setting, states: &[State]) -> Vec<Angle> {
    let exprs = identity.exprs;
    let mut roots = identity.momenta.clone();
    roots.extend(&identity.l_q);
    roots.extend(&identity.impressed);
    roots.extend(&identity.nonideal);
    roots.extend(identity.jacobian.rows.iter().flatten().map(|e| e.1));
    let occurring = exprs.symbols_of(&roots);
    let periodic = |symbol: Symbol| {
        states.iter().take(2).all(|state| {
            let mut table = state.table(identity.system);
            let before = setting.numbers(&roots, &table);
            let here = table.get(symbol).unwrap_or(0.0);
            table.set(symbol, here + std::f64::consts::TAU);
            let after = setting.numbers(&roots, &table);
            let size = before.iter().fold(0f64, |m, x| m.max(x.abs()));
            before.iter().zip(&after).all(|(a, b)| (a - b).abs() <= 1e-9 * size)
        })
    };
    let kind = |&symbol: &Symbol| match occurring.contains(&symbol) {
        false => Angle::Absent,
        true if periodic(symbol) => Angle::Occurs,
        true => Angle::No,
    };
    identity.q.iter().map(kind).collect()
}

/// Rotations about axes that Euler angles do not name: for angles a and b
/// e_a (sin a, cos a)·(cot b, tan b), e_c (sin a, cos a)/(sin b, cos b), and sin a, cos a along b where a is
/// absent from the equations.
fn euler(identity: &Identity, angles: &[Angle], q: &[ExprId], blocks: &[usize]) -> Vec<Column> {
    let exprs = identity.exprs;
    let n = q.len();
    let at = |i: usize| exprs.at(q[i]);
    let mut columns = Vec::new();
    // With many angles these are links of chains and not Euler angles, unless they
    // belong to several bodies.
    let count = |block: Option<usize>| {
        let own = (0..n).filter(|&i| block.is_none_or(|b| blocks[i] == b));
        own.filter(|&i| angles[i] != Angle::No).count()
    };
    let few = count(None) <= 4;
    let together = |i: usize, j: usize| few || blocks[i] == blocks[j];
    for a in (0..n).filter(|&a| angles[a] != Angle::No && (few || count(Some(blocks[a])) <= 4)) {
        for b in (0..n).filter(|&b| b != a && angles[b] == Angle::Occurs && together(a, b)) {
            for wave in [at(a).cos(), at(a).sin()] {
                let mut add = |along, factor| columns.push(Column::field(along, factor));
                if angles[a] == Angle::Absent {
                    add(b, wave.id);
                }
                add(a, (wave * at(b).cos() / at(b).sin()).id);
                add(a, (wave * at(b).sin() / at(b).cos()).id);
                let others = (0..n).filter(|&c| c != a && c != b && together(a, c));
                for c in others.filter(|&c| angles[c] != Angle::No) {
                    add(c, (wave / at(b).sin()).id);
                    add(c, (wave / at(b).cos()).id);
                }
            }
        }
    }
    columns
}
