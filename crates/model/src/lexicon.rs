//! The words of the language: statements, functions, members of bodies, options.
//! Lexer, parser and resolver ask here, and so does the test that the book names each.

/// The words that begin a statement.
pub const STATEMENT_WORDS: [&str; 38] = [
    "system",
    "param",
    "const",
    "coord",
    "let",
    "speed",
    "input",
    "output",
    "state",
    "table",
    "use",
    "kinetic",
    "potential",
    "lagrangian",
    "hamiltonian",
    "dissipation",
    "gravity",
    "force",
    "nonideal",
    "constraint",
    "start",
    "run",
    "observe",
    "event",
    "draw",
    "for",
    "model",
    "part",
    "particle",
    "body",
    "frame",
    "joint",
    "loop",
    "torque",
    "spring",
    "damper",
    "friction",
    "contact",
];

/// The functions, each with its least and its greatest number of arguments.
pub const FUNCTIONS: &[(&str, usize, usize)] = &[
    ("sin", 1, 1),
    ("cos", 1, 1),
    ("tan", 1, 1),
    ("asin", 1, 1),
    ("acos", 1, 1),
    ("atan", 1, 1),
    ("atan2", 2, 2),
    ("sinh", 1, 1),
    ("cosh", 1, 1),
    ("tanh", 1, 1),
    ("exp", 1, 1),
    ("log", 1, 1),
    ("sqrt", 1, 1),
    ("abs", 1, 1),
    ("sign", 1, 1),
    ("min", 2, usize::MAX),
    ("max", 2, usize::MAX),
    ("mod", 2, 2),
    ("if", 3, 3),
    ("sum", 2, usize::MAX),
    ("product", 2, usize::MAX),
    ("dot", 2, 2),
    ("cross", 2, 2),
    ("norm", 1, 1),
    ("transpose", 1, 1),
    ("Rx", 1, 1),
    ("Ry", 1, 1),
    ("Rz", 1, 1),
    ("Rq", 1, 1),
    ("axial", 1, 1),
    ("multiplier", 1, 1),
    ("reaction", 1, 2),
    ("residual", 1, 1),
];

/// Functions whose names a model may take for its own.
pub const FREE_FUNCTIONS: &[(&str, usize, usize)] = &[
    ("Raxis", 2, 2),
    ("unit", 1, 1),
    ("clamp", 3, 3),
    ("diag", 1, 1),
    ("identity", 1, 1),
    ("det", 1, 1),
    ("inverse", 1, 1),
];

/// Names of the language that a model may take for its own and that are no functions.
pub const FREE_NAMES: &[&str] = &["deg"];

/// The axes of a product of rotations, `Rzyx`: two to four of x, y, z.
pub fn rotation_axes(name: &str) -> Option<&str> {
    let axes = name.strip_prefix('R')?;
    let is_axis = |c: char| matches!(c, 'x' | 'y' | 'z');
    ((2..=4).contains(&axes.len()) && axes.chars().all(is_axis)).then_some(axes)
}

/// Names that belong to the language and are no functions.
pub const RESERVED: &[&str] = &["t", "pi", "and", "or", "energy", "kinetic", "potential"];

/// What stands behind the dot of a particle.
pub const PARTICLE_MEMBERS: &[&str] = &["position", "velocity"];

/// What stands behind the dot of a body.
pub const BODY_MEMBERS: &[&str] = &[
    "position",
    "velocity",
    "origin",
    "rotation",
    "omega",
    "omega_body",
    "point",
    "vector",
    "local",
    "velocity_at",
];

/// What stands behind the dot of a joint, beside its coordinates.
pub const JOINT_MEMBERS: &[&str] = &["omega", "point", "force", "torque"];

/// What stands behind the dot of a contact.
pub const CONTACT_MEMBERS: &[&str] = &["gap", "point", "slip", "force", "mode"];

/// What stands behind the dot of a rolling joint.
pub const ROLLING_MEMBERS: &[&str] = &["gap", "point", "slip", "force"];

/// What stands behind the dot of a friction.
pub const FRICTION_MEMBERS: &[&str] = &["force", "mode"];

/// What stands behind the dot of a spring or damper.
pub const SPRING_MEMBERS: &[&str] = &["length", "force"];

/// The fields of a particle.
pub const PARTICLE_FIELDS: &[&str] = &["mass", "at"];

/// The fields of a body.
pub const BODY_FIELDS: &[&str] = &["mass", "inertia", "at", "turning", "center", "about", "free"];

/// The fields of a frame.
pub const FRAME_FIELDS: &[&str] = &["at", "turning"];

/// The kinds of joints.
pub const JOINT_KINDS: &[&str] =
    &["fixed", "pin", "slider", "cylinder", "screw", "universal", "ball", "planar", "rolling"];

/// What a side of a joint may say of its attachment.
pub const SIDE_FIELDS: &[&str] = &["at", "turning", "radius", "axis", "normal", "curve"];

/// The fields of a joint, behind its sides.
pub const JOINT_FIELDS: &[&str] = &["axis", "pitch"];

/// The fields of a contact, behind its sides or its gap.
pub const CONTACT_FIELDS: &[&str] = &["restitution", "friction", "static", "sliding", "while"];

/// What an event of a contact or friction waits for.
pub const CHANGES: &[&str] = &["closes", "opens", "sticks", "slips"];

/// The options of `run`.
pub const RUN_OPTIONS: &[&str] =
    &["t", "every", "tol", "method", "formulation", "elimination", "coordinates", "impacts"];

/// Who takes part in an impact.
pub const IMPACTS: &[&str] = &["at-once", "in-turn"];

/// The options of `table` that are one word.
pub const TABLE_OPTIONS: &[&str] = &["linear", "monotone", "cubic", "hold", "extend", "repeat"];

/// What `draw` can draw.
pub const SHAPES: &[&str] = &["line", "point", "trace", "circle"];

/// Whether a name is that of a function of the language.
pub fn is_function(name: &str) -> bool {
    counts(name).is_some()
}

/// The least and the greatest number of arguments of a function.
pub fn counts(name: &str) -> Option<(usize, usize)> {
    let all = FUNCTIONS.iter().chain(FREE_FUNCTIONS);
    let found = all.into_iter().find(|function| function.0 == name);
    let by_axes = || rotation_axes(name).map(|axes| (axes.len(), axes.len()));
    found.map(|function| (function.1, function.2)).or_else(by_axes)
}

/// Whether a name belongs to the language.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || FUNCTIONS.iter().any(|function| function.0 == name)
}
