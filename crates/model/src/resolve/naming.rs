//! The names of one scope: each is entered once, as one kind, with one number of indices, and
//! is taken neither by the language nor by a momentum nor in print. Families without entries
//! have their names too, and a name whose declaration failed is marked, so that what uses it is
//! not reported again.

use super::declare::declared_names;
use super::names::{self, LabelInfo, a_kind, with_indices};
use super::*;
use crate::tree::{Name, StatementKind};

impl<'a> Resolver<'a, '_> {
    /// Enters a name or an entry of a family.
    pub(super) fn enter_name(
        &mut self,
        name: &Name,
        indices: Indices,
        kind: Kind,
        def: DefId,
        scope: ScopeId,
    ) -> Eval<()> {
        self.may_be_named(name, scope)?;
        let here = self.defs[def.0 as usize].span;
        let table = &mut self.scopes[scope.0 as usize];
        let info = table.names.entry(name.text.clone()).or_insert_with(|| NameInfo {
            kind,
            span: name.span,
            plain: None,
            arity: indices.len(),
            entries: FxHashMap::default(),
            sorted: None,
        });
        let (first, first_kind) = (info.span, info.kind);
        if first_kind != kind {
            let message = format!(
                "`{}` is defined twice, as {} and as {}",
                name.text,
                a_kind(first_kind),
                a_kind(kind)
            );
            return Err(self.report(
                Diagnostic::fault(Code::DefinedTwice, name.span, message)
                    .with(first, "the other definition")
                    .hint("rename one of them"),
            ));
        }
        let mixed =
            if indices.is_empty() { !info.entries.is_empty() } else { info.plain.is_some() };
        if mixed {
            let message = format!("`{}` is defined twice, with and without indices", name.text);
            return Err(self.report(
                Diagnostic::fault(Code::DefinedTwice, here, message)
                    .with(first, "the other definition")
                    .hint("rename one of them"),
            ));
        }
        if indices.is_empty() {
            if info.plain.is_some() {
                return self.defined_twice(&name.text, here, first);
            }
            info.plain = Some(def);
            return Ok(());
        }
        if info.arity != indices.len() {
            let message = format!(
                "`{}` has {} here and {} elsewhere",
                name.text,
                count_indices(indices.len()),
                count_indices(info.arity)
            );
            return Err(self.report(
                Diagnostic::fault(Code::IndexCount, name.span, message)
                    .with(first, "first used here"),
            ));
        }
        // The first definition stands; the second is only reported.
        if let Some(&old) = info.entries.get(&indices) {
            let before = self.defs[old.0 as usize].span;
            let shown = with_indices(&name.text, &indices);
            return self.defined_twice(&shown, here, before);
        }
        info.entries.insert(indices, def);
        Ok(())
    }

    /// Faults names that are taken by the language, by a momentum, or in print.
    fn may_be_named(&mut self, name: &Name, scope: ScopeId) -> Eval<()> {
        if names::is_reserved(&name.text) {
            return self.reserved(name);
        }
        if let Some(coordinate) = self.momentum_of(&name.text, scope) {
            return Err(self.report(
                Diagnostic::fault(
                    Code::ReservedName,
                    name.span,
                    format!("`{}` is the momentum of coordinate `{coordinate}`", name.text),
                )
                .hint("choose another name; the momentum is there without a definition"),
            ));
        }
        let table = &mut self.scopes[scope.0 as usize];
        let printed = names::printed(&name.text);
        match table.printed.get(&printed) {
            Some((other, span)) if **other != *name.text => {
                let (other, span) = (other.clone(), *span);
                return Err(self.report(
                    Diagnostic::fault(
                        Code::SamePrint,
                        name.span,
                        format!("`{}` and `{other}` print alike", name.text),
                    )
                    .with(span, "the other one")
                    .hint("rename one of them"),
                ));
            }
            Some(_) => {}
            None => {
                table.printed.insert(printed, (name.text.clone(), name.span));
            }
        }
        Ok(())
    }

    /// Enters a family that has no entries, so that what is said of it is known to be
    /// about a family.
    pub(super) fn enter_empty(&mut self, name: &Name, kind: Kind, arity: usize, scope: ScopeId) {
        let table = &self.scopes[scope.0 as usize];
        if table.broken.contains(&name.text) {
            return;
        }
        let clash = match table.names.get(&name.text) {
            Some(info) if info.kind != kind => {
                let (first, second) = (a_kind(info.kind), a_kind(kind));
                Some((format!("as {first} and as {second}"), info.span))
            }
            Some(info) if info.plain.is_some() => {
                Some(("with and without indices".to_owned(), info.span))
            }
            Some(_) => return,
            None => None,
        };
        if let Some((how, first)) = clash.filter(|clash| clash.1 != name.span) {
            self.report(
                Diagnostic::fault(
                    Code::DefinedTwice,
                    name.span,
                    format!("`{}` is defined twice, {how}", name.text),
                )
                .with(first, "the other definition")
                .hint("rename one of them"),
            );
            return;
        }
        if self.may_be_named(name, scope).is_err() {
            self.mark_broken(scope, name);
            return;
        }
        let info = NameInfo {
            kind,
            span: name.span,
            plain: None,
            arity,
            entries: FxHashMap::default(),
            sorted: None,
        };
        self.scopes[scope.0 as usize].names.entry(name.text.clone()).or_insert(info);
    }

    /// Enters the families of one scope whose ranges, or the ranges of the loops around
    /// them, are empty.
    pub(super) fn enter_empty_families(&mut self, statements: &'a [Statement], scope: ScopeId) {
        let mut pending: Vec<&'a Statement> = statements.iter().collect();
        while let Some(statement) = pending.pop() {
            if let StatementKind::For { body, .. } = &statement.kind {
                pending.extend(body.iter());
            }
            if let StatementKind::Constraint { label: Some(label), .. } = &statement.kind {
                let scope = &mut self.scopes[scope.0 as usize];
                scope.label_names.insert(label.name.text.clone());
                if label.indices.is_empty() {
                    continue;
                }
                scope.labels.entry(label.name.text.clone()).or_insert_with(|| LabelInfo {
                    span: label.name.span,
                    is_event: false,
                    plain: None,
                    entries: FxHashMap::default(),
                });
            }
            for (name, kind, arity) in declared_names(statement) {
                let is_entered = self.scopes[scope.0 as usize]
                    .names
                    .get(&name.text)
                    .is_some_and(|info| !info.entries.is_empty());
                if arity > 0 && !is_entered {
                    self.enter_empty(name, kind, arity, scope);
                }
            }
        }
    }

    /// What sets a whole family sets nothing if that is empty, which is no fault.
    pub(super) fn set_no_entries(&mut self, name: &Name, scope: ScopeId) {
        let family = self.full_name(scope, &name.text, &[]);
        let overridden = self.take_override(&family, &family);
        let outside = Cx { scope: ScopeId(0), env: EnvId(0), locals: None, constant: false };
        if let Some(value) = overridden {
            self.names_exist(value, &mut Vec::new(), outside);
        }
        if let Some((value, outer, env)) = self.take_setting(scope, &name.text, &[]) {
            let cx = Cx { scope: outer, env, locals: None, constant: false };
            self.names_exist(value, &mut Vec::new(), cx);
        }
    }

    /// Notes that the declaration of a name was found to be wrong, and reported.
    pub(super) fn mark_broken(&mut self, scope: ScopeId, name: &Name) {
        self.scopes[scope.0 as usize].broken.insert(name.text.clone());
    }

    /// The same for all names of a loop that cannot be unrolled.
    pub(super) fn mark_all_broken(&mut self, body: &'a [Statement], scope: ScopeId) {
        let mut pending: Vec<&'a Statement> = body.iter().collect();
        while let Some(statement) = pending.pop() {
            if let StatementKind::For { body, .. } = &statement.kind {
                pending.extend(body.iter());
            }
            for (name, ..) in declared_names(statement) {
                self.mark_broken(scope, name);
            }
        }
    }

    /// The coordinate whose momentum this name is.
    pub(super) fn momentum_of(&self, name: &str, scope: ScopeId) -> Option<String> {
        let coordinate = name.strip_prefix("p_")?;
        let table = &self.scopes[scope.0 as usize];
        matches!(table.declared.get(coordinate), Some((Kind::Coord, _)))
            .then(|| coordinate.to_owned())
    }

    pub(super) fn reserved<T>(&mut self, name: &Name) -> Eval<T> {
        let what = match &*name.text {
            "t" => "time",
            "pi" => "π",
            text if names::is_function(text) => "a function of the language",
            _ => "a word of the language",
        };
        Err(self.report(
            Diagnostic::fault(Code::ReservedName, name.span, format!("`{}` is {what}", name.text))
                .hint("choose another name"),
        ))
    }

    pub(super) fn defined_twice<T>(&mut self, name: &str, span: Span, first: Span) -> Eval<T> {
        if first == span && self.unclosed {
            return Err(self.already(span));
        }
        let mut diagnostic =
            Diagnostic::fault(Code::DefinedTwice, span, format!("`{name}` is defined twice"));
        if first != span {
            diagnostic =
                diagnostic.with(first, "the other definition").hint("rename or remove one of them");
        } else if name.ends_with(']') {
            diagnostic = diagnostic.hint("the same indices come up more than once in this loop");
        } else {
            diagnostic =
                diagnostic.hint(format!("in a loop, give it the loop's index: `{name}[i]`"));
        }
        Err(self.report(diagnostic))
    }
}

pub(super) fn count_indices(n: usize) -> String {
    match n {
        0 => "no index".into(),
        1 => "one index".into(),
        n => format!("{} indices", names::number_word(n)),
    }
}
