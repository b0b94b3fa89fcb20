//! Reads a data file in the format of its [`RowsConfig`].

use wavetank_units::UserError;

use super::remark::DataNote;
use super::source::{RowsConfig, RowsFormat};
use super::{csv_rows, json_rows, text};
use wavetank_plan::Table;

impl RowsConfig<'_> {
    /// Reads the bytes of the file. Suspicious but readable contents give a note.
    pub fn read(&self, bytes: &[u8]) -> Result<(Table, Vec<DataNote>), UserError> {
        let mut remarks = Vec::new();
        let text = text::decode(self.name, bytes, self.encoding, &mut remarks)?;
        let table = match self.format {
            RowsFormat::Csv => csv_rows::read(self, &text, &mut remarks)?,
            RowsFormat::JsonLines => json_rows::read(self, &text, &mut remarks)?,
        };
        Ok((table, remarks))
    }
}
