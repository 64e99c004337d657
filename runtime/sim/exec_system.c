// Functions the system provides to kernels: vprintf, __assertfail, malloc and free are called by name.
#include <stdlib.h>
#include <string.h>

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

// Reads kernel memory by generic address, at most n bytes; false when out of bounds.
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

// printf as on the device: arguments lie in a buffer, each aligned to its size; int is 4 bytes, long and double 8.
static ExecResult device_printf(Warp *w, const Instr *in, int lane, uint64_t format, uint64_t args) {
  char fmt[1024], spec[128], piece[1100];
  if (!read_string(w, in, lane, format, fmt, sizeof fmt)) return EXEC_FAULT;
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  if (!f) return EXEC_NEXT;
  uint64_t at = args;
  bool ok = true;
  for (const char *s = fmt; *s && ok;) {
    if (*s != '%') {
      fputc(*s++, f);
      continue;
    }
    const char *start = s++;
    if (*s == '%') {
      fputc(*s++, f);
      continue;
    }
    int stars[2], num_stars = 0;
    bool wide = false;
    for (; *s && strchr("-+ #0123456789.*hlzjt", *s); s++) {
      if (*s == '*' && num_stars++ < 2) {
        at = (at + 3) & ~UINT64_C(3);
        ok = ok && read_generic(w, in, lane, at, &stars[num_stars - 1], 4);
        at += 4;
      }
      if (*s == 'l' || *s == 'z' || *s == 'j' || *s == 't') wide = true;
    }
    char conv = *s ? *s++ : 0;
    size_t n = (size_t)(s - start);
    if (!conv || n >= sizeof spec - 4 || num_stars > 2 || !strchr("diouxXcpeEfFgGaAs", conv) || !ok) {
      fwrite(start, 1, n, f);
      continue;
    }
    // The length modifiers are replaced by the host's for the sizes known here.
    char clean[sizeof spec - 4];
    size_t k = 0;
    for (const char *c = start; c < s - 1; c++)
      if (!strchr("hlzjt", *c)) clean[k++] = *c;
    clean[k] = 0;
    bool is_float = strchr("eEfFgGaA", conv) != NULL, is_ptr = conv == 'p' || conv == 's';
    uint32_t bytes = is_float || is_ptr || wide ? 8 : 4;
    uint64_t v = 0;
    at = (at + bytes - 1) & ~(uint64_t)(bytes - 1);
    if (!read_generic(w, in, lane, at, &v, bytes)) {
      ok = false;
      break;
    }
    at += bytes;
    int s0 = num_stars > 0 ? stars[0] : 0, s1 = num_stars > 1 ? stars[1] : 0;
#define FORMAT(suffix, value)                                                                            \
  do {                                                                                                   \
    snprintf(spec, sizeof spec, "%s%s%c", clean, suffix, conv);                                          \
    if (num_stars == 2) fprintf(f, spec, s0, s1, value);                                                 \
    else if (num_stars == 1) fprintf(f, spec, s0, value);                                                \
    else fprintf(f, spec, value);                                                                        \
  } while (0)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (conv == 's') {
      ok = read_string(w, in, lane, v, piece, sizeof piece);
      if (ok) FORMAT("", piece);
    } else if (conv == 'p') {
      fprintf(f, "0x%llx", (unsigned long long)v);
    } else if (is_float) {
      double d;
      memcpy(&d, &v, 8);
      FORMAT("", d);
    } else if (wide) {
      FORMAT("ll", (long long)v);
    } else {
      FORMAT("", (int)v);
    }
#pragma GCC diagnostic pop
  }
  fclose(f);
  if (ok) emit(w->grid, text, size);
  free(text);
  w->grid->sim->printf_count++;
  return ok ? EXEC_NEXT : EXEC_FAULT;
}

ExecResult exec_system_call(Warp *w, const Instr *in, uint32_t mask, const char *name) {
  Grid *g = w->grid;
  FOR_LANES(l, mask) {
    int lane = l;
    uint64_t a, b, c, d;
    if (!strcmp(name, "vprintf")) {
      if (!argument(w, in, lane, 0, 8, &a) || !argument(w, in, lane, 1, 8, &b)) return warp_report(w, in, lane, REPORT_INVALID, "call of vprintf does not fit its parameters");
      if (device_printf(w, in, lane, a, b) == EXEC_FAULT) return EXEC_FAULT;
      give_result(w, in, lane, 0, 4);
    } else if (!strcmp(name, "__assertfail")) {
      char message[512] = "", file[512] = "", func[256] = "";
      argument(w, in, lane, 0, 8, &a), argument(w, in, lane, 1, 8, &b), argument(w, in, lane, 2, 4, &c), argument(w, in, lane, 3, 8, &d);
      if (!read_string(w, in, lane, a, message, sizeof message) || !read_string(w, in, lane, b, file, sizeof file) || !read_string(w, in, lane, d, func, sizeof func)) return EXEC_FAULT;
      return warp_report(w, in, lane, REPORT_ASSERT, "%s:%u: %s: `%s`", file, (uint32_t)c, func, message);
    } else if (!strcmp(name, "malloc")) {
      argument(w, in, lane, 0, 8, &a);
      give_result(w, in, lane, device_alloc(g->device, a ? a : 1, 512, ALLOC_HEAP), 8);
    } else if (!strcmp(name, "free")) {
      argument(w, in, lane, 0, 8, &a);
      g->last_alloc = NULL;
      const Alloc *heap = device_find(g->device, a);
      if (a && (!heap || heap->base != a || heap->kind != ALLOC_HEAP))
        return warp_report(w, in, lane, REPORT_INVALID, "free of %#llx, which malloc of a kernel did not return or which is freed already", (unsigned long long)a);
      if (a) device_free(g->device, a);
    } else {
      return warp_report(w, in, lane, REPORT_INVALID, "call of %s, which is declared but not defined", name);
    }
  }
  return EXEC_NEXT;
}
