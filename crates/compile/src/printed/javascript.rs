//! Tapes as JavaScript.
//!
//! The text of a tape is an expression whose value has two functions on arrays of doubles:
//! `prepare(c)` takes the constants, `call(x, y)` computes the outputs y of the variables x. A
//! [`module`] is the body of a function that returns several of them by name.
//!
//! Sums, products, quotients, roots, comparisons and linear solves are those of the other backends to
//! the bit, but for one thing: there is no a·b + c with one rounding, so it has two
//! ([`unfused`](super::unfused)). The language leaves the last digits of sin, exp and their like to
//! who implements it; they are within a few units of the last place.
//!
//! Short tapes are one function with a name for each register. Compilers of browsers give up on
//! long functions, so that long tapes are cut into functions of some hundred instructions with all
//! registers in one array.
//!
//! Tables that a tape looks up are data of the module, written once each.

use super::{NotPrinted, kept};
use crate::tape::{Instruction, Register, Right, Tape};
use dalembert_expr::{Function, Outside, Table, TableId};
use std::fmt::Write;
use std::ops::Range;

/// Tapes with more instructions are cut.
const SHORT: usize = 1200;
/// Into pieces of so many.
const PIECE: usize = 400;

/// What printed tapes call.
const SUPPORT: &str = include_str!("javascript.js");

/// What looks up tables.
const TABLES: &str = include_str!("tables.js");

/// The body of a function that returns an object of printed tapes.
pub fn module(tapes: &[(&str, &Tape)]) -> Result<String, NotPrinted> {
    let mut text = format!("\"use strict\";\n{SUPPORT}");
    let tables = tables(tapes.iter().map(|(_, tape)| *tape));
    if !tables.is_empty() {
        text.push_str(TABLES);
        for (at, id) in tables.iter().enumerate() {
            if let Some(table) = id.table() {
                let _ = writeln!(text, "const d{at} = {};", data(&table));
            }
        }
    }
    text.push_str("return {\n");
    for (name, tape) in tapes {
        let _ = writeln!(text, "{name}: {},", print(tape, &tables)?);
    }
    text.push_str("};\n");
    Ok(text)
}

/// The tables that tapes look up, in the order in which they do.
fn tables<'t>(tapes: impl Iterator<Item = &'t Tape>) -> Vec<TableId> {
    let mut list = Vec::new();
    for tape in tapes {
        for instruction in &tape.instructions {
            if let Some((id, _)) = looked_up(tape, instruction)
                && !list.contains(&id)
            {
                list.push(id);
            }
        }
    }
    list
}

/// The table that an instruction looks up, and the order of the derivative or the column.
fn looked_up(tape: &Tape, instruction: &Instruction) -> Option<(TableId, u32)> {
    let &Instruction::Call2(Function::Table | Function::Piece | Function::Entry, key, _) =
        instruction
    else {
        return None;
    };
    TableId::of_key(*tape.numbers.get(key as usize)?)
}

/// A table as an object: breaks, coefficients of the pieces in a row, the last value.
fn data(table: &Table) -> String {
    let list = |numbers: &mut dyn Iterator<Item = f64>| -> String {
        numbers.map(number).collect::<Vec<_>>().join(", ")
    };
    let outside = match table.outside() {
        Outside::Ends => "ends",
        Outside::Hold => "hold",
        Outside::Extend => "extend",
        Outside::Repeat => "repeat",
    };
    format!(
        "{{ b: [{}], c: [{}], last: {}, outside: '{outside}' }}",
        list(&mut table.breaks().iter().copied()),
        list(&mut table.pieces().iter().flatten().copied()),
        number(table.values().last().unwrap_or(f64::NAN)),
    )
}

/// A tape as an expression. It calls functions of the text that a [`module`] begins with, which has
/// these tables.
fn print(tape: &Tape, tables: &[TableId]) -> Result<String, NotPrinted> {
    if !tape.restricted.is_empty() {
        return Err(NotPrinted::Restricted);
    }
    let is_short = tape.instructions.len() <= SHORT;
    let mut printer = Printer { tape, tables, is_short, kept: kept(tape), text: String::new() };
    printer.print();
    Ok(printer.text)
}

struct Printer<'t> {
    tape: &'t Tape,
    tables: &'t [TableId],
    is_short: bool,
    /// Registers of the prologue that are read behind it.
    kept: Vec<Register>,
    text: String,
}

impl Printer<'_> {
    fn print(&mut self) {
        let tape = self.tape;
        let (prologue, body) = (0..tape.prologue, tape.prologue..tape.instructions.len());
        let room = if self.is_short { self.kept.len() } else { tape.instructions.len() };
        let _ = writeln!(
            self.text,
            "(function () {{\nconst k = new Float64Array({}), r = new Float64Array({room});",
            tape.constants
        );
        for (at, matrix) in tape.matrices.iter().enumerate() {
            let (n, room) = (matrix.size, matrix.size * matrix.size);
            let _ = writeln!(
                self.text,
                "const m{at} = new Float64Array({room}), o{at} = new Int32Array({n});"
            );
        }
        for (at, right) in tape.rights.iter().enumerate() {
            let _ = writeln!(self.text, "const s{at} = new Float64Array({});", right.entries.len());
        }
        let (ahead, behind) = match self.is_short {
            true => (Vec::new(), Vec::new()),
            false => (self.pieces('p', prologue.clone()), self.pieces('b', body.clone())),
        };
        self.text.push_str("return { prepare: function (c) {\nk.set(c);\n");
        match self.is_short {
            true => self.instructions(prologue),
            false => ahead.iter().for_each(|call| self.text.push_str(call)),
        }
        self.text.push_str("}, call: function (x, y) {\n");
        match self.is_short {
            true => self.instructions(body),
            false => behind.iter().for_each(|call| self.text.push_str(call)),
        }
        for (at, &register) in tape.outputs.iter().enumerate() {
            let value = self.name(register, false);
            let _ = writeln!(self.text, "y[{at}] = {value};");
        }
        self.text.push_str("} };\n})()");
    }

    /// Functions of some hundred instructions each; their calls.
    fn pieces(&mut self, letter: char, of: Range<usize>) -> Vec<String> {
        let starts = of.clone().step_by(PIECE).enumerate();
        let mut calls = Vec::new();
        for (at, start) in starts {
            let _ = writeln!(self.text, "function {letter}{at}(x) {{");
            self.instructions(start..(start + PIECE).min(of.end));
            self.text.push_str("}\n");
            let argument = if letter == 'b' { "x" } else { "" };
            calls.push(format!("{letter}{at}({argument});\n"));
        }
        calls
    }

    /// A register's value; `ahead` in the prologue, where nothing is kept yet.
    fn name(&self, register: Register, ahead: bool) -> String {
        let tape = self.tape;
        let at = register as usize;
        if at < tape.first_constant() {
            return number(tape.numbers[at]);
        }
        if at < tape.first_variable() {
            return format!("k[{}]", at - tape.first_constant());
        }
        if at < tape.first_instruction() {
            return format!("x[{}]", at - tape.first_variable());
        }
        let at = at - tape.first_instruction();
        match (self.is_short, ahead || at >= tape.prologue) {
            (true, true) => format!("r{at}"),
            (true, false) => {
                let place = self.kept.binary_search(&register).unwrap_or(0);
                format!("r[{place}]")
            }
            (false, _) => format!("r[{at}]"),
        }
    }

    /// Instructions, all ahead of the calls or none.
    fn instructions(&mut self, of: Range<usize>) {
        for at in of {
            let ahead = at < self.tape.prologue;
            let statement = self.statement(at, ahead);
            self.text.push_str(&statement);
            let register = (self.tape.first_instruction() + at) as Register;
            if self.is_short
                && ahead
                && let Ok(place) = self.kept.binary_search(&register)
            {
                let _ = writeln!(self.text, "r[{place}] = r{at};");
            }
        }
    }

    /// A table at an argument: a value, a piece, or a number of a piece.
    fn look_up(&self, function: Function, id: TableId, order: u32, x: &str) -> String {
        let Some(at) = self.tables.iter().position(|own| *own == id) else {
            return "NaN".to_owned();
        };
        match function {
            Function::Table => format!("table(d{at}, {order}, {x})"),
            Function::Piece => format!("piece(d{at}, {x})"),
            _ => format!("entry(d{at}, {order}, {x})"),
        }
    }

    /// What the instruction at a place does, with a line end; what follows another is written
    /// where that stands in the tape's own order, so it is read from where the other left it.
    fn statement(&self, at: usize, ahead: bool) -> String {
        let tape = self.tape;
        let own = |value: String| match self.is_short {
            true => format!("const r{at} = {value};\n"),
            false => format!("r[{at}] = {value};\n"),
        };
        let name = |register: Register| self.name(register, ahead);
        let binary = |a, sign: &str, b| own(format!("{} {sign} {}", name(a), name(b)));
        match tape.instructions[at] {
            Instruction::Add(a, b) => binary(a, "+", b),
            Instruction::Sub(a, b) => binary(a, "-", b),
            Instruction::Mul(a, b) => binary(a, "*", b),
            Instruction::Div(a, b) => binary(a, "/", b),
            Instruction::Neg(a) => own(format!("-{}", name(a))),
            Instruction::Fma(a, b, c) => own(format!("{} * {} + {}", name(a), name(b), name(c))),
            Instruction::Sqrt(a) => own(format!("Math.sqrt({})", name(a))),
            Instruction::Pow(a, b) => own(format!("pow({}, {})", name(a), name(b))),
            Instruction::SinCos(a) => own(format!("Math.sin({})", name(a))),
            Instruction::Call1(function, a) => own(one(function, &name(a))),
            Instruction::Call2(function, a, b) => match looked_up(tape, &tape.instructions[at]) {
                Some((id, order)) => own(self.look_up(function, id, order, &name(b))),
                None => own(two(function, &name(a), &name(b))),
            },
            Instruction::Select(c, a, b) => {
                own(format!("select({}, {}, {})", name(c), name(a), name(b)))
            }
            Instruction::Factor(matrix) => {
                let entries = &tape.matrices[matrix as usize];
                let n = entries.size;
                let mut text = format!("m{matrix}.fill(0);\n");
                for entry in &entries.entries {
                    let place = entry.row as usize * n + entry.column as usize;
                    let _ = writeln!(text, "m{matrix}[{place}] = {};", name(entry.register));
                }
                let _ = writeln!(text, "factor(m{matrix}, o{matrix}, {n});");
                text
            }
            Instruction::Solve(right) => {
                let Right { matrix, entries } = &tape.rights[right as usize];
                let list: Vec<String> = entries.iter().map(|&r| name(r)).collect();
                let mut text = format!(
                    "solve(m{matrix}, o{matrix}, {}, [{}], s{right});\n",
                    entries.len(),
                    list.join(", ")
                );
                text.push_str(&own(format!("s{right}[0]")));
                text
            }
            Instruction::Follow => {
                let leader = (0..at).rev().find(|&i| tape.instructions[i] != Instruction::Follow);
                let leader = leader.unwrap_or(0);
                match tape.instructions[leader] {
                    Instruction::SinCos(a) => own(format!("Math.cos({})", name(a))),
                    Instruction::Solve(right) => own(format!("s{right}[{}]", at - leader)),
                    _ => own("NaN".to_owned()),
                }
            }
            // Refused before.
            Instruction::Restricted(_) => own("NaN".to_owned()),
        }
    }
}

/// A number with all its digits; a sign is kept apart from what stands before it.
fn number(x: f64) -> String {
    let text = match x {
        x if x.is_nan() => return "NaN".to_owned(),
        x if x.is_infinite() => "Infinity".to_owned(),
        x => format!("{:?}", x.abs()),
    };
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if x.is_sign_negative() { format!("(-{text})") } else { text.to_owned() }
}

fn one(function: Function, a: &str) -> String {
    let name = match function {
        Function::Sin => "Math.sin",
        Function::Cos => "Math.cos",
        Function::Tan => "Math.tan",
        Function::Asin => "Math.asin",
        Function::Acos => "Math.acos",
        Function::Atan => "Math.atan",
        Function::Sinh => "Math.sinh",
        Function::Cosh => "Math.cosh",
        Function::Tanh => "Math.tanh",
        Function::Exp => "Math.exp",
        Function::Log => "Math.log",
        Function::Abs => "Math.abs",
        Function::Sign => "sign",
        Function::Negative => "negative",
        Function::NotPositive => "notPositive",
        Function::Atan2
        | Function::Min
        | Function::Max
        | Function::If
        | Function::And
        | Function::Or
        | Function::Table
        | Function::Piece
        | Function::Entry
        | Function::Given => return "NaN".to_owned(),
        Function::Floor => "Math.floor",
    };
    format!("{name}({a})")
}

fn two(function: Function, a: &str, b: &str) -> String {
    match function {
        // 0 has no sign here.
        Function::Atan2 => format!("Math.atan2({a} + 0, {b} + 0)"),
        Function::Min => format!("least({a}, {b})"),
        Function::Max => format!("greatest({a}, {b})"),
        Function::And => format!("and({a}, {b})"),
        Function::Or => format!("or({a}, {b})"),
        _ => "NaN".to_owned(),
    }
}
