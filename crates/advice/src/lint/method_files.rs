//! Files of a method of authentication that no list of methods has.
//!
//! In: a configuration. Out: warnings of the rule `conflicting-knobs`, each with the variable that it is about.

use super::lists::{Found, may_be_elsewhere};
use super::{second_place, unknowns};
use classmate::Diagnostic;
use classmate_config::Config;
use classmate_config::internal::config::check::has_root;
use classmate_config::internal::config::setting::list_items;

/// Names of a method (upper case) for which variables are read, and those variables (`condor_auth_ssl.cpp`,
/// `condor_auth_kerberos.cpp`). `SCITOKENS` is for connections with TLS.
const METHODS: [(&[&str], &[&str]); 2] = [
    (
        &["SSL", "SCITOKENS", "SCITOKEN"],
        &["AUTH_SSL_SERVER_CERTFILE", "AUTH_SSL_SERVER_KEYFILE", "AUTH_SSL_CLIENT_CERTFILE", "AUTH_SSL_CLIENT_KEYFILE"],
    ),
    (&["KERBEROS"], &["KERBEROS_SERVER_KEYTAB", "KERBEROS_SERVER_PRINCIPAL", "KERBEROS_SERVER_SERVICE"]),
];

const DEFAULT: &str = "SEC_DEFAULT_AUTHENTICATION_METHODS";

/// The findings about such files.
pub(super) fn check(config: &Config) -> Found {
    let set = |name: &str| config.definition(name.as_bytes()).filter(|one| one.place.is_some() && !one.raw.is_empty());
    // Files that are not here may have lists of their own.
    let is_all = has_root(config) && !may_be_elsewhere(config);
    let Some(default) = set(DEFAULT).filter(|_| is_all) else { return Found::new() };
    // All lists, also those of templates and of one daemon.
    let ends = |name: &[u8]| name.to_ascii_uppercase().ends_with(b"_AUTHENTICATION_METHODS");
    let lists = config.definitions().filter(|one| ends(one.name) && (one.place.is_some() || one.template.is_some()));
    let known: Option<Vec<Vec<u8>>> = lists.map(|one| unknowns::known_value(config, &one)).collect();
    let Some(known) = known else { return Found::new() };
    let listed: Vec<Vec<u8>> =
        known.iter().flat_map(|text| list_items(text)).map(|item| item.to_ascii_uppercase()).collect();
    let of_method = |(methods, variables): (&[&str], &[&str])| {
        if listed.iter().any(|item| methods.iter().any(|method| method.as_bytes() == item.as_slice())) {
            return None;
        }
        let (name, one) = variables.iter().find_map(|name| Some((*name, set(name)?)))?;
        // Earlier versions had one file of the default.
        let default_items = config.built_in(name.as_bytes()).map(|known| list_items(known.raw)).unwrap_or_default();
        let is_default = list_items(one.raw).iter().all(|item| default_items.contains(item));
        let (method, place) = (methods.first()?, default.place?);
        let message = format!("`{name}` has no effect: `{method}` is not in `{DEFAULT}`");
        let found: Diagnostic =
            one.name_warning(message).help(format!("add `{method}` to the list, or remove `{name}`"));
        let found = second_place::beside(config, found.code("conflicting-knobs"), (place, DEFAULT.len()), "the list");
        (!is_default).then(|| (found, name.to_owned()))
    };
    METHODS.into_iter().filter_map(of_method).collect()
}
