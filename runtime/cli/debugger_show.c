// Values as a debugger shows them.
#include <math.h>
#include <string.h>

#include "ir/fold.h"
#include "runtime/cli/cli.h"
#include "runtime/cli/debugger.h"

enum { FEW = 16, CORNER_ROWS = 4, CORNER_COLUMNS = 6 };

static double number_of(const InterpVar *v, const Type *e, uint64_t i) {
  const uint32_t bytes = type_elem_bytes(v->type), bits = type_elem_bits(v->type);
  uint64_t raw = 0;
  memcpy(&raw, (const char *)v->data + i * bytes, bytes);
  if (type_is_float(e)) return num_decode(scalar_num_format(e->scalar), raw);
  if (e->kind == TYPE_PTR || v->is_unsigned || bits == 1) return (double)num_zext(raw, bits);
  return (double)num_sext(raw, bits);
}

Nd *debugger_array(Arena *a, const InterpVar *v) {
  double x;
  if (!v->type) return nd_scalar(a, !strcmp(v->constant, "True") ? 1 : cli_read_number(v->constant, &x) ? x : 0);
  const Type *t = v->type;
  if (t->kind != TYPE_TENSOR && t->kind != TYPE_SCALAR && t->kind != TYPE_PTR) return NULL;
  Nd *r = nd_new(a, t->rank, t->shape);
  for (uint64_t i = 0; i < r->count; i++) r->data[i] = number_of(v, type_elem(t), i);
  return r;
}

// Addresses are hexadecimal.
static const char *number_text(Arena *a, double x, bool is_address) {
  if (is_address) return arena_printf(a, "0x%llx", (unsigned long long)x);
  if (x == floor(x) && fabs(x) < 1e15) return arena_printf(a, "%.0f", x);
  return arena_printf(a, "%.6g", x);
}

static void put_row(Buf *b, const double *row, uint64_t n, uint64_t shown, size_t width, bool is_address) {
  for (uint64_t i = 0; i < shown; i++) {
    const char *text = number_text(b->arena, row[i], is_address);
    const size_t size = strlen(text);
    if (i) buf_putc(b, ' ');
    buf_fill(b, ' ', size < width ? width - size : 0);
    buf_puts(b, text);
  }
  if (shown < n) buf_puts(b, " …");
}

// The widest number of the part that is shown.
static size_t width_of(Arena *a, const double *m, uint64_t columns, uint64_t rows_shown, uint64_t shown, bool address) {
  size_t width = 1;
  for (uint64_t r = 0; r < rows_shown; r++)
    for (uint64_t c = 0; c < shown; c++) {
      const size_t n = strlen(number_text(a, m[r * columns + c], address));
      if (n > width) width = n;
    }
  return width;
}

static void put_matrix(Buf *b, const double *m, uint64_t rows, uint64_t columns, bool is_full, bool is_address) {
  const uint64_t show_rows = is_full || rows <= FEW ? rows : CORNER_ROWS,
                 show_columns = is_full || columns <= FEW ? columns : CORNER_COLUMNS;
  const size_t width = width_of(b->arena, m, columns, show_rows, show_columns, is_address);
  for (uint64_t r = 0; r < show_rows; r++) {
    buf_puts(b, "  ");
    put_row(b, m + r * columns, columns, show_columns, width, is_address);
    buf_putc(b, '\n');
  }
  if (show_rows < rows) buf_puts(b, "  …\n");
}

// ": 0 to 63, mean 31.5, 2 NaN"
static void put_range(Buf *b, const Nd *x) {
  double low = INFINITY, high = -INFINITY, sum = 0;
  uint64_t nans = 0, infinities = 0, n = 0;
  for (uint64_t i = 0; i < x->count; i++) {
    const double v = x->data[i];
    if (isnan(v)) nans++;
    else if (isinf(v)) infinities++;
    else {
      low = fmin(low, v), high = fmax(high, v), sum += v;
      n++;
    }
  }
  if (n)
    buf_printf(b, ": %s to %s, mean %s", number_text(b->arena, low, false), number_text(b->arena, high, false),
               number_text(b->arena, sum / (double)n, false));
  else buf_puts(b, ": no finite number");
  if (nans) buf_printf(b, ", %llu NaN", (unsigned long long)nans);
  if (infinities) buf_printf(b, ", %llu infinite", (unsigned long long)infinities);
}

// "[2, 1, :, :]", the place of matrix number i.
static void put_place(Buf *b, const Nd *x, uint64_t i) {
  uint64_t below = x->count / (uint64_t)(x->shape[x->rank - 1] * x->shape[x->rank - 2]);
  buf_putc(b, '[');
  for (uint32_t k = 0; k + 2 < x->rank; k++) {
    below /= (uint64_t)x->shape[k];
    buf_printf(b, "%llu, ", (unsigned long long)(i / below % (uint64_t)x->shape[k]));
  }
  buf_puts(b, ":, :]\n");
}

static void put_typed(Buf *b, const char *name, const char *type, const Nd *x, bool is_full, bool is_address) {
  Arena *a = b->arena;
  buf_printf(b, "%s = ", name);
  if (!x->rank) {
    buf_printf(b, "%s\n", number_text(a, x->data[0], is_address));
    return;
  }
  buf_puts(b, type ? type : arena_printf(a, "array of shape %s", nd_shape_text(a, x)));
  if (!x->count) {
    buf_puts(b, ", empty\n");
    return;
  }
  if (x->count > FEW && !is_address) put_range(b, x);
  const uint64_t columns = (uint64_t)x->shape[x->rank - 1], rows = x->rank > 1 ? (uint64_t)x->shape[x->rank - 2] : 1;
  if (x->rank == 1 && x->count <= FEW) {
    buf_puts(b, ": ");
    put_row(b, x->data, columns, columns, 0, is_address);
    buf_putc(b, '\n');
    return;
  }
  buf_putc(b, '\n');
  const uint64_t matrices = x->count / (rows * columns), shown = is_full ? matrices : 1;
  for (uint64_t i = 0; i < shown; i++) {
    if (x->rank > 2) buf_puts(b, "  "), put_place(b, x, i);
    put_matrix(b, x->data + i * rows * columns, rows, columns, is_full, is_address);
  }
  if (shown < matrices) buf_printf(b, "  … and %llu more\n", (unsigned long long)(matrices - shown));
}

void debugger_put_value(Buf *b, const char *name, const char *type, const Nd *x, bool is_full) {
  put_typed(b, name, type, x, is_full, false);
}

// The interpreter's types do not say it.
static const char *as_unsigned(Arena *a, const char *type) {
  char *text = arena_strndup(a, type, strlen(type)), *i = strrchr(text, 'i');
  if (i) *i = 'u';
  return text;
}

void debugger_put_var(Buf *b, Context *ctx, const InterpVar *v, bool is_full) {
  const Nd *x = debugger_array(b->arena, v);
  if (!v->type) buf_printf(b, "%s = %s\n", v->name, v->constant);
  else if (!x) buf_printf(b, "%s = %s\n", v->name, remark_type(ctx, v->type));
  else
    put_typed(b, v->name, v->is_unsigned ? as_unsigned(b->arena, remark_type(ctx, v->type)) : remark_type(ctx, v->type),
              x, is_full, type_elem(v->type)->kind == TYPE_PTR);
}
