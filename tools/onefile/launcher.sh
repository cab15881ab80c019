#!/bin/sh
# sandbox-agent @VERSION@ for Linux x64 with glibc @GLIBC@ or newer: Python, the daemon, the commands and the inspector in one
# file. The first start unpacks what follows this script into a cache; later ones use it.
set -eu
stop() { echo "sandbox-agent: $1" >&2; exit 1; }
cache=${SANDBOX_AGENT_CACHE:-${XDG_CACHE_HOME:-${HOME:-}/.cache}/sandbox-agent}
place=$cache/@VERSION@-@DIGEST@
if [ ! -x "$place/sandbox-agent" ]; then
  umask 077
  mkdir -p "$cache" 2>/dev/null && part=$(mktemp -d "$cache/unpacking.XXXXXX" 2>/dev/null) ||
    stop "cannot write to $cache; SANDBOX_AGENT_CACHE names another folder"
  trap 'rm -rf "$part"' EXIT
  trap 'exit 130' INT TERM
  tail -n +@LINES@ "$0" | tar -xzf - -C "$part" || stop "cannot unpack itself into $cache (needs tail, tar, gzip and @MEGABYTES@ MB)"
  # Of several that start at once, one gets the place.
  mv -T "$part" "$place" 2>/dev/null || [ -x "$place/sandbox-agent" ] || stop "cannot write to $place"
  rm -rf "$part"
  trap - EXIT INT TERM
fi
exec "$place/sandbox-agent" "$@"
