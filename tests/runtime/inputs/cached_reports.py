"""Launches a kernel that writes beyond an array: cached_reports.py FILE (EVENT that must happen | isolate)."""
import array
import sys

import tilec

events, wanted = [], sys.argv[2]
options = {"isolate": True, "cache": False} if wanted == "isolate" else {}
m = tilec.load(sys.argv[1], on_event=lambda kind, kernel, variant, ms: events.append(kind), **options)
try:
    m.k[(1,)](array.array("f", [1]) * 16, array.array("f", [0]) * 10, B=16)
except tilec.Error as error:
    print(error)
assert not options and wanted in events or options, events
