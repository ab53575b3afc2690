//! Functions restricted to a surface, with more digits than a double has.
//!
//! Let φ(x) = 0 be a surface and P(x) its point next to x, the limit of
//!
//! ```text
//! x ← x − U²Jᵀ (J U² Jᵀ)⁻¹ φ(x),   J = φ_x,   U = diag(units of x)
//! ```
//!
//! The restriction of f is f∘P. On the surface it is f; beside it, where a double is always, it is
//! what f has on the surface. With it can be said in doubles what two functions that agree to
//! many digits differ by: if f = w·φ + ε g, then f/ε restricted to φ = 0 is g, while f/ε in
//! doubles is noise, and at a double in all digits it is w·φ/ε, which may be anything.
//!
//! Its derivative is that of f along the surface, restricted:
//!
//! ```text
//! ∂(f∘P)/∂x = (f_x − φ_xᵀ w)∘P,   w = (J U² Jᵀ)⁻¹ J U² f_x
//! ```
//!
//! where for symbols that P does not move (t, parameters) f_x and φ_x are the partial derivatives
//! by them. So the family is closed under differentiation, as [`solve`](Exprs::solve) is. Beside
//! the surface this leaves out a term of the order of the distance.
//!
//! A value is computed in extended precision and rounded once. NaN where no point of the surface
//! is found or there is no value. In an arithmetic that is no approximation of real numbers, f∘P
//! is f.

use crate::arena::{Arena, ExprId, Exprs, Item, Node, SurfaceData, SurfaceId, SurfaceKey};
use crate::arithmetic::{Formula, Recorder, Restriction};
use crate::build::item;
use crate::number::Number;
use crate::symbol::Symbol;
use crate::{Function, Jacobian, NumberId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Where a surface lies.
pub struct Surface<'a> {
    /// Functions that are 0 on it, with independent gradients.
    pub conditions: &'a [ExprId],
    /// The symbols that are moved onto it, and their units.
    pub moved: &'a [(Symbol, f64)],
    /// Other symbols on which the conditions and the functions on the surface depend.
    pub held: &'a [Symbol],
    /// Symbols that stand for numbers, with expressions of no symbols for these: a number of many
    /// digits that is put in instead would be folded with others, and rounded.
    pub constants: &'a [(Symbol, ExprId)],
    /// Values are given times 2 to this power.
    pub shift: i64,
    /// How many bits the values are computed with.
    pub bits: usize,
}

/// Restricted functions among the nodes of an evaluation.
#[derive(Default)]
pub(crate) struct InOrder {
    pub groups: Vec<Arc<Restriction>>,
    /// Of each node its group and its place there.
    pub places: FxHashMap<ExprId, (usize, usize)>,
}

impl Exprs {
    /// A surface. `None` if a condition or a unit is not fit for one: functions that bend or jump
    /// have no restriction.
    pub fn surface(&self, given: &Surface) -> Option<SurfaceId> {
        let is_unit = |unit: f64| unit.is_finite() && unit > 0.0;
        if !given.moved.iter().all(|m| is_unit(m.1)) || !self.is_smooth(given.conditions) {
            return None;
        }
        let moved: Vec<Symbol> = given.moved.iter().map(|m| m.0).collect();
        // Powers of two, so that nothing is rounded.
        let units: Vec<f64> = given.moved.iter().map(|m| m.1.log2().round().exp2()).collect();
        let squares = units.iter().map(|u| Number::from_f64(u * u));
        let squares: Vec<Number> = squares.collect::<Option<_>>()?;
        let Jacobian { rows, .. } = self.jacobian(given.conditions, &moved);
        let arena = &mut *self.arena.lock();
        let squares: Vec<ExprId> = squares.into_iter().map(|n| arena.number(n)).collect();
        let dense: Vec<Vec<ExprId>> = rows
            .into_iter()
            .map(|row| {
                let mut all = vec![ExprId::ZERO; moved.len()];
                row.into_iter().for_each(|(column, entry)| all[column] = entry);
                all
            })
            .collect();
        let gram = dense.iter().flat_map(|a| dense.iter().map(move |b| (a, b)));
        let gram: Vec<ExprId> = gram.map(|(a, b)| arena.dot(a, &squares, b)).collect();
        let mut symbols = moved;
        symbols.extend_from_slice(given.held);
        let key = SurfaceKey {
            conditions: given.conditions.to_vec(),
            symbols: symbols.clone(),
            units: units.iter().map(|u| u.to_bits()).collect(),
            constants: given.constants.to_vec(),
            shift: given.shift,
            bits: given.bits,
        };
        let next = SurfaceId(arena.restrictions.surfaces.len() as u32);
        let known = *arena.restrictions.surface_ids.entry(key).or_insert(next);
        if known != next {
            return Some(known);
        }
        arena.restrictions.surfaces.push(SurfaceData {
            symbols,
            units,
            conditions: given.conditions.to_vec(),
            rows: dense,
            gram,
            constants: given.constants.to_vec(),
            shift: given.shift,
            bits: given.bits,
            way: Arc::default(),
        });
        Some(next)
    }

    /// A function restricted to a surface; `None` if it bends or jumps somewhere.
    pub fn restricted(&self, surface: SurfaceId, function: ExprId) -> Option<ExprId> {
        if !self.is_smooth(&[function]) {
            return None;
        }
        let arena = &mut *self.arena.lock();
        let symbols = arena.restrictions.surfaces[surface.0 as usize].symbols.clone();
        let arguments: Vec<ExprId> = symbols.into_iter().map(|s| arena.symbol_expr(s)).collect();
        Some(arena.restrict(surface, function, &arguments))
    }

    /// w of f_x ≈ φ_xᵀ w, the weights of the conditions in a function.
    pub fn weights(&self, surface: SurfaceId, function: ExprId) -> Vec<ExprId> {
        self.arena.lock().weights(surface, function)
    }

    /// The roots as functions of symbols, without the arena.
    fn formula(&self, roots: &[ExprId], inputs: &[Symbol]) -> Formula {
        let places: FxHashMap<Symbol, usize> =
            inputs.iter().enumerate().map(|(at, &symbol)| (symbol, at)).collect();
        let recorder = Recorder::default();
        let outputs =
            self.evaluate(&recorder, roots, |symbol| recorder.input(places.get(&symbol).copied()));
        recorder.finish(outputs)
    }

    fn is_smooth(&self, roots: &[ExprId]) -> bool {
        use Function::*;
        let arena = &mut *self.arena.lock();
        arena.reachable(roots).into_iter().all(|id| match arena.node(id) {
            Node::Call { function, .. } => !matches!(
                function,
                Abs | Sign
                    | Min
                    | Max
                    | If
                    | Negative
                    | NotPositive
                    | And
                    | Or
                    | Atan2
                    | Floor
                    | Table
                    | Piece
                    | Entry
            ),
            _ => true,
        })
    }

    /// The restricted functions among nodes: those of one surface and the same arguments are
    /// computed together.
    pub(crate) fn restrictions_in(&self, order: &[ExprId]) -> InOrder {
        let mut lists: Vec<Vec<u32>> = Vec::new();
        let mut places = FxHashMap::default();
        {
            let arena = &*self.arena.lock();
            if arena.restrictions.is_empty() {
                return InOrder::default();
            }
            let mut by_key: FxHashMap<(SurfaceId, Vec<ExprId>), usize> = FxHashMap::default();
            for &id in order {
                let Node::Restricted { function, .. } = arena.node(id) else { continue };
                let surface = arena.restrictions.functions[function as usize].0;
                let key = (surface, arena.children(id).to_vec());
                let group = *by_key.entry(key).or_insert_with(|| {
                    lists.push(Vec::new());
                    lists.len() - 1
                });
                places.insert(id, (group, lists[group].len()));
                lists[group].push(function);
            }
        }
        InOrder { groups: lists.iter().map(|list| self.restriction(list)).collect(), places }
    }

    /// The values of restricted functions on the same surface.
    pub(crate) fn restriction(&self, functions: &[u32]) -> Arc<Restriction> {
        let (data, values) = {
            let arena = &*self.arena.lock();
            let all = &arena.restrictions;
            if let Some(known) = all.made.get(functions) {
                return Arc::clone(known);
            }
            let surface = all.functions[functions[0] as usize].0;
            let values: Vec<ExprId> =
                functions.iter().map(|&f| all.functions[f as usize].1).collect();
            (all.surfaces[surface.0 as usize].clone(), values)
        };
        let constants = data.constants.iter();
        let inputs: Vec<Symbol> =
            data.symbols.iter().copied().chain(constants.clone().map(|c| c.0)).collect();
        let constants: Vec<ExprId> = constants.map(|c| c.1).collect();
        let way = data.way.get_or_init(|| {
            let moved = data.units.len();
            let scaled: Vec<ExprId> = {
                let arena = &mut *self.arena.lock();
                let x = match data.conditions.len() {
                    0 => Vec::new(),
                    _ => arena.solve(&data.gram, &data.conditions),
                };
                (0..moved)
                    .map(|j| {
                        let column: Vec<ExprId> = data.rows.iter().map(|row| row[j]).collect();
                        let ones = vec![ExprId::ONE; column.len()];
                        arena.dot(&column, &ones, &x)
                    })
                    .collect()
            };
            Arc::new(self.formula(&scaled, &inputs))
        });
        let restriction = Arc::new(Restriction {
            arguments: data.symbols.len(),
            units: data.units.clone(),
            has_conditions: !data.conditions.is_empty(),
            bits: data.bits,
            way: Arc::clone(way),
            constants: self.formula(&constants, &[]),
            shift: data.shift,
            values: self.formula(&values, &inputs),
            functions: functions.to_vec(),
        });
        let arena = &mut *self.arena.lock();
        arena.restrictions.made.insert(functions.to_vec(), Arc::clone(&restriction));
        restriction
    }
}

impl Arena {
    /// Σ aᵢ sᵢ bᵢ
    fn dot(&mut self, a: &[ExprId], s: &[ExprId], b: &[ExprId]) -> ExprId {
        let mut terms = Vec::with_capacity(a.len());
        for ((&a, &s), &b) in a.iter().zip(s).zip(b) {
            if a != ExprId::ZERO && b != ExprId::ZERO {
                let scaled = self.mul(a, s);
                terms.push(self.mul(scaled, b));
            }
        }
        self.sum(&terms)
    }

    /// A function restricted to a surface, of other arguments than the symbols of the surface.
    fn restrict(&mut self, surface: SurfaceId, value: ExprId, arguments: &[ExprId]) -> ExprId {
        if self.as_number(value).is_some() {
            return value;
        }
        let all = &mut self.restrictions;
        let next = all.functions.len() as u32;
        let function = *all.function_ids.entry((surface, value)).or_insert(next);
        if function == next {
            all.functions.push((surface, value));
        }
        self.restricted_of(function, arguments)
    }

    /// A restricted function of arguments.
    pub fn restricted_of(&mut self, function: u32, arguments: &[ExprId]) -> ExprId {
        let items: Vec<Item> = arguments.iter().map(|&e| item(e, NumberId::ONE)).collect();
        self.intern(Node::Restricted { function, start: 0, len: 0 }, &items)
    }

    fn weights(&mut self, surface: SurfaceId, value: ExprId) -> Vec<ExprId> {
        let data = self.restrictions.surfaces[surface.0 as usize].clone();
        let mut slopes = Vec::with_capacity(data.units.len());
        for (symbol, unit) in data.symbols.iter().zip(&data.units) {
            let slope = self.derivative(value, *symbol);
            let square = Number::from_f64(unit * unit).unwrap_or(Number::ONE);
            let square = self.number(square);
            slopes.push(self.mul(slope, square));
        }
        let ones = vec![ExprId::ONE; slopes.len()];
        let right: Vec<ExprId> =
            data.rows.iter().map(|row| self.dot(row, &ones, &slopes)).collect();
        if right.is_empty() { right } else { self.solve(&data.gram, &right) }
    }

    /// ∂(restricted function)/∂(its argument at a place).
    pub fn restricted_partial(&mut self, function: u32, arguments: &[ExprId], at: usize) -> ExprId {
        let (surface, value) = self.restrictions.functions[function as usize];
        let data = self.restrictions.surfaces[surface.0 as usize].clone();
        let symbol = data.symbols[at];
        let mut terms = vec![self.derivative(value, symbol)];
        for (w, &condition) in self.weights(surface, value).into_iter().zip(&data.conditions) {
            let slope = self.derivative(condition, symbol);
            let part = self.mul(w, slope);
            terms.push(self.neg(part));
        }
        let along = self.sum(&terms);
        self.restrict(surface, along, arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Expr;

    /// φ = sin x + y + z − 1 and f = w(x) φ + φ² + ε z y, divided by ε, as a product that does not
    /// show it.
    fn pair<'a>(exprs: &'a Exprs, size: &str, x: [Expr<'a>; 3]) -> (Expr<'a>, Expr<'a>) {
        let [x, y, z] = x;
        let epsilon = exprs.at(exprs.of_number(Number::from_decimal(size).unwrap()));
        let half = x / 2;
        let phi = x.sin() + y + z - exprs.integer(1);
        let other = half.sin() * half.cos() * 2 + y + z - exprs.integer(1);
        (phi, ((y + exprs.integer(3)) * other + other * phi + epsilon * z * y) / epsilon)
    }

    #[test]
    fn what_is_left_on_the_surface_keeps_its_digits() {
        for size in ["1e-3", "1e-9", "1e-20", "1e-100", "1e-300"] {
            let exprs = Exprs::new();
            let x = ["x", "y", "z"].map(|name| exprs.variable(name));
            let symbols = x.map(|e| e.symbol().unwrap());
            let (phi, f) = pair(&exprs, size, x);
            let moved = symbols.map(|s| (s, 1.0));
            let surface = Surface {
                conditions: &[phi.id],
                moved: &moved,
                held: &[],
                constants: &[],
                shift: 0,
                bits: 1400,
            };
            let surface = exprs.surface(&surface).unwrap();
            let f = exprs.restricted(surface, f.id).unwrap();
            let slopes = symbols.map(|s| exprs.derivative(f, s));
            let gradient = exprs.gradient(f, &symbols);
            let rows = exprs.jacobian(&[f], &symbols).rows.remove(0);
            assert_eq!(slopes.to_vec(), gradient);
            assert_eq!(slopes.to_vec(), rows.iter().map(|e| e.1).collect::<Vec<_>>());
            let rate = exprs.time_derivative(f);
            let second = exprs.derivative(slopes[1], symbols[2]);
            // A point beside the surface by what rounding leaves of it.
            let (px, py) = (0.7f64, 0.4f64);
            let pz = 1.0 - px.sin() - py;
            let value = |s: Symbol| match symbols.iter().position(|&x| x == s) {
                Some(at) => [px, py, pz][at],
                None => exprs.symbol_info(s).name.len() as f64 + s.index() as f64 / 7.0,
            };
            let found = exprs.eval_f64(&[f, rate, second], value);
            assert!((found[0] / (pz * py) - 1.0).abs() < 1e-15, "{size}: {found:?}");
            // g = y z along the surface: ∇g − n (n·∇g)/|n|², n = (cos x, 1, 1).
            let n = [px.cos(), 1.0, 1.0];
            let share = (py + pz) / (n[0] * n[0] + 2.0);
            let along = [0.0 - share * n[0], pz - share, py - share];
            let numbers = exprs.eval_f64(&slopes, value);
            for (a, b) in numbers.iter().zip(along) {
                assert!((a - b).abs() < 1e-14, "{size}: {numbers:?} {along:?}");
            }
            let rates = symbols.map(|s| value(exprs.rate(s).unwrap()));
            let right: f64 = along.iter().zip(rates).map(|(a, b)| a * b).sum();
            assert!((found[1] - right).abs() < 1e-13 * right.abs().max(1.0));
            // ∂/∂z along the surface of (z − share(x, y, z)): from differences.
            let plain = |p: [f64; 3]| p[2] - (p[1] + p[2]) / (p[0].cos().powi(2) + 2.0);
            let h = 1e-5;
            let tangent = {
                let share = 1.0 / (n[0] * n[0] + 2.0);
                [-share * n[0], -share, 1.0 - share]
            };
            let at =
                |h: f64| plain([px + h * tangent[0], py + h * tangent[1], pz + h * tangent[2]]);
            let right = (at(h) - at(-h)) / (2.0 * h);
            assert!((found[2] - right).abs() < 1e-9, "{size}: {} {right}", found[2]);
        }
    }

    #[test]
    fn arguments_are_replaced_and_functions_that_bend_are_refused() {
        let exprs = Exprs::new();
        let x = ["x", "y", "z"].map(|name| exprs.variable(name));
        let symbols = x.map(|e| e.symbol().unwrap());
        let (phi, f) = pair(&exprs, "1e-12", x);
        let moved = symbols.map(|s| (s, 1.0));
        let given = Surface {
            conditions: &[phi.id],
            moved: &moved,
            held: &[],
            constants: &[],
            shift: 0,
            bits: 256,
        };
        let surface = exprs.surface(&given).unwrap();
        let f = exprs.restricted(surface, f.id).unwrap();
        let u = exprs.variable("u");
        let replaced = exprs.substitute(&[f], &[(symbols[0], (u * u).id)])[0];
        let value = |s: Symbol| if s == symbols[1] { 0.4 } else { 0.5 };
        let found = exprs.eval_f64(&[replaced], value)[0];
        let direct = exprs.eval_f64(&[f], |s| if s == symbols[0] { 0.25 } else { value(s) })[0];
        assert_eq!(found, direct);
        let slope = exprs.derivative(replaced, u.symbol().unwrap());
        assert!(exprs.eval_f64(&[slope], value)[0].is_finite());
        assert!(exprs.restricted(surface, x[0].abs().id).is_none());
        // Nothing is near: there is no value.
        let far = exprs.eval_f64(&[f], |_| 1e30)[0];
        assert!(far.is_nan(), "{far}");
    }

    #[test]
    fn a_surface_inside_of_a_surface() {
        // sin x + y + z = 1, the same with ε u: u = 0; the same with ε u + ε² w: w = 0.
        for size in [14, 60, 100, 140] {
            let exprs = Exprs::new();
            let x = ["x", "y", "z", "u", "w"].map(|name| exprs.variable(name));
            let moved = x.map(|e| (e.symbol().unwrap(), 1.0));
            let tiny = exprs.constant("tiny");
            let number = Number::from_decimal(&format!("1e-{size}")).unwrap();
            let constants = [(tiny.symbol().unwrap(), exprs.of_number(number))];
            let half = x[0] / 2;
            let phi = x[0].sin() + x[1] + x[2] - exprs.integer(1);
            let other = half.sin() * half.cos() * 2 + x[1] + x[2] - exprs.integer(1);
            let shift = (size as f64 * 10f64.log2()).round() as i64;
            let on = |conditions: &[ExprId], times: i64| {
                let (shift, bits) = (times * shift, 192 + (times * shift) as usize);
                let given = Surface {
                    conditions,
                    moved: &moved,
                    held: &[],
                    constants: &constants,
                    shift,
                    bits,
                };
                exprs.surface(&given).unwrap()
            };
            let one = on(&[phi.id], 1);
            let second = exprs.restricted(one, (other + tiny * x[3]).id).unwrap();
            let two = on(&[phi.id, second], 2);
            let third = other.powi(2) + other + tiny * x[3] + tiny * tiny * x[4];
            let third = exprs.restricted(two, third.id).unwrap();
            let slopes: Vec<ExprId> = moved.iter().map(|m| exprs.derivative(third, m.0)).collect();
            let value = |s: Symbol| match moved.iter().position(|m| m.0 == s) {
                Some(at) => [0.7, 0.4, 0.6 - 0.7f64.sin(), 1e-9, 0.3][at],
                None => f64::NAN,
            };
            let unit = 2f64.powi(shift as i32) * 10f64.powi(-size);
            let found = exprs.eval_f64(&[second, third], value);
            assert!((found[0] / (1e-9 * unit) - 1.0).abs() < 1e-13, "{size}: {found:?}");
            assert!((found[1] / (0.3 * unit * unit) - 1.0).abs() < 1e-13, "{size}: {found:?}");
            let found = exprs.eval_f64(&slopes, value);
            assert!((found[4] / (unit * unit) - 1.0).abs() < 1e-13, "{size}: {found:?}");
            assert!(found[..4].iter().all(|x| x.abs() < 1e-15), "{size}: {found:?}");
        }
    }
}
