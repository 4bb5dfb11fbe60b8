"""Compares a recorded cycle with Classmate's replay of it, strictly."""
import json
import os
import re
import subprocess

STATISTICS = ("ActiveSubmitterCount", "CandidateSlots", "Matches", "NumIdleJobs", "NumJobsConsidered", "NumSchedulers", "PieSpins", "Pies", "Rejections", "SlotShareIter",
              "SubmittersShareLimit", "TotalSlots", "TrimmedSlots")


def near(found, recorded, digits=6e-7):
    """Equal as far as the log has digits; a limit that is none is written as a very large number."""
    if found is None or recorded is None:
        return found is recorded
    return found == recorded or recorded > 1e300 or abs(found - recorded) <= digits + 1e-6 * max(abs(recorded), 1)


def cluster(job):
    """The cluster of a job: the access point chooses among the jobs of an autocluster. A match is recorded for the request's first job."""
    return str(job).split(".")[0]


def first(what, found, recorded, same=lambda one, other: one == other):
    """The first difference of two sequences, as a list of none or one."""
    at = next((at for at, (one, other) in enumerate(zip(found, recorded)) if not same(one, other)), min(len(found), len(recorded)))
    if at == len(found) == len(recorded):
        return []
    item = lambda items: items[at] if at < len(items) else None
    return [(what, f"{at} of {len(found)}, {len(recorded)} recorded: {item(found)}, recorded {item(recorded)}")]


def statistics(text):
    """The statistics in a negotiator ad."""
    return {name: text for name, text in re.findall(r"^LastNegotiationCycle(\w+?)0 = (.*)$", text, re.M) if name in STATISTICS}


def compare(binary, folder, exact_ties=False):
    """The differences between a recorded cycle and its replay, and what the replay reported."""
    with open(f"{folder}/expected.json") as recorded:
        expected = json.load(recorded)
    command = [binary, "negotiate", folder, "--now", str(expected["now"])]
    ran = subprocess.run([*command, "--format", "json", *(["--exact-ties"] if exact_ties else [])], capture_output=True, text=True, errors="replace", timeout=120)
    try:
        outcome = json.loads(ran.stdout)
    except ValueError:
        return [("failure", ran.stderr.strip()[-300:])], {}
    # The log names who is displaced also where a match preempts nobody: in a slot in which room was made for the match before.
    displaced = lambda match: match["displaced"] is not None if "displaced" in match else match["preempting"].split(" ")[0] != "none"
    matched = lambda match: (match["submitter"], str(match.get("cluster", cluster(match["job"]))), match["slot"], match["spin"], displaced(match))
    rejected = lambda one: (one["submitter"], cluster(one["job"]), one["reason"].split("|")[0].strip())
    differences = first("match", *([matched(one) for one in matches] for matches in (outcome["matches"], expected["matches"])))
    differences += first("limit", [(one["submitter"], one["limit"]) for one in outcome["negotiations"]],
                         [(one["submitter"], one.get("submitterLimit")) for one in expected["negotiations"]],
                         lambda one, other: one[0] == other[0] and near(one[1], other[1]))
    differences += first("rejection", [rejected(one) for one in outcome["rejections"]], [rejected(one) for one in expected["rejected"]])
    differences += first("pie", [one["pie_left"] for one in outcome["pies"]], [one["pieLeft"] for one in expected["pies"]], lambda one, other: near(one, other, 6e-4))
    if not differences and not exact_ties and expected["cycles"] == 1 and os.path.exists(f"{folder}/after/negotiator.ads"):
        with open(f"{folder}/after/negotiator.ads") as published:
            theirs = statistics(published.read())
        ours = statistics(subprocess.run([*command, "--ad"], capture_output=True, text=True).stdout)
        differences += [("statistic", f"{name} {ours.get(name)}, recorded {text}") for name, text in theirs.items() if ours.get(name) != text][:1]
    return differences, outcome
