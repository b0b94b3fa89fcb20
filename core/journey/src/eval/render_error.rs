//! [`RenderError`]: the reason why a text could not be rendered.

/// The reason why a text could not be rendered. The step that needs it is not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenderError {
    /// A variable has no value.
    Variable(u16),
    /// All rows are used up.
    Row(u16),
    /// A value for a header contains a line break.
    Header,
    /// A value for the whole path of a request is not a path.
    Address,
    /// The values do not fit the type of a gRPC message: a description.
    Message(String),
}
