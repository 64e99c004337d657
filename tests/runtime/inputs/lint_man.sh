#!/usr/bin/env bash
# Says what groff has against tilec's man pages, and which section one lacks: lint_man.sh TILEC FILE
for command in "" run tune pack cache; do
  # shellcheck disable=SC2086
  "$1" $command --print-options=man >"$2"
  groff -man -ww -z -Tutf8 -rLL=200n "$2" 2>&1
  for section in NAME SYNOPSIS DESCRIPTION "EXIT STATUS" ENVIRONMENT FILES EXAMPLES "SEE ALSO"; do
    grep -q "^.SH $section" "$2" || echo "tilec $command: no $section"
  done
done
echo "the man pages are done"
