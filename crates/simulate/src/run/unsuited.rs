//! Why an integrator cannot be taken for a run: what it needs and the run does not have.

use dalembert_derive::{ALL, Variables};
use dalembert_model::system::System;

/// An integrator that does not suit a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsuited {
    /// Its name.
    pub integrator: &'static str,
    /// Why.
    pub reason: Reason,
}

/// Why an integrator does not suit a run. Constraints and coordinates by their place in the
/// system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It holds the constraints by itself, and the rates were to hold them too.
    HoldsConstraints,
    /// It holds positions and velocities by itself, and Baumgarte's terms were to.
    HoldsBothLevels,
    /// It moves other variables than those of the formulation.
    Variables {
        /// The variables it moves.
        needed: Variables,
        /// The formulation.
        formulation: &'static str,
    },
    /// It is for holonomic constraints, which this one is not.
    NotHolonomic(usize),
    /// It is for conservative systems, and there is a dissipation.
    Dissipation,
    /// It is for conservative systems, and there is a force on this coordinate.
    Force(usize),
    /// It is for ideal constraints, and there is a non-ideal part on this coordinate.
    Nonideal(usize),
    /// It is for systems that an energy moves, and there is a state, which none does.
    State(usize),
    /// It conserves H_r and would drift off this constraint on positions.
    Drifts(usize),
    /// There is no J_r, since this constraint depends on time.
    Rheonomic(usize),
    /// There is no J_r, since this constraint is affine in the velocities and not linear.
    Affine(usize),
    /// It conserves the energy, which depends on time.
    EnergyDependsOnTime,
    /// J_r is not written out for this system.
    NoStructureMatrix,
    /// The equations have functions without a Taylor series.
    NoSeries,
    /// Its matrices are dense, and there are too many unknowns for that.
    TooMany(usize),
    /// It has Γ by its entries, and those of so many bodies along a tree are not formed.
    Bodies(usize),
    /// The equations do not have what it evaluates.
    Equations,
}

impl Reason {
    /// The name of the formulation in certain variables.
    pub fn formulation_in(variables: Variables) -> &'static str {
        let mut all = ALL.iter().filter(|f| f.variables() == variables);
        all.next().map_or("", |f| f.name())
    }
}

impl Unsuited {
    /// In words, with the names of a system.
    pub fn words(&self, system: &System) -> String {
        let name = self.integrator;
        let constraint = |row: usize| &system.constraints[row].name;
        let coordinate = |at: usize| &system.coordinates[at].name;
        let forced = |what: &str, at: usize| {
            format!(
                "`{name}` is for conservative systems with ideal constraints; there is a {what} \
                 on `{}`",
                coordinate(at)
            )
        };
        match self.reason {
            Reason::HoldsConstraints => {
                format!("`{name}` holds the constraints by itself and takes no stabilization")
            }
            Reason::HoldsBothLevels => format!(
                "`{name}` holds positions and velocities on the constraints by itself and takes \
                 no stabilization by `baumgarte`"
            ),
            Reason::Variables { needed, formulation } => format!(
                "{}: it needs the formulation `{}`, not `{formulation}`",
                self.moves(needed),
                Reason::formulation_in(needed)
            ),
            Reason::NotHolonomic(row) => format!(
                "`{name}` is for holonomic constraints; constraint `{}` is {}",
                constraint(row),
                system.constraints[row].kinds()[0]
            ),
            Reason::Dissipation => {
                format!("`{name}` is for conservative systems; this one has a dissipation")
            }
            Reason::Force(at) => forced("force", at),
            Reason::Nonideal(at) => forced("non-ideal part", at),
            Reason::State(at) => format!(
                "`{name}` moves by an energy alone; there is a state `{}`",
                system.states[at].name
            ),
            Reason::Drifts(row) => {
                format!(
                    "{}; the formulation `hamilton` with `rattle` holds it",
                    self.drift(constraint(row))
                )
            }
            Reason::Rheonomic(row) => format!(
                "`{name}`: constraint `{}` depends on time, so that there is no J_r",
                constraint(row)
            ),
            Reason::Affine(row) => format!(
                "`{name}`: constraint `{}` is not linear in the velocities but affine, so that \
                 there is no J_r",
                constraint(row)
            ),
            Reason::EnergyDependsOnTime => {
                format!("`{name}` conserves the energy, but this one depends on time")
            }
            Reason::NoStructureMatrix => format!(
                "`{name}` needs J_r, which is written out for energies quadratic in the \
                 velocities and up to 24 coordinates"
            ),
            Reason::NoSeries => format!(
                "`{name}` needs Taylor series of the equations, and these have functions that are \
                 restricted to a surface, or that a program gives"
            ),
            Reason::TooMany(unknowns) => format!(
                "`{name}` forms dense matrices here, and there are {unknowns} unknowns: `dop853` and \
                 `taylor` do not"
            ),
            Reason::Bodies(count) => format!(
                "`{name}` takes the mass matrix by its entries, and that of {count} bodies along a \
                 tree is not formed: `dop853` takes them as they are, and so does `coordinates \
                 absolute`"
            ),
            Reason::Equations => format!("`{name}` does not apply to these equations"),
        }
    }

    /// What it moves, in words.
    pub fn moves(&self, needed: Variables) -> String {
        let name = self.integrator;
        match needed {
            Variables::ReducedMomenta => format!("`{name}` moves by the reduced bracket"),
            _ => format!("`{name}` moves positions and momenta"),
        }
    }

    /// That it would drift off a constraint, in words.
    pub fn drift(&self, constraint: &str) -> String {
        format!(
            "`{}`: constraint `{constraint}` restricts positions, which would drift off it while \
             H_r is held",
            self.integrator
        )
    }
}
