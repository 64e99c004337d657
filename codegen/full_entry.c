// The second entry of a function (Func.full). Its code is the first one's but for a fixed number of registers and for pauses, so LLVM is
// asked once and the text of its entry repeated: labels and registers are local to it, and of its own name it uses the parameters'
// alone, `NAME_param_0` and so on.
#include "codegen/cg.h"

#include <ctype.h>
#include <string.h>

static bool is_name_char(char ch) { return isalnum((unsigned char)ch) || ch == '_' || ch == '$' || ch == '%' || ch == '.'; }

// text[n] with FULL_ENTRY behind the function's name in those of its parameters. The name alone may be an instruction's: `ret`.
static void put_renamed(Buf *out, const char *text, size_t n, const char *name) {
  size_t length = strlen(name);
  const char *end = text + n, *from = text;
  for (const char *at = text; (at = strstr(at, name)) && at < end; at += length) {
    const char *next = at + length;
    if (is_name_char(at[-1]) || strncmp(next, "_param_", 7)) continue;
    buf_write(out, from, (size_t)(next - from));
    buf_puts(out, FULL_ENTRY);
    from = next;
  }
  buf_write(out, from, (size_t)(end - from));
}

// The end of the line before the first one that declares nothing.
static const char *after_declarations(const char *line_end) {
  while (!strncmp(line_end, "\n\t.reg", 6) || !strncmp(line_end, "\n\t.local", 8)) line_end = strchr(line_end + 1, '\n');
  return line_end;
}

// The comments that INSN_PAUSE leaves as instructions.
static void put_with_pauses(Buf *out, const char *text) {
  static const char comment[] = "// pause ";
  for (const char *at; (at = strstr(text, comment)); ) {
    const char *ns = at + strlen(comment);
    buf_write(out, text, (size_t)(at - text));
    text = ns + strspn(ns, "0123456789");
    buf_printf(out, "nanosleep.u32 \t%.*s;", (int)(text - ns), ns);
  }
  buf_puts(out, text);
}

static void add_entry(Cg *c, Buf *out, const char *ptx, const Func *f) {
  static const char occupancy[] = "\n.minnctapersm";
  const char *head = arena_printf(c->arena, "\n.visible .entry %s", f->name);
  const char *begin = strstr(ptx, arena_printf(c->arena, "%s(", head));
  const char *body = begin ? strstr(begin, "\n{") : NULL, *end = body ? strstr(body, "\n}\n") : NULL;
  if (!end) ice(c->ctx, "codegen: no entry of %s in the PTX", f->name);
  const char *code = after_declarations(body + 2);
  const char *attributes = strstr(begin, "\n)"), *hint = strstr(attributes, occupancy);
  uint32_t registers = f->full.registers;
  Buf entry = buf_make(c->arena);
  buf_printf(&entry, "%s" FULL_ENTRY, head);
  begin += strlen(head);
  put_renamed(&entry, begin, (size_t)((registers && hint && hint < body ? hint : body) - begin), f->name);
  if (registers) buf_printf(&entry, "\n.maxnreg %u", registers);
  put_renamed(&entry, body, (size_t)(code - body), f->name);
  if (registers) buf_printf(&entry, "\n\tsetmaxnreg.dec.sync.aligned.u32 \t%u;", registers);
  put_renamed(&entry, code, (size_t)(end + 3 - code), f->name);
  put_with_pauses(out, buf_str(&entry));
}

const char *cg_add_full_entries(Cg *c, const char *ptx) {
  bool any = false;
  Buf out = buf_make(c->arena);
  for (const Func *f = c->module->funcs; f; f = f->next) {
    if (!f->full.blocks || c->module->maxnreg) continue;
    if (!any) buf_puts(&out, ptx);
    add_entry(c, &out, ptx, f);
    any = true;
  }
  return any ? buf_str(&out) : ptx;
}
