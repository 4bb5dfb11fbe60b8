//! File-system authentication (`docs/reference/wire-cedar.md` 9.2): the client creates a directory that the daemon names, and the daemon looks who owns it.

use std::fs::DirBuilder;
use std::io::{Read, Write};
use std::path::Path;

use crate::connection::Connection;
use crate::error::WireError;

/// Longest path.
const MAX_PATH: usize = 4096;

/// Proves who the client is. `place` is the address of the daemon as the client sees it, with the endpoint. The inner error
/// is the reason of a refusal.
pub(crate) fn prove<T: Read + Write>(
    connection: &mut Connection<T>,
    place: &str,
) -> Result<Result<(), String>, WireError> {
    connection.waits_for("the directory of FS authentication");
    let path = String::from_utf8_lossy(connection.string(MAX_PATH)?).into_owned();
    connection.end()?;
    let extended = path.ends_with('_');
    let path = if extended { format!("{path}{place}") } else { path };
    // Whatever the daemon names is created, so it has to look like what daemons name.
    let named = Path::new(&path).file_name().and_then(|name| name.to_str()).unwrap_or_default();
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
        (Err(why), _) if path == place => Err(format!("the daemon could not choose a directory ({why})")),
        (Err(why), _) => Err(format!("cannot create `{path}`: {why}")),
    })
}

#[cfg(unix)]
fn create(path: &str) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create(path: &str) -> std::io::Result<()> {
    DirBuilder::new().create(path)
}
