//! What moves and where it is, so that a model can be drawn without being told how.
//!
//! Particles and bodies say it. Elsewhere the energies do: where `x'^2 + y'^2` is added up, or
//! `dot(r', r')` formed, something moves at `[x, y]` or `r`; `p_x^2` in H says it of `x`. The rates
//! are told by what was primed, since an energy in canonical form no longer shows whose squares
//! it was made of. What is found here is a proposal: nothing but pictures depends on it.

use super::value::Value;
use super::*;
use crate::system::Place;
use dalembert_expr::Number;

/// What was seen while definitions and energies were evaluated.
#[derive(Default)]
pub(super) struct Seen {
    /// Whether the energies are still to come; constraints tell nothing.
    closed: bool,
    /// Positions by their rates.
    rates: FxHashMap<ExprId, ExprId>,
    /// The same of vectors, whose components may be constant.
    vectors: FxHashMap<Vec<ExprId>, Vec<ExprId>>,
    /// Positions whose rates are squared, those of one sum together.
    groups: Vec<(Vec<ExprId>, Span)>,
}

impl<'a> Resolver<'a, '_> {
    /// Remembers what a rate is the rate of.
    pub(super) fn see_prime(&mut self, value: &Value, rate: &Value) {
        if self.seen.closed || !value.components().iter().all(|&e| self.is_place(e)) {
            return;
        }
        for (&position, &rate) in value.components().iter().zip(rate.components()) {
            if rate != ExprId::ZERO {
                self.seen.rates.insert(rate, position);
            }
        }
        if let (Value::Vector(r), 2..=3) = (value, value.components().len()) {
            self.seen.vectors.insert(rate.components().to_vec(), r.to_vec());
        }
    }

    /// Looks at base ^ exponent.
    pub(super) fn see_power(&mut self, base: ExprId, exponent: ExprId, span: Span) {
        let is_square = self.exprs.as_number(exponent).is_some_and(|n| n == Number::from(2));
        if self.seen.closed || !is_square {
            return;
        }
        if let Some(position) = self.position_of(base) {
            self.seen.groups.push((vec![position], span));
        }
    }

    /// How many groups there are, and whether the last of them is that of a term which was
    /// evaluated when there were `before` of them.
    pub(super) fn square_of(&self, term: &Expr, before: usize) -> Option<usize> {
        let groups = &self.seen.groups;
        let is_power = matches!(term.kind, tree::ExprKind::Power(..));
        (is_power && groups.len() > before && groups[groups.len() - 1].1 == term.span)
            .then(|| groups.len() - 1)
    }

    /// How many groups were seen so far.
    pub(super) fn n_squares(&self) -> usize {
        self.seen.groups.len()
    }

    /// Squares that are added belong together.
    pub(super) fn see_sum(&mut self, squares: &[usize]) {
        let [first, others @ ..] = squares else { return };
        for &other in others {
            let components = std::mem::take(&mut self.seen.groups[other].0);
            self.seen.groups[*first].0.extend(components);
        }
    }

    /// Looks at the product of two vectors.
    pub(super) fn see_dot(&mut self, a: &[ExprId], b: &[ExprId], span: Span) {
        if self.seen.closed || a != b {
            return;
        }
        if let Some(r) = self.seen.vectors.get(a) {
            self.seen.groups.push((r.clone(), span));
        }
    }

    /// Ends the looking: what was found, each once, and none that is part of another.
    pub(super) fn places(&mut self) -> Vec<Place> {
        self.seen.closed = true;
        let groups = std::mem::take(&mut self.seen).groups;
        self.seen.closed = true;
        let mut places: Vec<Place> = Vec::new();
        let mut single: FxHashSet<ExprId> = FxHashSet::default();
        let mut known: FxHashSet<Vec<ExprId>> = FxHashSet::default();
        for (position, _) in groups.iter().filter(|g| g.0.len() > 1) {
            single.extend(position);
        }
        for (position, span) in groups {
            let is_part = position.len() == 1 && single.contains(&position[0]);
            if !position.is_empty() && !is_part && known.insert(position.clone()) {
                places.push(Place { name: String::new(), position, extent: None, span });
            }
        }
        places
    }

    /// Whether it is a function of positions, and of nothing that moves otherwise.
    fn is_place(&mut self, id: ExprId) -> bool {
        self.mask(id) & !(role::POSITION | role::PARAMETER | role::GIVEN) == 0
    }

    /// What this is the rate (or the momentum) of.
    fn position_of(&mut self, rate: ExprId) -> Option<ExprId> {
        if let Some(&position) = self.seen.rates.get(&rate) {
            return Some(position);
        }
        let mask = self.mask(rate);
        if mask == role::MOMENTUM {
            let symbol = self.exprs.as_symbol(rate)?;
            let coordinate = self.parts.coordinates.iter().find(|c| c.momentum == symbol)?;
            return Some(self.exprs.of_symbol(coordinate.position));
        }
        if mask & role::VELOCITY == 0 || mask & !(role::VELOCITY | role::PARAMETER) != 0 {
            return None;
        }
        // (q1' + q2')^2: a rate that is linear with constant coefficients.
        let coordinates = &self.parts.coordinates;
        let held: FxHashSet<Symbol> = self.exprs.symbols_of(&[rate]).into_iter().collect();
        let replacements: Vec<(Symbol, ExprId)> = coordinates
            .iter()
            .filter(|c| held.contains(&c.velocity))
            .map(|c| (c.velocity, self.exprs.of_symbol(c.position)))
            .collect();
        let position = self.exprs.substitute(&[rate], &replacements)[0];
        (self.exprs.time_derivative(position) == rate).then_some(position)
    }
}
