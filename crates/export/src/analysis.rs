//! What is true of a system, as text for a terminal and as JSON.

use crate::readable::start::Numbers;
use crate::text::{list, width};
use crate::{invariants, lint};
use dalembert_analyze::Shown;
use dalembert_analyze::analysis::Analysis;
use dalembert_analyze::brackets::Bracket;
use dalembert_analyze::places::shown_words;
use dalembert_expr::{Assumption, ExprId, Notation, Symbol};
use dalembert_model::system::Model;
use dalembert_simulate::{Setting, Verdict};
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Characters shown of one expression.
const LONGEST: usize = 600;
/// Trees larger than this are not written into JSON; their place holds null.
const LARGEST: u64 = 20_000;
/// Names shown of one list.
const NAMES: usize = 12;
/// Lines shown of one kind.
const LINES: usize = 24;

/// An analysis and the model it is about.
pub struct AnalysisPage<'m> {
    /// The model.
    pub model: &'m Model,
    /// What was found.
    pub analysis: &'m Analysis,
}

/// A finite number, else null.
fn number(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

fn how(shown: &Shown) -> Value {
    match shown {
        Shown::RandomPoints { points, error } => {
            json!({"by": shown.name(), "points": points, "error": error.map_or(Value::Null, number)})
        }
        Shown::AlongMotion { deviation, duration } => {
            json!({"by": shown.name(), "deviation": number(*deviation), "duration": number(*duration)})
        }
        _ => json!({"by": shown.name()}),
    }
}

impl AnalysisPage<'_> {
    fn rows(&self, rows: &[usize]) -> Vec<String> {
        rows.iter().map(|&r| self.model.system.constraints[r].name.clone()).collect()
    }

    fn picked<'a>(&self, names: impl Iterator<Item = &'a String>, flags: &[bool]) -> Vec<String> {
        names.zip(flags).filter(|(_, f)| **f).map(|(n, _)| n.clone()).collect()
    }

    fn coordinates(&self) -> impl Iterator<Item = &String> {
        self.model.system.coordinates.iter().map(|c| &c.name)
    }

    fn constraints(&self) -> impl Iterator<Item = &String> {
        self.model.system.constraints.iter().map(|c| &c.name)
    }

    fn source(&self, id: ExprId) -> Value {
        let exprs = &self.model.exprs;
        if exprs.count_tree_size(id) > LARGEST { Value::Null } else { json!(exprs.to_source(id)) }
    }

    fn term(&self, id: ExprId) -> String {
        self.model.exprs.print_limited(id, Notation::Text, LONGEST)
    }

    /// An expression as it is where the motion begins; what was assumed for that is added to a list.
    fn on_branch(&self, id: ExprId, assumed: &mut Vec<Assumption>) -> ExprId {
        let exprs = &self.model.exprs;
        if exprs.on_branch(id, |_| Some(true)).1.is_empty() {
            return id;
        }
        let Ok(setting) = Setting::new(self.model) else { return id };
        let numbers = Numbers::of_state(&setting, &self.analysis.start.state);
        let (found, new) = numbers.on_branch(exprs, id);
        if new.is_empty() {
            return id;
        }
        assumed.extend(new.into_iter().filter(|one| !assumed.contains(one)).collect::<Vec<_>>());
        self.analysis.readable(exprs, found)
    }

    fn symbol(&self, symbol: Symbol) -> String {
        self.model.exprs.symbol_info(symbol).full_name()
    }

    fn direction(&self, direction: &[f64]) -> Value {
        let pairs = self.coordinates().zip(direction).filter(|p| *p.1 != 0.0);
        Value::Object(pairs.map(|(name, &x)| (name.clone(), number(x))).collect())
    }

    /// With the model of the phase that was looked at.
    fn in_phase(&self) -> AnalysisPage<'_> {
        let model = self.analysis.phase.as_ref().map_or(self.model, |here| &here.model);
        AnalysisPage { model, analysis: self.analysis }
    }

    /// One JSON object.
    pub fn to_json(&self) -> Value {
        let mut object = self.in_phase().json();
        if let Some(here) = &self.analysis.phase {
            object["phase"] = crate::phase::to_json(here);
        }
        object
    }

    fn json(&self) -> Value {
        let (found, system) = (self.analysis, &self.model.system);
        let (unique, freedom) = (&found.uniqueness, &found.freedom);
        let integrability = &found.integrability;
        let kinds: Map<String, Value> = self
            .constraints()
            .zip(&found.kinds)
            .map(|(name, words)| (name.clone(), json!(words)))
            .collect();
        let state: Map<String, Value> = found
            .start
            .state
            .named(&self.model.exprs, system)
            .into_iter()
            .map(|(name, value)| (name, number(value)))
            .collect();
        let circuits = found.circuits.iter();
        let mut object = json!({
            "format": 1,
            "system": system.title,
            "coordinates": freedom.coordinates,
            "constraints": freedom.constraints,
            "rank": freedom.rank,
            "degrees_of_freedom": freedom.degrees_of_freedom(),
            "motion": unique.motion.name(),
            "redundant": circuits.clone().map(|c| self.rows(&c.rows)).collect::<Vec<_>>(),
            "undetermined": self.picked(self.coordinates(), &unique.undetermined),
            "holonomic": integrability.holonomic,
            "integrable": integrability.integrable,
            "growth_vector": integrability.growth,
            "jacobi_defect": found.jacobi_defect.map_or(Value::Null, number),
            "kinds": kinds,
            "ignorable": [],
            "invariants": [],
            "rank_at_start": freedom.rank_at_start,
            "rank_of_positions": freedom.rank_of_positions,
            "rank_of_mass": unique.mass_rank,
            "rank_of_mass_and_constraints": unique.rank,
            "null_directions": unique.null.iter().map(|v| self.direction(v)).collect::<Vec<_>>(),
            "reasons": unique.reasons,
            "missing": unique.missing,
            "indeterminate": self.picked(self.constraints(), &unique.indeterminate),
            "conflicting": circuits.filter(|c| !c.is_consistent()).map(|c| self.rows(&c.rows)).collect::<Vec<_>>(),
            "redundant_is_all": found.circuits_are_all,
            "configuration_freedom": found.configuration_freedom(),
            "growth_vector_at_start": integrability.growth_at_start,
            "potentials": self.potentials(),
            "bracket": self.bracket_json(),
            "singular": self.singular_json(),
            "findings": lint::to_json(&found.findings),
            "note": integrability.note,
            "left_out": found.left_out.iter().map(|l| json!({"what": l.name(), "why": l.to_string()})).collect::<Vec<_>>(),
            "start": state,
            "shown": {"rank": how(&freedom.shown), "integrable": integrability.integrable.map_or(Value::Null, |_| how(&integrability.shown)), "motion": how(&Shown::AtState)},
        });
        if let (Some(conserved), Some(fields)) = (&found.conserved, object.as_object_mut()) {
            fields.extend(invariants::to_json(conserved));
        }
        if let Some((value, at_start)) = &found.value {
            object["poisson"] = json!({
                "of": [self.source(value.arguments[0]), self.source(value.arguments[1])],
                "bracket": self.source(value.bracket),
                "value": at_start.map_or(Value::Null, number),
            });
        }
        object
    }

    fn potentials(&self) -> Vec<Value> {
        let one = |p: &dalembert_analyze::potential::Potential| {
            json!({
                "expression": self.source(p.expression), "value": number(p.value),
                "from": self.rows(&p.rows), "shown": how(&p.shown),
            })
        };
        self.analysis.potentials.iter().map(one).collect()
    }

    fn bracket_json(&self) -> Value {
        let bracket = match &self.analysis.bracket {
            Ok(bracket) => bracket,
            Err(why) => return json!({"not_told": why}),
        };
        let names: Vec<String> = bracket.variables.iter().map(|&s| self.symbol(s)).collect();
        let mut entries = Vec::new();
        for (row, list) in bracket.structure.rows.iter().enumerate() {
            for &(column, value) in list.iter().filter(|e| e.0 > row) {
                let value = self.analysis.readable(&self.model.exprs, value);
                if value != ExprId::ZERO {
                    entries.push(json!([names[row], names[column], self.source(value)]));
                }
            }
        }
        let jacobiator = bracket.jacobiator.as_ref().map(|list| {
            let one = |([a, b, c], value): &([usize; 3], ExprId)| {
                json!([names[*a], names[*b], names[*c], self.source(*value)])
            };
            list.iter().map(one).collect::<Vec<_>>()
        });
        json!({
            "variables": names, "entries": entries, "jacobiator": jacobiator,
            "canonical": self.analysis.canonical(self.model).map(|c| json!({
                "q": c.q, "p": c.p, "s": c.s,
            })),
        })
    }

    fn singular_json(&self) -> Value {
        let Some(search) = &self.analysis.singular else { return Value::Null };
        let one = |s: &dalembert_analyze::singular::Singular| {
            let place: Map<String, Value> =
                self.coordinates().zip(&s.q).map(|(n, &x)| (n.clone(), number(x))).collect();
            json!({"at": place, "rank": s.rank, "rows": self.rows(&s.rows), "distance": number(s.distance)})
        };
        json!({"within": number(search.radius), "found": search.found.iter().map(one).collect::<Vec<_>>()})
    }

    /// Text for a terminal.
    pub fn to_text(&self) -> String {
        self.in_phase().text()
    }

    fn text(&self) -> String {
        let mut page = String::new();
        let system = &self.model.system;
        if !system.title.is_empty() {
            let _ = writeln!(page, "{}\n{}\n", system.title, "═".repeat(width(&system.title)));
        }
        if let Some(here) = &self.analysis.phase {
            page.push_str(&crate::phase::to_text(here));
        }
        self.text_motion(&mut page);
        self.text_freedom(&mut page);
        let mut assumed = Vec::new();
        if !system.constraints.is_empty() {
            self.text_kinds(&mut page);
            self.text_integrability(&mut page, &mut assumed);
        }
        self.text_bracket(&mut page, &mut assumed);
        for one in &assumed {
            let sign = if one.positive { '>' } else { '<' };
            let _ = writeln!(page, "Written for {} {sign} 0, as at the start", self.term(one.expr));
        }
        if !assumed.is_empty() {
            page.push('\n');
        }
        self.text_invariants(&mut page);
        if !self.analysis.left_out.is_empty() {
            page.push_str("Not looked at\n");
        }
        for left_out in &self.analysis.left_out {
            let _ = writeln!(page, "  {left_out}");
        }
        page
    }

    fn text_motion(&self, page: &mut String) {
        let unique = &self.analysis.uniqueness;
        let n = self.analysis.freedom.coordinates;
        let rank = format!("[M; A] has rank {} of {n}", unique.rank);
        let verdict = match unique.motion {
            Verdict::Unique => format!("is unique: {rank}"),
            Verdict::GaugeFree => format!("is not unique: {rank}"),
            Verdict::HiddenConstraint => format!("does not exist at the start: {rank}"),
            Verdict::Inconsistent => "does not exist at the start".to_owned(),
        };
        let _ = writeln!(
            page,
            "The motion {verdict}   [Udwadia & Phohomsiri (2006), lemma 3.1; at the start]"
        );
        for reason in unique.reasons.iter().take(LINES) {
            let _ = writeln!(page, "  {reason}");
        }
        if !unique.missing.is_empty() {
            let what = match unique.motion {
                Verdict::GaugeFree => "  a line that would determine it, for example",
                _ => "  what the model implies, as lines to add",
            };
            let _ = writeln!(page, "{what}:");
            for line in unique.missing.iter().take(LINES) {
                let _ = writeln!(page, "    {line}");
            }
        }
        page.push('\n');
    }

    fn text_freedom(&self, page: &mut String) {
        let (found, freedom) = (self.analysis, &self.analysis.freedom);
        let (n, m, r) = (freedom.coordinates, freedom.constraints, freedom.rank);
        let dof = freedom.degrees_of_freedom();
        let plural = |k: usize, one: &str, many: &str| {
            if k == 1 { format!("1 {one}") } else { format!("{k} {many}") }
        };
        let _ = writeln!(
            page,
            "{}: {}, rank {r} of {}   [{}]",
            plural(dof, "degree of freedom", "degrees of freedom"),
            plural(n, "coordinate", "coordinates"),
            plural(m, "constraint row", "constraint rows"),
            shown_words(&freedom.shown)
        );
        if let Some(places) = found.configuration_freedom().filter(|&p| p != dof) {
            let _ = writeln!(
                page,
                "  {} can be reached: that many coordinates are independent, {dof} of their rates",
                plural(places, "dimension of positions", "dimensions of positions")
            );
        }
        if freedom.rank_at_start != r {
            let _ = writeln!(
                page,
                "  the start is a singular configuration: rank {} there, {r} nearby",
                freedom.rank_at_start
            );
        }
        for circuit in found.circuits.iter().take(LINES) {
            let names = list(self.rows(&circuit.rows), NAMES);
            let _ = match (circuit.rows.len(), circuit.is_consistent()) {
                (1, true) => writeln!(page, "  redundant: `{names}` restricts nothing"),
                (_, true) => writeln!(page, "  redundant: {names} depend on each other, and agree"),
                (_, false) => writeln!(
                    page,
                    "  in conflict: {names} depend on each other and ask for different accelerations"
                ),
            };
        }
        if found.circuits.len() > LINES {
            let _ = writeln!(page, "  … and {} more sets", found.circuits.len() - LINES);
        }
        if !found.circuits_are_all && !found.circuits.is_empty() {
            page.push_str("  (one set for each dependent row; there are more)\n");
        }
        let open = self.picked(self.constraints(), &found.uniqueness.indeterminate);
        if !open.is_empty() && found.uniqueness.motion.exists() {
            let settled: Vec<String> =
                self.constraints().filter(|c| !open.contains(c)).cloned().collect();
            let _ = writeln!(
                page,
                "  the multipliers of {} are not unique{}; every reaction on a coordinate is",
                list(open, NAMES),
                if settled.is_empty() {
                    String::new()
                } else {
                    format!(", those of {} are", list(settled, NAMES))
                }
            );
        }
        if let Some(search) = &found.singular {
            for singular in &search.found {
                let place: Vec<String> = self
                    .coordinates()
                    .zip(&singular.q)
                    .map(|(name, x)| format!("{name} = {x:.6}"))
                    .collect();
                let _ = writeln!(
                    page,
                    "  singular configuration: rank {} at {}, where {} {}",
                    singular.rank,
                    list(place, NAMES),
                    list(self.rows(&singular.rows), NAMES),
                    if singular.rows.len() == 1 {
                        "restricts nothing"
                    } else {
                        "depend on each other"
                    }
                );
            }
            if search.found.is_empty() && r > 0 {
                let _ = writeln!(
                    page,
                    "  no singular configuration was found near the start (within {} of each coordinate)",
                    search.radius
                );
            }
        }
        page.push('\n');
    }

    fn text_kinds(&self, page: &mut String) {
        page.push_str("Constraints\n");
        let longest = self.constraints().map(|c| c.chars().count()).max().unwrap_or(0);
        for (name, words) in self.constraints().zip(&self.analysis.kinds).take(40) {
            let _ = writeln!(page, "  {name:<longest$}  {}", words.join(", "));
        }
        let count = self.analysis.kinds.len();
        if count > 40 {
            let _ = writeln!(page, "  … and {} more", count - 40);
        }
        page.push('\n');
    }

    fn text_integrability(&self, page: &mut String, assumed: &mut Vec<Assumption>) {
        let found = &self.analysis.integrability;
        let verdict = match found.holonomic {
            Some(true) if found.rows.iter().all(Option::is_none) => {
                "No constraint restricts positions or velocities"
            }
            Some(true) => "The constraints are holonomic as a set",
            Some(false) => "The constraints are nonholonomic",
            None => "Whether the constraints are holonomic was not found out",
        };
        let words = shown_words(&found.shown);
        let _ = match found.integrable {
            Some(_) => {
                writeln!(page, "{verdict}   [Frobenius, with time as a coordinate; {words}]")
            }
            None => writeln!(page, "{verdict}"),
        };
        if let Some(note) = &found.note {
            let _ = writeln!(page, "  {note}");
        }
        if let (Some(integrable), rank) = (found.integrable, self.analysis.freedom.rank) {
            let _ = writeln!(
                page,
                "  integrable combinations: {integrable} of {rank} independent ones"
            );
        }
        let vector = |v: &[usize]| {
            let entries: Vec<String> = v.iter().map(ToString::to_string).collect();
            format!("({})", entries.join(", "))
        };
        if let Some(growth) = &found.growth {
            let _ = writeln!(page, "  growth vector in (q, t): {}", vector(growth));
        }
        if let Some(growth) = &found.growth_at_start {
            let _ = writeln!(
                page,
                "  the start is a special point: the growth vector there is {}",
                vector(growth)
            );
        }
        for potential in &self.analysis.potentials {
            let _ = writeln!(
                page,
                "  {} {} {} = {}   [{}]",
                list(self.rows(&potential.rows), NAMES),
                if potential.rows.len() == 1 { "says" } else { "together say" },
                self.term(self.on_branch(potential.expression, assumed)),
                dalembert_analyze::names::short(potential.value),
                shown_words(&potential.shown)
            );
        }
        page.push('\n');
    }

    fn text_bracket(&self, page: &mut String, assumed: &mut Vec<Assumption>) {
        let found = self.analysis;
        match (&found.bracket, found.jacobi_defect) {
            (Ok(bracket), Some(defect)) => {
                let verdict = if defect == 0.0 {
                    "satisfies the Jacobi identity".to_owned()
                } else {
                    format!("fails the Jacobi identity by {defect:.3}")
                };
                let _ = writeln!(
                    page,
                    "The reduced bracket {verdict}   [van der Schaft & Maschke (1994), theorem 2.1]"
                );
                self.text_structure(page, bracket, assumed);
            }
            (Err(why), _) if found.freedom.constraints > 0 => {
                let _ = writeln!(page, "No reduced bracket: {why}");
            }
            _ => {}
        }
        if let Some((value, at_start)) = &found.value {
            let _ = writeln!(
                page,
                "  {{{}, {}}} = {}",
                self.term(value.arguments[0]),
                self.term(value.arguments[1]),
                self.term(self.on_branch(value.bracket, assumed))
            );
            if let Some(x) = at_start {
                let _ = writeln!(page, "    = {x} at the start");
            }
        }
        page.push('\n');
    }

    fn text_structure(&self, page: &mut String, bracket: &Bracket, assumed: &mut Vec<Assumption>) {
        let name = |at: usize| self.model.exprs.symbol_text(bracket.variables[at]);
        let mut lines = Vec::new();
        // What stands behind K⁻¹ r would have to be told too.
        let mut systems = 0;
        for (row, entries) in bracket.structure.rows.iter().enumerate() {
            for &(column, value) in entries.iter().filter(|e| e.0 > row) {
                let value = self.analysis.readable(&self.model.exprs, value);
                let value = self.on_branch(value, assumed);
                if !self.model.exprs.linear_systems(&[value]).is_empty() {
                    systems += 1;
                } else if value != ExprId::ZERO {
                    lines.push(format!(
                        "{{{}, {}}} = {}",
                        name(row),
                        name(column),
                        self.term(value)
                    ));
                }
            }
        }
        if let Some(list) = &bracket.jacobiator {
            for ([a, b, c], value) in list {
                let names = [name(*a), name(*b), name(*c)].join(", ");
                lines.push(format!(
                    "Jacobiator ({names}) = {}",
                    self.term(self.on_branch(*value, assumed))
                ));
            }
        }
        let more = lines.len().saturating_sub(LINES);
        for line in lines.iter().take(LINES) {
            let _ = writeln!(page, "  {line}");
        }
        if more > 0 {
            let _ = writeln!(page, "  … and {more} more entries (--json has all)");
        }
        if systems > 0 {
            let words = match systems {
                1 => "1 entry more is a solution of a linear system".to_owned(),
                _ => format!("{systems} entries more are solutions of linear systems"),
            };
            let _ = writeln!(page, "  {words} (dal derive --formulation bracket has all)");
        }
        if let Some(canonical) = self.analysis.canonical(self.model) {
            let s = if canonical.s.is_empty() {
                String::new()
            } else {
                format!("; constants s = ({})", canonical.s.join(", "))
            };
            let _ = writeln!(
                page,
                "  canonical coordinates (25): q = ({}), p = ({}){s}",
                list(canonical.q, NAMES),
                list(canonical.p, NAMES)
            );
        }
    }

    fn text_invariants(&self, page: &mut String) {
        let mut parts = Vec::new();
        parts.extend(self.analysis.conserved.iter().map(|c| invariants::to_text(self.model, c)));
        parts.push(lint::to_text(&self.analysis.findings));
        for part in parts.iter().filter(|part| !part.is_empty()) {
            if !page.ends_with("\n\n") {
                page.push('\n');
            }
            page.push_str(part);
        }
    }
}
