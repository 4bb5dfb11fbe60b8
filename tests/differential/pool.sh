#!/usr/bin/env bash
# Unpacks HTCondor from Debian's packages, unmodified, into a folder that its daemons can be started in with chroot.
# Usage: pool.sh [FOLDER]; prints the folder. Nothing else on the system changes; a second call takes no time.
#
# Environment: SUITE (Debian's suite, default sid), MIRROR (default: the one in the system's apt sources).
# Exit status: 0, 1 = failed, 77 = not possible here (no root, no apt, no package): skip the test.
set -u -o pipefail
umask 022

SUITE=${SUITE:-sid}
FOLDER=${1:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/classmate-pool}
case $FOLDER in /*) ;; *) FOLDER=$PWD/$FOLDER ;; esac
ROOT=$FOLDER/$SUITE    # the unpacked packages
APT=$FOLDER/apt-$SUITE # lists and packages, while they are fetched

# Dependencies that no daemon or tool used here loads.
SPARE='perl|perl-.*|libperl.*|libdate-manip-perl|python3.*|libpython3.*|node-.*|libjs-.*|systemd|libsystemd-shared'
SPARE+='|cryptsetup.*|tzdata|ca-certificates|adduser|debconf|openssl|libc-gconv-.*|dmsetup|login.defs|libsemanage.*|libsepol.*'
SPARE+='|libdb5.*|media-types|jq|libjq.*|libonig.*|net-tools|passwd|base-passwd|libgdbm.*|gcc-.*|netbase|tar'

say() { echo "pool: $*" >&2; }
fail() { say "$*"; exit 1; }
skip() { say "$*"; exit 77; }

# Prints the Debian mirror of the system.
mirror() {
    {
        awk 'tolower($1) == "uris:" { print $2 }' /etc/apt/sources.list.d/*.sources
        awk '$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /^https?:/) { print $i; break } }' \
            /etc/apt/sources.list /etc/apt/sources.list.d/*.list
    } 2>/dev/null | grep -E '/debian/?$' | head -n 1
}

# Runs a command in the folder.
inside() { chroot "$ROOT" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin CONDOR_CONFIG=/dev/null "$@"; }

# Prints the libraries that the daemons and tools lack.
missing() {
    (cd "$ROOT" && ls usr/sbin/condor_* usr/bin/condor_* | sed 's|^|/|') | inside xargs ldd 2>/dev/null |
        awk '/not found/ { print $1 }' | sort -u
}

# Fetches the named packages and unpacks them; runs none of their scripts.
unpack() {
    (cd "$APT/archives" && rm -f -- *.deb && apt-get -q -c "$APT/apt.conf" download "$@") >"$APT/download.log" 2>&1 ||
        { tail -n 5 "$APT/download.log" >&2; return 1; }
    local package
    for package in "$APT"/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x -C "$ROOT" --keep-directory-symlink --no-same-owner \
            --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' || return 1
    done
    ldconfig -r "$ROOT"
}

[ -s "$ROOT/.made" ] && { echo "$ROOT"; exit 0; }
[ "$(id -u)" = 0 ] || skip 'needs root'
for tool in apt-get dpkg-deb chroot; do command -v $tool >/dev/null || skip "needs $tool"; done
MIRROR=${MIRROR:-$(mirror)}
[ -n "$MIRROR" ] || skip "no Debian mirror in the sources of apt; name one in MIRROR"

mkdir -p "$APT"/{lists/partial,archives/partial,etc/empty} || fail "cannot write $FOLDER"
: >"$APT/status"
cat >"$APT/apt.conf" <<END
Dir::Etc::sourcelist "$APT/etc/sources.list"; Dir::Etc::sourceparts "$APT/etc/empty";
Dir::Etc::preferences "$APT/etc/none"; Dir::Etc::preferencesparts "$APT/etc/empty";
Dir::State "$APT"; Dir::State::lists "$APT/lists"; Dir::State::status "$APT/status";
Dir::Cache "$APT"; Dir::Cache::archives "$APT/archives"; Dir::Log "$APT";
Dir::Cache::pkgcache ""; Dir::Cache::srcpkgcache "";
Acquire::Check-Valid-Until "false"; Acquire::Languages "none"; Acquire::PDiffs "false"; Acquire::Retries "3";
APT::Install-Recommends "false"; APT::Sandbox::User "root"; Debug::NoLocking "true";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
END
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e $keys ] && signed="[signed-by=$keys] " || signed=
echo "deb $signed$MIRROR $SUITE main" >"$APT/etc/sources.list"
say "fetching HTCondor from $MIRROR $SUITE"
timeout 300 apt-get -q -c "$APT/apt.conf" update >"$APT/update.log" 2>&1 &&
    ! grep -q '^[EW]: .*\(Failed to fetch\|NO_PUBKEY\|not signed\)' "$APT/update.log" ||
    { tail -n 3 "$APT/update.log" >&2; skip "the package lists of $SUITE are not available"; }
all=$(apt-get -q -c "$APT/apt.conf" -s install condor dash bash coreutils libc-bin hostname procps base-files sed grep mawk \
    findutils 2>"$APT/solve.log" | awk '/^Inst / { print $2 }')
[ -n "$all" ] || { tail -n 3 "$APT/solve.log" >&2; skip "the package condor of $SUITE is not available"; }

rm -rf --one-file-system "$ROOT"
mkdir -p "$ROOT"/usr/{bin,sbin,lib,lib64} "$ROOT"/{dev,proc,sys,run,srv,home/alice,root,etc,var}
for link in bin sbin lib lib64; do ln -s usr/$link "$ROOT/$link"; done
install -d -m 1777 "$ROOT/tmp" "$ROOT/var/tmp"
# shellcheck disable=SC2086,SC2046
unpack $(grep -Evx "$SPARE" <<<"$all") || skip 'the packages are not available'
# shellcheck disable=SC2086
[ -z "$(missing)" ] || unpack $all || skip 'the packages are not available'
[ -z "$(missing)" ] || fail "libraries are missing: $(missing | tr '\n' ' ')"

# What the scripts of the packages would have done.
printf '%s\n' 'root:x:0:0:root:/root:/bin/sh' 'condor:x:64000:64000::/var/lib/condor:/usr/sbin/nologin' \
    'nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin' 'alice:x:64001:64001::/home/alice:/bin/sh' >"$ROOT/etc/passwd"
printf '%s\n' 'root:x:0:' 'tty:x:5:' 'nogroup:x:65534:' 'condor:x:64000:' 'alice:x:64001:' >"$ROOT/etc/group"
chown 64001:64001 "$ROOT/home/alice"
printf '%s: files\n' passwd group hosts services >"$ROOT/etc/nsswitch.conf"
echo '127.0.0.1 localhost cm.pool.test cm' >"$ROOT/etc/hosts"
: >"$ROOT/etc/resolv.conf"
for device in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do
    IFS=: read -r name major minor <<<"$device"
    mknod -m 666 "$ROOT/dev/$name" c "$major" "$minor" 2>/dev/null || skip 'device files cannot be made'
done
version=$(inside condor_version 2>&1 | head -n 1)
case $version in *CondorVersion*) ;; *) fail "the unpacked HTCondor does not run: $version" ;; esac
rm -rf "$APT"
echo "$version" >"$ROOT/.made"
echo "$ROOT"
