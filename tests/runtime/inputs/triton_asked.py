"""Asks Triton's modules for names that they do not have, and searches no near ones for it."""
import difflib

import triton
import triton.language as tl

difflib.get_close_matches = None   # a search would call it
print("asked:", hasattr(triton, "Confg"), hasattr(tl, "float33"), getattr(triton.testing, "do_bnch", "none"))
