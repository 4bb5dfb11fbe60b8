//! Slurm's priorities: the recorded cases, and the worked examples with every intermediate figure.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

mod cycle;
mod listings;
#[cfg(unix)]
mod snapshot;

use crate::conformance::{alike, records};
use classmate_cli::conform::{Kind, answer};
use classmate_pool::internal::priority::slurm::usage::{Decay, Tick};
use classmate_pool::internal::priority::slurm::{Algorithm, AssociationTree, Figures, Ties, figures, tree};
use proptest::prelude::*;
use serde_json::Value as Json;

fn all_alike(file: &str, count: usize) {
    let text = records(file);
    let mut wrong = Vec::new();
    for line in text.lines() {
        let case: Json = serde_json::from_str(line).unwrap();
        let found = answer(Kind::Slurm, line.as_bytes());
        let tolerance = case["tol"].as_f64().unwrap_or(1e-9);
        if !alike(&case["expect"], &found["output"], tolerance) {
            wrong.push(format!("{} {}: {}\n   found {found}", case["id"], case["op"], case["expect"]));
        }
    }
    assert_eq!(text.lines().count(), count);
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_recorded_tree_decay_and_file_is_alike() {
    all_alike("slurm-fairshare.jsonl.gz", 120);
}

#[test]
fn every_recorded_priority_and_line_is_alike() {
    all_alike("slurm-priority.jsonl.gz", 97);
}

/// A tree from a dump, with the usage of users by `account/user`.
fn tree_of(dump: &str, usage: &[(&str, f64)]) -> AssociationTree {
    let (_, mut tree, _) = tree::read("dump", dump.as_bytes()).unwrap();
    for (key, usage) in usage {
        let (account, user) = key.split_once('/').unwrap();
        let at = tree.find_user(account, user, None).unwrap();
        tree.charge(at, *usage);
    }
    tree
}

fn at<'f>(tree: &AssociationTree, figures: &'f [Figures], key: &str) -> &'f Figures {
    let at = tree.nodes().iter().position(|node| node.key() == key);
    &figures[at.unwrap_or_else(|| panic!("there is no {key}"))]
}

fn close(found: f64, expected: f64, within: f64, what: &str) {
    let same = found == expected || (found - expected).abs() <= within;
    assert!(same, "{what}: found {found}, expected {expected}");
}

/// Accounts A to F and users 1 to 5 of the page of version 2.0 (seed 004).
const PAGE: &str = "Account - 'a':Fairshare=40\nAccount - 'd':Fairshare=60\nParent - 'a'\nAccount - 'b':Fairshare=30\n\
    Account - 'c':Fairshare=10\nParent - 'd'\nAccount - 'e':Fairshare=25\nAccount - 'f':Fairshare=35\nParent - 'b'\n\
    User - 'user1'\nParent - 'c'\nUser - 'user2'\nUser - 'user3'\nParent - 'e'\nUser - 'user4'\nParent - 'f'\nUser - 'user5'\n";
const PAGE_USAGE: [(&str, f64); 3] = [("b/user1", 20_000.0), ("c/user2", 25_000.0), ("e/user4", 25_000.0)];

/// `docs/reference/slurm-multifactor.md` 8.1, the complete example of the page of version 2.0: S, `U_A`, `U_E` and F of every
/// account and user.
#[test]
fn accounts_a_to_f_with_users_1_to_5_under_the_linear_formula() {
    let tree = tree_of(PAGE, &PAGE_USAGE);
    // The usages are 20 %, 25 % and 25 % of what the machine can do.
    let all = figures(&tree, Algorithm::Linear { capacity: 100_000.0 });
    for (key, shares, usage, effective, factor) in [
        ("a", 0.40, 0.45, 0.45, 0.475),
        ("d", 0.60, 0.25, 0.25, 0.675),
        ("b", 0.30, 0.20, 0.2 + 0.25 * 30.0 / 40.0, 0.45625),
        ("c", 0.10, 0.25, 0.25 + 0.20 * 10.0 / 40.0, 0.40),
        ("e", 0.25, 0.25, 0.25 + 0.0 * 25.0 / 60.0, 0.5),
        ("f", 0.35, 0.0, 0.25 * 35.0 / 60.0, 0.602_083_333_333),
        ("b/user1", 0.30, 0.20, 0.3875, 0.45625),
        ("c/user2", 0.05, 0.25, 0.25 + 0.05 / 2.0, 0.3875),
        ("c/user3", 0.05, 0.0, 0.15, 0.45),
        ("e/user4", 0.25, 0.25, 0.25, 0.5),
        ("f/user5", 0.35, 0.0, 0.145_833_333_333, 0.602_083_333_333),
    ] {
        let found = at(&tree, &all, key);
        close(found.norm_shares, shares, 1e-12, key);
        close(found.norm_usage, usage, 1e-12, key);
        close(found.effective_usage, effective, 1e-11, key);
        close(found.factor.unwrap(), factor, 1e-11, key);
    }
}

/// `docs/reference/slurm-multifactor.md` 8.1: "If user 2 held 4 shares and user 3 one, user 2 would have S = 0.1 * 4/5 = 0.08."
#[test]
fn user_2_with_four_shares_has_four_fifths_of_account_c() {
    let tree = tree_of(&PAGE.replace("'user2'", "'user2':Fairshare=4"), &[]);
    let all = figures(&tree, Algorithm::Linear { capacity: 1.0 });
    close(at(&tree, &all, "c/user2").norm_shares, 0.08, 1e-12, "user2");
    close(at(&tree, &all, "c/user3").norm_shares, 0.02, 1e-12, "user3");
}

/// `docs/reference/slurm-multifactor.md` 8.2: the same tree as 22.05.8 shows it, six digits.
#[test]
fn accounts_a_to_f_with_users_1_to_5_under_the_exponential_formula() {
    let tree = tree_of(PAGE, &PAGE_USAGE);
    let all = figures(&tree, Algorithm::Exponential { damping: 1.0 });
    for (key, usage, effective, factor) in [
        ("a", 0.642_857, 0.642_857, 0.328_248),
        ("b", 0.285_714, 0.553_571, 0.278_309),
        ("c", 0.357_143, 0.428_571, 0.051_271),
        ("d", 0.357_143, 0.357_143, 0.661_935),
        ("e", 0.357_143, 0.357_143, 0.371_499),
        ("f", 0.0, 0.208_333, 0.661_935),
        ("b/user1", 0.285_714, 0.553_571, 0.278_309),
        ("c/user2", 0.357_143, 0.392_857, 0.004_313),
        ("c/user3", 0.0, 0.214_286, 0.051_271),
        ("e/user4", 0.357_143, 0.357_143, 0.371_499),
        ("f/user5", 0.0, 0.208_333, 0.661_935),
    ] {
        let found = at(&tree, &all, key);
        close(found.norm_usage, usage, 5e-7, key);
        close(found.effective_usage, effective, 5e-7, key);
        close(found.factor.unwrap(), factor, 5e-7, key);
    }
}

/// `docs/reference/slurm-multifactor.md` 8.2: `DEPTH_OBLIVIOUS`.
#[test]
fn users_1_to_5_without_regard_to_depth() {
    let tree = tree_of(PAGE, &PAGE_USAGE);
    let all = figures(&tree, Algorithm::DepthOblivious { damping: 1.0 });
    for (key, factor) in
        [("b/user1", 0.357_214), ("c/user2", 0.007_076), ("c/user3", 1.0), ("e/user4", 0.629_976), ("f/user5", 1.0)]
    {
        close(at(&tree, &all, key).factor.unwrap(), factor, 5e-7, key);
    }
}

/// `docs/reference/slurm-multifactor.md` 8.3: the same tree under Fair Tree, and with a root/root user.
#[test]
fn accounts_a_to_f_with_users_1_to_5_under_fair_tree() {
    let observed = Algorithm::FairTree { ties: Ties::Observed };
    let tree = tree_of(PAGE, &PAGE_USAGE);
    let all = figures(&tree, observed);
    for (key, level, rank) in [
        ("a", 0.622_222, None),
        ("d", 1.68, None),
        ("b", 1.6875, None),
        ("c", 0.45, None),
        ("e", 0.416_667, None),
        ("f", f64::INFINITY, None),
        ("f/user5", f64::INFINITY, Some(5)),
        ("e/user4", 1.0, Some(4)),
        ("b/user1", 1.0, Some(3)),
        ("c/user3", f64::INFINITY, Some(2)),
        ("c/user2", 0.5, Some(1)),
    ] {
        let found = at(&tree, &all, key);
        close(found.level_fair_share.unwrap(), level, 5e-7, key);
        assert_eq!(found.rank, rank, "{key}");
        assert_eq!(found.factor, rank.map(|rank| rank as f64 / 5.0), "{key}");
    }
    let tree = tree_of(&format!("User - 'root':Fairshare=0\n{PAGE}"), &PAGE_USAGE);
    let all = figures(&tree, observed);
    for (key, factor) in [("f/user5", 1.0), ("e/user4", 0.833_333), ("b/user1", 0.666_667), ("root/root", 0.166_667)] {
        close(at(&tree, &all, key).factor.unwrap(), factor, 5e-7, key);
    }
}

/// `docs/reference/slurm-multifactor.md` 8.4: tied accounts, as released and as documented.
#[test]
fn tied_accounts_as_observed_and_as_documented() {
    let dump = "User - 'root'\nAccount - 'a'\nAccount - 'b'\nParent - 'a'\nUser - 'a1'\nUser - 'a2'\nParent - 'b'\n\
                User - 'b1'\nUser - 'b2'\n";
    let tree = tree_of(dump, &[("a/a1", 10.0), ("a/a2", 90.0), ("b/b1", 20.0), ("b/b2", 80.0)]);
    let factors = |ties| {
        let all = figures(&tree, Algorithm::FairTree { ties });
        ["root/root", "a/a1", "a/a2", "b/b1", "b/b2"].map(|key| at(&tree, &all, key).factor.unwrap())
    };
    assert_eq!(factors(Ties::Observed), [1.0, 0.8, 0.6, 0.6, 0.2]);
    assert_eq!(factors(Ties::Documented), [1.0, 0.8, 0.2, 0.6, 0.4]);
    let all = figures(&tree, Algorithm::FairTree { ties: Ties::Observed });
    for (key, level) in
        [("a", 0.666_667), ("b", 0.666_667), ("a/a1", 5.0), ("a/a2", 0.555_556), ("b/b1", 2.5), ("b/b2", 0.625)]
    {
        close(at(&tree, &all, key).level_fair_share.unwrap(), level, 5e-7, key);
    }
}

/// `docs/reference/slurm-multifactor.md` 8.5: shares of `parent`, under Fair Tree and the exponential formula, as 22.05.8 shows
/// them.
#[test]
fn shares_of_parent_move_members_one_level_up() {
    let dump = "User - 'root':Fairshare=1\nAccount - 'phys':Fairshare=5\nAccount - 'chem':Fairshare=3\n\
        Account - 'solo':Fairshare=2\nParent - 'phys'\nAccount - 'hep':Fairshare=parent\nAccount - 'astro':Fairshare=4\n\
        User - 'daemon':Fairshare=2\nUser - 'bin':Fairshare=parent\nParent - 'hep'\nUser - 'sys':Fairshare=3\nUser - 'games'\n\
        User - 'man':Fairshare=parent\nParent - 'astro'\nUser - 'lp'\nUser - 'mail'\nParent - 'chem'\nUser - 'news'\n\
        User - 'uucp':Fairshare=0\nParent - 'solo'\nUser - 'proxy':Fairshare=parent\n";
    let usage = [
        ("phys/daemon", 1000.0),
        ("phys/bin", 500.0),
        ("hep/sys", 300.0),
        ("hep/games", 700.0),
        ("hep/man", 200.0),
        ("astro/lp", 1500.0),
        ("chem/news", 2500.0),
        ("chem/uucp", 100.0),
        ("solo/proxy", 900.0),
    ];
    let tree = tree_of(dump, &usage);
    let fair_tree = figures(&tree, Algorithm::FairTree { ties: Ties::Observed });
    let classic = figures(&tree, Algorithm::Exponential { damping: 1.0 });
    let infinite = f64::INFINITY;
    for (key, shares, level, rank, norm, effective, factor) in [
        ("root/root", 0.090_909, infinite, 11, 0.090_909, 0.0, 1.0),
        ("solo/proxy", 0.181_818, infinite, 10, 0.181_818, 0.116_883, 0.640_443),
        ("phys/bin", 0.454_545, infinite, 9, 0.454_545, 0.545_455, 0.435_275),
        ("hep/man", 0.454_545, infinite, 9, 0.454_545, 0.545_455, 0.435_275),
        ("hep/sys", 0.3, 4.2, 7, 0.136_364, 0.190_909, 0.378_929),
        ("astro/mail", 0.5, infinite, 6, 0.090_909, 0.167_532, 0.278_769),
        ("astro/lp", 0.5, 0.5, 5, 0.090_909, 0.264_935, 0.132_652),
        ("phys/daemon", 0.2, 0.84, 4, 0.090_909, 0.212_987, 0.197_120),
        ("hep/games", 0.1, 0.6, 3, 0.045_455, 0.136_364, 0.125),
        ("chem/news", 1.0, 1.04, 2, 0.272_727, 0.337_662, 0.423_932),
        ("chem/uucp", 0.0, 0.0, 1, 0.0, 0.012_987, 0.0),
    ] {
        let found = at(&tree, &fair_tree, key);
        close(found.norm_shares, shares, 5e-7, key);
        close(found.level_fair_share.unwrap(), level, 5e-7, key);
        assert_eq!((found.rank, found.factor), (Some(rank), Some(rank as f64 / 11.0)), "{key}");
        let found = at(&tree, &classic, key);
        close(found.norm_shares, norm, 5e-7, key);
        close(found.effective_usage, effective, 5e-7, key);
        close(found.factor.unwrap(), factor, 5e-7, key);
    }
    for (key, level) in [("solo", 1.555_556), ("phys", 0.833_333), ("chem", 0.807_692), ("astro", 1.12)] {
        close(at(&tree, &fair_tree, key).level_fair_share.unwrap(), level, 5e-7, key);
    }
}

/// `docs/reference/slurm-multifactor.md` 8.6: a user tied with an account.
#[test]
fn a_user_tied_with_an_account_shares_its_rank_with_the_best_of_the_account() {
    let dump =
        "User - 'x'\nAccount - 'g':Fairshare=2\nParent - 'g'\nUser - 'g1'\nUser - 'g2'\nParent - 'root'\nUser - 'y'\n";
    let tree = tree_of(dump, &[("root/x", 128.0), ("g/g1", 64.0), ("g/g2", 192.0), ("root/y", 512.0)]);
    let all = figures(&tree, Algorithm::FairTree { ties: Ties::Observed });
    let found = ["root/x", "g/g1", "g/g2", "root/y"].map(|key| at(&tree, &all, key).factor.unwrap());
    assert_eq!(found, [1.0, 1.0, 0.5, 0.25]);
    let levels = ["root/x", "g", "root/y"].map(|key| at(&tree, &all, key).level_fair_share.unwrap());
    assert_eq!(levels, [1.75, 1.75, 0.4375]);
}

/// `docs/reference/slurm-multifactor.md` 8.7: 1000·D(60) + 53·8·D(53) = 1392.595 at the tick; a later tail of 43 s adds
/// 338.351, then D(60).
#[test]
fn a_job_of_95_seconds_is_charged_as_logged() {
    let tick = Tick { last: 0.0, now: 60.0, start: 7.0, end: None, billing: 8.0 };
    close(tick.usage(1000.0, 1800.0, Decay::Linearized), 1392.595, 5e-4, "the tick");
    close(1000.0 * Decay::Linearized.factor(1800.0, 60.0), 977.160, 5e-4, "what was there");
    close(Decay::Linearized.charged(1800.0, 53.0, 8.0), 415.434, 5e-4, "what is new");
    let tail = Tick { last: 60.0, now: 103.0, start: 7.0, end: Some(103.0), billing: 8.0 };
    close(tail.usage(0.0, 1800.0, Decay::Linearized), 338.351, 5e-4, "the tail");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Usage that only decays is the same whatever the steps in which it does.
    #[test]
    fn decay_over_a_time_is_that_of_any_split_of_it(
        half_life in 60.0..1e7f64,
        parts in proptest::collection::vec(0.0..1e5f64, 1..8),
        exact in any::<bool>(),
    ) {
        let decay = if exact { Decay::Exact } else { Decay::Linearized };
        let whole = decay.factor(half_life, parts.iter().sum());
        let split: f64 = parts.iter().map(|&part| decay.factor(half_life, part)).product();
        prop_assert!((whole - split).abs() <= 1e-9 * whole.max(f64::MIN_POSITIVE) || whole < 1e-290);
    }

    /// In closed form: after n half-lives 2^-n is left.
    #[test]
    fn after_n_half_lives_a_half_to_the_n_is_left(half_life in 3600.0..1e7f64, halvings in 0.0..20.0f64) {
        let expected = (-halvings).exp2();
        let exact = Decay::Exact.factor(half_life, half_life * halvings);
        prop_assert!((exact - expected).abs() <= 1e-12 * expected);
        // 0.693 and the first order of the exponential: within one part in a thousand for each halving.
        let observed = Decay::Linearized.factor(half_life, half_life * halvings);
        prop_assert!((observed / expected - 1.0).abs() <= 1e-3 * halvings.max(1e-9) + 1e-12);
    }

    /// Text of any kind is read or refused: nothing panics, and whatever makes a tree has figures for everybody.
    #[test]
    fn any_text_is_read_or_refused(
        words in proptest::collection::vec(
            prop_oneof![
                Just("Account - 'a'"), Just("Parent - 'b'"), Just("User - "), Just(":Fairshare="), Just("parent"), Just("2147483647"),
                Just("PartitionName="), Just("Priority"), Just("WeightTRES"), Just("=CPU=1G,Mem=2"), Just("MaxTime=1-2:3"), Just("Nodes=n[1-3"),
                Just("]"), Just("\n"), Just("\\"), Just("#"), Just("\""), Just("'"), Just("é"), Just("\u{1d11e}"), Just("%.9"), Just("%"), Just("-"),
                Just(":"), Just("|"), Just("1"), Just("99999999999999999999"), Just("root"), Just(" "), Just(",")
            ],
            0..40,
        ),
    ) {
        use classmate_config::internal::config::TextFiles;
        use classmate_config::internal::config::slurm::{Duration, HostList, SlurmConf, read_qos, read_usage};
        let text = words.concat();
        let (_, _) = SlurmConf::read("c", text.as_bytes(), &TextFiles::default());
        if let Ok((_, tree, _)) = tree::read("d", text.as_bytes()) {
            for algorithm in [Algorithm::FairTree { ties: Ties::Documented }, Algorithm::DepthOblivious { damping: 1.0 }] {
                prop_assert_eq!(figures(&tree, algorithm).len(), tree.nodes().len());
            }
        }
        let _ = (read_usage("u", text.as_bytes()), read_qos("q", text.as_bytes()), Duration::parse(&text));
        let _ = HostList::parse(&text).contains("n1é");
        let _ = classmate_cli::report::sprio::Format::parse(&text).map(|format| format.header());
        let _ = (classmate_cli::report::sprio::Sort::parse(&text), classmate_cli::report::sshare::ShareColumns::parse(&text));
    }

    /// The shares of a level add up to one, and those of the users to that of the root.
    #[test]
    fn shares_add_up_to_one(shares in proptest::collection::vec((1u32..100, 0usize..6), 1..40), usage in 0.0..1e6f64) {
        // Every account but the last ones has members; each row is an account under an earlier one, with a user in it.
        let mut dump = String::new();
        for (number, (own, above)) in shares.iter().enumerate() {
            let parent = if number == 0 { "root".to_owned() } else { format!("a{}", above % number) };
            dump.push_str(&format!("Parent - '{parent}'\nAccount - 'a{number}':Fairshare={own}\n"));
        }
        for number in 0..shares.len() {
            dump.push_str(&format!("Parent - 'a{number}'\nUser - 'u{number}'\n"));
        }
        let (_, mut tree, _) = tree::read("dump", dump.as_bytes()).unwrap();
        let last = tree.nodes().len() - 1;
        tree.charge(last, usage);
        let classic = figures(&tree, Algorithm::Exponential { damping: 1.0 });
        let users = tree.nodes().iter().zip(&classic).filter(|(node, _)| node.is_user());
        let sum: f64 = users.map(|(_, figures)| figures.norm_shares).sum();
        prop_assert!((sum - 1.0).abs() < 1e-9);
        let fair_tree = figures(&tree, Algorithm::FairTree { ties: Ties::Observed });
        for node in tree.nodes().iter().filter(|node| !node.children.is_empty()) {
            let sum: f64 = node.children.iter().map(|&child| fair_tree[child].norm_shares).sum();
            prop_assert!((sum - 1.0).abs() < 1e-9);
        }
        // Factors are between 0 and 1, and somebody has the best.
        let factors: Vec<f64> = fair_tree.iter().filter_map(|figures| figures.factor).collect();
        prop_assert_eq!(factors.len(), shares.len());
        prop_assert!(factors.iter().all(|factor| (0.0..=1.0).contains(factor)) && factors.contains(&1.0));
    }
}
