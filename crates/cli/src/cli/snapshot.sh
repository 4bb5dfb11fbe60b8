#!/bin/sh
# Saves what a negotiation cycle of HTCondor reads: sh snapshot.sh DIRECTORY
#
# Run it where the tools of the pool work, best on the central manager, and copy the directory to where `classmate negotiate DIRECTORY` runs.
# It only reads. A source that cannot be read is named, and the others are saved; the exit status is 1 then.

directory=${1:?expected the directory to write: sh snapshot.sh DIRECTORY}
mkdir -p "$directory" || exit 1
failed=0

# save FILE COMMAND ...: the output of a command, if it succeeds.
save() {
    file=$directory/$1
    shift
    if "$@" >"$file.part"; then
        mv "$file.part" "$file"
    else
        rm -f "$file.part"
        echo "not saved: $file ($*)" >&2
        failed=1
    fi
}

save slots.ads condor_status -long
save jobs.ads condor_q -allusers -global -long
save submitters.ads condor_status -submitters -long
save negotiator.ads condor_status -negotiator -long
save config condor_config_val -dump -subsystem NEGOTIATOR

# Priorities and usage: the accountant's log if it can be read, otherwise what the negotiator publishes.
log=$(condor_config_val SPOOL 2>/dev/null)/Accountantnew.log
if [ -r "$log" ]; then
    save Accountantnew.log cat "$log"
else
    save accounting.ads condor_userprio -negotiator -allusers -long
fi

# What the negotiator decided, for `classmate verify DIRECTORY`.
for name in NEGOTIATOR_LOG:NegotiatorLog NEGOTIATOR_MATCH_LOG:MatchLog; do
    log=$(condor_config_val "${name%%:*}" 2>/dev/null)
    if [ -r "$log" ]; then
        save "${name##*:}" cat "$log"
    fi
done

exit $failed
