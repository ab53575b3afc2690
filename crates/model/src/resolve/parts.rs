//! Parts: models inside models, each with names of its own behind a dot.

use super::*;
use crate::tree::{Entry, PartSource, StatementKind};

/// What the braces of a part set, seen from the model around it.
pub(super) struct Setting<'a> {
    pub name: String,
    pub value: &'a Expr,
    pub span: Span,
    pub used: bool,
}

/// Parts inside parts, at most.
const DEEPEST: usize = 200;

/// What a part costs beside its statements: it has tables of names of its own.
const PART_COST: u64 = 40;

impl<'a> Resolver<'a, '_> {
    /// Builds a part: a scope of its own with the model's statements in it.
    pub(super) fn enter_part(
        &mut self,
        entry: &'a Entry,
        source: &'a PartSource,
        settings: &'a [(Entry, Expr)],
        instance: Instance<'a>,
    ) -> Eval<()> {
        let Instance { scope, env, .. } = instance;
        let indices = self.indices(&entry.indices, self.constant_cx(scope, env))?;
        let (body, key) = self.part_body(source, scope)?;
        self.refuse_cycle(key, scope, entry.span)?;
        self.spend(PART_COST, entry.span)?;
        let prefix = format!("{}.", self.full_name(scope, &entry.name.text, &indices));
        let mut list = Vec::with_capacity(settings.len());
        for (setting, value) in settings {
            let indices = self.indices(&setting.indices, self.constant_cx(scope, env))?;
            let name = names::with_indices(&setting.name.text, &indices);
            list.push(Setting { name, value, span: setting.span, used: false });
        }
        let id = ScopeId(self.scopes.len() as u32);
        self.scopes.push(Scope {
            prefix,
            parent: Some(scope),
            outer_env: env,
            model: key,
            settings: list,
            ..Scope::default()
        });
        let def = self.new_def(DefKind::Part(id), scope, env, entry.span);
        self.enter_name(&entry.name, indices, Kind::Part, def, scope)?;
        self.declare(body, id);
        self.unused_settings(id);
        Ok(())
    }

    /// The statements of a part, and what tells its model from others.
    fn part_body(
        &mut self,
        source: &'a PartSource,
        scope: ScopeId,
    ) -> Eval<(&'a [Statement], usize)> {
        match source {
            PartSource::Model(name) => {
                let mut at = Some(scope);
                while let Some(here) = at {
                    let this = &self.scopes[here.0 as usize];
                    if let Some(&body) = this.models.get(&name.text) {
                        return Ok((body, body.as_ptr() as usize));
                    }
                    at = this.parent;
                }
                let known: Vec<String> = self
                    .scopes
                    .iter()
                    .flat_map(|s| s.models.keys().map(|k| k.to_string()))
                    .collect();
                let mut diagnostic = Diagnostic::fault(
                    Code::UnknownName,
                    name.span,
                    format!("no model is named `{}`", name.text),
                );
                diagnostic = match names::closest(&name.text, known.iter().map(String::as_str)) {
                    Some(meant) => diagnostic.hint(format!("did you mean `{meant}`?")),
                    None => diagnostic.hint(format!("define it: `model {} {{ … }}`", name.text)),
                };
                Err(self.report(diagnostic))
            }
            PartSource::File(name) => match self
                .files
                .get(&(name.span.source, name.text.to_string()))
            {
                Some(Ok(file)) => Ok((&file.statements, Arc::as_ptr(file) as usize)),
                Some(Err(why)) => {
                    let why = why.clone();
                    let message = format!("cannot read the part `{}`: {why}", name.text);
                    Err(self.report(
                        Diagnostic::fault(Code::UnreadableFile, name.span, message)
                            .hint("the path is relative to the file this stands in"),
                    ))
                }
                None => Err(self.report(
                    Diagnostic::fault(
                        Code::UnreadableFile,
                        name.span,
                        format!("the part `{}` cannot be read from here", name.text),
                    )
                    .hint("parts from files need a model that is a file itself, or standard input"),
                )),
            },
        }
    }

    fn refuse_cycle(&mut self, key: usize, scope: ScopeId, span: Span) -> Eval<()> {
        let mut at = Some(scope);
        let mut depth = 0;
        while let Some(here) = at {
            let this = &self.scopes[here.0 as usize];
            depth += 1;
            if depth > DEEPEST {
                return self.fault(
                    Code::TooDeep,
                    span,
                    format!("parts are nested deeper than {DEEPEST} levels here"),
                );
            }
            if this.model == key {
                return Err(self.report(
                    Diagnostic::fault(Code::PartCycle, span, "this part contains itself").hint(
                        "a chain of equal parts is a loop: `for i in 1..N { part a[i] = … }`",
                    ),
                ));
            }
            at = this.parent;
        }
        Ok(())
    }

    /// The value a part's braces give a parameter or constant, and where that
    /// is evaluated.
    pub(super) fn take_setting(
        &mut self,
        scope: ScopeId,
        name: &str,
        indices: &[i64],
    ) -> Option<(&'a Expr, ScopeId, EnvId)> {
        let this = &mut self.scopes[scope.0 as usize];
        let outer = (this.parent?, this.outer_env);
        let full = names::with_indices(name, indices);
        let mut found = None;
        for setting in &mut this.settings {
            if setting.name == full || setting.name == name {
                setting.used = true;
                found = Some((setting.value, outer.0, outer.1));
            }
        }
        found
    }

    fn unused_settings(&mut self, scope: ScopeId) {
        let unused: Vec<(String, Span)> = self.scopes[scope.0 as usize]
            .settings
            .iter()
            .filter(|s| !s.used)
            .map(|s| (s.name.clone(), s.span))
            .collect();
        for (name, span) in unused {
            let known: Vec<String> = self.scopes[scope.0 as usize]
                .declared
                .iter()
                .filter(|(_, (kind, _))| matches!(kind, Kind::Param | Kind::Const | Kind::Input))
                .map(|(name, _)| name.to_string())
                .collect();
            let mut diagnostic = Diagnostic::fault(
                Code::UnknownMember,
                span,
                format!("the part's model has no parameter or input `{name}` to set"),
            );
            diagnostic = match names::closest(&name, known.iter().map(String::as_str)) {
                Some(meant) => diagnostic.hint(format!("did you mean `{meant}`?")),
                None => {
                    diagnostic.hint("the braces set parameters, constants and inputs of the model")
                }
            };
            self.report(diagnostic);
        }
    }

    /// Notes the models a scope defines, before anything is built.
    pub(super) fn note_models(&mut self, statements: &'a [Statement], scope: ScopeId) {
        let mut first: FxHashMap<&str, Span> = FxHashMap::default();
        for statement in statements {
            let StatementKind::Model { name, body } = &statement.kind else { continue };
            let body: &'a [Statement] = body;
            // The first definition stands; others are only reported.
            if let Some(&before) = first.get(&*name.text) {
                let _ = self.defined_twice::<()>(&name.text, name.span, before);
                continue;
            }
            first.insert(&name.text, name.span);
            self.scopes[scope.0 as usize].models.insert(name.text.clone(), body);
        }
    }
}
