#!/usr/bin/env bash
# A real HTCondor pool on the loopback address, for tests: condor_master, collector, access points, negotiator and startds, unmodified, with
# HTCondor's default security, in a folder of its own. The daemons live in process and mount namespaces of their own, which end with
# `down`. tests/differential/pool.sh unpacks HTCondor.
#
#   pool.sh up [FILE...]          start the pool; the FILEs are read after its own configuration. Starts anew if it runs
#   pool.sh reconfig [FILE...]    the running pool reads these FILEs instead of those given before
#   pool.sh down                  end every process of the pool; queue, priorities and logs stay
#   pool.sh wipe                  down, and forget queue, priorities and logs
#   pool.sh run CMD...            a command inside the pool as root (condor_status, condor_userprio ...)
#   pool.sh submit USER FILE      condor_submit as alice, bob or carol; FILE may be -. Prints the cluster's first and last job
#   pool.sh advertise FILE        put machine ads (blank line between them) into the collector, as if startds had sent them
#   pool.sh cycle                 ask for a negotiation cycle and wait until it is over
#   pool.sh matches               what the last cycle matched, from the negotiator's log: job, tab, slot
#   pool.sh kill SIGNAL DAEMON    send a signal to a daemon: master collector schedd negotiator startd
#   pool.sh pid DAEMON            its process id as the pool sees it
#   pool.sh log DAEMON            path of its log, readable from outside
#   pool.sh path [PATH]           where a path of the pool is seen from outside
#   pool.sh token IDENTITY [ARG...]   an IDTOKEN for IDENTITY, signed with the pool's key; ARGs as of condor_token_create
#
# Environment: PORT (of the collector; several pools differ by it), MACHINES, SLOTS (8: eight static slots; p16: a partitionable slot of
# 16 cores), SCHEDDS, CYCLES (manual: only by `pool.sh cycle`), WAIT (seconds to wait for a cycle, a daemon ...), ADDRESS (of the
# pool's host: 127.0.0.1 or ::1).
#
# Exit status: 0, 1 = failed, 2 = wrong usage, 77 = a pool cannot be set up here: skip the test.
set -u -o pipefail
umask 022

PORT=${PORT:-39618} MACHINES=${MACHINES:-1} SLOTS=${SLOTS:-8} SCHEDDS=${SCHEDDS:-1} CYCLES=${CYCLES:-manual} WAIT=${WAIT:-60} ADDRESS=${ADDRESS:-127.0.0.1}
here=$(cd "$(dirname "$0")" && pwd)
ROOT=$("$here/../differential/pool.sh") || exit $?
D=/srv/pool-$PORT            # this pool, as it sees itself
P=$ROOT$D                    # the same from outside
FS=$(dirname "$(mktemp -u)")/classmate-pool-$PORT # where file-system authentication happens: the same folder under the same path inside and outside
DOMAIN=pool.test
USERS='alice bob carol'
PATHS=/usr/sbin:/usr/bin:/sbin:/bin
case $ADDRESS in *:*) HOST="[$ADDRESS]";; *) HOST=$ADDRESS;; esac

say() { echo "pool: $*" >&2; }
fail() { say "$*"; exit 1; }
skip() { say "$*"; exit 77; }
usage() { sed -n '2,/^set -u/{/^set -u/d;s/^# \{0,1\}//;p}' "$0"; }

# What tests/differential does not need: more users, and places for special files.
complete() {
  local u n=64001
  for u in $USERS; do
    grep -q "^$u:" "$ROOT/etc/passwd" || { echo "$u:x:$n:$n::/home/$u:/bin/sh" >> "$ROOT/etc/passwd"; echo "$u:x:$n:" >> "$ROOT/etc/group"; }
    [ -d "$ROOT/home/$u" ] || install -d -o $n -g $n "$ROOT/home/$u"
    n=$((n+1))
  done
  mkdir -p "$ROOT/dev/shm"; chmod 1777 "$ROOT/dev/shm"
  [ -e "$ROOT/dev/fd" ] || ln -sf /proc/self/fd "$ROOT/dev/fd"
}

# -------------------------------------------------------------------------------------------------------- configuration

configure() { # [file...]
  local s
  mkdir -p "$P"/{log,spool,lock,run,execute/machine1,etc/passwords.d,etc/tokens.d,files}
  chmod 700 "$P/etc/passwords.d" "$P/etc/tokens.d"
  chown 64000:64000 "$P"/{log,spool,lock,run,execute,execute/machine1}; chmod 755 "$P"/{log,spool,lock,run,execute}
  rm -f "$P"/files/*; s=0
  local f; for f in "$@"; do [ -r "$f" ] || fail "cannot read $f"; install -m 644 "$f" "$P/files/$(printf %02d $s)-$(basename "$f")"; s=$((s+1)); done
  local list='MASTER COLLECTOR NEGOTIATOR SCHEDD' i
  [ "$MACHINES" -gt 0 ] && list="$list STARTD"
  for ((i=2; i<=SCHEDDS; i++)); do list="$list SCHEDD$i"; done
  for ((i=2; i<=MACHINES; i++)); do list="$list STARTD$i"; done
  { cat <<C
LOCAL_DIR = $D
RELEASE_DIR = /usr
LIB = /usr/lib/condor
LIBEXEC = /usr/libexec/condor
SBIN = /usr/sbin
BIN = /usr/bin
SHARE = /usr/share/condor
ETC = $D/etc
LOG = $D/log
SPOOL = $D/spool
LOCK = $D/lock
RUN = $D/run
EXECUTE = $D/execute/machine1
CONDOR_HOST = $ADDRESS
COLLECTOR_PORT = $PORT
COLLECTOR_HOST = $HOST:$PORT
SHARED_PORT_PORT = $PORT
SHARED_PORT_ARGS = -p $PORT
NETWORK_INTERFACE = $ADDRESS
BIND_ALL_INTERFACES = False
ENABLE_IPV4 = $([ "$HOST" = "$ADDRESS" ] && echo True || echo False)
ENABLE_IPV6 = $([ "$HOST" = "$ADDRESS" ] && echo False || echo True)
NO_DNS = True
DEFAULT_DOMAIN_NAME = $DOMAIN
UID_DOMAIN = $DOMAIN
FILESYSTEM_DOMAIN = $DOMAIN
TRUST_DOMAIN = $DOMAIN
NETWORK_HOSTNAME = cm.$DOMAIN
FULL_HOSTNAME = cm.$DOMAIN
HOSTNAME = cm
COLLECTOR_NAME = pool-$PORT
NEGOTIATOR_NAME = cm.$DOMAIN
SCHEDD_NAME = schedd1@$DOMAIN
STARTD_NAME = machine1
CONDOR_IDS = 64000.64000
DAEMON_LIST = $list
SEC_PASSWORD_DIRECTORY = $D/etc/passwords.d
SEC_TOKEN_POOL_SIGNING_KEY_FILE = $D/etc/passwords.d/POOL
SEC_TOKEN_SYSTEM_DIRECTORY = $D/etc/tokens.d
FS_LOCAL_DIR = $FS
MAIL = /bin/true
C
    echo 'use security:recommended'
    cat <<C
NUM_CPUS = ${SLOTS#p}
MEMORY = \$(NUM_CPUS) * 1024
STARTD_HAS_BAD_UTMP = True
NUM_SLOTS = 1
NUM_SLOTS_TYPE_1 = $(case $SLOTS in p*) echo 1;; *) echo "$SLOTS";; esac)
SLOT_TYPE_1 = $(case $SLOTS in p*) echo 100%;; *) echo 'cpus=1, memory=1024';; esac)
SLOT_TYPE_1_PARTITIONABLE = $(case $SLOTS in p*) echo True;; *) echo False;; esac)
START = True
SUSPEND = False
PREEMPT = False
KILL = False
RUNBENCHMARKS = False
UPDATE_INTERVAL = 15
RESERVED_DISK = 0
BASE_CGROUP =
CGROUP_MEMORY_LIMIT_POLICY = none
MOUNT_PRIVATE_DEV_SHM = False
USE_PID_NAMESPACES = False
NAMED_CHROOT =
SINGULARITY = /bin/false
DOCKER =
JOB_DEFAULT_REQUESTMEMORY = 128
JOB_DEFAULT_REQUESTDISK = 1024
# no background work, no waiting
MASTER_UPDATE_INTERVAL = 60
COLLECTOR_UPDATE_INTERVAL = 60
MASTER_BACKOFF_CONSTANT = 1
MASTER_BACKOFF_CEILING = 5
MASTER_NEW_BINARY_DELAY = 1
SCHEDD_INTERVAL = 2
SCHEDD_MIN_INTERVAL = 1
SCHEDD_ENABLE_PER_USER_MATCH_LIMITS = False
CURB_MATCHMAKING = False
JOB_START_DELAY = 0
MAX_JOBS_SUBMITTED = 10000000
MAX_JOBS_PER_OWNER = 10000000
MAX_JOBS_PER_SUBMISSION = 10000000
MAX_JOBS_RUNNING = 200000
START_LOCAL_UNIVERSE = False
START_SCHEDULER_UNIVERSE = False
SHUTDOWN_GRACEFUL_TIMEOUT = 10
NEGOTIATOR_DEBUG = D_MATCH D_SUB_SECOND
MAX_NEGOTIATOR_LOG = 500000000
MAX_NEGOTIATOR_MATCH_LOG = 500000000
MAX_SCHEDD_LOG = 100000000
NEGOTIATOR_UPDATE_AFTER_CYCLE = True
NEGOTIATOR_MIN_INTERVAL = 0
NEGOTIATOR_CYCLE_DELAY = 0
C
    if [ "$CYCLES" = manual ]; then cat <<'C'
NEGOTIATOR_INTERVAL = 1000000
SUBMIT_SEND_RESCHEDULE = False
SCHEDD_SEND_RESCHEDULE = False
C
    else echo 'NEGOTIATOR_INTERVAL = 20'; fi
    for ((i=2; i<=SCHEDDS; i++)); do cat <<C
SCHEDD$i = \$(SCHEDD)
SCHEDD$i.ENVIRONMENT =
SCHEDD${i}_ARGS = -local-name SCHEDD$i
SCHEDD$i.SCHEDD_NAME = schedd$i@$DOMAIN
SCHEDD$i.SPOOL = $D/spool/schedd$i
SCHEDD$i.SCHEDD_LOG = $D/log/SchedLog.$i
SCHEDD$i.SCHEDD_ADDRESS_FILE = $D/spool/schedd$i/address
SCHEDD$i.SCHEDD_DAEMON_AD_FILE = $D/spool/schedd$i/ad
C
      mkdir -p "$P/spool/schedd$i"; chown 64000:64000 "$P/spool/schedd$i"
    done
    for ((i=2; i<=MACHINES; i++)); do cat <<C
STARTD$i = \$(STARTD)
STARTD${i}_ARGS = -local-name STARTD$i
STARTD$i.STARTD_NAME = machine$i
STARTD$i.EXECUTE = $D/execute/machine$i
STARTD$i.STARTD_LOG = $D/log/StartLog.$i
STARTD$i.STARTER_LOG = $D/log/StarterLog.$i
STARTD$i.STARTD_ADDRESS_FILE = $D/run/startd$i.address
STARTD$i.STARTD_DAEMON_AD_FILE = $D/run/startd$i.ad
STARTD$i.STARTD_CLAIM_ID_FILE = $D/run/startd$i.claim
C
      mkdir -p "$P/execute/machine$i"; chown 64000:64000 "$P/execute/machine$i"
    done
    [ "$SCHEDDS$MACHINES" = 11 ] || echo "DC_DAEMON_LIST = +$(echo "$list" | tr ' ' '\n' | grep -E '(SCHEDD|STARTD)[0-9]' | tr '\n' ' ')"
    echo "LOCAL_CONFIG_DIR = $D/files"
  } > "$P/condor_config"
  echo "MACHINES='$MACHINES' SLOTS='$SLOTS' SCHEDDS='$SCHEDDS' CYCLES='$CYCLES' ADDRESS='$ADDRESS'" > "$P/settings"
}

# ------------------------------------------------------------------------------------------------------------ processes

inside() { # USER CMD...: run inside the chroot, and inside the pool's namespaces if it is up
  local u=$1 h=/root; shift; [ "$u" = root ] || h=$(awk -F: -v u="$u" '$1==u{print $6}' "$ROOT/etc/passwd")
  [ -n "$h" ] || { say "no user $u"; return 2; }
  local w=$h; [ -d "$ROOT$w" ] || w=/
  local pre=() e=(/usr/bin/env -i PATH=$PATHS HOME="$h" USER="$u" LOGNAME="$u" LANG=C TZ=UTC CONDOR_CONFIG="$D/condor_config" sh -c 'cd "$0" && exec "$@"' "$w")
  if up && ! plain; then pre=(nsenter -t "$(cat "$P/pid")" -m -p -r -w); fi
  if [ ${#pre[@]} -gt 0 ]; then "${pre[@]}" chroot --userspec="$u" / "${e[@]}" "$@"; else chroot --userspec="$u" "$ROOT" "${e[@]}" "$@"; fi
}
cr() { inside root "$@"; }

up() { # the process that we started is there, is no zombie, and is not another one under the same number
  local p; p=$(cat "$P/pid" 2>/dev/null) || return 1
  [ -n "$p" ] && [ "$(awk '$3 != "Z" {print $22}' "/proc/$p/stat" 2>/dev/null)" = "$(cat "$P/born" 2>/dev/null)" ]; }
plain() { [ "$(cat "$P/how" 2>/dev/null)" = plain ]; }

ours() { # processes of this pool when there are no namespaces: those whose root is ours and whose environment names this pool
  local d; for d in /proc/[0-9]*; do
    [ "$(readlink "$d/root" 2>/dev/null)" = "$ROOT" ] && tr '\0' '\n' <"$d/environ" 2>/dev/null | grep -qx "CLASSMATE_POOL=$PORT" && echo "${d#/proc/}"
  done; }

start() {
  local how=namespaces
  # Without the right to mount there is no /proc inside: HTCondor can do without, though some of its figures are missing then.
  unshare --mount --pid --fork sh -c "mount -t proc proc '$ROOT/proc'" 2>/dev/null || { how=plain; echo 'USE_PROCD = False' >> "$P/condor_config"; }
  echo $how > "$P/how"
  local main="condor_master -f & trap 'kill -TERM \$!' TERM; while kill -0 \$! 2>/dev/null; do wait \$!; done"
  local e=(/usr/bin/env -i PATH=$PATHS HOME=/root LANG=C TZ=UTC CONDOR_CONFIG="$D/condor_config" CLASSMATE_POOL="$PORT" /bin/bash -c "$main")
  rm -f "$P/pid"
  [ -L "$FS" ] && rm -f "$FS"
  install -d -m 1777 "$ROOT$FS"
  if [ $how = namespaces ]; then
    install -d -m 1777 "$FS" && [ "$(stat -c %u "$FS")" = 0 ] || fail "cannot make $FS"
    # The system's /proc tells the process its own number outside; then the chroot becomes a mount of its own (without that the
    # starter cannot make its private mounts and no job starts) and gets the new name space's /proc.
    setsid unshare --mount --pid --fork --kill-child sh -c '
      read -r p x </proc/self/stat; echo "$p" >"$2/pid.new"; mv "$2/pid.new" "$2/pid"
      mount --bind "$1" "$1"; cd "$1"; mount -t proc proc "$1/proc"; mount --bind "$3" "$1$3"
      for n in null zero full random urandom tty; do [ -c "$1/dev/$n" ] || mount --bind "/dev/$n" "$1/dev/$n"; done
      r=$1; shift 3; exec chroot "$r" "$@"' sh "$ROOT" "$P" "$FS" "${e[@]}" </dev/null >"$P/out" 2>&1 9>&- &
  else
    [ -e "$FS" ] || ln -s "$ROOT$FS" "$FS"
    setsid sh -c 'echo $$ >"$1/pid"; shift; exec "$@"' sh "$P" chroot "$ROOT" "${e[@]}" </dev/null >"$P/out" 2>&1 9>&- &
  fi
  local t; for t in $(seq 50); do [ -s "$P/pid" ] && break; sleep 0.1; done
  awk '{print $22}' "/proc/$(cat "$P/pid")/stat" > "$P/born" 2>/dev/null
  up || { cat "$P/out" >&2; fail 'the pool did not start'; }
}

until_() { # SECONDS CMD...: until CMD succeeds
  local end=$((SECONDS+$1)); shift
  while ! "$@"; do [ $SECONDS -ge $end ] && return 1; sleep 0.2; done; }

slots_expected() { case $SLOTS in p*) echo "$MACHINES";; *) echo $((MACHINES*SLOTS));; esac; }
ready() {
  up || fail "the pool ended: see $P/log/MasterLog"
  [ "$(cr condor_status -schedd -af Name 2>/dev/null | wc -l)" -ge "$SCHEDDS" ] && [ -n "$(cr condor_status -negotiator -af Name 2>/dev/null)" ] &&
    [ -n "$(cr condor_status -master -af Name 2>/dev/null)" ] && [ "$(cr condor_status -af Name 2>/dev/null | wc -l)" -ge "$(slots_expected)" ]; }

up_() {
  complete; down; configure "$@"
  if (exec 3<>"/dev/tcp/$ADDRESS/$PORT") 2>/dev/null; then fail "port $PORT is in use"; fi
  tarpit; start
  until_ "$WAIT" ready || { tail -n 5 "$P/log/MasterLog" >&2; fail "the pool was not complete after $WAIT s: see $P/log"; }
}

down() {
  [ -d "$P" ] || return 0
  if up; then
    local m i=$(cat "$P/pid") t; m=$(daemon_pid master)
    [ -n "$m" ] && signal -QUIT "$m" 2>/dev/null
    for t in $(seq 50); do up || break; sleep 0.1; done
    up && kill -KILL "$i" 2>/dev/null
    for t in $(seq 50); do up || break; sleep 0.1; done
  fi
  plain && { local p; for p in $(ours); do kill -KILL "$p" 2>/dev/null; done; }
  [ -s "$P/pid.tarpit" ] && tr '\0' ' ' 2>/dev/null <"/proc/$(cat "$P/pid.tarpit")/cmdline" | grep -q 'silent machines' && kill "$(cat "$P/pid.tarpit")" 2>/dev/null
  rm -f "$P/pid" "$P/pid.tarpit" "$P/born" "$P"/log/*.lock
  return 0
}

daemon_pid() {
  local n=condor_$1
  local scan='for p in $(cd /proc && ls -d [0-9]*); do [ -r /proc/$p/cmdline ] || continue
      a=$(tr "\0" "\n" 2>/dev/null </proc/$p/cmdline | head -n 1); [ "${a##*/}" = "$1" ] || continue
      tr "\0" "\n" 2>/dev/null </proc/$p/environ | grep -qx "CLASSMATE_POOL=$2" && echo $p; done | sort -n'
  if plain; then local p; for p in $(ours); do sh -c "$scan" sh "$n" "$PORT" | grep -x "$p"; done; else cr sh -c "$scan" sh "$n" "$PORT"; fi | head -n 1
}

signal() { if plain; then kill "$1" "$2"; else cr kill "$1" "$2"; fi; }

# The machines of advertised slots: something that accepts a connection and says nothing. A claim stays pending then; if it were refused
# at once, the access point would offer the job again in the next spin of the same cycle.
tarpit() {
  command -v python3 >/dev/null || return 0
  setsid python3 -c 'import asyncio, resource, sys  # silent machines
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
held = []
async def main():
    server = await asyncio.start_server(lambda r, w: held.append((r, w)), "127.0.0.1", int(sys.argv[1]), backlog=4096)
    await server.serve_forever()
asyncio.run(main())' $((PORT+1)) </dev/null >"$P/out.tarpit" 2>&1 9>&- &
  echo $! > "$P/pid.tarpit"
}

# ------------------------------------------------------------------------------------------------------------- negotiator

finished() { # how often a cycle has ended: lines of the log, and the time of the last end in the negotiator's ad
  local n; n=$(cat "$P"/log/NegotiatorLog.old "$P"/log/NegotiatorLog 2>/dev/null | grep -c 'Finished Negotiation Cycle')
  local t; t=$(cr condor_status -negotiator -af LastNegotiationCycleEnd0 2>/dev/null); case $t in ''|*[!0-9]*) t=0;; esac
  echo "$n $t"; }
later() { local n t; read -r n t <<<"$(finished)"; [ "$n" -gt "$1" ] || { [ "$n" = 0 ] && [ "$t" -gt "$2" ]; }; }

schedds() { cr condor_status -schedd -af Name 2>/dev/null; }
idle() { local s; for s in $(schedds); do cr condor_q -name "$s" -allusers -constraint 'JobStatus == 1' -af ClusterId 2>/dev/null; done | wc -l; }
announced() { [ "$(cr condor_status -submitters -af IdleJobs 2>/dev/null | awk '{n+=$1} END{print n+0}')" = "$(idle)" ]; }

cycle() {
  up || fail 'the pool is not up'
  until_ 20 announced || say 'the submitter ads do not agree with the queue'
  local n t s; read -r n t <<<"$(finished)"
  # the ad has whole seconds: where the log has no lines, a cycle in the second of the one before could not be told apart
  [ "$n" = 0 ] && while [ "$(date +%s)" -le "$t" ]; do sleep 0.2; done
  # To the negotiator itself: an access point passes a condor_reschedule on only if its own idea of idle jobs has not just changed.
  s=$(cr condor_status -negotiator -af MyAddress 2>/dev/null | head -n 1)
  cr condor_reschedule -addr "$s" >/dev/null 2>&1 || fail 'the negotiator does not answer'
  until_ "$WAIT" later "$n" "$t" || fail "no cycle ended within $WAIT s"
}

last_cycle() { # the log from the last start of a cycle that has ended
  { cat "$P"/log/NegotiatorLog.old "$P"/log/NegotiatorLog 2>/dev/null || :; } |
    awk '/Started Negotiation Cycle/{b=""; on=1} on{b=b $0 "\n"} /Finished Negotiation Cycle/{if(on)last=b; on=0} END{printf "%s",last}'; }
matches() { last_cycle | sed -nE 's/^.*[[:space:]]Matched ([0-9]+\.[0-9]+) .* ([^ ]+)$/\1\t\2/p'; }

# --------------------------------------------------------------------------------------------------------------- exchange

advertise() {
  [ -r "${1:-}" ] || fail "cannot read ${1:-}"
  sed -E "s/127\.0\.0\.1:[0-9]+\?addrs=127\.0\.0\.1-[0-9]+&/127.0.0.1:$((PORT+1))?addrs=127.0.0.1-$((PORT+1))\&/g" "$1" |
    cr condor_advertise -tcp -multiple -fake-private-ad UPDATE_STARTD_AD - | tail -n 1; }
submit() { # USER FILE [-name SCHEDD]
  local u=$1 f=$2; shift 2; [ "$f" = - ] || [ -r "$f" ] || fail "cannot read $f"
  cat "$f" | inside "$u" condor_submit -terse "$@" -; }

verb=${1:-help}; [ $# -gt 0 ] && shift
# a running pool is what it was started as
case $verb in up|help) ;; *) [ -s "$P/settings" ] && . "$P/settings";; esac
need_up() { up || fail "the pool is not up: pool.sh up"; }
case $verb in
  up) up_ "$@";;
  reconfig) need_up; configure "$@"; cr condor_reconfig -all >/dev/null && sleep 1;;
  down) down;;
  wipe) down; rm -rf --one-file-system "${P:?}" "${ROOT:?}${FS:?}" "${FS:?}";;
  run) [ $# -gt 0 ] || { usage; exit 2; }; cr "$@";;
  submit) need_up; [ $# -ge 2 ] || { usage; exit 2; }; submit "$@";;
  advertise) need_up; advertise "${1:-}";;
  cycle) cycle;;
  matches) matches;;
  kill) need_up; [ $# = 2 ] || { usage; exit 2; }; p=$(daemon_pid "$2"); [ -n "$p" ] || fail "no $2 is running"; signal "-${1#-}" "$p";;
  pid) need_up; daemon_pid "${1:?}";;
  log) case ${1:?} in schedd) echo "$P/log/SchedLog";; startd) echo "$P/log/StartLog";; match) echo "$P/log/MatchLog";; *) echo "$P/log/${1^}Log";; esac;;
  path) echo "$ROOT${1:-$D}";;
  token) need_up; i=${1:?}; shift; cr condor_token_create -identity "$i" "$@";;
  help|-h|--help) usage;;
  *) say "no such verb: $verb"; usage >&2; exit 2;;
esac
