//! What every document says, before it is typeset.

use crate::readable::Readable;
use dalembert_derive::{EquationsOfMotion, Source, Variables};
use dalembert_expr::{ExprId, Exprs, Jacobian};
use dalembert_model::system::{Energy, Model, System};

/// A model and its equations, ready to be written down.
pub struct Derivation<'m> {
    /// The model, as numbers come from it.
    pub model: &'m Model,
    /// Its equations of motion, as numbers come from them.
    pub equations: &'m EquationsOfMotion,
    /// Both as a reader wants them.
    pub readable: Readable,
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
        Derivation { model, equations, readable: Readable::new(model, equations) }
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
    pub(crate) fn energies(&self) -> Vec<(&'static str, ExprId)> {
        match &self.system().energy {
            Energy::Lagrangian { kinetic, potential, rest, lagrangian, .. } => {
                let mut list = Vec::new();
                if *rest == ExprId::ZERO {
                    list.push(("T", *kinetic));
                    list.push(("V", *potential));
                } else {
                    list.push(("L", *lagrangian));
                }
                list
            }
            Energy::Hamiltonian { hamiltonian, .. } => vec![("H", *hamiltonian)],
        }
    }

    /// The lower triangle of Γ.
    pub(crate) fn metric_entries(&self) -> Vec<Entry> {
        let rows = self.shown().metric.rows.iter().enumerate();
        rows.flat_map(|(row, list)| {
            let lower = list.iter().filter(move |(column, _)| *column <= row);
            lower.map(move |&(column, value)| Entry { row, column, value })
        })
        .collect()
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
                metric: "M",
                force: "Q",
                shows_force: true,
                rate: "\\ddot{q}",
                kinematics: false,
            },
            Variables::QuasiVelocities => Letters {
                metric: "M_s",
                force: "F_s",
                shows_force: true,
                rate: "\\dot{s}",
                kinematics: true,
            },
            Variables::Momenta => Letters {
                metric: "\\Gamma",
                force: "\\Gamma f",
                shows_force: false,
                rate: "\\dot{p}",
                kinematics: true,
            },
            Variables::FreeVelocities => {
                let metric = "S^{\\mathsf{T}} M S";
                Letters {
                    metric,
                    force: "F",
                    shows_force: true,
                    rate: "\\dot{u}",
                    kinematics: true,
                }
            }
            Variables::ReducedMomenta => Letters {
                metric: "",
                force: "F",
                shows_force: true,
                rate: "\\dot{\\tilde{p}}",
                kinematics: true,
            },
            Variables::VelocitiesAndMomenta => Letters {
                metric: "\\Gamma",
                force: "F",
                shows_force: true,
                rate: "\\dot{v}",
                kinematics: true,
            },
        }
    }
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
