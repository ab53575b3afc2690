//! Saying what is wrong. An evaluation may stop only with the proof that something was
//! said: `Stop::Reported` holds a `Told`, and only this file makes one. So no
//! statement is left out of a model that has no faults.

use super::*;

/// Proof that a fault stands among the diagnostics.
pub(crate) struct Told(());

impl Resolver<'_, '_> {
    /// Reports a fault (or a remark).
    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Stop {
        // A model may have as many faults as terms; no one reads them all.
        if self.n_reported < MAX_FAULTS {
            self.diagnostics.push(diagnostic);
        }
        self.n_reported += 1;
        Stop::Reported(Told(()))
    }

    /// Reports a fault without a hint.
    pub(super) fn fault<T>(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
    ) -> Eval<T> {
        Err(self.report(Diagnostic::fault(code, span, message)))
    }

    /// Stops at something whose fault was reported elsewhere. Should there be none, the
    /// place itself is one: what cannot be evaluated is never dropped in silence.
    pub(super) fn already(&mut self, span: Span) -> Stop {
        if self.diagnostics.iter().any(|d| d.severity == Severity::Fault) {
            return Stop::Reported(Told(()));
        }
        self.report(Diagnostic::fault(Code::NotAllowedHere, span, "this has no value here"))
    }
}
