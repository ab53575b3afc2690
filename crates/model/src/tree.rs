//! The tree of a model text: what the parser found, with a span on everything
//! and no meaning yet. Chains of equal operators are lists, so that a sum of a
//! million terms is wide, not deep, and nothing that walks a tree can overflow
//! the stack (the parser bounds true nesting).

use crate::span::Span;
use dalembert_expr::Number;
use std::sync::Arc;

/// A name as written, in Unicode normal form C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The characters.
    pub text: Arc<str>,
    /// Where it stands.
    pub span: Span,
}

/// An expression and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// `+` or `-` before a term of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// `+`
    Plus,
    /// `-`
    Minus,
}

/// `*` or `/` before a factor of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

/// A comparison in the condition of `if`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

/// The forms of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A number, exact.
    Number(Number),
    /// A name.
    Name(Arc<str>),
    /// `[a, b, …]`, never empty.
    List(Vec<Expr>),
    /// `a + b - c`, two terms or more; the first sign is always `Plus`.
    Sum(Vec<(Sign, Expr)>),
    /// `a * b / c`, two factors or more; the first is always `Multiply`.
    Product(Vec<(Times, Expr)>),
    /// `-a`. `+a` is just `a`.
    Negative(Box<Expr>),
    /// `a ^ b`
    Power(Box<Expr>, Box<Expr>),
    /// A primary followed by one or more of `'`, `.name`, `[…]`, `(…)`.
    Postfix(Box<Expr>, Vec<Postfix>),
    /// `a < b`, inside the condition of `if` only.
    Compare(Box<Expr>, Relation, Box<Expr>),
    /// `a and b and …`
    And(Vec<Expr>),
    /// `a or b or …`
    Or(Vec<Expr>),
    /// Something that was already reported; evaluates to nothing, silently.
    Missing,
}

/// One operation behind a primary.
#[derive(Clone, Debug, PartialEq)]
pub struct Postfix {
    /// What it does.
    pub kind: PostfixKind,
    /// Where it stands (the operation alone).
    pub span: Span,
}

/// The operations behind a primary.
#[derive(Clone, Debug, PartialEq)]
pub enum PostfixKind {
    /// `'`: the total time derivative.
    Prime,
    /// `.name`
    Member(Arc<str>),
    /// `[i, j]`
    Index(Vec<Expr>),
    /// `(a, b)`
    Call(Vec<Argument>),
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A value or, for `if`, a condition.
    Value(Expr),
    /// `i in 1..N`, for `sum` and `product`.
    Binder(Name, Range),
}

/// `from..to`
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// First value.
    pub from: Expr,
    /// Last value.
    pub to: Expr,
}

/// `x`, `x[1..N]`, `x[2, 0..3]`: a name declared with its index ranges.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The name.
    pub name: Name,
    /// One item an index; empty for a plain name.
    pub spans: Vec<IndexSpan>,
    /// How documents print it: a name, or LaTeX that was given in quotes.
    pub shown: Option<Shown>,
    /// Name and brackets.
    pub span: Span,
}

/// What stands after `as`: how documents print a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Like this name.
    Name(Name),
    /// By this LaTeX.
    Latex(Name),
}

/// One item of a `state` statement, `z' = r - x`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    /// The quantity, without its prime.
    pub family: Family,
    /// Its rate.
    pub value: Expr,
}

/// Where the data of a `table` come from.
#[derive(Clone, Debug, PartialEq)]
pub enum TableSource {
    /// A CSV file.
    File(Name),
    /// A list of rows, the argument first.
    List(Expr),
}

/// One option of a `table` statement.
#[derive(Clone, Debug, PartialEq)]
pub enum TableOption {
    /// A word: `linear`, `monotone`, `cubic`, `hold`, `extend`, `repeat`.
    Word(Name),
    /// `columns [s, z]`: which columns of the file, by their headers or numbers.
    Columns(Vec<Name>),
}

/// One index of a [`Family`]: a single value or a range.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexSpan {
    /// First, or only, value.
    pub from: Expr,
    /// Last value, for a range.
    pub to: Option<Expr>,
}

/// `x`, `x[i]`, `x[i, j]`: a name with definite indices.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The name.
    pub name: Name,
    /// The indices; empty for a plain name.
    pub indices: Vec<Expr>,
    /// Name and brackets.
    pub span: Span,
}

/// One definition of a `let` or `speed`.
#[derive(Clone, Debug, PartialEq)]
pub struct Define {
    /// Name and indices; for a function, the bare name.
    pub entry: Entry,
    /// The parameters of a function; `None` for a plain value.
    pub arguments: Option<Vec<Name>>,
    /// How documents print it.
    pub shown: Option<Shown>,
    /// The right side.
    pub value: Expr,
}

/// `=` or `~` in a `start` statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartRelation {
    /// `=`: an equation that holds at the start.
    Equals,
    /// `~`: a guess.
    Near,
}

/// One item of a `start` statement.
#[derive(Clone, Debug, PartialEq)]
pub struct StartItem {
    /// Left side.
    pub left: Expr,
    /// `=` or `~`.
    pub relation: StartRelation,
    /// Right side.
    pub right: Expr,
}

/// One option of a `run` statement.
#[derive(Clone, Debug, PartialEq)]
pub enum RunOption {
    /// `t = 0..10`
    Time(Range),
    /// `every 0.01`
    Every(Expr),
    /// `tol 1e-10`
    Tolerance(Expr),
    /// `method radau`
    Method(Name),
    /// `formulation hamilton`
    Formulation(Name),
    /// `elimination null-space`
    Elimination(Name),
    /// `coordinates absolute`
    Coordinates(Name),
    /// `impacts at-once`
    Impacts(Name),
}

/// One output of an `observe` statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Observe {
    /// The name before `=`, if there is one.
    pub entry: Option<Entry>,
    /// What is observed.
    pub value: Expr,
}

/// Which crossings of zero an event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Both.
    Both,
    /// From − to +.
    Rising,
    /// From + to −.
    Falling,
}

/// When an event happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    /// `a = b falling`: at a zero of left − right.
    Zero {
        /// Left side.
        left: Expr,
        /// Right side.
        right: Expr,
        /// Which crossings count.
        direction: Direction,
    },
    /// `every 0.01`: at t₀ + k·0.01.
    Every(Expr),
    /// `c closes`: at a change of a contact or friction.
    Change {
        /// The contact or friction.
        of: Expr,
        /// `closes`, `opens`, `sticks` or `slips`.
        change: Name,
    },
}

/// What an event does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Nothing but being recorded.
    Record,
    /// Ends the run.
    Stop,
    /// `quantity = value` pairs, all at once.
    Reset(Vec<(Expr, Expr)>),
}

/// What a `draw` statement draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `line A, B, …`
    Line,
    /// `point P`
    Point,
    /// `trace P`
    Trace,
    /// `circle C, r`
    Circle,
}

/// Which energy-like function a statement adds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EnergyKind {
    /// `kinetic`
    Kinetic,
    /// `potential`
    Potential,
    /// `lagrangian`
    Lagrangian,
    /// `hamiltonian`
    Hamiltonian,
    /// `dissipation`
    Dissipation,
}

/// The three forms of `force` and `nonideal`.
#[derive(Clone, Debug, PartialEq)]
pub enum ForceForm {
    /// `force x: F`
    On {
        /// The coordinate.
        coordinate: Expr,
        /// The force.
        value: Expr,
    },
    /// `force F at r`
    At {
        /// The force.
        value: Expr,
        /// The position.
        position: Expr,
    },
    /// `force F along v`
    Along {
        /// The force.
        value: Expr,
        /// The velocity.
        velocity: Expr,
    },
}

/// One field of a particle, a body, a frame or a joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// `mass`, `inertia`, `at`, `turning`, `axis` and their like.
    pub name: Name,
    /// Its value; of `free`, which has none, the number 1.
    pub value: Expr,
}

/// Where a spring or damper acts.
#[derive(Clone, Debug, PartialEq)]
pub enum Where {
    /// `between P, Q`: two points.
    Between(Expr, Expr),
    /// `at s`: along a quantity.
    At(Expr),
}

/// What may touch in a contact.
#[derive(Clone, Debug, PartialEq)]
pub enum Gap {
    /// `1 >= x`: the left side is at least the right one.
    Between(Expr, Expr),
    /// Two sides with shapes.
    Sides(Box<[Side; 2]>),
}

/// One side of a joint: `thigh at [0, 0, -l] turning R`.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The body, frame or particle.
    pub of: Expr,
    /// Where the joint is attached to it, and with which shape.
    pub fields: Vec<Field>,
    /// The name that runs along its `curve`.
    pub by: Option<Name>,
    /// The whole side.
    pub span: Span,
}

/// What a `part` is built from.
#[derive(Clone, Debug, PartialEq)]
pub enum PartSource {
    /// A `model` of this file.
    Model(Name),
    /// A file.
    File(Name),
}

/// A statement and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// What it is.
    pub kind: StatementKind,
    /// The whole statement.
    pub span: Span,
    /// Its first word.
    pub keyword: Span,
}

/// The forms of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum StatementKind {
    /// `system Title`
    System(String),
    /// `param a = 1, b`
    Param(Vec<(Family, Option<Expr>)>),
    /// `const N = 5`
    Const(Vec<(Family, Option<Expr>)>),
    /// `coord x, y`
    Coord(Vec<Family>),
    /// `let a = …`
    Let(Vec<Define>),
    /// `speed w = …`
    Speed(Vec<Define>),
    /// `input F = 0, u[1..4]`
    Input(Vec<(Family, Option<Expr>)>),
    /// `output y = …`
    Output(Vec<Define>),
    /// `state z' = …`
    State(Vec<Rate>),
    /// `table road = "road.csv", cubic, hold`
    Table {
        /// The name of the function.
        name: Name,
        /// Its data.
        source: TableSource,
        /// How they are read.
        options: Vec<TableOption>,
    },
    /// A statement of another tool, which was reported: the names that it would have defined.
    Foreign(Vec<Name>),
    /// `use "legs.dal" as legs`
    Use {
        /// The file.
        file: Name,
        /// The name that its definitions stand behind.
        name: Option<Name>,
    },
    /// `kinetic …` and its kin.
    Energy(EnergyKind, Expr),
    /// `gravity g`
    Gravity(Expr),
    /// `force …`
    Force(ForceForm),
    /// `nonideal …`
    Nonideal(ForceForm),
    /// `constraint rod: a = b`
    Constraint {
        /// The label, if there is one.
        label: Option<Entry>,
        /// The inputs that hold it, where it is no ideal constraint.
        by: Vec<Expr>,
        /// How they share the work.
        weight: Option<Expr>,
        /// Left side.
        left: Expr,
        /// Right side.
        right: Expr,
    },
    /// `start …`
    Start(Vec<StartItem>),
    /// `run …`
    Run(Vec<RunOption>),
    /// `observe …`
    Observe(Vec<Observe>),
    /// `event hit: a = b falling -> …`
    Event {
        /// The label.
        label: Entry,
        /// When it happens.
        trigger: Trigger,
        /// What it does.
        action: Action,
    },
    /// `draw line A, B`
    Draw(Shape, Vec<Expr>),
    /// `for i in 1..N { … }`
    For {
        /// The loop index.
        index: Name,
        /// Its range.
        range: Range,
        /// The statements.
        body: Arc<Vec<Statement>>,
    },
    /// `model M { … }`
    Model {
        /// Its name.
        name: Name,
        /// The statements.
        body: Arc<Vec<Statement>>,
    },
    /// `part a = M { m = 2 }`
    Part {
        /// Name and indices of the part.
        entry: Entry,
        /// What it is built from.
        source: PartSource,
        /// The settings in braces.
        settings: Vec<(Entry, Expr)>,
    },
    /// `particle bob: mass m, at r`
    Particle {
        /// Its name.
        entry: Entry,
        /// Its fields.
        fields: Vec<Field>,
    },
    /// `body wheel: mass m, inertia I, at r, turning R`
    Body {
        /// Its name.
        entry: Entry,
        /// Its fields.
        fields: Vec<Field>,
    },
    /// `frame f on b: at u, turning R`
    Frame {
        /// Its name.
        entry: Entry,
        /// What it is fixed in.
        on: Option<Expr>,
        /// Its fields.
        fields: Vec<Field>,
    },
    /// `joint knee: pin thigh at u, shank, axis n`, or the same with `loop`.
    Joint {
        /// Its name.
        entry: Entry,
        /// `pin`, `slider`, …
        kind: Name,
        /// What it joins: the second moves relative to the first.
        sides: Box<[Side; 2]>,
        /// `axis` and `pitch`.
        fields: Vec<Field>,
        /// Whether it is a `loop`, which closes in any case.
        is_loop: bool,
    },
    /// `torque M on b from a`
    Torque {
        /// The torque.
        value: Expr,
        /// What feels it.
        on: Expr,
        /// What feels the opposite.
        from: Option<Expr>,
    },
    /// `spring k, l0 between P, Q` or `damper c at s`.
    Spring {
        /// Its name, if it has one.
        label: Option<Entry>,
        /// Whether it is a damper.
        is_damper: bool,
        /// Stiffness, or damping constant.
        coefficient: Expr,
        /// The length, or value, without force.
        rest: Option<Expr>,
        /// Where it acts.
        place: Where,
    },
    /// `friction F along v, static Fs`
    Friction {
        /// Its name, if it has one.
        label: Option<Entry>,
        /// F.
        bound: Expr,
        /// v.
        along: Expr,
        /// F_s.
        holds: Option<Expr>,
    },
    /// `contact c: ground normal [0, 1], ball radius r, restitution e, friction mu`
    Contact {
        /// Its name.
        entry: Entry,
        /// What may not become negative.
        gap: Gap,
        /// `restitution`, `friction`, `static`, `sliding`.
        fields: Vec<Field>,
        /// What stands after `while`.
        condition: Option<Expr>,
    },
}

/// One line of a ```check block.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What must hold.
    pub kind: CheckKind,
    /// The whole line.
    pub span: Span,
}

/// At which states a comparison is made.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckAt {
    /// At the start and at random consistent states.
    Anywhere,
    /// `at start`
    Start,
    /// Where the run ends.
    End,
    /// `at t = 2`: on the run.
    Time(Expr),
    /// `at x = 0.5, x' = 1, t = 0`: in exactly that state.
    State(Vec<(Expr, Expr)>),
}

/// The forms of a check.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckKind {
    /// `a = b within 1e-12 at start`
    Equal {
        /// Left side.
        left: Expr,
        /// Right side.
        right: Expr,
        /// The tolerance, if given.
        within: Option<Expr>,
        /// Where.
        at: CheckAt,
    },
    /// `agree within 1e-10`
    Agree {
        /// The tolerance, if given.
        within: Option<Expr>,
    },
    /// `conserve energy within 1e-12`
    Conserve {
        /// What stays constant.
        value: Expr,
        /// The tolerance, if given.
        within: Option<Expr>,
    },
    /// `motion gauge-free`
    Verdict(Name),
    /// `analyze rank = 2`: field and expected JSON text.
    Analyze {
        /// Field of `dal analyze --json`.
        field: String,
        /// What it must be, as written.
        value: String,
    },
    /// `linearize B = [[0], [1/M]]`: a field of `dal linearize --json`.
    Linearize {
        /// The field, or the name of a matrix.
        field: String,
        /// What it must be, where it is made of numbers.
        value: Option<Expr>,
        /// What it must be as JSON, where it is a word or nothing.
        word: String,
        /// The tolerance, if given.
        within: Option<Expr>,
    },
    /// `fault NAME`
    Fault(Name),
    /// `warning NAME`
    Warning(Name),
}

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// Its statements, in order.
    pub statements: Vec<Statement>,
    /// The lines of its ```check blocks.
    pub checks: Vec<Check>,
}
