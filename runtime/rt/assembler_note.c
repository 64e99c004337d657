// What an assembler tells of PTX that it takes, but does not run as it is written. ptxas, nvJitLink and the driver
// write the same lines: "ptxas info    : (C7507) Potential Performance Loss: 'setmaxnreg' ignored to …".
#include <ctype.h>
#include <stdio.h>
#include <sys/stat.h>

#include "runtime/rt/device.h"

const AssemblerNoteInfo assembler_note_info[NUM_ASSEMBLER_NOTES] = {
    [NOTE_REGISTERS] = {"'setmaxnreg' ignored", "\tsetmaxnreg.",
                        "the assembler ignores the registers that partitions ask for",
                        "all partitions have the registers of the neediest: ask for more in worker_num_regs, give a "
                        "partition more warps, or take smaller tiles"},
    [NOTE_SERIAL] = {"wgmma.mma_async instructions are serialized", "\twgmma.mma_async.",
                     "the assembler makes each product wait for the one before",
                     "do not touch operands and accumulators of products in flight; if registers are short, take "
                     "smaller tiles or more warps"},
    [NOTE_WAIT] = {"warpgroup.wait is injected", "\twgmma.mma_async.",
                   "the assembler adds a wait for products in flight, because their accumulators are used before one",
                   "wait for products before their accumulators change places, or carry each accumulator in one "
                   "variable"}};

// Where `what` begins in the text before `end`, or NULL.
static const char *find(const char *text, const char *end, const char *what) {
  const char *at = strstr(text, what);
  return at && at < end ? at : NULL;
}

static AssemblerNoteKind kind_of(const char *line, const char *end) {
  uint32_t k = 0;
  while (k < NUM_ASSEMBLER_NOTES && !find(line, end, assembler_note_info[k].said)) k++;
  return k;
}

// The name in "… function 'NAME'", and in *size its length; none: empty.
static const char *function_of(const char *line, const char *end, int *size) {
  static const char before[] = "function '";
  const char *at = find(line, end, before), *name = at ? at + sizeof before - 1 : line;
  const char *after = at ? find(name, end, "'") : NULL;
  *size = after ? (int)(after - name) : 0;
  return name;
}

bool assembler_note_next(const char **log, AssemblerNote *out) {
  for (const char *line = *log; *line; line = *log) {
    const char *end = line + strcspn(line, "\n");
    *log = end + (*end == '\n');
    const AssemblerNoteKind kind = kind_of(line, end);
    if (kind == NUM_ASSEMBLER_NOTES) continue;
    const char *code = find(line, end, "(C");
    *out = (AssemblerNote){.kind = kind, .words = code ? code : line};
    while (end > out->words && isspace((unsigned char)end[-1])) end--;
    out->words_size = (int)(end - out->words);
    out->function = function_of(line, end, &out->function_size);
    return true;
  }
  return false;
}

// ---- refusals ----
// The number after `before`; 0: there is none.
static uint32_t number_after(const char *text, const char *before) {
  const char *at = strstr(text, before);
  return at ? (uint32_t)strtoul(at + strlen(before), NULL, 10) : 0;
}

// "… (C7602) Insufficient registers (24) to compile instruction at line 360 in function NAME. Try to compile with
// register target of 90 or higher."
bool assembler_lacks_registers(const char *ptx, const char *log, tile_error **error) {
  const uint32_t most = number_after(log, "Insufficient registers ("), least = number_after(log, "register target of ");
  if (!most || least <= most) return false;
  static const char before[] = "in function ";
  const char *name = strstr(log, before);
  const int size = name ? (int)strcspn(name + sizeof before - 1, ". \n") : 0;
  char entry[256];
  snprintf(entry, sizeof entry, ".entry %.*s(", size, size ? name + sizeof before - 1 : "");
  const char *from = strstr(ptx, entry);
  uint32_t threads = from ? number_after(from, ".reqntid ") : 0;
  if (!threads) threads = 1;
  error_set(error, TILE_ERROR_RESOURCES,
            "kernel `%.*s` needs at least %u registers for each thread, and may have %u: raise maxnreg, take smaller "
            "tiles or more warps\n%s",
            size, size ? name + sizeof before - 1 : "", least, most, log);
  error_resource(error, TILE_RESOURCE_REGISTERS, (uint64_t)least * threads, (uint64_t)most * threads);
  return true;
}

// ---- places ----

// What `.file NUMBER "PATH"` names; *size 0: nothing.
static const char *file_of(const char *ptx, unsigned long number, int *size) {
  static const char directive[] = "\n\t.file\t";
  *size = 0;
  for (const char *at = ptx; (at = strstr(at, directive));) {
    char *after;
    const unsigned long n = strtoul(at += sizeof directive - 1, &after, 10);
    const char *path = n == number ? strchr(after, '"') : NULL;
    if (!path) continue;
    *size = (int)strcspn(path + 1, "\"\n");
    return path + 1;
  }
  return ptx;
}

// The last `.loc` between two places of the PTX: its file's number, line and column.
static bool last_loc(const char *from, const char *to, unsigned long out[3]) {
  static const char directive[] = "\n\t.loc\t";
  bool found = false;
  for (const char *at = from; (at = find(at, to, directive));) {
    char *after = (char *)(uintptr_t)(at += sizeof directive - 1);
    for (uint32_t i = 0; i < 3; i++) out[i] = strtoul(after, &after, 10);
    found = true;
  }
  return found;
}

// The PTX's line of that number, from 1; NULL: there is none.
static const char *line_of(const char *ptx, uint32_t number) {
  for (; number > 1 && ptx; number--) ptx = (ptx = strchr(ptx, '\n')) ? ptx + 1 : NULL;
  return number ? ptx : NULL;
}

static bool is_inline_asm(const char *ptx, const char *at) {
  bool inside = false;
  for (const char *mark = ptx; (mark = find(mark, at, " inline asm\n")); mark++)
    inside = mark - ptx > 5 && !strncmp(mark - 5, "begin", 5);
  return inside;
}

// Writes the line of a source file and a caret below it. False if it cannot be read, or has no inline assembly there:
// products and copies are such assembly in the PTX, too.
static bool put_source(char *to, size_t room, const char *path, unsigned long number, unsigned long column) {
  enum { LONGEST_LINE = 512 };
  char line[LONGEST_LINE];
  struct stat s;
  bool found = false;
  FILE *f = stat(path, &s) == 0 && S_ISREG(s.st_mode) ? fopen(path, "r") : NULL;
  while (f && fgets(line, sizeof line, f)) {
    if (!strchr(line, '\n')) break;
    if (--number) continue;
    found = column && column <= strlen(line) && strstr(line + column - 1, "inline_asm");
    snprintf(to, room, "\n  %.*s\n  %*s\n", (int)strcspn(line, "\r\n"), line, (int)column, "^");
    break;
  }
  if (f) fclose(f);
  return found;
}

// What to do about an error in inline assembly: ptxas says "Arguments mismatch", "Duplicate definition of variable 'x'",
// the simulator "x is already declared".
static void put_way_out(char *to, size_t room, const char *words, const char *end, const char *target) {
  const bool is_percent = find(words, end, "%0") || find(words, end, "%1") || find(words, end, "%2");
  if (is_percent)
    snprintf(to, room, "operands are written $0, $1, …: results first, then arguments");
  else if (find(words, end, "already declared") || find(words, end, "uplicate definition"))
    snprintf(to, room, "the text stands there once for each element: put braces around it, { .reg .f32 t; … }, so that "
             "each has its own registers");
  else
    snprintf(to, room, "does %s have the instruction, and the PTX version? --arch and --ptx-version choose others",
             target);
}

// "ptxas FILE, line 82; error   : WORDS", or "ptx:82: error: WORDS"
bool assembler_refuses_asm(const char *ptx, const char *log, const char *target, tile_error **error) {
  enum { ROOM = 4096 };
  const char *place = strstr(log, ", line ");
  if (!place && !strncmp(log, "ptx:", 4)) place = log;
  const uint32_t number = !place ? 0 : place == log ? number_after(log, "ptx:") : number_after(place, ", line ");
  const char *at = line_of(ptx, number), *words = place ? strstr(place, "error") : NULL;
  unsigned long loc[3];
  int size;
  if (!at || !words || !is_inline_asm(ptx, at) || !last_loc(ptx, at, loc)) return false;
  words += sizeof "error" - 1;
  words += strspn(words, " :");
  const char *path = file_of(ptx, loc[0], &size);
  char name[ROOM], source[ROOM] = "\n", lead[3 * ROOM];
  snprintf(name, sizeof name, "%.*s", size, path);
  if (!put_source(source, sizeof source, name, loc[1], loc[2])) return false;
  char way[256];
  const int length = (int)strcspn(words, "\n");
  put_way_out(way, sizeof way, words, words + length, target);
  snprintf(lead, sizeof lead,
           "%s:%lu:%lu: error: the assembler does not take this inline assembly for %s: %.*s%snote: %s", name, loc[1],
           loc[2], target, length, words, source, way);
  error_set(error, TILE_ERROR_ASSEMBLER, "%s\n%s", lead, log);
  return true;
}

// Writes "PATH:LINE:COLUMN: " of the function's first instruction that the note is about, by the PTX's line
// information.
static void put_place(char *to, size_t room, const AssemblerNote *note, const char *ptx) {
  char entry[256];
  snprintf(entry, sizeof entry, ".entry %.*s(", note->function_size, note->function);
  const char *from = note->function_size ? strstr(ptx, entry) : ptx;
  const char *at = from ? strstr(from, assembler_note_info[note->kind].instruction) : NULL;
  unsigned long loc[3];
  int size;
  if (!at || !last_loc(from, at, loc)) return;
  const char *path = file_of(ptx, loc[0], &size);
  if (size) snprintf(to, room, "%.*s:%lu:%lu: ", size, path, loc[1], loc[2]);
}

void assembler_notes_log(const tile_hooks *hooks, const char *kernel, const char *ptx, const char *log) {
  enum { ROOM = 4096 };
  AssemblerNote note;
  if (!hooks || !hooks->log) return;
  while (assembler_note_next(&log, &note)) {
    char place[ROOM] = "", text[2 * ROOM];
    const AssemblerNoteInfo *i = &assembler_note_info[note.kind];
    put_place(place, sizeof place, &note, ptx);
    snprintf(text, sizeof text, "%s%s: %s: %.*s\nnote: %s", place, kernel, i->text, note.words_size, note.words,
             i->way_out);
    hooks->log(hooks->user, TILE_LEVEL_WARNING, text);
  }
}
