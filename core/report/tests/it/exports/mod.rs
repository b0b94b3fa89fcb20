//! A run in formats of other programs, read by their own libraries or checked by their rules.

mod csv_rows;
mod histograms;
mod made;
mod markdown_page;
