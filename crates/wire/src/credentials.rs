//! Proofs of identity that a client may use, and the methods of authentication that they make possible (`docs/reference/wire-cedar.md` 9).

use std::path::{Path, PathBuf};

use crate::error::WireError;
use crate::ssl::SslCredential;
use crate::token::Token;

/// A method of authentication.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Method {
    Fs,
    Token,
    Ssl,
    ClaimToBe,
}

impl Method {
    const ALL: [Method; 4] = [Method::Fs, Method::Token, Method::Ssl, Method::ClaimToBe];

    /// Its bit in the masks that both sides exchange.
    pub(crate) fn bit(self) -> i64 {
        match self {
            Method::ClaimToBe => 2,
            Method::Fs => 4,
            Method::Ssl => 256,
            Method::Token => 2048,
        }
    }

    /// Its name on the wire.
    pub(crate) fn wire_name(self) -> &'static str {
        match self {
            Method::ClaimToBe => "CLAIMTOBE",
            Method::Fs => "FS",
            Method::Ssl => "SSL",
            Method::Token => "TOKEN",
        }
    }

    /// Its name in configurations.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Method::Token => "IDTOKENS",
            other => other.wire_name(),
        }
    }
}

/// All methods that a server may name, by their names on the wire.
pub(crate) const ALL_METHODS: &str = "FS,TOKEN,SSL,KERBEROS,SCITOKENS,PASSWORD,MUNGE,CLAIMTOBE,ANONYMOUS";

/// The name of a method in configurations, from that on the wire.
pub(crate) fn configured_name(wire: &str) -> String {
    if wire.eq_ignore_ascii_case("TOKEN") { "IDTOKENS".to_owned() } else { wire.to_ascii_uppercase() }
}

/// The signing key of a pool, as HTCondor has it.
const SIGNING_KEY: &str = "/etc/condor/passwords.d/POOL";

/// The tokens in a directory, by the names of the files, and the reason for each file that cannot be used.
fn tokens_in(directory: &Path) -> (Vec<Token>, Vec<String>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return (Vec::new(), Vec::new()) };
    let mut paths: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.is_file()).collect();
    paths.sort();
    let (mut tokens, mut unusable) = (Vec::new(), Vec::new());
    for path in &paths {
        match Token::read(path) {
            Ok(read) => tokens.extend(read),
            Err(error) => unusable.push(error.to_string()),
        }
    }
    (tokens, unusable)
}

/// Proofs of identity that a client may use.
///
/// Without any, a client reads what the pool shows to all clients, which by default is all that monitoring needs.
#[derive(Clone, Debug, Default)]
pub struct Credentials {
    file_system: bool,
    tokens: Vec<Token>,
    /// The reasons for which files of tokens are left out.
    unusable: Vec<String>,
    signing_key: Option<PathBuf>,
    ssl: Option<SslCredential>,
    claimed: Option<String>,
    required: bool,
}

impl Credentials {
    /// No proofs.
    pub fn none() -> Self {
        Credentials::default()
    }

    /// The proofs that the user of this process has: the file system, the tokens in `~/.condor/tokens.d` and
    /// `/etc/condor/tokens.d`, and the signing key of the pool if it can be read.
    pub fn of_user() -> Self {
        let own = std::env::var_os("HOME").map(|home| Path::new(&home).join(".condor/tokens.d"));
        let directories = own.into_iter().chain([PathBuf::from("/etc/condor/tokens.d")]);
        let mut credentials = Credentials::none().with_file_system();
        for (tokens, unusable) in directories.map(|directory| tokens_in(&directory)) {
            credentials.tokens.extend(tokens);
            credentials.unusable.extend(unusable);
        }
        let key = Path::new(SIGNING_KEY);
        // Only root can read it, on hosts of daemons.
        if std::fs::File::open(key).is_ok() { credentials.with_signing_key(key) } else { credentials }
    }

    /// The proofs in files that a user names, with which the client authenticates in any case: tokens, and for SSL the
    /// authorities and the certificate and key of the client. The proofs that the user has if no file is named.
    ///
    /// # Errors
    /// A file cannot be read, or holds something else.
    pub fn in_files(
        tokens: Option<&Path>,
        authorities: Option<&Path>,
        own: Option<(&Path, &Path)>,
    ) -> Result<Self, WireError> {
        if tokens.is_none() && authorities.is_none() {
            return Ok(Credentials::of_user());
        }
        let mut credentials = Credentials::none().required();
        if let Some(path) = tokens {
            credentials = credentials.with_tokens(Token::read(path)?);
        }
        if let Some(path) = authorities {
            credentials = credentials.with_ssl(path, own)?;
        }
        Ok(credentials)
    }

    /// File-system authentication (FS): the client creates a directory that a daemon on the same host names.
    #[must_use]
    pub fn with_file_system(mut self) -> Self {
        self.file_system = true;
        self
    }

    /// Also these IDTOKENS.
    #[must_use]
    pub fn with_tokens(mut self, tokens: impl IntoIterator<Item = Token>) -> Self {
        self.tokens.extend(tokens);
        self
    }

    /// The signing key of a pool, with which the client makes a token for itself, as daemons do: it is `condor@password` then.
    #[must_use]
    pub fn with_signing_key(mut self, path: impl Into<PathBuf>) -> Self {
        self.signing_key = Some(path.into());
        self
    }

    /// SSL: daemons prove with certificates that an authority in this PEM file has signed who they are. A client without a
    /// certificate and private key of its own is anonymous.
    ///
    /// # Errors
    /// A file cannot be read, or is not in PEM format.
    pub fn with_ssl(mut self, authorities: &Path, own: Option<(&Path, &Path)>) -> Result<Self, WireError> {
        self.ssl = Some(SslCredential::read(authorities, own)?);
        Ok(self)
    }

    /// SSL that trusts no authority.
    pub(crate) fn with_distrust(mut self) -> Result<Self, WireError> {
        self.ssl = Some(SslCredential::trusting_none()?);
        Ok(self)
    }

    /// An identity without a proof (CLAIMTOBE), for pools that believe it.
    #[must_use]
    pub fn with_claimed_identity(mut self, identity: impl Into<String>) -> Self {
        self.claimed = Some(identity.into());
        self
    }

    /// The client authenticates even where that is not necessary, and fails if it cannot.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    pub(crate) fn is_required(&self) -> bool {
        self.required
    }

    pub(crate) fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// A token made with the signing key, for a server that trusts these keys in this domain.
    pub(crate) fn own_token(&self, trust_domain: &str, keys: &str) -> Result<Option<Token>, WireError> {
        let Some(path) = &self.signing_key else { return Ok(None) };
        let own = Token::sign(path, "condor@password", trust_domain)?;
        Ok(Some(own).filter(|token| token.suits(trust_domain, keys)))
    }

    pub(crate) fn ssl(&self) -> Option<&SslCredential> {
        self.ssl.as_ref()
    }

    pub(crate) fn claimed(&self) -> Option<&str> {
        self.claimed.as_deref()
    }

    /// The reasons for which files of tokens that the user has are left out.
    pub(crate) fn unusable(&self) -> &[String] {
        &self.unusable
    }

    /// The methods that the proofs make possible.
    pub(crate) fn methods(&self) -> Vec<Method> {
        let possible = |method: &Method| match method {
            Method::Fs => self.file_system,
            Method::Token => !self.tokens.is_empty() || self.signing_key.is_some(),
            Method::Ssl => self.ssl.is_some(),
            Method::ClaimToBe => self.claimed.is_some(),
        };
        Method::ALL.into_iter().filter(possible).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_holds_no_token_does_not_hide_the_others() {
        let folder = tempfile::tempdir().unwrap();
        // {"alg":"HS256","kid":"POOL"} and {"iss":"pool","sub":"ada@pool"}
        let token = "eyJhbGciOiJIUzI1NiIsImtpZCI6IlBPT0wifQ.eyJpc3MiOiJwb29sIiwic3ViIjoiYWRhQHBvb2wifQ.AAAA";
        std::fs::write(folder.path().join("b"), token).unwrap();
        std::fs::write(folder.path().join("a"), format!("not a token\n{token}\n")).unwrap();
        let (tokens, unusable) = tokens_in(folder.path());
        assert_eq!((tokens.len(), unusable.len()), (1, 1));
        assert!(unusable[0].contains(&folder.path().join("a").display().to_string()), "{unusable:?}");
    }
}
