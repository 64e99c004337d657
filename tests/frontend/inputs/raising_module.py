# A condition that the file checks itself.
raise RuntimeError("needs a newer library")
