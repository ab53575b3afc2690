//! Where expressions bend or jump: `abs`, `sign`, `min`, `max`, the comparisons in `if`, the
//! steps of `floor`, the breaks of tables and the cut of `atan2`, each replaced by the branch it is on, with a symbol that says
//! which.
//!
//! With the branches frozen an expression is smooth, also a little beyond the place
//! where a branch turns; so a method of high order can step up to that place, and
//! the turn can be found as a zero of a smooth function. Every comparison is a switch of
//! its own, whatever `and` and `or` make of it: `t > 5 and t < 5.01` is false again soon
//! after it became true, but `t > 5` stays true.
//!
//! `atan2(y, x)` jumps by 2π where y passes 0 at x < 0. With c = 1 below the cut, c = 0
//! above it and s = 1 − 2c it is
//!
//! ```text
//! atan2(−s x, s y) + s π/2        smooth but for the half-axis x = 0, s y < 0
//! ```
//!
//! and in the quarter |y| < x, where both have the same value, itself. There c stays as it
//! is, so that it turns nowhere but at the cut and, once, on the way around.
//!
//! Roots have a value beyond the turn as well: see [`roots`](crate::roots).

use crate::arena::{ExprId, Exprs, Node};
use crate::function::Function;
use crate::symbol::{Symbol, SymbolKind};
use crate::tables::TableId;
use rustc_hash::FxHashMap;

/// A switch: something with branches.
#[derive(Clone, Debug)]
pub struct Switch {
    /// The symbol of its branch: 1 or −1 for the sign of the guard, 1 or 0 for a
    /// condition or a choice, the number of a piece.
    pub mode: Symbol,
    /// Its kind.
    pub kind: SwitchKind,
    /// Functions that pass through 0 where the branch turns.
    pub guards: Vec<ExprId>,
    /// What the mode is, as an expression: for the branch at a state.
    pub value: ExprId,
    /// The same with nothing frozen inside of it, whatever else was frozen with it.
    pub plain: ExprId,
    /// What it is called: the function of the cut, else `plain`.
    pub shown: ExprId,
    /// For the cut of an angle: the angle as it is frozen.
    pub angle: Option<ExprId>,
}

/// Kinds of switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchKind {
    /// The sign of the only guard: 1 or −1.
    Sign,
    /// A condition on the guards: 1 or 0.
    Condition,
    /// One of many pieces, by its number; the guards are 0 at the two ends of it.
    Piece,
}

impl Exprs {
    /// The expressions with all branches frozen, and the switches this took. The
    /// same argument is one switch.
    pub fn freeze_switches(&self, roots: &[ExprId]) -> (Vec<ExprId>, Vec<Switch>) {
        let order = self.arena.lock().reachable(roots);
        let mut image: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        let mut switches: Vec<Switch> = Vec::new();
        let mut signs: FxHashMap<ExprId, Symbol> = FxHashMap::default();
        let mut conditions: FxHashMap<ExprId, Symbol> = FxHashMap::default();
        let mut angles: FxHashMap<ExprId, ExprId> = FxHashMap::default();
        let never_negative = self.bases_of_roots(&order);
        for id in order {
            let node = self.arena.lock().node(id);
            if !never_negative.is_empty()
                && let Some(new) = self.with_frozen_roots(id, &never_negative, &image)
            {
                image.insert(id, new);
            }
            let Node::Call { function, start, len } = node else { continue };
            let arguments: Vec<ExprId> =
                self.arena.lock().items(start, len).iter().map(|i| i.expr).collect();
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
                    let mut list = inner();
                    let mut is_new = false;
                    for (k, arm) in list.iter_mut().enumerate().skip(1) {
                        let mut sides = self.sides_of(arguments[0], k == 1);
                        for (guard, _) in &mut sides {
                            *guard = self.replace_nodes(&[*guard], &image)[0];
                        }
                        let new = self.with_roots_on_branch(*arm, &sides);
                        is_new |= new != *arm;
                        *arm = new;
                    }
                    if is_new {
                        image.insert(id, self.call(function, &list));
                    }
                }
                Function::Negative | Function::NotPositive => {
                    let guard = inner()[0];
                    let condition = self.call(function, &[guard]);
                    if self.as_number(condition).is_some() {
                        image.insert(id, condition);
                        continue;
                    }
                    let mode = *conditions.entry(condition).or_insert_with(|| {
                        let kind = SwitchKind::Condition;
                        self.switch(&mut switches, kind, vec![guard], condition, id)
                    });
                    image.insert(id, self.of_symbol(mode));
                }
                Function::Floor => {
                    let inside = inner()[0];
                    let value = self.call(function, &[inside]);
                    if self.as_number(value).is_some() {
                        image.insert(id, value);
                        continue;
                    }
                    let mode = *conditions.entry(value).or_insert_with(|| {
                        let own = |mode: Symbol| self.at(self.of_symbol(mode));
                        self.piece(&mut switches, value, id, &|mode| {
                            let above = self.at(inside) - own(mode);
                            vec![above.id, (above - self.integer(1)).id]
                        })
                    });
                    image.insert(id, self.of_symbol(mode));
                }
                Function::Table => {
                    let list = inner();
                    let known = self.as_number(list[0]).map_or(f64::NAN, |key| key.to_f64());
                    let Some((table, order)) = TableId::of_key(known) else { continue };
                    let key = |k: i64| self.integer(k).id;
                    let x = list[1];
                    let value = self.call(Function::Piece, &[key(table.key(0)), x]);
                    let [from, to, origin] = table.places().map(key);
                    let entry = |place: ExprId, mode: Symbol| {
                        self.at(self.call(Function::Entry, &[place, self.of_symbol(mode)]))
                    };
                    let mode = *conditions.entry(value).or_insert_with(|| {
                        let plain = self.call(Function::Piece, &[key(table.key(0)), arguments[1]]);
                        self.piece(&mut switches, value, plain, &|mode| {
                            let end = |place| (self.at(x) - entry(place, mode)).id;
                            vec![end(from), end(to)]
                        })
                    });
                    // Σ_k k!/(k − d)! c_k s^(k − d)
                    let s = self.at(x) - entry(origin, mode);
                    let term = |k: u32| {
                        let factor: u32 = (k - order + 1..=k).product();
                        let c = entry(key(table.coefficient(k)), mode);
                        (i64::from(factor) * c * s.powi(i64::from(k - order))).id
                    };
                    let terms: Vec<ExprId> = (order..4).map(term).collect();
                    image.insert(id, self.sum(&terms));
                }
                Function::Atan2 => {
                    let list = inner();
                    let angle = self.call(function, &list);
                    let frozen = *angles.entry(angle).or_insert_with(|| {
                        self.cut(&mut switches, (list[0], list[1]), &arguments, id)
                    });
                    image.insert(id, frozen);
                }
                _ => {}
            }
        }
        (self.replace_nodes(roots, &image), switches)
    }

    /// A switch with a branch for each integer: `guards` are 0 where the branch `mode` ends.
    fn piece(
        &self,
        switches: &mut Vec<Switch>,
        value: ExprId,
        plain: ExprId,
        guards: &dyn Fn(Symbol) -> Vec<ExprId>,
    ) -> Symbol {
        let mode = self.switch(switches, SwitchKind::Piece, Vec::new(), value, plain);
        if let Some(switch) = switches.last_mut() {
            switch.guards = guards(mode);
        }
        mode
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
        switches.push(Switch { mode, kind, guards, value, plain, shown: plain, angle: None });
        mode
    }

    /// The angle `shown` of the point (x, y) on the branch that it is on.
    fn cut(
        &self,
        switches: &mut Vec<Switch>,
        (y, x): (ExprId, ExprId),
        plain: &[ExprId],
        shown: ExprId,
    ) -> ExprId {
        // |y| < x, as a condition.
        let on_the_right = |y: ExprId, x: ExprId| {
            self.call(Function::Negative, &[(self.at(y).abs() - self.at(x)).id])
        };
        let below = |y: ExprId| self.call(Function::Negative, &[y]);
        let stays = on_the_right(y, x);
        let kind = SwitchKind::Condition;
        let (above, aside) = ((self.at(x) - self.at(y)).id, (self.at(x) + self.at(y)).id);
        let plain = self
            .call(Function::If, &[on_the_right(plain[0], plain[1]), ExprId::ZERO, below(plain[0])]);
        // Its own branch is in its value, so that it can stay on it.
        let mode = self.switch(switches, kind, vec![y, above, aside], ExprId::ZERO, plain);
        let own = self.of_symbol(mode);
        let side = self.integer(1) - 2 * self.at(own);
        let turned = [(-(side * self.at(x))).id, (side * self.at(y)).id];
        let turned = self.at(self.call(Function::Atan2, &turned)) + side * self.pi() / 2;
        let angle = self.call(Function::Atan2, &[y, x]);
        let frozen = self.call(Function::If, &[stays, angle, turned.id]);
        if let Some(switch) = switches.last_mut() {
            switch.value = self.call(Function::If, &[stays, own, below(y)]);
            switch.shown = shown;
            switch.angle = Some(frozen);
        }
        frozen
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

    /// Each comparison is a switch; frozen on the wrong side of a cut an angle goes on
    /// beyond ±π.
    #[test]
    fn comparisons_and_cuts_are_switches_of_their_own() {
        let exprs = Exprs::new();
        let (x, y) = (exprs.variable("x"), exprs.variable("y"));
        let one = exprs.call(Function::Negative, &[(x - exprs.integer(2)).id]);
        let two = exprs.call(Function::NotPositive, &[(y * x).id]);
        let both = exprs.call(Function::And, &[one, two]);
        let choice = exprs.call(Function::If, &[both, x.id, y.id]);
        assert_eq!(exprs.freeze_switches(&[choice]).1.len(), 2);
        let angle = exprs.call(Function::Atan2, &[y.id, x.id]);
        let (frozen, switches) = exprs.freeze_switches(&[angle]);
        let (first, second) = (x.symbol(), y.symbol());
        let at = |mode: f64, phi: f64| {
            let value = |s: Symbol| match s {
                s if Some(s) == first => phi.cos(),
                s if Some(s) == second => phi.sin(),
                _ => mode,
            };
            let found = exprs.eval_f64(&[frozen[0], switches[0].value, switches[0].plain], value);
            (found[0], found[1], found[2])
        };
        for k in -31..=31 {
            let phi = 0.1 * f64::from(k);
            let (_, mode, plain) = at(if phi < 0.0 { 1.0 } else { 0.0 }, phi);
            assert_eq!(mode, if phi < 0.0 { 1.0 } else { 0.0 });
            assert!(
                (at(mode, phi).0 - phi).abs() < 1e-15 && (at(plain, phi).0 - phi).abs() < 1e-15
            );
        }
        assert!((at(0.0, 4.0).0 - 4.0).abs() < 1e-15, "{:?}", at(0.0, 4.0));
        assert!((at(1.0, -4.0).0 + 4.0).abs() < 1e-15);
        assert_eq!((at(0.0, 4.0).1, at(1.0, -4.0).1), (1.0, 0.0));
    }
}
