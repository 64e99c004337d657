#!/bin/sh
# An assembler that takes anything, but for --refuse: ptxas -arch=SM IN -o OUT [OPTION...]
case "$*" in
*--refuse*) echo "a line of it is wrong"; exit 3 ;;
*-o*) echo "machine code" >"$4" ;;
esac
