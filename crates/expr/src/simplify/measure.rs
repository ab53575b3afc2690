//! How readable an expression is: roughly the room it takes on paper. A leaf
//! is 4; a sign, an exponent, a pair of parentheses somewhat less; parentheses
//! inside parentheses are what readers stumble over.

use super::Simplifier;
use super::poly::Term;
use crate::arena::{ExprId, Node, NumberId};
use crate::function::Function;
use crate::symbol::SymbolKind;

const LEAF: u64 = 4;
/// A number that is added. Little, so that k (x − 1) stays as it is.
const ALONE: u64 = 1;
const BESIDE: u64 = 2;
const PLUS: u64 = 3;
const EXPONENT: u64 = 3;
const PARENTHESES: u64 = 3;
const NESTED: u64 = 6;
const FUNCTION: u64 = 4;
const FRACTION: u64 = 2;

/// What is known of a node.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    /// The room its tree takes.
    pub cost: u64,
    /// Whether it holds neither variables nor time.
    pub constant: bool,
    /// Total order of time derivatives: 2 for ẍ and for ẋ ẏ.
    pub weight: f32,
    /// Whether it shows a sum in parentheses.
    parentheses: bool,
}

impl Simplifier<'_> {
    /// The facts of a node, found once; no recursion.
    pub(super) fn facts(&mut self, id: ExprId) -> Facts {
        if let Some(&known) = self.facts.get(&id) {
            return known;
        }
        let mut stack = vec![id];
        while let Some(&top) = stack.last() {
            if self.facts.contains_key(&top) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let children = match self.arena.node(top) {
                Node::Solve { .. } | Node::Restricted { .. } => Default::default(),
                _ => self.arena.children(top),
            };
            stack.extend(children.into_iter().filter(|c| !self.facts.contains_key(c)));
            if stack.len() == before {
                let facts = self.facts_of(top);
                self.facts.insert(top, facts);
                stack.pop();
            }
        }
        self.facts[&id]
    }

    pub(super) fn cost(&mut self, id: ExprId) -> u64 {
        self.facts(id).cost
    }

    fn facts_of(&self, id: ExprId) -> Facts {
        let mut facts = Facts { cost: 0, constant: true, weight: 0.0, parentheses: false };
        let known = |id: ExprId| self.facts[&id];
        match self.arena.node(id) {
            Node::Number(_) => facts.cost = LEAF,
            Node::Symbol(symbol) => {
                let info = self.arena.symbol_info(symbol);
                facts.cost = LEAF;
                facts.constant = info.kind == SymbolKind::Constant;
                facts.weight = info.primes as f32;
            }
            Node::Sum { constant, start, len } => {
                let items = self.arena.items(start, len);
                let mut n = items.len() as u64;
                for part in items {
                    let term = known(part.expr);
                    let own = term.cost.saturating_add(self.coefficient_cost(part.number));
                    facts.cost = facts.cost.saturating_add(own);
                    facts.constant &= term.constant;
                    facts.weight = facts.weight.max(term.weight);
                    facts.parentheses |= term.parentheses;
                    let long_sum = matches!(self.arena.node(part.expr), Node::Sum { .. });
                    facts.parentheses |= long_sum;
                }
                if constant != NumberId::ZERO {
                    facts.cost = facts.cost.saturating_add(ALONE);
                    n += 1;
                }
                facts.cost = facts.cost.saturating_add((n - 1) * PLUS);
            }
            Node::Product { start, len } => {
                let items = self.arena.items(start, len);
                facts.cost = (items.len() as u64 - 1) * BESIDE;
                if items.iter().any(|i| self.arena.value(i.number).is_negative()) {
                    facts.cost += FRACTION;
                }
                for part in items {
                    let base = known(part.expr);
                    facts.cost =
                        facts.cost.saturating_add(self.factor_cost(part.expr, part.number));
                    facts.constant &= base.constant;
                    facts.weight += base.weight * self.arena.value(part.number).to_f64() as f32;
                    let whole = self.arena.value(part.number).is_integer();
                    let sum = matches!(self.arena.node(part.expr), Node::Sum { .. });
                    facts.parentheses |= base.parentheses || (sum && whole);
                }
            }
            Node::Power(base, exponent) => {
                let (base, exponent) = (known(base), known(exponent));
                facts.cost = base.cost.saturating_add(exponent.cost).saturating_add(EXPONENT);
                facts.constant = base.constant && exponent.constant;
                facts.parentheses = base.parentheses;
            }
            Node::Call { function, start, len } => {
                facts.cost = FUNCTION;
                for part in self.arena.items(start, len) {
                    let argument = known(part.expr);
                    facts.cost = facts.cost.saturating_add(argument.cost);
                    facts.constant &= argument.constant;
                    if function == Function::If {
                        facts.weight = facts.weight.max(argument.weight);
                    }
                }
            }
            Node::Solve { .. } | Node::Restricted { .. } => {
                facts.cost = 4 * LEAF;
                facts.constant = false;
            }
        }
        facts
    }

    fn coefficient_cost(&self, number: NumberId) -> u64 {
        match number {
            NumberId::ONE | NumberId::MINUS_ONE => 0,
            _ => LEAF + BESIDE,
        }
    }

    /// base^exponent as a factor. The base's facts must be known.
    fn factor_cost(&self, base: ExprId, exponent: NumberId) -> u64 {
        let facts = self.facts[&base];
        let value = self.arena.value(exponent);
        let mut cost = facts.cost;
        if !value.abs().is_one() {
            cost = cost.saturating_add(EXPONENT);
        }
        if value.is_integer() && matches!(self.arena.node(base), Node::Sum { .. }) {
            cost = cost.saturating_add(PARENTHESES + if facts.parentheses { NESTED } else { 0 });
        }
        cost
    }

    /// The cost of Σ terms without building it.
    pub(super) fn cost_of_terms(&mut self, terms: &[Term]) -> u64 {
        let mut total = (terms.len() as u64).saturating_sub(1) * PLUS;
        for term in terms {
            total = total.saturating_add(self.cost_of_term(term));
        }
        total
    }

    fn cost_of_term(&mut self, (coefficient, monomial): &Term) -> u64 {
        if monomial.is_empty() {
            return ALONE;
        }
        let mut cost = self.coefficient_cost(*coefficient) + (monomial.len() as u64 - 1) * BESIDE;
        if monomial.iter().any(|i| self.arena.value(i.number).is_negative()) {
            cost += FRACTION;
        }
        for factor in monomial {
            self.facts(factor.expr);
            cost = cost.saturating_add(self.factor_cost(factor.expr, factor.number));
        }
        cost
    }

    /// The total order of time derivatives in a monomial, in thousandths.
    pub(super) fn weight_of(&mut self, term: &Term) -> i64 {
        let mut weight = 0.0;
        for factor in &term.1 {
            let exponent = self.arena.value(factor.number).to_f64() as f32;
            weight += self.facts(factor.expr).weight * exponent;
        }
        (weight * 1000.0) as i64
    }
}
