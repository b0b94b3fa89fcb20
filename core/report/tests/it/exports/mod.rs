//! A run in the formats of others, read by their own libraries, and by what is known of their rules.

mod csv_rows;
mod histograms;
mod made;
mod markdown_page;
