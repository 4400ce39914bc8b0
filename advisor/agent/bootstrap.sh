# Receives, checks and starts the agent that an advisor brings over ssh. Set before this text:
#   agents     MACHINE:SHA256:BYTES:SENT_BYTES of each agent that the advisor has
#   token      random letters that nobody here can know
#   keep       1 if a copy may stay in the cache of this account, else 0
#   arguments  of the agent
# The program is written into a file that has no name: the kernel frees it with the last process
# that has it open, whatever ends that process. Nothing has to be removed afterwards.
set -u
umask 077
PATH=/usr/bin:/bin:/usr/sbin:/sbin:${PATH:-}
say() { printf 'advisor-push %s\n' "$*"; }
fail() {
    say "failed $*"
    exit 1
}

for program in uname id stat mkdir rm mv chmod df cat head gzip sha256sum tr cut find; do
    command -v "$program" >/dev/null 2>&1 || fail lacks "$program"
done
[ -r /proc/self/fd ] || fail lacks /proc
machine=$(uname -m)
digest=
for one in $agents; do
    rest=${one#"$machine":}
    [ "$rest" = "$one" ] && continue
    digest=${rest%%:*} sizes=${rest#*:}
    bytes=${sizes%:*} sent_bytes=${sizes#*:}
done
[ "$(uname -s)" = Linux ] && [ -n "$digest" ] || fail machine "$(uname -s) $machine"
me=$(id -u)
program=/proc/self/fd/4

# Whether descriptor 4 reads exactly the agent, from a regular file that only this account may write.
# 81c0: a regular file of mode 700. The word for it would be in the language of the login.
is_agent() {
    found=$(sha256sum <$program) && [ "${found%% *}" = "$digest" ] &&
        [ "$(stat -L -c '%u:%f' $program)" = "$me:81c0" ]
}

# Whether it may be run from where it is; else $words tells why not.
runs() {
    words=$($program --runs 2>&1 </dev/null)
}

go() {
    say start
    # shellcheck disable=SC2086 # Several words.
    exec $program -m advisor.agent.carried $arguments
}

# Descriptor 3 writes and 4 reads a new executable file without a name, in the file system of $1.
nameless() {
    [ -d "$1" ] && [ -w "$1" ] || return 1
    # Empty ones that were left by a crash of this host between the two lines below.
    find "$1" -maxdepth 1 -type d -name '.advisor-push.*' -user "$me" -mmin +60 \
        -exec rm -rf {} + 2>/dev/null
    free=$(df -Pk "$1" 2>/dev/null | { read -r _ && read -r _ _ _ kib _ && echo "$kib"; })
    if [ "${free:-0}" -le $((bytes / 1024)) ]; then
        full="$full $1"
        return 1
    fi
    folder=$1/.advisor-push.$token
    mkdir -m 700 "$folder" 2>/dev/null || return 1
    # Opened by the descriptor, not by the name a second time, which could be another file by then.
    command exec 3>"$folder/agent" 4</proc/self/fd/3
    rm -rf "$folder" 2>/dev/null
    if [ -d "$folder" ]; then # NFS keeps a name as long as a file is open.
        exec 3>&- 4<&-
        rm -rf "$folder"
        return 1
    fi
    chmod 700 $program
}

caches=${XDG_CACHE_HOME:-${HOME:-/nowhere}/.cache}/advisor/agents
cached=$caches/$machine-$digest
if [ -f "$cached" ] && [ -r "$cached" ]; then
    command exec 4<"$cached"
    if is_agent && runs; then
        say cached "$cached"
        go
    fi
fi

store() {
    mkdir -p "$caches" && cat <$program >"$cached.$token" && chmod 700 "$cached.$token" || return 1
    # Of each kind of machine only the newest one stays.
    find "$caches" -maxdepth 1 -type f -name "$machine-*" ! -name "*.$token" -exec rm -f {} +
    mv -f "$cached.$token" "$cached"
}

full= words= has_it=0
for place in "${TMPDIR:-}" /tmp /var/tmp "${XDG_RUNTIME_DIR:-}" /dev/shm "${HOME:-}/.cache" \
    "${HOME:-}"; do
    [ -n "$place" ] || continue
    if [ $has_it = 0 ]; then
        nameless "$place" || continue
        say send "$machine"
        head -c "$sent_bytes" | gzip -dc 2>/dev/null >&3
        has_it=1
    else
        command exec 5<$program
        nameless "$place" || {
            command exec 4</proc/self/fd/5 5<&-
            continue
        }
        cat <&5 >&3
        exec 5<&-
    fi
    exec 3>&-
    is_agent || fail digest "$place"
    if runs; then
        if [ "$keep" = 1 ]; then
            if store 2>/dev/null; then say kept "$cached"; else say unkept "$caches"; fi
        fi
        go
    fi
    say norun "$place"
done
words=$(printf '%s' "$words" | tr -d '\000-\037' | cut -c 1-300)
[ $has_it = 1 ] && fail runs "$words"
[ -n "$full" ] && fail space "$full"
fail place
