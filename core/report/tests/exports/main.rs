//! A run in the formats of others, read by their own libraries, and by what is known of their rules.

#[path = "../support/mod.rs"]
mod support;

mod csv_rows;
mod histograms;
mod made;
mod markdown_page;
