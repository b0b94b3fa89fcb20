//! [`Accounts`]: the users that may log in.

use std::collections::HashMap;

use wavetank_units::quantity::format_grouped;
use wavetank_units::{Code, UserError};

/// Maximum number of accounts in a file.
const ACCOUNTS_MAX: usize = 5_000_000;
/// Longest name and longest password.
pub(crate) const WORD_BYTES_MAX: usize = 128;
/// Without a file, each user's password is this prefix and the user's name.
const PREFIX: &str = "secret-";

/// The pairs of user and password that may log in: those of a file or, by default, every user with
/// the password `secret-` followed by the user's name.
#[derive(Clone, Debug, Default)]
pub struct Accounts {
    listed: Option<HashMap<Box<str>, Box<str>>>,
}

impl Accounts {
    /// Reads a file in the format that experiments use for their users: CSV with a header line and
    /// the columns `user` and `password`. `name` is the name of the file, for errors.
    ///
    /// Fails (exit 2) if a column is missing, a user appears twice or has no name, a line cannot be
    /// read, a value is longer than 128 bytes, or there are more than five million lines.
    pub fn read(name: &str, csv: &[u8]) -> Result<Self, UserError> {
        let wrong = |message: String| {
            UserError::usage(
                Code::BadAccounts,
                format!("{name}: {message}"),
                "start the file with a line `user,password`, then write a line for each account",
            )
        };
        let mut reader = csv::Reader::from_reader(csv.strip_prefix(b"\xef\xbb\xbf").unwrap_or(csv));
        let header = reader.headers().map_err(|error| wrong(error.to_string()))?;
        let column = |wanted: &str| {
            let found = header.iter().position(|column| column.trim() == wanted);
            found.ok_or_else(|| wrong(format!("there is no column `{wanted}`")))
        };
        let (user_at, password_at) = (column("user")?, column("password")?);
        let mut listed = HashMap::new();
        for row in reader.records() {
            let row = row.map_err(|error| wrong(error.to_string()))?;
            let line = row.position().map_or(0, csv::Position::line);
            // All rows have as many columns as the header.
            let (user, password) = (&row[user_at], &row[password_at]);
            if user.is_empty() || user.len().max(password.len()) > WORD_BYTES_MAX {
                return Err(wrong(format!("line {line}: a name or password is empty or too long")));
            }
            if listed.len() == ACCOUNTS_MAX {
                return Err(wrong(format!("more than {} accounts", format_grouped(ACCOUNTS_MAX as u64))));
            }
            if listed.insert(user.into(), password.into()).is_some() {
                return Err(wrong(format!("line {line}: the user `{user}` appears twice")));
            }
        }
        Ok(Self { listed: Some(listed) })
    }

    /// Returns whether this is the user's password.
    pub(crate) fn allow(&self, user: &str, password: &str) -> bool {
        match &self.listed {
            Some(listed) => listed.get(user).is_some_and(|right| **right == *password),
            None => password.strip_prefix(PREFIX) == Some(user),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(csv: &str, expected: Result<&[(&str, &str, bool)], &str>) {
        match (Accounts::read("a.csv", csv.as_bytes()), expected) {
            (Ok(accounts), Ok(pairs)) => {
                for (user, password, allowed) in pairs {
                    assert_eq!(accounts.allow(user, password), *allowed, "{user} {password} of {csv:?}");
                }
            }
            (Err(error), Err(said)) => {
                assert!(error.message.contains(said), "{error:?}");
                assert_eq!((error.code.as_str(), error.exit as u8), ("bad_accounts", 2));
            }
            (found, expected) => panic!("{csv:?}: {found:?}, not {expected:?}"),
        }
    }

    #[test]
    fn files() {
        check(
            "\u{feff}user,password\nann,pw 1\n\"b,ob\",\"\"\n",
            Ok(&[
                ("ann", "pw 1", true),
                ("ann", "pw 2", false),
                ("b,ob", "", true),
                ("eve", "", false),
                ("eve", "secret-eve", false),
            ]),
        );
        check("age,password, user\n7,x,ann\n", Ok(&[("ann", "x", true)]));
        check("user\nann\n", Err("no column `password`"));
        check("", Err("no column `user`"));
        check("user,password\nann\n", Err("line"));
        check("user,password\nann,1\nann,2\n", Err("line 3: the user `ann`"));
        check("user,password\n,1\n", Err("line"));
        check(&format!("user,password\n{},1\n", "x".repeat(129)), Err("too long"));
    }

    #[test]
    fn without_a_file_the_password_follows_from_the_name() {
        let accounts = Accounts::default();
        for (user, password, allowed) in [
            ("ann", "secret-ann", true),
            ("ann", "secret-bob", false),
            ("ann", "ann", false),
            ("", "", false),
        ] {
            assert_eq!(accounts.allow(user, password), allowed, "{user} {password}");
        }
    }
}
