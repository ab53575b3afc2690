//! Unicode text for a terminal.

use crate::derivation::{Derivation, Entry, Letters, dense, entries};
use crate::names::Names;
use dalembert_derive::{Shape, Variables};
use dalembert_expr::{ExprId, Jacobian, Notation, Symbol};
use dalembert_model::system::Energy;
use std::fmt::Write;

/// Entries shown of one matrix or vector.
const MOST: usize = 60;
/// Characters shown of one expression.
const LONGEST: usize = 6_000;
/// Columns a matrix in brackets may take.
const WIDTH: usize = 100;
/// Characters of a vector that is shown though the equations say the same.
const BRIEF: usize = 600;

/// `a, b, c, … (N in all)`.
pub fn list(items: Vec<String>, most: usize) -> String {
    if items.len() <= most {
        return items.join(", ");
    }
    let shown = items[..most - 2].join(", ");
    format!("{shown}, …, {}", items[items.len() - 1])
}

/// A text for a terminal without the title above it, for documents that have one of their own.
pub fn untitled(text: &str) -> &str {
    let mut rest = text.splitn(3, '\n').skip(1);
    match (rest.next(), rest.next()) {
        (Some(line), Some(body)) if line.starts_with('═') => body.trim_matches('\n'),
        _ => text.trim_matches('\n'),
    }
}

/// Columns a text takes on a terminal: combining marks take none.
pub fn width(text: &str) -> usize {
    text.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).count()
}

impl Derivation<'_> {
    /// The derivation as text.
    pub fn to_text(&self) -> String {
        let mut page = TextPage { of: self, names: self.names(Notation::Text), out: String::new() };
        page.head();
        page.energy();
        page.equations();
        page.constraints();
        page.conditions();
        page.systems();
        page.named_parts();
        for remark in &self.remarks {
            let _ = writeln!(page.out, "\n{remark}");
        }
        page.out
    }
}

/// A derivation on its way to text.
struct TextPage<'d, 'm> {
    of: &'d Derivation<'m>,
    names: Names,
    out: String,
}

impl TextPage<'_, '_> {
    fn show(&self, id: ExprId) -> String {
        let exprs = self.of.exprs();
        if exprs.count_tree_size(id) > LONGEST as u64 && self.names.order.is_empty() {
            return exprs.print_limited(id, Notation::Text, LONGEST);
        }
        let text = exprs.print_named(id, Notation::Text, &self.names.of);
        // A terminal is no place for it; documents have it whole.
        if text.len() <= 4 * LONGEST {
            text
        } else {
            exprs.print_limited(id, Notation::Text, LONGEST)
        }
    }

    fn head(&mut self) {
        let system = self.of.system();
        if !system.title.is_empty() {
            let rule = "═".repeat(width(&system.title));
            let _ = writeln!(self.out, "{}\n{rule}\n", system.title);
        }
        let exprs = self.of.exprs();
        let q = system.coordinates.iter().map(|c| exprs.symbol_text(c.position)).collect();
        let _ = writeln!(self.out, "coordinates  q = ({})", list(q, 16));
        if !system.parameters.is_empty() {
            let parameters = system
                .parameters
                .iter()
                .map(|p| {
                    let name = exprs.symbol_text(p.symbol);
                    match p.value {
                        Some(value) => {
                            format!("{name} = {}", exprs.print_limited(value, Notation::Text, 60))
                        }
                        None => name,
                    }
                })
                .collect();
            let _ = writeln!(self.out, "parameters   {}", list(parameters, 16));
        }
        if let Some(words) = self.of.held(Notation::Text) {
            let _ = writeln!(self.out, "{words}");
        }
        if let Some(words) = self.of.assumed(self.of.readable.assumptions(), Notation::Text) {
            let _ = writeln!(self.out, "{words}");
        }
        self.out.push('\n');
    }

    fn energy(&mut self) {
        let letter = |letter| self.of.energy_letter(letter, Notation::Text);
        for &(name, value) in self.of.energies() {
            let _ = writeln!(self.out, "{} = {}", letter(name), self.show(value));
        }
        if let Energy::Lagrangian { rest, .. } = &self.of.system().energy
            && *rest == ExprId::ZERO
        {
            let _ = writeln!(self.out, "{} = {} − {}", letter("L"), letter("T"), letter("V"));
        }
        if self.of.dissipation != ExprId::ZERO {
            let _ = writeln!(self.out, "{} = {}", letter("R"), self.show(self.of.dissipation));
        }
        self.out.push('\n');
    }

    fn equations(&mut self) {
        let shown = self.of.shown();
        let constrained = !shown.rows.is_empty();
        let source = self
            .of
            .source()
            .map(|s| format!("   [{}, {}]", s.work, s.equations))
            .unwrap_or_default();
        let _ = writeln!(self.out, "{}{source}", self.of.heading());
        let Letters { metric, force, shows_force, rate, kinematics } = self.of.letters();
        let (metric, force) = (self.of.letter(metric), self.of.letter(force));
        let left = if metric.is_empty() { rate.to_owned() } else { format!("{metric} {rate}") };
        let nonideal = shown.nonideal.iter().any(|&c| c != ExprId::ZERO);
        let mut right = force.clone();
        if nonideal {
            let _ = write!(right, " + {}", self.of.letter("C"));
        }
        let (a, b) = (self.of.letter("A"), self.of.letter("b"));
        if constrained {
            let _ = write!(right, " + {a}ᵀλ");
        }
        let constraint = if constrained { format!(",   {a} {rate} = {b}") } else { String::new() };
        let _ = writeln!(self.out, "  {left} = {right}{constraint}\n");
        self.variables();
        for quantity in &shown.intermediate {
            let name = quantity.text;
            let _ = writeln!(self.out, "{name}: {}", quantity.meaning);
            match &quantity.value {
                Shape::Scalar(value) => {
                    let _ = writeln!(self.out, "{name} = {}\n", self.show(*value));
                }
                Shape::Vector(list) => self.vector(name, list),
                Shape::Matrix(matrix) => {
                    self.matrix(name, matrix, entries(matrix), false);
                }
            }
        }
        let coordinates = shown.kinematics.len() - shown.states;
        if kinematics {
            self.vector("q̇", &shown.kinematics[..coordinates]);
        }
        let name = |state: &Symbol| self.of.exprs().symbol_text(*state);
        let mut kept = Vec::new();
        for (state, &rate) in shown.q[coordinates..].iter().zip(&shown.kinematics[coordinates..]) {
            if rate == ExprId::ZERO {
                kept.push(name(state));
            } else {
                let _ = writeln!(self.out, "{}′ = {}", name(state), self.show(rate));
            }
        }
        if !kept.is_empty() {
            let _ = writeln!(self.out, "{}: changed by events only", list(kept, 16));
        }
        if shown.states > 0 {
            self.out.push('\n');
        }
        self.rows();
        self.parts(&force);
        self.solved();
        if !metric.is_empty() {
            self.metric(&metric);
        }
        let length: usize = shown.force.iter().map(|&e| width(&self.show(e))).sum();
        if shows_force && length <= BRIEF {
            self.vector(&force, &shown.force);
        } else if shows_force {
            let without = if constrained { " without λ" } else { "" };
            let _ = writeln!(self.out, "{force}: the right sides above{without}\n");
        }
        if nonideal {
            self.vector(&self.of.letter("C"), &shown.nonideal);
        }
    }

    /// Γ if it fits; where it does not, the equations have said it.
    fn metric(&mut self, name: &str) {
        let metric = &self.of.shown().metric;
        // Equations of momenta have no Γ on their left.
        if self.of.shown().variables == Variables::Momenta {
            return self.matrix(name, metric, entries(metric), true);
        }
        if self.brackets(name, metric) {
            return;
        }
        let (n, count) = (metric.rows.len(), metric.nonzeros());
        let rests = (0..n).any(|at| self.of.readable.rests(at));
        let held = if rests { ", and those of rates that are 0" } else { "" };
        let _ = writeln!(
            self.out,
            "{name}: {n}×{n}, symmetric, {count} entries not 0: the coefficients on the left above{held}\n"
        );
    }

    /// The equations of motion, one for each unknown.
    fn rows(&mut self) {
        for row in self.of.rows.iter().take(MOST) {
            let _ = writeln!(self.out, "  {} = {}", self.show(row.left), self.show(row.right));
        }
        self.more(self.of.rows.len());
        self.out.push('\n');
    }

    fn parts(&mut self, force: &str) {
        let Some(parts) = &self.of.parts else { return };
        for part in parts {
            let _ = writeln!(self.out, "{force}, {}", part.name);
            for (at, &value) in part.values.iter().enumerate().take(MOST) {
                if value != ExprId::ZERO {
                    let place = subscripts(&[at + 1], 9);
                    let _ = writeln!(self.out, "  {force}{place}: {}", self.show(value));
                }
            }
            self.out.push('\n');
        }
    }

    fn solved(&mut self) {
        let solved = match &self.of.solved {
            None => return,
            Some(Err(why)) => {
                let _ = writeln!(self.out, "not solved for the rates: {why}\n");
                return;
            }
            Some(Ok(solved)) => solved,
        };
        self.out.push_str(match self.of.shown().rows.is_empty() {
            true => "solved\n",
            false => "solved, on the constraints\n",
        });
        let name = |symbol: Symbol| self.of.exprs().symbol_text(symbol);
        let mut lines = Vec::new();
        for &(symbol, value) in solved.multipliers.iter().chain(&solved.rates).take(2 * MOST) {
            lines.push(format!("  {} = {}", name(symbol), self.show(value)));
        }
        for line in lines {
            let _ = writeln!(self.out, "{line}");
        }
        for words in self.of.solved_words(solved, Notation::Text) {
            let _ = writeln!(self.out, "  ({words})");
        }
        self.out.push('\n');
    }

    fn constraints(&mut self) {
        let system = self.of.system();
        if system.constraints.is_empty() {
            self.out.push_str("no constraints\n");
            return;
        }
        self.out.push_str("constraints\n");
        let names = system.constraints.iter().map(|c| width(&c.name)).max().unwrap_or(0);
        for (row, constraint) in system.constraints.iter().enumerate().take(MOST) {
            let pad = " ".repeat(names - width(&constraint.name));
            let kinds = constraint.kinds().join(", ");
            let _ = writeln!(self.out, "  {}{pad}  {kinds}", constraint.name);
            let residual = self.show(self.of.residuals[row]);
            let _ = writeln!(self.out, "  {}  {residual} = 0", " ".repeat(names));
        }
        self.more(system.constraints.len());
        self.out.push('\n');
        let shown = self.of.shown();
        if shown.rows.is_empty() {
            self.out.push_str("v satisfies them by itself\n");
            return;
        }
        self.matrix(&self.of.letter("A"), &shown.jacobian, self.of.jacobian_entries(), false);
        self.vector(&self.of.letter("b"), &shown.bias);
    }

    /// What holds of contacts and friction besides.
    fn conditions(&mut self) {
        let Some(conditions) = &self.of.conditions else { return };
        let laws = conditions.laws;
        let title = match (laws.contacts, laws.frictions) {
            (true, true) => "contacts and friction",
            (true, false) => "contacts",
            _ => "friction",
        };
        let front = if self.out.ends_with("\n\n") { "" } else { "\n" };
        let mut page = format!("{front}{title}\n");
        let mut line = |words: &str| page.push_str(&format!("  {words}\n"));
        if laws.contacts {
            line("0 ≤ g ⊥ λ ≥ 0: closed, g = 0 is a row and λ its multiplier; open, λ = 0");
        }
        if laws.conditions {
            line("where h < 0 there is no contact");
        }
        if laws.frictions {
            line("slips, v ≠ 0: the force along v is f = −F·v/|v|");
            line(match laws.statics {
                true => {
                    "sticks, v = 0: rows with the multipliers f, |f| ≤ F, or F_s where it is given"
                }
                false => "sticks, v = 0: rows with the multipliers f, |f| ≤ F",
            });
        }
        if laws.contacts {
            line(&format!("closes: ġ⁺ = −e·ġ⁻, {}", conditions.impact_words()));
        }
        line(&conditions.phase_words());
        for item in conditions.items.iter().take(MOST) {
            for (at, &(symbol, value)) in item.rows.iter().enumerate() {
                let front = if at == 0 { "\n" } else { "" };
                let name = self.of.exprs().symbol_text(symbol);
                let _ = writeln!(page, "{front}  {name} = {}", self.show(value));
            }
        }
        self.out.push_str(&page);
        self.more(conditions.items.len());
    }

    /// What v is, and what stands behind it without a formula.
    fn variables(&mut self) {
        let equations = self.of.shown();
        if equations.variables == Variables::Velocities && equations.auxiliary.is_none() {
            return;
        }
        let name = |&s: &Symbol| self.of.exprs().symbol_text(s);
        let _ = writeln!(self.out, "v = ({})", list(equations.v.iter().map(name).collect(), 16));
        if let Some(auxiliary) = &equations.auxiliary {
            let w = list(auxiliary.symbols.iter().map(name).collect(), 16);
            let _ = writeln!(self.out, "where {w} are determined by");
            for &residual in auxiliary.residuals.iter().take(MOST) {
                let _ = writeln!(self.out, "  {} = 0", self.show(residual));
            }
        }
        self.out.push('\n');
    }

    /// What stands behind the components of K⁻¹ r.
    fn systems(&mut self) {
        let of = self.of;
        if of.systems.is_empty() {
            return;
        }
        self.out.push_str("\n(𝐊ₖ⁻¹·𝐫ᵢ)ⱼ is component j of the x that solves 𝐊ₖ x = 𝐫ᵢ, with\n\n");
        for (number, matrix) in of.system_matrices() {
            let name = format!("𝐊{}", subscripts(&[number], 9));
            self.matrix(&name, &matrix, entries(&matrix), false);
        }
        for system in of.systems.iter().take(MOST) {
            let name = format!("𝐫{}", subscripts(&[system.number], 9));
            self.column(&name, &system.r);
        }
        self.more(of.systems.len());
    }

    /// A vector whose name has an index of its own.
    fn column(&mut self, name: &str, vector: &[ExprId]) {
        for (at, &value) in vector.iter().enumerate().take(MOST) {
            let place = subscripts(&[at + 1], 9);
            let _ = writeln!(self.out, "({name}){place} = {}", self.show(value));
        }
        self.more(vector.len());
        self.out.push('\n');
    }

    /// What was named.
    fn named_parts(&mut self) {
        if self.names.order.is_empty() {
            return;
        }
        self.out.push_str("where\n");
        for id in self.names.order.iter().take(5 * MOST) {
            let _ = writeln!(self.out, "  {} = {}", self.names.of[id], self.show(*id));
        }
        if self.names.order.len() > 5 * MOST {
            let rest = self.names.order.len() - 5 * MOST;
            let _ = writeln!(self.out, "  … and {rest} more; `--format latex` has them all");
        }
    }

    fn more(&mut self, count: usize) {
        if count > MOST {
            let rest = count - MOST;
            let _ = writeln!(self.out, "  … and {rest} more; `--format json` has them all");
        }
    }

    /// A matrix in brackets; false if it does not fit.
    fn brackets(&mut self, name: &str, matrix: &Jacobian) -> bool {
        if matrix.nonzeros() == 0 {
            let _ = writeln!(self.out, "{name} = 0\n");
            return true;
        }
        if matrix.rows.len() > 8 || matrix.columns > 8 {
            return false;
        }
        let cells: Vec<Vec<String>> =
            dense(matrix).iter().map(|row| row.iter().map(|&e| self.show(e)).collect()).collect();
        let Some(lines) = bracket(&cells) else { return false };
        let middle = lines.len() / 2;
        let blank = " ".repeat(width(name) + 3);
        for (at, line) in lines.iter().enumerate() {
            let front = if at == middle { format!("{name} = ") } else { blank.clone() };
            let _ = writeln!(self.out, "{front}{line}");
        }
        self.out.push('\n');
        true
    }

    /// In brackets if it fits, otherwise entry by entry.
    fn matrix(&mut self, name: &str, matrix: &Jacobian, entries: Vec<Entry>, symmetric: bool) {
        if self.brackets(name, matrix) {
            return;
        }
        let note = if symmetric { ", symmetric" } else { "" };
        let (rows, columns) = (matrix.rows.len(), matrix.columns);
        let count = matrix.nonzeros();
        let _ = writeln!(self.out, "{name}: {rows}×{columns}{note}, {count} entries not 0");
        for entry in entries.iter().take(MOST) {
            let place = subscripts(&[entry.row + 1, entry.column + 1], rows.max(columns));
            let _ = writeln!(self.out, "  {name}{place} = {}", self.show(entry.value));
        }
        self.more(entries.len());
        self.out.push('\n');
    }

    fn vector(&mut self, name: &str, vector: &[ExprId]) {
        if vector.iter().all(|&e| e == ExprId::ZERO) {
            let _ = writeln!(self.out, "{name} = 0\n");
            return;
        }
        for (at, &value) in vector.iter().enumerate().take(MOST) {
            let place = subscripts(&[at + 1], 9);
            let _ = writeln!(self.out, "{name}{place} = {}", self.show(value));
        }
        self.more(vector.len());
        self.out.push('\n');
    }
}

/// Subscript digits, with a comma where indices could run together.
fn subscripts(indices: &[usize], largest: usize) -> String {
    let digits = |n: usize| -> String {
        let text = n.to_string();
        text.chars().filter_map(|c| char::from_u32('₀' as u32 + c.to_digit(10)?)).collect()
    };
    let separator = if largest > 9 { "," } else { "" };
    indices.iter().map(|&n| digits(n)).collect::<Vec<_>>().join(separator)
}

/// Rows in tall brackets; `None` if too wide.
fn bracket(cells: &[Vec<String>]) -> Option<Vec<String>> {
    let columns = cells.first()?.len();
    let widths: Vec<usize> =
        (0..columns).map(|j| cells.iter().map(|row| width(&row[j])).max().unwrap_or(0)).collect();
    if widths.iter().sum::<usize>() + 3 * columns + 6 > WIDTH {
        return None;
    }
    let last = cells.len() - 1;
    let lines = cells.iter().enumerate().map(|(at, row)| {
        let inner: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, &w)| format!("{cell}{}", " ".repeat(w - width(cell))))
            .collect();
        let (open, close) = match (last, at) {
            (0, _) => ('[', ']'),
            (_, 0) => ('⎡', '⎤'),
            (_, at) if at == last => ('⎣', '⎦'),
            _ => ('⎢', '⎥'),
        };
        format!("{open} {} {close}", inner.join("   "))
    });
    Some(lines.collect())
}
