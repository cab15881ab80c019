#!/bin/sh
# sandbox-agent @VERSION@ for Linux x64 with glibc @GLIBC@ or newer: Python, the daemon, the commands and the inspector in one
# file. The first start unpacks what follows this script into a cache; later ones use it.
set -eu
stop() { echo "sandbox-agent: $1" >&2; exit 1; }

# Whoever could write to a folder could replace the programs in it: it must be ours or root's, and writable for nobody else.
is_safe() {
  set -- $(ls -ldn "$1/." 2>/dev/null)
  case ${1-} in d????w* | d???????w*) return 1 ;; d*) [ "$3" = 0 ] || [ "$3" = "$(id -u)" ] ;; *) return 1 ;; esac
}

# The machine's own words come first: a missing loader is reported as "not found".
explain() {
  system=$(getconf GNU_LIBC_VERSION 2>/dev/null || ldd --version 2>&1 | head -n 1) || system=
  stop "cannot run here: $1
It needs Linux x64 with glibc @GLIBC@ or newer, and a cache on a disk that may hold programs. This machine: $(uname -s -m), ${system:-no glibc}, cache $cache"
}

cache=${SANDBOX_AGENT_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/sandbox-agent}
place=$cache/@VERSION@-@DIGEST@
if [ ! -x "$place/sandbox-agent" ]; then
  umask 077
  mkdir -p "$cache" 2>/dev/null && part=$(mktemp -d "$cache/unpacking.XXXXXX" 2>/dev/null) ||
    stop "cannot write to $cache; SANDBOX_AGENT_CACHE names another folder"
  trap 'rm -rf "$part"' EXIT
  trap 'exit 130' INT TERM
  is_safe "$cache" || stop "others can write to $cache; take that away (chmod go-w), or name another folder in SANDBOX_AGENT_CACHE"
  tail -n +@LINES@ "$0" | tar -xzf - -C "$part" || stop "cannot unpack itself into $cache (needs tail, tar, gzip and @MEGABYTES@ MB)"
  problem=$("$part/sandbox-agent" --version 2>&1 >/dev/null) || explain "$problem"
  # Onto the disk before it gets its name: after a power cut, the place holds everything or does not exist.
  sync -f "$part/sandbox-agent" 2>/dev/null || sync
  # Of several that start at once, one gets the place.
  mv -T "$part" "$place" 2>/dev/null || [ -x "$place/sandbox-agent" ] || stop "cannot write to $place"
  rm -rf "$part"
  trap - EXIT INT TERM
fi
is_safe "$cache" && is_safe "$place" ||
  stop "others can write to $place; remove it and take that away (chmod go-w $cache), or name another folder in SANDBOX_AGENT_CACHE"
exec "$place/sandbox-agent" "$@"
