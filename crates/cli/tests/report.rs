//! The page about a cycle: well formed, complete, without scripts; and a browser shows it if there is one.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::Command;

fn report(pool: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_classmate"))
        .args(["report", pool, "-o", "-"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The names of the elements in the order in which they open; fails if they do not close as they opened.
fn elements(page: &str) -> Vec<String> {
    let (mut open, mut found) = (Vec::<String>::new(), Vec::new());
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').unwrap();
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if tag.starts_with('!') {
            continue;
        }
        let name: String = tag.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name.as_str()), "closed out of order");
        } else {
            found.push(name.clone());
            if !tag.ends_with('/') {
                open.push(name);
            }
        }
    }
    assert!(open.is_empty(), "not closed: {open:?}");
    found
}

fn count(found: &[String], name: &str) -> usize {
    found.iter().filter(|one| *one == name).count()
}

#[test]
fn the_page_tells_groups_submitters_spins_slots_reasons_and_the_audit() {
    let page = report("examples/groups");
    let found = elements(&page);
    let headings: Vec<&str> = page.split("<h2>").skip(1).map(|rest| rest.split('<').next().unwrap()).collect();
    assert_eq!(
        headings,
        ["Groups", "Submitters", "Pie spins", "Slots", "Why jobs stayed idle", "Significant attributes"]
    );
    assert_eq!((count(&found, "table"), count(&found, "script"), count(&found, "img")), (4, 0, 0));
    // Five groups: four declared, and that of users in none; the names are those of the settings.
    assert_eq!(page.matches("class=\"group\"").count(), 5);
    assert!(page.contains("physics.hep</strong> quota "), "{page}");
    // Hand calculation: `GROUP_QUOTA_chemistry` is 10 of a pool of 30, and its user requests 12.
    assert!(page.contains("chemistry: quota 10, allocated 10, in use 10, requested 12"));
    assert!(!page.contains("http") && !page.contains("src="), "something is fetched");
}

#[test]
fn what_users_write_is_no_markup() {
    let folder = tempfile::tempdir().unwrap();
    let slot = "[ Name = \"<b>s\"; MyType = \"Machine\"; State = \"Unclaimed\"; Memory = 1; Requirements = true ]";
    let job = "[ ClusterId = 1; JobStatus = 1; User = \"<script>@x\"; Requirements = TARGET.Memory > 2 && TARGET.A != \"<i>\" ]";
    std::fs::write(folder.path().join("slots.ads"), slot).unwrap();
    std::fs::write(folder.path().join("jobs.ads"), job).unwrap();
    let page = report(folder.path().to_str().unwrap());
    let found = elements(&page);
    assert_eq!((count(&found, "script"), count(&found, "b"), count(&found, "i")), (0, 0, 0));
    assert!(page.contains("&lt;script&gt;@x"));
    assert!(page.contains("no slot satisfies"), "{page}");
}

/// The browser, if there is one.
fn browser() -> Option<String> {
    let known = ["chromium", "chromium-browser", "google-chrome"];
    let there = |name: &&&str| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    known.iter().find(there).map(|name| (*name).to_owned())
}

#[test]
fn a_browser_builds_the_same_elements_and_complains_of_nothing() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (page, profile) = (folder.path().join("cycle.html"), folder.path().join("profile"));
    let text = report("examples/groups");
    std::fs::write(&page, &text).unwrap();
    std::fs::create_dir(&profile).unwrap();
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--enable-logging=stderr",
        ])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", Path::new(&page).display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!errors.contains("CONSOLE"), "{errors}");
    for tag in ["<table", "<h2", "<figure", "<tr", "role=\"img\""] {
        assert_eq!(dom.matches(tag).count(), text.matches(tag).count(), "{tag}");
    }
}
