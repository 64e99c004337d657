# lit's configuration: every .tir, .tile, .py and .test file below tests/ with RUN lines. TILE_BUILD names the build folder.
import os
import shutil
import subprocess
import sys

import lit.formats

source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
build = os.path.abspath(os.environ.get("TILE_BUILD", os.path.join(source, "build")))
llvm_tools = next((d for d in (os.environ.get("LLVM_TOOLS", ""), "/usr/lib/llvm-22/bin") if d and os.path.isdir(d)), "")

config.name = "tile"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(build, "lit")
config.suffixes = [".tir", ".tile", ".py", ".test"]
config.excludes = ["wrong_programs", "gluon", "unit", "gpu", "fuzz", "stress", "install", "bench", "conformance", "inputs", "sim", "guide", "dots.tile", "pipelining.tile"]
config.excludes += [f for f in os.listdir(config.test_source_root) if f.endswith(".py")]   # scripts
config.environment["PATH"] = os.pathsep.join(p for p in (build, llvm_tools, os.environ["PATH"]) if p)
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TILE_PTXAS", "TILE_DEVICE"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.substitutions.append(("%tilec", os.path.join(build, "tilec")))
config.substitutions.append(("%source", source))
config.substitutions.append(("%build", build))
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%status", os.path.join(source, "tests", "runtime", "inputs", "status.sh")))
if shutil.which("ptxas") or os.path.exists("/usr/local/cuda/bin/ptxas"):
    config.available_features.add("ptxas")
config.available_features.update(program for program in ("zsh", "fish", "groff") if shutil.which(program))
# A library with a sanitizer inside cannot be loaded by a Python without one.
cache = os.path.join(build, "CMakeCache.txt")
if os.path.exists(os.path.join(build, "libtile.so")) and not (os.path.exists(cache) and "TILE_SANITIZE:BOOL=ON" in open(cache).read()):
    config.available_features.add("libtile")
# A Python with PyTorch may be another than lit's.
torch_python = os.environ.get("TORCH_PYTHON", sys.executable)
config.substitutions.insert(0, ("%torch_python", torch_python))
for feature, module in (("torch", "torch"), ("pytest", "pytest")):
    if not subprocess.run([torch_python, "-c", f"import importlib.util as u, sys; sys.exit(not u.find_spec('{module}'))"],
                          stderr=subprocess.DEVNULL).returncode:
        config.available_features.add(feature)
if shutil.which("localedef") and os.path.exists("/usr/share/i18n/locales/de_DE"):
    config.available_features.add("localedef")
