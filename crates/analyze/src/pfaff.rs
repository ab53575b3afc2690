//! One-forms and the distribution they leave: Frobenius' theorem and the derived
//! flag.
//!
//! For ω_j = Σ a_ji dx_i, with time as one of the x, D = ker ω has the dimension
//! N − r. With D₁ = D and D_{i+1} = D_i + [D, D_i],
//!
//! ```text
//! growth vector              (dim D₁, dim D₂, …, dim D_∞)
//! holonomic as a set         D₂ = D₁                          (Frobenius)
//! integrable combinations    N − dim D_∞
//! first derived system       dim I′ = r − (dim D₂ − dim D₁)
//! ```
//!
//! (Bryant et al., *Exterior Differential Systems*, II.1–II.4; here `[X, Y] = Y_x X −
//! X_x Y`.) The fields are those of a static chart, X_i = e_i − A_d⁻¹A_i, which can
//! be differentiated; brackets are made on the expression graph, and at each level
//! only those are kept that make the span larger at a generic point. That is enough
//! there: [X, fY] differs from f[X, Y] by a multiple of Y. At a special point all
//! nested brackets are needed (see `growth_at`).
//!
//! It fails where no chart is regular at the points given, and stops with what it
//! has where the brackets grow beyond [`LARGEST`] nodes.

use crate::places::{Places, Point, Ranked, both, matrix_of};
use crate::shown::Shown;
use dalembert_derive::matrix::{self, Inverse};
use dalembert_expr::{ExprId, Exprs, Jacobian, Symbol};
use dalembert_model::rank::Independent;

/// Brackets of more nodes are not made.
pub const LARGEST: usize = 400_000;
/// No more nested brackets than these are taken at a special point.
const MOST: usize = 64;
/// Nor those of more nodes.
const SPECIAL: usize = 20_000;

/// One-forms in coordinates.
pub struct Pfaffian<'e> {
    /// The arena.
    pub exprs: &'e Exprs,
    /// The coordinates x, time among them.
    pub x: Vec<Symbol>,
    /// The forms, one a row.
    pub forms: Jacobian,
}

/// What is true of the forms as a set.
#[derive(Clone, Debug)]
pub struct Flag {
    /// Rank of the forms.
    pub rank: usize,
    /// Independent forms.
    pub independent: Vec<usize>,
    /// The coordinates that the chart makes depend on the others.
    pub dependent: Vec<usize>,
    /// dim D₁, dim D₂, …; to the end if `ended`.
    pub growth: Vec<usize>,
    /// Whether the last dimension is that of D_∞.
    pub ended: bool,
    /// Fields that span D, then those that brackets add.
    pub fields: Vec<Vec<ExprId>>,
    /// How it was established.
    pub shown: Shown,
    size: usize,
}

/// Why there is no flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagError {
    /// The forms have no values at the points.
    Undefined,
    /// The forms leave time no way to pass: they imply more than they say.
    NoTime,
}

impl Flag {
    /// Whether the forms are holonomic as a set.
    pub fn is_involutive(&self) -> bool {
        self.growth.len() == 1 && self.ended
    }

    /// How many independent combinations are integrable; `None` if the flag was not
    /// followed to its end.
    pub fn integrable(&self) -> Option<usize> {
        self.ended.then(|| self.size - self.growth[self.growth.len() - 1])
    }

    /// dim I′.
    pub fn first_derived(&self) -> usize {
        let second = self.growth.get(1).unwrap_or(&self.growth[0]);
        self.rank - (second - self.growth[0])
    }
}

/// [X, Y] = Y_x X − X_x Y.
pub fn bracket(exprs: &Exprs, x: &[Symbol], a: &[ExprId], b: &[ExprId]) -> Vec<ExprId> {
    let rates = |field: &[ExprId]| -> Vec<(Symbol, ExprId)> {
        x.iter().copied().zip(field.iter().copied()).filter(|r| r.1 != ExprId::ZERO).collect()
    };
    let forth = exprs.directional(b, &rates(a));
    let back = exprs.directional(a, &rates(b));
    forth.iter().zip(&back).map(|(&f, &g)| (exprs.at(f) - exprs.at(g)).id).collect()
}

impl Pfaffian<'_> {
    /// The rank of the forms.
    pub fn rank(&self, places: &Places) -> Option<Ranked> {
        places.rank(self.exprs, &self.forms)
    }

    /// The flag at generic points, to its end.
    pub fn flag(&self, places: &Places) -> Result<Flag, FlagError> {
        self.flag_to(places, usize::MAX)
    }

    /// Whether the forms are holonomic as a set: the first step of the flag.
    pub fn is_involutive(&self, places: &Places) -> Result<bool, FlagError> {
        Ok(self.flag_to(places, 1)?.growth.len() == 1)
    }

    /// The distribution of forms that are known to be exact, or combinations of exact
    /// ones: no bracket leads out of it.
    pub fn flag_of_exact(&self, places: &Places) -> Result<Flag, FlagError> {
        self.flag_to(places, 0)
    }

    fn flag_to(&self, places: &Places, steps: usize) -> Result<Flag, FlagError> {
        let exprs = self.exprs;
        let size = self.x.len();
        let ranked = self.rank(places).ok_or(FlagError::Undefined)?;
        let mut flag = Flag {
            rank: ranked.rank(),
            independent: ranked.at.rows.clone(),
            dependent: Vec::new(),
            growth: vec![size - ranked.rank()],
            ended: true,
            fields: Vec::new(),
            shown: ranked.shown.clone(),
            size,
        };
        flag.dependent = self.chart(&ranked, places)?;
        let chosen = matrix::part(&self.forms, &flag.independent, &(0..size).collect::<Vec<_>>());
        flag.fields = self.basis(&chosen, &flag.dependent).ok_or(FlagError::Undefined)?;
        let first = flag.fields.len();
        let mut newest = 0..first;
        while flag.fields.len() < size && flag.growth.len() <= steps {
            let mut new = Vec::new();
            for i in 0..first {
                for j in newest.clone() {
                    if newest.start == 0 && j <= i {
                        continue;
                    }
                    let field = bracket(exprs, &self.x, &flag.fields[i], &flag.fields[j]);
                    if field.iter().any(|&e| e != ExprId::ZERO) {
                        new.push(field);
                    }
                }
            }
            if new.is_empty() {
                break;
            }
            let roots: Vec<ExprId> = new.iter().flatten().copied().collect();
            if exprs.count_nodes(&roots) > LARGEST {
                flag.ended = false;
                break;
            }
            let before = flag.fields.len();
            let all: Vec<Vec<ExprId>> = flag.fields.iter().cloned().chain(new).collect();
            let ranked = places.rank(exprs, &matrix_of(&all, size)).ok_or(FlagError::Undefined)?;
            flag.shown = both(&flag.shown, &ranked.shown);
            let added: Vec<usize> =
                ranked.at.rows.iter().copied().filter(|&row| row >= before).collect();
            if added.is_empty() || ranked.rank() <= before {
                break;
            }
            flag.fields.extend(added.iter().map(|&row| all[row].clone()));
            newest = before..flag.fields.len();
            flag.growth.push(flag.fields.len());
        }
        Ok(flag)
    }

    /// As many coordinates as there are independent forms, for which these can be
    /// solved: where coefficients are numbers, if possible, and never time.
    fn chart(&self, ranked: &Ranked, places: &Places) -> Result<Vec<usize>, FlagError> {
        let exprs = self.exprs;
        let time = self.x.iter().position(|&s| s == Symbol::TIME);
        let point = ranked.place.map(|at| &places.points[at]);
        let Some(point) = point else {
            let columns = ranked.at.columns.clone();
            return if time.is_some_and(|t| columns.contains(&t)) {
                Err(FlagError::NoTime)
            } else {
                Ok(columns)
            };
        };
        let mut independent = Independent::default();
        let mut columns = Vec::new();
        for &row in &ranked.at.rows {
            let list = &self.forms.rows[row];
            let entries: Vec<ExprId> = list.iter().map(|e| e.1).collect();
            let values = exprs.eval_f64(&entries, |s| point.value(s));
            let pairs = list.iter().zip(values).map(|(e, v)| (e.0, v));
            let pairs = pairs.filter(|p| Some(p.0) != time);
            let plain: Vec<usize> =
                list.iter().filter(|e| exprs.as_number(e.1).is_some()).map(|e| e.0).collect();
            match independent.add_preferring(pairs, |column| plain.contains(&column)) {
                Some(column) => columns.push(column),
                None => return Err(FlagError::NoTime),
            }
        }
        Ok(columns)
    }

    /// X_i = e_i − A_d⁻¹A_i for the free coordinates i.
    pub(crate) fn basis(&self, forms: &Jacobian, dependent: &[usize]) -> Option<Vec<Vec<ExprId>>> {
        let (exprs, size) = (self.exprs, self.x.len());
        let rows: Vec<usize> = (0..forms.rows.len()).collect();
        let free: Vec<usize> = (0..size).filter(|i| !dependent.contains(i)).collect();
        let inverse = Inverse::new(&matrix::part(forms, &rows, dependent))?;
        let solved = inverse.solve_matrix(exprs, &matrix::part(forms, &rows, &free));
        let mut fields = vec![vec![ExprId::ZERO; size]; free.len()];
        for (at, &i) in free.iter().enumerate() {
            fields[at][i] = ExprId::ONE;
        }
        for (&d, row) in dependent.iter().zip(&solved.rows) {
            for &(at, value) in row {
                fields[at][d] = (-exprs.at(value)).id;
            }
        }
        Some(fields)
    }

    /// The growth vector at one point, from all nested brackets there, as long as
    /// they are few; `None` if the chart or the forms are singular at the point, or if
    /// it was not followed to the dimension of D_∞.
    pub fn growth_at(&self, flag: &Flag, point: &Point) -> Option<Vec<usize>> {
        let (exprs, size) = (self.exprs, self.x.len());
        let before = exprs.len();
        let last = *flag.growth.last()?;
        let first = flag.growth[0];
        let basis = &flag.fields[..first];
        let mut all: Vec<Vec<ExprId>> = basis.to_vec();
        let mut level: Vec<Vec<ExprId>> = basis.to_vec();
        let at = |all: &[Vec<ExprId>]| Places::rank_at(exprs, &matrix_of(all, size), point);
        let mut growth = vec![at(&all)?];
        if growth[0] != first {
            return None;
        }
        while growth[growth.len() - 1] < last {
            let mut next: Vec<Vec<ExprId>> = Vec::new();
            for (i, x) in basis.iter().enumerate() {
                for (j, y) in level.iter().enumerate() {
                    if growth.len() == 1 && j <= i {
                        continue;
                    }
                    let field = bracket(exprs, &self.x, x, y);
                    if field.iter().any(|&e| e != ExprId::ZERO) && !next.contains(&field) {
                        next.push(field);
                    }
                    if all.len() + next.len() > MOST || exprs.len() > before + SPECIAL {
                        return None;
                    }
                }
            }
            if next.is_empty() {
                return None;
            }
            all.extend(next.iter().cloned());
            growth.push(at(&all)?);
            level = next;
        }
        Some(growth)
    }

    /// Whether a form vanishes on the span of fields: on D it is a combination of the
    /// forms, on D_∞ one of the integrable combinations.
    pub fn vanishes_on(
        &self,
        form: &[(usize, ExprId)],
        fields: &[Vec<ExprId>],
        places: &Places,
    ) -> bool {
        let values: Vec<ExprId> =
            fields.iter().map(|field| matrix::dot(self.exprs, form, field)).collect();
        let row = matrix_of(&[values], fields.len());
        places.rank(self.exprs, &row).is_some_and(|ranked| ranked.rank() == 0)
    }
}
