//! Cases of kind `ads`: read ads in a form and print them in all.

use serde_json::{Value as Json, json};

use super::{input, settings, text};
use classmate::internal::format::binding::read_as_binding;
use classmate::internal::format::json::JsonWriter;
use classmate::internal::format::long::write_old;
use classmate::internal::format::new::{write_ad, write_pretty};
use classmate::internal::format::xml::XmlWriter;
use classmate::{ClassAd, EvalOptions, Semantics};

pub(super) fn answers(case: &Json, semantics: Semantics) -> Result<Json, String> {
    let settings = EvalOptions { semantics, ..settings(case)? };
    let format = String::from_utf8_lossy(&input(case, "format")?).into_owned();
    let (ads, ok) = read_as_binding(&format, &input(case, "input")?, &settings.parse_options()).ok_or_else(|| {
        format!("`format` must be single, new, newl, old, json, jsonl, xml, auto or fileauto, found `{format}`")
    })?;
    Ok(json!({ "ads": ads.iter().map(printed).collect::<Json>(), "ok": ok }))
}

/// An ad in every form.
fn printed(ad: &ClassAd) -> Json {
    let form = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        write(&mut out);
        text(&out)
    };
    json!({
        "attrs": ad.listed().map(|(name, _)| text(name.as_bytes())).collect::<Json>(),
        "new": form(&|out| write_ad(out, ad)),
        "pretty": form(&|out| write_pretty(out, ad)),
        "old": form(&|out| write_old(out, ad)),
        "json": form(&|out| JsonWriter::default().write(out, ad)),
        "xml": form(&|out| XmlWriter::default().write_line(out, ad)),
        "xml_spaced": form(&|out| {
            XmlWriter::default().write(out, ad);
            out.push(b'\n');
        }),
    })
}
