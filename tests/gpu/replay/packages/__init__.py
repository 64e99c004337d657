"""The workloads: one module a package, each with cases(), which yields (name, function) pairs."""
