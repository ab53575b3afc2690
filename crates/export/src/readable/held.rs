//! What constraints say outright, for readers: the displacements of a joint that is released so that
//! its reaction can be told are 0, and the quaternion of a body has the length 1.
//!
//! ```text
//! q_c = 0:      q_c, q̇_c → 0, and q̈_c leaves the equations of motion
//! |e|² = 1:     |e|² → 1, e·ė → 0
//! ```
//!
//! The equations are derived beside these constraints too, where numbers need them; a reader is on
//! them, and there what is left is what an author would write. Every expression has the value of the
//! one it stands for wherever these constraints hold, which `tests/readable.rs` compares. Velocities
//! are known so only where v = q̇; in energies e·ė stays, since M is made of it.

use dalembert_expr::{ExprId, Exprs, Notation, Symbol};
use dalembert_model::system::{Level, System};

/// What is known of positions and velocities on the constraints.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// Coordinates that are 0, and the constraint that holds each.
    pub zero: Vec<(usize, usize)>,
    /// Four coordinates whose squares add up to 1.
    pub units: Vec<[usize; 4]>,
    /// What positions are replaced by: symbols, then nodes.
    positions: Vec<(Symbol, ExprId)>,
    squares: Vec<(ExprId, ExprId)>,
    /// The same of velocities.
    velocities: Vec<(Symbol, ExprId)>,
    products: Vec<(ExprId, ExprId)>,
}

impl Held {
    /// What the constraints of a system hold.
    pub fn new(exprs: &Exprs, system: &System) -> Held {
        let mut held = Held::default();
        let released = |at: &usize| system.is_released(*at);
        let place = |symbol: Symbol| system.coordinates.iter().position(|c| c.position == symbol);
        let rows = system.constraints.iter().enumerate();
        for (row, constraint) in rows.filter(|(_, c)| c.level == Level::Position) {
            let residual = exprs.at(constraint.residual);
            let symbol = exprs.as_symbol(residual.id).or_else(|| exprs.as_symbol((-residual).id));
            if let Some(at) = symbol.and_then(place).filter(released) {
                held.zero.push((at, row));
                continue;
            }
            let places: Vec<usize> =
                exprs.symbols_of(&[residual.id]).into_iter().filter_map(place).collect();
            let Ok(unit) = <[usize; 4]>::try_from(places) else { continue };
            let of = |at: usize| exprs.at(exprs.of_symbol(system.coordinates[at].position));
            let rate = |at: usize| exprs.at(exprs.of_symbol(system.coordinates[at].velocity));
            let square = unit.iter().fold(exprs.integer(0), |sum, &at| sum + of(at).powi(2));
            if (square - exprs.integer(1)).id != residual.id {
                continue;
            }
            let product = unit.iter().fold(exprs.integer(0), |sum, &at| sum + of(at) * rate(at));
            held.squares.push((square.id, ExprId::ONE));
            held.products.push((product.id, ExprId::ZERO));
            held.units.push(unit);
        }
        for &(at, _) in &held.zero {
            let coordinate = &system.coordinates[at];
            held.positions.push((coordinate.position, ExprId::ZERO));
            held.velocities.push((coordinate.velocity, ExprId::ZERO));
        }
        held
    }

    /// Whether a coordinate is held at 0.
    pub fn is_zero(&self, coordinate: usize) -> bool {
        self.zero.iter().any(|pair| pair.0 == coordinate)
    }

    /// Whether a constraint is one that holds a coordinate at 0.
    pub fn is_row(&self, constraint: usize) -> bool {
        self.zero.iter().any(|pair| pair.1 == constraint)
    }

    fn is_nothing(&self) -> bool {
        self.zero.is_empty() && self.units.is_empty()
    }

    /// An expression in positions and other unknowns, on the constraints; `by_velocities` where it
    /// holds q̇.
    pub(super) fn on(&self, exprs: &Exprs, id: ExprId, by_velocities: bool) -> ExprId {
        if self.is_nothing() {
            return id;
        }
        let mut symbols = self.positions.clone();
        let mut nodes = self.squares.clone();
        if by_velocities {
            symbols.extend(&self.velocities);
            nodes.extend(&self.products);
        }
        let still = exprs.substitute(&[id], &symbols);
        exprs.replace(&still, &nodes)[0]
    }

    /// An energy: what it is made of stays, M included.
    pub(super) fn energy(&self, exprs: &Exprs, id: ExprId) -> ExprId {
        if self.is_nothing() {
            return id;
        }
        let symbols: Vec<(Symbol, ExprId)> =
            self.positions.iter().chain(&self.velocities).copied().collect();
        exprs.replace(&exprs.substitute(&[id], &symbols), &self.squares)[0]
    }

    /// In words what was used, with formulas in a notation.
    pub(crate) fn words(
        &self,
        exprs: &Exprs,
        system: &System,
        notation: Notation,
    ) -> Option<String> {
        // `off` stands for all of its components.
        let stem = |at: usize| {
            let name = system.coordinates[at].name.as_str();
            let stem = name.split_once('[').map_or(name, |pair| pair.0);
            (stem, notation.name(stem, 0))
        };
        let mut parts = Vec::new();
        let mut zero: Vec<String> = self.zero.iter().map(|pair| stem(pair.0).1).collect();
        zero.dedup();
        if !zero.is_empty() {
            parts.push(format!("{} = 0", zero.join(" = ")));
        }
        for (unit, &(square, _)) in self.units.iter().zip(&self.squares) {
            let (name, shown) = stem(unit[0]);
            let is_vector = unit.iter().all(|&at| stem(at).0 == name);
            let norm = match is_vector {
                true => format!("|{shown}|"),
                false => exprs.print_limited(square, notation, 400),
            };
            parts.push(format!("{norm} = 1"));
        }
        let parts: Vec<String> = match notation {
            Notation::Latex => parts.iter().map(|part| format!("${part}$")).collect(),
            _ => parts,
        };
        (!parts.is_empty()).then(|| format!("where {}, as constraints have it", parts.join(", ")))
    }
}
