//! Whether expressions vanish on the constraints.
//!
//! First as they stand. Then each constraint is solved for one symbol in which it
//! is affine (or of which it holds the square), and that symbol is replaced: what is
//! left is free, and the zero test decides. Where a constraint cannot be solved so,
//! numbers at consistent states have the last word.

use super::identity::Identity;
use crate::{Shown, rows};
use dalembert_expr::{ExprId, Exprs, Symbol, SymbolKind, Zero};
use dalembert_model::system::Level;
use dalembert_simulate::{Setting, State};

/// Larger expressions, as trees, are not taken apart.
const LARGEST: u64 = 20_000;
/// More constraints are not solved one by one: the answers swell.
const MOST_ROWS: usize = 12;
/// So many times its rounding bound may a value be that is 0 at a consistent state.
const AT_STATES: f64 = 1e4;

/// The constraints, solved.
pub struct OnConstraints {
    replacements: Vec<(Symbol, ExprId)>,
    /// Whether all of them were solved.
    complete: bool,
    /// Whether a root was taken, and so one of two branches.
    branched: bool,
}

impl OnConstraints {
    /// Solves the constraints of a system one after the other.
    pub fn new(identity: &Identity) -> OnConstraints {
        let exprs = identity.exprs;
        let mut solved =
            OnConstraints { replacements: Vec::new(), complete: true, branched: false };
        let parameters: Vec<Symbol> = identity.system.parameters.iter().map(|p| p.symbol).collect();
        if identity.residuals.len() > 2 * MOST_ROWS {
            solved.complete = false;
            return solved;
        }
        for &(level, residual) in &identity.residuals {
            let residual = solved.apply(exprs, &[residual])[0];
            if exprs.is_zero(residual).is_zero() {
                continue;
            }
            let unknowns: Vec<Symbol> = match level {
                Level::Position => identity.q.iter().chain(&parameters).copied().collect(),
                _ => identity.rates.clone(),
            };
            let small = exprs.count_tree_size(residual) <= LARGEST / 10;
            let answer = small.then(|| solve(exprs, residual, &unknowns)).flatten();
            match answer {
                Some((symbol, value, branched)) => {
                    solved.branched |= branched;
                    for place in &mut solved.replacements {
                        place.1 = exprs.substitute(&[place.1], &[(symbol, value)])[0];
                    }
                    solved.replacements.push((symbol, value));
                }
                None => solved.complete = false,
            }
        }
        solved
    }

    fn apply(&self, exprs: &Exprs, roots: &[ExprId]) -> Vec<ExprId> {
        exprs.substitute(roots, &self.replacements)
    }

    /// How it was established that expressions vanish on the constraints; `None` if
    /// they do not.
    pub fn vanish(
        &self,
        identity: &Identity,
        setting: &Setting,
        states: &[State],
        roots: &[ExprId],
    ) -> Option<Vanishing> {
        let exprs = identity.exprs;
        if let Some(shown) = zero(exprs, roots, false) {
            return Some(Vanishing { shown, for_these_values: false });
        }
        // What is not 0 at consistent states is not worth more.
        let shown = at_states(identity, setting, states, roots)?;
        if self.replacements.is_empty() || size(exprs, roots) > LARGEST {
            return self.for_values(identity, roots, shown);
        }
        let reduced = self.apply(exprs, roots);
        if size(exprs, &reduced) > 10 * LARGEST {
            return Some(Vanishing { shown, for_these_values: false });
        }
        match zero(exprs, &reduced, self.branched) {
            Some(shown) => Some(Vanishing { shown, for_these_values: false }),
            None => self.for_values(identity, &reduced, shown),
        }
    }

    /// What is 0 at states though not for all values of the parameters: whether it is for
    /// these. Numbers at states have the last word only where that is open.
    fn for_values(&self, identity: &Identity, roots: &[ExprId], shown: Shown) -> Option<Vanishing> {
        let exprs = identity.exprs;
        if !self.complete || !exprs.all_zero(roots).is_nonzero() {
            return Some(Vanishing { shown, for_these_values: false });
        }
        let values = rows::parameter_values(exprs, identity.system);
        let fixed = exprs.substitute(roots, &values);
        match zero(exprs, &fixed, self.branched) {
            Some(shown) => Some(Vanishing { shown, for_these_values: true }),
            None if exprs.all_zero(&fixed).is_nonzero() => None,
            None => Some(Vanishing { shown, for_these_values: true }),
        }
    }
}

/// How expressions were found to vanish on the constraints.
#[derive(Clone, Debug, PartialEq)]
pub struct Vanishing {
    /// How.
    pub shown: Shown,
    /// Whether they do not for other values of the parameters.
    pub for_these_values: bool,
}

fn size(exprs: &Exprs, roots: &[ExprId]) -> u64 {
    roots.iter().fold(0, |sum: u64, &id| sum.saturating_add(exprs.count_tree_size(id)))
}

/// The zero test, in the words of a claim.
fn zero(exprs: &Exprs, roots: &[ExprId], branched: bool) -> Option<Shown> {
    let short = size(exprs, roots) <= LARGEST / 10;
    let simple: Vec<ExprId> = match short {
        true => roots.iter().map(|&id| exprs.simplify(exprs.expand(id))).collect(),
        false => roots.to_vec(),
    };
    match exprs.all_zero(&simple) {
        Zero::Structural if !branched => Some(Shown::Symbolic),
        Zero::Structural => Some(Shown::RandomPoints { points: 1, error: Some(0.0) }),
        Zero::Sampled { points, probability, .. } => {
            Some(Shown::RandomPoints { points: points as usize, error: Some(probability) })
        }
        Zero::Nonzero | Zero::Unknown => None,
    }
}

/// Numbers at consistent states.
fn at_states(
    identity: &Identity,
    setting: &Setting,
    states: &[State],
    roots: &[ExprId],
) -> Option<Shown> {
    let mut points = 0;
    for state in states {
        let values = setting.evaluate(roots, &state.table(identity.system));
        if values.iter().any(|v| !v.value.is_finite()) {
            continue;
        }
        // A constraint met to rounding leaves a little more than rounding.
        if values.iter().any(|v| v.value.abs() > AT_STATES * v.noise) {
            return None;
        }
        points += 1;
    }
    (points >= 3).then_some(Shown::RandomPoints { points, error: None })
}

/// A symbol that an equation gives, and what it is.
fn solve(exprs: &Exprs, residual: ExprId, unknowns: &[Symbol]) -> Option<(Symbol, ExprId, bool)> {
    let occurring = exprs.symbols_of(&[residual]);
    let candidates: Vec<Symbol> =
        unknowns.iter().copied().filter(|s| occurring.contains(s)).collect();
    let mut best: Option<(bool, u64, Symbol, ExprId)> = None;
    for &symbol in &candidates {
        let Some((slope, value)) = affine(exprs, residual, symbol) else { continue };
        let plain = exprs.as_number(slope).is_none();
        let key = (plain, exprs.count_tree_size(value));
        if best.as_ref().is_none_or(|b| key < (b.0, b.1)) {
            best = Some((key.0, key.1, symbol, value));
        }
    }
    if let Some((_, _, symbol, value)) = best {
        return Some((symbol, value, false));
    }
    // x² + y² = r²: in the square of a symbol, a parameter's first.
    let square = exprs.symbol("square", SymbolKind::Constant);
    let root = exprs.at(exprs.of_symbol(square)).sqrt();
    for &symbol in candidates.iter().rev() {
        let squared = exprs.substitute(&[residual], &[(symbol, root.id)])[0];
        if let Some((_, value)) = affine(exprs, squared, square) {
            return Some((symbol, exprs.at(value).sqrt().id, true));
        }
    }
    None
}

/// Slope and root of an equation that is affine in a symbol.
fn affine(exprs: &Exprs, residual: ExprId, symbol: Symbol) -> Option<(ExprId, ExprId)> {
    let slope = exprs.derivative(residual, symbol);
    if exprs.symbols_of(&[slope]).contains(&symbol) || !exprs.is_zero(slope).is_nonzero() {
        return None;
    }
    let rest = exprs.substitute(&[residual], &[(symbol, ExprId::ZERO)])[0];
    Some((slope, (-exprs.at(rest) / exprs.at(slope)).id))
}
