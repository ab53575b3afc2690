//! Machines: which bodies stand where, what carries what, and the coordinates that follow.
//!
//! A body has a place (`at`, `turning`), is `free`, or is carried by the joint whose second side it
//! is; a frame has a place, is fixed in something, or is carried. Who carries whom is decided from
//! names alone, before anything is evaluated, since it decides what the coordinates are:
//!
//! ```text
//! joint     carries its second side unless that has a place; then its coordinates are the model's
//! loop      closes in any case: rows
//! absolute  every carried body is free, and every joint closes
//! ```
//!
//! Coordinates stand in a scope of their joint or body, so that `knee.angle`, `b.r[2]` and
//! `multiplier(b.unit)` are found as the quantities of a part are.

use super::bodies::Attitude;
use super::joints::kinds::{JointKind, Move};
use super::rigid::Turn;
use super::*;
use crate::system::{Attachment, Link, Stands, Tree};
use crate::tree::{ExprKind, Field, RunOption, Side, StatementKind};

/// What a side of a joint, an `on` or a `from` names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Target {
    Ground,
    Def(DefId),
}

/// What a body or a frame stands on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Footing {
    /// As `at` and `turning` say.
    Placed,
    /// On coordinates of its own; in absolute coordinates, by the joint that would carry it.
    Free(Option<usize>),
    /// Fixed in something.
    On(Target),
    /// By a joint.
    Carried(usize),
    /// Something was wrong, and reported.
    Broken,
}

/// A joint as written, and what was decided about it.
pub(super) struct Joint<'a> {
    pub def: DefId,
    pub instance: Instance<'a>,
    pub name: String,
    pub indexed: bool,
    pub kind: Option<&'static JointKind>,
    pub sides: &'a [Side; 2],
    pub fields: &'a [Field],
    pub is_loop: bool,
    /// What it joins, once that is known.
    pub targets: Option<[Target; 2]>,
    pub dimension: usize,
    /// Whether its coordinates are those of the model.
    pub carries: bool,
    /// Its coordinates move by move: symbols where it carries, or where an angle was asked for.
    pub coordinates: Vec<Option<Vec<usize>>>,
    /// Forbidden displacements that are coordinates, since a reaction was asked for.
    pub released: Vec<usize>,
    /// Its rows: where it closes, those of the table; where it is released, those that hold it.
    pub group: Option<usize>,
    /// Symbols that stand for its coordinates where guesses go down the tree.
    pub shadows: Vec<Vec<Symbol>>,
    pub geometry: Option<Arc<joints::Geometry>>,
}

/// All that was decided about machines.
#[derive(Default)]
pub(super) struct Machine<'a> {
    pub joints: Vec<Joint<'a>>,
    pub footing: FxHashMap<DefId, Footing>,
    /// The scope that holds the coordinates of a body or joint.
    pub inner: FxHashMap<DefId, ScopeId>,
    pub dimension: FxHashMap<DefId, usize>,
    /// What the braces of a part set a frame to.
    pub settings: FxHashMap<DefId, (&'a Expr, ScopeId, EnvId)>,
    alias: FxHashMap<DefId, Target>,
    pub by_statement: FxHashMap<(Span, ScopeId, EnvId), usize>,
    /// Whether everything is decided: before, nothing can be said of a pose.
    pub planned: bool,
    /// How many symbols stand for coordinates that are none.
    pub shadows: usize,
    pub absolute: bool,
    /// What is asked of joints, anywhere in the text but in `start`.
    pub asked: asked::Asked,
    /// Bodies and frames, parents first.
    pub order: Vec<DefId>,
    /// Values of joint coordinates that are no symbols, and the symbols that stand for them.
    pub shadow_of: FxHashMap<ExprId, Symbol>,
    /// The guesses for those.
    pub guesses: FxHashMap<Symbol, ExprId>,
    /// Sine and cosine of angles that are no coordinates, by their values.
    pub angles: FxHashMap<ExprId, (ExprId, ExprId)>,
    /// The values of angles in such start equations, by their left sides.
    pub given: FxHashMap<ExprId, ExprId>,
    /// Quaternions of free bodies by their rotations.
    pub rotations: FxHashMap<Vec<ExprId>, Vec<ExprId>>,
    /// First components of quaternions, which are 1 where nothing is said of them.
    pub balls: FxHashSet<Symbol>,
    /// Terms of T and L, with the body that one is the kinetic energy of.
    pub kinetic: Vec<(Option<DefId>, ExprId)>,
    /// Terms of V, with the body that one is the weight of in uniform gravity.
    pub potentials: Vec<(Option<DefId>, ExprId)>,
    /// Numbers of the parameters, and of how many.
    numbers: Option<(usize, FxHashMap<Symbol, f64>)>,
}

impl Machine<'_> {
    /// The symbols of the quaternion of a ball joint.
    pub fn ball_symbols(
        &self,
        joint: usize,
        coordinates: &[crate::system::Coordinate],
    ) -> Option<Vec<Symbol>> {
        let joint = &self.joints[joint];
        let at = joint.kind?.moves.iter().position(|&step| step == Move::Ball)?;
        let made = joint.coordinates.get(at)?.as_ref()?;
        Some(made.iter().map(|&at| coordinates[at].position).collect())
    }
}

impl<'a> Resolver<'a, '_> {
    /// Enters the name of a joint.
    pub(super) fn enter_joint(&mut self, instance: Instance<'a>) -> Eval<()> {
        let Instance { statement, scope, env } = instance;
        let StatementKind::Joint { entry, kind, sides, fields, is_loop } = &statement.kind else {
            return Ok(());
        };
        let indices = self.indices(&entry.indices, self.constant_cx(scope, env))?;
        let at = self.machine.joints.len();
        let def = self.new_def(DefKind::Joint(at), scope, env, entry.span);
        let known = JointKind::named(&kind.text);
        self.machine.by_statement.insert((statement.span, scope, env), at);
        self.machine.joints.push(Joint {
            def,
            instance,
            name: self.full_name(scope, &entry.name.text, &indices),
            indexed: !indices.is_empty(),
            kind: known,
            sides,
            fields,
            is_loop: *is_loop,
            targets: None,
            dimension: 3,
            carries: false,
            coordinates: Vec::new(),
            released: Vec::new(),
            group: None,
            shadows: Vec::new(),
            geometry: None,
        });
        self.enter_name(&entry.name, indices, Kind::Joint, def, scope)?;
        match known {
            Some(_) => Ok(()),
            None => Err(self.already(kind.span)),
        }
    }

    /// Decides what carries what, and enters the coordinates that follow.
    pub(super) fn plan_machines(&mut self, file: &'a File) {
        self.choose_coordinates();
        self.look_for_members(file);
        self.find_targets();
        self.find_footings();
        self.put_in_order();
        self.find_dimensions();
        self.machine_coordinates();
        self.machine.planned = true;
    }

    /// `run …, coordinates absolute`.
    fn choose_coordinates(&mut self) {
        for instance in self.instances.clone() {
            let StatementKind::Run(options) = &instance.statement.kind else { continue };
            for option in options.iter().filter(|_| instance.scope == ScopeId(0)) {
                let RunOption::Coordinates(name) = option else { continue };
                match &*name.text {
                    "absolute" => self.machine.absolute = true,
                    "relative" => {}
                    other => {
                        let message = format!("there are no coordinates named `{other}`");
                        self.report(
                            Diagnostic::fault(Code::RunOption, name.span, message)
                                .hint("coordinates are `relative` or `absolute`"),
                        );
                    }
                }
            }
        }
        if let Some(absolute) = self.absolute {
            self.machine.absolute = absolute;
        }
    }

    fn find_targets(&mut self) {
        let mut settings: Vec<_> =
            self.machine.settings.iter().map(|(&def, &value)| (def, value)).collect();
        settings.sort_by_key(|(def, _)| def.0);
        for (def, (value, scope, env)) in settings {
            let cx = Cx { scope, env, locals: None, constant: false };
            if let Some(target) = self.settle(|r| r.target(value, cx)) {
                self.machine.alias.insert(def, target);
            }
        }
        for at in 0..self.machine.joints.len() {
            let Joint { instance, sides, kind: Some(_), .. } = self.machine.joints[at] else {
                continue;
            };
            let cx = self.scope_cx(&instance);
            let found = self.settle(|r| {
                let (first, second) = (r.target(&sides[0].of, cx), r.target(&sides[1].of, cx));
                Ok([first?, second?])
            });
            let found = found.map(|pair| pair.map(|target| self.real(target)));
            if let Some([first, second]) = found
                && first == second
            {
                self.report(
                    Diagnostic::fault(
                        Code::NothingToJoin,
                        sides[1].of.span,
                        "this joint joins a thing with itself",
                    )
                    .with(sides[0].of.span, "the same")
                    .hint("the two sides are two bodies, or a body and `ground`"),
                );
                continue;
            }
            self.machine.joints[at].targets = found;
        }
    }

    /// What the braces of a part set a frame to stands for it.
    pub(super) fn real(&self, mut target: Target) -> Target {
        for _ in 0..=self.machine.alias.len() {
            match target {
                Target::Def(def) => match self.machine.alias.get(&def) {
                    Some(&other) => target = other,
                    None => return target,
                },
                Target::Ground => return target,
            }
        }
        // Frames that are set to each other.
        Target::Ground
    }

    fn find_footings(&mut self) {
        for index in 0..self.defs.len() {
            let def = DefId(index as u32);
            let Def { kind: DefKind::Body { fields, what, on }, scope, env, .. } = self.defs[index]
            else {
                continue;
            };
            let has = |name: &str| fields.iter().any(|f| &*f.name.text == name);
            let footing = if let Some(on) = on {
                let cx = Cx { scope, env, locals: None, constant: false };
                match self.settle(|r| r.target(on, cx)) {
                    Some(target) => Footing::On(self.real(target)),
                    None => Footing::Broken,
                }
            } else if has("free") {
                Footing::Free(None)
            } else if has("at") || has("turning") || what == What::Particle {
                Footing::Placed
            } else {
                continue;
            };
            self.machine.footing.insert(def, footing);
        }
        let mut carried: FxHashMap<DefId, usize> = FxHashMap::default();
        for at in 0..self.machine.joints.len() {
            let joint = &self.machine.joints[at];
            let Some([_, Target::Def(second)]) = joint.targets else { continue };
            if joint.is_loop {
                continue;
            }
            if let Some(&other) = carried.get(&second) {
                let (span, first) = (
                    joint.instance.statement.span,
                    self.machine.joints[other].instance.statement.span,
                );
                let name = self.machine.joints[other].name.clone();
                self.machine.joints[at].targets = None;
                self.report(
                    Diagnostic::fault(
                        Code::CarriedTwice,
                        span,
                        format!("two joints carry the same body; `{name}` does already"),
                    )
                    .with(first, "the one that carries it")
                    .hint("write `loop` in place of `joint` for the one that closes the loop"),
                );
                continue;
            }
            if self.machine.footing.contains_key(&second) {
                continue;
            }
            carried.insert(second, at);
        }
        for (&body, &at) in &carried {
            let is_body =
                matches!(self.defs[body.0 as usize].kind, DefKind::Body { what: What::Body, .. });
            let footing = match self.machine.absolute && is_body {
                true => Footing::Free(Some(at)),
                false => {
                    self.machine.joints[at].carries = true;
                    Footing::Carried(at)
                }
            };
            self.machine.footing.insert(body, footing);
        }
        self.without_place();
    }

    /// Bodies that nothing holds anywhere.
    fn without_place(&mut self) {
        let mut told: FxHashSet<Span> = FxHashSet::default();
        for index in 0..self.defs.len() {
            let def = DefId(index as u32);
            let Def { kind: DefKind::Body { what, .. }, span, .. } = self.defs[index] else {
                continue;
            };
            if self.machine.footing.contains_key(&def) || self.machine.alias.contains_key(&def) {
                continue;
            }
            self.machine.footing.insert(def, Footing::Broken);
            // A joint that could not be read, or has the word of another tool, may be the one.
            let is_joint = |d: &Diagnostic| matches!(d.code, Code::JointKind | Code::ForeignWord);
            let unread = self.machine.joints.iter().any(|j| j.targets.is_none())
                || self.diagnostics.iter().any(is_joint);
            if unread || !told.insert(span) {
                continue;
            }
            let what = if what == What::Body { "body" } else { "frame" };
            let hint = match what {
                "body" => {
                    "give it one with `at …, turning …`, write `free`, or make it the second side of a `joint`"
                }
                _ => {
                    "give it one with `at …`, fix it with `on b`, or make it the second side of a `joint`"
                }
            };
            self.report(
                Diagnostic::fault(
                    Code::BodyWithoutPlace,
                    span,
                    format!("this {what} has no place"),
                )
                .hint(hint),
            );
        }
    }

    /// The thing that a body or frame stands on.
    pub(super) fn parent(&self, def: DefId) -> Option<Target> {
        match self.machine.footing.get(&def)? {
            Footing::On(target) => Some(*target),
            Footing::Carried(at) | Footing::Free(Some(at)) => {
                self.machine.joints[*at].targets.map(|targets| targets[0])
            }
            _ => None,
        }
    }

    /// Parents before children; a circle of joints is a fault.
    fn put_in_order(&mut self) {
        let mut defs: Vec<DefId> = self.machine.footing.keys().copied().collect();
        defs.sort_by_key(|def| def.0);
        let mut done: FxHashSet<DefId> = FxHashSet::default();
        for def in defs {
            let mut path: Vec<DefId> = Vec::new();
            let mut places: FxHashMap<DefId, usize> = FxHashMap::default();
            let mut next = Some(def);
            while let Some(at) = next.filter(|at| !done.contains(at)) {
                if let Some(&from) = places.get(&at) {
                    self.report_carry_cycle(&path[from..]);
                    break;
                }
                places.insert(at, path.len());
                path.push(at);
                next = match self.parent(at) {
                    Some(Target::Def(parent)) => Some(parent),
                    _ => None,
                };
            }
            for at in path.into_iter().rev() {
                if done.insert(at) {
                    self.machine.order.push(at);
                }
            }
        }
    }

    fn report_carry_cycle(&mut self, circle: &[DefId]) {
        let spans: Vec<Span> = circle
            .iter()
            .map(|def| match self.machine.footing.get(def) {
                Some(Footing::Carried(at) | Footing::Free(Some(at))) => {
                    self.machine.joints[*at].instance.statement.span
                }
                _ => self.defs[def.0 as usize].span,
            })
            .collect();
        for def in circle {
            self.machine.footing.insert(*def, Footing::Broken);
        }
        let Some((&first, others)) = spans.split_first() else { return };
        let mut diagnostic = Diagnostic::fault(
            Code::CarryCycle,
            first,
            "these joints carry each other in a circle, and nothing holds them",
        );
        for &other in others.iter().rev().take(3) {
            diagnostic = diagnostic.with(other, "by way of this one");
        }
        self.report(diagnostic.hint("one side must lead to `ground`, or one body be `free`"));
    }

    /// Plane or space: what is joined is of one kind.
    fn find_dimensions(&mut self) {
        let mut leader: FxHashMap<DefId, DefId> = FxHashMap::default();
        fn lead(leader: &FxHashMap<DefId, DefId>, mut def: DefId) -> DefId {
            while let Some(&next) = leader.get(&def) {
                def = next;
            }
            def
        }
        let mut pairs: Vec<(DefId, DefId)> = Vec::new();
        for joint in &self.machine.joints {
            if let Some([Target::Def(a), Target::Def(b)]) = joint.targets {
                pairs.push((a, b));
            }
        }
        for (&def, &footing) in &self.machine.footing {
            if let Footing::On(Target::Def(other)) = footing {
                pairs.push((def, other));
            }
        }
        for (a, b) in pairs {
            let (a, b) = (lead(&leader, a), lead(&leader, b));
            if a != b {
                leader.insert(a.max_of(b), a.min_of(b));
            }
        }
        let order = self.machine.order.clone();
        let targets = self.machine.joints.iter().filter_map(|joint| joint.targets).flatten();
        let joined: FxHashSet<DefId> = targets
            .filter_map(|target| match target {
                Target::Def(def) => Some(def),
                Target::Ground => None,
            })
            .collect();
        let mut known: FxHashMap<DefId, usize> = FxHashMap::default();
        for &def in &order {
            let group = lead(&leader, def);
            if !known.contains_key(&group)
                && let Some(n) = self.own_dimension(def, &joined)
            {
                known.insert(group, n);
            }
        }
        for at in 0..self.machine.joints.len() {
            let joint = &self.machine.joints[at];
            let Some(targets) = joint.targets else { continue };
            let axis = joint.fields.iter().find(|f| &*f.name.text == "axis").map(|f| &f.value);
            let length = axis.and_then(literal_length);
            for target in targets {
                if let (Target::Def(def), Some(n @ 2..=3)) = (target, length) {
                    known.entry(lead(&leader, def)).or_insert(n);
                }
            }
        }
        let otherwise = known.values().copied().min().unwrap_or(3);
        for &def in &order {
            let n = known.get(&lead(&leader, def)).copied().unwrap_or(otherwise);
            self.machine.dimension.insert(def, n);
        }
        for joint in &mut self.machine.joints {
            let of = |target: &Target| match target {
                Target::Def(def) => self.machine.dimension.get(def).copied(),
                Target::Ground => None,
            };
            joint.dimension = joint.targets.iter().flatten().find_map(of).unwrap_or(otherwise);
        }
    }

    /// What a body says of its dimension by itself.
    fn own_dimension(&mut self, def: DefId, joined: &FxHashSet<DefId>) -> Option<usize> {
        let Def { kind: DefKind::Body { fields, what, .. }, scope, env, .. } =
            self.defs[def.0 as usize]
        else {
            return None;
        };
        // Bodies of part 1 that nothing joins are not looked at here.
        if self.machine.footing.get(&def) == Some(&Footing::Placed) && !joined.contains(&def) {
            return None;
        }
        let cx = Cx { scope, env, locals: None, constant: false };
        let of = |name: &str| fields.iter().find(|f| &*f.name.text == name);
        if let (What::Body, Some(inertia)) = (what, of("inertia")) {
            return match &inertia.value.kind {
                ExprKind::Number(_) => Some(2),
                ExprKind::List(_) => Some(3),
                _ => {
                    self.settle(|r| r.eval(&inertia.value, cx)).map(|value| match value.scalar() {
                        Some(_) => 2,
                        None => 3,
                    })
                }
            };
        }
        let at = of("at")?;
        match &at.value.kind {
            ExprKind::List(list) => Some(list.len()),
            _ => self.settle(|r| r.eval(&at.value, cx)).map(|value| value.components().len()),
        }
        .filter(|n| (2..=3).contains(n))
    }

    /// The machine as the system keeps it.
    pub(super) fn machine_tree(&mut self) -> Tree {
        let mut tree = Tree::default();
        if self.machine.order.is_empty() {
            return tree;
        }
        let names = self.link_names();
        let joined: FxHashSet<Target> =
            self.machine.joints.iter().filter_map(|joint| joint.targets).flatten().collect();
        let mut places: FxHashMap<DefId, usize> = FxHashMap::default();
        let heavy: FxHashSet<DefId> =
            self.machine.potentials.iter().filter_map(|term| term.0).collect();
        for def in self.machine.order.clone() {
            let footing = self.machine.footing.get(&def).copied().unwrap_or(Footing::Broken);
            let Some(Some(body)) = self.bodies.get(&def).cloned() else { continue };
            let of = |target: Target| match target {
                Target::Def(def) => places.get(&def).copied(),
                Target::Ground => None,
            };
            let stands = match footing {
                Footing::Placed if joined.contains(&Target::Def(def)) => Stands::Placed,
                Footing::Placed | Footing::Broken => continue,
                Footing::Free(by) => Stands::Free(by),
                Footing::On(target) => Stands::On(of(target)),
                Footing::Carried(at) => Stands::Carried(at),
            };
            places.insert(def, tree.links.len());
            let span = self.defs[def.0 as usize].span;
            let inertia = match &body.attitude {
                Attitude::Point => Vec::new(),
                Attitude::Plane { inertia, .. } => vec![*inertia],
                Attitude::Space { inertia, .. } => inertia.to_vec(),
            };
            let rotation = self.rotation_of(&body).components().to_vec();
            let steps = self.settle(|r| r.steps_of(def, footing, &body)).flatten();
            tree.links.push(Link {
                position: body.position.clone(),
                gravity: match heavy.contains(&def) {
                    true => self.gravity_seen.clone().unwrap_or_default(),
                    false => Vec::new(),
                },
                steps,
                name: names.get(&def).cloned().unwrap_or_default(),
                mass: body.mass,
                center: body.center.clone(),
                inertia,
                origin: body.origin.clone(),
                rotation,
                kinetic: self.kinetic_of(&body),
                stands,
                span,
            });
        }
        let others = self.machine.kinetic.iter();
        let others = others.filter(|(of, _)| of.is_none_or(|def| !places.contains_key(&def)));
        tree.others = others.map(|term| term.1).collect();
        let potentials = self.machine.potentials.iter();
        let potentials =
            potentials.filter(|(of, _)| of.is_none_or(|def| !places.contains_key(&def)));
        tree.potentials = potentials.map(|term| term.1).collect();
        for at in 0..self.machine.joints.len() {
            let joint = &self.machine.joints[at];
            let (Some(kind), Some(targets)) = (joint.kind, joint.targets) else { continue };
            let found = self.settle(|r| {
                let (point, geometry) = (r.attached(at, 0)?.origin, r.geometry(at)?);
                let carries = r.machine.joints[at].carries;
                let motion = if carries { Some(r.own_motion(at)?) } else { None };
                let (aligned, turns) = (r.joint_aligned(at)?, r.turns_of(at)?);
                Ok((point, geometry, motion, aligned, turns))
            });
            let Some((point, geometry, motion, aligned, turns)) = found else { continue };
            let attachments = [0, 1].map(|side| {
                let (at, turn) = &geometry.sides[side];
                let turning = match turn {
                    Turn::Plane(angle) => vec![*angle],
                    Turn::Space(rotation) => rotation.components().to_vec(),
                };
                Attachment { at: at.clone(), turning }
            });
            let joint = &self.machine.joints[at];
            tree.joints.push(crate::system::Joint {
                name: joint.name.clone(),
                kind: kind.word,
                sides: targets.map(|target| match target {
                    Target::Def(def) => places.get(&def).copied(),
                    Target::Ground => None,
                }),
                carries: joint.carries,
                coordinates: joint.coordinates.iter().flatten().flatten().copied().collect(),
                released: joint.released.clone(),
                point,
                attachments,
                motion,
                aligned,
                turns,
                span: joint.instance.statement.span,
            });
        }
        tree
    }

    /// The full names of bodies, particles and frames.
    fn link_names(&mut self) -> FxHashMap<DefId, String> {
        let mut names = FxHashMap::default();
        for Instance { statement, scope, env } in self.instances.clone() {
            let entry = match &statement.kind {
                StatementKind::Body { entry, .. }
                | StatementKind::Particle { entry, .. }
                | StatementKind::Frame { entry, .. } => entry,
                _ => continue,
            };
            let Some(&def) = self.body_defs.get(&(statement.span, scope, env)) else { continue };
            let cx = self.constant_cx(scope, env);
            let indices = self.indices(&entry.indices, cx).unwrap_or_default();
            names.insert(def, self.full_name(scope, &entry.name.text, &indices));
        }
        names
    }

    /// The number of an expression of parameters, if all are known. Not kept: parameters of
    /// parts turn up as long as definitions are evaluated.
    pub(super) fn number_now(&mut self, id: ExprId) -> Option<f64> {
        if let Some(number) = self.exprs.as_number(id) {
            return Some(number.to_f64());
        }
        if self.mask(id) & !role::PARAMETER != 0 {
            return None;
        }
        let count = self.parts.parameters.len();
        if self.machine.numbers.as_ref().is_none_or(|(of, _)| *of != count) {
            let values = crate::parameters::values(&self.exprs, &self.parts.parameters);
            self.machine.numbers = Some((count, values));
        }
        let values = &self.machine.numbers.as_ref()?.1;
        let symbols = self.exprs.symbols_of(&[id]);
        if symbols.iter().any(|s| !values.contains_key(s) && *s != Symbol::PI) {
            return None;
        }
        let value = self.exprs.eval_f64(&[id], |s| match s {
            Symbol::PI => std::f64::consts::PI,
            _ => values.get(&s).copied().unwrap_or(f64::NAN),
        })[0];
        value.is_finite().then_some(value)
    }
}

impl DefId {
    fn max_of(self, other: DefId) -> DefId {
        DefId(self.0.max(other.0))
    }

    fn min_of(self, other: DefId) -> DefId {
        DefId(self.0.min(other.0))
    }
}

/// The length of a vector that is written out, or of the vectors in a list.
fn literal_length(expr: &Expr) -> Option<usize> {
    let ExprKind::List(list) = &expr.kind else { return None };
    match &list.first()?.kind {
        ExprKind::List(inner) => Some(inner.len()),
        ExprKind::Number(_) | ExprKind::Negative(_) => Some(list.len()),
        _ => None,
    }
}
