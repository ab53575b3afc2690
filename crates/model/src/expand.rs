//! A system as text of part 1: coordinates, energies, forces and constraints, without joints, frames,
//! springs or loops. It reads back as the same system.
//!
//! The tree of a machine is printed link by link, each pose by that of its parent, so that the
//! text of a long chain is as long as the chain:
//!
//! ```text
//! let shank_R = thigh_R*Rx(knee_angle)
//! let shank_o = thigh_o + thigh_R*[0, 0, -l]
//! body shank: mass m, inertia [A, B, C], at shank_o + shank_R*c, turning shank_R
//! ```
//!
//! Everything else comes from the expressions of the system, with what they have in common named
//! `w1`, `w2`, …. Names with dots become names with underscores: `knee.angle` is `knee_angle`.

use crate::system::{
    Action, Attachment, Change, Energy, Impacts, Joint, JointTurn, Link, Model, Motion, OfTouch,
    Stands, Touched, Unknown,
};
use crate::tree::{Direction, Shape, StartRelation};
use dalembert_expr::{ExprId, Exprs, Symbol, SymbolKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// The text of a model without machine words. Inputs stay what they are, with what a run takes for
/// them.
pub fn expand(model: &Model) -> String {
    Expander::new(&model.opened()).text()
}

struct Expander<'m> {
    model: &'m Model,
    /// A copy, to which the symbols with other names are added.
    exprs: Exprs,
    names: Names,
    symbols: Vec<(Symbol, ExprId)>,
    out: String,
}

/// Names of part 1 for names with dots.
#[derive(Default)]
struct Names {
    taken: FxHashSet<String>,
    bases: FxHashMap<String, String>,
}

impl Names {
    /// `left[2].knee.angle[1]` → `left_2_knee_angle[1]`.
    fn of(&mut self, full: &str) -> String {
        let dot = full.rfind('.').unwrap_or(0);
        let cut = full[dot..].find('[').map_or(full.len(), |at| dot + at);
        let (base, indices) = full.split_at(cut);
        if let Some(known) = self.bases.get(base) {
            return format!("{known}{indices}");
        }
        let name = self.fresh(&flat(base));
        self.bases.insert(base.to_owned(), name.clone());
        format!("{name}{indices}")
    }

    /// A name that nothing else has.
    fn fresh(&mut self, plain: &str) -> String {
        let mut name = plain.to_owned();
        while crate::lexicon::is_reserved(&name) || !self.taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

impl<'m> Expander<'m> {
    /// What belongs to a contact or friction.
    fn touch_text(&self, of: OfTouch) -> Option<String> {
        let system = &self.model.system;
        let friction = |at: usize| system.frictions.get(at);
        let contact = |at: usize| system.contacts.get(at).map(|c| label(&c.name));
        Some(match of {
            OfTouch::Normal(at) | OfTouch::Impulse(at) => format!("multiplier({})", contact(at)?),
            OfTouch::ContactMode(at) => format!("{}.mode", contact(at)?),
            OfTouch::FrictionMode(at) => format!("{}.mode", label(&friction(at)?.name)),
            OfTouch::Force(at, component) => {
                let friction = friction(at)?;
                match (friction.contact, friction.slip.len()) {
                    // N comes first.
                    (Some(of), _) => format!("{}.force[{}]", contact(of)?, component + 2),
                    (None, 1) => format!("{}.force", label(&friction.name)),
                    (None, _) => format!("{}.force[{}]", label(&friction.name), component + 1),
                }
            }
        })
    }

    fn new(model: &'m Model) -> Self {
        let exprs = model.exprs.clone();
        let system = &model.system;
        let mut names = Names::default();
        // Names without dots stay what they are.
        let plain = |full: &&String| !full.contains('.');
        let parameters = system.parameters.iter().map(|p| &p.name);
        let coordinates = system.coordinates.iter().map(|c| &c.name);
        let given = system.inputs.iter().map(|u| &u.name);
        let states = system.states.iter().map(|z| &z.name);
        let speeds = system.speeds.iter().map(|s| &s.name);
        let all = parameters.chain(coordinates).chain(given).chain(states).chain(speeds);
        let all: Vec<String> = all.filter(plain).cloned().collect();
        for full in &all {
            names.of(full);
        }
        let mut symbols = Vec::new();
        for parameter in &system.parameters {
            let symbol = exprs.symbol(&names.of(&parameter.name), SymbolKind::Constant);
            symbols.push((parameter.symbol, exprs.of_symbol(symbol)));
        }
        for c in &system.coordinates {
            let name = names.of(&c.name);
            let position = exprs.symbol(&name, SymbolKind::Variable);
            let momentum = exprs.symbol(&format!("p_{name}"), SymbolKind::Variable);
            let rate = |symbol: Symbol| exprs.rate(symbol).unwrap_or(symbol);
            let velocity = rate(position);
            for (old, new) in [
                (c.position, position),
                (c.velocity, velocity),
                (c.acceleration, rate(velocity)),
                (c.momentum, momentum),
                (c.momentum_rate, rate(momentum)),
            ] {
                symbols.push((old, exprs.of_symbol(new)));
            }
        }
        for input in &system.inputs {
            let mut new = exprs.symbol(&names.of(&input.name), SymbolKind::Variable);
            for old in [input.symbol, input.rate, input.second] {
                symbols.push((old, exprs.of_symbol(new)));
                new = exprs.rate(new).unwrap_or(new);
            }
        }
        for state in &system.states {
            let new = exprs.symbol(&names.of(&state.name), SymbolKind::Variable);
            symbols.push((state.symbol, exprs.of_symbol(new)));
        }
        let mut expander = Expander { model, exprs, names, symbols, out: String::new() };
        for &(symbol, unknown) in &system.unknowns {
            let row = |row: usize| system.constraints.get(row).map(|c| c.name.clone());
            let coordinate = |at: usize| expander.names.of(&system.coordinates[at].name);
            let text = match unknown {
                Unknown::Multiplier(at) => {
                    row(at).map(|row| format!("multiplier({})", label(&row)))
                }
                Unknown::Reaction(at) => {
                    let mut coordinate = coordinate;
                    Some(format!("reaction({})", coordinate(at)))
                }
                Unknown::Touch(of) => expander.touch_text(of),
                Unknown::Share(at, of) => {
                    let mut coordinate = coordinate;
                    let name = coordinate(at);
                    row(of).map(|row| format!("reaction({name}, {})", label(&row)))
                }
            };
            if let Some(text) = text {
                let new = expander.exprs.symbol(&text, SymbolKind::Variable);
                let new = expander.exprs.of_symbol(new);
                expander.symbols.push((symbol, new));
            }
        }
        expander
    }

    fn renamed(&self, ids: &[ExprId]) -> Vec<ExprId> {
        self.exprs.substitute(ids, &self.symbols)
    }

    /// One short expression.
    fn source(&self, id: ExprId) -> String {
        self.exprs.to_source(self.renamed(&[id])[0])
    }

    fn vector(&self, ids: &[ExprId]) -> String {
        let list: Vec<String> = ids.iter().map(|&id| self.source(id)).collect();
        format!("[{}]", list.join(", "))
    }

    fn matrix(&self, ids: &[ExprId]) -> String {
        let n = if ids.len() == 9 { 3 } else { 2 };
        let rows: Vec<String> = ids.chunks(n).map(|row| self.vector(row)).collect();
        format!("[{}]", rows.join(", "))
    }

    fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn text(mut self) -> String {
        let system = &self.model.system;
        if !system.title.is_empty() {
            self.line(&format!("system {}", system.title));
        }
        for parameter in &system.parameters {
            let name = self.names.of(&parameter.name);
            match parameter.value {
                Some(value) => {
                    let value = self.source(value);
                    self.line(&format!("param {name} = {value}"));
                }
                None => self.line(&format!("param {name}")),
            }
        }
        for coordinate in &system.coordinates {
            let name = self.names.of(&coordinate.name);
            self.line(&format!("coord {name}"));
        }
        for input in &system.inputs {
            let name = self.names.of(&input.name);
            match input.value {
                Some(value) => {
                    let value = self.source(value);
                    self.line(&format!("input {name} = {value}"));
                }
                None => self.line(&format!("input {name}")),
            }
        }
        self.tables();
        let bodies = self.links();
        self.expressions(bodies);
        self.out
    }

    /// The tables that occur, by their points.
    fn tables(&mut self) {
        let mut seen = FxHashSet::default();
        for (id, _, _) in self.exprs.tables(&self.model.system.roots()) {
            let Some(table) = id.table().filter(|_| seen.insert(id)) else { continue };
            let points = table.breaks().iter().zip(table.values());
            let points: Vec<String> = points.map(|(x, y)| format!("[{x:?}, {y:?}]")).collect();
            let mut line = format!("table {} = [{}]", table.name(), points.join(", "));
            for word in table.words() {
                let _ = write!(line, ", {word}");
            }
            self.line(&line);
        }
    }

    /// The tree, and the kinetic energies of the bodies in it.
    fn links(&mut self) -> Vec<ExprId> {
        let tree = &self.model.system.tree;
        let mut poses: Vec<(String, String)> = Vec::with_capacity(tree.links.len());
        let mut energies = Vec::new();
        for link in &tree.links {
            let (turn, origin) = match link.stands {
                Stands::Carried(at) => self.carried(link, &tree.joints[at], &poses),
                Stands::Free(_) => {
                    let stem = link.name.clone();
                    let origin = self.names.of(&format!("{stem}.r"));
                    let turn = match link.rotation.len() {
                        9 => format!("Rq({})", self.names.of(&format!("{stem}.e"))),
                        _ => self.names.of(&format!("{stem}.angle")),
                    };
                    (turn, origin)
                }
                _ => (self.rotation(link), self.vector(&link.origin)),
            };
            let stem = flat(&link.name);
            let (turn_name, origin_name) =
                (self.names.fresh(&format!("{stem}_R")), self.names.fresh(&format!("{stem}_o")));
            if !link.rotation.is_empty() {
                self.line(&format!("let {turn_name} = {turn}"));
            }
            self.line(&format!("let {origin_name} = {origin}"));
            poses.push((turn_name.clone(), origin_name.clone()));
            if link.mass == ExprId::ZERO || link.inertia.is_empty() {
                continue;
            }
            let name = self.names.fresh(&stem);
            let (mass, inertia) = (self.source(link.mass), self.inertia(link));
            let still = link.center.iter().all(|&e| e == ExprId::ZERO);
            let middle = match (still, link.inertia.len()) {
                (true, _) => origin_name,
                (false, 1) => format!("{origin_name} + {}", self.turned(&turn_name, &link.center)),
                (false, _) => {
                    format!("{origin_name} + {turn_name}*{}", self.vector(&link.center))
                }
            };
            self.line(&format!(
                "body {name}: mass {mass}, inertia {inertia}, at {middle}, turning {turn_name}"
            ));
            energies.push(link.kinetic);
        }
        energies
    }

    fn inertia(&self, link: &Link) -> String {
        let j = &link.inertia;
        let zero = |at: &[usize]| at.iter().all(|&at| j[at] == ExprId::ZERO);
        match j.as_slice() {
            [one] => self.source(*one),
            _ if zero(&[1, 2, 5]) => self.vector(&[j[0], j[4], j[8]]),
            _ => self.matrix(j),
        }
    }

    fn rotation(&self, link: &Link) -> String {
        match link.rotation.as_slice() {
            // The angle of a plane body is not kept; that of its matrix serves.
            [cosine, _, sine, _] => {
                format!("atan2({}, {})", self.source(*sine), self.source(*cosine))
            }
            nine => self.matrix(nine),
        }
    }

    /// R v of an angle in the plane, written out.
    fn turned(&self, angle: &str, v: &[ExprId]) -> String {
        let (x, y) = (self.source(v[0]), self.source(v[1]));
        format!(
            "[({x})*cos({angle}) - ({y})*sin({angle}), ({x})*sin({angle}) + ({y})*cos({angle})]"
        )
    }

    /// Turn and origin of a link that a joint carries, by those of its parent.
    fn carried(&self, link: &Link, joint: &Joint, poses: &[(String, String)]) -> (String, String) {
        let Some(motion) = &joint.motion else {
            return (self.rotation(link), self.vector(&link.origin));
        };
        let parent = joint.sides[0].and_then(|at| poses.get(at));
        match link.rotation.len() {
            9 => self.carried_in_space(joint, motion, parent),
            _ => self.carried_in_plane(joint, motion, parent),
        }
    }

    fn carried_in_plane(
        &self,
        joint: &Joint,
        motion: &Motion,
        parent: Option<&(String, String)>,
    ) -> (String, String) {
        let [first, second] = &joint.attachments;
        let zero = |v: &[ExprId]| v.iter().all(|&e| e == ExprId::ZERO);
        let mut angle: Vec<String> = Vec::new();
        let mut origin: Vec<String> = Vec::new();
        if let Some((turn, at)) = parent {
            angle.push(turn.clone());
            origin.push(at.clone());
            if !zero(&first.at) {
                origin.push(self.turned(turn, &first.at));
            }
        } else {
            origin.push(self.vector(&first.at));
        }
        if !zero(&first.turning) {
            angle.push(format!("({})", self.source(first.turning[0])));
        }
        if !zero(&motion.along) {
            let attached = if angle.is_empty() { "0".to_owned() } else { angle.join(" + ") };
            origin.push(self.turned(&attached, &motion.along));
        }
        if !zero(&motion.displaced) {
            origin.push(self.vector(&motion.displaced));
        }
        for turn in &motion.turns {
            if let JointTurn::Plane(by) = turn {
                angle.push(format!("({})", self.source(*by)));
            }
        }
        if !zero(&second.turning) {
            angle.push(format!("(-({}))", self.source(second.turning[0])));
        }
        let angle = if angle.is_empty() { "0".to_owned() } else { angle.join(" + ") };
        if !zero(&second.at) {
            let back: Vec<ExprId> = second.at.iter().map(|&e| (-self.exprs.at(e)).id).collect();
            origin.push(self.turned(&angle, &back));
        }
        (angle, origin.join(" + "))
    }

    fn carried_in_space(
        &self,
        joint: &Joint,
        motion: &Motion,
        parent: Option<&(String, String)>,
    ) -> (String, String) {
        let [first, second] = &joint.attachments;
        let zero = |v: &[ExprId]| v.iter().all(|&e| e == ExprId::ZERO);
        let mut factors: Vec<String> = parent.iter().map(|(turn, _)| turn.clone()).collect();
        let product = |factors: &[String], v: String| match factors {
            [] => v,
            _ => format!("{}*{v}", factors.join("*")),
        };
        let mut origin: Vec<String> = parent.iter().map(|(_, at)| at.clone()).collect();
        if !zero(&first.at) || origin.is_empty() {
            origin.push(product(&factors, self.vector(&first.at)));
        }
        factors.extend(self.attachment_turn(first, false));
        if !zero(&motion.along) {
            origin.push(product(&factors, self.vector(&motion.along)));
        }
        if !zero(&motion.displaced) {
            origin.push(self.vector(&motion.displaced));
        }
        for turn in &motion.turns {
            factors.push(match turn {
                JointTurn::About(axis, angle) => self.about(axis, *angle),
                JointTurn::Quaternion(e) => format!("Rq({})", self.vector(e)),
                JointTurn::Plane(_) => continue,
            });
        }
        factors.extend(self.attachment_turn(second, true));
        if factors.is_empty() {
            factors.push("Rz(0)".to_owned());
        }
        if !zero(&second.at) {
            let back: Vec<ExprId> = second.at.iter().map(|&e| (-self.exprs.at(e)).id).collect();
            origin.push(product(&factors, self.vector(&back)));
        }
        (factors.join("*"), origin.join(" + "))
    }

    /// The turn of an attachment, unless it has none.
    fn attachment_turn(&self, attachment: &Attachment, back: bool) -> Option<String> {
        let turn = &attachment.turning;
        let is_none = turn
            .iter()
            .enumerate()
            .all(|(at, &e)| e == if at % 4 == 0 { ExprId::ONE } else { ExprId::ZERO });
        (!is_none).then(|| match back {
            true => format!("transpose({})", self.matrix(turn)),
            false => self.matrix(turn),
        })
    }

    /// The turn about an axis of the frame, or of the quaternion with this axis.
    fn about(&self, axis: &[ExprId; 3], angle: ExprId) -> String {
        let (angle, negative) = (self.source(angle), (-self.exprs.at(ExprId::ONE)).id);
        for (k, name) in ["Rx", "Ry", "Rz"].into_iter().enumerate() {
            if axis[k] == ExprId::ONE {
                return format!("{name}({angle})");
            }
            if axis[k] == negative {
                return format!("{name}(-({angle}))");
            }
        }
        let part = |k: usize| format!("({})*sin(({angle})/2)", self.source(axis[k]));
        format!("Rq([cos(({angle})/2), {}, {}, {}])", part(0), part(1), part(2))
    }

    /// Energies, forces, constraints and what is asked of the motion.
    fn expressions(&mut self, bodies: Vec<ExprId>) {
        let system = &self.model.system;
        let mut roots: Vec<ExprId> = Vec::new();
        // Statements with places for expressions, `\u{1}`.
        let mut lines: Vec<String> = Vec::new();
        let put =
            |roots: &mut Vec<ExprId>, lines: &mut Vec<String>, line: String, ids: &[ExprId]| {
                roots.extend(ids);
                lines.push(line);
            };
        match &system.energy {
            Energy::Lagrangian { kinetic, potential, rest, .. } => {
                let others: Vec<ExprId> =
                    bodies.iter().map(|&e| (-self.exprs.at(e)).id).chain([*kinetic]).collect();
                let own = self.exprs.sum(&others);
                for (word, id) in
                    [("kinetic", own), ("potential", *potential), ("lagrangian", *rest)]
                {
                    if id != ExprId::ZERO || (word == "kinetic" && bodies.is_empty()) {
                        put(&mut roots, &mut lines, format!("{word} \u{1}"), &[id]);
                    }
                }
            }
            Energy::Hamiltonian { hamiltonian, .. } => {
                put(&mut roots, &mut lines, "hamiltonian \u{1}".into(), &[*hamiltonian]);
            }
        }
        let mut forces = system.forces.as_slice();
        if system.dissipation != ExprId::ZERO {
            put(&mut roots, &mut lines, "dissipation \u{1}".into(), &[system.dissipation]);
            // The last force is that of the function.
            forces = &forces[..forces.len().saturating_sub(1)];
        }
        let kinds = [("force", forces), ("nonideal", system.nonideal.as_slice())];
        for (word, list) in kinds {
            for (place, force) in list.iter().enumerate() {
                // Servo constraints write theirs down themselves.
                if word == "nonideal" && system.servos.iter().any(|s| s.force == place) {
                    continue;
                }
                for &(at, id) in &force.components {
                    let name = self.names.of(&system.coordinates[at].name);
                    put(&mut roots, &mut lines, format!("{word} {name}: \u{1}"), &[id]);
                }
            }
        }
        for servo in &system.servos {
            for u in &servo.inputs {
                let input = self.names.of(&u.name);
                put(&mut roots, &mut lines, format!("input {input}"), &[]);
                for &(at, id) in &u.column {
                    let name = self.names.of(&system.coordinates[at].name);
                    put(&mut roots, &mut lines, format!("force {name}: (\u{1})*{input}"), &[id]);
                }
            }
            let inputs: Vec<String> = servo.inputs.iter().map(|u| self.names.of(&u.name)).collect();
            let mut head = format!("constraint {} by {}", label(&servo.label), inputs.join(", "));
            let mut ids = Vec::new();
            if !servo.weight.is_empty() {
                let k = inputs.len();
                let row = vec!["\u{1}"; k].join(", ");
                let _ = write!(head, " weight [{}]", vec![format!("[{row}]"); k].join(", "));
                ids.extend(&servo.weight);
            }
            ids.extend(servo.rows.iter().map(|&row| system.constraints[row].residual));
            let line = match servo.rows.len() {
                1 => format!("{head}: \u{1} = 0"),
                m => {
                    let sides = [vec!["\u{1}"; m].join(", "), vec!["0"; m].join(", ")];
                    format!("{head}: [{}] = [{}]", sides[0], sides[1])
                }
            };
            put(&mut roots, &mut lines, line, &ids);
        }
        for row in system.constraints.iter().filter(|row| !row.servo) {
            let line = format!("constraint {}: \u{1} = 0", label(&row.name));
            put(&mut roots, &mut lines, line, &[row.residual]);
        }
        for (at, friction) in system.frictions.iter().enumerate() {
            if friction.contact.is_some() {
                continue;
            }
            let named = system.unknowns.iter().any(|(_, unknown)| match *unknown {
                Unknown::Touch(OfTouch::FrictionMode(of) | OfTouch::Force(of, _)) => of == at,
                _ => false,
            }) || system
                .events
                .iter()
                .any(|event| matches!(event.change, Some((Touched::Friction(of), _)) if of == at));
            let mut line = "friction ".to_owned();
            if named {
                let _ = write!(line, "{}: ", label(&friction.name));
            }
            let mut ids = vec![friction.bound];
            line.push_str("\u{1} along ");
            line.push_str(&places(friction.slip.len()));
            ids.extend(&friction.slip);
            if let Some(holds) = friction.static_bound {
                line.push_str(", static \u{1}");
                ids.push(holds);
            }
            put(&mut roots, &mut lines, line, &ids);
        }
        for contact in &system.contacts {
            let mut line = format!("contact {}: \u{1} >= 0", label(&contact.name));
            let mut ids = vec![contact.gap()];
            if contact.restitution != ExprId::ZERO {
                line.push_str(", restitution \u{1}");
                ids.push(contact.restitution);
            }
            if let Some(friction) = contact.friction.map(|at| &system.frictions[at]) {
                let _ = write!(line, ", sliding {}", places(friction.slip.len()));
                ids.extend(&friction.slip);
                // The bound is the coefficient times N.
                let coefficient = |bound: ExprId| self.exprs.gradient(bound, &[contact.normal])[0];
                line.push_str(", friction \u{1}");
                ids.push(coefficient(friction.bound));
                if let Some(holds) = friction.static_bound {
                    line.push_str(", static \u{1}");
                    ids.push(coefficient(holds));
                }
            }
            if let Some(condition) = contact.condition {
                line.push_str(", while \u{1} >= 0");
                ids.push(condition);
            }
            put(&mut roots, &mut lines, line, &ids);
        }
        for state in &system.states {
            let name = self.names.of(&state.name);
            put(&mut roots, &mut lines, format!("state {name}' = \u{1}"), &[state.written]);
        }
        for speed in &system.speeds {
            let name = self.names.of(&speed.name);
            put(&mut roots, &mut lines, format!("speed {name} = \u{1}"), &[speed.value]);
        }
        for start in &system.start {
            let sign = if start.relation == StartRelation::Equals { "=" } else { "~" };
            let line = format!("start \u{1} {sign} \u{1}");
            put(&mut roots, &mut lines, line, &[start.left, start.right]);
        }
        let run = &system.run;
        if run.span.is_some() {
            let mut line = "run t = \u{1}..\u{1}".to_owned();
            let mut ids = vec![run.from, run.to];
            for (word, id) in [("every", run.every), ("tol", run.tolerance)] {
                if let Some(id) = id {
                    let _ = write!(line, ", {word} \u{1}");
                    ids.push(id);
                }
            }
            if let Some(impacts) = run.impacts {
                line.push_str(match impacts {
                    Impacts::AtOnce => ", impacts at-once",
                    Impacts::InTurn => ", impacts in-turn",
                });
            }
            for (word, name) in [
                ("method", &run.method),
                ("formulation", &run.formulation),
                ("elimination", &run.elimination),
            ] {
                if let Some(name) = name {
                    let _ = write!(line, ", {word} {name}");
                }
            }
            put(&mut roots, &mut lines, line, &ids);
        }
        let demanded =
            |name: &String| system.servos.iter().flat_map(|s| &s.inputs).any(|u| u.name == *name);
        for observe in system.observes.iter().filter(|o| !demanded(&o.name)) {
            let is_output = system.outputs.iter().any(|output| output.name == observe.name);
            let word = if is_output { "output" } else { "observe" };
            let name = self.names.fresh(&identifier(&observe.name));
            put(&mut roots, &mut lines, format!("{word} {name} = \u{1}"), &[observe.value]);
        }
        for event in &system.events {
            let mut line = format!("event {}: ", label(&event.name));
            let mut ids = vec![event.period.unwrap_or(event.function)];
            match event.change {
                Some((of, change)) => {
                    let name = match of {
                        Touched::Contact(at) => &system.contacts[at].name,
                        Touched::Friction(at) => &system.frictions[at].name,
                    };
                    let word = match change {
                        Change::Closes => "closes",
                        Change::Opens => "opens",
                        Change::Sticks => "sticks",
                        Change::Slips => "slips",
                    };
                    let _ = write!(line, "{} {word}", label(name));
                    ids.clear();
                }
                None if event.period.is_some() => line.push_str("every \u{1}"),
                None => line.push_str("\u{1} = 0"),
            }
            line.push_str(match event.direction {
                Direction::Both => "",
                Direction::Rising => " rising",
                Direction::Falling => " falling",
            });
            match &event.action {
                Action::Record => {}
                Action::Stop => line.push_str(" -> stop"),
                Action::Reset(list) => {
                    let pairs = vec!["\u{1} = \u{1}"; list.len()].join(", ");
                    let _ = write!(line, " -> {pairs}");
                    ids.extend(list.iter().flat_map(|&(a, b)| [a, b]));
                }
            }
            put(&mut roots, &mut lines, line, &ids);
        }
        for draw in &system.draws {
            let point = |p: &Vec<ExprId>| format!("[{}]", vec!["\u{1}"; p.len()].join(", "));
            let word = match draw.shape {
                Shape::Line => "line",
                Shape::Point => "point",
                Shape::Trace => "trace",
                Shape::Circle => "circle",
            };
            let mut items: Vec<String> = draw.points.iter().map(point).collect();
            items.extend(draw.radius.map(|_| "\u{1}".to_owned()));
            items.extend(draw.axis.as_ref().map(point));
            let ids: Vec<ExprId> = draw
                .points
                .iter()
                .flatten()
                .chain(&draw.radius)
                .chain(draw.axis.iter().flatten())
                .copied()
                .collect();
            put(&mut roots, &mut lines, format!("draw {word} {}", items.join(", ")), &ids);
        }
        let mut prefix = "w".to_owned();
        // `w1` prints as `w_1` and `w[1]` do.
        let plain = |name: &String| name.replace(['_', '[', ']', '.', ' '], "");
        let taken: Vec<String> = self.names.taken.iter().map(plain).collect();
        let clashes = |prefix: &str| {
            let rest = taken.iter().filter_map(|name| name.strip_prefix(prefix));
            rest.into_iter().any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        while clashes(&prefix) {
            prefix.push('w');
        }
        let roots = self.renamed(&roots);
        let (definitions, texts) = self.exprs.to_source_shared(&roots, &prefix);
        for (name, text) in definitions {
            self.line(&format!("let {name} = {text}"));
        }
        let mut texts = texts.into_iter();
        for line in lines {
            let mut pieces = line.split('\u{1}');
            let mut whole = pieces.next().unwrap_or("").to_owned();
            for piece in pieces {
                whole.push_str(&texts.next().unwrap_or_default());
                whole.push_str(piece);
            }
            self.line(&whole);
        }
    }
}

/// Places for the components of a scalar or vector.
fn places(count: usize) -> String {
    match count {
        1 => "\u{1}".to_owned(),
        _ => format!("[{}]", vec!["\u{1}"; count].join(", ")),
    }
}

/// A label without dots, and a row of a family behind a comma.
fn label(name: &str) -> String {
    let dot = name.rfind('.').unwrap_or(0);
    let cut = name[dot..].find('[').map_or(name.len(), |at| dot + at);
    let (base, indices) = name.split_at(cut);
    format!("{}{indices}", flat(base))
}

/// `left[2].knee` → `left_2_knee`.
fn flat(name: &str) -> String {
    let joined = |c: char| if ".[,".contains(c) { '_' } else { c };
    name.chars().filter(|c| *c != ']').map(joined).collect()
}

/// A name made of any text.
fn identifier(text: &str) -> String {
    let name: String = text
        .replace('\'', "_dot")
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '_' })
        .collect();
    let name = name.trim_matches('_').to_owned();
    match name.chars().next() {
        Some(first) if first.is_alphabetic() => name,
        _ => format!("out_{name}"),
    }
}
