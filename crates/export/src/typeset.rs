//! What a typeset document says, as a list of blocks with formulas in LaTeX:
//! the LaTeX and HTML documents are two ways of writing it down.

use crate::derivation::{Derivation, Letters, dense};
use dalembert_derive::{Shape, Variables};
use dalembert_expr::{ExprId, Jacobian, Notation, Symbol};
use dalembert_model::system::Energy;

/// Characters of one formula; longer ones are cut with an ellipsis.
const LONGEST: usize = 4_000;
/// Characters of formulas that fit beside each other in a matrix.
const CELL: usize = 260;
/// Entries shown of one matrix or vector.
const MOST: usize = 60;
/// Visible characters of one line of a formula.
const LINE: usize = 92;

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
}

impl Derivation<'_> {
    /// The whole document.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        self.energy_blocks(&mut blocks);
        self.equation_blocks(&mut blocks);
        self.constraint_blocks(&mut blocks);
        blocks
    }

    fn formula(&self, id: ExprId) -> String {
        self.exprs().print_limited(id, Notation::Latex, LONGEST)
    }

    fn row(&self, left: &str, id: ExprId) -> (String, Vec<String>) {
        (left.to_owned(), break_lines(&self.formula(id), LINE))
    }

    fn energy_blocks(&self, blocks: &mut Vec<Block>) {
        let system = &self.system();
        let q: Vec<String> =
            system.coordinates.iter().map(|c| self.exprs().symbol_latex(c.position)).collect();
        let shown = match q.len() {
            n if n > 12 => format!("{}, \\ldots, {}", q[..10].join(", "), q[n - 1]),
            _ => q.join(", "),
        };
        blocks.push(Block::Text(format!("Generalized coordinates: $q = ({shown})$.")));
        let mut rows: Vec<(String, Vec<String>)> =
            self.energies().iter().map(|(letter, value)| self.row(letter, *value)).collect();
        if let Energy::Lagrangian { rest, .. } = &system.energy
            && *rest == ExprId::ZERO
        {
            rows.push(("L".to_owned(), vec!["T - V".to_owned()]));
        }
        if system.dissipation != ExprId::ZERO {
            rows.push(self.row("R", system.dissipation));
        }
        blocks.push(Block::Align(rows));
    }

    fn equation_blocks(&self, blocks: &mut Vec<Block>) {
        let constrained = !self.shown().rows.is_empty();
        let nonideal = self.shown().nonideal.iter().any(|&c| c != ExprId::ZERO);
        let Letters { metric, force, shows_force, rate: unknown, kinematics } =
            self.latex_letters();
        blocks.push(Block::Section(self.heading().to_owned()));
        let mut right = force.to_owned();
        if nonideal {
            right.push_str(" + C");
        }
        if constrained {
            right.push_str(" + A^{\\mathsf{T}} \\lambda");
        }
        let constraint =
            if constrained { format!(", \\qquad A \\, {unknown} = b") } else { String::new() };
        blocks.push(Block::Display(format!("{metric} \\, {unknown} = {right}{constraint}")));
        if let Some(source) = self.source() {
            blocks.push(Block::Text(format!("({}, {}.)", source.work, source.equations)));
        }
        self.variable_blocks(blocks);
        for quantity in &self.shown().intermediate {
            blocks.push(Block::Text(format!(
                "${}$: {}.",
                quantity.latex,
                spoken(quantity.meaning)
            )));
            match &quantity.value {
                Shape::Scalar(value) => {
                    blocks.push(Block::Align(vec![self.row(quantity.latex, *value)]));
                }
                Shape::Vector(list) => self.vector_blocks(blocks, quantity.latex, list),
                Shape::Matrix(matrix) => {
                    self.matrix_blocks(blocks, quantity.latex, matrix, false);
                }
            }
        }
        if kinematics {
            self.vector_blocks(blocks, "\\dot{q}", &self.shown().kinematics);
        }
        if !metric.is_empty() {
            self.matrix_blocks(blocks, metric, &self.shown().metric, true);
        }
        if shows_force {
            self.vector_blocks(blocks, force, &self.shown().force);
        }
        if nonideal {
            self.vector_blocks(blocks, "C", &self.shown().nonideal);
        }
    }

    fn constraint_blocks(&self, blocks: &mut Vec<Block>) {
        let constraints = &self.system().constraints;
        if constraints.is_empty() {
            return;
        }
        blocks.push(Block::Section("Constraints".to_owned()));
        for constraint in constraints.iter().take(MOST) {
            blocks.push(Block::Label(constraint.name.clone(), constraint.kinds().join(", ")));
            let mut lines = break_lines(&self.formula(constraint.residual), LINE);
            if let Some(last) = lines.last_mut() {
                last.push_str(" = 0");
            }
            if lines.len() == 1 {
                blocks.push(Block::Display(lines.swap_remove(0)));
            } else {
                blocks.push(Block::Align(vec![(String::new(), lines)]));
            }
        }
        more(blocks, constraints.len());
        if self.shown().rows.is_empty() {
            blocks.push(Block::Text("The velocities above satisfy them by themselves.".to_owned()));
            return;
        }
        self.matrix_blocks(blocks, "A", &self.shown().jacobian, false);
        self.vector_blocks(blocks, "b", &self.shown().bias);
    }

    /// What v is, and what stands behind it without a formula.
    fn variable_blocks(&self, blocks: &mut Vec<Block>) {
        let equations = self.shown();
        if equations.variables == Variables::Velocities && equations.auxiliary.is_none() {
            return;
        }
        let names = |symbols: &[Symbol]| -> String {
            let all: Vec<String> = symbols.iter().map(|&s| self.exprs().symbol_latex(s)).collect();
            match all.len() {
                n if n > 12 => format!("{}, \\ldots, {}", all[..10].join(", "), all[n - 1]),
                _ => all.join(", "),
            }
        };
        blocks.push(Block::Text(format!("Unknowns: $v = ({})$.", names(&equations.v))));
        if let Some(auxiliary) = &equations.auxiliary {
            let text = format!("Here ${}$ are determined by", names(&auxiliary.symbols));
            blocks.push(Block::Text(text));
            let rows = auxiliary.residuals.iter().take(MOST).map(|&r| self.row("0", r)).collect();
            blocks.push(Block::Align(rows));
        }
    }

    fn matrix_blocks(
        &self,
        blocks: &mut Vec<Block>,
        name: &str,
        matrix: &Jacobian,
        symmetric: bool,
    ) {
        if matrix.nonzeros() == 0 {
            blocks.push(Block::Display(format!("{name} = 0")));
            return;
        }
        if matrix.rows.len() <= 6 && matrix.columns <= 6 {
            let cells: Vec<Vec<String>> = dense(matrix)
                .iter()
                .map(|row| row.iter().map(|&e| self.formula(e)).collect())
                .collect();
            let widest: usize = (0..matrix.columns)
                .map(|j| cells.iter().map(|row| row[j].len()).max().unwrap_or(0))
                .sum();
            if widest <= CELL {
                let rows: Vec<String> = cells.iter().map(|row| row.join(" & ")).collect();
                let body = rows.join(" \\\\ ");
                blocks.push(Block::Display(format!(
                    "{name} = \\begin{{pmatrix}} {body} \\end{{pmatrix}}"
                )));
                return;
            }
        }
        let comma = if matrix.rows.len().max(matrix.columns) > 9 { "," } else { "" };
        let place = |i: usize, j: usize| format!("{name}_{{{}{comma}{}}}", i + 1, j + 1);
        let mut rows = Vec::new();
        let mut count = 0;
        for (i, row) in matrix.rows.iter().enumerate() {
            for &(j, entry) in row.iter().filter(|&&(j, _)| !symmetric || j <= i) {
                count += 1;
                if count > MOST {
                    continue;
                }
                let left = if symmetric && j < i {
                    format!("{} = {}", place(i, j), place(j, i))
                } else {
                    place(i, j)
                };
                rows.push(self.row(&left, entry));
            }
        }
        blocks.push(Block::Align(rows));
        more(blocks, count);
    }

    fn vector_blocks(&self, blocks: &mut Vec<Block>, name: &str, vector: &[ExprId]) {
        if vector.iter().all(|&e| e == ExprId::ZERO) {
            blocks.push(Block::Display(format!("{name} = 0")));
            return;
        }
        let rows = vector
            .iter()
            .enumerate()
            .take(MOST)
            .map(|(at, &value)| self.row(&format!("{name}_{{{}}}", at + 1), value))
            .collect();
        blocks.push(Block::Align(rows));
        more(blocks, vector.len());
    }
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

fn more(blocks: &mut Vec<Block>, count: usize) {
    if count > MOST {
        blocks.push(Block::Text(format!("… and {} more.", count - MOST)));
    }
}

/// A formula in lines that fit a page: broken before + and − that stand in no
/// bracket.
fn break_lines(formula: &str, limit: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut depth = 0i32;
    let bytes: Vec<char> = formula.chars().collect();
    let mut at = 0;
    while at < bytes.len() {
        let rest: String = bytes[at..bytes.len().min(at + 7)].iter().collect();
        match bytes[at] {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            _ => {}
        }
        let operator = rest.starts_with(" + ") || rest.starts_with(" - ");
        if depth == 0 && operator && visible(&line) > limit / 2 {
            let ahead: String = bytes[at..].iter().collect();
            let next = next_term(&ahead);
            if visible(&line) + visible(&next) > limit {
                lines.push(std::mem::take(&mut line));
            }
        }
        line.push(bytes[at]);
        at += 1;
    }
    lines.push(line);
    lines.iter().map(|l| l.trim().to_owned()).collect()
}

/// The operator and the term behind it.
fn next_term(rest: &str) -> String {
    let mut depth = 0i32;
    let mut term = String::new();
    for (since, (at, c)) in rest.char_indices().enumerate() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0
            && since > 2
            && (rest[at..].starts_with(" + ") || rest[at..].starts_with(" - "))
        {
            break;
        }
        term.push(c);
    }
    term
}

/// Roughly how many characters of a formula are seen: a command is one, braces
/// and carets none.
fn visible(formula: &str) -> usize {
    let mut count = 0;
    let mut chars = formula.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let mut word = String::new();
                while let Some(letter) = chars.next_if(|l| l.is_ascii_alphabetic()) {
                    word.push(letter);
                }
                count += match word.as_str() {
                    "left" | "right" | "frac" | "dot" | "ddot" | "mathrm" | "sqrt" => 0,
                    "sin" | "cos" | "tan" | "exp" | "log" => 3,
                    _ => 1,
                };
            }
            '{' | '}' | '^' | '_' | ' ' => {}
            _ => count += 1,
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_terms_only() {
        let term = "m_{1} \\left(a + b\\right)^{2}";
        let formula = [term; 12].join(" + ");
        let lines = break_lines(&formula, 60);
        assert!(lines.len() > 1);
        assert!(lines.iter().all(|l| visible(l) <= 70), "{lines:?}");
        assert_eq!(lines.join(" "), formula);
        assert!(lines.iter().all(|l| l.matches('(').count() == l.matches(')').count()));
        assert_eq!(break_lines("a + b", 60), ["a + b"]);
    }
}
