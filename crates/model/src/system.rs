//! `System`: what a model means. Every item has the span it came from; every
//! expression lives in the arena of its [`Model`].
//!
//! Expressions are in one set of variables throughout. In a model given by T
//! and V (or L) that is q, q′, q″ and t: momenta `p_x` are replaced by ∂L/∂x′. In
//! a model given by H it is q, p, p′ and t: velocities `x'` are replaced by
//! ∂H/∂p_x. Multipliers and reactions stay symbols; they are solved for.
//!
//! Inputs are functions of time, and in the expressions of a system they are: each stands there
//! as what a run takes for it. The same system with inputs as symbols is [`System::open`]; what
//! speaks of inputs themselves (their columns of B, an unknown that serves a constraint) starts
//! from there.

mod fed_back;
mod machine;
mod phase;
mod touch;
mod visit;

pub use machine::{
    Attachment, Joint, JointTurn, Link, Motion, Moving, Stands, Step, Steps, Tree, TurnOf,
};
pub use touch::{Change, Contact, Friction, Impacts, Mode, OfTouch, Phase, Shape, Touch, Touched};

use crate::span::{Sources, Span};
use crate::tree;
use dalembert_expr::{ExprId, Exprs, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// A resolved model: the system and the arena its expressions live in. Threads may share it; a clone
/// is cheap, and what is added to one is not in the other.
#[derive(Clone)]
pub struct Model {
    /// The arena.
    pub exprs: Exprs,
    /// The system.
    pub system: System,
    /// The texts it was read from.
    pub sources: Arc<Sources>,
}

impl Model {
    /// The model with its inputs as symbols.
    pub fn opened(&self) -> Model {
        let system = match &self.system.open {
            Some(open) => (**open).clone(),
            None => self.system.clone(),
        };
        Model { exprs: self.exprs.share(), system, sources: Arc::clone(&self.sources) }
    }

    /// The model with another function of time and parameters for an input; `None` if there is
    /// no input of this name.
    pub fn with_input(&self, name: &str, value: ExprId) -> Option<Model> {
        let Model { exprs, mut system, sources } = self.opened();
        system.inputs.iter_mut().find(|u| u.name == name)?.value = Some(value);
        let system = system.closed(&exprs);
        Some(Model { exprs, system, sources })
    }

    /// The part 1 model of a phase of contacts and frictions.
    pub fn in_phase(&self, phase: &Phase) -> Model {
        let exprs = self.exprs.share();
        let system = self.system.in_phase(&exprs, phase);
        Model { exprs, system, sources: Arc::clone(&self.sources) }
    }

    /// The model as documents show it: a model of part 1 as it is; of one with contacts and
    /// frictions the phase in which all are closed and slip.
    pub fn shown(&self) -> Model {
        match self.system.wants_phase() {
            true => self.in_phase(&Phase::shown(&self.system)),
            false => self.share(),
        }
    }

    /// Another hold on the model: expressions added to one are in the other.
    pub fn share(&self) -> Model {
        Model {
            exprs: self.exprs.share(),
            system: self.system.clone(),
            sources: Arc::clone(&self.sources),
        }
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = |list: &mut dyn Iterator<Item = &String>| list.cloned().collect::<Vec<_>>();
        f.debug_struct("Model")
            .field("title", &self.system.title)
            .field("coordinates", &names(&mut self.system.coordinates.iter().map(|c| &c.name)))
            .field("constraints", &names(&mut self.system.constraints.iter().map(|c| &c.name)))
            .finish_non_exhaustive()
    }
}

/// Threads may share a model.
const _: fn() = || {
    fn is_shareable<T: Send + Sync + Clone>() {}
    is_shareable::<Model>();
};

/// A mechanical system, as written.
#[derive(Clone, Debug)]
pub struct System {
    /// The title; empty if none was given.
    pub title: String,
    /// Parameters in order of declaration.
    pub parameters: Vec<Parameter>,
    /// Constants in order of declaration.
    pub constants: Vec<Constant>,
    /// Generalized coordinates in order of declaration.
    pub coordinates: Vec<Coordinate>,
    /// The energies.
    pub energy: Energy,
    /// The terms of T, L or H, and the statement each comes from.
    pub energy_terms: Vec<(ExprId, Span)>,
    /// Rayleigh's dissipation function R, 0 if there is none.
    pub dissipation: ExprId,
    /// Impressed forces that do not come from a potential; −∂R/∂q′ is one.
    pub forces: Vec<Force>,
    /// Non-ideal parts of the constraint force.
    pub nonideal: Vec<Force>,
    /// Constraint rows in order of declaration.
    pub constraints: Vec<Constraint>,
    /// Dry frictions: those of statements in their order, then those of contacts.
    pub frictions: Vec<Friction>,
    /// Contacts in order of declaration.
    pub contacts: Vec<Contact>,
    /// Joints that roll; their rows are among the constraints.
    pub rolling: Vec<Touch>,
    /// The phase of contacts and frictions that this system is the model of; `None` as read.
    pub phase: Option<Phase>,
    /// Quantities given from outside as functions of time, in order of declaration.
    pub inputs: Vec<Input>,
    /// The outputs of the outermost model; they are observed too.
    pub outputs: Vec<Observe>,
    /// Quantities with a rate and no mass, in order of declaration.
    pub states: Vec<StateVariable>,
    /// The system with inputs as symbols; `None` where there are no inputs, and in that system
    /// itself.
    pub open: Option<Arc<System>>,
    /// Quasi-velocities the user named; fewer than coordinates, perhaps.
    pub speeds: Vec<Speed>,
    /// What is known of the start.
    pub start: Vec<Start>,
    /// What a run does by default.
    pub run: Run,
    /// Further outputs.
    pub observes: Vec<Observe>,
    /// Events in order of declaration.
    pub events: Vec<Event>,
    /// Figures to draw.
    pub draws: Vec<Draw>,
    /// What moves, as far as particles, bodies and energies tell; for pictures.
    pub places: Vec<Place>,
    /// The gravity that acts on particles and bodies: the first one, if there are several.
    pub gravity: Option<Vec<ExprId>>,
    /// What must be true.
    pub checks: Vec<Check>,
    /// A state asked for beside the model: quantities and their values.
    pub state: Vec<(ExprId, ExprId)>,
    /// Symbols that stand for unknowns of the solution.
    pub unknowns: Vec<(Symbol, Unknown)>,
    /// Bodies and joints as they hang together.
    pub tree: Tree,
    /// Constraints that inputs hold in place of an ideal force.
    pub servos: Vec<Servo>,
    /// Rows that are held as combinations of those written, since these nearly depend on each
    /// other; in ascending order. None as read.
    pub recombined: Vec<Recombined>,
    /// Coordinates that the rest of the state determines; only completion finds such.
    pub determined: Vec<Determined>,
}

/// A relation χ(q, q̇, t) = 0 that determines coordinates without mass by the rest of a state. It
/// holds at the start; a constraint keeps its rate.
#[derive(Clone, Debug)]
pub struct Determined {
    /// The coordinates.
    pub coordinates: Vec<usize>,
    /// χ.
    pub residual: ExprId,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its full name.
    pub name: String,
    /// Its symbol.
    pub symbol: Symbol,
    /// Its value in terms of other parameters; `None` until it is set.
    pub value: Option<ExprId>,
    /// Where it is declared.
    pub span: Span,
}

/// A quantity given from outside as a function of time.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its full name.
    pub name: String,
    /// u, in [`System::open`].
    pub symbol: Symbol,
    /// u′
    pub rate: Symbol,
    /// u″
    pub second: Symbol,
    /// What a run takes, of time and parameters; `None` until it is given.
    pub value: Option<ExprId>,
    /// Where it is declared.
    pub span: Span,
}

/// A quantity z with a rate and no mass, z′ = f. To virtual displacements it is what time is: δz = 0.
#[derive(Clone, Debug)]
pub struct StateVariable {
    /// Its full name.
    pub name: String,
    /// z
    pub symbol: Symbol,
    /// f, by positions, velocities or momenta, states, inputs and time. Where contacts or friction
    /// want a phase, it is as written.
    pub rate: ExprId,
    /// f as written: it may hold what is solved for.
    pub written: ExprId,
    /// Where it is declared.
    pub span: Span,
}

/// An integer constant.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Its full name.
    pub name: String,
    /// Its value.
    pub value: i64,
    /// Where it is declared.
    pub span: Span,
}

/// A generalized coordinate and the symbols that belong to it.
#[derive(Clone, Debug)]
pub struct Coordinate {
    /// Its full name: `x`, `th[2]`, `a.x`.
    pub name: String,
    /// q
    pub position: Symbol,
    /// q′
    pub velocity: Symbol,
    /// q″
    pub acceleration: Symbol,
    /// p
    pub momentum: Symbol,
    /// p′
    pub momentum_rate: Symbol,
    /// Where it is declared.
    pub span: Span,
}

/// The function the equations of motion come from.
#[derive(Clone, Debug)]
pub enum Energy {
    /// L = T − V + rest.
    Lagrangian {
        /// Σ kinetic.
        kinetic: ExprId,
        /// Σ potential.
        potential: ExprId,
        /// Σ lagrangian.
        rest: ExprId,
        /// L(q, q′, t).
        lagrangian: ExprId,
        /// p = ∂L/∂q′, by coordinate.
        momenta: Vec<ExprId>,
    },
    /// H(q, p, t).
    Hamiltonian {
        /// H.
        hamiltonian: ExprId,
        /// q′ = ∂H/∂p, by coordinate.
        velocities: Vec<ExprId>,
    },
}

/// A generalized force by coordinate.
#[derive(Clone, Debug)]
pub struct Force {
    /// (coordinate, component) pairs, components not 0.
    pub components: Vec<(usize, ExprId)>,
    /// The statement.
    pub span: Span,
}

/// To which order a constraint is differentiated before it restricts v̇.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// φ(q, t) = 0: twice.
    Position,
    /// ψ(q, q′, t) = 0 or φ(q, p, t) = 0: once.
    Velocity,
    /// A q″ = b as it stands.
    Acceleration,
}

/// One constraint row, φ = left − right.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// Its full name: `rod`, `roll[2]`, `c1`.
    pub name: String,
    /// The label of the statement it belongs to: `roll` of `roll[2]`.
    pub label: String,
    /// Its level, by what is left after expansion.
    pub level: Level,
    /// φ in the variables of the system.
    pub residual: ExprId,
    /// Whether it is affine in the velocities (or momenta).
    pub affine: bool,
    /// Whether time does not occur in it.
    pub scleronomic: bool,
    /// Whether rest is admissible: ψ(q, 0, t) = 0. `None` at acceleration level.
    pub catastatic: Option<bool>,
    /// Whether inputs hold it in place of its ideal force ([`System::servos`]).
    pub servo: bool,
    /// The statement.
    pub span: Span,
}

/// Constraints that inputs hold. What acts in place of their ideal force is a non-ideal one, by
/// the multipliers of their rows.
#[derive(Clone, Debug)]
pub struct Servo {
    /// The label of the statement.
    pub label: String,
    /// Its rows.
    pub rows: Vec<usize>,
    /// Its inputs.
    pub inputs: Vec<Commanded>,
    /// W, row by row, where there are more inputs than rows.
    pub weight: Vec<ExprId>,
    /// The force among [`System::nonideal`] that acts for them.
    pub force: usize,
    /// The statement.
    pub span: Span,
}

/// An input that a servo constraint finds.
#[derive(Clone, Debug)]
pub struct Commanded {
    /// Its full name.
    pub name: String,
    /// Its symbol, which occurs in no equation.
    pub symbol: Symbol,
    /// What it is, by multipliers.
    pub value: ExprId,
    /// Its column of B, by coordinate.
    pub column: Vec<(usize, ExprId)>,
    /// Where it is declared.
    pub span: Span,
}

impl Constraint {
    /// Its kind where functions of time have taken the place of inputs.
    fn reclassify(&mut self, exprs: &Exprs, velocities: &[Symbol]) {
        let is_zero = |id: ExprId| id == ExprId::ZERO || exprs.is_zero(id).is_zero();
        self.scleronomic = is_zero(exprs.derivative(self.residual, Symbol::TIME));
        if self.level == Level::Position {
            self.catastatic = Some(self.scleronomic);
        } else if self.level == Level::Velocity && !velocities.is_empty() {
            let rest: Vec<(Symbol, ExprId)> =
                velocities.iter().map(|&v| (v, ExprId::ZERO)).collect();
            self.catastatic = Some(is_zero(exprs.substitute(&[self.residual], &rest)[0]));
        }
    }

    /// Its kind in words.
    pub fn kinds(&self) -> Vec<&'static str> {
        let mut kinds = match (self.level, self.affine) {
            (Level::Position, _) => vec!["holonomic"],
            (Level::Velocity, true) => vec!["velocity-level", "affine"],
            (Level::Velocity, false) => vec!["velocity-level", "nonlinear"],
            (Level::Acceleration, _) => vec!["acceleration-level"],
        };
        if self.servo {
            kinds.push("servo");
        }
        kinds.push(if self.scleronomic { "scleronomic" } else { "rheonomic" });
        match self.catastatic {
            Some(true) => kinds.push("catastatic"),
            Some(false) => kinds.push("acatastatic"),
            None => {}
        }
        kinds
    }
}

/// A constraint row that is held as a combination of rows as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Recombined {
    /// The row.
    pub row: usize,
    /// φ' = Σ w_j φ_j: rows, this one among them, and their weights. Numbers are of rows as
    /// written up to this one; functions of the state are of rows as they are held otherwise.
    pub weights: Vec<(usize, ExprId)>,
    /// Whether the weights are functions of the state.
    pub varies: bool,
    /// What the row adds to the others, as a part of itself.
    pub left: f64,
}

/// A quasi-velocity, linear and homogeneous in the velocities.
#[derive(Clone, Debug)]
pub struct Speed {
    /// Its full name.
    pub name: String,
    /// Its definition in q, q′, t.
    pub value: ExprId,
    /// Where it is defined.
    pub span: Span,
}

/// One thing known of the start.
#[derive(Clone, Debug)]
pub struct Start {
    /// Position or velocity level.
    pub level: Level,
    /// An equation, or a guess for a single symbol.
    pub relation: tree::StartRelation,
    /// Left side, in the variables of the system.
    pub left: ExprId,
    /// Right side.
    pub right: ExprId,
    /// The left side as the user wrote it.
    pub text: String,
    /// For a guess, the symbol that is guessed (`x`, `x'` or `p_x`).
    pub guess: Option<Symbol>,
    /// Where it stands.
    pub span: Span,
}

/// The local errors a run may be asked for. Below the first, rounding is larger; above
/// the second, nothing is left of the motion.
pub const TOLERANCES: std::ops::RangeInclusive<f64> = 1e-15..=0.1;

/// What `dal run` does by default; expressions hold parameters only.
#[derive(Clone, Debug)]
pub struct Run {
    /// Start time.
    pub from: ExprId,
    /// End time.
    pub to: ExprId,
    /// Interval between outputs.
    pub every: Option<ExprId>,
    /// Tolerance.
    pub tolerance: Option<ExprId>,
    /// Integrator.
    pub method: Option<String>,
    /// Formulation.
    pub formulation: Option<String>,
    /// Elimination.
    pub elimination: Option<String>,
    /// Who takes part in impacts; a run passes those only on which all agree if that is not said.
    pub impacts: Option<Impacts>,
    /// The statement, if there is one.
    pub span: Option<Span>,
}

/// A further output.
#[derive(Clone, Debug)]
pub struct Observe {
    /// Its name.
    pub name: String,
    /// What it is.
    pub value: ExprId,
    /// Where it stands.
    pub span: Span,
}

/// Something that happens when an expression crosses zero.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its full name.
    pub name: String,
    /// left − right.
    pub function: ExprId,
    /// Which crossings count.
    pub direction: tree::Direction,
    /// For an event that happens in time: at the start and after each of these. Its function
    /// is no zero anywhere.
    pub period: Option<ExprId>,
    /// For an event that is a change of a contact or friction; its function is no zero anywhere.
    pub change: Option<(Touched, Change)>,
    /// What happens.
    pub action: Action,
    /// The statement.
    pub span: Span,
}

/// What an event does.
#[derive(Clone, Debug)]
pub enum Action {
    /// Nothing but being recorded.
    Record,
    /// Ends the run.
    Stop,
    /// (quantity after, value before) pairs.
    Reset(Vec<(ExprId, ExprId)>),
}

/// A figure.
#[derive(Clone, Debug)]
pub struct Draw {
    /// What is drawn.
    pub shape: tree::Shape,
    /// Points, each with two or three components; for a circle, its center.
    pub points: Vec<Vec<ExprId>>,
    /// Radius of a circle.
    pub radius: Option<ExprId>,
    /// Axis of a circle in space.
    pub axis: Option<Vec<ExprId>>,
    /// The statement.
    pub span: Span,
}

/// Something that moves and can be drawn: a particle, a body, or what an energy holds the squared
/// velocity of. Its expressions hold parameters, positions and time.
#[derive(Clone, Debug)]
pub struct Place {
    /// Its full name; empty where an energy told of it.
    pub name: String,
    /// Where it is. Two or three components; where an energy told of it, one or more squares that
    /// were added up.
    pub position: Vec<ExprId>,
    /// How it is turned and how large it is, for a body.
    pub extent: Option<Extent>,
    /// The statement, or the expression that told of it.
    pub span: Span,
}

/// How a body is turned and what tells its size.
#[derive(Clone, Debug)]
pub struct Extent {
    /// Its mass.
    pub mass: ExprId,
    /// R by rows, four entries in the plane, nine in space.
    pub rotation: Vec<ExprId>,
    /// The moment of inertia in the plane; the inertia matrix by rows in space, in body axes.
    pub inertia: Vec<ExprId>,
}

/// A resolved check.
#[derive(Clone, Debug)]
pub struct Check {
    /// What must hold.
    pub kind: CheckKind,
    /// The line.
    pub span: Span,
}

/// The forms of a check.
#[derive(Clone, Debug)]
pub enum CheckKind {
    /// Both sides agree.
    Equal {
        /// Left components.
        left: Vec<ExprId>,
        /// Right components.
        right: Vec<ExprId>,
        /// Tolerance.
        within: Option<ExprId>,
        /// Where.
        at: CheckAt,
    },
    /// All formulations agree.
    Agree {
        /// Tolerance.
        within: Option<ExprId>,
    },
    /// The expression stays constant.
    Conserve {
        /// What.
        value: ExprId,
        /// Tolerance.
        within: Option<ExprId>,
    },
    /// The verdict on the motion.
    Verdict(String),
    /// A field of the analysis.
    Analyze {
        /// Its name.
        field: String,
        /// What it must be, as JSON.
        value: String,
    },
    /// A field of the linear equations.
    Linearize {
        /// Its name, or that of a matrix.
        field: String,
        /// What it must be, row by row, where it is made of numbers.
        values: Option<Vec<ExprId>>,
        /// What it must be as JSON, where it is a word or nothing.
        word: String,
        /// Tolerance.
        within: Option<ExprId>,
    },
    /// The model yields this fault.
    Fault(String),
    /// The model yields this warning.
    Warning(String),
}

/// At which states a comparison is made.
#[derive(Clone, Debug)]
pub enum CheckAt {
    /// At the start and at random consistent states.
    Anywhere,
    /// At the start.
    Start,
    /// Where the run ends.
    End,
    /// At a time of the run.
    Time(ExprId),
    /// In exactly this state.
    State(Vec<(ExprId, ExprId)>),
}

/// An unknown of the solution that an expression may refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unknown {
    /// The multiplier of a constraint row.
    Multiplier(usize),
    /// The whole constraint force on a coordinate.
    Reaction(usize),
    /// One constraint row's share of it: (coordinate, row).
    Share(usize, usize),
    /// What belongs to a contact or friction; a phase turns it into one of the others, or a value.
    Touch(OfTouch),
}

/// How often an input may be differentiated.
const MOST_PRIMES: usize = 4;

impl System {
    /// Takes multipliers of the rows that are held to those of the rows as written: λ = Wᵀλ'.
    /// `number` is asked for the weights.
    pub fn write_multipliers(&self, lambda: &mut [f64], number: &dyn Fn(ExprId) -> f64) {
        for recombined in self.back_to_written() {
            let own = std::mem::take(&mut lambda[recombined.row]);
            for &(row, weight) in &recombined.weights {
                lambda[row] += number(weight) * own;
            }
        }
    }

    /// Takes the rows that are held, `n` entries each, to the rows as written.
    pub fn write_rows(&self, rows: &mut [f64], n: usize, number: &dyn Fn(ExprId) -> f64) {
        for recombined in self.back_to_written() {
            let mut own = 1.0;
            for &(row, weight) in &recombined.weights {
                let weight = number(weight);
                if row == recombined.row {
                    own = weight;
                    continue;
                }
                for i in 0..n {
                    rows[recombined.row * n + i] -= weight * rows[row * n + i];
                }
            }
            rows[recombined.row * n..(recombined.row + 1) * n].iter_mut().for_each(|a| *a /= own);
        }
    }

    /// Takes flags of the rows that are held to the rows as written.
    pub fn write_flags(&self, flags: &mut [bool]) {
        for recombined in self.back_to_written() {
            if flags[recombined.row] {
                recombined.weights.iter().for_each(|w| flags[w.0] = true);
            }
        }
    }

    /// The recombined rows in the order in which they become those written again: what was made
    /// last of rows as they were held then, and after that what was made of those written.
    fn back_to_written(&self) -> impl Iterator<Item = &Recombined> {
        let varying = self.recombined.iter().rev().filter(|r| r.varies);
        varying.chain(self.recombined.iter().filter(|r| !r.varies))
    }

    /// How many coordinates there are.
    pub fn n_coordinates(&self) -> usize {
        self.coordinates.len()
    }

    /// The position symbols.
    pub fn positions(&self) -> Vec<Symbol> {
        self.coordinates.iter().map(|c| c.position).collect()
    }

    /// The symbols of the states.
    pub fn state_symbols(&self) -> Vec<Symbol> {
        self.states.iter().map(|z| z.symbol).collect()
    }

    /// Whether a coordinate is a displacement of a released joint, held at 0 so that its reaction
    /// can be told.
    pub fn is_released(&self, coordinate: usize) -> bool {
        self.tree.joints.iter().any(|joint| joint.released.contains(&coordinate))
    }

    /// What a configuration is made of: the positions, then the states.
    pub fn configuration(&self) -> Vec<Symbol> {
        self.positions().into_iter().chain(self.state_symbols()).collect()
    }

    /// The rates of what changes with time by itself: t, states, and inputs where they are symbols.
    pub fn rates(&self, exprs: &Exprs) -> Vec<(Symbol, ExprId)> {
        let mut rates = vec![(Symbol::TIME, ExprId::ONE)];
        rates.extend(self.states.iter().map(|z| (z.symbol, z.rate)));
        if self.open.is_none() {
            let inputs = self.inputs.iter().flat_map(|u| [(u.symbol, u.rate), (u.rate, u.second)]);
            rates.extend(inputs.map(|(symbol, rate)| (symbol, exprs.of_symbol(rate))));
        }
        rates
    }

    /// How an expression changes by itself, with positions and velocities held: f_t, and f_z z′
    /// and f_u u′ with it.
    pub fn partial_rate(&self, exprs: &Exprs, id: ExprId) -> ExprId {
        exprs.directional(&[id], &self.rates(exprs))[0]
    }

    /// The system with its inputs replaced by what a run takes for them; those without a value
    /// stay symbols.
    pub fn closed(self, exprs: &Exprs) -> System {
        if self.inputs.is_empty() {
            return self;
        }
        let mut system = self.clone();
        let mut places: Vec<ExprId> = Vec::new();
        system.each(&mut |id| places.push(*id));
        // Inputs and their derivatives, of whatever order occurs.
        let mut replacements: FxHashMap<Symbol, ExprId> = FxHashMap::default();
        let found: FxHashSet<Symbol> = exprs.symbols_of(&places).into_iter().collect();
        for input in &self.inputs {
            let Some(mut value) = input.value else { continue };
            let mut symbol = input.symbol;
            for _ in 0..=MOST_PRIMES {
                if found.contains(&symbol) {
                    replacements.insert(symbol, value);
                }
                let Some(rate) = exprs.rate(symbol) else { break };
                (symbol, value) = (rate, exprs.time_derivative(value));
            }
        }
        let replaced = exprs.substitute_with(&places, |s| replacements.get(&s).copied());
        let mut next = replaced.into_iter();
        system.each(&mut |id| *id = next.next().unwrap_or(*id));
        system.open = Some(Arc::new(self));
        let velocities = match system.energy {
            Energy::Lagrangian { .. } => system.velocities(),
            Energy::Hamiltonian { .. } => Vec::new(),
        };
        let contacts = system.contacts.iter_mut().map(|contact| &mut contact.row);
        let frictions = system.frictions.iter_mut().flat_map(|friction| &mut friction.rows);
        for constraint in system.constraints.iter_mut().chain(contacts).chain(frictions) {
            constraint.reclassify(exprs, &velocities);
        }
        system
    }

    /// The velocity symbols.
    pub fn velocities(&self) -> Vec<Symbol> {
        self.coordinates.iter().map(|c| c.velocity).collect()
    }

    /// The acceleration symbols.
    pub fn accelerations(&self) -> Vec<Symbol> {
        self.coordinates.iter().map(|c| c.acceleration).collect()
    }

    /// The momentum symbols.
    pub fn momenta(&self) -> Vec<Symbol> {
        self.coordinates.iter().map(|c| c.momentum).collect()
    }

    /// The symbols of the momenta's rates.
    pub fn momentum_rates(&self) -> Vec<Symbol> {
        self.coordinates.iter().map(|c| c.momentum_rate).collect()
    }
}
