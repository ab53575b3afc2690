//! Which integrator a run takes, why, and what it cannot be taken for.

use crate::drive::Stabilize;
use crate::integrators::{self, Integrator, Needs, Problem, Stiffness, taylor};
use crate::normal_form::layout::is_large;
use crate::program::field::Field;
use crate::run::choose::{Beside, Chosen, choose};
use crate::run::unsuited::{Reason, Unsuited};
use crate::run::{RunError, RunOptions};
use crate::setting::Setting;
use dalembert_derive::{EquationsOfMotion, Variables};
use dalembert_expr::{ExprId, Symbol};
use dalembert_model::system::{Energy, Force, Level, System};

/// The most unknowns, rates and multipliers, of a method that forms dense matrices of them.
const MOST_DENSE: usize = 3000;

/// The most coordinates of a tree whose Γ is formed for such a method.
const MOST_ENTRIES: usize = 200;

/// How many rates and multipliers there are.
fn unknowns(equations: &EquationsOfMotion) -> usize {
    equations.q.len() + equations.v.len() + equations.rows.len()
}

/// Whether the equations as a residual are solved with sparse matrices, which have no largest size.
fn is_sparse(equations: &EquationsOfMotion) -> bool {
    is_large(&equations.metric) && equations.auxiliary.is_none()
}

/// Whether a motion that turns out to be stiff can be handed to another method.
pub(crate) fn can_be_stiff(equations: &EquationsOfMotion) -> bool {
    match equations.bodies {
        Some(_) => equations.v.len() <= MOST_ENTRIES,
        None => unknowns(equations) <= MOST_DENSE || is_sparse(equations),
    }
}

/// The name that leaves the choice open.
pub const AUTO: &str = "auto";

/// The names by which an integrator can be chosen.
pub fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once(AUTO).chain(integrators::NAMES.iter().copied())
}

/// The integrator of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Choice {
    /// What was asked for.
    pub asked: String,
    /// The one at the end of the run.
    pub name: &'static str,
    /// Why this one.
    pub reason: String,
    /// Changes on the way.
    pub changes: Vec<Change>,
    /// What else there is to say, such as that another would have been better.
    pub notes: Vec<String>,
    /// The step, if all have the same size.
    pub step: Option<f64>,
    /// What holds the constraints, in words.
    pub held_by: &'static str,
    /// How `auto` weighed series against stages, if it took series.
    pub(crate) beside: Option<Beside>,
}

/// A change of the integrator.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// When.
    pub t: f64,
    /// From which.
    pub from: &'static str,
    /// To which.
    pub to: &'static str,
    /// Why.
    pub reason: String,
}

impl Choice {
    /// The choice at the beginning of a run.
    pub(crate) fn new(
        options: &RunOptions,
        integrator: &dyn Integrator,
        Chosen { reason, beside, .. }: Chosen,
    ) -> Choice {
        Choice {
            asked: options.method.clone(),
            name: integrator.name(),
            reason,
            beside,
            held_by: held_by(options.stabilize, integrator),
            ..Choice::default()
        }
    }
}

fn held_by(stabilize: Stabilize, integrator: &dyn Integrator) -> &'static str {
    if integrator.properties().keeps_constraints {
        return "the method itself";
    }
    match stabilize {
        Stabilize::Projection => "projection",
        Stabilize::Baumgarte => "baumgarte",
        Stabilize::Ggl => "ggl",
        Stabilize::None => "nothing",
    }
}

/// The integrator that a run begins with, and why.
pub(crate) fn first_for(
    setting: &Setting,
    options: &RunOptions,
    field: &mut Field,
    rates: f64,
) -> Result<(Box<dyn Integrator>, Chosen), RunError> {
    if options.method != AUTO {
        let integrator = integrator_for(setting, options, &options.method, field)?;
        let (name, reason) = (integrator.name(), "asked for".to_owned());
        return Ok((integrator, Chosen { name, reason, beside: None }));
    }
    let chosen = choose(setting, options, field, rates);
    Ok((integrator_for(setting, options, chosen.name, field)?, chosen))
}

/// An integrator for a field, which gets what the integrator needs.
pub(crate) fn integrator_for(
    setting: &Setting,
    options: &RunOptions,
    name: &str,
    field: &mut Field,
) -> Result<Box<dyn Integrator>, RunError> {
    let size = field.state_length();
    let integrator: Box<dyn Integrator> = match options.order {
        Some(order) if name == taylor::NAME => Box::new(taylor::of_order(size, order)),
        _ => integrators::by_name(name, size)
            .ok_or_else(|| RunError::Method(options.method.clone()))?,
    };
    let unsuited = |reason| RunError::Unsuited(Unsuited { integrator: integrator.name(), reason });
    if let Some(reason) = refusal(setting, options, integrator.as_ref(), &field.equations) {
        return Err(unsuited(reason));
    }
    if !field.equip(integrator.needs()) {
        if let Some(bodies) = &field.equations.bodies {
            return Err(unsuited(Reason::Bodies(bodies.links.len())));
        }
        return Err(unsuited(match integrator.needs() {
            Needs::Series => Reason::NoSeries,
            _ => Reason::Equations,
        }));
    }
    Ok(integrator)
}

/// Whether constant steps hold the energy, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HoldsEnergy {
    /// They do not.
    No,
    /// It swings and does not grow.
    InTheMean,
    /// But for rounding.
    UpToRounding,
}

impl HoldsEnergy {
    pub(crate) fn new(
        options: &RunOptions,
        integrator: &dyn Integrator,
        field: &Field,
    ) -> HoldsEnergy {
        let properties = integrator.properties();
        let is_constant = options.step.is_some() || !integrator.estimates();
        let is_canonical = field.equations.canonical.is_some()
            && (field.equations.rows.is_empty() || properties.keeps_constraints);
        match is_constant && field.conserves_energy() {
            true if properties.keeps_energy => HoldsEnergy::UpToRounding,
            true if properties.symplectic && is_canonical => HoldsEnergy::InTheMean,
            _ => HoldsEnergy::No,
        }
    }

    /// What the energy may be off by: `early` is the largest of the first half of the
    /// run, `times` its length in characteristic times.
    pub(crate) fn bound(self, early: f64, times: f64, tolerance: f64) -> Option<f64> {
        let bound = |tolerance: f64| 100.0 * tolerance * (1.0 + times);
        match self {
            HoldsEnergy::No => None,
            HoldsEnergy::UpToRounding => Some(bound(1e-14).max(1e-12)),
            HoldsEnergy::InTheMean => Some(bound(tolerance).max(1.5 * early)),
        }
    }
}

/// What a stiff motion is said to be.
pub(crate) fn stiff_words(
    setting: &Setting,
    equations: &EquationsOfMotion,
    stiff: &Stiffness,
) -> String {
    let exprs = &setting.model.exprs;
    let (n, coordinates) = (equations.q.len(), equations.n_coordinates());
    let at = stiff.component;
    // An own velocity stands for its coordinate where there is one of each.
    let symbol: Option<Symbol> = match at {
        _ if at < n => equations.q.get(at).copied(),
        _ if equations.v.len() == coordinates => equations.q.get(at - n).copied(),
        _ => equations.v.get(at - n).copied(),
    };
    let name = symbol.map_or_else(String::new, |s| {
        format!("; the fastest motion is mostly in `{}`", exprs.symbol_info(s).full_name())
    });
    format!(
        "stiff: h|λ| ≈ {:.1} limits the step, not the accuracy{name}",
        stiff.h_lambda.min(stiff.limit * 10.0)
    )
}

/// Why an integrator cannot be taken for a system; `None` if it can.
pub(crate) fn refusal(
    setting: &Setting,
    options: &RunOptions,
    integrator: &dyn Integrator,
    equations: &EquationsOfMotion,
) -> Option<Reason> {
    let held = options.stabilize;
    let by_itself = integrator.properties().keeps_constraints;
    if by_itself && matches!(held, Stabilize::Baumgarte | Stabilize::Ggl) {
        return Some(Reason::HoldsConstraints);
    }
    let system = &setting.model.system;
    match integrator.needs() {
        Needs::Rates => None,
        Needs::Series => matches!(held, Stabilize::Baumgarte | Stabilize::Ggl)
            .then_some(Reason::HoldsConstraints),
        Needs::Residual if unknowns(equations) > MOST_DENSE && !is_sparse(equations) => {
            Some(Reason::TooMany(unknowns(equations)))
        }
        Needs::Residual => (held == Stabilize::Baumgarte).then_some(Reason::HoldsBothLevels),
        Needs::Canonical if unknowns(equations) > MOST_DENSE => {
            Some(Reason::TooMany(unknowns(equations)))
        }
        Needs::Canonical => {
            if equations.canonical.is_none() {
                return Some(other_variables(Variables::Momenta, equations));
            }
            let row = system.constraints.iter().position(|c| c.level != Level::Position);
            row.map(Reason::NotHolonomic).or_else(|| forced(system))
        }
        Needs::Structure => structure(setting, equations),
    }
}

fn other_variables(needed: Variables, equations: &EquationsOfMotion) -> Reason {
    Reason::Variables { needed, formulation: equations.formulation }
}

/// What does not come from an energy.
fn forced(system: &System) -> Option<Reason> {
    if !system.states.is_empty() {
        return Some(Reason::State(0));
    }
    if system.dissipation != ExprId::ZERO {
        return Some(Reason::Dissipation);
    }
    let acting = |list: &[Force]| {
        let mut components = list.iter().flat_map(|f| &f.components);
        components.find(|c| c.1 != ExprId::ZERO).map(|c| c.0)
    };
    let force = acting(&system.forces).map(Reason::Force);
    force.or_else(|| acting(&system.nonideal).map(Reason::Nonideal))
}

fn structure(setting: &Setting, equations: &EquationsOfMotion) -> Option<Reason> {
    let system = &setting.model.system;
    if equations.variables != Variables::ReducedMomenta {
        return Some(other_variables(Variables::ReducedMomenta, equations));
    }
    let rows = || system.constraints.iter().enumerate();
    let obstacle = forced(system).or_else(|| {
        rows().find_map(|(at, row)| match row.level {
            Level::Position => Some(Reason::Drifts(at)),
            _ if !row.scleronomic => Some(Reason::Rheonomic(at)),
            _ if row.catastatic != Some(true) => Some(Reason::Affine(at)),
            _ => None,
        })
    });
    if obstacle.is_some() {
        return obstacle;
    }
    let (Energy::Lagrangian { lagrangian: energy, .. }
    | Energy::Hamiltonian { hamiltonian: energy, .. }) = &system.energy;
    if setting.model.exprs.derivative(*energy, Symbol::TIME) != ExprId::ZERO {
        return Some(Reason::EnergyDependsOnTime);
    }
    equations.bracket.is_none().then_some(Reason::NoStructureMatrix)
}
