//! Documents: what a derivation gave, for people and for programs. One file a
//! kind of document; all of them read one [`Derivation`].

mod derivation;
pub mod evaluation;
pub mod html;
pub mod json;
pub mod latex;
pub mod plot;
pub mod sinks;
pub mod summary;
pub mod table;
pub mod text;
mod typeset;

pub use derivation::Derivation;
pub use evaluation::EvaluationPage;
pub use summary::RunPage;
