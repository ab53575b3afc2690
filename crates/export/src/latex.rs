//! LaTeX: a complete document, or its body.

use crate::derivation::{Derivation, dense};
use dalembert_expr::{ExprId, Jacobian, Notation};
use dalembert_model::system::Energy;
use std::fmt::Write;

/// Characters of one formula; longer ones are cut with an ellipsis.
const LONGEST: usize = 4_000;
/// Characters of one formula that fits beside others in a matrix.
const CELL: usize = 260;
/// Entries shown of one matrix or vector.
const MOST: usize = 60;

impl Derivation<'_> {
    /// A document that typesets as it is.
    pub fn to_latex(&self) -> String {
        let title = match self.model.system.title.as_str() {
            "" => "Equations of motion".to_owned(),
            title => escape(title),
        };
        format!(
            "\\documentclass[11pt]{{article}}\n\
             \\usepackage[utf8]{{inputenc}}\n\
             \\usepackage[T1]{{fontenc}}\n\
             \\usepackage{{amsmath}}\n\
             \\usepackage[margin=25mm]{{geometry}}\n\
             \\allowdisplaybreaks\n\
             \\setlength{{\\parindent}}{{0pt}}\n\
             \\title{{{title}}}\n\\author{{}}\\date{{}}\n\
             \\begin{{document}}\n\\maketitle\n\n{}\n\\end{{document}}\n",
            self.to_latex_fragment()
        )
    }

    /// The body of the document.
    pub fn to_latex_fragment(&self) -> String {
        let mut page = String::new();
        self.latex_energy(&mut page);
        self.latex_equations(&mut page);
        self.latex_constraints(&mut page);
        page
    }

    fn formula(&self, id: ExprId) -> String {
        self.exprs().print_limited(self.readable(id), Notation::Latex, LONGEST)
    }

    fn latex_energy(&self, page: &mut String) {
        let system = &self.model.system;
        let q: Vec<String> = system.coordinates.iter().map(|c| self.exprs().symbol_latex(c.position)).collect();
        let shown = if q.len() > 12 { format!("{}, \\ldots, {}", q[..10].join(", "), q[q.len() - 1]) } else { q.join(", ") };
        let _ = writeln!(page, "Generalized coordinates: $q = ({shown})$.\n");
        let mut lines: Vec<String> =
            self.energies().iter().map(|(letter, value)| format!("{letter} &= {}", self.formula(*value))).collect();
        if let Energy::Lagrangian { rest, .. } = &system.energy
            && *rest == ExprId::ZERO
        {
            lines.push("L &= T - V".to_owned());
        }
        if system.dissipation != ExprId::ZERO {
            lines.push(format!("R &= {}", self.formula(system.dissipation)));
        }
        align(page, &lines);
    }

    fn latex_equations(&self, page: &mut String) {
        let constrained = !self.model.system.constraints.is_empty();
        let nonideal = self.equations.nonideal.iter().any(|&c| c != ExprId::ZERO);
        let (metric, force, unknown) =
            if self.is_canonical() { ("\\Gamma", "F", "\\dot{p}") } else { ("M", "Q", "\\ddot{q}") };
        let _ = writeln!(page, "\\section*{{{}}}", self.heading());
        let mut right = force.to_owned();
        if nonideal {
            right.push_str(" + C");
        }
        if constrained {
            right.push_str(" + A^{\\mathsf T}\\lambda");
        }
        let constraint = if constrained { format!(", \\qquad A\\,{unknown} = b") } else { String::new() };
        let _ = writeln!(page, "\\[ {metric}\\,{unknown} = {right}{constraint} \\]");
        if let Some(source) = self.source() {
            let _ = writeln!(page, "({}, {}.)", escape(source.work), escape(source.equations));
        }
        if self.is_canonical() {
            self.latex_vector(page, "\\dot{q}", &self.equations.kinematics);
        }
        self.latex_matrix(page, metric, &self.equations.metric, true);
        self.latex_vector(page, force, &self.equations.force);
        if nonideal {
            self.latex_vector(page, "C", &self.equations.nonideal);
        }
    }

    fn latex_constraints(&self, page: &mut String) {
        let constraints = &self.model.system.constraints;
        if constraints.is_empty() {
            return;
        }
        page.push_str("\\section*{Constraints}\n");
        for constraint in constraints.iter().take(MOST) {
            let _ = writeln!(
                page,
                "\\noindent\\texttt{{{}}} ({}):\n\\[ {} = 0 \\]",
                escape(&constraint.name),
                constraint.kinds().join(", "),
                self.formula(constraint.residual)
            );
        }
        more(page, constraints.len());
        self.latex_matrix(page, "A", &self.equations.jacobian, false);
        self.latex_vector(page, "b", &self.equations.drift);
    }

    fn latex_matrix(&self, page: &mut String, name: &str, matrix: &Jacobian, symmetric: bool) {
        if matrix.nonzeros() == 0 {
            let _ = writeln!(page, "\\[ {name} = 0 \\]");
            return;
        }
        if matrix.rows.len() <= 6 && matrix.columns <= 6 {
            let cells: Vec<Vec<String>> =
                dense(matrix).iter().map(|row| row.iter().map(|&e| self.formula(e)).collect()).collect();
            let widest: usize = (0..matrix.columns)
                .map(|j| cells.iter().map(|row| row[j].len()).max().unwrap_or(0))
                .sum();
            if widest <= CELL {
                let rows: Vec<String> = cells.iter().map(|row| row.join(" & ")).collect();
                let _ = writeln!(page, "\\[ {name} = \\begin{{pmatrix}}\n{}\n\\end{{pmatrix}} \\]", rows.join(" \\\\\n"));
                return;
            }
        }
        let mut lines = Vec::new();
        for (i, row) in matrix.rows.iter().enumerate() {
            for &(j, entry) in row.iter().filter(|&&(j, _)| !symmetric || j <= i) {
                let comma = if matrix.rows.len().max(matrix.columns) > 9 { "," } else { "" };
                let place = if symmetric && j < i {
                    format!("{name}_{{{}{comma}{}}} = {name}_{{{}{comma}{}}}", i + 1, j + 1, j + 1, i + 1)
                } else {
                    format!("{name}_{{{}{comma}{}}}", i + 1, j + 1)
                };
                lines.push(format!("{place} &= {}", self.formula(entry)));
            }
        }
        align(page, &lines[..lines.len().min(MOST)]);
        more(page, lines.len());
    }

    fn latex_vector(&self, page: &mut String, name: &str, vector: &[ExprId]) {
        if vector.iter().all(|&e| e == ExprId::ZERO) {
            let _ = writeln!(page, "\\[ {name} = 0 \\]");
            return;
        }
        let lines: Vec<String> = vector
            .iter()
            .enumerate()
            .take(MOST)
            .map(|(at, &value)| format!("{name}_{{{}}} &= {}", at + 1, self.formula(value)))
            .collect();
        align(page, &lines);
        more(page, vector.len());
    }
}

fn align(page: &mut String, lines: &[String]) {
    if !lines.is_empty() {
        let _ = writeln!(page, "\\begin{{align*}}\n{}\n\\end{{align*}}", lines.join(" \\\\\n"));
    }
}

fn more(page: &mut String, count: usize) {
    if count > MOST {
        let _ = writeln!(page, "\n\\ldots{{}} and {} more.\n", count - MOST);
    }
}

/// Text in which LaTeX sees no commands.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '–' => escaped.push_str("--"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(c);
            }
            _ => escaped.push(c),
        }
    }
    escaped
}
