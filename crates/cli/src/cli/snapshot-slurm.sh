# Saves what the priorities of a Slurm cluster are made of. Run it where Slurm's commands work, and copy the directory to where
# `classmate sprio DIRECTORY` runs.

# Without any of the commands there is nothing to save.
if ! { command -v scontrol || command -v squeue || command -v sprio || command -v sacctmgr; } >/dev/null; then
    echo "scontrol, squeue, sprio and sacctmgr were not found" >&2
    rmdir "$directory" 2>/dev/null
    exit 1
fi

# What Slurm printed at this moment, for `classmate sprio DIRECTORY --against DIRECTORY/sprio.txt`.
save sprio.txt sprio -l

# The jobs in JSON, which has the exact amounts; releases that cannot print it have text. Completed ones have priorities under
# CALCULATE_RUNNING.
squeue --json >/dev/null 2>&1 && save squeue.json squeue --all --states=all --json || save scontrol.jobs scontrol -a -o show jobs
save scontrol.nodes scontrol -a -o show nodes

# The configuration as Slurm has read it. Only its file names the nodes of a cloud that are off.
save scontrol.config scontrol show config
save scontrol.partitions scontrol -a -o show partitions
conf=$(sed -n 's/^SLURM_CONF *= *//p' "$directory/scontrol.config" 2>/dev/null)
if [ -r "$conf" ] && ! grep -qi '^[[:space:]]*include[[:space:]]' "$conf"; then
    save slurm.conf cat "$conf"
fi

# Accounts, shares and usage.
if ! grep -q '^AccountingStorageType *= *accounting_storage/none' "$directory/scontrol.config" 2>/dev/null; then
    cluster=$(sed -n 's/^ClusterName *= *//p' "$directory/scontrol.config" 2>/dev/null)
    rm -f "$directory/sacctmgr.dump"
    if ! sacctmgr -i dump "$cluster" file="$directory/sacctmgr.dump" >/dev/null; then
        echo "not saved: sacctmgr.dump (sacctmgr dump $cluster)" >&2
        failed=1
    fi
    save scontrol.assoc_mgr scontrol -o show assoc_mgr flags=assoc
    save sacctmgr.qos sacctmgr -P show qos
fi

exit $failed
