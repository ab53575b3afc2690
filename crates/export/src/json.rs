//! JSON: every expression in the language's own syntax, sparse matrices as
//! [row, column, expression] triples, rows and columns from 0.

use crate::derivation::Derivation;
use crate::readable::Row;
use dalembert_derive::Shape;
use dalembert_expr::{Assumption, ExprId, Jacobian, Symbol};
use serde_json::{Map, Value, json};

/// Trees larger than this are not written out; their place holds null.
const LARGEST: u64 = 1_000_000;

impl Derivation<'_> {
    /// The derivation as one JSON object.
    pub fn to_json(&self) -> Value {
        let system = &self.system();
        let equations = self.shown();
        let name = |&s: &Symbol| self.exprs().symbol_info(s).full_name();
        let energies: Map<String, Value> = self
            .energies()
            .iter()
            .map(|&(letter, value)| (letter.to_owned(), self.source_form(value)))
            .collect();
        let constraints: Vec<Value> = system
            .constraints
            .iter()
            .map(|c| json!({"name": c.name, "kinds": c.kinds(), "residual": self.source_form(c.residual)}))
            .collect();
        json!({
            "format": 1,
            "system": system.title,
            "formulation": equations.formulation,
            "q": equations.q.iter().map(name).collect::<Vec<_>>(),
            "v": equations.v.iter().map(name).collect::<Vec<_>>(),
            "energy": energies,
            "dissipation": self.source_form(system.dissipation),
            "own": self.vector(&equations.own),
            "auxiliary": equations.auxiliary.as_ref().map(|a| json!({
                "symbols": a.symbols.iter().map(name).collect::<Vec<_>>(),
                "residuals": self.vector(&a.residuals),
            })),
            "intermediate": self.quantities(),
            "kinematics": self.vector(&equations.kinematics),
            "metric": self.matrix(&equations.metric),
            "force": self.vector(&equations.force),
            "nonideal": self.vector(&equations.nonideal),
            "constraints": constraints,
            "conditions": self.conditions_json(),
            "rows": equations.rows.iter().map(|&r| &system.constraints[r].name).collect::<Vec<_>>(),
            "jacobian": self.matrix(&equations.jacobian),
            "drift": self.vector(&equations.bias),
            "assumptions": self.assumptions_json(self.readable.assumptions()),
            "equations": self.equations_json(&self.rows),
            "parts": self.parts.as_ref().map(|parts| {
                let list = parts.iter().map(|part| (part.name.to_owned(), json!(self.vector(&part.values))));
                Value::Object(list.collect())
            }),
            "solved": self.solved_json(),
            "systems": self.systems_json(),
            "nodes": self.equations.count_nodes(&self.model.exprs),
        })
    }

    fn assumptions_json(&self, list: &[Assumption]) -> Vec<String> {
        let sign = |a: &Assumption| if a.positive { '>' } else { '<' };
        list.iter().map(|a| format!("{} {} 0", self.exprs().to_source(a.expr), sign(a))).collect()
    }

    fn equations_json(&self, rows: &[Row]) -> Value {
        let row = |row: &Row| json!({"left": self.source_form(row.left), "right": self.source_form(row.right)});
        json!(rows.iter().map(row).collect::<Vec<_>>())
    }

    /// What holds of contacts and friction besides: their letters and what they are.
    fn conditions_json(&self) -> Value {
        let Some(conditions) = &self.conditions else { return Value::Null };
        let items = conditions.items.iter().map(|item| {
            let name = |symbol| self.exprs().symbol_info(symbol).full_name();
            let rows = item.rows.iter().map(|&(symbol, e)| (name(symbol), self.source_form(e)));
            let rows: Map<String, Value> = rows.collect();
            json!({"name": item.name, "phase": item.words, "letters": rows})
        });
        json!(items.collect::<Vec<_>>())
    }

    /// What stands behind `solve(K[k], r[i])[j]`.
    fn systems_json(&self) -> Value {
        let matrices = self.system_matrices().into_iter();
        let matrices = matrices.map(|(number, k)| (format!("K[{number}]"), self.matrix(&k)));
        let right = self.systems.iter();
        let right = right.map(|s| (format!("r[{}]", s.number), json!(self.vector(&s.r))));
        Value::Object(matrices.chain(right).collect())
    }

    fn solved_json(&self) -> Value {
        let named = |list: &[(Symbol, ExprId)]| -> Value {
            let name = |symbol| self.exprs().symbol_info(symbol).full_name();
            let list = list.iter().map(|&(symbol, e)| (name(symbol), self.source_form(e)));
            Value::Object(list.collect())
        };
        match &self.solved {
            None => Value::Null,
            Some(Err(why)) => json!({"not_told": why}),
            Some(Ok(solved)) => json!({
                "multipliers": named(&solved.multipliers),
                "rates": named(&solved.rates),
                "assumptions": self.assumptions_json(&solved.assumptions),
            }),
        }
    }

    fn quantities(&self) -> Value {
        let list = self.shown().intermediate.iter().map(|quantity| {
            let value = match &quantity.value {
                Shape::Scalar(value) => self.source_form(*value),
                Shape::Vector(list) => json!(self.vector(list)),
                Shape::Matrix(matrix) => self.matrix(matrix),
            };
            (quantity.text.to_owned(), value)
        });
        Value::Object(list.collect())
    }

    fn source_form(&self, id: ExprId) -> Value {
        if self.exprs().count_tree_size(id) > LARGEST {
            Value::Null
        } else {
            json!(self.exprs().to_source(id))
        }
    }

    fn vector(&self, vector: &[ExprId]) -> Vec<Value> {
        vector.iter().map(|&id| self.source_form(id)).collect()
    }

    fn matrix(&self, matrix: &Jacobian) -> Value {
        let entries: Vec<Value> = matrix
            .rows
            .iter()
            .enumerate()
            .flat_map(|(row, list)| list.iter().map(move |&(column, value)| (row, column, value)))
            .map(|(row, column, value)| json!([row, column, self.source_form(value)]))
            .collect();
        json!({"rows": matrix.rows.len(), "columns": matrix.columns, "entries": entries})
    }
}
