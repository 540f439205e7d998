#!/bin/sh
# Collects the files that kafka-forensics reads from a Kafka broker or controller, as one tar.gz. POSIX sh; needs tar, awk and gzip.
set -eu

help() {
    cat << 'END'
Collects the files that kafka-forensics reads from a Kafka broker or controller, as one tar.gz.

  on the machine     sh collect.sh -n broker-1
  over ssh           ssh HOST sh -s -- -n broker-1 -o - < collect.sh > broker-1.tar.gz
  a container        sh collect.sh -n broker-1 -D CONTAINER
  a pod              sh collect.sh -n broker-1 -K POD [-N NAMESPACE] [-C CONTAINER]

  -n NAME    name of the bundle, NAME.tar.gz (default: the name of the machine)
  -o DIR     directory to write the bundle to (default: the current directory); - is stdout
  -c FILE    configuration (default: the one of the running broker, or the usual places of images and packages); may be repeated
  -l DIR     directory of log files (default: likewise); may be repeated
  -d DIR     data directory (default: log.dirs of the configuration); may be repeated
  -a DAYS    only log files that were written to in the last DAYS days
  -m         also the KRaft metadata log: the best evidence of all, but it contains SCRAM verifiers and topic settings
  -s TOPIC   also the segments of this topic: THEY CONTAIN ITS RECORDS; may be repeated
  -h         this help (also --help)

Without an option, nothing is collected. The script changes nothing on the broker and stops nothing: it makes only a directory of links, with
a copy of the configuration without secrets, in $TMPDIR, and removes it at the end. Modification times are kept. Left out: comments, values
of settings that are or may be secret, keystores, credentials, records.

Collect a dead broker before you start it again: a start overwrites its checkpoints within seconds.
END
}

fail() { echo "collect.sh: $*" >&2; exit 2; }
say() { echo "collect.sh: $*" >&2; }

name=$(uname -n) out=. configs='' logs='' datas='' days='' metadata='' topics='' docker='' pod='' space='' container=''
inner='' newline='
'
case ${1-} in
'') help >&2; fail "no option given, so nothing was collected; give at least -n NAME" ;;
--help) help; exit 0 ;;
esac
while getopts hn:o:c:l:d:a:ms:D:K:N:C: option; do
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
    h) help; exit 0 ;;
    *) fail "sh collect.sh --help lists the options" ;;
    esac
    case $option in
    D | K | N | C | n | o) ;;
    m) inner="$inner -m" ;;
    *) case $OPTARG in *[!A-Za-z0-9_./:-]*) [ "$option" = a ] || quoted=no ;; esac
       inner="$inner -$option $OPTARG" ;;
    esac
done
shift $((OPTIND - 1))
[ $# -eq 0 ] || fail "'$1' is not an option; sh collect.sh --help lists the options"
case $name in '' | *[!A-Za-z0-9_.-]* | .*) fail "-n '$name': a name consists of letters, digits, '.', '_' and '-', and does not begin with '.'" ;; esac
case $days in *[!0-9]*) fail "-a '$days': give a number of days, for example -a 7" ;; esac
[ -z "$docker" ] || [ -z "$pod" ] || fail "-D and -K: give either a container or a pod"
[ -n "$pod" ] || [ -z "$space$container" ] || fail "-N and -C belong to a pod; give -K POD too"

# In a container this script runs from standard input; the output of the container is stored next to its bundle.
if [ -n "$docker$pod" ]; then
    [ "${quoted-}" != no ] || fail "paths and topics in a container may only have letters, digits, '_', '.', '/', ':' and '-'"
    [ "$out" != - ] || fail "-o - does not work with -D and -K; give a directory"
    [ -f "$0" ] || fail "-D and -K need the script as a file; save it as collect.sh and run sh collect.sh"
    mkdir -p "$out/$name" || fail "$out: the directory cannot be written to; give another one with -o DIR"
    # shellcheck disable=SC2086 # words without blanks, checked above
    if [ -n "$docker" ]; then
        docker logs --timestamps "$docker" > "$out/$name/stdout.log" 2>&1 || say "the output of container $docker could not be read"
        docker exec -i "$docker" sh -s -- -n "$name" -o - $inner < "$0" > "$out/$name/$name.tar.gz"
    else
        set -- ${space:+-n "$space"}
        in="${container:+-c $container}"
        kubectl logs "$@" "$pod" $in --timestamps > "$out/$name/stdout.log" || say "the output of pod $pod could not be read"
        kubectl logs "$@" "$pod" $in --timestamps --previous > "$out/$name/stdout.previous.log" 2> /dev/null || rm -f "$out/$name/stdout.previous.log"
        kubectl exec -i "$@" "$pod" $in -- sh -s -- -n "$name" -o - $inner < "$0" > "$out/$name/$name.tar.gz"
    fi
    say "the bundle is the directory $out/$name"
    exit 0
fi

stage=$(mktemp -d "${TMPDIR:-/tmp}/collect.XXXXXX") || fail "no directory for temporary files; set TMPDIR to one with some free kilobytes"
trap 'rm -rf "$stage"' EXIT
trap 'exit 130' HUP INT TERM
top=$stage/$name
mkdir "$top"

# Words of the command of the running broker, one a line. /proc hides processes of other users; then only the usual places are searched.
running() {
    for process in /proc/[0-9]*; do
        { tr '\0' '\n' < "$process/cmdline"; } 2> /dev/null | grep -q '^kafka\.Kafka$\|^io\.confluent\.support\.metrics\.SupportedKafka$' || continue
        { tr '\0' '\n' < "$process/cmdline"; } 2> /dev/null
    done
}
words=''
[ -n "$configs" ] && [ -n "$logs" ] || words=$(running || true)

given=$configs
if [ -z "$configs" ]; then
    configs=$(printf '%s\n' "$words" | grep '\.properties$' | grep -v '^-' || true)$newline
    for file in /etc/kafka/*.properties /etc/kafka/kraft/*.properties /opt/kafka/config/server.properties /opt/kafka/config/kraft/*.properties \
        /opt/bitnami/kafka/config/server.properties /tmp/strimzi.properties /mnt/shared/config/*.properties; do
        [ ! -f "$file" ] || configs=$configs$file$newline
    done
fi

# Settings without comments, and without values that are or may be secret, by their name or their content.
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
    ln -s "$from" "$2/${1##*/}" 2> /dev/null || return 0 # already linked
    taken=$((taken + 1))
}

IFS=$newline
set -f
number=0 named=$datas
for config in $configs; do
    [ -f "$config" ] || { say "$config: there is no such configuration file"; continue; }
    [ -n "$given" ] || say "found $config"
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

wanted() { # PARTITION: whether its segments were requested
    [ "$metadata" != yes ] || [ "$1" != __cluster_metadata-0 ] || return 0
    for topic in $topics; do
        case $1 in "$topic"-*[!0-9]*) ;; "$topic"-[0-9]*) return 0 ;; esac
    done
    return 1
}

number=0
for directory in $(printf '%s' "$datas" | awk 'NF && !seen[$0]++'); do
    [ -d "$directory" ] || { say "$directory: there is no such data directory"; continue; }
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
[ $taken -gt 0 ] || fail "found no files; give the log files with -l DIR, the data with -d DIR, the configuration with -c FILE"
date "+collected %Y-%m-%dT%H:%M:%S%z, $taken files" > "$top/collected.txt"

# GNU tar returns 1 if a file changed while it was read; the bundle is complete.
pack() { { tar -C "$stage" -chf - "$name" < /dev/null || [ $? -eq 1 ] || : > "$stage/failed"; } | gzip; }
if [ "$out" = - ]; then
    pack
    [ ! -e "$stage/failed" ] || fail "tar failed: the bundle is incomplete"
else
    mkdir -p "$out" || fail "$out: the directory cannot be written to; give another one with -o DIR"
    (umask 077 && pack > "$out/$name.tar.gz.part")
    [ ! -e "$stage/failed" ] || fail "tar failed: the incomplete bundle is $out/$name.tar.gz.part"
    mv "$out/$name.tar.gz.part" "$out/$name.tar.gz"
    say "$taken files in $out/$name.tar.gz"
fi
[ "$metadata" = yes ] || [ ! -e "$top/data/__cluster_metadata-0" ] || say "the metadata log was left out; -m includes it"
