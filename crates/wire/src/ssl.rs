//! SSL authentication (`docs/reference/wire-cedar.md` 9.5): TLS with records that are sent in messages. It proves to the client who the daemon
//! is, and with a certificate of the client also who that is. The session key comes from elsewhere.

use std::fmt;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{CertificateError, ClientConfig, ClientConnection, ConfigBuilder, RootCertStore, WantsVerifier};
use zeroize::Zeroizing;

use crate::connection::Connection;
use crate::error::{Failure, WireError};
use crate::token::contents;

/// Most bytes of TLS in a message, by the protocol.
const MAX_BYTES: usize = 1 << 20;

/// Most messages of a phase: a handshake takes six.
const MAX_ROUNDS: usize = 64;

/// States of both sides, by the protocol.
const READY: i64 = 0;
const RECEIVING: i64 = 2;
const QUITTING: i64 = 3;
const HOLDING: i64 = 4;

/// The authorities that a client trusts, and its own certificate if it has one.
#[derive(Clone)]
pub(crate) struct SslCredential {
    config: Arc<ClientConfig>,
    has_certificate: bool,
}

impl fmt::Debug for SslCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SslCredential").field("has_certificate", &self.has_certificate).finish_non_exhaustive()
    }
}

impl SslCredential {
    /// Reads the certificates of authorities, and the certificate of the client with its private key, from PEM files.
    pub(crate) fn read(authorities: &Path, own: Option<(&Path, &Path)>) -> Result<Self, WireError> {
        let failed =
            |path: &Path, what: &str| WireError::new(path.display().to_string(), Failure::Credential(what.to_owned()));
        let certificates = |path: &Path| -> Result<Vec<CertificateDer<'static>>, WireError> {
            let text = contents(path)?;
            let mut found = Vec::new();
            for certificate in CertificateDer::pem_slice_iter(&text) {
                let damaged = |_| failed(path, &format!("certificate {} in it is not in PEM format", found.len() + 1));
                found.push(certificate.map_err(damaged)?);
            }
            if found.is_empty() { Err(failed(path, "it does not have a certificate in PEM format")) } else { Ok(found) }
        };
        let mut roots = RootCertStore::empty();
        if roots.add_parsable_certificates(certificates(authorities)?).0 == 0 {
            return Err(failed(authorities, "it does not have a certificate of an authority that can be read"));
        }
        let builder = builder(own.map_or(authorities, |(path, _)| path))?.with_root_certificates(roots);
        let config = match own {
            None => builder.with_no_client_auth(),
            Some((path, key)) => {
                let text = contents(key)?;
                let secret = PrivateKeyDer::from_pem_slice(&text)
                    .map_err(|_| failed(key, "it does not have a private key in PEM format"))?;
                let paired = builder.with_client_auth_cert(certificates(path)?, secret);
                paired
                    .map_err(|_| failed(key, "the private key is not that of the certificate, or of an unknown kind"))?
            }
        };
        Ok(SslCredential { config: Arc::new(config), has_certificate: own.is_some() })
    }

    /// A credential that trusts no authority.
    pub(crate) fn trusting_none() -> Result<Self, WireError> {
        let config = builder(Path::new(""))?.with_root_certificates(RootCertStore::empty()).with_no_client_auth();
        Ok(SslCredential { config: Arc::new(config), has_certificate: false })
    }

    /// Proves who the daemon at `host` is, and who the client is. The inner error is the reason of a refusal.
    pub(crate) fn prove<T: Read + Write>(
        &self,
        connection: &mut Connection<T>,
        host: &str,
    ) -> Result<Result<(), String>, WireError> {
        let tls = ServerName::try_from(host.to_owned())
            .map_err(|_| "the address of the daemon is not a name for certificates".to_owned())
            .and_then(|name| ClientConnection::new(Arc::clone(&self.config), name).map_err(|error| error.to_string()));
        connection.waits_for("the start of SSL authentication");
        let status = connection.int()?;
        connection.end()?;
        connection.put_int(if tls.is_ok() { READY } else { -1 }).send()?;
        let mut exchange = match tls {
            Ok(tls) if status == READY => Exchange { tls, connection, host, has_certificate: self.has_certificate },
            Ok(_) => return Ok(Err("the daemon does not have a certificate that it can use".to_owned())),
            Err(reason) => return Ok(Err(reason)),
        };
        let secure = |tls: &mut ClientConnection| !tls.is_handshaking();
        if let Err(reason) = exchange.run(true, secure)? {
            return Ok(Err(reason));
        }
        // What the daemon sends was the session key, before keys were agreed on.
        let mut unused = Zeroizing::new([0; 256]);
        exchange.run(false, |tls| tls.reader().read(&mut *unused).is_ok_and(|count| count > 0))
    }
}

/// The start of a configuration.
fn builder(path: &Path) -> Result<ConfigBuilder<ClientConfig, WantsVerifier>, WireError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let failed =
        |error: rustls::Error| WireError::new(path.display().to_string(), Failure::Credential(error.to_string()));
    ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(failed)
}

/// A TLS connection over messages.
struct Exchange<'a, T> {
    tls: ClientConnection,
    connection: &'a mut Connection<T>,
    host: &'a str,
    has_certificate: bool,
}

impl<T: Read + Write> Exchange<'_, T> {
    /// Sends and receives in turn until both sides have what they want. The inner error is the reason of a refusal.
    fn run(
        &mut self,
        mut sends: bool,
        mut is_done: impl FnMut(&mut ClientConnection) -> bool,
    ) -> Result<Result<(), String>, WireError> {
        let (mut own, mut theirs) = (RECEIVING, RECEIVING);
        for _ in 0..MAX_ROUNDS {
            if own != HOLDING && is_done(&mut self.tls) {
                own = HOLDING;
            }
            if sends {
                self.send(own)?;
            } else {
                let (status, bytes) = self.receive()?;
                theirs = status;
                if let Err(error) = feed(&mut self.tls, &bytes) {
                    // With the alert that tells the daemon why.
                    self.send(QUITTING)?;
                    return self.refused(&error);
                }
            }
            if theirs == QUITTING || theirs == -1 {
                let why = if self.has_certificate {
                    "the daemon does not accept the certificate of the client"
                } else {
                    "the daemon may require a certificate of the client"
                };
                return Ok(Err(why.to_owned()));
            }
            if own == HOLDING && theirs == HOLDING {
                return Ok(Ok(()));
            }
            sends = !sends;
        }
        Err(self.connection.fails(Failure::Limit(format!("more than {MAX_ROUNDS} messages of SSL authentication"))))
    }

    fn send(&mut self, status: i64) -> Result<(), WireError> {
        let mut bytes = Vec::new();
        while self.tls.wants_write() {
            // A vector takes everything.
            let _ = self.tls.write_tls(&mut bytes);
        }
        self.connection.put_int(status).put_int(bytes.len() as i64).put_bytes(&bytes).send()
    }

    fn receive(&mut self) -> Result<(i64, Vec<u8>), WireError> {
        self.connection.waits_for("its part of SSL authentication");
        let status = self.connection.int()?;
        let length = self.connection.length(MAX_BYTES)?;
        let bytes = self.connection.bytes(length)?.to_vec();
        self.connection.end()?;
        Ok((status, bytes))
    }

    /// The refusal for an error of TLS. A daemon whose certificate is wrong is not told anything else.
    fn refused(&self, error: &rustls::Error) -> Result<Result<(), String>, WireError> {
        use CertificateError as Wrong;
        let rustls::Error::InvalidCertificate(wrong) = error else { return Ok(Err(format!("TLS fails: {error}"))) };
        let what = match wrong {
            Wrong::UnknownIssuer => "no trusted authority has signed its certificate".to_owned(),
            Wrong::NotValidForName | Wrong::NotValidForNameContext { .. } => {
                format!("its certificate is not for `{}`", self.host)
            }
            Wrong::Expired | Wrong::ExpiredContext { .. } => "its certificate has expired".to_owned(),
            _ => error.to_string(),
        };
        Err(self.connection.fails(Failure::Untrusted(what)))
    }
}

/// Hands received bytes to TLS.
fn feed(tls: &mut ClientConnection, mut bytes: &[u8]) -> Result<(), rustls::Error> {
    while !bytes.is_empty() {
        match tls.read_tls(&mut bytes) {
            Ok(0) => break,
            Ok(_) => tls.process_new_packets().map(drop)?,
            Err(error) => return Err(rustls::Error::General(crate::error::reason(&error))),
        }
    }
    Ok(())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::io;
    use std::os::unix::net::UnixStream;
    use std::path::PathBuf;

    use rustls::{ServerConfig, ServerConnection};

    use super::*;

    fn fixture(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
    }

    /// The side of a daemon that does not ask for a certificate; ends when the client gives up.
    fn daemon(stream: UnixStream, certificate: &str) -> Result<(), WireError> {
        let pem = std::fs::read(fixture(certificate)).unwrap();
        let certificates = CertificateDer::pem_slice_iter(&pem).map(Result::unwrap).collect();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let key = PrivateKeyDer::from_pem_slice(&pem).unwrap();
        let config = config.with_no_client_auth().with_single_cert(certificates, key).unwrap();
        let mut tls = ServerConnection::new(Arc::new(config)).unwrap();
        let mut connection = Connection::new(stream, "client".into());
        connection.put_int(READY).send()?;
        assert_eq!(connection.int()?, READY);
        connection.end()?;
        for is_handshake in [true, false] {
            let (mut own, mut theirs, mut sends) = (RECEIVING, RECEIVING, !is_handshake);
            while own != HOLDING || theirs != HOLDING {
                if own != HOLDING && !is_handshake {
                    tls.writer().write_all(&[7; 256]).unwrap();
                }
                if own != HOLDING && !(is_handshake && tls.is_handshaking()) {
                    own = HOLDING;
                }
                if sends {
                    let mut bytes = Vec::new();
                    while tls.wants_write() {
                        tls.write_tls(&mut bytes).unwrap();
                    }
                    connection.put_int(own).put_int(bytes.len() as i64).put_bytes(&bytes).send()?;
                } else {
                    theirs = connection.int()?;
                    let length = connection.length(MAX_BYTES)?;
                    let mut bytes = io::Cursor::new(connection.bytes(length)?.to_vec());
                    connection.end()?;
                    if theirs == QUITTING {
                        return Ok(());
                    }
                    while bytes.position() < length as u64 {
                        tls.read_tls(&mut bytes).unwrap();
                        tls.process_new_packets().unwrap();
                    }
                }
                sends = !sends;
            }
        }
        connection.put_int(0).send()
    }

    fn authenticate(authorities: &str, host: &str) -> Result<Result<(), String>, String> {
        authenticate_daemon("ssl-host.pem", authorities, host)
    }

    fn authenticate_daemon(
        certificate: &'static str,
        authorities: &str,
        host: &str,
    ) -> Result<Result<(), String>, String> {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let server = std::thread::spawn(|| daemon(theirs, certificate).unwrap());
        let own = fixture("ssl-host.pem");
        let credential = SslCredential::read(&fixture(authorities), Some((&own, &own))).unwrap();
        assert_eq!(format!("{credential:?}"), "SslCredential { has_certificate: true, .. }");
        let mut connection = Connection::new(ours, "cm:9618".into());
        let result = credential.prove(&mut connection, host).map_err(|error| error.to_string());
        if result == Ok(Ok(())) {
            assert_eq!(connection.int().unwrap(), 0);
        }
        drop(connection);
        server.join().unwrap();
        result
    }

    #[test]
    fn a_daemon_proves_who_it_is() {
        assert_eq!(authenticate("ssl-authority.pem", "cm.pool.test"), Ok(Ok(())));
        assert_eq!(authenticate("ssl-authority.pem", "127.0.0.1"), Ok(Ok(())));
        let wrong = "cannot trust `cm:9618`: its certificate is not for `other.pool.test`";
        assert_eq!(authenticate("ssl-authority.pem", "other.pool.test"), Err(wrong.to_owned()));
        let unknown = "cannot trust `cm:9618`: no trusted authority has signed its certificate";
        assert_eq!(authenticate("ssl-host.pem", "cm.pool.test"), Err(unknown.to_owned()));
        // Valid in 2001, and its own authority.
        let expired = "cannot trust `cm:9618`: its certificate has expired";
        let found = authenticate_daemon("ssl-expired.pem", "ssl-expired.pem", "cm.pool.test");
        assert_eq!(found, Err(expired.to_owned()));
    }

    #[test]
    fn what_is_not_tls_fails() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let server = std::thread::spawn(|| -> Result<i64, WireError> {
            let mut connection = Connection::new(theirs, "client".into());
            connection.put_int(READY).send()?;
            connection.int()?;
            connection.end()?;
            connection.int()?;
            let length = connection.length(MAX_BYTES)?;
            connection.bytes(length)?;
            connection.end()?;
            connection.put_int(RECEIVING).put_int(5).put_bytes(b"hello").send()?;
            connection.int()
        });
        let credential = SslCredential::read(&fixture("ssl-authority.pem"), None).unwrap();
        let mut connection = Connection::new(ours, "cm:9618".into());
        let reason = credential.prove(&mut connection, "cm.pool.test").unwrap().unwrap_err();
        assert!(reason.starts_with("TLS fails: "), "{reason}");
        assert_eq!(server.join().unwrap().unwrap(), QUITTING);
    }

    #[test]
    fn files_without_certificates_are_reported() {
        let read = |file: &str| SslCredential::read(&fixture(file), None).unwrap_err().to_string();
        assert!(read("query-with-fs.txt").ends_with("it does not have a certificate in PEM format"));
        let own = fixture("ssl-authority.pem");
        let error = SslCredential::read(&own, Some((&own, &own))).unwrap_err().to_string();
        assert!(error.ends_with("it does not have a private key in PEM format"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("damaged.pem");
        let good = std::fs::read_to_string(&own).unwrap();
        std::fs::write(&path, good.clone() + &good.replace("MII", "*")).unwrap();
        let error = SslCredential::read(&path, None).unwrap_err().to_string();
        assert!(error.ends_with("damaged.pem`: certificate 2 in it is not in PEM format"), "{error}");
        std::fs::write(&path, good.repeat(2000)).unwrap();
        let error = SslCredential::read(&path, None).unwrap_err().to_string();
        assert!(error.ends_with("damaged.pem`: it is larger than 1 MiB"), "{error}");
    }
}
