//! Why a state has no phase to go on in.

use crate::setting::legendre::NewtonError;
use dalembert_gauss::contact::SpaceError;
use dalembert_model::system::{Phase, Shape, System};

/// Why a state has no phase to go on in.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Several motions are possible: their phases.
    Several(Vec<Phase>),
    /// None is; or none was found.
    None,
    /// Bounds that depend on what is solved for were not found together with it.
    Unsettled,
    /// The bound of a friction is below 0.
    Negative {
        /// Which.
        friction: usize,
        /// The bound.
        bound: f64,
    },
    /// A gap is below 0.
    Penetrates {
        /// Which contact.
        contact: usize,
        /// The gap.
        gap: f64,
    },
    /// Impacts at once and in turn differ: the velocities after both.
    ImpactDiffers {
        /// At once.
        at_once: Vec<f64>,
        /// In turn; none if that does not end.
        in_turn: Option<Vec<f64>>,
    },
    /// An impact has several outcomes.
    ImpactSeveral,
    /// It has none.
    ImpactNone,
    /// It would gain energy.
    ImpactGains {
        /// How much.
        energy: f64,
        /// Of what it exchanges.
        of: f64,
    },
    /// The motion without contacts is not there.
    Space(SpaceError),
    /// Velocities and momenta do not determine each other.
    State(NewtonError),
    /// Something has no value here.
    NoValue,
    /// The shapes of a contact have no normal here.
    Degenerate {
        /// Which contact.
        contact: usize,
    },
    /// Phases change again and again at one time.
    Again,
}

impl Fault {
    /// In words, with the names of a system.
    pub fn words(&self, system: &System) -> String {
        // Forces that were made frictions on the way have no name.
        let name = |friction: usize| {
            system.frictions.get(friction).map_or("of a force", |f| f.name.as_str())
        };
        match self {
            Fault::Several(phases) => {
                let list: Vec<String> = phases.iter().map(|p| p.describe(system)).collect();
                format!("contacts and friction leave more than one motion: {}", list.join("; or "))
            }
            Fault::None => {
                "contacts and friction leave no motion at all (Painlevé's paradox)".into()
            }
            Fault::Unsettled => {
                "loads, and the directions and bounds of friction that go with them, were not found \
                 together"
                    .into()
            }
            Fault::Negative { friction, bound } if *bound == 0.0 => {
                format!("the bound of the friction `{}` passes 0", name(*friction))
            }
            Fault::Negative { friction, bound } => {
                format!("the bound of the friction `{}` is below 0: {bound}", name(*friction))
            }
            Fault::Penetrates { contact, gap } => {
                format!("the gap of `{}` is below 0: {gap}", system.contacts[*contact].name)
            }
            Fault::ImpactDiffers { at_once, in_turn } => {
                let list = |v: &[f64]| {
                    let all = system.coordinates.iter().zip(v);
                    let all: Vec<String> =
                        all.map(|(c, v)| format!("{}' = {v:.6}", c.name)).collect();
                    all.join(", ")
                };
                let turn = match in_turn {
                    Some(v) => format!("in turn {}", list(v)),
                    None => "in turn it does not end".to_owned(),
                };
                format!(
                    "several contacts are struck together, and what follows depends on how that is \
                     read: at once {}; {turn}",
                    list(at_once)
                )
            }
            Fault::ImpactSeveral => "an impact has more than one outcome".into(),
            Fault::ImpactNone => "an impact has no outcome".into(),
            Fault::ImpactGains { energy, of } => format!(
                "an impact would gain energy, {energy:.6e} where it exchanges {of:.6e}: restitution \
                 and friction (or unequal restitutions) do not go together here"
            ),
            Fault::Space(SpaceError::Massless) => {
                "what touches has a direction without mass: impacts and loads are not determined"
                    .into()
            }
            Fault::Space(SpaceError::Motion(verdict)) => format!(
                "without contacts and friction there is no motion to decide them by ({})",
                verdict.name()
            ),
            Fault::Space(SpaceError::Solve(error)) => error.to_string(),
            Fault::State(error) => error.to_string(),
            Fault::NoValue => "a gap, a slip or a bound has no value here".into(),
            Fault::Degenerate { contact } => {
                let contact = &system.contacts[*contact];
                let why = match contact.touch.as_ref().map(|touch| &touch.shapes) {
                    Some(
                        [Shape::Plane(..), Shape::Rim(..)] | [Shape::Rim(..), Shape::Plane(..)],
                    ) => "its rim lies flat and touches all around",
                    Some([Shape::Curve(..), _] | [_, Shape::Curve(..)]) => {
                        "its curve has no direction"
                    }
                    _ => "centers coincide",
                };
                format!("the contact `{}` has no normal here: {why}", contact.name)
            }
            Fault::Again => "contacts and friction change again and again at this time".into(),
        }
    }
}
