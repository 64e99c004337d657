// The functions that the system provides: kernels call vprintf, __assertfail, malloc and free by name.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/num.h"
#include "runtime/sim/exec.h"

static const uint8_t *frame_bytes(Warp *w, const Instr *in, int lane, const PtxOperand *arg, uint32_t size) {
  if (arg->kind == OPND_SYM && arg->sym->space == SPACE_FRAME && arg->sym->size >= size)
    return warp_local(w, in, lane, w->lane_local[lane] + arg->sym->addr, size);
  return NULL;
}
static bool argument(Warp *w, const Instr *in, int lane, uint32_t i, uint32_t size, uint64_t *out) {
  *out = 0;
  if (i >= in->ops[2].count) return false;
  const PtxOperand *arg = &in->ops[2].sub[i];
  if (arg->kind == OPND_REG || arg->kind == OPND_IMM) {
    *out = src_row(w, arg)[lane];
    return true;
  }
  const uint8_t *p = frame_bytes(w, in, lane, arg, size);
  if (p) memcpy(out, p, size);
  return p != NULL;
}
static void give_result(Warp *w, const Instr *in, int lane, uint64_t v, uint32_t size) {
  if (!in->ops[0].count) return;
  const PtxOperand *res = &in->ops[0].sub[0];
  if (res->kind == OPND_REG) {
    dst_row(w, res)[lane] = v & width_mask(size * 8);
    set_undef(w, res, (uint32_t)lane, 0);
    return;
  }
  uint8_t *p = (uint8_t *)(uintptr_t)frame_bytes(w, in, lane, res, size);
  if (p) memcpy(p, &v, size);
  if (p && w->undef) memset(w->local_undef[lane] + (p - w->local[lane]), 0, size);
}

static void lead_assertion(Warp *w, const Instr *in, const char *message) {
  PlaceNote place;
  if (!report_note(w->grid, in, &place)) return;
  Arena scratch;
  arena_init(&scratch);
  const char *name = report_program_of(&scratch, w->cta);
  report_lead(w->grid, &place, arena_printf(&scratch, "assertion failed in %s: %s", name, message),
              place.asserts_all ? "it looks at all elements, also at those that the mask of a load leaves out: to leave "
                                  "them out here too, pass mask=… to device_assert"
                                : NULL);
  arena_free(&scratch);
}

// Reads n bytes at a generic address; false when out of bounds.
static bool read_generic(Warp *w, const Instr *in, int lane, uint64_t addr, void *out, uint32_t n) {
  MemAccess a;
  if (mem_resolve_one(w, in, lane, SPACE_GENERIC, addr, n, 1, ACCESS_READ, &a) != EXEC_NEXT) return false;
  memcpy(out, a.host[lane], n);
  return true;
}
static bool read_string(Warp *w, const Instr *in, int lane, uint64_t addr, char *out, uint32_t max) {
  for (uint32_t i = 0; i + 1 < max; i++) {
    if (!read_generic(w, in, lane, addr + i, &out[i], 1)) return false;
    if (!out[i]) return true;
  }
  out[max - 1] = 0;
  return true;
}

static void emit(Grid *g, const char *text, size_t n) {
  if (g->sim->print) g->sim->print(g->sim->print_user, text, n);
  else fwrite(text, 1, n, stdout);
}

// One conversion of a format: its text without length modifiers, the values of its stars, and what it converts.
typedef struct { char text[124], letter; int stars[2], num_stars; bool wide; } Conversion;

// Reads the conversion at *at, which begins with %, and moves *at past it. False when it is none that is known here.
static bool read_conversion(const char **at, Conversion *c) {
  const char *start = *at, *s = start + 1;
  size_t n = 0;
  *c = (Conversion){.text = "%"};
  for (n = 1; *s && strchr("-+ #0123456789.*hlzjt", *s); s++) {
    if (strchr("lzjt", *s)) c->wide = true;
    if (*s == '*') c->num_stars++;
    if (!strchr("hlzjt", *s) && n < sizeof c->text - 4)
      c->text[n++] = *s;   // the host's length modifiers are put in later
  }
  c->letter = *s ? *s++ : 0;
  *at = s;
  return c->letter && s - start < 124 && c->num_stars <= 2 && strchr("diouxXcpeEfFgGaAs", c->letter);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#define PRINT(suffix, value)                                                               \
  do {                                                                                     \
    char spec[128];                                                                        \
    snprintf(spec, sizeof spec, "%s%s%c", c->text, suffix, c->letter);                     \
    if (c->num_stars == 2) fprintf(f, spec, c->stars[0], c->stars[1], value);              \
    else if (c->num_stars == 1) fprintf(f, spec, c->stars[0], value);                      \
    else fprintf(f, spec, value);                                                          \
  } while (0)
// Prints the argument at *args and moves *args past it. False when memory of the kernel cannot be read.
static bool print_argument(FILE *f, Warp *w, const Instr *in, int lane, Conversion *c, uint64_t *args) {
  for (int i = 0; i < c->num_stars; i++) {
    *args = (*args + 3) & ~UINT64_C(3);
    if (!read_generic(w, in, lane, *args, &c->stars[i], 4)) return false;
    *args += 4;
  }
  bool is_float = strchr("eEfFgGaA", c->letter), is_pointer = c->letter == 'p' || c->letter == 's';
  uint32_t bytes = is_float || is_pointer || c->wide ? 8 : 4;
  uint64_t v = 0;
  *args = (*args + bytes - 1) & ~(uint64_t)(bytes - 1);
  if (!read_generic(w, in, lane, *args, &v, bytes)) return false;
  *args += bytes;
  if (c->letter == 's') {
    char piece[1100];
    if (!read_string(w, in, lane, v, piece, sizeof piece)) return false;
    PRINT("", piece);
  } else if (c->letter == 'p') {
    fprintf(f, "0x%llx", (unsigned long long)v);
  } else if (is_float) {
    PRINT("", num_f64_bits(v));
  } else if (c->wide) {
    PRINT("ll", (long long)v);
  } else {
    PRINT("", (int)v);
  }
  return true;
}
#pragma GCC diagnostic pop

// printf of the device: the arguments lie in a buffer, each aligned to its size; int takes 4 bytes, long and double
// 8.
static ExecResult device_printf(Warp *w, const Instr *in, int lane, uint64_t format, uint64_t args) {
  char fmt[1024];
  if (!read_string(w, in, lane, format, fmt, sizeof fmt)) return EXEC_FAULT;
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  if (!f) return EXEC_NEXT;
  bool ok = true;
  for (const char *s = fmt; *s && ok;) {
    const char *start = s;
    Conversion c;
    if (*s != '%' || s[1] == '%') {
      s += *s == '%';
      fputc(*s++, f);
    } else if (read_conversion(&s, &c)) {
      ok = print_argument(f, w, in, lane, &c, &args);
    } else {
      fwrite(start, 1, (size_t)(s - start), f);
    }
  }
  fclose(f);
  if (ok) emit(w->grid, text, size);
  free(text);
  return ok ? EXEC_NEXT : EXEC_FAULT;
}

ExecResult exec_system_call(Warp *w, const Instr *in, uint32_t mask, const char *name) {
  Grid *g = w->grid;
  FOR_LANES(l, mask) {
    int lane = l;
    uint64_t a, b, c, d;
    if (!strcmp(name, "vprintf")) {
      if (!argument(w, in, lane, 0, 8, &a) || !argument(w, in, lane, 1, 8, &b))
        return warp_report(w, in, lane, REPORT_INVALID, "call of vprintf does not fit its parameters");
      if (device_printf(w, in, lane, a, b) == EXEC_FAULT) return EXEC_FAULT;
      give_result(w, in, lane, 0, 4);
    } else if (!strcmp(name, "__assertfail")) {
      char message[512] = "", file[512] = "", func[256] = "";
      argument(w, in, lane, 0, 8, &a), argument(w, in, lane, 1, 8, &b), argument(w, in, lane, 2, 4, &c),
          argument(w, in, lane, 3, 8, &d);
      if (!read_string(w, in, lane, a, message, sizeof message) || !read_string(w, in, lane, b, file, sizeof file) ||
          !read_string(w, in, lane, d, func, sizeof func))
        return EXEC_FAULT;
      lead_assertion(w, in, message);
      return warp_report(w, in, lane, REPORT_ASSERT, "%s:%u: %s: `%s`", file, (uint32_t)c, func, message);
    } else if (!strcmp(name, "malloc")) {
      argument(w, in, lane, 0, 8, &a);
      give_result(w, in, lane, device_alloc(g->device, a ? a : 1, 512, ALLOC_HEAP), 8);
    } else if (!strcmp(name, "free")) {
      argument(w, in, lane, 0, 8, &a);
      g->last_alloc = NULL;
      const Alloc *heap = device_find(g->device, a);
      if (a && (!heap || heap->base != a || heap->kind != ALLOC_HEAP))
        return warp_report(w, in, lane, REPORT_INVALID,
                           "free of %#llx, which malloc of a kernel did not return or which is freed already",
                           (unsigned long long)a);
      if (a) device_free(g->device, a);
    } else {
      return warp_report(w, in, lane, REPORT_INVALID, "call of %s, which is declared but not defined", name);
    }
  }
  return EXEC_NEXT;
}
