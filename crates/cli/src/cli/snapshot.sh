# Saves what a negotiation cycle of HTCondor reads. Run it where the tools of the pool work, best on the central manager, and copy
# the directory to where `classmate negotiate DIRECTORY` runs.

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
