//! File-system authentication (`docs/reference/wire-cedar.md` 9.2): the client creates a directory that the daemon names, and the daemon looks who owns it.

use std::fs::DirBuilder;
use std::io::{Read, Write};
use std::path::Path;

use crate::connection::Connection;
use crate::error::WireError;

/// Longest path.
const MAX_PATH: usize = 4096;

/// Proves who the client is with a directory that `create` makes. `place` is the address of the daemon as the client sees it, with the endpoint. The inner error
/// is the reason of a refusal.
pub(crate) fn prove<T: Read + Write>(
    connection: &mut Connection<T>,
    place: &str,
    create: MakeDirectory,
) -> Result<Result<(), String>, WireError> {
    connection.waits_for("the directory of FS authentication");
    let path = String::from_utf8_lossy(connection.string(MAX_PATH)?).into_owned();
    connection.end()?;
    let extended = path.ends_with('_');
    let path = if extended { format!("{path}{place}") } else { path };
    // Whatever the daemon names is created, so it has to look like what daemons name.
    let named = Path::new(&path).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    // An empty path, or only a place behind it, is what a daemon names that has no directory.
    let is_chosen = !path.is_empty() && path != place;
    let usual = named.starts_with("FS_") && Path::new(&path).is_absolute() && !path.split('/').any(|part| part == "..");
    let made = if usual {
        create(&path).map_err(|error| crate::error::reason(&error))
    } else {
        Err("it is not a path of FS authentication".to_owned())
    };
    connection.put_int(if made.is_ok() { 0 } else { -1 });
    if extended {
        connection.put_string(place);
    }
    let verdict = connection.send().and_then(|()| {
        connection.waits_for("the result of FS authentication");
        let verdict = connection.int()?;
        connection.end().map(|()| verdict)
    });
    if made.is_ok() {
        // It may be gone already.
        let _ = std::fs::remove_dir(&path);
    }
    Ok(match (made, verdict?) {
        (Ok(()), 0) => Ok(()),
        (Ok(()), _) => Err("the daemon does not accept the directory; it may see another file system".to_owned()),
        (Err(_), _) if !is_chosen => Err("the daemon could not choose a directory: check its FS_LOCAL_DIR".to_owned()),
        (Err(why), _) => Err(format!("cannot create `{path}`: {why}")),
    })
}

/// A function that creates a directory which only its owner may read.
pub(crate) type MakeDirectory = fn(&str) -> std::io::Result<()>;

#[cfg(unix)]
pub(crate) fn create(path: &str) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
pub(crate) fn create(path: &str) -> std::io::Result<()> {
    DirBuilder::new().create(path)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::script::Script;

    /// The exchange with a peer that names a directory and answers with a verdict.
    fn exchange(path: &str, verdict: i64, create: MakeDirectory) -> (Result<(), String>, Vec<u8>) {
        let packet = |body: &[u8]| [&[1], &(body.len() as u32).to_be_bytes()[..], body].concat();
        let bytes = [packet(format!("{path}\0").as_bytes()), packet(&verdict.to_be_bytes())].concat();
        let mut connection = Connection::new(Script::new(bytes, 100), "peer".into());
        let result = prove(&mut connection, "127.0.0.1:9618?sock=x", create).unwrap();
        (result, std::mem::take(&mut connection.transport().outgoing))
    }

    #[test]
    fn a_directory_is_made_for_its_owner_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("FS_127.0.0.1_9618_XXX_").display().to_string();
        let checked = |path: &str| {
            create(path)?;
            assert_eq!(std::fs::metadata(path)?.permissions().mode() & 0o777, 0o700);
            assert!(path.ends_with("_XXX_127.0.0.1:9618?sock=x"), "{path}");
            Ok(())
        };
        let (result, sent) = exchange(&path, 0, checked);
        assert_eq!(result, Ok(()));
        assert_eq!(sent[5..13], [0; 8]);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(exchange(&path, -1, create).0.unwrap_err().contains("does not accept"));
    }

    #[test]
    fn other_paths_are_not_made() {
        let none: MakeDirectory = |path| panic!("{path}");
        for path in ["/etc/passwd", "FS_relative_", "/tmp/../etc/FS_1", "", "/tmp/FS_/x"] {
            let (result, sent) = exchange(path, -1, none);
            let is_empty = path.is_empty();
            assert_eq!(result.unwrap_err().starts_with("the daemon could not choose"), is_empty, "{path}");
            assert_eq!(sent[5..13], (-1_i64).to_be_bytes());
        }
    }
}
