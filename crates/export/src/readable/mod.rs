//! The equations as a reader wants them, beside those that numbers come from.
//!
//! The energies are simplified first, coefficient by coefficient in the
//! velocities; the formulation is derived once more from these; each entry is
//! simplified again. Deriving from short energies is what keeps the equations
//! short: the derivative of a long expression is longer, and the identities that
//! would shorten it are out of reach by then.
//!
//! All of it happens in a copy of the arena, so nothing here can change a number.
//! Every expression has the value of the one it stands for; `tests/readable.rs`
//! compares both over the whole gallery.

mod held;
mod parts;
mod rows;
mod solved;
pub(crate) mod start;

pub use held::Held;
pub use parts::Part;
pub use rows::Row;
pub use solved::Solved;

use dalembert_derive::{Choices, EquationsOfMotion, Shape, Variables};
use dalembert_expr::{Assumption, Effort, Explicit, ExprId, Exprs, Jacobian, Symbol};
use dalembert_model::system::{Energy, Model, System};
use std::cell::RefCell;

/// Expressions larger than this (as trees) are shown as they are: rewriting
/// them would take long and help nobody.
const READABLE: u64 = 20_000;
/// Quotients for small inverses may take this much, as trees.
const QUOTIENT: u64 = 2_000;
/// What the simplification of one document may take.
const EFFORT: u64 = 2_000_000;
/// Equations of more nodes are not derived again.
const MAX_NODES: usize = 60_000;

/// A model and its equations for readers.
pub struct Readable {
    /// The model with simplified energies, in an arena of its own.
    pub model: Model,
    /// The equations derived from them.
    pub equations: EquationsOfMotion,
    /// Lagrange's A and C, for the constraint force on momenta.
    lagrange: Option<(Jacobian, Vec<ExprId>)>,
    /// The multipliers, by constraint.
    multipliers: Vec<Symbol>,
    /// What stands for them where forces hold them.
    renamed: Vec<(Symbol, ExprId)>,
    /// Velocities and momenta, in which expressions are collected.
    collected: Vec<Symbol>,
    /// What is 0 on the constraints: those that v does not satisfy by itself, and
    /// their rates.
    relations: Vec<ExprId>,
    /// What constraints hold, where documents are for readers.
    pub held: Held,
    /// Signs at the start that were used.
    assumptions: Vec<Assumption>,
    /// Numbers at the start, once they are needed.
    start: Option<start::Numbers>,
    work: RefCell<Work>,
}

/// What the simplification has left, and what it found.
struct Work {
    effort: Effort,
    explicit: Explicit,
}

impl Readable {
    /// The readable form of a model's equations, which has their values everywhere, if it is to be
    /// exact, and else on what constraints [hold](Held).
    pub fn new(model: &Model, equations: &EquationsOfMotion, exact: bool) -> Readable {
        let mut effort = Effort::new(EFFORT);
        let mut copy = model.clone();
        // Levels are of use to numbers only; a reader is on the constraints.
        let plain = equations.on_constraints(&copy.exprs);
        let small = equations.count_nodes(&copy.exprs) <= MAX_NODES;
        let mut shown = plain.clone();
        let (mut start, mut assumptions) = (None, Vec::new());
        if small {
            simplify_energy(&copy.exprs, &mut copy.system, &mut effort);
            if has_roots_of_squares(&copy) {
                // Looking for a start adds to an arena, and that one is not ours.
                start = start::Numbers::new(&model.clone(), equations);
            }
            if let Some(start) = &start {
                assumptions = take_branch(&mut copy, start);
                simplify_energy(&copy.exprs, &mut copy.system, &mut effort);
            }
            if let Some(again) = derived(&copy, equations) {
                shown = again.on_constraints(&copy.exprs);
            }
        }
        let (multipliers, renamed) = rows::multiplier_symbols(&copy);
        let mut lagrange = (shown.variables == Variables::Momenta && small)
            .then(|| rows::lagrange_rows(&copy, &shown))
            .flatten();
        let named = |list: &mut Vec<ExprId>| *list = copy.exprs.substitute(list, &renamed);
        named(&mut shown.force);
        named(&mut shown.nonideal);
        shown.canonical.iter_mut().for_each(|canonical| named(&mut canonical.force));
        lagrange.iter_mut().for_each(|(_, nonideal)| named(nonideal));
        let mut collected: Vec<Symbol> = shown.v.clone();
        collected.extend(copy.system.velocities());
        collected.extend(copy.system.momenta());
        collected.extend(copy.system.accelerations());
        let held = match exact || !small {
            true => Held::default(),
            false => Held::new(&copy.exprs, &copy.system),
        };
        let work = RefCell::new(Work { effort, explicit: Explicit::default() });
        let relations = shown.configuration_residuals.iter().chain(&shown.velocity_residuals);
        let relations = relations.map(|r| r.1).collect();
        let mut readable = Readable {
            model: copy,
            equations: shown,
            lagrange,
            multipliers,
            renamed,
            collected,
            relations,
            held,
            assumptions,
            start,
            work,
        };
        readable.simplify_entries();
        readable
    }

    /// Looks at the consistent start of the model, which signs of roots and the
    /// check of closed forms need.
    pub fn look_at_start(&mut self, model: &Model, equations: &EquationsOfMotion) {
        if self.start.is_none() {
            self.start = start::Numbers::new(&model.clone(), equations);
        }
        if let Some(start) = &mut self.start {
            start.rename(&equations.v, &self.equations.v);
        }
    }

    /// The signs at the start on which the equations rest.
    pub fn assumptions(&self) -> &[Assumption] {
        &self.assumptions
    }

    /// The expression with roots of squares as they are at the start.
    fn on_branch(&self, id: ExprId) -> (ExprId, Vec<Assumption>) {
        let Some(start) = &self.start else { return (id, Vec::new()) };
        let (new, assumed) = start.on_branch(self.exprs(), id);
        if assumed.is_empty() { (id, assumed) } else { (self.readable(new), assumed) }
    }

    /// The arena of the readable expressions.
    pub fn exprs(&self) -> &Exprs {
        &self.model.exprs
    }

    /// How many expressions were too large to be simplified.
    pub fn left_as_they_are(&self) -> usize {
        self.work.borrow().effort.refused()
    }

    /// An expression as a reader wants it.
    pub fn readable(&self, id: ExprId) -> ExprId {
        let exprs = self.exprs();
        let by_velocities = self.equations.variables == Variables::Velocities;
        self.simplified(self.held.on(exprs, id, by_velocities))
    }

    /// An expression with multipliers by their names.
    pub(crate) fn named(&self, id: ExprId) -> ExprId {
        self.exprs().substitute(&[id], &self.renamed)[0]
    }

    /// An energy as a reader wants it.
    pub(crate) fn energy(&self, id: ExprId) -> ExprId {
        match self.held.energy(self.exprs(), id) {
            same if same == id => id,
            held => self.simplified(held),
        }
    }

    fn simplified(&self, id: ExprId) -> ExprId {
        let exprs = self.exprs();
        let Work { effort, explicit } = &mut *self.work.borrow_mut();
        if exprs.count_tree_size(id) > READABLE {
            effort.refuse();
            return id;
        }
        // Small inverses read better as quotients, unless they swell.
        let plain = exprs.explicit(id, 3, 2 * QUOTIENT, explicit);
        let plain = plain.filter(|&plain| exprs.count_tree_size(plain) <= 16 * QUOTIENT);
        let plain = plain.map(|plain| exprs.simplify_in(plain, &self.collected, effort));
        match plain.filter(|&plain| exprs.count_tree_size(plain) <= READABLE) {
            Some(plain) => plain,
            None => exprs.simplify_in(id, &self.collected, effort),
        }
    }

    fn simplify_entries(&mut self) {
        let mut equations = self.equations.clone();
        equations.kinematics.iter_mut().for_each(|e| *e = self.readable(*e));
        self.simplify_matrix(&mut equations.metric);
        equations.force.iter_mut().for_each(|e| *e = self.readable(*e));
        equations.nonideal.iter_mut().for_each(|e| *e = self.readable(*e));
        self.simplify_matrix(&mut equations.jacobian);
        equations.bias.iter_mut().for_each(|e| *e = self.readable(*e));
        if let Some(auxiliary) = &mut equations.auxiliary {
            auxiliary.residuals.iter_mut().for_each(|e| *e = self.readable(*e));
        }
        for quantity in &mut equations.intermediate {
            match &mut quantity.value {
                Shape::Scalar(value) => *value = self.readable(*value),
                Shape::Vector(list) => list.iter_mut().for_each(|e| *e = self.readable(*e)),
                Shape::Matrix(matrix) => self.simplify_matrix(matrix),
            }
        }
        self.relations = self.relations.iter().map(|&e| self.readable(e)).collect();
        self.relations.retain(|&e| e != ExprId::ZERO);
        if let Some(canonical) = &mut equations.canonical {
            canonical.force.iter_mut().for_each(|e| *e = self.readable(*e));
        }
        if let Some((mut jacobian, mut nonideal)) = self.lagrange.take() {
            self.simplify_matrix(&mut jacobian);
            nonideal.iter_mut().for_each(|e| *e = self.readable(*e));
            self.lagrange = Some((jacobian, nonideal));
        }
        self.equations = equations;
    }

    fn simplify_matrix(&self, matrix: &mut Jacobian) {
        for row in &mut matrix.rows {
            row.iter_mut().for_each(|entry| entry.1 = self.readable(entry.1));
            row.retain(|entry| entry.1 != ExprId::ZERO);
        }
    }
}

/// The formulation of the equations, derived from the model as it is now.
fn derived(model: &Model, equations: &EquationsOfMotion) -> Option<EquationsOfMotion> {
    let formulation = dalembert_derive::by_name(equations.formulation)?;
    let ignored = (equations.variables == Variables::VelocitiesAndMomenta).then(|| {
        let coordinates = model.system.coordinates.iter().enumerate();
        coordinates.filter(|(_, c)| equations.v.contains(&c.momentum)).map(|(i, _)| i).collect()
    });
    let chart = equations.chart.as_ref().map(|basis| basis.chart.clone());
    formulation.derive(&model.exprs, &model.system, &Choices { chart, ignored }).ok()
}

/// T, V, L or H, and the forces, as short as they get.
fn simplify_energy(exprs: &Exprs, system: &mut System, effort: &mut Effort) {
    let (velocities, p) = (system.velocities(), system.momenta());
    // Constraints come first: they are short, and what energies take may be all there is.
    for constraint in &mut system.constraints {
        constraint.residual = exprs.simplify_in(constraint.residual, &velocities, effort);
    }
    match &mut system.energy {
        Energy::Lagrangian { kinetic, potential, rest, lagrangian, momenta } => {
            *kinetic = exprs.simplify_in(*kinetic, &velocities, effort);
            *potential = exprs.simplify_in(*potential, &velocities, effort);
            *rest = exprs.simplify_in(*rest, &velocities, effort);
            *lagrangian = (exprs.at(*kinetic) - exprs.at(*potential) + exprs.at(*rest)).id;
            *momenta = exprs.gradient(*lagrangian, &velocities);
            for momentum in momenta {
                *momentum = exprs.simplify_in(*momentum, &velocities, effort);
            }
        }
        Energy::Hamiltonian { hamiltonian, velocities } => {
            *hamiltonian = exprs.simplify_in(*hamiltonian, &p, effort);
            *velocities = exprs.gradient(*hamiltonian, &p);
            for velocity in velocities {
                *velocity = exprs.simplify_in(*velocity, &p, effort);
            }
        }
    }
    system.dissipation = exprs.simplify_in(system.dissipation, &velocities, effort);
    for force in system.forces.iter_mut().chain(&mut system.nonideal) {
        for component in &mut force.components {
            component.1 = exprs.simplify_in(component.1, &velocities, effort);
        }
    }
}

/// Visits the expressions that equations are derived from.
fn each_expression(system: &mut System, visit: &mut dyn FnMut(&mut ExprId)) {
    match &mut system.energy {
        Energy::Lagrangian { kinetic, potential, rest, .. } => {
            [kinetic, potential, rest].into_iter().for_each(&mut *visit);
        }
        Energy::Hamiltonian { hamiltonian, .. } => visit(hamiltonian),
    }
    visit(&mut system.dissipation);
    let forces = system.forces.iter_mut().chain(&mut system.nonideal);
    forces.flat_map(|force| &mut force.components).for_each(|component| visit(&mut component.1));
    system.constraints.iter_mut().for_each(|constraint| visit(&mut constraint.residual));
}

fn has_roots_of_squares(model: &Model) -> bool {
    let mut found = false;
    each_expression(&mut model.system.clone(), &mut |id| {
        found |= !model.exprs.on_branch(*id, |_| Some(true)).1.is_empty();
    });
    found
}

/// Takes roots of squares as they are at the start, and tells with which signs.
fn take_branch(model: &mut Model, start: &start::Numbers) -> Vec<Assumption> {
    let mut assumptions = Vec::new();
    let exprs = &model.exprs;
    each_expression(&mut model.system, &mut |id| {
        let (new, assumed) = start.on_branch(exprs, *id);
        *id = new;
        for one in assumed {
            if !assumptions.contains(&one) {
                assumptions.push(one);
            }
        }
    });
    assumptions
}
