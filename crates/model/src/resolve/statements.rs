//! What the statements that make the equations mean: energies, forces, constraints,
//! quasi-velocities.

use super::labels::ROWS;
use super::*;
use crate::system::{Constraint, Energy, Force, Level, Speed};
use crate::tree::{EnergyKind, ForceForm, StatementKind};

const OTHER_FORMS: &str = "`force F at r` and `force F along v` act on anything that moves";

pub(super) const STATE: u16 =
    role::PARAMETER | role::GIVEN | role::POSITION | role::VELOCITY | role::MOMENTUM;

impl<'a> Resolver<'a, '_> {
    /// L or H from the energy statements.
    pub(super) fn resolve_energy(&mut self) -> Option<(Energy, ExprId)> {
        let mut terms: FxHashMap<EnergyKind, Vec<ExprId>> = FxHashMap::default();
        let mut first: FxHashMap<EnergyKind, Span> = FxHashMap::default();
        let mut failed = false;
        for instance in self.instances.clone() {
            let StatementKind::Energy(kind, expr) = &instance.statement.kind else { continue };
            let cx = self.scope_cx(&instance);
            first.entry(*kind).or_insert(instance.statement.keyword);
            let (place, allowed) = match kind {
                EnergyKind::Kinetic => ("`kinetic`", STATE & !role::MOMENTUM),
                EnergyKind::Potential => {
                    ("`potential`", role::PARAMETER | role::GIVEN | role::POSITION)
                }
                EnergyKind::Lagrangian => ("`lagrangian`", STATE & !role::MOMENTUM),
                EnergyKind::Hamiltonian => ("`hamiltonian`", STATE & !role::VELOCITY),
                EnergyKind::Dissipation => ("`dissipation`", STATE),
            };
            let value = self.settle(|r| {
                let id = r.eval_scalar(expr, cx)?;
                r.allow(id, expr.span, allowed, place)?;
                Ok(id)
            });
            match value {
                Some(id) => {
                    terms.entry(*kind).or_default().push(id);
                    if matches!(kind, EnergyKind::Kinetic | EnergyKind::Lagrangian) {
                        self.machine.kinetic.push((None, id));
                    }
                    if *kind == EnergyKind::Potential {
                        self.machine.potentials.push((None, id));
                    }
                    if !matches!(kind, EnergyKind::Potential | EnergyKind::Dissipation) {
                        self.energy_terms.push((id, instance.statement.span));
                    }
                }
                None => failed = true,
            }
        }
        let (kinetic, potential) = self.body_energies();
        let (springs, dampers) = self.spring_functions();
        let spring = self.instances.iter().find_map(|i| match &i.statement.kind {
            StatementKind::Spring { is_damper: false, .. } => Some(i.statement.keyword),
            _ => None,
        });
        if let Some(span) = spring {
            first.entry(EnergyKind::Potential).or_insert(span);
            self.machine.potentials.extend(springs.iter().map(|&term| (None, term)));
            terms.entry(EnergyKind::Potential).or_default().extend(springs);
        }
        terms.entry(EnergyKind::Dissipation).or_default().extend(dampers);
        if let Some(span) = self.first_body() {
            first.entry(EnergyKind::Kinetic).or_insert(span);
            terms.entry(EnergyKind::Kinetic).or_default().extend(kinetic);
            terms.entry(EnergyKind::Potential).or_default().extend(potential);
        }
        let total = |kind: EnergyKind| match terms.get(&kind) {
            Some(list) => self.exprs.sum(list),
            None => ExprId::ZERO,
        };
        let dissipation = total(EnergyKind::Dissipation);
        if let Some(&at) = first.get(&EnergyKind::Hamiltonian) {
            let others = [EnergyKind::Kinetic, EnergyKind::Potential, EnergyKind::Lagrangian];
            if let Some(other) = others.iter().find_map(|kind| first.get(kind)) {
                let message = "a model is given by `hamiltonian`, or by `kinetic`, `potential` and \
                               `lagrangian`";
                self.report(
                    Diagnostic::fault(Code::MixedEnergy, *other, message)
                        .with(at, "the Hamiltonian")
                        .hint("keep one of the two; a potential energy is a term of H"),
                );
                return None;
            }
            let hamiltonian = total(EnergyKind::Hamiltonian);
            let momenta: Vec<Symbol> = self.parts.coordinates.iter().map(|c| c.momentum).collect();
            let velocities = self.exprs.gradient(hamiltonian, &momenta);
            return (!failed)
                .then_some((Energy::Hamiltonian { hamiltonian, velocities }, dissipation));
        }
        if failed {
            return None;
        }
        let (kinetic, potential, rest) = (
            total(EnergyKind::Kinetic),
            total(EnergyKind::Potential),
            total(EnergyKind::Lagrangian),
        );
        let lagrangian =
            (self.exprs.at(kinetic) - self.exprs.at(potential) + self.exprs.at(rest)).id;
        let velocities: Vec<Symbol> = self.parts.coordinates.iter().map(|c| c.velocity).collect();
        let momenta = self.exprs.gradient(lagrangian, &velocities);
        Some((Energy::Lagrangian { kinetic, potential, rest, lagrangian, momenta }, dissipation))
    }

    fn first_body(&self) -> Option<Span> {
        self.instances.iter().find_map(|i| match &i.statement.kind {
            StatementKind::Particle { .. } | StatementKind::Body { .. } => {
                Some(i.statement.keyword)
            }
            _ => None,
        })
    }

    /// −∂R/∂q′. Momenta stand for velocities in a model given by L.
    pub(super) fn dissipation_force(&mut self, dissipation: ExprId) -> Option<Force> {
        let span = self.instances.iter().find_map(|i| match &i.statement.kind {
            StatementKind::Energy(EnergyKind::Dissipation, expr) => Some(expr.span),
            StatementKind::Spring { is_damper: true, .. } => Some(i.statement.span),
            _ => None,
        })?;
        let function =
            if self.parts.hamiltonian { dissipation } else { self.normalize(dissipation) };
        let velocities: Vec<Symbol> = self.parts.coordinates.iter().map(|c| c.velocity).collect();
        let gradient = self.exprs.gradient(function, &velocities);
        let components = gradient
            .into_iter()
            .enumerate()
            .filter(|&(_, g)| g != ExprId::ZERO)
            .map(|(i, g)| {
                let force = (-self.exprs.at(g)).id;
                (i, self.normalize(force))
            })
            .collect();
        Some(Force { components, span })
    }

    /// Generalized forces of all `force` and `torque`, or of all `nonideal` statements, and the
    /// kinetic energy of added mass with the force that is left of it.
    pub(super) fn resolve_forces(
        &mut self,
        nonideal: bool,
    ) -> (Vec<Force>, Option<(ExprId, Force)>) {
        let mut forces = Vec::new();
        let mut mass = super::forces::AddedMass::new();
        let mut heavy = None;
        for instance in self.instances.clone() {
            let cx = self.scope_cx(&instance);
            let span = instance.statement.span;
            let components = match &instance.statement.kind {
                StatementKind::Force(form) if !nonideal => {
                    self.settle(|r| r.force(form, "`force`", cx))
                }
                StatementKind::Nonideal(form) if nonideal => {
                    self.settle(|r| r.force(form, "`nonideal`", cx))
                }
                StatementKind::Torque { value, on, from } if !nonideal => {
                    self.settle(|r| r.torque(value, on, from.as_ref(), cx))
                }
                _ => continue,
            };
            let Some(components) = components else { continue };
            let components: Vec<(usize, ExprId)> =
                components.into_iter().map(|(at, id)| (at, self.normalize(id))).collect();
            let rest = self.settle(|r| r.take_added_mass(components.clone(), span, &mut mass));
            let is_heavy =
                components.iter().any(|&(_, id)| self.mask(id) & role::ACCELERATION != 0);
            if is_heavy {
                heavy.get_or_insert(span);
            }
            // Of added mass alone no force is left.
            if let Some(components) = rest.filter(|rest| !is_heavy || !rest.is_empty()) {
                forces.push(Force { components, span });
            }
        }
        let added = heavy.and_then(|span| self.added_mass(mass, span));
        (forces, added)
    }

    fn force(
        &mut self,
        form: &'a ForceForm,
        place: &str,
        cx: Cx<'_>,
    ) -> Eval<Vec<(usize, ExprId)>> {
        let mut allowed = STATE | role::MULTIPLIER;
        if place == "`force`" && !self.parts.hamiltonian {
            allowed |= role::ACCELERATION;
        }
        match form {
            ForceForm::On { coordinate, value } => {
                let (of, id) = (self.eval(coordinate, cx), self.eval_scalar(value, cx));
                let (of, id) = (of?, id?);
                self.allow(id, value.span, allowed, place)?;
                let symbol = of.scalar().and_then(|id| self.exprs.as_symbol(id));
                if let Some(index) = symbol.and_then(|symbol| self.parts.coordinate_of(symbol)) {
                    return Ok(vec![(index, id)]);
                }
                // Any scalar of positions: Qᵢ = F ∂S/∂qᵢ.
                let may = role::PARAMETER | role::GIVEN | role::POSITION;
                match of.scalar() {
                    Some(of)
                        if self.mask(of) & role::POSITION != 0 && self.mask(of) & !may == 0 =>
                    {
                        let symbols: Vec<Symbol> =
                            self.parts.coordinates.iter().map(|c| c.position).collect();
                        self.virtual_work(&[id], &[of], &symbols, value, allowed, place)
                    }
                    _ => {
                        let index = self.coordinate(coordinate, OTHER_FORMS, cx)?;
                        Ok(vec![(index, id)])
                    }
                }
            }
            ForceForm::At { value, position } => {
                let (force, r) = self.pair(value, position, cx)?;
                for &id in &r {
                    let may = role::PARAMETER | role::GIVEN | role::POSITION;
                    self.allow(id, position.span, may, "the place of a force")?;
                }
                // Qᵢ = F·∂r/∂qᵢ
                let symbols: Vec<Symbol> =
                    self.parts.coordinates.iter().map(|c| c.position).collect();
                self.virtual_work(&force, &r, &symbols, value, allowed, place)
            }
            ForceForm::Along { value, velocity } => {
                let (force, v) = self.pair(value, velocity, cx)?;
                let mut components = Vec::with_capacity(v.len());
                for &id in &v {
                    let may = if self.parts.hamiltonian { STATE & !role::MOMENTUM } else { STATE };
                    self.allow(id, velocity.span, may, "the velocity of a force")?;
                    // Momenta stand for velocities here; velocities must stay.
                    components.push(if self.parts.hamiltonian { id } else { self.normalize(id) });
                }
                if components.iter().all(|&id| self.mask(id) & role::VELOCITY == 0) {
                    return Err(self.report(
                        Diagnostic::fault(
                            Code::NotAllowedHere,
                            velocity.span,
                            "`along` needs a velocity, and this holds none",
                        )
                        .hint("write `force F at r` for a force at a position"),
                    ));
                }
                // Qᵢ = F·∂v/∂qᵢ′
                let symbols: Vec<Symbol> =
                    self.parts.coordinates.iter().map(|c| c.velocity).collect();
                self.virtual_work(&force, &components, &symbols, value, allowed, place)
            }
        }
    }

    /// A force and what it acts on, of equal shapes.
    fn pair(
        &mut self,
        force: &'a Expr,
        other: &'a Expr,
        cx: Cx<'_>,
    ) -> Eval<(Vec<ExprId>, Vec<ExprId>)> {
        let (f, r) = (self.eval(force, cx), self.eval(other, cx));
        let (f, r) = (f?, r?);
        if f.shape() != r.shape() {
            let message =
                format!("the force is {} and what it acts on is {}", f.describe(), r.describe());
            return Err(self.report(
                Diagnostic::fault(Code::Shape, other.span, message)
                    .at(r.describe())
                    .with(force.span, f.describe())
                    .hint("both need the same shape"),
            ));
        }
        Ok((f.components().to_vec(), r.components().to_vec()))
    }

    pub(super) fn virtual_work(
        &mut self,
        force: &[ExprId],
        of: &[ExprId],
        symbols: &[Symbol],
        value: &'a Expr,
        allowed: u16,
        place: &str,
    ) -> Eval<Vec<(usize, ExprId)>> {
        for &id in force {
            self.allow(id, value.span, allowed, place)?;
        }
        let jacobian = self.exprs.jacobian(of, symbols);
        let mut work: std::collections::BTreeMap<usize, Vec<ExprId>> = Default::default();
        for (&f, row) in force.iter().zip(&jacobian.rows) {
            for &(column, entry) in row {
                let term = (self.exprs.at(f) * self.exprs.at(entry)).id;
                work.entry(column).or_default().push(term);
            }
        }
        let sums = work.into_iter().map(|(column, terms)| (column, self.exprs.sum(&terms)));
        Ok(sums.filter(|&(_, id)| id != ExprId::ZERO).collect())
    }

    /// All constraint rows, each with its kind.
    pub(super) fn resolve_constraints(&mut self) {
        for group in 0..self.constraint_rows.len() {
            let def = self.constraint_rows[group].def;
            let span = self.constraint_rows[group].span;
            if self.constraint_rows[group].contact.is_some() {
                continue;
            }
            let Some(value) = self.settle(|r| r.def_value(def)) else { continue };
            for (at, &id) in value.components().iter().enumerate() {
                let name = self.row_name(group, at, &value);
                let allowed = STATE | role::ACCELERATION | role::MOMENTUM_RATE;
                if self.allow(id, span, allowed, "a constraint").is_err() {
                    break;
                }
                let residual = self.normalize(id);
                if let Ok(Some(row)) = self.classify(residual, name, group) {
                    self.final_rows.insert(group * ROWS + at, self.constraints.len());
                    self.constraints.push(row);
                }
            }
        }
    }

    /// From provisional row numbers to those of the system; what was dropped has
    /// no multiplier. Comes last: events, outputs and checks speak of rows too.
    pub(super) fn number_unknowns(&mut self) {
        let final_rows = &self.final_rows;
        for (_, unknown) in &mut self.unknowns {
            let of = |row: usize| final_rows.get(&row).copied().unwrap_or(usize::MAX);
            *unknown = match *unknown {
                Unknown::Multiplier(row) => Unknown::Multiplier(of(row)),
                Unknown::Share(coordinate, row) => Unknown::Share(coordinate, of(row)),
                other => other,
            };
        }
    }

    /// The level and kind of a row, by what is left after expansion. `None`
    /// for a row that always holds.
    fn classify(
        &mut self,
        residual: ExprId,
        name: String,
        group: usize,
    ) -> Eval<Option<Constraint>> {
        let span = self.constraint_rows[group].span;
        let label = self.constraint_rows[group].label.clone();
        let (velocity, acceleration) = if self.parts.hamiltonian {
            (role::MOMENTUM, role::MOMENTUM_RATE)
        } else {
            (role::VELOCITY, role::ACCELERATION)
        };
        let mut residual = residual;
        let mut level = Level::Position;
        let mut affine = true;
        for (role, this) in [(acceleration, Level::Acceleration), (velocity, Level::Velocity)] {
            if self.mask(residual) & role == 0 {
                continue;
            }
            let symbols: Vec<Symbol> = self
                .exprs
                .symbols_of(&[residual])
                .into_iter()
                .filter(|&s| self.role(s) == role)
                .collect();
            let gradient = self.exprs.gradient(residual, &symbols);
            if gradient.iter().all(|&g| self.exprs.is_zero(g).is_zero()) {
                // It only seems to depend on them: x′ − x′·(sin² + cos²).
                residual = self
                    .exprs
                    .substitute_with(&[residual], |s| symbols.contains(&s).then_some(ExprId::ZERO))
                    [0];
                continue;
            }
            level = this;
            let suspicious: Vec<ExprId> =
                gradient.iter().copied().filter(|&g| self.mask(g) & role != 0).collect();
            if !suspicious.is_empty() {
                let second = self.exprs.jacobian(&suspicious, &symbols);
                affine =
                    second.rows.iter().flatten().all(|&(_, e)| self.exprs.is_zero(e).is_zero());
            }
            if this == Level::Acceleration && !affine {
                return Err(self.report(
                    Diagnostic::fault(
                        Code::AccelerationNonlinear,
                        span,
                        format!("constraint `{name}` is not linear in the accelerations"),
                    )
                    .hint("an acceleration-level constraint has the form A(q, q', t) q'' = b(q, q', t)"),
                ));
            }
            break;
        }
        if level == Level::Position && self.settle_constant(residual, &name, group)? {
            return Ok(None);
        }
        self.state_in_constraint(residual, level, &name, span)?;
        let by_itself: Vec<Symbol> = self
            .exprs
            .symbols_of(&[residual])
            .into_iter()
            .filter(|&s| self.role(s) & role::GIVEN != 0)
            .collect();
        let rates = self.exprs.gradient(residual, &by_itself);
        let scleronomic = rates.iter().all(|&rate| self.exprs.is_zero(rate).is_zero());
        let catastatic = match level {
            Level::Acceleration => None,
            Level::Position => Some(scleronomic),
            Level::Velocity => self.at_rest(residual, velocity),
        };
        Ok(Some(Constraint {
            name,
            label,
            level,
            residual,
            affine,
            scleronomic,
            catastatic,
            servo: false,
            span,
        }))
    }

    /// Whether ψ(q, 0, t) = 0.
    pub(super) fn at_rest(&mut self, residual: ExprId, velocity: u16) -> Option<bool> {
        let roles = &self.roles;
        let is_velocity = |s: Symbol| roles.get(s.index()) == Some(&velocity);
        let rest =
            self.exprs.substitute_with(&[residual], |s| is_velocity(s).then_some(ExprId::ZERO))[0];
        if self.parts.hamiltonian {
            // p = 0 is rest only where ∂H/∂p vanishes with p.
            let map = self.parts.velocities();
            let at_zero =
                self.exprs.substitute_with(&map, |s| is_velocity(s).then_some(ExprId::ZERO));
            if !at_zero.iter().all(|&v| self.exprs.is_zero(v).is_zero()) {
                return None;
            }
        }
        Some(rest == ExprId::ZERO || self.exprs.is_zero(rest).is_zero())
    }

    /// A row without motion in it: always true (noted, dropped) or never.
    fn settle_constant(&mut self, residual: ExprId, name: &str, group: usize) -> Eval<bool> {
        let span = self.constraint_rows[group].span;
        if self.mask(residual) & role::POSITION != 0 {
            let symbols: Vec<Symbol> = self
                .exprs
                .symbols_of(&[residual])
                .into_iter()
                .filter(|&s| self.role(s) == role::POSITION)
                .collect();
            let gradient = self.exprs.gradient(residual, &symbols);
            if !gradient.iter().all(|&g| self.exprs.is_zero(g).is_zero()) {
                return Ok(false);
            }
        }
        let zero = residual == ExprId::ZERO || self.exprs.is_zero(residual).is_zero();
        let value = self.parameter_value(residual);
        if zero || value == Some(0.0) {
            // A joint says what it is, whether or not all of it is needed.
            let def = self.constraint_rows[group].def;
            if matches!(self.defs[def.0 as usize].kind, DefKind::Rows(_) | DefKind::TouchRows(_)) {
                return Ok(true);
            }
            self.n_notes += 1;
            if self.n_notes <= MAX_FAULTS {
                let message = format!("constraint `{name}` always holds");
                self.diagnostics.push(
                    Diagnostic::note(Code::ConstraintTrivial, span, message)
                        .hint("it restricts nothing and is left out"),
                );
            }
            return Ok(true);
        }
        let mut diagnostic = Diagnostic::fault(
            Code::ConstraintImpossible,
            span,
            format!("no coordinate is left in constraint `{name}`, so no motion can satisfy it"),
        );
        diagnostic = match value {
            Some(value) => diagnostic.at(format!("left minus right is {value}")),
            None => diagnostic,
        };
        Err(self.report(diagnostic.hint("is a coordinate missing, or has everything canceled?")))
    }

    /// Quasi-velocities: linear, homogeneous, independent.
    pub(super) fn resolve_speeds(&mut self) -> Vec<Speed> {
        let mut speeds: Vec<Speed> = Vec::new();
        for instance in self.instances.clone() {
            let StatementKind::Speed(list) = &instance.statement.kind else { continue };
            for define in list {
                let cx = self.scope_cx(&instance);
                let found = self.settle(|r| {
                    let value = r.eval(&define.value, cx)?;
                    let indices = r.indices(&define.entry.indices, cx)?;
                    for &id in value.components() {
                        let allowed = STATE & !role::MOMENTUM;
                        r.allow(id, define.value.span, allowed, "a speed")?;
                        r.linear_homogeneous(id, define)?;
                    }
                    Ok((value, indices))
                });
                let Some((value, indices)) = found else { continue };
                for (at, &id) in value.components().iter().enumerate() {
                    let mut indices = indices.clone();
                    if value.scalar().is_none() {
                        indices.push(at as i64 + 1);
                    }
                    let name = self.full_name(instance.scope, &define.entry.name.text, &indices);
                    speeds.push(Speed { name, value: id, span: define.entry.span });
                }
            }
        }
        self.check_speeds(&speeds);
        speeds
    }

    fn linear_homogeneous(&mut self, id: ExprId, define: &'a tree::Define) -> Eval<()> {
        let symbols: Vec<Symbol> = self
            .exprs
            .symbols_of(&[id])
            .into_iter()
            .filter(|&s| self.role(s) == role::VELOCITY)
            .collect();
        let gradient = self.exprs.gradient(id, &symbols);
        let terms: Vec<ExprId> = symbols
            .iter()
            .zip(&gradient)
            .map(|(&s, &g)| (self.exprs.at(self.exprs.of_symbol(s)) * self.exprs.at(g)).id)
            .collect();
        let rest = (self.exprs.at(id) - self.exprs.at(self.exprs.sum(&terms))).id;
        let homogeneous = self.exprs.is_zero(rest).is_zero();
        let linear = gradient.iter().all(|&g| {
            self.mask(g) & role::VELOCITY == 0
                || self.exprs.jacobian(&[g], &symbols).rows[0]
                    .iter()
                    .all(|&(_, e)| self.exprs.is_zero(e).is_zero())
        });
        if homogeneous && linear && !symbols.is_empty() {
            return Ok(());
        }
        let name = &define.entry.name.text;
        let why = if symbols.is_empty() {
            "it holds no velocity"
        } else if linear {
            "a part of it does not vanish with the velocities"
        } else {
            "it is not linear in the velocities"
        };
        Err(self.report(
            Diagnostic::fault(
                Code::SpeedNotLinear,
                define.value.span,
                format!("`{name}` is no quasi-velocity: {why}"),
            )
            .hint("a speed is a sum of velocities times functions of q and t; use `let` for any other \
                   expression"),
        ))
    }

    /// At most n, and independent at a generic state.
    fn check_speeds(&mut self, speeds: &[Speed]) {
        let n = self.parts.coordinates.len();
        if speeds.len() > n {
            let extra = &speeds[n];
            let coordinates =
                if n == 1 { "one coordinate".into() } else { format!("{n} coordinates") };
            self.report(
                Diagnostic::fault(
                    Code::TooManySpeeds,
                    extra.span,
                    format!("{} speeds for {coordinates}", speeds.len()),
                )
                .hint(
                    "there are at most as many speeds as coordinates; name the others with `let`",
                ),
            );
            return;
        }
        let velocities: Vec<Symbol> = self.parts.coordinates.iter().map(|c| c.velocity).collect();
        let values: Vec<ExprId> = speeds.iter().map(|s| s.value).collect();
        let jacobian = self.exprs.jacobian(&values, &velocities);
        if let Some(row) = crate::rank::dependent_row(&self.exprs, &jacobian) {
            let speed = &speeds[row];
            self.report(
                Diagnostic::fault(
                    Code::SpeedDependent,
                    speed.span,
                    format!("`{}` follows from the speeds before it", speed.name),
                )
                .hint("each speed must say something new about the velocities; use `let` for this one"),
            );
        }
    }
}
