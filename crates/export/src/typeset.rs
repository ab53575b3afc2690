//! What a typeset document says, as a list of blocks with formulas in LaTeX:
//! the LaTeX and HTML documents are two ways of writing it down.
//!
//! It goes by the three steps of the papers: the unconstrained system, its
//! constraints, the constrained equations. Nothing is left out. A sum inside of a
//! product that would not fit on a line gets a name, and the names are explained
//! at the end; every other formula is broken between its terms.

use crate::derivation::{Derivation, Letters, dense};
use crate::names::Names;
use crate::readable::Row;
use crate::width::{LINE, break_lines, width};
use dalembert_derive::{Shape, Variables};
use dalembert_expr::{ExprId, Jacobian, Notation, Symbol};
use dalembert_model::parser::parse;
use dalembert_model::span::SourceId;
use dalembert_model::system::Energy;
use dalembert_model::tree::{StartRelation, StatementKind};

/// Characters of a line of the model's text.
const CODE_LINE: usize = 84;
/// Left sides wider than this stand on lines of their own.
const LEFT: u64 = 130;

/// A force of more lines is not said twice: the equations of motion hold it.
const LONG_FORCE: u64 = 12;

/// One piece of a document.
pub(crate) enum Block {
    /// A heading.
    Section(String),
    /// A sentence; math between dollar signs.
    Text(String),
    /// The label of a constraint and words about it.
    Label(String, String),
    /// A displayed formula.
    Display(String),
    /// Formulas one below the other, each as (left side, lines of its right side).
    Align(Vec<(String, Vec<String>)>),
    /// Lines of the model.
    Code(Vec<String>),
    /// Symbols and what they mean.
    Legend(Vec<(String, &'static str)>),
}

impl Derivation<'_> {
    /// The whole document.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let names = self.names(Notation::Latex);
        let mut document = Document { of: self, names, blocks: Vec::new() };
        document.model();
        document.unconstrained();
        if !self.system().constraints.is_empty() {
            document.constraints();
            document.constrained();
        }
        document.conditions();
        document.solved();
        document.systems();
        document.named_parts();
        document.legend();
        for remark in &self.remarks {
            document.blocks.push(Block::Text(format!("({remark}.)")));
        }
        document.blocks
    }
}

/// A derivation on its way to blocks.
struct Document<'d, 'm> {
    of: &'d Derivation<'m>,
    names: Names,
    blocks: Vec<Block>,
}

impl Document<'_, '_> {
    fn section(&mut self, title: impl Into<String>) {
        self.blocks.push(Block::Section(title.into()));
    }

    fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text(text.into()));
    }

    fn formula(&self, id: ExprId) -> String {
        self.of.exprs().print_named(id, Notation::Latex, &self.names.of)
    }

    fn symbol(&self, symbol: Symbol) -> String {
        self.of.exprs().symbol_latex(symbol)
    }

    fn symbols(&self, symbols: impl IntoIterator<Item = Symbol>) -> String {
        let all: Vec<String> =
            symbols.into_iter().map(|s| format!("${}$", self.symbol(s))).collect();
        all.join(", ")
    }

    /// Equations, those that are short below each other in one group.
    fn equations(&mut self, rows: Vec<(String, String)>) {
        let mut group: Vec<(String, Vec<String>)> = Vec::new();
        let mut widest = (0, 0);
        for (left, right) in rows {
            let both = (widest.0.max(width(&left)), widest.1.max(width(&right)));
            let fits = |(left, right): (u64, u64)| left + right + 13 <= LINE;
            let own = (width(&left), width(&right));
            if !group.is_empty() && !fits(both) {
                self.blocks.push(Block::Align(std::mem::take(&mut group)));
            }
            if fits(own) {
                widest = if group.is_empty() { own } else { both };
                group.push((left, vec![right]));
            } else {
                self.long_equation(left, &right);
            }
        }
        if !group.is_empty() {
            self.blocks.push(Block::Align(group));
        }
    }

    /// An equation in several lines.
    fn long_equation(&mut self, left: String, right: &str) {
        let room = LINE.saturating_sub(width(&left) + 33);
        if width(&left) <= LEFT {
            let lines = break_lines(right, room);
            self.blocks.push(Block::Align(vec![(left, lines)]));
            return;
        }
        let mut lines = break_lines(&left, LINE - 30);
        for (at, line) in break_lines(right, LINE - 45).into_iter().enumerate() {
            let front = if at == 0 { "= " } else { "\\quad " };
            lines.push(format!("{front}{line}"));
        }
        self.blocks.push(Block::Align(vec![(String::new(), lines)]));
    }

    fn equation(&mut self, left: &str, id: ExprId) {
        let right = self.formula(id);
        self.equations(vec![(left.to_owned(), right)]);
    }

    fn rows(&mut self, rows: &[Row]) {
        let rows = rows.iter().map(|row| (self.formula(row.left), self.formula(row.right)));
        let rows = rows.collect();
        self.equations(rows);
    }

    /// What was written: coordinates, parameters, definitions, start.
    fn model(&mut self) {
        let system = self.of.system();
        let q = self.symbols(system.positions());
        self.text(format!("Generalized coordinates: {q}."));
        if !system.states.is_empty() {
            let states = self.symbols(system.state_symbols());
            self.text(format!("States: {states}."));
        }
        if !system.inputs.is_empty() {
            let inputs = self.symbols(system.inputs.iter().map(|u| u.symbol));
            self.text(format!("Inputs: {inputs}."));
        }
        if !system.parameters.is_empty() {
            let parameters: Vec<String> = system
                .parameters
                .iter()
                .map(|p| match p.value {
                    Some(value) => format!("${} = {}$", self.symbol(p.symbol), self.formula(value)),
                    None => format!("${}$", self.symbol(p.symbol)),
                })
                .collect();
            self.text(format!("Parameters: {}.", parameters.join(", ")));
        }
        let definitions = self.definitions();
        if !definitions.is_empty() {
            self.text("Definitions, which the formulas below hold written out:");
            self.blocks.push(Block::Code(definitions));
        }
        if !system.start.is_empty() {
            let (mut short, mut long) = (Vec::new(), Vec::new());
            for item in &system.start {
                let [left, right] = [item.left, item.right].map(|e| self.of.readable.energy(e));
                let left = self.formula(left);
                let number = self.long_number(right);
                let sign = match (item.relation, &number) {
                    (StartRelation::Equals, None) => "=",
                    _ => "\\approx",
                };
                let right = number.unwrap_or_else(|| self.formula(right));
                if width(&left) + width(&right) > LINE / 2 {
                    long.push((left, right));
                } else {
                    short.push(format!("${left} {sign} {right}$"));
                }
            }
            let short = short.join(", ");
            let end = if long.is_empty() { "." } else { " and" };
            self.text(format!("Start: {short}{end}").replace(":  and", ":"));
            self.equations(long);
        }
        if let Some(words) = self.of.held(Notation::Latex) {
            self.text(format!("What follows is written for states {words}."));
        }
        if let Some(words) = self.of.assumed(self.of.readable.assumptions(), Notation::Latex) {
            self.text(format!("What follows is {words}."));
        }
    }

    /// The value of a long expression of parameters, such as a part of the quaternion of a
    /// rotation that was given; none of one that can be read.
    fn long_number(&self, id: ExprId) -> Option<String> {
        let exprs = self.of.exprs();
        if width(&self.formula(id)) <= LINE / 2 {
            return None;
        }
        let known: Vec<(Symbol, ExprId)> =
            self.of.system().parameters.iter().filter_map(|p| Some((p.symbol, p.value?))).collect();
        let mut value = id;
        // Parameters may be given by others.
        for _ in 0..=known.len() {
            if exprs.symbols_of(&[value]).is_empty() {
                break;
            }
            value = exprs.substitute(&[value], &known)[0];
        }
        let number = exprs.eval_f64(&[value], |_| f64::NAN)[0];
        number.is_finite().then(|| match format!("{number:.5e}").split_once('e') {
            Some((digits, "0")) => digits.to_owned(),
            Some((digits, power)) => format!("{digits} \\cdot 10^{{{power}}}"),
            None => number.to_string(),
        })
    }

    /// The `let` statements of the model's text.
    fn definitions(&self) -> Vec<String> {
        let sources = &self.of.model.sources;
        let Some(source) = sources.find(SourceId(0)) else { return Vec::new() };
        let literate = source.text.contains("```");
        let file = parse(SourceId(0), &source.text, literate, &mut Vec::new());
        let mut lines = Vec::new();
        for statement in &file.statements {
            if let StatementKind::Let(_) = statement.kind {
                for line in sources.snippet(statement.span).lines() {
                    wrap(line, &mut lines);
                }
            }
        }
        lines
    }

    fn energy(&mut self) {
        let system = self.of.system();
        let letter = |letter| self.of.energy_letter(letter, Notation::Latex);
        let mut rows: Vec<(String, String)> = self
            .of
            .energies()
            .iter()
            .map(|&(name, value)| (letter(name), self.formula(value)))
            .collect();
        if let Energy::Lagrangian { rest, .. } = &system.energy
            && *rest == ExprId::ZERO
        {
            rows.push((letter("L"), format!("{} - {}", letter("T"), letter("V"))));
        }
        if self.of.dissipation != ExprId::ZERO {
            rows.push((letter("R"), self.formula(self.of.dissipation)));
        }
        self.equations(rows);
    }

    fn unconstrained(&mut self) {
        let of = self.of;
        let shown = of.shown();
        let free = of.system().constraints.is_empty();
        let built_in = !free && shown.rows.is_empty();
        self.section(match free {
            true => of.heading().to_owned(),
            false => "1. The unconstrained system".to_owned(),
        });
        self.energy();
        if !built_in {
            self.normal_form(free);
            self.source();
            self.quantities();
            self.force();
            if free && shown.nonideal.iter().any(|&c| c != ExprId::ZERO) {
                self.text("Forces that count with those of constraints:");
                self.vector("\\mathbf{C}", &shown.nonideal);
            }
            if free {
                let rows = of.rows.clone();
                self.text("The equations of motion:");
                self.rows(&rows);
            }
        }
    }

    /// Γ v̇ = F, with the constraint force or without it.
    fn normal_form(&mut self, constrained: bool) {
        let shown = self.of.shown();
        let Letters { metric, force, rate, .. } = self.of.latex_letters();
        let mut right = force.to_owned();
        if constrained && shown.nonideal.iter().any(|&c| c != ExprId::ZERO) {
            right.push_str(" + \\mathbf{C}");
        }
        if constrained && !shown.rows.is_empty() {
            right.push_str(" + \\mathbf{A}^{\\mathsf{T}} \\lambda");
        }
        self.blocks.push(Block::Display(format!("{metric} \\, {rate} = {right}")));
    }

    fn source(&mut self) {
        if let Some(source) = self.of.source() {
            self.text(format!("({}, {}.)", source.work, source.equations));
        }
    }

    /// What v is, and what the formulation made on the way.
    fn quantities(&mut self) {
        let of = self.of;
        let shown = of.shown();
        self.variables();
        for quantity in &shown.intermediate {
            let meaning = spoken(quantity.meaning);
            self.text(format!("${}$: {meaning}.", quantity.latex));
            match &quantity.value {
                Shape::Scalar(value) => self.equation(quantity.latex, *value),
                Shape::Vector(list) => self.vector(quantity.latex, list),
                Shape::Matrix(matrix) => {
                    if !self.matrix(quantity.latex, matrix) {
                        self.entries(quantity.latex, matrix);
                    }
                }
            }
        }
        if of.latex_letters().kinematics {
            let rows = of.system().velocities().into_iter().zip(&shown.kinematics);
            let rows =
                rows.map(|(symbol, &value)| (self.symbol(symbol), self.formula(value))).collect();
            self.text("The velocities:");
            self.equations(rows);
        }
        if shown.states > 0 {
            let first = shown.kinematics.len() - shown.states;
            let rates = shown.q[first..].iter().zip(&shown.kinematics[first..]);
            let (kept, moved): (Vec<_>, Vec<_>) = rates.partition(|rate| *rate.1 == ExprId::ZERO);
            if !moved.is_empty() {
                let rows = moved
                    .into_iter()
                    .map(|(&state, &rate)| {
                        (format!("\\dot{{{}}}", self.symbol(state)), self.formula(rate))
                    })
                    .collect();
                self.text("The rates of the states:");
                self.equations(rows);
            }
            if !kept.is_empty() {
                let kept = self.symbols(kept.into_iter().map(|(&state, _)| state));
                self.text(format!("States that only events change: {kept}."));
            }
        }
    }

    /// Γ and F, and what F is made of.
    fn force(&mut self) {
        let of = self.of;
        let shown = of.shown();
        let Letters { metric, force, shows_force, .. } = of.latex_letters();
        if !metric.is_empty() && !self.matrix(metric, &shown.metric) {
            // Equations of momenta have no Γ on their left.
            if shown.variables == Variables::Momenta {
                self.entries(metric, &shown.metric);
            } else {
                let rests = (0..shown.v.len()).any(|at| of.readable.rests(at));
                let words = match rests {
                    false => "its entries are the coefficients of the rates in the equations below",
                    true => {
                        "its entries are the coefficients of the rates in the equations below, and \
                         those of rates that are 0"
                    }
                };
                self.text(format!("${metric}$ is too wide for a page; {words}."));
            }
        }
        let long: u64 = shown.force.iter().map(|&e| width(&self.formula(e))).sum();
        let is_free = of.system().constraints.is_empty();
        if shows_force && long > LONG_FORCE * LINE {
            let besides = match (is_free, shown.nonideal.iter().all(|&c| c == ExprId::ZERO)) {
                (true, true) => "",
                (true, false) => " without $\\mathbf{C}$",
                (false, true) => " without multipliers",
                (false, false) => " without multipliers and $\\mathbf{C}$",
            };
            self.text(format!(
                "${force}$ is long: it is what stands on the right of the equations of motion below{besides}."
            ));
        } else if shows_force {
            self.vector(force, &shown.force);
        }
        for part in of.parts.iter().flatten() {
            self.text(format!("Of it, {}:", part.name));
            self.vector(force, &part.values);
        }
    }

    fn constraints(&mut self) {
        let of = self.of;
        self.section("2. Constraints");
        for (constraint, &residual) in of.system().constraints.iter().zip(&of.residuals) {
            self.blocks.push(Block::Label(constraint.name.clone(), constraint.kinds().join(", ")));
            self.equations(vec![(self.formula(residual), "0".to_owned())]);
        }
        let shown = of.shown();
        if shown.rows.is_empty() {
            self.text("Velocities are chosen so that they satisfy the constraints by themselves.");
            return;
        }
        let rate = of.latex_letters().rate;
        self.text(format!("Differentiated until they restrict ${rate}$:"));
        self.blocks.push(Block::Display(format!("\\mathbf{{A}} \\, {rate} = \\mathbf{{b}}")));
        let wide = !self.matrix("\\mathbf{A}", &shown.jacobian);
        if wide {
            let rows = of.constraint_rows.clone();
            self.rows(&rows);
        } else {
            self.vector("\\mathbf{b}", &shown.bias);
        }
        if shown.nonideal.iter().any(|&c| c != ExprId::ZERO) {
            self.text("The constraint force is not ideal. It has the part");
            self.vector("\\mathbf{C}", &shown.nonideal);
        }
    }

    fn constrained(&mut self) {
        let of = self.of;
        self.section(format!("3. {}, constrained", of.heading()));
        self.normal_form(true);
        if of.shown().rows.is_empty() {
            self.source();
            self.quantities();
            self.force();
        }
        let rows = of.rows.clone();
        self.text(match rows.is_empty() {
            true => "The constraints leave no unknown: there is nothing to solve for.",
            false => "One for each unknown:",
        });
        self.rows(&rows);
    }

    /// What holds of contacts and friction besides.
    fn conditions(&mut self) {
        let of = self.of;
        let Some(conditions) = &of.conditions else { return };
        let laws = conditions.laws;
        self.section(match (laws.contacts, laws.frictions) {
            (true, true) => "Contacts and friction",
            (true, false) => "Contacts",
            _ => "Friction",
        });
        if laws.contacts {
            self.text("Of each contact, with its gap $g$ and the load $\\lambda$ that it bears,");
            self.blocks.push(Block::Display("0 \\le g \\perp \\lambda \\ge 0".to_owned()));
            self.text(
                "Closed, $g = 0$ is a constraint and $\\lambda$ its multiplier; open, $\\lambda = 0$, \
                 and neither its constraint nor its friction is there.",
            );
        }
        if laws.conditions {
            self.text("Where $h < 0$ there is no contact.");
        }
        if laws.frictions {
            self.text(
                "Of each friction, with the slip $v$ and the force $f$ along it, that is at most $F$,",
            );
            let bound = if laws.statics { "F_{s}" } else { "F" };
            self.blocks.push(Block::Display(format!(
                "v \\ne 0: \\quad f = -F \\, \\frac{{v}}{{|v|}}, \\qquad v = 0: \\quad |f| \\le {bound}"
            )));
            self.text(
                "Where it slips this is a force; where it sticks, $v = 0$ are constraints and $f$ \
                 their multipliers.",
            );
            if laws.statics {
                self.text("$F_{s}$ is $F$ where no other is given.");
            }
        }
        if laws.contacts {
            self.text("Where a contact closes with a velocity it is struck:");
            self.blocks.push(Block::Display("\\dot{g}^{+} = -e \\, \\dot{g}^{-}".to_owned()));
            self.text(format!("{}.", conditions.impact_words()));
        }
        let words = conditions.phase_words();
        self.text(format!("In this document {words}."));
        for item in &conditions.items {
            self.blocks.push(Block::Label(item.name.clone(), item.words.to_owned()));
            let rows = item.rows.iter();
            let rows = rows.map(|&(symbol, value)| (self.symbol(symbol), self.formula(value)));
            let rows = rows.collect();
            self.equations(rows);
        }
    }

    fn solved(&mut self) {
        let of = self.of;
        let solved = match &of.solved {
            None => return,
            Some(Err(why)) => return self.text(format!("Not solved for the rates: {why}.")),
            Some(Ok(solved)) => solved,
        };
        self.text(match of.shown().rows.is_empty() {
            true => "Solved for the rates:",
            false => "Solved, on the constraints:",
        });
        let lists = [&solved.multipliers, &solved.rates];
        for list in lists.into_iter().filter(|list| !list.is_empty()) {
            let rows =
                list.iter().map(|&(symbol, value)| (self.symbol(symbol), self.formula(value)));
            let rows = rows.collect();
            self.equations(rows);
        }
        for words in of.solved_words(solved, Notation::Latex) {
            self.text(format!("({words}.)"));
        }
    }

    /// What stands behind the components of K⁻¹ r.
    fn systems(&mut self) {
        let of = self.of;
        if of.systems.is_empty() {
            return;
        }
        self.section("Linear systems");
        let component = "$(\\mathbf{K}_{k}^{-1} \\mathbf{r}_{i})_{j}$";
        let system = "$\\mathbf{K}_{k} \\, x = \\mathbf{r}_{i}$";
        self.text(format!("{component} is component $j$ of the $x$ that solves {system}, with"));
        for (number, matrix) in of.system_matrices() {
            let name = format!("\\mathbf{{K}}_{{{number}}}");
            if !self.matrix(&name, &matrix) {
                self.entries(&name, &matrix);
            }
        }
        for system in &of.systems {
            self.vector(&format!("\\mathbf{{r}}_{{{}}}", system.number), &system.r);
        }
    }

    fn named_parts(&mut self) {
        if self.names.order.is_empty() {
            return;
        }
        self.section("Named parts");
        let rows = self.names.order.iter();
        let rows = rows.map(|id| (self.names.of[id].clone(), self.formula(*id))).collect();
        self.equations(rows);
    }

    fn legend(&mut self) {
        let shown = self.of.shown();
        let Letters { metric, force, rate, .. } = self.of.latex_letters();
        let mut rows = Vec::new();
        let mut add = |symbol: &str, meaning| rows.push((format!("${symbol}$"), meaning));
        add("q", "generalized coordinates");
        if shown.variables == Variables::Velocities {
            let is_own = self.of.energy_letter("L", Notation::Latex) == "L";
            add(
                "\\mathbf{M}",
                match is_own {
                    true => "mass matrix, $L_{\\dot{q}\\dot{q}}$",
                    false => "mass matrix, $\\mathcal{L}_{\\dot{q}\\dot{q}}$",
                },
            );
            add("\\mathbf{Q}", "impressed forces and all velocity terms");
        } else {
            if !metric.is_empty() {
                add(metric, "what multiplies the rates of the unknowns");
            }
            add(force, "impressed forces and all velocity terms, on the unknowns");
            add(rate, "rates of the unknowns");
        }
        if !self.of.system().constraints.is_empty() && !shown.rows.is_empty() {
            add(
                "\\mathbf{A}, \\mathbf{b}",
                "constraints, differentiated to the order of the rates",
            );
            add(
                "\\lambda",
                "multipliers; the constraint force is \
                $\\mathbf{A}^{\\mathsf{T}} \\lambda$",
            );
        }
        if shown.nonideal.iter().any(|&c| c != ExprId::ZERO) {
            add("\\mathbf{C}", "forces that count with those of constraints, as friction does");
        }
        if self.of.dissipation != ExprId::ZERO {
            let letter = self.of.energy_letter("R", Notation::Latex);
            add(&letter, "Rayleigh's dissipation function");
        }
        self.section("Symbols");
        self.blocks.push(Block::Legend(rows));
    }

    /// What v is, and what stands behind it without a formula.
    fn variables(&mut self) {
        let equations = self.of.shown();
        if equations.variables == Variables::Velocities && equations.auxiliary.is_none() {
            return;
        }
        let v = self.symbols(equations.v.iter().copied());
        self.text(format!("Unknowns $v$: {v}."));
        if let Some(auxiliary) = &equations.auxiliary {
            let w = self.symbols(auxiliary.symbols.iter().copied());
            self.text(format!("Here {w} are determined by"));
            let rows = auxiliary.residuals.iter().map(|&r| (self.formula(r), "0".to_owned()));
            let rows = rows.collect();
            self.equations(rows);
        }
    }

    /// A matrix in parentheses; false if it does not fit.
    fn matrix(&mut self, name: &str, matrix: &Jacobian) -> bool {
        if matrix.nonzeros() == 0 {
            self.blocks.push(Block::Display(format!("{name} = 0")));
            return true;
        }
        if matrix.rows.len() > 10 || matrix.columns > 10 {
            return false;
        }
        let cells: Vec<Vec<String>> = dense(matrix)
            .iter()
            .map(|row| row.iter().map(|&e| self.formula(e)).collect())
            .collect();
        let widest: u64 = (0..matrix.columns)
            .map(|j| cells.iter().map(|row| width(&row[j])).max().unwrap_or(0) + 11)
            .sum();
        if widest + width(name) + 40 > LINE {
            return false;
        }
        let rows: Vec<String> = cells.iter().map(|row| row.join(" & ")).collect();
        let body = rows.join(" \\\\ ");
        self.blocks
            .push(Block::Display(format!("{name} = \\begin{{pmatrix}} {body} \\end{{pmatrix}}")));
        true
    }

    /// The entries of a matrix that are not 0.
    fn entries(&mut self, name: &str, matrix: &Jacobian) {
        let comma = if matrix.rows.len().max(matrix.columns) > 9 { "," } else { "" };
        let mut rows = Vec::new();
        for (i, row) in matrix.rows.iter().enumerate() {
            for &(j, entry) in row {
                let place = component(name, &format!("{}{comma}{}", i + 1, j + 1));
                rows.push((place, self.formula(entry)));
            }
        }
        self.equations(rows);
    }

    /// A column if it is narrow, else component by component.
    fn vector(&mut self, name: &str, vector: &[ExprId]) {
        if vector.iter().all(|&e| e == ExprId::ZERO) {
            self.blocks.push(Block::Display(format!("{name} = 0")));
            return;
        }
        let rows = vector
            .iter()
            .enumerate()
            .map(|(at, &value)| (component(name, &(at + 1).to_string()), self.formula(value)));
        let rows = rows.collect();
        self.equations(rows);
    }
}

/// A component of what a name stands for, which may have an index of its own.
fn component(name: &str, index: &str) -> String {
    match name.contains(['_', '^', ' ']) {
        true => format!("({name})_{{{index}}}"),
        false => format!("{name}_{{{index}}}"),
    }
}

/// A line of the model in lines that fit, broken at spaces.
fn wrap(line: &str, lines: &mut Vec<String>) {
    let mut rest = line.trim_end();
    while rest.chars().count() > CODE_LINE {
        let end = rest.char_indices().nth(CODE_LINE).map_or(rest.len(), |(at, _)| at);
        let cut = rest[..end].rfind(' ').filter(|&at| at > 8).unwrap_or(end);
        lines.push(rest[..cut].to_owned());
        rest = rest[cut..].trim_start();
    }
    lines.push(rest.to_owned());
}

/// The lines of an aligned group: `left &= right`, further lines indented.
pub(crate) fn align_lines(rows: &[(String, Vec<String>)]) -> Vec<String> {
    let mut lines = Vec::new();
    for (left, right) in rows {
        let equals = if left.is_empty() { "" } else { "=" };
        for (at, line) in right.iter().enumerate() {
            lines.push(match at {
                0 => format!("{left} &{equals} {line}"),
                _ => format!("&\\quad {line}"),
            });
        }
    }
    lines
}

/// The letters in a sentence as formulas, for a typesetter that has only LaTeX.
fn spoken(text: &str) -> String {
    let mut out = text.to_owned();
    for (plain, formula) in [
        ("s = G q̇", "$s = G \\dot{q}$"),
        ("p·q̇ − L", "$p \\cdot \\dot{q} - L$"),
        ("(q, p̃)", "$(q, \\tilde{p})$"),
        ("ṗ without constraints, −H_q + Q′", "$\\dot{p}$ without constraints, $-H_q + Q'$"),
        ("L − β·q̇_c", "$L - \\beta \\cdot \\dot{q}_c$"),
    ] {
        out = out.replace(plain, formula);
    }
    out
}
