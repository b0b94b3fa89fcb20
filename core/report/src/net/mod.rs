//! Measurements of a network as text and as one HTML file.

mod charts;
mod html;
mod matrix;
mod text;

pub use html::net_html;
pub use text::net_text;
