#!/bin/sh
# An assembler that takes anything, but for --refuse: ptxas -arch=SM IN -o OUT [OPTION...]
case "$*" in
*--starve*) echo "ptxas fatal   : (C7602) Insufficient registers (24) to compile instruction at line 9 in function add. Try to compile with register target of 90 or higher."; exit 255 ;;
*--refuse*) echo "a line of it is wrong"; exit 3 ;;
*-o*) echo "machine code" >"$4" ;;
esac
