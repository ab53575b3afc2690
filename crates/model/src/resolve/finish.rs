//! The order in which everything is settled, and what is true of the model as
//! a whole.

use super::*;
use crate::system::{Energy, Input, Phase, System};
use crate::tree::StatementKind;

impl<'a> Resolver<'a, '_> {
    /// Declares, evaluates, checks; `None` where too much is missing to go on.
    pub(super) fn run(&mut self, file: &'a File, sources: &Sources) -> Option<System> {
        self.unclosed = self.diagnostics.iter().any(|d| {
            let place = d.labels.first().map(|label| sources.snippet(label.span));
            d.code == Code::UnclosedBracket && place == Some("{")
        });
        self.declare(&file.statements, ScopeId(0));
        self.plan_machines(file);
        self.leftover_overrides();
        self.unnamed_clashes();
        self.once_only();
        self.resolve_parameters();
        self.evaluate_machines();
        self.evaluate_definitions();
        self.finite_parameters();
        let complete = self.check_presence(file);
        let energy = self.resolve_energy();
        let mut places = self.body_places();
        places.extend(self.places());
        let (mut energy, dissipation) = match (energy, complete) {
            (Some(found), true) => found,
            // Go on with no energy, to report what else is wrong.
            _ => (
                Energy::Lagrangian {
                    kinetic: ExprId::ZERO,
                    potential: ExprId::ZERO,
                    rest: ExprId::ZERO,
                    lagrangian: ExprId::ZERO,
                    momenta: vec![ExprId::ZERO; self.parts.coordinates.len()],
                },
                ExprId::ZERO,
            ),
        };
        let faults_so_far = self.diagnostics.iter().any(|d| d.severity == Severity::Fault);
        self.prepare_replacements(&energy);
        self.resolve_inputs();
        let (mut forces, added) = self.resolve_forces(false);
        if let Some((kinetic, force)) = added {
            self.add_kinetic(&mut energy, kinetic);
            self.prepare_replacements(&energy);
            // Momenta in forces are others now.
            forces = self.resolve_forces(false).0;
            forces.extend(Some(force).filter(|force| !force.components.is_empty()));
        }
        self.resolve_states();
        let friction = self.dissipation_force(dissipation);
        let dissipation = self.normalize(dissipation);
        if !faults_so_far {
            // Kinds of rows depend on the energies (momenta) being right.
            self.resolve_constraints();
        } else {
            self.evaluate_constraints();
        }
        let (frictions, contacts, rolling) = self.resolve_touch();
        forces.extend(friction);
        let nonideal = self.resolve_forces(true).0;
        let speeds = self.resolve_speeds();
        let start = self.resolve_start(sources);
        let run = self.resolve_run();
        let outputs = self.resolve_outputs();
        let observes = self.resolve_observes(sources, &outputs);
        let events = self.resolve_events();
        let draws = self.resolve_draws();
        let checks = self.resolve_checks(&file.checks);
        let state = self.resolve_state(self.raw_state);
        let servos = self.plan_servos();
        self.number_unknowns();
        self.unused_overrides();
        let title = self
            .instances
            .iter()
            .find_map(|i| match &i.statement.kind {
                StatementKind::System(title) if i.scope == ScopeId(0) => Some(title.clone()),
                _ => None,
            })
            .unwrap_or_default();
        let constants = self.constants();
        let tree = self.machine_tree();
        let mut system = System {
            title,
            parameters: std::mem::take(&mut self.parts.parameters),
            constants,
            coordinates: std::mem::take(&mut self.parts.coordinates),
            energy,
            energy_terms: std::mem::take(&mut self.energy_terms),
            dissipation,
            forces,
            nonideal,
            constraints: std::mem::take(&mut self.constraints),
            frictions,
            contacts,
            rolling,
            phase: None,
            inputs: std::mem::take(&mut self.parts.inputs),
            outputs,
            states: std::mem::take(&mut self.parts.states),
            open: None,
            speeds,
            start,
            run,
            observes,
            events,
            draws,
            places,
            gravity: self.gravity_seen.take(),
            checks,
            state,
            unknowns: std::mem::take(&mut self.unknowns),
            tree,
            servos: Vec::new(),
            recombined: Vec::new(),
            determined: Vec::new(),
        };
        self.gravity_without_body();
        self.look_at_the_unvisited();
        self.look_up_labels();
        self.unused_parameters(&system);
        self.apply_servos(&mut system, servos);
        self.feed_back(&mut system);
        let system = system.closed(&self.exprs);
        for fault in crate::smoothness::check(&self.exprs, &system) {
            self.report(fault);
        }
        dedup(self.diagnostics);
        Some(system)
    }

    /// Gives states their rates where these hold what is solved for. With contacts or friction each
    /// phase does so for itself; what is refused is seen in the one where all of them act.
    fn feed_back(&mut self, system: &mut System) {
        if self.diagnostics.iter().any(|d| d.severity == Severity::Fault) {
            return;
        }
        let found = match system.wants_phase() {
            true => {
                let mut all = system.in_phase(&self.exprs, &Phase::shown(system));
                all.feed_back(&self.exprs)
            }
            false => system.feed_back(&self.exprs),
        };
        if let Err(fault) = found {
            self.report(fault);
        }
    }

    /// Poses of bodies and frames, parents first, so that long chains stay shallow.
    fn evaluate_machines(&mut self) {
        for def in self.machine.order.clone() {
            let is_placed = matches!(
                self.machine.footing.get(&def),
                None | Some(machines::Footing::Placed | machines::Footing::Broken)
            );
            if !is_placed {
                let _ = self.settle(|r| r.body(def));
            }
        }
        for at in 0..self.machine.joints.len() {
            if self.machine.joints[at].targets.is_some() {
                let _ = self.settle(|r| r.geometry(at));
            }
        }
    }

    /// Puts a further kinetic energy into L.
    fn add_kinetic(&mut self, energy: &mut Energy, more: ExprId) {
        let velocities: Vec<Symbol> = self.parts.coordinates.iter().map(|c| c.velocity).collect();
        self.machine.kinetic.push((None, more));
        if let Energy::Lagrangian { kinetic, lagrangian, momenta, .. } = energy {
            *kinetic = (self.exprs.at(*kinetic) + self.exprs.at(more)).id;
            *lagrangian = (self.exprs.at(*lagrangian) + self.exprs.at(more)).id;
            *momenta = self.exprs.gradient(*lagrangian, &velocities);
        }
    }

    /// An unnamed constraint is called `c3`; nothing else may be.
    fn unnamed_clashes(&mut self) {
        for group in 0..self.constraint_rows.len() {
            let ConstraintGroup { label, unnamed: Some(scope), span, .. } =
                &self.constraint_rows[group]
            else {
                continue;
            };
            let this = &self.scopes[scope.0 as usize];
            let short = label.strip_prefix(&this.prefix).unwrap_or(label);
            if let Some(other) = this.labels.get(short) {
                let (label, span, other) = (label.clone(), *span, other.span);
                self.report(
                    Diagnostic::fault(
                        Code::DefinedTwice,
                        other,
                        format!("`{label}` is the name of an unnamed constraint too"),
                    )
                    .with(span, "this one, by its place")
                    .hint("give the unnamed one a label of its own"),
                );
            }
        }
    }

    /// What `--set` says of parts and no parameter took is about the start.
    fn leftover_overrides(&mut self) {
        let numbers = std::mem::take(&mut self.overrides.numbers);
        for (name, left, right, used) in numbers {
            // Inputs of parts take theirs when they are resolved.
            let entry =
                |u: &Input| u.name.strip_prefix(&name).is_some_and(|rest| rest.starts_with('['));
            let is_input = self.parts.inputs.iter().any(|u| u.name == name || entry(u));
            if !used && name.contains('.') && !is_input {
                self.overrides.start.push((left, right));
            } else {
                self.overrides.numbers.push((name, left, right, used));
            }
        }
    }

    /// `system` and `run` at most once.
    fn once_only(&mut self) {
        let mut first: FxHashMap<&str, Span> = FxHashMap::default();
        for instance in self.instances.clone() {
            // Those of a part are left out.
            if instance.scope != ScopeId(0) {
                continue;
            }
            let what = match &instance.statement.kind {
                StatementKind::System(_) => "system",
                StatementKind::Run(_) => "run",
                _ => continue,
            };
            let keyword = instance.statement.keyword;
            if let Some(&before) = first.get(what) {
                if before == keyword {
                    // Once in the text, in a loop that is never closed.
                    continue;
                }
                self.report(
                    Diagnostic::fault(
                        Code::OnceOnly,
                        keyword,
                        format!("a model has one `{what}` statement at most"),
                    )
                    .with(before, "the first one")
                    .hint(match what {
                        "run" => "put all options into one: `run t = 0..10, every 0.01, tol 1e-10`",
                        _ => "keep one of them",
                    }),
                );
            } else {
                first.insert(what, keyword);
            }
        }
    }

    /// Every definition, also those that nothing uses: faults in them count, and
    /// going in order keeps chains short.
    fn evaluate_definitions(&mut self) {
        for index in 0..self.defs.len() {
            let def = DefId(index as u32);
            if matches!(self.defs[index].kind, DefKind::Body { .. }) {
                let _ = self.settle(|r| r.body(def));
            }
            if matches!(
                self.defs[index].kind,
                DefKind::Let(_)
                    | DefKind::Const { .. }
                    | DefKind::Setting { .. }
                    | DefKind::Rate { .. }
            ) {
                let _ = self.settle(|r| r.def_value(def));
            }
            if self.exhausted {
                return;
            }
        }
    }

    fn evaluate_constraints(&mut self) {
        for group in 0..self.constraint_rows.len() {
            let def = self.constraint_rows[group].def;
            let _ = self.settle(|r| r.def_value(def));
        }
    }

    /// A model needs coordinates and an energy.
    fn check_presence(&mut self, file: &File) -> bool {
        let place = |statements: &[Statement]| match statements.first() {
            Some(first) => first.keyword,
            None => Span::new(crate::span::SourceId(0), 0, 0),
        };
        // What is missing may be in a part of the text that could not be read.
        let unread = self.exhausted
            || self.diagnostics.iter().any(|d| {
                matches!(
                    d.code,
                    Code::UnknownStatement
                        | Code::ForeignWord
                        | Code::JointKind
                        | Code::UseModel
                        | Code::NoModelBlock
                        | Code::PartCycle
                        | Code::UnreadableFile
                ) && d.severity == Severity::Fault
            });
        // A part with a fault may have lacked what it should have brought.
        let has_parts =
            file.statements.iter().any(|s| matches!(s.kind, StatementKind::Part { .. }));
        let faulty = self.diagnostics.iter().any(|d| d.severity == Severity::Fault);
        let unread = unread || (has_parts && faulty);
        let mut complete = true;
        if self.parts.coordinates.is_empty() {
            complete = false;
            let declared =
                self.scopes[0].declared.values().find(|d| d.0 == Kind::Coord).map(|d| d.1);
            let reported = self.diagnostics.iter().any(|d| d.severity == Severity::Fault);
            let garbled =
                |s: &Statement| matches!(&s.kind, StatementKind::Coord(l) if l.is_empty());
            let unread = unread || file.statements.iter().any(garbled);
            if !unread && (declared.is_none() || !reported) {
                let mut diagnostic = Diagnostic::fault(
                    Code::NoCoordinates,
                    declared.unwrap_or(place(&file.statements)),
                    "this model has no coordinates",
                );
                diagnostic = match declared {
                    Some(_) => diagnostic.hint("the range of its family is empty"),
                    None => diagnostic.hint("declare them: `coord x, y`"),
                };
                self.report(diagnostic);
            }
        }
        let energy = self.instances.iter().any(|i| match &i.statement.kind {
            StatementKind::Energy(kind, _) => *kind != tree::EnergyKind::Dissipation,
            StatementKind::Particle { .. }
            | StatementKind::Body { .. }
            | StatementKind::Part { .. } => true,
            _ => false,
        });
        if !energy {
            complete = false;
            let declares = |s: &&Statement| matches!(s.kind, StatementKind::Coord(_));
            let coordinates = match file.statements.iter().find(declares) {
                Some(statement) => statement.keyword,
                None => place(&file.statements),
            };
            if !unread {
                self.report(
                    Diagnostic::fault(Code::NoEnergy, coordinates, "this model has no energy")
                        .hint("give `kinetic` and `potential`, or `lagrangian`, or `hamiltonian`"),
                );
            }
        }
        complete
    }

    fn constants(&self) -> Vec<crate::system::Constant> {
        let mut list = Vec::new();
        let constants = self.scopes[0].names.iter().filter(|(_, info)| info.kind == Kind::Const);
        for (name, info) in constants {
            let plain = info.plain.map(|def| (Indices::new(), def));
            let entries = info.entries.iter().map(|(indices, def)| (indices.clone(), *def));
            for (indices, def) in plain.into_iter().chain(entries) {
                let def = &self.defs[def.0 as usize];
                if let State::Done(value) = &def.state
                    && let Some(n) =
                        value.scalar().and_then(|id| self.exprs.as_number(id)?.as_integer())
                {
                    let name = self.full_name(ScopeId(0), name, &indices);
                    list.push(crate::system::Constant { name, value: n, span: def.span });
                }
            }
        }
        list.sort_by_key(|c| (c.span, c.name.clone()));
        list
    }

    fn unused_overrides(&mut self) {
        let unused: Vec<(String, Span)> = self
            .overrides
            .numbers
            .iter()
            .filter(|o| !o.3)
            .map(|o| (o.0.clone(), o.1.span))
            .collect();
        for (name, span) in unused {
            let base = name.split('[').next().unwrap_or(&name);
            let shape = self.scopes[0].names.get(base).map(|info| {
                let last = info.entries.keys().max().cloned();
                let first = info.entries.keys().min().cloned();
                (first, last)
            });
            let hint = match shape {
                Some((Some(first), Some(last))) => format!(
                    "its entries go from `{}` to `{}`",
                    names::with_indices(base, &first),
                    names::with_indices(base, &last)
                ),
                Some((None, None)) if self.is_empty_family(base) => {
                    format!("`{base}` has no entries: its range is empty")
                }
                _ => format!("`{base}` has no indices"),
            };
            self.report(
                Diagnostic::fault(
                    Code::UnknownOverride,
                    span,
                    format!("the model has no `{name}` to set"),
                )
                .hint(hint),
            );
        }
    }

    fn is_empty_family(&self, name: &str) -> bool {
        let info = self.scopes[0].names.get(name);
        info.is_some_and(|info| info.plain.is_none() && info.entries.is_empty())
    }

    /// Warns of gravity where there is nothing it could act on.
    fn gravity_without_body(&mut self) {
        let is_body = |kind: &StatementKind| {
            matches!(kind, StatementKind::Particle { .. } | StatementKind::Body { .. })
        };
        if self.instances.iter().any(|i| is_body(&i.statement.kind)) {
            return;
        }
        let spans: Vec<Span> = self
            .instances
            .iter()
            .filter(|i| matches!(i.statement.kind, StatementKind::Gravity(_)))
            .map(|i| i.statement.span)
            .collect();
        for span in spans {
            self.diagnostics.push(
                Diagnostic::warning(
                    Code::GravityWithoutBody,
                    span,
                    "`gravity` acts on particles and bodies, and there are none",
                )
                .hint("write `potential m*g*y`, or declare `particle bob: mass m, at [x, y]`"),
            );
        }
    }

    /// Warns of parameters that nothing uses.
    fn unused_parameters(&mut self, system: &System) {
        if self.diagnostics.iter().any(|d| d.severity == Severity::Fault) {
            return;
        }
        let used: rustc_hash::FxHashSet<Symbol> =
            self.exprs.symbols_of(&system.roots()).into_iter().collect();
        // Families are reported once: name of the family, first unused entry.
        let mut reported: rustc_hash::FxHashSet<Span> = Default::default();
        let family_used: rustc_hash::FxHashSet<Span> =
            system.parameters.iter().filter(|p| used.contains(&p.symbol)).map(|p| p.span).collect();
        for parameter in &system.parameters {
            if !family_used.contains(&parameter.span) && reported.insert(parameter.span) {
                let base = parameter.name.split('[').next().unwrap_or(&parameter.name);
                self.diagnostics.push(
                    Diagnostic::warning(
                        Code::UnusedParameter,
                        parameter.span,
                        format!("nothing depends on parameter `{base}`"),
                    )
                    .hint("remove it, or use it where a number stands now"),
                );
            }
        }
    }
}

/// Evaluation may be repeated, and a loop comes to the same place again and
/// again: of one kind, a place has one fault. Other remarks may differ in what
/// they say.
fn dedup(diagnostics: &mut Vec<Diagnostic>) {
    let mut keys: rustc_hash::FxHashSet<(Code, Option<Span>, String)> = Default::default();
    diagnostics.retain(|diagnostic| {
        let place = diagnostic.labels.first().map(|l| l.span);
        let message = match diagnostic.severity {
            Severity::Fault => String::new(),
            _ => diagnostic.message.clone(),
        };
        keys.insert((diagnostic.code, place, message))
    });
}
