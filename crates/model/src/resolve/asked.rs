//! What is asked of joints anywhere in a model. A coordinate or a reaction that is nowhere asked for
//! is not made, so that this is found out from names alone, before anything is evaluated.
//!
//! A name means what it means in its own part: `knee.force` in one leg asks nothing of the knee of
//! the other. Indices are numbers or those of loops; where one is something else, all entries are
//! taken to be meant.

use super::*;
use crate::tree::{ExprKind, PostfixKind, StatementKind};
use crate::walk;

/// Members of joints that are asked for, by full names.
#[derive(Default)]
pub(super) struct Asked {
    exact: FxHashSet<(String, Arc<str>)>,
    /// Names without indices, where those are not known from the text.
    loose: FxHashSet<(String, Arc<str>)>,
}

impl Asked {
    fn of(&self, name: &str, members: &[&str]) -> bool {
        let has = |set: &FxHashSet<(String, Arc<str>)>, name: &str| {
            set.iter().any(|(own, member)| own == name && members.contains(&&**member))
        };
        has(&self.exact, name) || has(&self.loose, &without_indices(name))
    }
}

/// `leg[2].knee` as `leg.knee`.
fn without_indices(name: &str) -> String {
    let mut inside = false;
    let outside = name.chars().filter(|&c| {
        inside = (inside || c == '[') && c != ']';
        !inside && c != ']'
    });
    outside.collect()
}

impl<'a> Resolver<'a, '_> {
    /// Notes what stands behind dots, but in `start`.
    pub(super) fn look_for_members(&mut self, file: &'a File) {
        for instance in self.instances.clone() {
            if matches!(instance.statement.kind, StatementKind::Start(_)) {
                continue;
            }
            self.note_members(walk::of_statement(instance.statement), instance.scope, instance.env);
        }
        for check in &file.checks {
            self.note_members(walk::of_check(&check.kind), ScopeId(0), EnvId(0));
        }
    }

    fn note_members(&mut self, mut pending: Vec<&'a Expr>, scope: ScopeId, env: EnvId) {
        while let Some(expr) = pending.pop() {
            pending.extend(walk::children(expr));
            let ExprKind::Postfix(base, operations) = &expr.kind else { continue };
            let ExprKind::Name(first) = &base.kind else { continue };
            // What stands before the next dot, and whether all its indices are known.
            let mut path = self.full_name(scope, first, &[]);
            let mut is_known = true;
            for operation in operations {
                match &operation.kind {
                    PostfixKind::Member(member) => {
                        let asked = &mut self.machine.asked;
                        match is_known {
                            true => asked.exact.insert((path.clone(), member.clone())),
                            false => asked.loose.insert((without_indices(&path), member.clone())),
                        };
                        path = format!("{path}.{member}");
                    }
                    PostfixKind::Index(list) => {
                        let known: Option<Vec<i64>> =
                            list.iter().map(|index| self.plain_index(index, env)).collect();
                        is_known &= known.is_some();
                        path = names::with_indices(&path, &known.unwrap_or_default());
                    }
                    PostfixKind::Prime | PostfixKind::Call(_) => break,
                }
            }
        }
    }

    /// An index that is a number, or that of a loop around.
    fn plain_index(&self, index: &Expr, mut env: EnvId) -> Option<i64> {
        match &index.kind {
            ExprKind::Number(number) => number.as_integer(),
            ExprKind::Name(name) => {
                while env != EnvId(0) {
                    let this = &self.envs[env.0 as usize];
                    match &this.index {
                        Some((own, value)) if own == name => return Some(*value),
                        _ => env = this.parent,
                    }
                }
                None
            }
            _ => None,
        }
    }

    /// Whether a member of a joint is asked for anywhere.
    pub(super) fn is_asked(&self, joint: usize, members: &[&str]) -> bool {
        self.machine.asked.of(&self.machine.joints[joint].name, members)
    }
}

#[cfg(test)]
mod tests {
    use super::without_indices;

    #[test]
    fn indices_are_left_out() {
        assert_eq!(without_indices("leg[2].knee[1,3].of"), "leg.knee.of");
        assert_eq!(without_indices("knee"), "knee");
    }
}
