//! What every document says, before it is typeset.

use crate::conditions::Conditions;
use crate::readable::{Part, Readable, Row, Solved};
use dalembert_derive::{EquationsOfMotion, Source, Variables};
use dalembert_expr::{Assumption, ExprId, Exprs, Jacobian, LinearSystem, Notation};
use dalembert_model::system::{Energy, Model, System};

/// A model and its equations, ready to be written down.
pub struct Derivation<'m> {
    /// The model, as numbers come from it.
    pub model: &'m Model,
    /// Its equations of motion, as numbers come from them.
    pub equations: &'m EquationsOfMotion,
    /// Both as a reader wants them.
    pub readable: Readable,
    /// The energies by their letters.
    energies: Vec<(&'static str, ExprId)>,
    /// Rayleigh's dissipation function.
    pub(crate) dissipation: ExprId,
    /// The residuals of the constraints.
    pub(crate) residuals: Vec<ExprId>,
    /// The equations of motion, one for each unknown.
    pub(crate) rows: Vec<Row>,
    /// A v̇ = b, one for each constraint that is left.
    pub(crate) constraint_rows: Vec<Row>,
    /// What F is made of, if that is asked for.
    pub(crate) parts: Option<Vec<Part>>,
    /// v̇ in closed form, if that is asked for, or why there is none.
    pub(crate) solved: Option<Result<Solved, String>>,
    /// What holds of contacts and friction besides.
    pub(crate) conditions: Option<Conditions>,
    /// What stands behind the solutions of linear systems in all of these.
    pub(crate) systems: Vec<LinearSystem>,
    /// Words on what was asked for and is not there.
    pub(crate) remarks: Vec<String>,
}

/// What a document has beyond the equations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras {
    /// v̇ in closed form.
    pub solved: bool,
    /// What F is made of.
    pub parts: bool,
    /// Expressions with the values of the model's own everywhere, not only on the constraints.
    pub exact: bool,
}

/// What the parts of the normal form are called.
pub(crate) struct Letters {
    /// Γ; empty where it is the identity.
    pub metric: &'static str,
    /// F.
    pub force: &'static str,
    /// Whether F is shown, and not only made of what is shown already.
    pub shows_force: bool,
    /// v̇.
    pub rate: &'static str,
    /// Whether q̇ = k(q, v, t) is worth showing.
    pub kinematics: bool,
}

/// A matrix entry or vector component with its place.
pub(crate) struct Entry {
    pub row: usize,
    pub column: usize,
    pub value: ExprId,
}

impl<'m> Derivation<'m> {
    /// The derivation of a model.
    pub fn new(model: &'m Model, equations: &'m EquationsOfMotion) -> Self {
        Derivation::with(model, equations, Extras::default())
    }

    /// The derivation with more than the equations.
    pub fn with(model: &'m Model, equations: &'m EquationsOfMotion, extras: Extras) -> Self {
        let mut readable = Readable::new(model, equations, extras.exact);
        let conditions = Conditions::new(&readable);
        let mut remarks = Vec::new();
        let mut solved = None;
        if extras.solved {
            readable.look_at_start(model, equations);
            solved = Some(readable.solved());
        }
        let mut parts = None;
        if extras.parts {
            match readable.parts() {
                Ok(found) => parts = Some(found),
                Err(why) => remarks.push(format!("no parts of the force: {why}")),
            }
        }
        let (rows, constraint_rows) = (readable.rows(), readable.constraint_rows());
        let systems = Vec::new();
        let energies = energies(&readable);
        let dissipation = readable.energy(readable.model.system.dissipation);
        let residuals = residuals(&readable);
        let mut derivation = Derivation {
            model,
            equations,
            readable,
            energies,
            dissipation,
            residuals,
            rows,
            constraint_rows,
            parts,
            solved,
            conditions,
            systems,
            remarks,
        };
        derivation.systems = derivation.find_systems();
        let left = derivation.readable.left_as_they_are();
        if left > 0 {
            let were = if left == 1 { "expression was" } else { "expressions were" };
            derivation.remarks.push(format!("{left} {were} too large to be simplified"));
        }
        derivation
    }

    /// v̇ in closed form or why there is none, if that was asked for.
    pub fn solved(&self) -> Option<&Result<Solved, String>> {
        self.solved.as_ref()
    }

    /// The title of a document.
    pub(crate) fn title(&self) -> &'m str {
        match self.model.system.title.as_str() {
            "" => "Equations of motion",
            title => title,
        }
    }

    pub(crate) fn exprs(&self) -> &Exprs {
        self.readable.exprs()
    }

    /// The system with simplified energies.
    pub(crate) fn system(&self) -> &System {
        &self.readable.model.system
    }

    /// The equations for readers.
    pub(crate) fn shown(&self) -> &EquationsOfMotion {
        &self.readable.equations
    }

    /// The energies by their letters.
    pub(crate) fn energies(&self) -> &[(&'static str, ExprId)] {
        &self.energies
    }

    /// What a reader must know of a closed form.
    pub(crate) fn solved_words(&self, solved: &Solved, notation: Notation) -> Vec<String> {
        let mut words = Vec::new();
        if solved.holds_multipliers {
            words.push("the rates are long; they are written with the multipliers".to_owned());
        }
        if !solved.left_out.is_empty() {
            let names: Vec<&str> = solved
                .left_out
                .iter()
                .map(|&row| self.system().constraints[self.shown().rows[row]].name.as_str())
                .collect();
            let (names, count) = (names.join(", "), names.len());
            let follow = if count == 1 { "follows" } else { "follow" };
            words
                .push(format!("{names} {follow} from the other constraints and has no multiplier"));
        }
        words.extend(self.assumed(&solved.assumptions, notation));
        words
    }

    /// What was used of the constraints, in words.
    pub(crate) fn held(&self, notation: Notation) -> Option<String> {
        self.readable.held.words(self.exprs(), self.system(), notation)
    }

    /// Assumptions in words.
    pub(crate) fn assumed(&self, list: &[Assumption], notation: Notation) -> Option<String> {
        let signs: Vec<String> = list
            .iter()
            .map(|assumption| {
                let text = self.exprs().print_limited(assumption.expr, notation, 400);
                let sign = if assumption.positive { '>' } else { '<' };
                match notation {
                    Notation::Latex => format!("${text} {sign} 0$"),
                    _ => format!("{text} {sign} 0"),
                }
            })
            .collect();
        (!signs.is_empty()).then(|| format!("for {}, as at the start", signs.join(", ")))
    }

    /// All entries of A.
    pub(crate) fn jacobian_entries(&self) -> Vec<Entry> {
        entries(&self.shown().jacobian)
    }

    /// The formulation's source.
    pub(crate) fn source(&self) -> Option<Source> {
        dalembert_derive::by_name(self.equations.formulation).map(|f| f.source())
    }

    /// What the equations are called.
    pub(crate) fn heading(&self) -> &'static str {
        dalembert_derive::by_name(self.equations.formulation).map_or("Equations", |f| f.heading())
    }

    /// The letters of this formulation, as text.
    pub(crate) fn letters(&self) -> Letters {
        match self.equations.variables {
            Variables::Velocities => {
                Letters {
                    metric: "M", force: "Q", shows_force: true, rate: "q̈", kinematics: false
                }
            }
            Variables::QuasiVelocities => Letters {
                metric: "M_s",
                force: "F_s",
                shows_force: true,
                rate: "ṡ",
                kinematics: true,
            },
            Variables::Momenta => Letters {
                metric: "Γ",
                force: "Γ f",
                shows_force: false,
                rate: "ṗ",
                kinematics: true,
            },
            Variables::FreeVelocities => Letters {
                metric: "SᵀMS",
                force: "F",
                shows_force: true,
                rate: "u̇",
                kinematics: true,
            },
            Variables::ReducedMomenta => {
                Letters {
                    metric: "", force: "F", shows_force: true, rate: "p̃̇", kinematics: true
                }
            }
            Variables::VelocitiesAndMomenta => {
                Letters {
                    metric: "Γ", force: "F", shows_force: true, rate: "v̇", kinematics: true
                }
            }
        }
    }

    /// The same letters in LaTeX.
    pub(crate) fn latex_letters(&self) -> Letters {
        match self.equations.variables {
            Variables::Velocities => Letters {
                metric: "\\mathbf{M}",
                force: "\\mathbf{Q}",
                shows_force: true,
                rate: "\\ddot{q}",
                kinematics: false,
            },
            Variables::QuasiVelocities => Letters {
                metric: "\\mathbf{M}_s",
                force: "\\mathbf{F}_s",
                shows_force: true,
                rate: "\\dot{s}",
                kinematics: true,
            },
            Variables::Momenta => Letters {
                metric: "\\mathbf{\\Gamma}",
                force: "\\mathbf{\\Gamma} f",
                shows_force: false,
                rate: "\\dot{p}",
                kinematics: true,
            },
            Variables::FreeVelocities => {
                let metric = "\\mathbf{S}^{\\mathsf{T}} \\mathbf{M} \\mathbf{S}";
                Letters {
                    metric,
                    force: "\\mathbf{F}",
                    shows_force: true,
                    rate: "\\dot{u}",
                    kinematics: true,
                }
            }
            Variables::ReducedMomenta => Letters {
                metric: "",
                force: "\\mathbf{F}",
                shows_force: true,
                rate: "\\dot{\\tilde{p}}",
                kinematics: true,
            },
            Variables::VelocitiesAndMomenta => Letters {
                metric: "\\mathbf{\\Gamma}",
                force: "\\mathbf{F}",
                shows_force: true,
                rate: "\\dot{v}",
                kinematics: true,
            },
        }
    }
}

/// The energies by their letters.
fn energies(readable: &Readable) -> Vec<(&'static str, ExprId)> {
    let list = match &readable.model.system.energy {
        Energy::Lagrangian { kinetic, potential, rest: ExprId::ZERO, .. } => {
            vec![("T", *kinetic), ("V", *potential)]
        }
        Energy::Lagrangian { lagrangian, .. } => vec![("L", *lagrangian)],
        Energy::Hamiltonian { hamiltonian, .. } => vec![("H", *hamiltonian)],
    };
    list.into_iter().map(|(letter, value)| (letter, readable.energy(value))).collect()
}

/// The residuals of the constraints; those that hold a coordinate stay.
fn residuals(readable: &Readable) -> Vec<ExprId> {
    let constraints = readable.model.system.constraints.iter().enumerate();
    let list = constraints.map(|(row, constraint)| match readable.held.is_row(row) {
        true => constraint.residual,
        false => readable.energy(constraint.residual),
    });
    list.collect()
}

/// The entries of a matrix that are not literally 0.
pub(crate) fn entries(matrix: &Jacobian) -> Vec<Entry> {
    let rows = matrix.rows.iter().enumerate();
    rows.flat_map(|(row, list)| {
        list.iter().map(move |&(column, value)| Entry { row, column, value })
    })
    .collect()
}

/// A small matrix with every entry, row by row.
pub(crate) fn dense(matrix: &Jacobian) -> Vec<Vec<ExprId>> {
    matrix
        .rows
        .iter()
        .map(|row| {
            let mut line = vec![ExprId::ZERO; matrix.columns];
            row.iter().for_each(|&(column, value)| line[column] = value);
            line
        })
        .collect()
}
