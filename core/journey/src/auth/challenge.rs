//! [`Challenge`]: a server's request for credentials in `WWW-Authenticate` or `Proxy-Authenticate`.

use wavetank_units::{Sentence, phrase, sentence};

/// Maximum length of a header that is read.
const CHALLENGE_BYTES_MAX: usize = 8192;

/// Maximum number of characters of a server's text that a message shows.
const SHOWN_MAX: usize = 40;

/// The hash that a server requests (RFC 7616 §3.2), without its `-sess`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DigestAlgorithm {
    /// `MD5`, which is also the default.
    Md5,
    /// `SHA-256`.
    Sha256,
    /// `SHA-512-256`.
    Sha512Slash256,
}

/// A digest challenge that can be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each flag is independent")]
pub struct Challenge {
    /// The protection space to which the password belongs.
    pub realm: Vec<u8>,
    /// The server's nonce.
    pub nonce: Vec<u8>,
    /// A value that is returned unchanged.
    pub opaque: Option<Vec<u8>>,
    /// The hash.
    pub algorithm: DigestAlgorithm,
    /// Whether the hash also covers the session's first nonces (`-sess`).
    pub session: bool,
    /// Whether `qop=auth` is offered. Without it, the credentials have the form of RFC 2069.
    pub qop: bool,
    /// Whether the last credentials were right but their nonce is old. The password is then still
    /// valid.
    pub stale: bool,
    /// Whether the user's name is hashed too.
    pub hash_user: bool,
}

/// The reason why a challenge is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChallengeFault {
    /// The response has no challenge.
    Missing,
    /// No scheme is `Digest`. The schemes that the server asks for.
    NoDigest(Vec<String>),
    /// A digest with this unknown hash.
    Algorithm(String),
    /// A digest that offers this quality of protection, and not `auth`.
    Protection(String),
    /// The header is not a list of challenges, or the realm or nonce is missing.
    Malformed,
    /// The server did not accept the credentials.
    Refused,
}

impl ChallengeFault {
    /// Returns a sentence with the reason.
    pub fn message(&self) -> Sentence {
        match self {
            Self::Missing => phrase!("the challenge is missing: the response has no WWW-Authenticate"),
            Self::NoDigest(schemes) => {
                sentence!(
                    "the challenge was not answered: the server asks for {}, not Digest",
                    schemes.join(", ")
                )
            }
            Self::Algorithm(name) => {
                sentence!("the challenge was not answered: its algorithm {name} is not supported")
            }
            Self::Protection(offers) => {
                sentence!(
                    "the challenge was not answered: it offers qop {offers}, and auth is supported alone"
                )
            }
            Self::Malformed => {
                phrase!("the challenge was not answered: it is malformed, or has no realm or nonce")
            }
            Self::Refused => phrase!("the challenge was answered, and the server refused the credentials"),
        }
    }

    /// Whether it says more of a header's Digest challenge than `other`.
    fn is_nearer_than(&self, other: &Self) -> bool {
        let rank = |fault: &Self| match fault {
            Self::Missing => 0,
            Self::NoDigest(_) => 1,
            Self::Malformed => 2,
            Self::Algorithm(_) | Self::Protection(_) => 3,
            Self::Refused => 4,
        };
        rank(self) > rank(other)
    }
}

impl Challenge {
    /// Returns the first digest challenge in the values of a header that can be answered.
    ///
    /// # Errors
    /// The reason that says most, if there is none.
    pub fn first<'a>(headers: impl Iterator<Item = &'a [u8]>) -> Result<Self, ChallengeFault> {
        let mut worst = ChallengeFault::Missing;
        for header in headers {
            match (Self::parse(header), &mut worst) {
                (Ok(found), _) => return Ok(found),
                (Err(ChallengeFault::NoDigest(more)), ChallengeFault::NoDigest(schemes)) => {
                    schemes.extend(more);
                }
                (Err(fault), worst) if fault.is_nearer_than(worst) => *worst = fault,
                (Err(_), _) => {}
            }
        }
        Err(worst)
    }

    /// Returns the first digest challenge in a header's value that can be answered. Servers list
    /// their preferred one first (RFC 7616 §3.7).
    pub fn parse(header: &[u8]) -> Result<Self, ChallengeFault> {
        if header.len() > CHALLENGE_BYTES_MAX {
            return Err(ChallengeFault::Malformed);
        }
        let mut worst = ChallengeFault::NoDigest(Vec::new());
        let mut parameters: Option<Vec<(&[u8], Vec<u8>)>> = None;
        let mut words = ChallengeParser { rest: header, is_after_comma: true, is_first: true };
        loop {
            let word = words.next_word().ok_or(ChallengeFault::Malformed)?;
            if let Word::Parameter(name, value) = word {
                if let Some(parameters) = &mut parameters {
                    parameters.push((name, value));
                }
                continue;
            }
            if let Some(parameters) = parameters.take() {
                match Self::from_parameters(parameters) {
                    Ok(found) => return Ok(found),
                    Err(fault) => worst = fault,
                }
            }
            match word {
                Word::Scheme(name) if name.eq_ignore_ascii_case(b"digest") => parameters = Some(Vec::new()),
                // A token after a scheme's name belongs to that scheme.
                Word::Scheme(name) if words.is_after_comma => {
                    if let ChallengeFault::NoDigest(schemes) = &mut worst {
                        schemes.push(shown(name));
                    }
                }
                Word::End => {
                    return Err(match worst {
                        ChallengeFault::NoDigest(schemes) if schemes.is_empty() => ChallengeFault::Missing,
                        worst => worst,
                    });
                }
                _ => {}
            }
        }
    }

    fn from_parameters(parameters: Vec<(&[u8], Vec<u8>)>) -> Result<Self, ChallengeFault> {
        let mut new = Self {
            realm: Vec::new(),
            nonce: Vec::new(),
            opaque: None,
            algorithm: DigestAlgorithm::Md5,
            session: false,
            qop: false,
            stale: false,
            hash_user: false,
        };
        let (mut realm, mut nonce) = (false, false);
        for (name, value) in parameters {
            match name.to_ascii_lowercase().as_slice() {
                b"realm" => (realm, new.realm) = (true, value),
                b"nonce" => (nonce, new.nonce) = (true, value),
                b"opaque" => new.opaque = Some(value),
                b"stale" => new.stale = value.eq_ignore_ascii_case(b"true"),
                b"userhash" => new.hash_user = value.eq_ignore_ascii_case(b"true"),
                b"algorithm" => (new.algorithm, new.session) = algorithm(&value)?,
                b"qop" => {
                    let mut offers = value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
                    new.qop = offers.any(|offer| offer.eq_ignore_ascii_case(b"auth"));
                    if !new.qop {
                        return Err(ChallengeFault::Protection(shown(&value)));
                    }
                }
                _ => {}
            }
        }
        // The session hash contains the client's nonce, which is only sent with `qop`.
        if !realm || !nonce || (new.session && !new.qop) {
            return Err(ChallengeFault::Malformed);
        }
        Ok(new)
    }
}

/// Returns the nonce for the next request from the value of Authentication-Info (RFC 7616 §3.5).
pub(crate) fn next_nonce(header: &[u8]) -> Option<Vec<u8>> {
    let header = header.get(..CHALLENGE_BYTES_MAX.min(header.len()))?;
    let mut words = ChallengeParser { rest: header, is_after_comma: true, is_first: true };
    loop {
        match words.next_word()? {
            Word::Parameter(name, value) if name.eq_ignore_ascii_case(b"nextnonce") => return Some(value),
            Word::End => return None,
            _ => {}
        }
    }
}

/// Returns the start of `text` for a message.
fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.chars().filter(|c| !c.is_control()).take(SHOWN_MAX).collect()
}

fn algorithm(name: &[u8]) -> Result<(DigestAlgorithm, bool), ChallengeFault> {
    let name = name.to_ascii_lowercase();
    let (hash, session) = match name.strip_suffix(b"-sess") {
        Some(hash) => (hash, true),
        None => (name.as_slice(), false),
    };
    let hash = match hash {
        b"md5" => DigestAlgorithm::Md5,
        b"sha-256" => DigestAlgorithm::Sha256,
        b"sha-512-256" => DigestAlgorithm::Sha512Slash256,
        _ => return Err(ChallengeFault::Algorithm(shown(&name).to_ascii_uppercase())),
    };
    Ok((hash, session))
}

enum Word<'a> {
    /// The name of a scheme, or a single token after it.
    Scheme(&'a [u8]),
    /// `name=value`, without the quotes.
    Parameter(&'a [u8], Vec<u8>),
    End,
}

/// Parses a list of challenges (RFC 9110 §11.6.1).
struct ChallengeParser<'a> {
    rest: &'a [u8],
    /// Whether the last part was the first of the list or followed a comma.
    is_after_comma: bool,
    is_first: bool,
}

impl<'a> ChallengeParser<'a> {
    /// Returns the next part, or `None` if the list is malformed.
    fn next_word(&mut self) -> Option<Word<'a>> {
        let start = self.rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b','));
        let Some(start) = start else { return Some(Word::End) };
        self.is_after_comma = self.is_first || self.rest[..start].contains(&b',');
        self.is_first = false;
        self.rest = &self.rest[start..];
        let name = self.token();
        if name.is_empty() {
            return None;
        }
        let behind = self.rest.trim_ascii_start();
        // Padding of a `token68` is not a parameter.
        let Some(value) = behind.strip_prefix(b"=").filter(|value| !matches!(value, [b'=', ..] | [])) else {
            self.rest = self.rest.trim_ascii_start();
            let padding = self.rest.iter().take_while(|byte| **byte == b'=').count();
            self.rest = &self.rest[padding..];
            return Some(Word::Scheme(name));
        };
        self.rest = value.trim_ascii_start();
        match self.rest.strip_prefix(b"\"") {
            Some(inside) => Some(Word::Parameter(name, self.quoted(inside)?)),
            None => Some(Word::Parameter(name, self.token().to_vec())),
        }
    }

    fn token(&mut self) -> &'a [u8] {
        let is_end = |byte: &u8| matches!(byte, b' ' | b'\t' | b',' | b'=' | b'"') || byte.is_ascii_control();
        let end = self.rest.iter().position(is_end).unwrap_or(self.rest.len());
        let (token, rest) = self.rest.split_at(end);
        self.rest = rest;
        token
    }

    fn quoted(&mut self, inside: &'a [u8]) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        let mut bytes = inside.iter().enumerate();
        while let Some((at, byte)) = bytes.next() {
            match byte {
                b'"' => {
                    self.rest = &inside[at + 1..];
                    return Some(value);
                }
                b'\\' => value.push(*bytes.next()?.1),
                _ => value.push(*byte),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Said = (&'static str, &'static str, DigestAlgorithm, bool, bool);

    fn check(header: &str, expected: Result<Said, ChallengeFault>) {
        let found = Challenge::parse(header.as_bytes());
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let found =
            found.map(|one| (text(&one.realm), text(&one.nonce), one.algorithm, one.session, one.qop));
        let expected = expected.map(|(realm, nonce, algorithm, session, qop)| {
            (realm.to_owned(), nonce.to_owned(), algorithm, session, qop)
        });
        assert_eq!(found, expected, "{header}");
    }

    #[test]
    fn challenges_are_read() {
        use DigestAlgorithm::{Md5, Sha256, Sha512Slash256};
        check("Digest realm=\"a\", nonce=\"b\"", Ok(("a", "b", Md5, false, false)));
        check(
            "DIGEST  Realm = \"a, b\" ,nonce=n,qop=\"auth-int, auth\"",
            Ok(("a, b", "n", Md5, false, true)),
        );
        check(
            "Digest realm=\"say \\\"x\\\"\", nonce=\"\", qop=auth, algorithm=SHA-256-sess",
            Ok(("say \"x\"", "", Sha256, true, true)),
        );
        check(
            "Basic realm=\"z\", Negotiate YWJj==, Digest realm=\"a\", nonce=\"b\", algorithm=sha-512-256",
            Ok(("a", "b", Sha512Slash256, false, false)),
        );
        check(
            "Digest realm=\"new\", nonce=\"1\", algorithm=SHA3, Digest realm=\"a\", nonce=\"b\"",
            Ok(("a", "b", Md5, false, false)),
        );
    }

    #[test]
    fn what_cannot_be_answered_is_said() {
        use ChallengeFault::{Algorithm, Malformed, Missing, NoDigest, Protection};
        let schemes = |names: &[&str]| Err(NoDigest(names.iter().map(|&name| name.to_owned()).collect()));
        check("", Err(Missing));
        check("Basic realm=\"z\"", schemes(&["Basic"]));
        check(
            "Negotiate YWJj==, NTLM, Bearer realm=\"a, b\", scope=x",
            schemes(&["Negotiate", "NTLM", "Bearer"]),
        );
        check("Digest realm=\"a\"", Err(Malformed));
        check("Digest realm=\"a\", nonce=\"b", Err(Malformed));
        check("Digest \"x\"", Err(Malformed));
        check("Digest realm=a, nonce=b, algorithm=SHA3", Err(Algorithm("SHA3".to_owned())));
        check("Digest realm=a, nonce=b, qop=\"auth-int\"", Err(Protection("auth-int".to_owned())));
        check("Digest realm=a, nonce=b, algorithm=MD5-sess", Err(Malformed));
    }

    #[test]
    fn of_several_headers_the_nearest_reason_is_given() {
        let of = |headers: &[&'static str]| {
            Challenge::first(headers.iter().map(|text| text.as_bytes())).map(|_| ())
        };
        assert_eq!(of(&[]), Err(ChallengeFault::Missing));
        let both = ChallengeFault::NoDigest(vec!["Basic".to_owned(), "Bearer".to_owned()]);
        assert_eq!(of(&["Basic realm=a", "Bearer"]), Err(both));
        let unknown = ChallengeFault::Algorithm("SHA3".to_owned());
        assert_eq!(of(&["Digest realm=a, nonce=b, algorithm=SHA3", "Basic realm=a"]), Err(unknown));
        assert_eq!(of(&["Basic realm=a", "Digest realm=a, nonce=b"]), Ok(()));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>, text in "(Digest |Basic |realm=|nonce=|\"|=|,| |x|\\\\){0,20}") {
            let _ = Challenge::parse(&bytes);
            let _ = Challenge::parse(text.as_bytes());
        }
    }
}
