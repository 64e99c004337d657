"""Reads what --diagnostics-format writes: read_diagnostics.py TILEC FOLDER."""
import json
import os
import subprocess
import sys
import tempfile

TILEC, FOLDER = sys.argv[1:]
SOURCE = os.path.join(FOLDER, "diagnosed.py")
TEXT = open(SOURCE, encoding="utf-8").read()
FIELDS = ["level", "file", "line", "column", "end_line", "end_column", "name", "text", "fixits", "notes"]


def run(status, *arguments, form="json", stdin=None):
    """The document, which is all that is on standard error."""
    made = subprocess.run([TILEC, *arguments, f"--diagnostics-format={form}"], capture_output=True, input=stdin)
    assert made.returncode == status, (arguments, made.returncode, made.stderr)
    return json.loads(made.stderr)


def place(d):
    return d["line"], d["column"], d["end_line"], d["end_column"]


def apply(text, fixits):
    """The source with the changes; columns count bytes."""
    lines = [line.encode() for line in text.splitlines()]
    for f in sorted(fixits, key=lambda f: -f["column"]):
        assert f["line"] == f["end_line"] and f["file"] == SOURCE
        line = lines[f["line"] - 1]
        lines[f["line"] - 1] = line[:f["column"] - 1] + f["text"].encode() + line[f["end_column"] - 1:]
    return [line.decode() for line in lines]


def check_object(d, is_note=False):
    assert list(d) == FIELDS, list(d)
    assert (d["level"] == "note") if is_note else d["level"] in ("error", "warning", "remark", "note")
    assert is_note is False or not d["notes"]
    for note in d["notes"]:
        check_object(note, True)


# Warnings and errors in the order of the source, notes inside.
doc = run(0, SOURCE, "-n", "earlier", "-o", os.devnull)
assert doc["tile_diagnostics"] == 1 and doc["exit_status"] == 0 and doc["compiler"].startswith("tilec ")
found = doc["diagnostics"]
for d in found:
    check_object(d)
assert [d["name"] for d in found] == [None, "unused-value", "is-literal", "store-conflict", "unused-variable"]
assert [d["level"] for d in found] == ["note"] + 4 * ["warning"] and found[0]["text"] == "told"
assert found[1]["text"] == "this names a function and does not call it"
assert place(found[1]) == (15, 11, 15, 27) and place(found[2]) == (16, 8, 16, 15)
assert [note["text"] for note in found[2]["notes"]] == ["write `==`"]
assert found[2]["notes"][0]["file"] is None and place(found[2]["notes"][0]) == (0, 0, 0, 0)
assert apply(TEXT, found[1]["fixits"])[14] == '    "é"; tl.debug_barrier()'
assert apply(TEXT, found[2]["fixits"])[15] == "    if N == 16:"
assert doc == run(0, SOURCE, "-n", "earlier", "-o", os.devnull)

# -Werror: the level says it, the name stays.
raised = run(1, SOURCE, "-n", "earlier", "-Werror=is-literal")["diagnostics"]
assert [(d["level"], d["name"]) for d in raised if d["level"] == "error"] == [("error", "is-literal")]

# Errors, with the nearest names as replacements.
errors = run(1, SOURCE, "-n", "later")["diagnostics"]
assert [d["level"] for d in errors] == ["error", "error"] and all(d["name"] is None for d in errors)
assert apply(TEXT, errors[0]["fixits"])[7].endswith('"é日"; v = tl.load(x + offsets, mask=n > 0)')
assert apply(TEXT, errors[1]["fixits"])[8] == "    tl.store(x, 1.0, mask=None)"

# What is about no place: usage, files, runs, what tilec tells by the way.
for status, arguments, text in [(2, ["--nonsense", SOURCE], "there is no option --nonsense; --help lists them"),
                                (2, ["-Wnonsense", SOURCE], "-Wnonsense: there is no such warning; --help lists them"),
                                (2, ["--print-options=x"], "--print-options takes man, json, bash, zsh or fish, not 'x'"),
                                (3, [SOURCE + ".missing"], None),
                                (2, ["run", SOURCE, "-k", "earlier", "--grid", "1"], None)]:
    last = run(status, *arguments)["diagnostics"][-1]
    check_object(last)
    assert last["level"] == "error" and last["file"] is None and (text is None or last["text"] == text), last
ran = run(0, "run", SOURCE, "-k", "earlier", "--grid", "2", "--arg", "x=fp32[1]=ones", "--device=interp")
assert [d["name"] for d in ran["diagnostics"]] == [d["name"] for d in found]
with tempfile.TemporaryDirectory() as folder:
    # A package is compiled for each architecture; its warnings are told once.
    header = os.path.join(folder, "k.h")
    packed = run(0, "pack", SOURCE, "-s", "earlier(*fp32, 16)", "--arch=sm_80,sm_90a", "-o", header)
    assert [d["name"] for d in packed["diagnostics"] if d["name"]] == [d["name"] for d in found[1:]]
    lines = os.path.join(folder, "lines")
    with open(lines, "w") as f:
        f.write(2 * f"{SOURCE} -k later --grid 1 --arg x=fp32[1]=ones --arg n=1\n")
    twice = run(1, "run", f"--commands={lines}", "--device=interp")
    assert twice["exit_status"] == 1 and len(twice["diagnostics"]) == 4

# A report has the same objects; there each note stands once more after its message.
report = subprocess.run([TILEC, SOURCE, "-n", "earlier", "--report=json"], capture_output=True)
reported = json.loads(report.stdout)["diagnostics"]
assert [d for d in reported if d["level"] == "warning"] == [d for d in found if d["level"] == "warning"]
assert [d for d in reported if d["level"] == "note"][1:] == [note for d in found for note in d["notes"]]


# ---- SARIF ----
def region(r):
    assert all(isinstance(n, int) and n > 0 for n in r.values())
    return r["startLine"], r["startColumn"], r["endLine"], r["endColumn"]


def check_sarif(log, status):
    """What the schema of SARIF 2.1.0 requires of the objects that tilec writes."""
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json") and len(log["runs"]) == 1
    run = log["runs"][0]
    driver, invocation = run["tool"]["driver"], run["invocations"][0]
    assert driver["name"] == "tilec" and driver["version"] and run["columnKind"] == "unicodeCodePoints"
    assert invocation == {"executionSuccessful": status == 0, "exitCode": status}
    ids = [rule["id"] for rule in driver["rules"]]
    assert len(set(ids)) == len(ids) and "store-conflict" in ids
    for result in run["results"]:
        assert result["message"]["text"] and result["level"] in ("none", "note", "warning", "error")
        assert ("ruleId" in result) == ("ruleIndex" in result)
        assert "ruleId" not in result or ids[result["ruleIndex"]] == result["ruleId"]
        for location in result["locations"]:
            assert location["physicalLocation"]["artifactLocation"]["uri"]
            region(location["physicalLocation"]["region"])
        for location in result.get("relatedLocations", []):
            assert location["message"]["text"] and location["id"] > 0
        for fix in result.get("fixes", []):
            for change in fix["artifactChanges"]:
                assert change["artifactLocation"]["uri"] and change["replacements"]
                for replacement in change["replacements"]:
                    region(replacement["deletedRegion"])
                    assert isinstance(replacement["insertedContent"]["text"], str)
    return run["results"]


results = check_sarif(run(1, SOURCE, "-n", "later", form="sarif"), 1)
where = results[0]["locations"][0]["physicalLocation"]
assert where["artifactLocation"]["uri"] == "file://" + SOURCE
# Its columns count characters.
begin = TEXT.splitlines()[7].index("ofsets") + 1
assert region(where["region"]) == (8, begin, 8, begin + len("ofsets"))
replacement = results[0]["fixes"][0]["artifactChanges"][0]["replacements"][0]
assert region(replacement["deletedRegion"]) == (8, begin, 8, begin + len("ofsets"))
assert replacement["insertedContent"]["text"] == "offsets"
results = check_sarif(run(0, SOURCE, "-n", "earlier", "-o", os.devnull, form="sarif"), 0)
assert [r.get("ruleId") for r in results] == [d["name"] for d in found]
assert check_sarif(run(2, "--nonsense", form="sarif"), 2)[0]["locations"] == []
# Standard input has no file to read lines from, and a name that a URI cannot hold.
results = check_sarif(run(1, "-", "-n", "later", "--stdin-name=é b.py", form="sarif", stdin=TEXT.encode()), 1)
where = results[0]["locations"][0]["physicalLocation"]
assert where["artifactLocation"]["uri"] == "%C3%A9%20b.py" and region(where["region"])[1] == begin
print("diagnostics: ok")
