//! All expressions of a system.

use super::{Action, CheckAt, CheckKind, Energy, System};
use dalembert_expr::ExprId;

impl System {
    /// Visits every expression of the system, but for the values of parameters and inputs.
    pub(crate) fn each(&mut self, visit: &mut dyn FnMut(&mut ExprId)) {
        match &mut self.energy {
            Energy::Lagrangian { kinetic, potential, rest, lagrangian, momenta } => {
                [kinetic, potential, rest, lagrangian].into_iter().for_each(&mut *visit);
                momenta.iter_mut().for_each(&mut *visit);
            }
            Energy::Hamiltonian { hamiltonian, velocities } => {
                visit(hamiltonian);
                velocities.iter_mut().for_each(&mut *visit);
            }
        }
        self.energy_terms.iter_mut().for_each(|term| visit(&mut term.0));
        visit(&mut self.dissipation);
        let forces = self.forces.iter_mut().chain(&mut self.nonideal);
        forces.flat_map(|f| &mut f.components).for_each(|c| visit(&mut c.1));
        self.constraints.iter_mut().for_each(|c| visit(&mut c.residual));
        self.frictions.iter_mut().for_each(|friction| friction.each(visit));
        self.contacts.iter_mut().for_each(|contact| contact.each(visit));
        self.rolling.iter_mut().for_each(|touch| touch.each(visit));
        self.states.iter_mut().flat_map(|z| [&mut z.rate, &mut z.written]).for_each(&mut *visit);
        for servo in &mut self.servos {
            servo.weight.iter_mut().for_each(&mut *visit);
            for u in &mut servo.inputs {
                visit(&mut u.value);
                u.column.iter_mut().for_each(|c| visit(&mut c.1));
            }
        }
        self.speeds.iter_mut().for_each(|s| visit(&mut s.value));
        for start in &mut self.start {
            visit(&mut start.left);
            visit(&mut start.right);
        }
        visit(&mut self.run.from);
        visit(&mut self.run.to);
        self.run.every.iter_mut().for_each(&mut *visit);
        self.run.tolerance.iter_mut().for_each(&mut *visit);
        self.observes.iter_mut().chain(&mut self.outputs).for_each(|o| visit(&mut o.value));
        for event in &mut self.events {
            visit(&mut event.function);
            event.period.iter_mut().for_each(&mut *visit);
            if let Action::Reset(list) = &mut event.action {
                for (quantity, value) in list {
                    visit(quantity);
                    visit(value);
                }
            }
        }
        for draw in &mut self.draws {
            draw.points.iter_mut().flatten().for_each(&mut *visit);
            draw.radius.iter_mut().for_each(&mut *visit);
            draw.axis.iter_mut().flatten().for_each(&mut *visit);
        }
        for place in &mut self.places {
            place.position.iter_mut().for_each(&mut *visit);
            if let Some(extent) = &mut place.extent {
                visit(&mut extent.mass);
                extent.rotation.iter_mut().chain(&mut extent.inertia).for_each(&mut *visit);
            }
        }
        self.gravity.iter_mut().flatten().for_each(&mut *visit);
        self.tree.each(visit);
        for check in &mut self.checks {
            match &mut check.kind {
                CheckKind::Equal { left, right, within, at } => {
                    left.iter_mut().chain(right).chain(within).for_each(&mut *visit);
                    match at {
                        CheckAt::Time(t) => visit(t),
                        CheckAt::State(list) => list.iter_mut().for_each(|(a, b)| {
                            visit(a);
                            visit(b);
                        }),
                        CheckAt::Anywhere | CheckAt::Start | CheckAt::End => {}
                    }
                }
                CheckKind::Agree { within } => within.iter_mut().for_each(&mut *visit),
                CheckKind::Conserve { value, within } => {
                    visit(value);
                    within.iter_mut().for_each(&mut *visit);
                }
                CheckKind::Linearize { values, within, .. } => {
                    values.iter_mut().flatten().chain(within).for_each(&mut *visit);
                }
                CheckKind::Verdict(_)
                | CheckKind::Analyze { .. }
                | CheckKind::Fault(_)
                | CheckKind::Warning(_) => {}
            }
        }
        for (quantity, value) in &mut self.state {
            visit(quantity);
            visit(value);
        }
        self.determined.iter_mut().for_each(|d| visit(&mut d.residual));
    }

    /// Every expression the system holds, parameter values included.
    pub fn roots(&self) -> Vec<ExprId> {
        let mut roots: Vec<ExprId> = self.parameters.iter().filter_map(|p| p.value).collect();
        roots.extend(self.inputs.iter().filter_map(|u| u.value));
        roots.extend(self.states.iter().map(|z| z.rate));
        match &self.energy {
            Energy::Lagrangian { lagrangian, .. } => roots.push(*lagrangian),
            Energy::Hamiltonian { hamiltonian, .. } => roots.push(*hamiltonian),
        }
        roots.push(self.dissipation);
        let forces = self.forces.iter().chain(&self.nonideal);
        roots.extend(forces.flat_map(|f| f.components.iter().map(|c| c.1)));
        roots.extend(self.constraints.iter().map(|c| c.residual));
        for contact in &self.contacts {
            roots.extend([contact.gap(), contact.restitution]);
            roots.extend(contact.condition);
        }
        for friction in &self.frictions {
            roots.extend(
                friction.slip.iter().chain([&friction.bound]).chain(&friction.static_bound),
            );
        }
        for servo in &self.servos {
            roots.extend(&servo.weight);
            roots.extend(servo.inputs.iter().map(|u| u.value));
        }
        roots.extend(self.speeds.iter().map(|s| s.value));
        roots.extend(self.start.iter().flat_map(|s| [s.left, s.right]));
        roots.extend(
            [self.run.from, self.run.to]
                .into_iter()
                .chain(self.run.every)
                .chain(self.run.tolerance),
        );
        roots.extend(self.observes.iter().map(|o| o.value));
        for event in &self.events {
            roots.push(event.function);
            roots.extend(event.period);
            if let Action::Reset(list) = &event.action {
                roots.extend(list.iter().flat_map(|&(a, b)| [a, b]));
            }
        }
        for draw in &self.draws {
            roots.extend(draw.points.iter().flatten());
            roots.extend(draw.radius);
            roots.extend(draw.axis.iter().flatten());
        }
        for check in &self.checks {
            match &check.kind {
                CheckKind::Equal { left, right, .. } => roots.extend(left.iter().chain(right)),
                CheckKind::Conserve { value, .. } => roots.push(*value),
                CheckKind::Linearize { values, .. } => roots.extend(values.iter().flatten()),
                _ => {}
            }
        }
        roots
    }
}
