//! An equilibrium or steady motion and its linear equations, as text for a terminal and as JSON.

use crate::control::{Driven, free_names, matrix};
use crate::evaluation::columns;
use crate::text::{list, width};
use crate::values::{block, full, number, short};
use dalembert_analyze::linearize::{
    Complex, Kind, Linearization, LinearizeError, Mode, NotFound, NotSymbolic, Stability, Symbolic,
    Symmetry, Undecided,
};
use dalembert_expr::ExprId;
use dalembert_model::system::Model;
use dalembert_simulate::report::EvalError;
use dalembert_simulate::run::RunError;
use dalembert_simulate::{StartError, Verdict};
use serde_json::{Map, Value, json};
use std::f64::consts::PI;
use std::fmt::Write;

/// Parts of a mode's shape below this, relative to the largest, are not shown as text.
const WORTH_SHOWING: f64 = 5e-3;

/// A linearisation and the model it is about.
pub struct LinearizationPage<'m> {
    /// The model.
    pub model: &'m Model,
    /// What was found.
    pub found: &'m Linearization,
}

impl LinearizationPage<'_> {
    /// With the model of the phase that it is in.
    fn in_phase(&self) -> LinearizationPage<'_> {
        let model = self.found.phase.as_ref().map_or(self.model, |here| &here.model);
        LinearizationPage { model, found: self.found }
    }

    /// One JSON object.
    pub fn to_json(&self) -> Value {
        let mut object = self.in_phase().json();
        if let Some(here) = &self.found.phase {
            object["phase"] = crate::phase::to_json(here);
        }
        object
    }

    fn json(&self) -> Value {
        let (found, system) = (self.found, &self.model.system);
        let named = |pairs: Vec<(String, f64)>| -> Value {
            Value::Object(pairs.into_iter().map(|(name, x)| (name, number(x))).collect())
        };
        let constraints = system.constraints.iter().map(|c| c.name.clone());
        let multipliers = constraints.clone().zip(found.multipliers.iter().copied()).collect();
        let open = constraints.zip(&found.indeterminate).filter(|c| *c.1).map(|c| c.0);
        let moved: Map<String, Value> = found
            .moved
            .iter()
            .map(|(name, from, to)| (name.clone(), json!([number(*from), number(*to)])))
            .collect();
        let pair = |c: &Complex| json!([number(c[0]), number(c[1])]);
        let spectrum = &found.spectrum;
        let family = match found.family {
            Some(k) => json!(k),
            None => Value::Null,
        };
        let all_values = spectrum.all();
        let all: Vec<Value> = all_values.iter().map(pair).collect();
        json!({
            "format": 1,
            "system": system.title,
            "kind": found.kind.name(),
            "t": number(found.state.t),
            "state": named(found.state.named(&self.model.exprs, system)),
            "multipliers": named(multipliers),
            "indeterminate": open.collect::<Vec<_>>(),
            "at_start": found.at_start,
            "moved": moved,
            "released": found.released,
            "motion": self.symmetry_json(&found.along),
            "symmetries": found.symmetries.others.iter().map(|s| self.symmetry_json(s)).collect::<Vec<_>>(),
            "dimension": found.reduced.dimension(),
            "eigenvalues": all,
            "zeros": {
                "total": spectrum.count_zeros(), "by_symmetry": spectrum.symmetric_zeros,
                "others": spectrum.zeros, "family": family,
            },
            "symmetric": spectrum.symmetric.iter().map(pair).collect::<Vec<_>>(),
            "modes": spectrum.modes.iter().map(|m| self.mode_json(m)).collect::<Vec<_>>(),
            "stability": found.stability.name(),
            "drifts": spectrum.drifts,
            "resonant": spectrum.resonant.iter().map(|&w| number(w)).collect::<Vec<_>>(),
            "reason": self.reason(),
            "matrices": self.matrices_json(),
            "control": self.driven(&self.names(), &all_values).json(),
        })
    }

    fn symmetry_json(&self, symmetry: &Symmetry) -> Value {
        let names = self.coordinates();
        let n = names.len();
        let shift: Map<String, Value> = (0..n)
            .filter(|&i| symmetry.shift[i] != 0.0)
            .map(|i| (names[i].clone(), number(symmetry.shift[i])))
            .collect();
        let turn: Vec<Value> = (0..n)
            .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
            .filter(|&(i, j)| symmetry.turn[j * n + i] != 0.0)
            .map(|(i, j)| json!([names[i], names[j], number(symmetry.turn[j * n + i])]))
            .collect();
        json!({"shift": shift, "turn": turn})
    }

    fn mode_json(&self, mode: &Mode) -> Value {
        let names = self.coordinates();
        let shape: Map<String, Value> = names
            .iter()
            .zip(&mode.shape)
            .map(|(name, c)| (name.clone(), json!([number(c[0]), number(c[1])])))
            .collect();
        let [re, im] = mode.value;
        let ratio = if im == 0.0 { Value::Null } else { number(-re / re.hypot(im) + 0.0) };
        json!({
            "value": [number(re), number(im)],
            "uncertainty": number(mode.uncertainty),
            "frequency": number(im.abs() / (2.0 * PI)),
            "damping_ratio": ratio,
            "time_constant": if re == 0.0 { Value::Null } else { number(1.0 / re.abs()) },
            "shape": shape,
        })
    }

    fn matrices_json(&self) -> Value {
        let reduced = &self.found.reduced;
        let [z, u, states] = free_names(self.model, reduced);
        let d = reduced.dimension();
        let second = self.found.second_order.as_ref();
        let mut object = Map::new();
        let mut insert = |name: &str, value: Value| object.insert(name.to_owned(), value);
        insert("names", json!(self.names()));
        insert("positions", json!(z));
        insert("velocities", json!(u));
        insert("states", json!(states));
        insert("state", matrix(&reduced.matrix, d));
        insert("mass", json!(second.map(|s| matrix(&s.mass, u.len()))));
        insert("damping", json!(second.map(|s| matrix(&s.damping, u.len()))));
        insert("stiffness", json!(second.map(|s| matrix(&s.stiffness, z.len()))));
        self.driven(&self.names(), &[]).matrices(&mut object);
        Value::Object(object)
    }

    /// The names of x.
    fn names(&self) -> Vec<String> {
        free_names(self.model, &self.found.reduced).concat()
    }

    fn driven<'a>(&'a self, names: &'a [String], poles: &'a [Complex]) -> Driven<'a> {
        let Linearization { reduced, io, control, .. } = self.found;
        Driven { names, reduced, io, control, poles }
    }

    fn coordinates(&self) -> Vec<String> {
        self.model.system.coordinates.iter().map(|c| c.name.clone()).collect()
    }

    /// Why the verdict is what it is.
    pub fn reason(&self) -> String {
        let found = self.found;
        let held = matches!(
            found.stability,
            Stability::AsymptoticallyStable | Stability::Stable | Stability::Neutral
        );
        match held && self.drifts_from_rest() {
            true => format!(
                "{}; along the symmetries ({}) what is near drifts away at a constant rate",
                self.plain_reason(),
                self.symmetries()
            ),
            false => self.plain_reason(),
        }
    }

    /// Whether neighbours of an equilibrium drift away from it along its symmetries.
    fn drifts_from_rest(&self) -> bool {
        self.found.kind == Kind::Equilibrium && self.found.spectrum.drifts
    }

    fn symmetries(&self) -> String {
        let words = self.found.symmetries.others.iter().map(|s| self.symmetry_words(s));
        list(words.collect(), 8)
    }

    fn plain_reason(&self) -> String {
        let found = self.found;
        let family = found.family.unwrap_or(0);
        match found.stability {
            Stability::Unstable { rate } => {
                let growing = found.spectrum.modes.iter().filter(|m| m.grows());
                let shape = growing.max_by(|a, b| a.value[0].total_cmp(&b.value[0]));
                let shape = shape.map(|m| self.shape(m)).filter(|s| !s.is_empty());
                let shape = shape.map(|s| format!("; what grows: {s}")).unwrap_or_default();
                format!("a disturbance grows like exp({} t){shape}", short(rate))
            }
            Stability::AsymptoticallyStable if family > 0 => format!(
                "every mode decays; what is near settles on one of the neighbouring {} (Lyapunov–Malkin)",
                self.kind_in_plural()
            ),
            Stability::AsymptoticallyStable if found.spectrum.modes.is_empty() => {
                "there is nothing that could move".to_owned()
            }
            Stability::AsymptoticallyStable
                if found.kind == Kind::Equilibrium && found.spectrum.symmetric_zeros > 0 =>
            {
                format!(
                    "every mode decays; along the symmetries ({}) what is near comes to rest elsewhere",
                    self.symmetries()
                )
            }
            Stability::AsymptoticallyStable => "every mode decays".to_owned(),
            Stability::Stable if found.spectrum.symmetric_zeros > 0 => {
                "across the symmetries the potential has a strict minimum here, and the energy is conserved (Lagrange–Dirichlet)".to_owned()
            }
            Stability::Stable => {
                "the potential has a strict minimum here, and the energy is conserved (Lagrange–Dirichlet)".to_owned()
            }
            Stability::Neutral => format!(
                "all that is near are {} themselves: nothing grows, and nothing comes back",
                self.kind_in_plural()
            ),
            Stability::Undecided(Undecided::Resonance) => format!(
                "eigenvalues on the imaginary axis form a chain at ω = {}, as far as rounding tells: in the linear equations something grows like t, and they do not decide",
                list(found.spectrum.resonant.iter().map(|&w| short(w)).collect(), 4)
            ),
            Stability::Undecided(Undecided::ImaginaryAxis) => {
                "no mode grows, but some have eigenvalues on the imaginary axis: the linear equations do not decide".to_owned()
            }
            Stability::Undecided(Undecided::Degenerate) => {
                "an eigenvalue is zero, and no neighbouring steady states explain it: the linear equations do not decide".to_owned()
            }
            Stability::Undecided(Undecided::Drift) => {
                "in the linear equations something drifts away at a constant rate (a zero eigenvalue in a chain): they do not decide".to_owned()
            }
        }
    }

    fn kind_in_plural(&self) -> &'static str {
        match self.found.kind {
            Kind::Equilibrium if self.found.symmetries.others.is_empty() => "equilibria",
            Kind::Equilibrium => "equilibria or steady motions",
            Kind::SteadyMotion => "steady motions",
        }
    }

    /// The main parts of a mode's shape: `steer 1, roll 0.31∠−42°`.
    fn shape(&self, mode: &Mode) -> String {
        let mut parts: Vec<(String, Complex)> =
            self.coordinates().into_iter().zip(mode.shape.iter().copied()).collect();
        let size = |c: &Complex| c[0].hypot(c[1]);
        let largest = parts.iter().fold(0f64, |m, p| m.max(size(&p.1)));
        parts.retain(|p| size(&p.1) > WORTH_SHOWING * largest);
        parts.sort_by(|a, b| size(&b.1).total_cmp(&size(&a.1)));
        let words = parts.iter().map(|(name, c)| {
            let angle = c[1].atan2(c[0]).to_degrees().round() as i64;
            match angle.rem_euclid(360) {
                0 => format!("{name} {}", short(size(c))),
                180 => format!("{name} {}", short(-size(c))),
                _ => format!("{name} {}∠{angle}°", short(size(c))),
            }
        });
        list(words.collect(), 6)
    }

    /// Text for a terminal.
    pub fn to_text(&self) -> String {
        self.in_phase().text()
    }

    fn text(&self) -> String {
        let mut page = String::new();
        let (found, system) = (self.found, &self.model.system);
        if !system.title.is_empty() {
            let _ = writeln!(page, "{}\n{}\n", system.title, "═".repeat(width(&system.title)));
        }
        let place = match (found.at_start, system.state.is_empty()) {
            (true, true) => "the start itself",
            (true, false) => "the state asked for",
            (false, true) => "found near the start",
            (false, false) => "found near the state asked for",
        };
        let _ = writeln!(page, "{}, {place}", found.kind.name());
        if let Some(here) = &found.phase {
            page.push_str(&crate::phase::to_text(here));
        }
        if !found.released.is_empty() {
            let _ = writeln!(page, "not kept: {}", list(found.released.clone(), 8));
        }
        columns(&mut page, &found.state.named(&self.model.exprs, system));
        if found.kind == Kind::SteadyMotion {
            let _ = writeln!(page, "it moves by itself: {}", self.motion());
        }
        if !system.constraints.is_empty() {
            let _ = writeln!(page, "multipliers λ");
            let lambda: Vec<(String, f64)> = system
                .constraints
                .iter()
                .zip(&found.indeterminate)
                .map(|(c, &open)| format!("{}{}", c.name, if open { " (not unique)" } else { "" }))
                .zip(found.multipliers.iter().copied())
                .collect();
            columns(&mut page, &lambda);
        }
        let held = matches!(found.stability, Stability::AsymptoticallyStable | Stability::Stable);
        let up_to = match held && found.kind == Kind::Equilibrium {
            true if found.spectrum.drifts => " up to drift",
            true if found.spectrum.symmetric_zeros > 0 => " up to the symmetries",
            _ => "",
        };
        let _ = writeln!(page, "\n{}{up_to}: {}", found.stability.name(), self.reason());
        self.text_modes(&mut page);
        self.text_zeros(&mut page);
        self.text_matrices(&mut page);
        self.driven(&self.names(), &[]).text(&mut page);
        page
    }

    /// What moves and how fast.
    fn motion(&self) -> String {
        let (names, along) = (self.coordinates(), &self.found.along);
        let n = names.len();
        let mut words: Vec<String> = (0..n)
            .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
            .filter(|&(i, j)| along.turn[j * n + i] != 0.0)
            .map(|(i, j)| {
                format!("({}, {}) turn at {}", names[i], names[j], short(along.turn[j * n + i]))
            })
            .collect();
        let turned: Vec<bool> =
            (0..n).map(|i| (0..n).any(|j| along.turn[i * n + j] != 0.0)).collect();
        words.extend(
            (0..n)
                .filter(|&i| along.shift[i] != 0.0 && !turned[i])
                .map(|i| format!("{} at {}", names[i], short(along.shift[i]))),
        );
        list(words, 8)
    }

    fn text_modes(&self, page: &mut String) {
        let modes = &self.found.spectrum.modes;
        if modes.is_empty() {
            return;
        }
        let _ = writeln!(page, "\nmodes");
        let mut rows: Vec<[String; 3]> = Vec::new();
        for mode in modes {
            let [re, im] = mode.value;
            if im < 0.0 {
                continue;
            }
            let value = match (re, im) {
                (re, 0.0) => short(re),
                (0.0, im) => format!("± {} i", short(im)),
                (re, im) => format!("{} ± {} i", short(re), short(im)),
            };
            let mut what = Vec::new();
            if im != 0.0 {
                what.push(format!("frequency {}", short(im / (2.0 * PI))));
            }
            if im != 0.0 && re != 0.0 {
                what.push(format!("damping ratio {}", short(-re / re.hypot(im))));
            }
            if re != 0.0 {
                let word = if re > 0.0 { "grows" } else { "decays" };
                what.push(format!("{word} by e in {}", short(1.0 / re.abs())));
            }
            rows.push([value, what.join(", "), self.shape(mode)]);
        }
        let widest = |k: usize| rows.iter().map(|r| width(&r[k])).max().unwrap_or(0);
        let (first, second) = (widest(0), widest(1));
        for [value, what, shape] in &rows {
            let pad = " ".repeat(first - width(value));
            let next = " ".repeat(second - width(what));
            let _ = writeln!(page, "  {value}{pad}   {what}{next}   {shape}");
        }
    }

    fn text_zeros(&self, page: &mut String) {
        let spectrum = &self.found.spectrum;
        for pair in spectrum.symmetric.iter().filter(|c| c[1] >= 0.0) {
            let _ = writeln!(
                page,
                "± {} i belongs to the same motion elsewhere and is no mode",
                short(pair[1])
            );
        }
        if spectrum.count_zeros() == 0 {
            return;
        }
        let _ = writeln!(
            page,
            "\n{} of the {} eigenvalues on the constraints are zero",
            spectrum.count_zeros(),
            self.found.reduced.dimension()
        );
        if spectrum.symmetric_zeros > 0 {
            let _ = writeln!(
                page,
                "  {} by symmetry, the same motion elsewhere: {}",
                spectrum.symmetric_zeros,
                self.symmetries()
            );
        }
        if let Some(&first) = spectrum.zeros.first() {
            let total: usize = spectrum.zeros.iter().sum();
            let words = match self.found.family {
                Some(k) if total == first => {
                    let manifold =
                        format!("{} form a manifold, of dimension {k}", self.kind_in_plural());
                    format!("neighbouring {manifold} up to symmetry")
                }
                _ if total > first => {
                    "in chains: in the linear equations something drifts".to_owned()
                }
                _ => "neighbouring steady states, or a degenerate state".to_owned(),
            };
            let _ = writeln!(page, "  {total} more: {words}");
        }
    }

    fn symmetry_words(&self, symmetry: &Symmetry) -> String {
        let names = self.coordinates();
        let n = names.len();
        let touched = |i: &usize| (0..n).any(|j| symmetry.turn[i * n + j] != 0.0);
        let turned: Vec<String> = (0..n).filter(touched).map(|i| names[i].clone()).collect();
        let shifted: Vec<String> = (0..n)
            .filter(|i| symmetry.shift[*i] != 0.0 && !touched(i))
            .map(|i| match symmetry.shift[i] {
                1.0 => names[i].clone(),
                x => format!("{} {}", short(x), names[i]),
            })
            .collect();
        match (turned.is_empty(), shifted.is_empty()) {
            (true, _) => shifted.join(" + "),
            (false, true) => format!("turning ({})", turned.join(", ")),
            (false, false) => {
                format!("turning ({}) with {}", turned.join(", "), shifted.join(" + "))
            }
        }
    }

    fn text_matrices(&self, page: &mut String) {
        let [z, u, states] = free_names(self.model, &self.found.reduced);
        let reduced = &self.found.reduced;
        if reduced.dimension() == 0 {
            let _ = writeln!(page, "\nthe constraints leave nothing free");
            return;
        }
        if !states.is_empty() {
            // A x says it all.
            if self.found.io.columns.is_empty() && self.found.io.outputs.is_empty() {
                let names = self.names();
                let _ = writeln!(page, "\nx = ({})\nẋ = A x", names.join(", "));
                block(page, "A", &reduced.matrix, names.len());
            }
            return;
        }
        let _ = writeln!(page, "\nz = ({})   u = ({})", z.join(", "), u.join(", "));
        match &self.found.second_order {
            Some(second) => {
                let _ = writeln!(page, "M u̇ + D u + K z = 0");
                block(page, "M", &second.mass, u.len());
                block(page, "D", &second.damping, u.len());
                block(page, "K", &second.stiffness, z.len());
            }
            None => {
                let _ = writeln!(page, "d/dt (z, u) = S (z, u)");
                block(page, "S", &reduced.matrix, reduced.dimension());
            }
        }
    }
}

/// Matrices in the parameters as text, or why there are none.
pub fn symbolic_text(
    found: &Result<Symbolic, NotSymbolic>,
    about: &Linearization,
    model: &Model,
) -> String {
    let symbols = match found {
        Ok(symbols) => symbols,
        Err(why) => return format!("\nno matrices in the parameters: {}\n", why_not(why, model)),
    };
    let mut page = String::new();
    let state = symbols.state.iter();
    let state: Vec<String> =
        state.map(|(name, value)| format!("{name} = {}", model.exprs.to_text(*value))).collect();
    let _ = writeln!(page, "\nin the parameters, at {}", list(state, 12));
    let (d, k) = (about.reduced.dimension(), about.io.columns.len());
    for (name, entries, columns) in
        [("A", &symbols.a, d), ("B", &symbols.b, k), ("C", &symbols.c, d), ("D", &symbols.d, k)]
    {
        if entries.is_empty() || columns == 0 {
            continue;
        }
        for (i, row) in entries.chunks(columns).enumerate() {
            let cells: Vec<String> = row.iter().map(|&e| model.exprs.to_text(e)).collect();
            let front = if i == 0 { format!("{name} = ") } else { "    ".to_owned() };
            let _ = writeln!(page, "  {front}[{}]", cells.join(", "));
        }
    }
    page
}

/// The same for JSON: rows of formulas as the language writes them.
pub fn symbolic_json(
    found: &Result<Symbolic, NotSymbolic>,
    about: &Linearization,
    model: &Model,
) -> Value {
    let symbols = match found {
        Ok(symbols) => symbols,
        Err(why) => return json!({"error": why_not(why, model)}),
    };
    let source = |e: &ExprId| model.exprs.to_source(*e);
    let rows = |entries: &[ExprId], columns: usize| -> Value {
        entries
            .chunks(columns.max(1))
            .map(|row| row.iter().map(source).collect::<Value>())
            .collect()
    };
    let (d, k) = (about.reduced.dimension(), about.io.columns.len());
    let state: Map<String, Value> =
        symbols.state.iter().map(|(name, e)| (name.clone(), json!(source(e)))).collect();
    json!({
        "state": state,
        "A": rows(&symbols.a, d), "B": rows(&symbols.b, k),
        "C": rows(&symbols.c, d), "D": rows(&symbols.d, k),
    })
}

fn why_not(why: &NotSymbolic, model: &Model) -> String {
    match why {
        NotSymbolic::Moves => "the state moves, and they are made for equilibria".to_owned(),
        NotSymbolic::Known { name, value } => format!(
            "`{name}` is known as the number {} only; say in `start` what it is in parameters",
            full(*value)
        ),
        NotSymbolic::Balance => {
            "this is an equilibrium for these values of the parameters, and not shown to be one for all"
                .to_owned()
        }
        NotSymbolic::Large { unknowns } => {
            format!("{unknowns} accelerations and multipliers are too many to be written down")
        }
        NotSymbolic::Equations(error) => failure_words(error, model),
    }
}

/// Why there is no linearisation, in words.
pub fn failure_words(error: &LinearizeError, model: &Model) -> String {
    let system = &model.system;
    let coordinate = |&i: &usize| format!("`{}`", system.coordinates[i].name);
    let at = |state: &dalembert_simulate::State| -> String {
        let named = state.named(&model.exprs, system);
        let words = named.iter().map(|(name, x)| format!("{name} = {}", full(*x)));
        list(words.collect(), 8)
    };
    match error {
        LinearizeError::Start(StartError::Clash(faults)) | LinearizeError::Equations(faults) => {
            let words: Vec<&str> = faults.iter().map(|d| d.message.as_str()).collect();
            words.join("; ")
        }
        LinearizeError::Start(StartError::Legendre(error)) | LinearizeError::Legendre(error) => {
            error.to_string()
        }
        LinearizeError::Start(StartError::Time) => "the start time is not a number".to_owned(),
        LinearizeError::Solve { error, state } => format!("{error}, at {}", at(state)),
        LinearizeError::NoMotion { motion, undetermined, state } => {
            let why = match motion {
                Verdict::GaugeFree => format!(
                    "nothing determines the acceleration of {}: no mass and no constraint",
                    list(undetermined.iter().map(coordinate).collect(), 8)
                ),
                Verdict::HiddenConstraint => format!(
                    "along {} there is no mass and no constraint, but a force: the model implies a constraint that it does not have; `--complete` appends it",
                    list(undetermined.iter().map(coordinate).collect(), 8)
                ),
                _ => "no acceleration satisfies the constraints".to_owned(),
            };
            format!("there is no unique motion to linearise: {why}; at {}", at(state))
        }
        LinearizeError::NotSmooth { state } => {
            format!(
                "the equations have no derivatives (a switch, a jump or a pole) at {}",
                at(state)
            )
        }
        LinearizeError::TimeDependent { constraints } => {
            let rows: Vec<String> =
                constraints.iter().map(|&i| format!("`{}`", system.constraints[i].name)).collect();
            let place = match rows.is_empty() {
                true => "the energies or forces".to_owned(),
                false => format!("the constraints {}", list(rows, 8)),
            };
            format!(
                "time occurs in {place}, and not as uniform motion of a frame: about any motion the linear equations would depend on time"
            )
        }
        LinearizeError::NotFound(left) => not_found(left, model, &at),
        LinearizeError::Singular { rank, nearby, state } => format!(
            "the constraints have rank {rank} here and {nearby} nearby (a singular configuration): the motion is not smooth, and there are no linear equations; at {}",
            at(state)
        ),
        LinearizeError::Vanishing { coordinate: i, state } => format!(
            "{} has no inertia here though it has nearby, as an angle at its pole: other coordinates are needed about this state; at {}",
            coordinate(i),
            at(state)
        ),
        LinearizeError::NotPeriodic { closure } if closure.is_finite() => format!(
            "the motion is not periodic with this period: the linear equations differ by {} of themselves after it",
            short(*closure)
        ),
        LinearizeError::NotPeriodic { .. } => "the motion ends before the period does".to_owned(),
        LinearizeError::Elsewhere { name, is_rate, by } => format!(
            "the motion is not periodic with this period: after it {}`{name}` is off where it began by {} of {}",
            if *is_rate { "the rate of " } else { "" },
            short(*by),
            if *is_rate { "the largest rate" } else { "its way" }
        ),
        LinearizeError::Resets { event, t } => format!(
            "`{event}` sets velocities or states on the way (at t = {}): deviations jump there, and are not followed",
            short(*t)
        ),
        LinearizeError::Phase { fault, state } => {
            format!("{}, at {}", fault.words(system), at(state))
        }
        LinearizeError::Edge { edges, state } => {
            let words = edges.iter().map(|edge| edge.words(system)).collect();
            format!(
                "there are no linear equations on the edge of a phase: {}; at {}",
                list(words, 8),
                at(state)
            )
        }
        LinearizeError::Phases { t } => format!(
            "the motion goes from one phase of contacts and friction to another (at t = {}): its deviations jump there, and are not followed",
            short(*t)
        ),
        LinearizeError::Run(error) => match &**error {
            RunError::Eval(EvalError::Refused(refusal)) | RunError::Refused(refusal) => {
                format!("the run did not begin: {refusal}")
            }
            RunError::Formulation(faults) => {
                let words: Vec<&str> = faults.iter().map(|d| d.message.as_str()).collect();
                words.join("; ")
            }
            _ => "the run did not begin; `dal run` says why".to_owned(),
        },
        LinearizeError::Interrupted => "interrupted".to_owned(),
        LinearizeError::NoEigenvalues => "the eigenvalues did not settle".to_owned(),
    }
}

fn not_found(
    left: &NotFound,
    model: &Model,
    at: &dyn Fn(&dalembert_simulate::State) -> String,
) -> String {
    let system = &model.system;
    let mut words = "neither an equilibrium nor a steady motion was found".to_owned();
    let mut pushes: Vec<(usize, f64)> =
        left.push.iter().copied().enumerate().filter(|p| p.1 != 0.0).collect();
    pushes.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    if let Some(state) = &left.nearest {
        let _ = write!(words, "; the nearest is {}", at(state));
    }
    if !pushes.is_empty() {
        let list = list(
            pushes
                .iter()
                .map(|&(i, f)| format!("{} on `{}`", short(f), system.coordinates[i].name))
                .collect(),
            6,
        );
        let _ = write!(words, ", where forces are left: {list}");
    }
    if !left.broken.is_empty() {
        let list = list(
            left.broken
                .iter()
                .map(|&(r, x)| format!("`{}` by {}", system.constraints[r].name, short(x)))
                .collect(),
            6,
        );
        let _ = write!(words, ", off the constraints {list}");
    }
    if !left.moving.is_empty() {
        let names = left.moving.iter().map(|&i| format!("`{}`", system.coordinates[i].name));
        let _ = write!(
            words,
            ". The equations depend on {}, which the start has moving: about that motion the linear equations would depend on time",
            list(names.collect(), 6)
        );
    }
    words
}
