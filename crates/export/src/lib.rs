//! Documents: what a derivation gave, for people and for programs. One file a
//! kind of document; all of them read one [`Derivation`].

mod derivation;
pub mod json;
pub mod latex;
pub mod text;

pub use derivation::Derivation;
