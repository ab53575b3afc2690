//! From a tree to a [`System`](crate::system::System): loops unrolled, names looked up, definitions
//! substituted, every statement checked for what may stand in it.
//!
//! The order of statements does not matter, so nothing is evaluated before
//! everything is declared. A definition is evaluated when it is first used and
//! then remembered. Chains of definitions (`r[i]` by `r[i-1]`) can be long, so
//! evaluation recurses only so far; past that it asks for what is missing
//! (`Stop::Need`) and is tried again once that is known.

mod asked;
mod bodies;
mod builtins;
mod carried;
mod declare;
mod enter;
mod evaluate;
mod events;
mod figures;
mod finish;
mod forces;
mod free_functions;
mod joints;
mod labels;
mod machines;
mod members;
mod names;
mod naming;
mod normalize;
mod outputs;
mod parameters;
mod parts;
mod places;
mod quantities;
mod reference;
mod report;
mod rigid;
mod servo;
mod start;
mod statements;
pub(crate) mod tables;
mod touch;
mod twists;
mod unknown;
mod unvisited;
mod value;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Severity};
use crate::lexer::MAX_FAULTS;
use crate::span::{SourceId, Sources, Span};
use crate::system::{Constraint, Model, Unknown};
use crate::tree::{self, Expr, File, Statement};
use dalembert_expr::{ExprId, Exprs, KeptValues, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::Arc;
use value::Value;

/// How large a model may become.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Statements and terms after expansion.
    pub terms: u64,
}

impl Default for Limits {
    /// Ten million, as the language says.
    fn default() -> Self {
        Limits { terms: 10_000_000 }
    }
}

/// The files parts are built from: by the text that names one and its name
/// there, the tree, or why it could not be read.
pub type PartFiles = FxHashMap<(SourceId, String), Result<Arc<File>, String>>;

/// What is said beside the model's text, each as (left, right) of an equation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside<'a> {
    /// Values of parameters, constants and of the start that replace the text's.
    pub overrides: &'a [(Expr, Expr)],
    /// A state to evaluate at.
    pub state: &'a [(Expr, Expr)],
    /// The names that a `run` may choose from.
    pub names: Names<'a>,
    /// `relative` or `absolute`, in place of what the `run` says.
    pub coordinates: Option<&'a str>,
    /// The texts of files that tables name.
    pub tables: Option<&'a tables::TableFiles>,
}

/// Names of integrators, formulations and eliminations that a `run` may choose. They belong to
/// who moves the model; where there are none, any name will do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Names<'a> {
    /// Of integrators.
    pub methods: &'a [&'a str],
    /// Of formulations.
    pub formulations: &'a [&'a str],
    /// Of eliminations.
    pub eliminations: &'a [&'a str],
}

/// Resolves a file. Faults are added to `diagnostics`; the model is returned
/// only if there are none.
pub fn resolve(
    file: &File,
    beside: Beside<'_>,
    files: &PartFiles,
    sources: Arc<Sources>,
    limits: Limits,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Model> {
    let mut resolver = Resolver::new(limits, files, beside, diagnostics);
    let system = resolver.run(file, &sources);
    let exprs = resolver.exprs;
    let faulty = diagnostics.iter().any(|d| d.severity == Severity::Fault);
    match system {
        Some(system) if !faulty => Some(Model { exprs, system, sources }),
        _ => None,
    }
}

/// Why an evaluation stopped.
pub(crate) enum Stop {
    /// A fault was reported, or something already reported was used.
    Reported(report::Told),
    /// This definition is needed first.
    Need(DefId),
}

type Eval<T> = Result<T, Stop>;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct DefId(u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct ScopeId(u32);

/// A turn of a loop; 0 is "in no loop".
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct EnvId(u32);

type Indices = SmallVec<[i64; 2]>;

/// What kind of thing a name is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Const,
    Param,
    Coord,
    Let,
    Function,
    Speed,
    Input,
    Output,
    State,
    Table,
    Particle,
    Body,
    Frame,
    Joint,
    Spring,
    Friction,
    Contact,
    Part,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Kind::Const => "constant",
            Kind::Param => "parameter",
            Kind::Coord => "coordinate",
            Kind::Let => "`let`",
            Kind::Function => "function",
            Kind::Speed => "speed",
            Kind::Input => "input",
            Kind::Output => "output",
            Kind::State => "state",
            Kind::Table => "table",
            Kind::Particle => "particle",
            Kind::Body => "body",
            Kind::Frame => "frame",
            Kind::Joint => "joint",
            Kind::Spring => "spring or damper",
            Kind::Friction => "friction",
            Kind::Contact => "contact",
            Kind::Part => "part",
        }
    }
}

/// What stands in space.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    Particle,
    Body,
    Frame,
}

impl What {
    fn word(self) -> &'static str {
        match self {
            What::Particle => "particle",
            What::Body => "body",
            What::Frame => "frame",
        }
    }
}

struct Def<'a> {
    kind: DefKind<'a>,
    scope: ScopeId,
    env: EnvId,
    span: Span,
    state: State,
}

#[derive(Clone, Copy)]
enum DefKind<'a> {
    /// Its value, its place in the family it was declared with, and how many
    /// that has.
    Const {
        value: Option<&'a Expr>,
        place: usize,
        count: usize,
    },
    Param(usize),
    Coord(usize),
    /// An input, by its place in the system.
    Input,
    /// A state, by its symbol.
    State,
    /// The rate of a state, at a place of the family it was declared with.
    Rate {
        value: &'a Expr,
        place: usize,
        count: usize,
    },
    Let(&'a Expr),
    /// A function given by data, by its statement.
    Table(&'a Statement),
    Function(&'a tree::Define),
    /// A parameter of a part that the braces set, at a place of its family.
    Setting {
        value: &'a Expr,
        /// Whether it is the model's own default.
        own: bool,
        place: usize,
        count: usize,
    },
    /// A particle, a body or a frame.
    Body {
        fields: &'a [tree::Field],
        what: What,
        /// What a frame is fixed in.
        on: Option<&'a Expr>,
    },
    /// A joint, by its place among them.
    Joint(usize),
    /// A spring or damper.
    Spring(&'a Statement),
    /// A contact or rolling joint, by its place among those.
    Touch(usize),
    /// A friction, by its place among them.
    Friction(usize, &'a Statement),
    /// The rows of a contact or rolling joint.
    TouchRows(usize),
    /// The row of the foot point on a curve.
    Foot(usize),
    /// The rows of a joint that closes.
    Rows(usize),
    /// The rows that determine the angles of a joint that closes.
    Turns(usize),
    /// What has its value from the beginning.
    Known,
    /// The scope of a part.
    Part(ScopeId),
    /// left − right of a constraint.
    Row {
        left: &'a Expr,
        right: &'a Expr,
    },
}

#[derive(Clone)]
enum State {
    Todo,
    Active,
    Done(Value),
    Failed,
}

/// A name of one scope: a plain definition, a family, or both kinds of mistake.
struct NameInfo {
    kind: Kind,
    span: Span,
    plain: Option<DefId>,
    arity: usize,
    entries: FxHashMap<Indices, DefId>,
    /// The index tuples in order, once asked for.
    sorted: Option<Arc<[Indices]>>,
}

/// The names of a model or of one of its parts.
#[derive(Default)]
struct Scope<'a> {
    prefix: String,
    /// The scope around a part, and the turn of the loop the part stands in.
    parent: Option<ScopeId>,
    outer_env: EnvId,
    /// Which model a part is built from.
    model: usize,
    settings: Vec<parts::Setting<'a>>,
    models: FxHashMap<Arc<str>, &'a [Statement]>,
    gravity: Option<(&'a Expr, EnvId)>,
    /// Constraints and events, in a space of their own.
    labels: FxHashMap<Arc<str>, names::LabelInfo>,
    /// Every label any constraint of this scope has, also in loops without turns.
    label_names: FxHashSet<Arc<str>>,
    n_constraints: usize,
    names: FxHashMap<Arc<str>, NameInfo>,
    /// Every name any statement of this scope declares, before loops are
    /// unrolled: to tell "not a constant" from "unknown".
    declared: FxHashMap<Arc<str>, (Kind, Span)>,
    /// Names without index that a `let` inside a loop defines.
    locals: FxHashSet<Arc<str>>,
    /// Names whose own declaration was found to be wrong, and reported.
    broken: FxHashSet<Arc<str>>,
    /// By how names print, to find `theta` beside `θ`.
    printed: FxHashMap<String, (Arc<str>, Span)>,
}

struct Env {
    parent: EnvId,
    index: Option<(Arc<str>, i64)>,
    locals: FxHashMap<Arc<str>, DefId>,
}

/// A statement of a scope in one turn of its loops.
#[derive(Clone, Copy)]
struct Instance<'a> {
    statement: &'a Statement,
    scope: ScopeId,
    env: EnvId,
}

/// A function argument or the index of a `sum`, innermost first.
#[derive(Clone, Copy)]
struct Local<'l> {
    name: &'l str,
    value: &'l Value,
    outer: Option<&'l Local<'l>>,
}

/// Where an expression is evaluated.
#[derive(Clone, Copy)]
struct Cx<'l> {
    scope: ScopeId,
    env: EnvId,
    locals: Option<&'l Local<'l>>,
    /// Ranges and indices: constants only.
    constant: bool,
}

/// What an expression is made of, by kind of symbol.
pub(crate) mod role {
    pub const PARAMETER: u16 = 1;
    pub const TIME: u16 = 1 << 1;
    pub const POSITION: u16 = 1 << 2;
    pub const VELOCITY: u16 = 1 << 3;
    pub const ACCELERATION: u16 = 1 << 4;
    pub const MOMENTUM: u16 = 1 << 5;
    pub const MOMENTUM_RATE: u16 = 1 << 6;
    pub const MULTIPLIER: u16 = 1 << 7;
    pub const REACTION: u16 = 1 << 8;
    pub const ENERGY: u16 = 1 << 9;
    /// What stands for a joint coordinate that is none, in guesses only.
    pub const SHADOW: u16 = 1 << 12;
    pub const INPUT: u16 = 1 << 10;
    pub const STATE: u16 = 1 << 11;
    /// What changes with time by itself; where time may stand, these may.
    pub const GIVEN: u16 = TIME | INPUT | STATE;
}

struct Resolver<'a, 'd> {
    exprs: Exprs,
    diagnostics: &'d mut Vec<Diagnostic>,
    limits: Limits,
    spent: u64,
    exhausted: bool,
    scopes: Vec<Scope<'a>>,
    envs: Vec<Env>,
    defs: Vec<Def<'a>>,
    instances: Vec<Instance<'a>>,
    overrides: declare::Overrides<'a>,
    depth: u32,
    /// Whether the nesting of functions was already found to be too deep.
    too_deep: bool,
    /// Whether a block is never closed, so that a loop may hold what does not
    /// belong to it.
    unclosed: bool,
    /// The numbers of the parameters and of what was asked for of them, once asked for.
    parameter_values: Option<(FxHashMap<Symbol, f64>, KeptValues)>,
    /// The terms of the energies and their statements.
    energy_terms: Vec<(ExprId, Span)>,
    /// What moves, as far as was seen.
    seen: places::Seen,
    /// The first gravity that acted on something.
    gravity_seen: Option<Vec<ExprId>>,
    /// How many faults were found here.
    n_reported: usize,
    /// How many remarks that are no faults.
    n_notes: usize,
    /// Names that nothing defines, and which diagnostic says so.
    unknown_names: FxHashMap<Arc<str>, usize>,
    /// Functions being expanded, to refuse recursion.
    calls: Vec<DefId>,
    /// Functions that something calls: their bodies are evaluated there.
    called: FxHashSet<DefId>,
    /// Expressions that nothing evaluates and whose names were looked up.
    unvisited: FxHashSet<Span>,
    /// Labels that nothing asked for, and where they stand.
    unvisited_labels: Vec<(&'a Expr, ScopeId)>,
    call_memo: FxHashMap<(DefId, Vec<ExprId>, Vec<usize>), Value>,
    roles: Vec<u16>,
    masks: FxHashMap<ExprId, u16>,
    unknowns: Vec<(Symbol, Unknown)>,
    unknown_ids: FxHashMap<Unknown, Symbol>,
    /// Rows of each constraint statement, once resolved: for multipliers.
    specials: Specials,
    parts: normalize::Parts,
    constraint_rows: Vec<ConstraintGroup<'a>>,
    /// Provisional row numbers and those of the system.
    final_rows: FxHashMap<usize, usize>,
    constraints: Vec<Constraint>,
    /// Particles and bodies that were evaluated; `None` for faulty ones.
    bodies: FxHashMap<DefId, Option<Arc<bodies::Body>>>,
    body_defs: FxHashMap<(Span, ScopeId, EnvId), DefId>,
    /// The definitions of the rates of states, by the symbols z′.
    rate_defs: FxHashMap<Symbol, DefId>,
    /// The columns of tables that were read; `None` for faulty ones.
    tables: FxHashMap<DefId, Option<Arc<[dalembert_expr::TableId]>>>,
    table_files: Option<&'a tables::TableFiles>,
    /// Full names of parameters that the braces of a part set.
    setting_names: FxHashMap<DefId, String>,
    /// Files that parts are built from, by where and as what they are named.
    files: &'a PartFiles,
    raw_overrides: &'a [(Expr, Expr)],
    /// The state asked for, as written.
    raw_state: &'a [(Expr, Expr)],
    names: Names<'a>,
    /// Bodies without a place, frames and joints.
    machine: machines::Machine<'a>,
    /// Contacts, frictions and rolling joints.
    touches: touch::Touches<'a>,
    /// Whether coordinates are absolute, if that is said beside the model.
    absolute: Option<bool>,
}

/// Placeholders for quantities that are known only when all energies are.
struct Specials {
    energy: Symbol,
    kinetic: Symbol,
    potential: Symbol,
}

/// The rows of one constraint statement, by number of the row as written.
struct ConstraintGroup<'a> {
    def: DefId,
    /// Full name without component index.
    label: String,
    indexed: bool,
    /// Whether the name was made up, and in which scope.
    unnamed: Option<ScopeId>,
    /// The contact whose row it is: it holds in some phases only.
    contact: Option<usize>,
    /// The inputs that hold it.
    by: Option<servo::By<'a>>,
    span: Span,
}

impl<'a, 'd> Resolver<'a, 'd> {
    fn new(
        limits: Limits,
        files: &'a PartFiles,
        beside: Beside<'a>,
        diagnostics: &'d mut Vec<Diagnostic>,
    ) -> Self {
        let exprs = Exprs::new();
        let special = |name: &str| exprs.symbol(name, dalembert_expr::SymbolKind::Variable);
        let specials = Specials {
            energy: special("energy"),
            kinetic: special("kinetic"),
            potential: special("potential"),
        };
        let mut resolver = Resolver {
            exprs,
            diagnostics,
            limits,
            spent: 0,
            exhausted: false,
            scopes: vec![Scope::default()],
            envs: vec![Env { parent: EnvId(0), index: None, locals: FxHashMap::default() }],
            defs: Vec::new(),
            instances: Vec::new(),
            overrides: Default::default(),
            depth: 0,
            too_deep: false,
            unclosed: false,
            parameter_values: None,
            energy_terms: Vec::new(),
            seen: Default::default(),
            gravity_seen: None,
            n_reported: 0,
            n_notes: 0,
            unknown_names: FxHashMap::default(),
            calls: Vec::new(),
            called: FxHashSet::default(),
            unvisited: FxHashSet::default(),
            unvisited_labels: Vec::new(),
            call_memo: FxHashMap::default(),
            roles: Vec::new(),
            masks: FxHashMap::default(),
            unknowns: Vec::new(),
            unknown_ids: FxHashMap::default(),
            parts: Default::default(),
            constraint_rows: Vec::new(),
            final_rows: FxHashMap::default(),
            constraints: Vec::new(),
            bodies: FxHashMap::default(),
            body_defs: FxHashMap::default(),
            rate_defs: FxHashMap::default(),
            tables: FxHashMap::default(),
            table_files: beside.tables,
            setting_names: FxHashMap::default(),
            files,
            raw_overrides: beside.overrides,
            raw_state: beside.state,
            names: beside.names,
            machine: Default::default(),
            touches: Default::default(),
            absolute: beside.coordinates.map(|word| word == "absolute"),
            specials,
        };
        resolver.set_role(Symbol::TIME, role::TIME);
        let Specials { energy, kinetic, potential } = resolver.specials;
        for symbol in [energy, kinetic, potential] {
            resolver.set_role(symbol, role::ENERGY);
        }
        resolver
    }

    /// Refuses a range that is too long before its first turn.
    fn spare(&mut self, from: i64, to: i64, span: Span) -> Eval<()> {
        let turns = (to as i128 - from as i128 + 1).clamp(0, u64::MAX as i128) as u64;
        if self.spent.saturating_add(turns) <= self.limits.terms {
            return Ok(());
        }
        let turns = format!("{} turns", group_digits(turns));
        self.exhaust(span, &turns)
    }

    /// Counts work; a model that expands too far is stopped with a fault.
    fn spend(&mut self, amount: u64, span: Span) -> Eval<()> {
        self.spent = self.spent.saturating_add(amount);
        if self.spent <= self.limits.terms {
            return Ok(());
        }
        self.exhaust(span, "the limit was reached here")
    }

    fn exhaust(&mut self, span: Span, label: &str) -> Eval<()> {
        if !self.exhausted {
            self.exhausted = true;
            let limit = self.limits.terms;
            self.report(
                Diagnostic::fault(
                    Code::TooLarge,
                    span,
                    format!(
                        "the model expands to more than {} statements and terms",
                        group_digits(limit)
                    ),
                )
                .at(label)
                .hint("check the ranges of `for` and `sum`; a constant may be larger than meant"),
            );
        }
        Err(self.already(span))
    }

    fn set_role(&mut self, symbol: Symbol, role: u16) {
        if self.roles.len() <= symbol.index() {
            self.roles.resize(symbol.index() + 1, 0);
        }
        self.roles[symbol.index()] = role;
    }

    fn role(&self, symbol: Symbol) -> u16 {
        self.roles.get(symbol.index()).copied().unwrap_or(0)
    }

    /// The kinds of symbols an expression holds, each node looked at once.
    fn mask(&mut self, id: ExprId) -> u16 {
        let mut stack = vec![id];
        while let Some(&top) = stack.last() {
            if self.masks.contains_key(&top) {
                stack.pop();
                continue;
            }
            let operands = self.exprs.operands(top);
            let mut mask = match self.exprs.as_symbol(top) {
                Some(symbol) => self.role(symbol),
                None => 0,
            };
            let mut ready = true;
            for operand in operands {
                match self.masks.get(&operand) {
                    Some(inner) => mask |= inner,
                    None => {
                        ready = false;
                        stack.push(operand);
                    }
                }
            }
            if ready {
                self.masks.insert(top, mask);
                stack.pop();
            }
        }
        self.masks[&id]
    }

    fn scope_cx(&self, instance: &Instance<'a>) -> Cx<'static> {
        Cx { scope: instance.scope, env: instance.env, locals: None, constant: false }
    }
}

/// 10000000 → 10,000,000.
fn group_digits(n: u64) -> String {
    let digits = n.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
