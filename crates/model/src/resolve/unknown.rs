//! Names that are not there, or not what is wanted: what is said of them.

use super::names::{self, closest};
use super::*;

/// How many unknown names are compared with those that exist.
const MAX_HINTS: usize = 60;

impl<'a> Resolver<'a, '_> {
    pub(super) fn no_member<T>(&mut self, scope: ScopeId, member: &str, span: Span) -> Eval<T> {
        let table = &self.scopes[scope.0 as usize];
        if let Some(&(kind, _)) = table.declared.get(member) {
            return self.declared_elsewhere(scope, member, kind, span);
        }
        let known: Vec<String> = table.declared.keys().map(|k| k.to_string()).collect();
        let is_label = table.labels.contains_key(member);
        let mut diagnostic = Diagnostic::fault(
            Code::UnknownMember,
            span,
            format!("the part has nothing named `{member}`"),
        );
        if is_label {
            diagnostic = diagnostic
                .hint("it is a label there; write `multiplier(…)` or `residual(…)` of it");
        } else if let Some(meant) = closest(member, known.iter().map(String::as_str)) {
            diagnostic = diagnostic.hint(format!("did you mean `{meant}`?"));
        } else if !known.is_empty() {
            let mut known = known;
            known.sort();
            let more = if known.len() > 8 { ", …" } else { "" };
            known.truncate(8);
            diagnostic = diagnostic.hint(format!("it has {}{more}", known.join(", ")));
        }
        Err(self.report(diagnostic))
    }

    pub(super) fn not_constant<T>(&mut self, name: &str, kind: Kind, span: Span) -> Eval<T> {
        let mut diagnostic = Diagnostic::fault(
            Code::NotConstant,
            span,
            format!("`{name}` is a {}, and ranges and indices are made of constants", kind.word()),
        );
        if let Some((_, at)) = self.scopes[0].declared.get(name) {
            diagnostic = diagnostic.with(*at, "declared here");
        }
        if kind == Kind::Param {
            diagnostic = diagnostic.hint(format!("declare it with `const {name} = …`"));
        } else {
            diagnostic = diagnostic.hint("a named integer is declared by `const N = 5`");
        }
        Err(self.report(diagnostic))
    }

    /// A name that some statement declares but that is not known at this place.
    pub(super) fn declared_elsewhere<T>(
        &mut self,
        scope: ScopeId,
        name: &str,
        kind: Kind,
        span: Span,
    ) -> Eval<T> {
        let table = &self.scopes[scope.0 as usize];
        let at = table.declared.get(name).map_or(span, |d| d.1);
        if table.broken.contains(name) || self.unclosed || self.exhausted {
            return Err(self.already(span));
        }
        if matches!(kind, Kind::Let | Kind::Function) && table.locals.contains(name) {
            return Err(self.report(
                Diagnostic::fault(
                    Code::UnknownName,
                    span,
                    format!("`{name}` is known only inside its loop"),
                )
                .with(at, "local to one turn, since it has no index")
                .hint(format!("give it the loop's index, `{name}[i]`, to use it outside")),
            ));
        }
        Err(self.report(
            Diagnostic::fault(Code::UnknownName, span, format!("there is no `{name}`"))
                .with(at, "declared in a loop that has no turns")
                .hint("the range of the loop is empty"),
        ))
    }

    /// A name that nothing defines: reported once, with all its places.
    pub(super) fn unknown<T>(
        &mut self,
        name: &Arc<str>,
        span: Span,
        cx: Cx<'_>,
        called: bool,
    ) -> Eval<T> {
        let known = self.unknown_names.get(name).copied();
        if let Some(diagnostic) = known.and_then(|at| self.diagnostics.get_mut(at)) {
            diagnostic.also(span);
            return Err(self.already(span));
        }
        let what = if called { "no function is named" } else { "nothing is named" };
        // Looking for what was meant takes time, and few are shown.
        let hint = match self.n_reported < MAX_HINTS {
            true => self.meaning_of(name, cx, called),
            false => "declare it".to_owned(),
        };
        self.unknown_names.insert(name.clone(), self.diagnostics.len());
        if let Some(hint) = names::foreign_function(name).filter(|_| called) {
            let message = format!("`{name}` is a function of other tools");
            return Err(self.report(Diagnostic::fault(Code::ForeignWord, span, message).hint(hint)));
        }
        Err(self.report(
            Diagnostic::fault(Code::UnknownName, span, format!("{what} `{name}`")).hint(hint),
        ))
    }

    /// What was probably meant by a name that nothing defines.
    fn meaning_of(&self, name: &str, cx: Cx<'_>, called: bool) -> String {
        match self.scopes[cx.scope.0 as usize].labels.get(name) {
            Some(label) if label.is_event => {
                return format!("`{name}` is an event, which has no value");
            }
            Some(_) => {
                return format!(
                    "`{name}` is a constraint; write `multiplier({name})` or `residual({name})`"
                );
            }
            None => {}
        }
        let declared = &self.scopes[cx.scope.0 as usize].declared;
        let mut outer = self.scopes[cx.scope.0 as usize].parent;
        while let Some(scope) = outer {
            let scope = &self.scopes[scope.0 as usize];
            if scope.declared.contains_key(name) {
                return format!(
                    "inside a model only its own names exist; declare `param {name} = 0` in it, and set \
                     it where the part is built: `{{ {name} = {name} }}`"
                );
            }
            outer = scope.parent;
        }
        let of_part = self
            .scopes
            .iter()
            .find(|inner| inner.parent == Some(cx.scope) && inner.declared.contains_key(name));
        if let Some(part) = of_part {
            return format!("it belongs to a part: write `{}{name}`", part.prefix);
        }
        let mut candidates: Vec<&str> = Vec::new();
        let mut local = cx.locals;
        while let Some(this) = local {
            candidates.push(this.name);
            local = this.outer;
        }
        let mut env = cx.env;
        while env != EnvId(0) {
            let this = &self.envs[env.0 as usize];
            candidates.extend(this.index.iter().map(|i| &*i.0));
            candidates.extend(this.locals.keys().map(|k| &**k));
            env = this.parent;
        }
        candidates.extend(declared.keys().map(|k| &**k));
        candidates.extend(["t", "pi"]);
        let product = names::product_reading(name, &candidates)
            .map(|product| format!("nothing is multiplied implicitly: write `{product}`"));
        if let Some(hint) = product.as_ref().filter(|_| name.chars().count() <= 4) {
            return hint.clone();
        }
        if let Some(hint) = names::other_notation(name, |name| declared.get(name).map(|d| d.0)) {
            return hint;
        }
        candidates.extend(["energy", "kinetic", "potential"]);
        if called {
            candidates.extend(names::FUNCTIONS.iter().map(|f| f.0));
        }
        if let Some(meant) = closest(name, candidates.iter().copied()) {
            return format!("did you mean `{meant}`?");
        }
        match product {
            Some(hint) => hint,
            None if cx.constant => {
                format!(
                    "an index is a `const`, or runs in a loop or sum: `for {name} in 1..N {{ … }}`"
                )
            }
            None if called => format!("define it: `let {name}(a) = …`"),
            None if name == "g" => "declare it: `param g = 9.81`".into(),
            None => format!("declare it: `param {name} = …`, `coord {name}` or `let {name} = …`"),
        }
    }
}
