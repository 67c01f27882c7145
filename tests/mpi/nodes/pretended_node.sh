#!/bin/bash
# Starts a rank as if it were on another node: pretended_node.sh RANKS_PER_NODE COMMAND...
# It has a boot id and a host name of its node's; all else is the machine's. Needs root.
rank=${PMI_RANK:-${OMPI_COMM_WORLD_RANK:?no launcher has numbered this process}}
node=$((rank / $1))
shift
export PRETENDED_NODE=$node
exec unshare -u -m -- bash -c '
  set -e
  hostname "n$PRETENDED_NODE"
  file=$(mktemp)
  printf "00000000-0000-4000-8000-%012d\n" "$PRETENDED_NODE" >"$file"
  mount --bind "$file" /proc/sys/kernel/random/boot_id
  rm "$file"
  exec "$@"' pretended "$@"
