// The second entry of a function, for launches that satisfy Func.when. Its code is the first one's but for a fixed number of registers, so
// LLVM is asked once and the text of its entry repeated: labels and registers are local to it, and of its own name it uses the
// parameters' alone, `NAME_param_0` and so on.
#include "codegen/cg.h"

#include <ctype.h>
#include <string.h>

static bool is_name_char(char ch) { return isalnum((unsigned char)ch) || ch == '_' || ch == '$' || ch == '%' || ch == '.'; }

// text[n] with FULL_ENTRY behind each mention of the function.
static void put_renamed(Buf *out, const char *text, size_t n, const char *name) {
  size_t length = strlen(name);
  const char *end = text + n, *from = text;
  for (const char *at = text; (at = strstr(at, name)) && at < end; at += length) {
    const char *next = at + length;
    bool mentions = !is_name_char(at[-1]) && (!is_name_char(*next) || !strncmp(next, "_param_", 7));
    if (!mentions) continue;
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

static void add_entry(Cg *c, Buf *out, const char *ptx, const Func *f) {
  static const char occupancy[] = "\n.minnctapersm";
  const char *begin = strstr(ptx, arena_printf(c->arena, "\n.visible .entry %s(", f->name));
  const char *body = begin ? strstr(begin, "\n{") : NULL, *end = body ? strstr(body, "\n}\n") : NULL;
  if (!end) ice(c->ctx, "codegen: no entry of %s in the PTX", f->name);
  const char *code = after_declarations(body + 2);
  const char *attributes = strstr(begin, "\n)"), *hint = strstr(attributes, occupancy);
  put_renamed(out, begin, (size_t)((hint && hint < body ? hint : body) - begin), f->name);
  buf_printf(out, "\n.maxnreg %u", f->registers);
  put_renamed(out, body, (size_t)(code - body), f->name);
  buf_printf(out, "\n\tsetmaxnreg.dec.sync.aligned.u32 \t%u;", f->registers);
  put_renamed(out, code, (size_t)(end + 3 - code), f->name);
}

const char *cg_add_full_entries(Cg *c, const char *ptx) {
  bool any = false;
  Buf out = buf_make(c->arena);
  for (const Func *f = c->module->funcs; f; f = f->next) {
    if (!f->num_when || c->module->maxnreg) continue;
    if (!any) buf_puts(&out, ptx);
    add_entry(c, &out, ptx, f);
    any = true;
  }
  return any ? buf_str(&out) : ptx;
}
