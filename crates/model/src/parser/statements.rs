//! Statements and blocks: what begins a statement, where it ends, and what may
//! stand in a block. The forms of the single statements are in
//! [`super::declarations`] and [`super::equations`].

use super::foreign;
use super::operands::RANGE;
use super::words::meant_statement;
use super::{Context, Parser};
use crate::codes::Code;
use crate::diagnostic::Diagnostic;
use crate::lexer::TokenKind;
use crate::lexicon::STATEMENT_WORDS;
use crate::span::Span;
use crate::tree::{EnergyKind, Name, Statement, StatementKind};
use std::sync::Arc;

impl Parser<'_> {
    /// All statements of the text.
    pub(super) fn file(&mut self) -> Vec<Statement> {
        self.statements()
    }

    /// Statements up to the end of the block or of the text.
    fn statements(&mut self) -> Vec<Statement> {
        let mut statements = Vec::new();
        while !matches!(self.kind(), TokenKind::CloseBrace | TokenKind::Eof) {
            if matches!(self.kind(), TokenKind::End | TokenKind::Unknown) {
                self.bump();
                continue;
            }
            statements.extend(self.statement());
            if !self.in_for {
                statements.append(&mut self.hoisted);
            }
        }
        statements
    }

    /// Whether the word of a statement stands here and cannot be a name.
    pub(super) fn at_statement(&self) -> bool {
        self.kind().name().is_some_and(|word| STATEMENT_WORDS.contains(&word))
            && matches!(self.kind_at(self.at + 1), TokenKind::Name(_) | TokenKind::Number(_))
    }

    fn statement(&mut self) -> Option<Statement> {
        (self.quiet, self.too_deep) = (false, false);
        self.context = Context::default();
        let keyword = self.span();
        let word = match self.kind() {
            TokenKind::Name(word) => word.clone(),
            _ => {
                self.no_statement();
                return None;
            }
        };
        let word: &str = match STATEMENT_WORDS.contains(&&*word) {
            true => &word,
            false if foreign::statement(&word).is_some() && !self.begins_assignment() => {
                return Some(self.foreign_statement(&word, keyword));
            }
            // Taken for what was meant, so that what it defines is known.
            false => self.unknown_statement(&word)?,
        };
        let allowed = !self.in_for || !matches!(word, "system" | "run" | "const" | "model");
        if !allowed {
            let message = format!("`{word}` cannot stand inside `for`");
            self.fault_here(Code::StatementPlace, message, "put it outside the loop");
        }
        let kind = self.kind_of_statement(word);
        let span = keyword.to(self.last_span());
        self.end_of_statement();
        let statement = Statement { kind: kind?, span, keyword };
        if allowed {
            return Some(statement);
        }
        // What it defines must not seem to be missing.
        if matches!(statement.kind, StatementKind::Const(_) | StatementKind::Model { .. }) {
            self.hoisted.push(statement);
        }
        None
    }

    fn kind_of_statement(&mut self, word: &str) -> Option<StatementKind> {
        use StatementKind::*;
        self.wants_number = matches!(word, "param" | "const" | "run");
        self.after_keyword(word);
        Some(match word {
            "system" => System(self.title()),
            "param" => Param(self.valued_families()),
            "const" => Const(self.valued_families()),
            "coord" => Coord(self.families()),
            "let" => Let(self.defines()),
            "speed" => Speed(self.defines()),
            "input" => Input(self.inputs()),
            "output" => Output(self.outputs()),
            "state" => State(self.rates()),
            "table" => self.table()?,
            "use" => self.use_file()?,
            "kinetic" => Energy(EnergyKind::Kinetic, self.lone_value(word)),
            "potential" => Energy(EnergyKind::Potential, self.lone_value(word)),
            "lagrangian" => Energy(EnergyKind::Lagrangian, self.lone_value(word)),
            "hamiltonian" => Energy(EnergyKind::Hamiltonian, self.lone_value(word)),
            "dissipation" => Energy(EnergyKind::Dissipation, self.lone_value(word)),
            "gravity" => Gravity(self.lone_value(word)),
            "force" => Force(self.force()),
            "nonideal" => Nonideal(self.force()),
            "constraint" => self.constraint(),
            "start" => Start(self.start_items()),
            "run" => Run(self.run_options()),
            "observe" => Observe(self.observed()),
            "event" => self.event()?,
            "draw" => self.draw()?,
            "for" => self.for_loop()?,
            "model" => self.model()?,
            "part" => self.part()?,
            "particle" => {
                let (entry, fields) = self.fields()?;
                Particle { entry, fields }
            }
            "frame" => self.frame()?,
            "joint" | "loop" => self.joint(word == "loop")?,
            "torque" => self.torque(),
            "spring" | "damper" => self.spring(word == "damper")?,
            "friction" => self.friction(),
            "contact" => self.contact()?,
            _ => {
                let (entry, fields) = self.fields()?;
                Body { entry, fields }
            }
        })
    }

    /// Takes the keyword, and reports what is often put behind it by mistake.
    fn after_keyword(&mut self, word: &str) {
        // A word that was only guessed (`x = 3`) is part of what follows.
        if !self.quiet || !self.begins_assignment() {
            self.bump();
        }
        if *self.kind() == TokenKind::Colon {
            let message = format!("no `:` stands after `{word}`");
            self.fault_here(Code::Syntax, message, "leave it out");
            self.bump();
        }
        let next = self.kind_at(self.at + 1);
        let next_line = *self.kind() == TokenKind::End
            && (next.begins_operand() || matches!(next, TokenKind::Minus))
            && !next.name().is_some_and(|word| STATEMENT_WORDS.contains(&word));
        if next_line && !matches!(word, "system") && self.last_span().after() == self.span() {
            let what = format!("something after `{word}` on the same line");
            self.expected(&what, "a line goes on behind an operator and inside brackets only");
            self.bump();
        }
    }

    /// A line that does not even begin with a word.
    fn no_statement(&mut self) {
        let message =
            format!("a statement begins with a word, not with {}", self.describe(self.at));
        let hint = match self.kind() {
            TokenKind::OpenBrace => "put the `{` at the end of the line above",
            _ => "a line goes on behind an operator and inside brackets; comments begin with `#`",
        };
        self.fault_here(Code::UnknownStatement, message, hint);
        self.skip_statement();
    }

    /// Reports a word that begins no statement; gives back the word that was
    /// probably meant, and skips the statement if there is none.
    fn unknown_statement(&mut self, word: &str) -> Option<&'static str> {
        // No one reads the hint beyond the limit, and finding it takes time.
        let (meant, hint) = match self.diagnostics.len() < self.limit {
            true => self.meaning_of(word),
            false => (None, String::new()),
        };
        self.fault_here(Code::UnknownStatement, format!("`{word}` begins no statement"), &hint);
        self.quiet = true;
        if meant.is_none() {
            self.skip_statement();
        }
        meant
    }

    /// A statement of another tool: one hint, and what it would have defined is known.
    fn foreign_statement(&mut self, word: &str, keyword: Span) -> Statement {
        let hint = foreign::statement(word).unwrap_or_default();
        let message = format!("`{word}` is a word of other tools");
        self.fault_here(Code::ForeignWord, message, hint);
        self.bump();
        let mut names: Vec<Name> = Vec::new();
        while !matches!(self.kind(), TokenKind::End | TokenKind::Eof | TokenKind::CloseBrace) {
            names.extend(self.take_name());
            if !matches!(self.kind(), TokenKind::Name(_)) {
                break;
            }
        }
        self.quiet = true;
        self.skip_statement();
        let span = keyword.to(self.last_span());
        self.end_of_statement();
        Statement { kind: StatementKind::Foreign(names), span, keyword }
    }

    fn meaning_of(&self, word: &str) -> (Option<&'static str>, String) {
        let next = self.kind_at(self.at + 1);
        if let Some(open) = self.value_at_time() {
            let quantity = self.written(self.span().to(self.tokens[open - 1].span));
            let quantity = quantity.unwrap_or(word);
            return (None, format!("say where the motion begins: `start {quantity} = …`"));
        }
        if self.begins_assignment() {
            if let Some(energy) = self.meant_energy(word) {
                // Its name may be used further down, as in `L = T - V`.
                return (Some("let"), format!("give an energy with `{energy} …`"));
            }
            if matches!(word, "der" | "diff" | "ddt") {
                return (
                    None,
                    "a time derivative is a prime, `x'`, and equations of motion are derived, not \
                     given: write the energies, forces and constraints"
                        .into(),
                );
            }
            let primes = (self.at + 1..self.tokens.len())
                .take_while(|&at| *self.kind_at(at) == TokenKind::Prime)
                .count();
            return match primes {
                0 if self.declared.names.contains(word) => (
                    None,
                    format!(
                        "say where the motion begins with `start {word} = …`, or what always holds \
                         with `constraint {word} = …`"
                    ),
                ),
                0 => (
                    Some("let"),
                    format!(
                        "name an expression with `let {word} = …`, a number with `param {word} \
                        = …`, or say where the motion begins with `start {word} = …`"
                    ),
                ),
                1 => (Some("start"), format!("say where the motion begins: `start {word}' = …`")),
                _ => (
                    None,
                    "equations of motion are derived, not given: write the energies, forces and \
                     constraints"
                        .into(),
                ),
            };
        }
        match word {
            "units" | "unit" => {
                return (
                    None,
                    "numbers have no units: keep to one system in the whole model".into(),
                );
            }
            "end" | "endfor" | "done" => return (None, "a block ends with `}`".into()),
            "data" | "interp" => {
                return (None, "data are a table: `table road = \"road.csv\", cubic`".into());
            }
            _ => {}
        }
        if *next == TokenKind::Colon {
            return (None, format!("write `constraint {word}: …` or `event {word}: …`"));
        }
        use TokenKind::*;
        if matches!(next, Star | Slash | Plus | Minus | Caret) && self.has_equals() {
            return (
                None,
                "an equation that always holds is a `constraint`; equations of motion are derived"
                    .into(),
            );
        }
        match meant_statement(word) {
            Some(meant) => (Some(meant), format!("did you mean `{meant}`?")),
            None => {
                (None, "statements begin with words such as `coord`, `kinetic`, `start`".into())
            }
        }
    }

    /// The energy statement that `T = …` or `L = …` stands for, unless its right
    /// side is a number: then it is a time or a length.
    fn meant_energy(&self, word: &str) -> Option<&'static str> {
        let is_plain = *self.kind_at(self.at + 1) == TokenKind::Equals;
        let is_number = matches!(self.kind_at(self.at + 2), TokenKind::Number(_))
            && self.kind_at(self.at + 3).ends_statement();
        match word {
            _ if !is_plain || is_number => None,
            "T" | "K" | "KE" | "Ek" | "Ekin" => Some("kinetic"),
            "V" | "U" | "PE" | "Ep" | "Epot" => Some("potential"),
            "L" => Some("lagrangian"),
            "H" => Some("hamiltonian"),
            _ => None,
        }
    }

    /// Takes the end of a statement, or reports what stands in its place.
    fn end_of_statement(&mut self) {
        match self.kind() {
            TokenKind::End => self.bump(),
            TokenKind::Eof | TokenKind::CloseBrace => {}
            _ if self.at_statement() => {
                let message =
                    format!("{} stands on the line of another statement", self.describe(self.at));
                self.fault_here(Code::Syntax, message, "begin a new line, or put a `;` before it");
            }
            TokenKind::Less
            | TokenKind::LessEqual
            | TokenKind::Greater
            | TokenKind::GreaterEqual => {
                let hint = "comparisons stand in the condition of `if` only";
                self.fault_here(
                    Code::ComparisonPlace,
                    "a comparison cannot stand here".into(),
                    hint,
                );
                self.skip_statement();
            }
            _ => {
                self.expected("the end of the line", self.hint_for_token());
                self.skip_statement();
            }
        }
    }

    fn title(&mut self) -> String {
        let TokenKind::Title(title) = self.kind() else { return String::new() };
        let title = title.to_string();
        self.bump();
        title
    }

    fn for_loop(&mut self) -> Option<StatementKind> {
        let Some(index) = self.take_name() else {
            self.expected("the name of an index after `for`", "write `for i in 1..N { … }`");
            self.skip_to_block();
            self.block("for");
            return None;
        };
        if !self.eat_name("in") {
            self.expected("`in`", "write `for i in 1..N { … }`");
            self.eat(&TokenKind::Equals);
        }
        let range = self.range(RANGE);
        let outer = std::mem::replace(&mut self.in_for, true);
        let body = self.block("for");
        self.in_for = outer;
        Some(StatementKind::For { index, range, body: Arc::new(body) })
    }

    fn model(&mut self) -> Option<StatementKind> {
        let name = self.take_name();
        if name.is_none() {
            self.expected("a name after `model`", "write `model pendulum { … }`");
        }
        let outer = (std::mem::replace(&mut self.in_for, false), std::mem::take(&mut self.hoisted));
        let body = self.block("model");
        (self.in_for, self.hoisted) = outer;
        Some(StatementKind::Model { name: name?, body: Arc::new(body) })
    }

    pub(super) fn skip_to_block(&mut self) {
        while !self.kind().ends_statement() {
            self.at = self.step_over(self.at);
        }
    }

    /// `{ … }`
    fn block(&mut self, word: &str) -> Vec<Statement> {
        if *self.kind() != TokenKind::OpenBrace {
            self.expected("`{`", "the statements stand in braces, the `{` on this line");
            self.skip_to_block();
            // A `{` at the beginning of the next line.
            if *self.kind() == TokenKind::End && *self.kind_at(self.at + 1) == TokenKind::OpenBrace
            {
                self.bump();
            }
            if *self.kind() != TokenKind::OpenBrace {
                return Vec::new();
            }
        }
        let open = self.at;
        if !self.enter() {
            self.at = self.closing(open).map_or(self.tokens.len() - 1, |closing| closing + 1);
            return Vec::new();
        }
        self.bump();
        // Without its end, no one knows what belongs to the loop.
        self.in_for &= self.closing(open).is_some();
        let statements = self.statements();
        self.eat(&TokenKind::CloseBrace);
        self.depth -= 1;
        (self.quiet, self.context) = (false, Context::default());
        if *self.kind_at(open + 1) == TokenKind::CloseBrace {
            let place = self.tokens[open].span.to(self.last_span());
            let message = format!("this `{word}` holds no statements");
            self.report(
                Diagnostic::warning(Code::EmptyBlock, place, message)
                    .hint("fill it, or leave it out"),
            );
        }
        statements
    }
}
