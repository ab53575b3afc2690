//! Where expressions bend or jump: `abs`, `sign`, `min`, `max` and `if`, each
//! replaced by the branch it is on, with a symbol that says which.
//!
//! With the branches frozen an expression is smooth, also a little beyond the place
//! where a branch turns; so a method of high order can step up to that place, and
//! the turn can be found as a zero of a smooth function.

use crate::arena::{ExprId, Exprs, Node};
use crate::function::Function;
use crate::symbol::{Symbol, SymbolKind};
use rustc_hash::FxHashMap;

/// A switch: something with branches.
#[derive(Clone, Debug)]
pub struct Switch {
    /// The symbol of its branch: 1 or −1 for the sign of the guard, 1 or 0 for a
    /// condition or a choice.
    pub mode: Symbol,
    /// Its kind.
    pub kind: SwitchKind,
    /// Functions that pass through 0 where the branch turns.
    pub guards: Vec<ExprId>,
    /// What the mode is, as an expression: for the branch at a state.
    pub value: ExprId,
    /// The same with nothing frozen inside of it, whatever else was frozen with it.
    pub plain: ExprId,
}

/// Kinds of switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchKind {
    /// The sign of the only guard: 1 or −1.
    Sign,
    /// A condition on the guards: 1 or 0.
    Condition,
}

impl Exprs {
    /// The expressions with all branches frozen, and the switches this took. The
    /// same argument is one switch.
    pub fn freeze_switches(&self, roots: &[ExprId]) -> (Vec<ExprId>, Vec<Switch>) {
        let order = self.arena.borrow_mut().reachable(roots);
        let mut image: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        let mut switches: Vec<Switch> = Vec::new();
        let mut signs: FxHashMap<ExprId, Symbol> = FxHashMap::default();
        let mut conditions: FxHashMap<ExprId, Symbol> = FxHashMap::default();
        for id in order {
            let node = self.arena.borrow().node(id);
            let Node::Call { function, start, len } = node else { continue };
            let arguments: Vec<ExprId> =
                self.arena.borrow().items(start, len).iter().map(|i| i.expr).collect();
            // What is inside has been frozen already: it comes earlier.
            let inner = || self.replace_nodes(&arguments, &image);
            match function {
                Function::Abs | Function::Sign => {
                    let guard = inner()[0];
                    let mode = *signs.entry(guard).or_insert_with(|| {
                        let value = self.call(Function::Sign, &[guard]);
                        let plain = self.call(Function::Sign, &arguments);
                        self.switch(&mut switches, SwitchKind::Sign, vec![guard], value, plain)
                    });
                    let mode = self.at(self.of_symbol(mode));
                    let new = if function == Function::Abs { mode * self.at(guard) } else { mode };
                    image.insert(id, new.id);
                }
                Function::Min | Function::Max => {
                    let list = inner();
                    let is_first = |best: ExprId, other: ExprId| {
                        // best − other: which of the two it is turns at 0.
                        let guard = (self.at(best) - self.at(other)).id;
                        let below = match function {
                            Function::Min => guard,
                            _ => (-self.at(guard)).id,
                        };
                        (guard, self.call(Function::NotPositive, &[below]))
                    };
                    let chosen = (1..list.len()).fold(list[0], |best, k| {
                        let other = list[k];
                        let (guard, condition) = is_first(best, other);
                        let mode = *conditions.entry(condition).or_insert_with(|| {
                            let kind = SwitchKind::Condition;
                            let before = self.call(function, &arguments[..k]);
                            let plain = is_first(before, arguments[k]).1;
                            self.switch(&mut switches, kind, vec![guard], condition, plain)
                        });
                        let mode = self.of_symbol(mode);
                        self.call(Function::If, &[mode, best, other])
                    });
                    image.insert(id, chosen);
                }
                Function::If => {
                    let list = inner();
                    let (condition, yes, no) = (list[0], list[1], list[2]);
                    // Already a mode, or a number: nothing turns.
                    if self.as_symbol(condition).is_some() || self.as_number(condition).is_some() {
                        image.insert(id, self.call(Function::If, &list));
                        continue;
                    }
                    let mode = *conditions.entry(condition).or_insert_with(|| {
                        let guards = self.atoms(condition);
                        let kind = SwitchKind::Condition;
                        self.switch(&mut switches, kind, guards, condition, arguments[0])
                    });
                    let mode = self.of_symbol(mode);
                    image.insert(id, self.call(Function::If, &[mode, yes, no]));
                }
                _ => {}
            }
        }
        (self.replace_nodes(roots, &image), switches)
    }

    fn switch(
        &self,
        switches: &mut Vec<Switch>,
        kind: SwitchKind,
        guards: Vec<ExprId>,
        value: ExprId,
        plain: ExprId,
    ) -> Symbol {
        let name = format!("mode[{}]", switches.len() + 1);
        let mode = self.symbol(&name, SymbolKind::Constant);
        switches.push(Switch { mode, kind, guards, value, plain });
        mode
    }

    /// The arguments of the comparisons in a condition.
    fn atoms(&self, condition: ExprId) -> Vec<ExprId> {
        let arena = self.arena.borrow();
        let mut found = Vec::new();
        let mut pending = vec![condition];
        while let Some(id) = pending.pop() {
            let Node::Call { function, start, len } = arena.node(id) else { continue };
            let arguments = arena.items(start, len).iter().map(|i| i.expr);
            match function {
                Function::Negative | Function::NotPositive => found.extend(arguments),
                Function::And | Function::Or => pending.extend(arguments),
                _ => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_frozen_and_found_again() {
        let exprs = Exprs::new();
        let (x, y) = (exprs.variable("x"), exprs.variable("y"));
        let largest = exprs.at(exprs.call(Function::Max, &[x.id, y.id, exprs.integer(1).id]));
        let below = exprs.call(Function::Negative, &[(x - exprs.integer(2)).id]);
        let choice = exprs.at(exprs.call(Function::If, &[below, (x * y).id, y.sqrt().id]));
        let f = x.abs() * exprs.at(exprs.call(Function::Sign, &[x.id])) + largest + choice;
        let first = x.symbol().expect("a symbol");
        let (frozen, switches) = exprs.freeze_switches(&[f.id]);
        assert_eq!(switches.len(), 4, "abs and sign of one argument are one switch: {switches:?}");
        for (a, b) in [(0.5, -1.5), (-2.0, 0.3), (3.0, 4.0), (1.5, 0.2)] {
            let value = |s: Symbol| if s == first { a } else { b };
            let modes: Vec<f64> =
                switches.iter().map(|s| exprs.eval_f64(&[s.value], value)[0]).collect();
            let with_modes = |s: Symbol| match switches.iter().position(|w| w.mode == s) {
                Some(at) => modes[at],
                None => value(s),
            };
            let expected = exprs.eval_f64(&[f.id], value)[0];
            let found = exprs.eval_f64(&frozen, with_modes)[0];
            assert!(
                (expected - found).abs() < 1e-14 || (expected.is_nan() && found.is_nan()),
                "{expected} {found} at {a}, {b}"
            );
        }
    }
}
