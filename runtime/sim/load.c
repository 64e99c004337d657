// Loads PTX text into a PtxModule: runs lexer and parser, then lays out shared memory. After ptx_module_load either
// module->error is set or every symbol, branch target and initialiser is resolved.
#include "runtime/sim/numbers.h"
#include "runtime/sim/parse.h"

#include "ptx_grammar.h"

int ptxlex_init_extra(PtxParser *p, void **scanner);
int ptxlex_destroy(void *scanner);
struct yy_buffer_state *ptx_scan_bytes(const char *bytes, int len, void *scanner);

// Gives each shared variable that an entry or its callees use an offset in the entry's static shared memory.
static void lay_out_shared(PtxParser *p, PtxFunction *entry) {
  PtxModule *m = p->m;
  uint32_t n = m->shared_syms.count, num_funcs = m->funcs.count;
  uint8_t *used = arena_array(p->arena, uint8_t, n + 1);
  PtxFunction **stack = arena_array(p->arena, PtxFunction *, num_funcs + 1);
  uint32_t depth = 0;
  for (uint32_t i = 0; i < num_funcs; i++) m->funcs.data[i]->mark = false;
  entry->mark = true;
  stack[depth++] = entry;
  while (depth) {
    PtxFunction *f = stack[--depth];
    for (uint32_t i = 0; i < f->shared_used.count; i++) used[f->shared_used.data[i]] = 1;
    for (uint32_t i = 0; i < f->callees.count; i++) {
      PtxFunction *g = f->callees.data[i];
      if (!g->mark) g->mark = true, stack[depth++] = g;
    }
  }
  entry->shared_offset = arena_array(p->arena, uint32_t, n + 1);
  uint64_t top = 0;
  uint32_t dynamic_align = 16;
  for (uint32_t i = 0; i < n; i++) {
    const Symbol *s = m->shared_syms.data[i];
    if (!used[i] || !s->size) continue;
    top = align_up(top, s->align);
    entry->shared_offset[i] = (uint32_t)top;
    top += s->size;
    if (top > 1 << 24) break;   // more than any launch gets
  }
  if (top > 1 << 30) top = 1 << 30;
  for (uint32_t i = 0; i < n; i++)
    if (used[i] && !m->shared_syms.data[i]->size && m->shared_syms.data[i]->align > dynamic_align)
      dynamic_align = m->shared_syms.data[i]->align;
  for (uint32_t i = 0; i < n; i++)
    if (!m->shared_syms.data[i]->size) entry->shared_offset[i] = (uint32_t)align_up(top, dynamic_align);
  entry->static_shared = (uint32_t)top;
  entry->dynamic_align = dynamic_align;
}

PtxFunction *ptx_module_find(const PtxModule *m, const char *name) {
  for (uint32_t i = 0; i < m->funcs.count; i++)
    if (!strcmp(m->funcs.data[i]->name, name)) return m->funcs.data[i];
  return NULL;
}
static void index_lines(PtxModule *m) {
  uint32_t n = 1;
  for (size_t i = 0; i < m->text_size; i++) n += m->text[i] == '\n';
  uint32_t *starts = arena_array(&m->arena, uint32_t, n), k = 0;
  starts[k++] = 0;
  for (size_t i = 0; i < m->text_size; i++)
    if (m->text[i] == '\n') starts[k++] = (uint32_t)i + 1;
  m->line_starts = starts;
  m->num_lines = n;
}

static void number_accesses(PtxModule *m) {
  for (uint32_t i = 0; i < m->num_code; i++) {
    Instr *in = &m->code[i];
    in->numbers = numbers_kind(in);
    if (in->op == OP_ld || in->op == OP_st || in->op == OP_atom || in->op == OP_red || in->op == OP_cp)
      in->access = ++m->num_accesses;
  }
}

PtxModule *ptx_module_load(Device *d, const char *text, size_t size) {
  Arena arena;
  arena_init(&arena);
  PtxModule *m = arena_new(&arena, PtxModule);
  m->arena = arena;
  m->device = d;
  PtxParser *p = arena_new(&m->arena, PtxParser);
  p->m = m;
  p->arena = &m->arena;
  p->line = 1;
  m->text = arena_strndup(&m->arena, text, size);
  m->text_size = size;
  index_lines(m);
  ptx_open_scope(p);
  p->global_scope = p->scope;
  ptx_init_tables(p);
  if (size > INT32_MAX / 2) ptx_error(p, 1, "the text is too large");
  void *scanner = NULL;
  if (!p->failed && !ptxlex_init_extra(p, &scanner)) {
    ptx_scan_bytes(m->text, (int)size, scanner);
    int rc = ptxparse(scanner, p);
    if (rc && !p->failed) ptx_error(p, p->line, rc == 2 ? "nested too deeply" : "syntax error");
    ptxlex_destroy(scanner);
  }
  if (!p->failed && !m->version) ptx_error(p, 1, "no .version directive");
  if (!p->failed && !m->sm) ptx_error(p, 1, "no .target directive");
  m->code = p->code.data;
  m->num_code = p->code.count;
  number_accesses(m);
  for (uint32_t i = 0; i < m->funcs.count && !p->failed; i++)
    if (m->funcs.data[i]->is_entry) lay_out_shared(p, m->funcs.data[i]);
  return m;
}

void ptx_module_free(PtxModule *m) {
  for (uint32_t i = 0; i < m->globals.count; i++)
    if (m->globals.data[i]->addr) device_free(m->device, m->globals.data[i]->addr);
  Arena a = m->arena;
  arena_free(&a);
}
