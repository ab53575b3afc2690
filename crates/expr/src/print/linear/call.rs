//! Functions and conditions on a line.

use super::super::write::{Level, Page, Sheet, Slot, Task, shares};
use super::Linear;
use crate::arena::ExprId;
use crate::function::Function;
use std::borrow::Cow;

impl Linear {
    /// A function of its arguments, with an exponent after its name.
    pub(super) fn call(
        &self,
        page: &Page,
        slot: Slot,
        function: Function,
        power: &str,
        sheet: &mut Sheet,
    ) {
        match function {
            Function::Negative | Function::NotPositive | Function::And | Function::Or => {
                self.condition(page, slot, function, sheet);
            }
            Function::Abs if self.unicode => {
                self.arguments(page, slot, Level::Sum, "|", "|", sheet)
            }
            Function::If => {
                let arguments = page.layout.arguments(slot.id);
                let parts = shares(arguments.iter().map(|&x| page.measure(x).length), slot.budget);
                sheet.text("if(");
                for (at, (&x, &budget)) in arguments.iter().zip(&parts).enumerate() {
                    if at > 0 {
                        sheet.text(", ");
                    }
                    sheet.expr(x, if at == 0 { Level::Or } else { Level::Sum }, budget);
                }
                sheet.text(")");
            }
            Function::Floor if self.unicode => {
                self.arguments(page, slot, Level::Sum, "⌊", "⌋", sheet);
            }
            Function::Floor => {
                // The language has no other form for it.
                let x = page.layout.arguments(slot.id)[0];
                let half = if slot.budget == u64::MAX { u64::MAX } else { slot.budget / 2 };
                sheet.text("(");
                sheet.expr(x, Level::Sum, half);
                sheet.text(" - mod(");
                sheet.expr(x, Level::Sum, half);
                sheet.text(", 1))");
            }
            Function::Table | Function::Given => {
                let arguments = page.layout.arguments(slot.id);
                sheet.text(format!("{}{power}(", page.layout.table_name(function, arguments[0])));
                sheet.expr(arguments[1], Level::Sum, slot.budget);
                sheet.text(")");
            }
            _ => {
                let name = format!("{}{power}(", function.name());
                self.arguments(page, slot, Level::Sum, name, ")", sheet);
            }
        }
    }

    fn arguments(
        &self,
        page: &Page,
        slot: Slot,
        level: Level,
        open: impl Into<Cow<'static, str>>,
        close: &'static str,
        sheet: &mut Sheet,
    ) {
        let arguments = page.layout.arguments(slot.id);
        let parts = shares(arguments.iter().map(|&x| page.measure(x).length), slot.budget);
        sheet.text(open);
        self.list(&arguments, &parts, ", ", level, slot.flip, sheet);
        sheet.text(close);
    }

    fn list(
        &self,
        ids: &[ExprId],
        budgets: &[u64],
        separator: &'static str,
        level: Level,
        flip: bool,
        sheet: &mut Sheet,
    ) {
        for (at, (&id, &budget)) in ids.iter().zip(budgets).enumerate() {
            if at > 0 {
                sheet.text(separator);
            }
            if budget == 0 {
                return sheet.text("…");
            }
            sheet.tasks.push(Task::Expr(Slot { id, level, flip, budget }));
        }
    }

    /// A condition; where a number is asked for, 1 or 0 depending on it.
    fn condition(&self, page: &Page, slot: Slot, function: Function, sheet: &mut Sheet) {
        if slot.level > Level::Compare {
            let (open, close) = if self.unicode { ("[", "]") } else { ("if(", ", 1, 0)") };
            sheet.text(open);
            sheet.expr(slot.id, Level::Or, slot.budget);
            return sheet.text(close);
        }
        if let Function::And | Function::Or = function {
            let (own, inner, word) = match function {
                Function::And => (Level::And, Level::Compare, " and "),
                _ => (Level::Or, Level::And, " or "),
            };
            let mut arguments = page.layout.arguments(slot.id);
            if let (&[x], false) = (arguments.as_slice(), self.unicode) {
                // The truth of a number: the language has no other form for it.
                arguments.push(x);
            }
            let parts = shares(arguments.iter().map(|&x| page.measure(x).length), slot.budget);
            return self.within(slot.level, own, sheet, |sheet| {
                self.list(&arguments, &parts, word, inner, false, sheet);
            });
        }
        let Some(&x) = page.layout.arguments(slot.id).first() else {
            return sheet.text(function.name());
        };
        let (left, right) = page.layout.sides(x);
        let half = if slot.budget == u64::MAX { u64::MAX } else { slot.budget / 2 };
        let signs = match (function, self.unicode) {
            (Function::Negative, _) => [" < ", " > "],
            (_, false) => [" <= ", " >= "],
            (_, true) => [" ≤ ", " ≥ "],
        };
        // 0 < x reads better as x > 0.
        let number =
            left.iter().all(|term| term.numerator.is_empty() && term.denominator.is_empty());
        let (first, sign, second) = if number && !right.is_empty() {
            (right, signs[1], left)
        } else {
            (left, signs[0], right)
        };
        self.sum(page, &first, half, sheet);
        sheet.text(sign);
        self.sum(page, &second, half, sheet);
    }
}
