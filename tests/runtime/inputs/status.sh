#!/bin/sh
# status.sh N COMMAND…: runs the command, standard error joined to standard output; succeeds if it exits with N.
want=$1; shift
"$@" 2>&1
got=$?
[ $got = "$want" ] || { echo "exit status $got, expected $want"; exit 1; }
