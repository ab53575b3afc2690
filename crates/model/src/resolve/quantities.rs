//! Inputs, outputs and states.
//!
//! An input is a symbol u with u′ and u″, and what a run takes for it is a function of time; the
//! system that is handed on has that in its place ([`System::closed`](crate::system::System::closed)). A state z has a rate f, and
//! wherever something is differentiated in time, z′ is f.

use super::*;
use crate::system::{Input, Level, Observe, StateVariable};
use crate::tree::{Family, Name, Rate, StatementKind};
use dalembert_expr::SymbolKind;

/// What only a solution tells.
const SOLVED: u16 = role::ACCELERATION | role::MOMENTUM_RATE | role::MULTIPLIER | role::REACTION;

impl<'a> Resolver<'a, '_> {
    /// Enters the inputs of a statement. In a part, those that its braces set are no inputs.
    pub(super) fn enter_inputs(
        &mut self,
        list: &'a [(Family, Option<Expr>)],
        instance: Instance<'a>,
    ) {
        let Instance { scope, env, .. } = instance;
        for (family, _) in list {
            let shown = family.shown.as_ref();
            let Ok(all) = self.family_indices(family, self.constant_cx(scope, env)) else {
                self.mark_broken(scope, &family.name);
                continue;
            };
            let count = all.len();
            if count == 0 {
                self.set_no_entries(&family.name, scope);
            }
            for (place, indices) in all.into_iter().enumerate() {
                let known = self.parts.inputs.len();
                if self
                    .enter_input(&family.name, indices.clone(), (place, count), instance)
                    .is_err()
                {
                    self.mark_broken(scope, &family.name);
                    break;
                }
                if let Some(input) = self.parts.inputs.get(known) {
                    let symbol = input.symbol;
                    self.show(&[symbol], shown, &indices);
                }
            }
        }
    }

    fn enter_input(
        &mut self,
        name: &'a Name,
        indices: Indices,
        (place, count): (usize, usize),
        Instance { scope, env, .. }: Instance<'a>,
    ) -> Eval<()> {
        let full = self.full_name(scope, &name.text, &indices);
        if let Some((value, outer, outer_env)) = self.take_setting(scope, &name.text, &indices) {
            let kind = DefKind::Setting { value, own: false, place, count };
            let def = self.new_def(kind, outer, outer_env, name.span);
            self.setting_names.insert(def, full);
            return self.enter_name(name, indices, Kind::Input, def, scope);
        }
        let def = self.new_def(DefKind::Input, scope, env, name.span);
        self.enter_name(name, indices, Kind::Input, def, scope)?;
        let symbol = self.exprs.symbol(&full, SymbolKind::Variable);
        let rate_of = |symbol: Symbol| self.exprs.rate(symbol).unwrap_or(symbol);
        let rate = rate_of(symbol);
        let second = rate_of(rate);
        // Further derivatives have no symbol that anything asks for, but a let may hold them.
        let third = rate_of(second);
        for symbol in [symbol, rate, second, third, rate_of(third)] {
            self.set_role(symbol, role::INPUT);
        }
        self.parts.inputs.push(Input {
            name: full,
            symbol,
            rate,
            second,
            value: None,
            span: name.span,
        });
        self.defs[def.0 as usize].state = State::Done(Value::Scalar(self.exprs.of_symbol(symbol)));
        Ok(())
    }

    /// Says how documents print the symbols of a family, each with its indices.
    pub(super) fn show(
        &mut self,
        symbols: &[Symbol],
        shown: Option<&tree::Shown>,
        indices: &[i64],
    ) {
        let Some(shown) = shown else { return };
        let list: Vec<String> = indices.iter().map(i64::to_string).collect();
        let own = match shown {
            tree::Shown::Name(name) => {
                dalembert_expr::Shown::Name(names::with_indices(&name.text, indices))
            }
            tree::Shown::Latex(text) if indices.is_empty() => {
                dalembert_expr::Shown::Latex(text.text.to_string())
            }
            tree::Shown::Latex(text) => {
                dalembert_expr::Shown::Latex(format!("{{{}}}_{{{}}}", text.text, list.join(",")))
            }
        };
        symbols.iter().for_each(|&symbol| self.exprs.show_symbol(symbol, &own));
    }

    /// What a run takes for each input: of time, parameters, tables.
    pub(super) fn resolve_inputs(&mut self) {
        for instance in self.instances.clone() {
            let StatementKind::Input(list) = &instance.statement.kind else { continue };
            for (family, value) in list {
                self.resolve_input(family, value.as_ref(), instance);
            }
        }
    }

    fn resolve_input(
        &mut self,
        family: &'a Family,
        value: Option<&'a Expr>,
        instance: Instance<'a>,
    ) {
        let Instance { scope, env, .. } = instance;
        let own = self.scope_cx(&instance);
        let outer = Cx { scope: ScopeId(0), env: EnvId(0), locals: None, constant: false };
        let Ok(entries) = self.family_indices(family, self.constant_cx(scope, env)) else { return };
        let count = entries.len();
        let whole = self.full_name(scope, &family.name.text, &[]);
        // A value for the whole family is evaluated once, then handed out.
        let given = value.and_then(|value| self.settle(|r| r.input_values(value, count, own)));
        for (place, indices) in entries.into_iter().enumerate() {
            let full = self.full_name(scope, &family.name.text, &indices);
            let Some(at) = self.parts.inputs.iter().position(|u| u.name == full) else { continue };
            let mut chosen = given.as_ref().map(|list| list[place]);
            if let Some(value) = self.take_override(&full, &whole) {
                let list = self.settle(|r| r.input_values(value, count, outer));
                chosen = list.map(|list| list[place]);
            }
            self.parts.inputs[at].value = chosen;
        }
    }

    /// One value for each of `count` inputs.
    fn input_values(&mut self, value: &'a Expr, count: usize, cx: Cx<'_>) -> Eval<Vec<ExprId>> {
        let result = self.eval(value, cx)?;
        for &id in result.components() {
            let extra = self.mask(id) & !(role::PARAMETER | role::TIME);
            if extra != 0 {
                let symbols = self.exprs.symbols_of(&[id]);
                let culprit = symbols.into_iter().find(|&s| self.role(s) & extra != 0);
                let name =
                    culprit.map(|s| self.exprs.symbol_info(s).full_name()).unwrap_or_default();
                let message =
                    format!("an input is given by time alone, and `{name}` is found by the motion");
                return Err(self.report(
                    Diagnostic::fault(Code::InputMoves, value.span, message)
                        .at(format!("holds `{name}`"))
                        .hint("name what depends on the motion with `let`, or set the input in the braces of a part"),
                ));
            }
        }
        match result.components() {
            [single] if result.scalar().is_some() => Ok(vec![*single; count]),
            list if list.len() == count => Ok(list.to_vec()),
            list => {
                let inputs =
                    if count == 1 { "one input".into() } else { format!("{count} inputs") };
                let message = format!("{} values for {inputs}", list.len());
                Err(self.report(Diagnostic::fault(Code::Shape, value.span, message).hint(
                    "give one value for all, or a list with one for each; of a file with several \
                     columns `columns [t, F]` picks one",
                )))
            }
        }
    }

    /// Enters the states of a statement.
    pub(super) fn enter_states(&mut self, list: &'a [Rate], instance: Instance<'a>) {
        let Instance { scope, env, .. } = instance;
        for rate in list {
            let name = &rate.family.name;
            let Ok(all) = self.family_indices(&rate.family, self.constant_cx(scope, env)) else {
                self.mark_broken(scope, name);
                continue;
            };
            let count = all.len();
            if count == 0 {
                self.set_no_entries(name, scope);
            }
            for (place, indices) in all.into_iter().enumerate() {
                if self.enter_state(rate, indices, (place, count), instance).is_err() {
                    self.mark_broken(scope, name);
                    break;
                }
            }
        }
    }

    fn enter_state(
        &mut self,
        rate: &'a Rate,
        indices: Indices,
        (place, count): (usize, usize),
        Instance { scope, env, .. }: Instance<'a>,
    ) -> Eval<()> {
        let name = &rate.family.name;
        let full = self.full_name(scope, &name.text, &indices);
        let shown_indices = indices.clone();
        let def = self.new_def(DefKind::State, scope, env, name.span);
        self.enter_name(name, indices, Kind::State, def, scope)?;
        let kind = DefKind::Rate { value: &rate.value, place, count };
        let rate_def = self.new_def(kind, scope, env, name.span);
        let symbol = self.exprs.symbol(&full, SymbolKind::Variable);
        let in_time = self.exprs.rate(symbol).unwrap_or(symbol);
        self.set_role(symbol, role::STATE);
        self.show(&[symbol], rate.family.shown.as_ref(), &shown_indices);
        self.rate_defs.insert(in_time, rate_def);
        self.parts.states.push(StateVariable {
            name: full,
            symbol,
            rate: ExprId::ZERO,
            written: ExprId::ZERO,
            span: name.span,
        });
        self.defs[def.0 as usize].state = State::Done(Value::Scalar(self.exprs.of_symbol(symbol)));
        Ok(())
    }

    /// The rate of one state of a family.
    pub(super) fn rate_value(
        &mut self,
        value: &'a Expr,
        place: usize,
        count: usize,
        cx: Cx<'_>,
    ) -> Eval<Value> {
        let result = self.eval(value, cx)?;
        match result.components() {
            [single] if result.scalar().is_some() => Ok(Value::Scalar(*single)),
            list if list.len() == count => Ok(Value::Scalar(list[place])),
            list => {
                let message = format!("{} rates for {count} states", list.len());
                Err(self.report(
                    Diagnostic::fault(Code::Shape, value.span, message)
                        .hint("give one rate for all, or a list with one for each"),
                ))
            }
        }
    }

    /// A time derivative with the rates of states in the place of z′.
    pub(super) fn with_state_rates(&mut self, value: Value) -> Eval<Value> {
        if self.rate_defs.is_empty() {
            return Ok(value);
        }
        let symbols = self.exprs.symbols_of(value.components());
        let mut rates: FxHashMap<Symbol, ExprId> = FxHashMap::default();
        for symbol in symbols {
            if let Some(&def) = self.rate_defs.get(&symbol) {
                let rate = self.def_value(def)?;
                rates.insert(symbol, rate.scalar().unwrap_or(ExprId::ZERO));
            }
        }
        if rates.is_empty() {
            return Ok(value);
        }
        Ok(value.map(|e| self.exprs.substitute_with(&[e], |s| rates.get(&s).copied())[0]))
    }

    /// The rates of all states as written, by z′.
    pub(super) fn state_rates(&mut self) -> FxHashMap<Symbol, ExprId> {
        let defs: Vec<(Symbol, DefId)> = self.rate_defs.iter().map(|(&s, &d)| (s, d)).collect();
        let mut rates = FxHashMap::default();
        for (symbol, def) in defs {
            let rate = self.settle(|r| r.def_value(def)).and_then(|rate| rate.scalar());
            rates.insert(symbol, rate.unwrap_or(ExprId::ZERO));
        }
        rates
    }

    /// The rates of states in the variables of the system.
    pub(super) fn resolve_states(&mut self) {
        for at in 0..self.parts.states.len() {
            let symbol = self.parts.states[at].symbol;
            let in_time = self.exprs.rate(symbol).unwrap_or(symbol);
            let Some(&def) = self.rate_defs.get(&in_time) else { continue };
            let Some(rate) = self.settle(|r| r.def_value(def)) else { continue };
            let rate = self.normalize(rate.scalar().unwrap_or(ExprId::ZERO));
            self.parts.states[at].rate = rate;
            self.parts.states[at].written = rate;
        }
    }

    /// A constraint may hold a state whose rate holds no velocity.
    pub(super) fn state_in_constraint(
        &mut self,
        residual: ExprId,
        level: Level,
        name: &str,
        span: Span,
    ) -> Eval<()> {
        let moving = match level {
            Level::Position => role::VELOCITY | role::MOMENTUM | SOLVED,
            Level::Velocity => SOLVED,
            Level::Acceleration => return Ok(()),
        };
        if self.mask(residual) & role::STATE == 0 {
            return Ok(());
        }
        let held: Vec<Symbol> = self.exprs.symbols_of(&[residual]);
        for at in 0..self.parts.states.len() {
            let StateVariable { symbol, rate, name: state, .. } = self.parts.states[at].clone();
            if !held.contains(&symbol) || self.mask(rate) & moving == 0 {
                continue;
            }
            let what = match self.mask(rate) & SOLVED {
                0 => "velocities",
                _ => "what is solved for",
            };
            let message = format!(
                "constraint `{name}` holds the state `{state}`, whose rate holds {what}: that could mean rolling or a servo"
            );
            return Err(self.report(
                Diagnostic::fault(Code::StateInConstraint, span, message)
                    .with(self.parts.states[at].span, "its rate")
                    .hint("write the constraint for velocities if it is rolling; a force that holds it is a servo"),
            ));
        }
        Ok(())
    }

    /// The outputs of the outermost model.
    pub(super) fn resolve_outputs(&mut self) -> Vec<Observe> {
        let mut outputs = Vec::new();
        for instance in self.instances.clone() {
            let StatementKind::Output(list) = &instance.statement.kind else { continue };
            if instance.scope != ScopeId(0) {
                continue;
            }
            let cx = self.scope_cx(&instance);
            for define in list {
                let found = self.settle(|r| {
                    let indices = r.indices(&define.entry.indices, cx)?;
                    Ok((r.eval(&define.value, cx)?, indices))
                });
                let Some((value, indices)) = found else { continue };
                let base = self.full_name(instance.scope, &define.entry.name.text, &indices);
                outputs.extend(self.observed(&base, &value, define.entry.span));
            }
        }
        outputs
    }
}
