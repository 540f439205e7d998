#!/bin/sh
# Collects from a Kafka broker or controller what kafka-forensics reads, as one tar.gz. POSIX sh; needs tar, awk, gzip.
#
#   on the machine:    sh collect.sh -n broker-1
#   a container:       sh collect.sh -n broker-1 -D CONTAINER
#   a pod:             sh collect.sh -n broker-1 -K POD [-N NAMESPACE] [-C CONTAINER]
#
#   -n NAME    what the bundle is called, NAME.tar.gz (default: the machine's name)
#   -o DIR     where it goes (default: here); - is stdout
#   -c FILE    a configuration (default: that of the running broker, or where images and packages have it); may be repeated
#   -l DIR     a directory of log files (default likewise); may be repeated
#   -d DIR     a data directory (default: log.dirs of the configuration); may be repeated
#   -a DAYS    only log files that were written to in the last DAYS days
#   -m         also the metadata log of KRaft: most telling, but it holds SCRAM verifiers and topic settings
#   -s TOPIC   also the segments of this topic: THEY HOLD ITS RECORDS; may be repeated
#
# Nothing is changed on the broker and nothing is stopped; only a directory of links and the cleaned configuration is made in $TMPDIR.
# Modification times are kept. Left out: comments and values of settings that are or may be secret, keystores, credentials, records.
# Before a dead broker is started again, collect it: what its checkpoints say is overwritten within seconds.
set -eu

fail() { echo "collect.sh: $*" >&2; exit 2; }
say() { echo "collect.sh: $*" >&2; }

name=$(uname -n) out=. configs='' logs='' datas='' days='' metadata='' topics='' docker='' pod='' space='' container=''
inner='' newline='
'
while getopts n:o:c:l:d:a:ms:D:K:N:C: option; do
    case $option in
    n) name=$OPTARG ;;
    o) out=$OPTARG ;;
    c) configs=$configs$OPTARG$newline ;;
    l) logs=$logs$OPTARG$newline ;;
    d) datas=$datas$OPTARG$newline ;;
    a) days=$OPTARG ;;
    m) metadata=yes ;;
    s) topics=$topics$OPTARG$newline ;;
    D) docker=$OPTARG ;;
    K) pod=$OPTARG ;;
    N) space=$OPTARG ;;
    C) container=$OPTARG ;;
    *) fail "see the first lines of this file" ;;
    esac
    case $option in
    D | K | N | C | n | o) ;;
    m) inner="$inner -m" ;;
    *) case $OPTARG in *[!A-Za-z0-9_./:-]*) [ "$option" = a ] || quoted=no ;; esac
       inner="$inner -$option $OPTARG" ;;
    esac
done
case $name in '' | *[!A-Za-z0-9_.-]* | .*) fail "a name is of letters, digits, '.', '_' and '-'" ;; esac
case $days in *[!0-9]*) fail "-a takes a number of days" ;; esac

# In a container the same script runs inside, from our stdin; what the container printed is beside it.
if [ -n "$docker$pod" ]; then
    [ "${quoted-}" != no ] || fail "paths in a container: letters, digits, '_', '.', '/', ':' and '-' only"
    [ "$out" != - ] || fail "-o - is for the machine itself"
    mkdir -p "$out/$name"
    # shellcheck disable=SC2086 # words without blanks, checked above
    if [ -n "$docker" ]; then
        docker logs --timestamps "$docker" > "$out/$name/stdout.log" 2>&1 || say "no output of $docker"
        docker exec -i "$docker" sh -s -- -n "$name" -o - $inner < "$0" > "$out/$name/$name.tar.gz"
    else
        set -- ${space:+-n "$space"}
        in="${container:+-c $container}"
        kubectl logs "$@" "$pod" $in --timestamps > "$out/$name/stdout.log" || say "no output of $pod"
        kubectl logs "$@" "$pod" $in --timestamps --previous > "$out/$name/stdout.previous.log" 2> /dev/null || rm -f "$out/$name/stdout.previous.log"
        kubectl exec -i "$@" "$pod" $in -- sh -s -- -n "$name" -o - $inner < "$0" > "$out/$name/$name.tar.gz"
    fi
    say "in $out/$name"
    exit 0
fi

stage=$(mktemp -d "${TMPDIR:-/tmp}/collect.XXXXXX")
trap 'rm -rf "$stage"' EXIT
trap 'exit 130' HUP INT TERM
top=$stage/$name
mkdir "$top"

# Words of the running process, one a line; /proc tells nothing of other users' processes, and then the usual places are all there is.
running() {
    for process in /proc/[0-9]*; do
        tr '\0' '\n' < "$process/cmdline" 2> /dev/null | grep -q '^kafka\.Kafka$\|^io\.confluent\.support\.metrics\.SupportedKafka$' || continue
        tr '\0' '\n' < "$process/cmdline"
    done
}
words=$(running || true)

if [ -z "$configs" ]; then
    configs=$(printf '%s\n' "$words" | grep '\.properties$' | grep -v '^-' || true)$newline
    for file in /etc/kafka/*.properties /etc/kafka/kraft/*.properties /opt/kafka/config/server.properties /opt/kafka/config/kraft/*.properties \
        /opt/bitnami/kafka/config/server.properties /tmp/strimzi.properties /mnt/shared/config/*.properties; do
        [ ! -f "$file" ] || configs=$configs$file$newline
    done
fi

# Settings without comments, and without what is secret or may be: by name, or because the value says so.
cleaned() {
    awk '
    function ends(line) { match(line, /\\*$/); return RLENGTH % 2 }
    function secret(line) { return tolower(line) ~ /passw|secret|-----begin|loginmodule/ }
    continued {
        continued = ends($0)
        if (!hidden) print secret($0) ? "[hidden]" (continued ? "\\" : "") : hide($0)
        next
    }
    /^[ \t]*([#!]|$)/ { next }
    {
        key = $0; sub(/^[ \t]+/, "", key); sub(/[ \t]*[=: \t].*/, "", key); low = tolower(key)
        hidden = low ~ /pass|pwd|secret|credential|token|jaas|private|keystore|truststore|certificate|\.key$|authorization|apikey|api\.key|\\/
        hidden = hidden || secret($0)
        continued = ends($0)
        print hidden ? key "=[hidden]" : hide($0)
    }
    function hide(line) { gsub(/\/\/[^\/@, ]*@/, "//[hidden]@", line); return line }
    ' "$1"
}

taken=0
link() { # FILE PLACE: a link, which tar follows
    [ -f "$1" ] && [ -r "$1" ] || return 0
    mkdir -p "$2"
    case $1 in /*) from=$1 ;; *) from=$PWD/$1 ;; esac
    ln -s "$from" "$2/${1##*/}" 2> /dev/null || return 0 # twice the same
    taken=$((taken + 1))
}

IFS=$newline
set -f
number=0 named=$datas
for config in $configs; do
    [ -f "$config" ] || { say "no configuration $config"; continue; }
    number=$((number + 1))
    place=$top/config
    [ ! -e "$place/${config##*/}" ] || place=$top/config/$number
    mkdir -p "$place"
    cleaned "$config" > "$place/${config##*/}"
    touch -r "$config" "$place/${config##*/}"
    if [ -z "$named" ]; then
        datas=$datas$(awk '/^[ \t]*(log\.dirs?|metadata\.log\.dir)[ \t]*[=:]/ { sub(/^[^=:]*[=:][ \t]*/, ""); gsub(/[ \t]*,[ \t]*/, "\n"); sub(/[ \t\r]+$/, ""); print }' "$config")$newline
    fi
done
if [ -z "$logs" ]; then
    logs=$(printf '%s\n' "$words" | sed -n 's/^-Dkafka\.logs\.dir=//p')$newline
    for directory in ${LOG_DIR-} /var/log/kafka /opt/kafka/logs /opt/bitnami/kafka/logs; do
        [ ! -d "$directory" ] || logs=$logs$directory$newline
    done
fi

number=0
for directory in $logs; do
    number=$((number + 1))
    set +f
    for file in "$directory"/*.log* "$directory"/*.out*; do
        case ${file##*/} in *authorizer* | *request*) continue ;; esac
        [ -z "$days" ] || [ -n "$(find "$file" -prune -mtime "-$days" 2> /dev/null)" ] || continue
        link "$file" "$top/logs$([ $number -eq 1 ] || echo "-$number")"
    done
    set -f
done

wanted() { # PARTITION: whether its segments are
    [ "$metadata" != yes ] || [ "$1" != __cluster_metadata-0 ] || return 0
    for topic in $topics; do
        case $1 in "$topic"-*[!0-9]*) ;; "$topic"-[0-9]*) return 0 ;; esac
    done
    return 1
}

number=0
for directory in $(printf '%s' "$datas" | awk 'NF && !seen[$0]++'); do
    [ -d "$directory" ] || { say "no data directory $directory"; continue; }
    number=$((number + 1))
    place=$top/data$([ $number -eq 1 ] || echo "-$number")
    set +f
    for file in "$directory"/*checkpoint "$directory"/meta.properties "$directory"/.kafka_cleanshutdown; do
        link "$file" "$place"
    done
    for partition in "$directory"/*-*/; do
        partition=${partition%/}
        to=$place/${partition##*/}
        for file in "$partition"/leader-epoch-checkpoint "$partition"/partition.metadata "$partition"/quorum-state; do
            link "$file" "$to"
        done
        if wanted "${partition##*/}"; then
            for file in "$partition"/*.log "$partition"/*.log.deleted "$partition"/*.checkpoint; do
                link "$file" "$to"
            done
        fi
    done
    set -f
done
[ $taken -gt 0 ] || fail "found nothing: say with -l where the log files are, with -d the data, with -c the configuration"
date "+collected %Y-%m-%dT%H:%M:%S%z, $taken files" > "$top/collected.txt"

# Of what is written to meanwhile GNU tar says so and returns 1; the rest is there.
pack() { { tar -C "$stage" -chf - "$name" < /dev/null || [ $? -eq 1 ] || : > "$stage/failed"; } | gzip; }
if [ "$out" = - ]; then
    pack
    [ ! -e "$stage/failed" ] || fail "tar failed: the bundle is not whole"
else
    mkdir -p "$out"
    (umask 077 && pack > "$out/$name.tar.gz.part")
    [ ! -e "$stage/failed" ] || fail "tar failed: what there is of the bundle is $out/$name.tar.gz.part"
    mv "$out/$name.tar.gz.part" "$out/$name.tar.gz"
    say "$taken files in $out/$name.tar.gz"
fi
[ "$metadata" = yes ] || [ ! -e "$top/data/__cluster_metadata-0" ] || say "the metadata log was left out; -m takes it"
