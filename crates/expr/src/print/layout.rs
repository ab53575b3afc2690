//! From nodes to what is to be written: signs, coefficients, numerators and
//! denominators, in the order of [`super::order`].
//!
//! Construction fixes the sign of a difference by the history of the arena:
//! −sin(φ − ω t) and sin(ω t − φ) are one node. Here the sign is chosen for the
//! reader. A factor that would read better with its sign changed is changed if
//! that costs nothing (cos, even powers, two of them at once, a sine in a sum)
//! or removes a minus.

use super::digits::Digits;
use super::order::{FactorKey, Order, TermKey};
use crate::arena::{Arena, ExprId, FLAT_LIMIT, Node, NumberId};
use crate::function::{Function, Parity};
use crate::number::Number;
use rustc_hash::FxHashMap;

/// One factor of a term.
#[derive(Clone)]
pub(super) struct Factor {
    pub base: ExprId,
    /// Positive, but for powers of 0.
    pub exponent: Number,
    /// Whether the sign of the base (a sum) or of its argument (a call) is
    /// changed.
    pub flip: bool,
    /// The number that is multiplied into the terms of the base, a sum.
    pub scale: Option<Number>,
}

/// ± coefficient · numerator / denominator.
#[derive(Clone)]
pub(super) struct Term {
    pub negative: bool,
    /// Not negative.
    pub coefficient: Number,
    pub numerator: Vec<Factor>,
    pub denominator: Vec<Factor>,
}

/// The roots and everything needed to write them.
pub(super) struct Layout<'a> {
    pub arena: &'a Arena,
    pub order: Order,
    /// Nodes that are written as a name.
    pub names: FxHashMap<ExprId, String>,
    /// Whether numbers may be multiplied into sums for the reader: construction takes
    /// them out, and 1/3000 x (30 + 6 y) reads worse than x (0.01 + 0.002 y).
    pub distributes: bool,
    signs: FxHashMap<ExprId, Signs>,
}

/// The signs of a sum's terms.
#[derive(Clone, Copy, PartialEq)]
enum Signs {
    /// The term that comes first is positive.
    Natural,
    /// It is negative, but others are not.
    Inverted,
    /// All are negative.
    Negative,
}

/// What changing the sign of a factor does, if it is wanted.
#[derive(Clone, Copy, PartialEq)]
enum Flip {
    Unwanted,
    /// The value stays.
    Free,
    /// The value changes its sign; done where that sign is welcome.
    Signed,
    /// The value changes its sign; done in any case.
    Always,
}

impl<'a> Layout<'a> {
    /// Looks at `most` nodes or a few more.
    pub fn new(arena: &'a Arena, roots: &[ExprId], most: usize) -> Self {
        let order = Order::new(arena, roots, most);
        let (names, signs) = (FxHashMap::default(), FxHashMap::default());
        let mut layout = Layout { arena, order, names, distributes: false, signs };
        // Children first, so that a term's sign is known when its sum is met.
        for at in 0..layout.order.nodes.len() {
            let id = layout.order.nodes[at];
            if let Some(signs) = layout.signs_of(id) {
                layout.signs.insert(id, signs);
            }
        }
        layout
    }

    pub fn node(&self, id: ExprId) -> Node {
        self.arena.node(id)
    }

    /// The coefficient, if the node is one coefficient times one expression.
    pub fn as_scaled(&self, id: ExprId) -> Option<(Number, ExprId)> {
        match self.node(id) {
            Node::Sum { constant: NumberId::ZERO, start, len: 1 } => {
                let item = self.arena.items(start, 1)[0];
                Some((self.arena.value(item.number).clone(), item.expr))
            }
            Node::Product { .. } => Some((Number::ONE, id)),
            _ => None,
        }
    }

    /// The terms of a sum as they are to be written, `flip` times −1.
    pub fn terms(&self, id: ExprId, flip: bool) -> Vec<Term> {
        self.scaled_terms(id, flip, &Number::ONE)
    }

    /// The same, times a number.
    pub fn scaled_terms(&self, id: ExprId, flip: bool, scale: &Number) -> Vec<Term> {
        let pieces = self.pieces(id);
        let in_sum = pieces.len() > 1;
        let mut keyed: Vec<(TermKey, Term)> = pieces
            .into_iter()
            .map(|(coefficient, expr)| {
                let coefficient = coefficient.mul(scale);
                let coefficient = if flip { coefficient.neg() } else { coefficient };
                (self.key_of(expr), self.term_of(&coefficient, expr, in_sum))
            })
            .collect();
        keyed.sort_by(|a, b| a.0.compare(&b.0));
        lead_with_plus(&mut keyed);
        keyed.into_iter().map(|(_, term)| term).collect()
    }

    /// A sum whose coefficients are all equal but for their signs, as a sign, a
    /// number and the terms that it multiplies: ½ (ẋ² + ẏ²). Numbers multiply
    /// into sums, so the product builds the same sum again.
    pub fn as_multiple(&self, id: ExprId, flip: bool) -> Option<(bool, Number, Vec<Term>)> {
        // Signs are known of just those sums that are short enough for that.
        self.signs.get(&id)?;
        let pieces = self.pieces(id);
        let size = pieces.first()?.0.abs();
        // ½ m ẋ² + ½ k x² stays: there the number belongs to each parameter.
        let constant = self.order.facts(pieces.first()?.1?).constant;
        let plain = |(base, _): &(ExprId, Number)| {
            self.order.facts(*base).constant == constant
                && !matches!(self.node(*base), Node::Sum { .. })
        };
        let alike = |(c, expr): &(Number, Option<ExprId>)| {
            c.abs() == size && expr.is_some_and(|expr| self.factors(expr).iter().all(plain))
        };
        if pieces.len() < 2 || size.is_one() || !pieces.iter().all(alike) {
            return None;
        }
        let mut terms = self.terms(id, flip);
        let negative = terms.iter().all(|term| term.negative);
        if negative {
            terms = self.terms(id, !flip);
        }
        for term in &mut terms {
            term.coefficient = Number::ONE;
        }
        Some((negative, size, terms))
    }

    /// Coefficient and rest of each term, the constant with no rest.
    fn pieces(&self, id: ExprId) -> Vec<(Number, Option<ExprId>)> {
        let Node::Sum { constant, start, len } = self.node(id) else {
            return vec![(Number::ONE, Some(id))];
        };
        let mut pieces: Vec<(Number, Option<ExprId>)> = self
            .arena
            .items(start, len)
            .iter()
            .map(|item| (self.arena.value(item.number).clone(), Some(item.expr)))
            .collect();
        if constant != NumberId::ZERO {
            pieces.push((self.arena.value(constant).clone(), None));
        }
        pieces
    }

    fn signs_of(&self, id: ExprId) -> Option<Signs> {
        match self.node(id) {
            // Longer sums would not be built again with their sign changed.
            Node::Sum { len, .. } if len as usize <= FLAT_LIMIT => {}
            _ => return None,
        }
        let pieces = self.pieces(id);
        let in_sum = pieces.len() > 1;
        let signed: Vec<(TermKey, bool)> = pieces
            .into_iter()
            .map(|(c, expr)| (self.key_of(expr), self.term_of(&c, expr, in_sum).negative))
            .collect();
        let first = signed.iter().min_by(|a, b| a.0.compare(&b.0))?;
        Some(match first.1 {
            false => Signs::Natural,
            true if signed.iter().all(|(_, negative)| *negative) => Signs::Negative,
            true => Signs::Inverted,
        })
    }

    fn key_of(&self, expr: Option<ExprId>) -> TermKey {
        let factors = expr.map_or_else(Vec::new, |expr| self.factors(expr));
        self.order.term_key(self.arena, &factors)
    }

    fn factors(&self, expr: ExprId) -> Vec<(ExprId, Number)> {
        match self.node(expr) {
            Node::Product { start, len } if !self.names.contains_key(&expr) => self
                .arena
                .items(start, len)
                .iter()
                .map(|item| (item.expr, self.arena.value(item.number).clone()))
                .collect(),
            _ => vec![(expr, Number::ONE)],
        }
    }

    /// coefficient · expr, taken apart.
    pub fn term(&self, coefficient: &Number, expr: ExprId) -> Term {
        self.term_of(coefficient, Some(expr), false)
    }

    fn term_of(&self, coefficient: &Number, expr: Option<ExprId>, in_sum: bool) -> Term {
        let factors = expr.map_or_else(Vec::new, |expr| self.factors(expr));
        let mut keyed: Vec<(FactorKey, ExprId, Number)> = factors
            .into_iter()
            .map(|(base, e)| (self.order.factor_key(self.arena, base, &e), base, e))
            .collect();
        keyed.sort_by_key(|k| k.0);
        let mut term = Term {
            negative: coefficient.is_negative(),
            coefficient: coefficient.abs(),
            numerator: Vec::new(),
            denominator: Vec::new(),
        };
        let flips = self.choose_flips(&mut term.negative, &keyed, in_sum);
        for ((_, base, exponent), flip) in keyed.into_iter().zip(flips) {
            // 1/0² would be folded to 1/0 where 0^-2 is not.
            let zero = self.arena.as_number(base).is_some_and(Number::is_zero);
            let below = exponent.is_negative() && !zero;
            let exponent = if below { exponent.abs() } else { exponent };
            let side = if below { &mut term.denominator } else { &mut term.numerator };
            side.push(Factor { base, exponent, flip, scale: None });
        }
        if self.distributes && term.denominator.is_empty() {
            self.distribute(&mut term);
        }
        term
    }

    /// Multiplies the number of a term into a sum among its factors, where that
    /// takes fewer digits.
    fn distribute(&self, term: &mut Term) {
        if term.coefficient.as_small().is_some_and(|(n, d)| n.abs() <= 12 && d <= 12) {
            return;
        }
        let is_sum = |factor: &Factor| {
            factor.exponent.is_one()
                && !self.names.contains_key(&factor.base)
                && matches!(self.node(factor.base), Node::Sum { len, .. } if len as usize <= FLAT_LIMIT)
        };
        let Some(at) = term.numerator.iter().position(is_sum) else { return };
        let length = |number: &Number| match Digits::readable(number) {
            _ if number.abs().is_one() => 0,
            Digits::Plain(text) => text.len(),
            Digits::Ratio(n, d) => n.len() + d.len() + 1,
            Digits::Scientific(mantissa, _) => mantissa.len() + 4,
        };
        let pieces = self.pieces(term.numerator[at].base);
        let before: usize = pieces.iter().map(|(c, _)| length(c)).sum();
        let after: usize = pieces.iter().map(|(c, _)| length(&c.mul(&term.coefficient))).sum();
        if after < before + length(&term.coefficient) {
            let scale = std::mem::replace(&mut term.coefficient, Number::ONE);
            term.numerator[at].scale = Some(scale);
        }
    }

    fn choose_flips(
        &self,
        negative: &mut bool,
        factors: &[(FactorKey, ExprId, Number)],
        in_sum: bool,
    ) -> Vec<bool> {
        let mut wanted: Vec<Flip> =
            factors.iter().map(|(_, base, e)| self.wanted_flip(*base, e)).collect();
        for (flip, (_, base, _)) in wanted.iter_mut().zip(factors) {
            // A minus between terms is no worse than a plus.
            let call = matches!(self.node(*base), Node::Call { .. });
            if *flip == Flip::Signed && in_sum && call {
                *flip = Flip::Always;
            }
            *negative ^= *flip == Flip::Always;
        }
        let signed = wanted.iter().filter(|flip| **flip == Flip::Signed).count();
        // With an odd number of them and no minus to remove, one stays as it is.
        let mut spare = signed % 2 == 1 && !*negative;
        if signed % 2 == 1 {
            *negative = false;
        }
        wanted
            .into_iter()
            .map(|flip| match flip {
                Flip::Unwanted => false,
                Flip::Free | Flip::Always => true,
                Flip::Signed => !std::mem::take(&mut spare),
            })
            .collect()
    }

    /// What changing the sign would do to the factor's value, if that would
    /// make it read better.
    fn wanted_flip(&self, base: ExprId, exponent: &Number) -> Flip {
        let (sum, parity) = match self.node(base) {
            _ if self.names.contains_key(&base) => return Flip::Unwanted,
            Node::Sum { .. } => (base, Parity::Odd),
            Node::Call { function, start, len: 1 } => {
                (self.arena.items(start, 1)[0].expr, function.parity())
            }
            _ => return Flip::Unwanted,
        };
        if self.names.contains_key(&sum) {
            return Flip::Unwanted;
        }
        let signs = self.signs.get(&sum).copied().unwrap_or(Signs::Natural);
        match (parity, signs) {
            (Parity::None, _) | (_, Signs::Natural) => Flip::Unwanted,
            // 1/(l² − x²) and 1/(l² − x²)² in one formula should look alike.
            (_, Signs::Inverted) if sum == base && exponent.is_even() => Flip::Unwanted,
            (Parity::Even, _) => Flip::Free,
            _ if exponent.is_even() => Flip::Free,
            _ if !exponent.is_integer() => Flip::Unwanted,
            (Parity::Odd, Signs::Inverted) => Flip::Signed,
            (Parity::Odd, Signs::Negative) => Flip::Always,
        }
    }

    /// Whether a call reads better, and means the same, with its argument's sign
    /// changed.
    pub fn flips_freely(&self, call: ExprId) -> bool {
        self.wanted_flip(call, &Number::ONE) == Flip::Free
    }

    /// Both sides of `x < 0`, with what is negative moved to the right.
    pub fn sides(&self, x: ExprId) -> (Vec<Term>, Vec<Term>) {
        let movable = match self.node(x) {
            // Longer sums are not taken apart when they are built again.
            Node::Sum { len, .. } => len as usize <= FLAT_LIMIT && !self.names.contains_key(&x),
            _ => false,
        };
        if !movable {
            return (vec![self.term(&Number::ONE, x)], Vec::new());
        }
        let (mut right, left): (Vec<Term>, Vec<Term>) =
            self.terms(x, false).into_iter().partition(|term| term.negative);
        for term in &mut right {
            term.negative = false;
        }
        (left, right)
    }

    /// The condition, first and second value of an `if`.
    pub fn as_choice(&self, id: ExprId) -> Option<[ExprId; 3]> {
        match self.node(id) {
            Node::Call { function: Function::If, start, len: 3 }
                if !self.names.contains_key(&id) =>
            {
                let items = self.arena.items(start, 3);
                Some([items[0].expr, items[1].expr, items[2].expr])
            }
            _ => None,
        }
    }

    /// What a table, or a function of a program, is called, with a prime for each derivative.
    pub fn table_name(&self, function: Function, key: ExprId) -> String {
        let key = self.arena.as_number(key).map_or(f64::NAN, |n| n.to_f64());
        if function == Function::Given {
            return match crate::Given::of_key(key) {
                Some((given, order)) => {
                    format!("{}{}", given.name(), "'".repeat(order as usize))
                }
                None => function.name().to_owned(),
            };
        }
        let found = crate::tables::TableId::of_key(key);
        match found.and_then(|(id, order)| Some((id.table()?, order))) {
            Some((table, order)) => format!("{}{}", table.name(), "'".repeat(order as usize)),
            None => "table".to_owned(),
        }
    }

    /// The arguments of a call in the order of writing.
    pub fn arguments(&self, id: ExprId) -> Vec<ExprId> {
        let mut arguments: Vec<ExprId> = self.arena.children(id).to_vec();
        if let Node::Call {
            function: Function::Min | Function::Max | Function::And | Function::Or,
            ..
        } = self.node(id)
        {
            // Their order carries no meaning, so it is that of a sum.
            let mut keyed: Vec<(TermKey, ExprId)> = arguments
                .iter()
                .map(|&x| {
                    let (_, expr) =
                        self.pieces(x).into_iter().next().unwrap_or((Number::ONE, Some(x)));
                    (self.key_of(expr), x)
                })
                .collect();
            let rank = |id: ExprId| self.order.facts(id).rank;
            keyed.sort_by(|a, b| a.0.compare(&b.0).then(rank(a.1).cmp(&rank(b.1))));
            arguments = keyed.into_iter().map(|(_, x)| x).collect();
        }
        arguments
    }
}

/// Avoids a minus in front. A constant moves to the end, x² + y² − L²; else
/// the first term that is not negative comes to the front.
fn lead_with_plus(terms: &mut [(TermKey, Term)]) {
    let Some(at) = terms.iter().position(|(_, term)| !term.negative) else { return };
    let constants = terms[..at].iter().all(|(key, _)| key.is_constant());
    if constants && !terms[at].0.is_constant() {
        terms.rotate_left(at);
    } else {
        terms[..=at].rotate_right(1);
    }
}
