//! Tables: functions given by data, in the model or in a CSV file.
//!
//! A table is called like a function. Its columns are [`Table`]s of the expressions, one for each
//! value; data are read once, when it is first called.

use super::value::Value;
use super::*;
use crate::tree::{Argument, StatementKind, TableOption, TableSource};
use dalembert_expr::{Between, Function, Number, Outside, Table, TableId};

/// Texts of the CSV files that tables name, by the text that names one and its name there; or why
/// one could not be read.
pub type TableFiles = FxHashMap<(SourceId, String), Result<String, String>>;

/// The most points of a table.
const MOST_POINTS: usize = 2_000_000;

/// How a table is read.
#[derive(Default)]
struct Reading<'a> {
    between: Option<(&'a str, Span)>,
    outside: Option<(&'a str, Span)>,
    columns: Option<&'a [tree::Name]>,
}

/// Data by columns, the argument first.
struct Columns {
    names: Vec<String>,
    lists: Vec<Vec<f64>>,
    /// The line in the file of each row, from 1.
    lines: Vec<usize>,
}

impl<'a> Resolver<'a, '_> {
    /// Enters a table.
    pub(super) fn enter_table(&mut self, name: &'a tree::Name, instance: Instance<'a>) -> Eval<()> {
        let Instance { statement, scope, env } = instance;
        let def = self.new_def(DefKind::Table(statement), scope, env, name.span);
        self.enter_name(name, Indices::new(), Kind::Table, def, scope)
    }

    /// A table at an argument: a scalar, or a vector for several columns.
    pub(super) fn call_table(
        &mut self,
        def: DefId,
        arguments: &'a [Argument],
        span: Span,
        cx: Cx<'_>,
    ) -> Eval<Value> {
        let ids = self.table(def)?;
        let [Argument::Value(argument)] = arguments else {
            return Err(self.report(
                Diagnostic::fault(Code::ArgumentCount, span, "a table takes one argument")
                    .hint("tables of two arguments are not in the language"),
            ));
        };
        let x = self.eval_scalar(argument, cx)?;
        let call = |id: &TableId| {
            let key = self.exprs.of_number(Number::integer(id.key(0)));
            self.exprs.call(Function::Table, &[key, x])
        };
        let values: Vec<ExprId> = ids.iter().map(call).collect();
        Ok(match values.as_slice() {
            [single] => Value::Scalar(*single),
            _ => Value::vector(values),
        })
    }

    /// The columns of a table, which is read when it is first asked for.
    fn table(&mut self, def: DefId) -> Eval<Arc<[TableId]>> {
        let DefKind::Table(statement) = self.defs[def.0 as usize].kind else {
            return Err(self.already(self.defs[def.0 as usize].span));
        };
        match self.tables.get(&def) {
            Some(Some(ids)) => return Ok(Arc::clone(ids)),
            Some(None) => return Err(self.already(statement.span)),
            None => {}
        }
        let Def { scope, env, .. } = self.defs[def.0 as usize];
        let cx = Cx { scope, env, locals: None, constant: false };
        let read = self.read_table(statement, cx);
        if let Err(Stop::Need(needed)) = read {
            return Err(Stop::Need(needed));
        }
        self.tables.insert(def, read.as_ref().ok().cloned());
        read
    }

    fn read_table(&mut self, statement: &'a Statement, cx: Cx<'_>) -> Eval<Arc<[TableId]>> {
        let StatementKind::Table { name, source, options } = &statement.kind else {
            return Err(self.already(statement.span));
        };
        let reading = self.reading(options)?;
        let (columns, span) = match source {
            TableSource::File(file) => (self.file_columns(file, reading.columns)?, file.span),
            TableSource::List(rows) => {
                if let Some(columns) = reading.columns {
                    let at = columns.first().map_or(rows.span, |c| c.span);
                    return Err(self.report(
                        Diagnostic::fault(
                            Code::TableFile,
                            at,
                            "a list has no headers to pick from",
                        )
                        .hint("leave `columns` out, or put the data into a file"),
                    ));
                }
                (self.list_columns(rows, cx)?, rows.span)
            }
        };
        self.spend(columns.lines.len() as u64, span)?;
        self.check_order(&columns, span)?;
        let between = match reading.between.map(|b| b.0) {
            Some("monotone") => Between::Monotone,
            Some("cubic") => Between::Cubic,
            _ => Between::Linear,
        };
        let outside = match reading.outside.map(|o| o.0) {
            Some("hold") => Outside::Hold,
            Some("extend") => Outside::Extend,
            Some("repeat") => Outside::Repeat,
            _ => Outside::Ends,
        };
        let full = self.full_name(cx.scope, &name.text, &[]);
        let mut ids = Vec::new();
        let count = columns.lists.len() - 1;
        for (at, values) in columns.lists[1..].iter().enumerate() {
            if outside == Outside::Repeat && between != Between::Linear {
                let (first, last) = (values[0], values[values.len() - 1]);
                let size = values.iter().fold(0f64, |m, v| m.max(v.abs()));
                if (first - last).abs() > 1e-12 * size {
                    return Err(self.report(
                        Diagnostic::fault(
                            Code::TableOrder,
                            span,
                            format!("the table begins at {first} and ends at {last}, and it repeats"),
                        )
                        .hint("the last point is the first one of the next turn: give both the same value"),
                    ));
                }
            }
            let name = if count == 1 { full.clone() } else { format!("{full}[{}]", at + 1) };
            let table = Table::new(&name, &columns.lists[0], values, between, outside);
            match table.and_then(|table| self.exprs.tabulate(table)) {
                Some(id) => ids.push(id),
                None => {
                    let message = "these data make no table: numbers of very different sizes";
                    return self.fault(Code::TableOrder, span, message);
                }
            }
        }
        Ok(ids.into())
    }

    /// The options of a table, each kind once.
    fn reading(&mut self, options: &'a [TableOption]) -> Eval<Reading<'a>> {
        let mut reading = Reading::default();
        for option in options {
            let TableOption::Word(word) = option else {
                if let TableOption::Columns(names) = option {
                    reading.columns = Some(names);
                }
                continue;
            };
            let place = match &*word.text {
                "linear" | "monotone" | "cubic" => &mut reading.between,
                _ => &mut reading.outside,
            };
            if let Some((first, at)) = place.replace((&word.text, word.span)) {
                let message = format!("`{first}` and `{}` say the same thing twice", word.text);
                return Err(self.report(
                    Diagnostic::fault(Code::TableFile, word.span, message)
                        .with(at, "said here already")
                        .hint("keep one of them"),
                ));
            }
        }
        Ok(reading)
    }

    /// `[[0, 0], [1, 0.2]]`: rows of numbers.
    fn list_columns(&mut self, rows: &'a Expr, cx: Cx<'_>) -> Eval<Columns> {
        let value = self.eval(rows, cx)?;
        let Value::Matrix { columns, data, .. } = &value else {
            let message = format!("a table is a list of points, and this is {}", value.describe());
            return Err(self.report(
                Diagnostic::fault(Code::TableFile, rows.span, message)
                    .hint("write `[[0, 0], [1, 0.2], [2, 0.1]]`, the argument first"),
            ));
        };
        let (columns, mut numbers) = (*columns, Vec::with_capacity(data.len()));
        for &id in data.iter() {
            match self.exprs.as_number(id) {
                Some(number) => numbers.push(number.to_f64()),
                None => {
                    return Err(self.report(
                        Diagnostic::fault(
                            Code::TableFile,
                            rows.span,
                            "a table is made of numbers, and there is a name in it",
                        )
                        .hint("scale a table where it is used: `h*road(x/l)`"),
                    ));
                }
            }
        }
        if columns < 2 {
            let message = "the points of a table have an argument and a value";
            return self.fault(Code::TableFile, rows.span, message);
        }
        let points = numbers.len() / columns;
        Ok(Columns {
            names: Vec::new(),
            lists: (0..columns)
                .map(|c| (0..points).map(|r| numbers[r * columns + c]).collect())
                .collect(),
            lines: (1..=points).collect(),
        })
    }

    /// The columns of a CSV file.
    fn file_columns(
        &mut self,
        file: &'a tree::Name,
        wanted: Option<&'a [tree::Name]>,
    ) -> Eval<Columns> {
        let key = (file.span.source, file.text.to_string());
        let text = match self.table_files.and_then(|files| files.get(&key)) {
            Some(Ok(text)) => text,
            Some(Err(why)) => {
                let message = format!("cannot read the table `{}`: {why}", file.text);
                return Err(self.report(
                    Diagnostic::fault(Code::TableFile, file.span, message)
                        .hint("the path is relative to the file this stands in"),
                ));
            }
            None => {
                let message = format!("the table `{}` cannot be read from here", file.text);
                return Err(self.report(
                    Diagnostic::fault(Code::TableFile, file.span, message).hint(
                        "tables from files need a model that is a file itself, or standard input",
                    ),
                ));
            }
        };
        match parse(text) {
            Ok(all) => self.pick(all, wanted, file.span),
            Err(why) => {
                let message = format!("`{}`: {why}", file.text);
                Err(self.report(Diagnostic::fault(Code::TableFile, file.span, message).hint(
                    "rows of numbers between commas, a line of headers before them if need be",
                )))
            }
        }
    }

    /// The columns that are asked for, by header or number.
    fn pick(
        &mut self,
        all: Columns,
        wanted: Option<&'a [tree::Name]>,
        span: Span,
    ) -> Eval<Columns> {
        let Some(wanted) = wanted else {
            if all.lists.len() < 2 {
                let message = "the table has one column, and it needs an argument and a value";
                return self.fault(Code::TableFile, span, message);
            }
            return Ok(all);
        };
        let mut lists = Vec::new();
        for name in wanted {
            let by_name = all.names.iter().position(|own| **own == *name.text);
            let by_number = name.text.parse::<usize>().ok().and_then(|k| k.checked_sub(1));
            let Some(at) = by_name.or(by_number).filter(|&at| at < all.lists.len()) else {
                let message = format!("the table has no column `{}`", name.text);
                let hint = match all.names.is_empty() {
                    true => format!("it has no headers; its columns are 1 to {}", all.lists.len()),
                    false => format!("its columns are {}", all.names.join(", ")),
                };
                return Err(
                    self.report(Diagnostic::fault(Code::TableFile, name.span, message).hint(hint))
                );
            };
            lists.push(all.lists[at].clone());
        }
        if lists.len() < 2 {
            return self.fault(
                Code::TableFile,
                span,
                "a table needs two columns at least, the argument and a value",
            );
        }
        Ok(Columns { lists, ..all })
    }

    /// Arguments rise.
    fn check_order(&mut self, columns: &Columns, span: Span) -> Eval<()> {
        let x = &columns.lists[0];
        if x.len() < 2 {
            return self.fault(Code::TableOrder, span, "a table has two points at least");
        }
        let Some(at) = x.windows(2).position(|pair| pair[0] >= pair[1]) else { return Ok(()) };
        let (line, before, after) = (columns.lines[at + 1], x[at], x[at + 1]);
        let message = format!(
            "the arguments of a table rise, and {after} follows {before} (line {line} of the data)"
        );
        Err(self.report(
            Diagnostic::fault(Code::TableOrder, span, message)
                .hint("sort the rows by the first column, and keep one of each argument"),
        ))
    }
}

/// Rows of numbers between commas, semicolons, tabs or blanks; headers first, if any.
fn parse(text: &str) -> Result<Columns, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut columns = Columns { names: Vec::new(), lists: Vec::new(), lines: Vec::new() };
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let cells = split(line);
        let values: Option<Vec<f64>> =
            cells.iter().map(|cell| cell.parse::<f64>().ok().filter(|x| x.is_finite())).collect();
        let Some(values) = values else {
            if columns.lines.is_empty() && columns.names.is_empty() {
                columns.names = cells.iter().map(|cell| (*cell).to_owned()).collect();
                continue;
            }
            let is_number = |cell: &str| cell.parse::<f64>().is_ok_and(f64::is_finite);
            let cell = cells.iter().find(|cell| !is_number(cell)).unwrap_or(&"");
            let cell: String = cell.chars().take(30).collect();
            return Err(format!("line {} has `{cell}` where a number is needed", number + 1));
        };
        if columns.lists.is_empty() {
            columns.lists = vec![Vec::new(); values.len()];
        }
        if values.len() != columns.lists.len() {
            let (found, first) = (values.len(), columns.lists.len());
            return Err(format!(
                "line {} has {found} numbers, and the first has {first}",
                number + 1
            ));
        }
        columns.lists.iter_mut().zip(values).for_each(|(list, value)| list.push(value));
        columns.lines.push(number + 1);
        if columns.lines.len() > MOST_POINTS {
            return Err(format!("more than {MOST_POINTS} points"));
        }
    }
    match columns.lines.is_empty() {
        true => Err("there are no numbers in it".to_owned()),
        false => Ok(columns),
    }
}

/// The cells of a line.
fn split(line: &str) -> Vec<&str> {
    let separator = [';', '\t', ','].into_iter().find(|c| line.contains(*c));
    let cells: Vec<&str> = match separator {
        Some(separator) => line.split(separator).collect(),
        None => line.split_whitespace().collect(),
    };
    cells.into_iter().map(|cell| cell.trim().trim_matches('"').trim()).collect()
}
