//! Unicode text for a terminal.

use crate::derivation::{Derivation, Entry, Letters, dense, entries};
use dalembert_derive::{Shape, Variables};
use dalembert_expr::{ExprId, Jacobian, Notation, Symbol};
use dalembert_model::system::Energy;
use std::fmt::Write;

/// Entries shown of one matrix or vector.
const MOST: usize = 60;
/// Characters shown of one expression.
const LONGEST: usize = 2_000;
/// Columns a matrix in brackets may take.
const WIDTH: usize = 100;

/// `a, b, c, … (N in all)`.
pub fn list(items: Vec<String>, most: usize) -> String {
    if items.len() <= most {
        return items.join(", ");
    }
    let shown = items[..most - 2].join(", ");
    format!("{shown}, …, {}", items[items.len() - 1])
}

/// Columns a text takes on a terminal: combining marks take none.
pub fn width(text: &str) -> usize {
    text.chars().filter(|c| !('\u{300}'..='\u{36f}').contains(c)).count()
}

impl Derivation<'_> {
    /// The derivation as text.
    pub fn to_text(&self) -> String {
        let mut page = String::new();
        self.text_head(&mut page);
        self.text_energy(&mut page);
        self.text_equations(&mut page);
        self.text_constraints(&mut page);
        page
    }

    fn show(&self, id: ExprId) -> String {
        self.exprs().print_limited(id, Notation::Text, LONGEST)
    }

    fn text_head(&self, page: &mut String) {
        let system = &self.system();
        if !system.title.is_empty() {
            let _ = writeln!(page, "{}\n{}\n", system.title, "═".repeat(width(&system.title)));
        }
        let q = system.coordinates.iter().map(|c| self.exprs().symbol_text(c.position)).collect();
        let _ = writeln!(page, "coordinates  q = ({})", list(q, 16));
        if !system.parameters.is_empty() {
            let parameters = system
                .parameters
                .iter()
                .map(|p| {
                    let name = self.exprs().symbol_text(p.symbol);
                    match p.value {
                        Some(value) => format!(
                            "{name} = {}",
                            self.exprs().print_limited(value, Notation::Text, 60)
                        ),
                        None => name,
                    }
                })
                .collect();
            let _ = writeln!(page, "parameters   {}", list(parameters, 16));
        }
        page.push('\n');
    }

    fn text_energy(&self, page: &mut String) {
        for (letter, value) in self.energies() {
            let _ = writeln!(page, "{letter} = {}", self.show(value));
        }
        if let Energy::Lagrangian { rest, .. } = &self.system().energy
            && *rest == ExprId::ZERO
        {
            page.push_str("L = T − V\n");
        }
        if self.system().dissipation != ExprId::ZERO {
            let _ = writeln!(page, "R = {}", self.show(self.system().dissipation));
        }
        page.push('\n');
    }

    fn text_equations(&self, page: &mut String) {
        let constrained = !self.shown().rows.is_empty();
        let source =
            self.source().map(|s| format!("   [{}, {}]", s.work, s.equations)).unwrap_or_default();
        let _ = writeln!(page, "{}{source}", self.heading());
        let Letters { metric, force, shows_force, rate, kinematics } = self.letters();
        let left = if metric.is_empty() { rate.to_owned() } else { format!("{metric} {rate}") };
        let nonideal = self.shown().nonideal.iter().any(|&c| c != ExprId::ZERO);
        let mut right = force.to_owned();
        if nonideal {
            right.push_str(" + C");
        }
        if constrained {
            right.push_str(" + Aᵀλ");
        }
        let constraint = if constrained { format!(",   A {rate} = b") } else { String::new() };
        let _ = writeln!(page, "  {left} = {right}{constraint}\n");
        self.text_variables(page);
        self.text_rows(page);
        for quantity in &self.shown().intermediate {
            let name = quantity.text;
            let _ = writeln!(page, "{name}: {}", quantity.meaning);
            match &quantity.value {
                Shape::Scalar(value) => {
                    let _ = writeln!(page, "{name} = {}\n", self.show(*value));
                }
                Shape::Vector(list) => self.text_vector(page, name, list),
                Shape::Matrix(matrix) => {
                    self.text_matrix(page, name, matrix, entries(matrix), false);
                }
            }
        }
        if kinematics {
            self.text_vector(page, "q̇", &self.shown().kinematics);
        }
        if !metric.is_empty() {
            self.text_matrix(page, metric, &self.shown().metric, self.metric_entries(), true);
        }
        if shows_force {
            self.text_vector(page, force, &self.shown().force);
        }
        if nonideal {
            self.text_vector(page, "C", &self.shown().nonideal);
        }
    }

    /// The equations of motion, one for each unknown.
    fn text_rows(&self, page: &mut String) {
        let rows = self.readable.rows();
        for row in rows.iter().take(MOST) {
            let _ = writeln!(page, "  {} = {}", self.show(row.left), self.show(row.right));
        }
        self.more(page, rows.len());
        page.push('\n');
    }

    fn text_constraints(&self, page: &mut String) {
        let system = &self.system();
        if system.constraints.is_empty() {
            page.push_str("no constraints\n");
            return;
        }
        page.push_str("constraints\n");
        let names = system.constraints.iter().map(|c| width(&c.name)).max().unwrap_or(0);
        for constraint in system.constraints.iter().take(MOST) {
            let pad = " ".repeat(names - width(&constraint.name));
            let _ = writeln!(page, "  {}{pad}  {}", constraint.name, constraint.kinds().join(", "));
            let _ =
                writeln!(page, "  {}  {} = 0", " ".repeat(names), self.show(constraint.residual));
        }
        self.more(page, system.constraints.len());
        page.push('\n');
        if self.shown().rows.is_empty() {
            page.push_str("v satisfies them by itself\n");
            return;
        }
        self.text_matrix(page, "A", &self.shown().jacobian, self.jacobian_entries(), false);
        self.text_vector(page, "b", &self.shown().bias);
    }

    /// What v is, and what stands behind it without a formula.
    fn text_variables(&self, page: &mut String) {
        let equations = self.shown();
        if equations.variables == Variables::Velocities && equations.auxiliary.is_none() {
            return;
        }
        let name = |&s: &Symbol| self.exprs().symbol_text(s);
        let _ = writeln!(page, "v = ({})", list(equations.v.iter().map(name).collect(), 16));
        if let Some(auxiliary) = &equations.auxiliary {
            let w = list(auxiliary.symbols.iter().map(name).collect(), 16);
            let _ = writeln!(page, "where {w} are determined by");
            for &residual in auxiliary.residuals.iter().take(MOST) {
                let _ = writeln!(page, "  {} = 0", self.show(residual));
            }
        }
        page.push('\n');
    }

    fn more(&self, page: &mut String, count: usize) {
        if count > MOST {
            let _ = writeln!(page, "  … and {} more; `--format json` has them all", count - MOST);
        }
    }

    /// In brackets if it fits, otherwise entry by entry.
    fn text_matrix(
        &self,
        page: &mut String,
        name: &str,
        matrix: &Jacobian,
        entries: Vec<Entry>,
        symmetric: bool,
    ) {
        if entries.is_empty() {
            let _ = writeln!(page, "{name} = 0\n");
            return;
        }
        if matrix.rows.len() <= 8 && matrix.columns <= 8 {
            let cells: Vec<Vec<String>> = dense(matrix)
                .iter()
                .map(|row| row.iter().map(|&e| self.show(e)).collect())
                .collect();
            if let Some(lines) = bracket(&cells) {
                let middle = lines.len() / 2;
                let blank = " ".repeat(width(name) + 3);
                for (at, line) in lines.iter().enumerate() {
                    let front = if at == middle { format!("{name} = ") } else { blank.clone() };
                    let _ = writeln!(page, "{front}{line}");
                }
                page.push('\n');
                return;
            }
        }
        let note = if symmetric { ", symmetric" } else { "" };
        let (rows, columns) = (matrix.rows.len(), matrix.columns);
        let _ =
            writeln!(page, "{name}: {rows}×{columns}{note}, {} entries not 0", matrix.nonzeros());
        for entry in entries.iter().take(MOST) {
            let place = subscripts(&[entry.row + 1, entry.column + 1], rows.max(columns));
            let _ = writeln!(page, "  {name}{place} = {}", self.show(entry.value));
        }
        self.more(page, entries.len());
        page.push('\n');
    }

    fn text_vector(&self, page: &mut String, name: &str, vector: &[ExprId]) {
        if vector.iter().all(|&e| e == ExprId::ZERO) {
            let _ = writeln!(page, "{name} = 0\n");
            return;
        }
        for (at, &value) in vector.iter().enumerate().take(MOST) {
            let place = subscripts(&[at + 1], 9);
            let _ = writeln!(page, "{name}{place} = {}", self.show(value));
        }
        self.more(page, vector.len());
        page.push('\n');
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
