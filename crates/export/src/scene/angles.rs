//! Which coordinates are angles and which are lengths.
//!
//! The language has no units, so this is read off the model: what stands in a sine or cosine, or is
//! called by a Greek letter as angles are, is an angle; what is added to or compared with a length
//! would be one, but a name is all that is asked for here. Only pictures depend on it.

use dalembert_expr::{ExprId, Exprs, Function, Symbol};
use dalembert_model::system::Model;
use dalembert_model::system::{Energy, System};
use rustc_hash::FxHashSet;

/// Names that angles go by.
const ANGLES: &[&str] = &[
    "alpha", "beta", "gamma", "delta", "theta", "th", "phi", "ph", "psi", "chi", "varphi",
    "vartheta", "angle", "yaw", "roll", "pitch", "heading", "rot", "steer", "lean", "α", "β", "γ",
    "δ", "θ", "φ", "ϕ", "ψ", "χ", "ϑ",
];
/// Names of Cartesian coordinates, which are lengths wherever they stand.
pub(super) const PLACES: &[&str] = &["x", "y", "z", "X", "Y", "Z"];
/// What the coordinate of a joint is called that slides.
const SLIDE: &str = "slide";
/// Letters that the names of lengths begin with.
const LENGTHS: &[&str] = &["x", "y", "z", "r", "s", "q", "d", "X", "Y", "Z", "u"];

/// What is known of the coordinates of a model.
#[derive(Clone, Debug)]
pub struct Kinds {
    angles: FxHashSet<Symbol>,
    lengths: FxHashSet<Symbol>,
}

impl Kinds {
    /// Looks at all of a model.
    pub fn new(model: &Model) -> Kinds {
        let (exprs, system) = (&model.exprs, &model.system);
        let turned = turned(exprs, system);
        let (mut angles, mut lengths) = (FxHashSet::default(), FxHashSet::default());
        for c in &system.coordinates {
            let stem = stem(&c.name);
            if PLACES.contains(&stem) {
                lengths.insert(c.position);
            } else if turned.contains(&c.position) || ANGLES.contains(&stem) {
                angles.insert(c.position);
            } else if stem == SLIDE || LENGTHS.contains(&first_letter(stem)) {
                lengths.insert(c.position);
            }
        }
        Kinds { angles, lengths }
    }

    /// Whether a coordinate is taken for an angle.
    pub fn is_angle(&self, position: Symbol) -> bool {
        self.angles.contains(&position)
    }

    /// Whether a quantity of this name would be taken for a length: `y2`, `pole.x`.
    pub fn is_named_length(&self, name: &str) -> bool {
        PLACES.contains(&stem(name)) && !name.contains(['\'', '(', ' '])
    }

    /// Whether a coordinate is taken for a length.
    pub fn is_length(&self, position: Symbol) -> bool {
        self.lengths.contains(&position)
    }
}

/// The name without the part it belongs to, without indices and digits.
pub(super) fn stem(name: &str) -> &str {
    let name = name.rsplit('.').next().unwrap_or(name);
    let name = name.split(['[', '_', '\'']).next().unwrap_or(name);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || ('₀'..='₉').contains(&c))
}

/// `x` of `xA`; the whole of a lower-case word.
fn first_letter(stem: &str) -> &str {
    let mut letters = stem.char_indices();
    letters.next();
    match letters.next() {
        Some((at, c)) if c.is_uppercase() || stem.len() == at + c.len_utf8() => &stem[..at],
        _ => stem,
    }
}

/// Symbols that sines, cosines and tangents are taken of.
fn turned(exprs: &Exprs, system: &System) -> FxHashSet<Symbol> {
    let mut roots: Vec<ExprId> = match &system.energy {
        Energy::Lagrangian { lagrangian, .. } => vec![*lagrangian],
        Energy::Hamiltonian { hamiltonian, .. } => vec![*hamiltonian],
    };
    roots.extend(system.constraints.iter().map(|c| c.residual));
    roots.extend(system.draws.iter().flat_map(|d| d.points.concat()));
    roots.extend(system.places.iter().flat_map(|p| p.position.clone()));
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut arguments = Vec::new();
    while let Some(id) = roots.pop() {
        if !seen.insert(id) {
            continue;
        }
        let operands = exprs.operands(id);
        if let Some(Function::Sin | Function::Cos | Function::Tan) = exprs.as_call(id) {
            arguments.extend(&operands);
        }
        roots.extend(operands);
    }
    exprs.symbols_of(&arguments).into_iter().collect()
}
