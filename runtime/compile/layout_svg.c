// --emit=layout-svg. Each layout has a picture: its last two axes are a grid with a cell per element. For registers,
// the text of a cell is the lane and the register of the first place that holds the element, and its colour is the
// warp's. For shared memory, the text is the offset and the colour is the bank's. Beside the grid are the indices,
// below it the values that have the layout, with their source lines, and, for accesses to shared memory, the number of
// wavefronts that a warp needs. Pictures stand in columns of bounded height.
#include "runtime/compile/layout_svg.h"

#include <string.h>

#include "ir/scratch.h"
#include "runtime/compile/svg.h"

enum {
  MAX_ROWS = 32,
  MAX_COLUMNS = 32,
  CELL_WIDTH = 40,
  CELL_HEIGHT = 17,
  LINE = 16,
  MARGIN = 24,
  INDEX = 32,                  // width of a row's index
  HEAD = 40,                   // height of the whole's title
  MAX_LINES = 12,
  MAX_HEIGHT = 3000,           // of a column, unless one picture is higher
  MAX_PICTURES = 32,
  TEXT_COLUMNS = 170,          // characters across a picture
  MAX_PLACE_BITS = 22,
  BANKS = 32,
  MAX_VECTOR_BYTES = 16
};

typedef VEC(const char *) Lines;
typedef struct { const Layout *layout; uint32_t elem_bits; Lines names, lines; } Picture;   // names: of its values
typedef struct {
  const Module *module;
  const char *value;           // or NULL: all
  Arena *arena;
  VEC(Picture) pictures;
} Gallery;

// ---- finding the layouts ----

static bool is_wanted(const Gallery *g, const Value *v) {
  return v->type->layout && v->type->kind != TYPE_DESC && (!g->value || (v->name && !strcmp(v->name, g->value)));
}

static uint32_t elem_bits(const Type *t) { return type_elem_bytes(t) * 8; }

static Picture *picture_of(Gallery *g, const Type *t) {
  for (uint32_t i = 0; i < g->pictures.count; i++)
    if (g->pictures.data[i].layout == t->layout &&
        (t->kind == TYPE_TENSOR || g->pictures.data[i].elem_bits == elem_bits(t)))
      return &g->pictures.data[i];
  const Picture fresh = {.layout = t->layout, .elem_bits = elem_bits(t)};
  vec_push(g->arena, &g->pictures, fresh);
  return &g->pictures.data[g->pictures.count - 1];
}

static const char *where(const Gallery *g, const Op *op) {
  LineCol at = source_locate(g->module->ctx, op_user_span(g->module->ctx, op).begin);
  return at.file ? arena_printf(g->arena, ", line %u", at.line) : "";
}

// ": x = load(p)", the line of the source.
static const char *source_of(const Gallery *g, const Op *op) {
  LineCol at = source_locate(g->module->ctx, op_user_span(g->module->ctx, op).begin);
  if (!at.file || at.line > at.file->num_lines) return "";
  const char *s = at.file->text + at.file->line_starts[at.line - 1];
  s += strspn(s, " \t");
  return arena_printf(g->arena, ": %.*s", (int)strcspn(s, "\r\n"), s);
}

static void add_name(Gallery *g, Picture *p, const char *name) {
  VEC_EACH(n, p->names)
    if (!strcmp(*n, name)) return;
  vec_push(g->arena, &p->names, name);
}

static void add_value(Gallery *g, const Value *v, const Op *op) {
  if (!is_wanted(g, v)) return;
  Buf b = buf_make(g->arena);
  buf_printf(&b, "%%%s%s%u: ", v->name ? v->name : "", v->name ? " #" : "", v->number);
  // The type without its layout, which is the picture's title.
  Type plain = *v->type;
  plain.layout = NULL;
  ir_print_type(&b, &plain);
  buf_printf(&b, ", %s%s%s", op ? op_info[op->opcode].name : "a parameter", op ? where(g, op) : "",
             op ? source_of(g, op) : "");
  Picture *p = picture_of(g, v->type);
  if (v->name) add_name(g, p, v->name);
  vec_push(g->arena, &p->lines, buf_str(&b));
}

// Counts the register bits that alone move the offset by 1, 2, 4, …: log2 of the elements of one access.
static uint32_t log2_vector(const Layout *registers, const Layout *shared, uint32_t bytes) {
  LayoutMap m;
  uint32_t n = 0;
  if (!layout_to_shared(registers, shared, &m)) return 0;
  uint32_t total = 0;
  for (int i = 0; i < LAYOUT_DIMS; i++) total += m.in_bits[i];
  for (uint32_t step = 1; bytes << (n + 1) <= MAX_VECTOR_BYTES && n < layout_whole_bits(shared); step <<= 1, n++) {
    bool found = false;
    uint32_t touching = 0;
    for (uint32_t i = 0; i < total; i++) {
      if (i < m.in_bits[LAYOUT_REG] && m.col[i] == step && !found) found = true;
      else touching += (m.col[i] & step) != 0;
    }
    if (!found || touching) break;
  }
  return n;
}

static const char *access_text(const Gallery *g, const char *what, const Layout *registers, const Layout *shared,
                               uint32_t bits) {
  uint32_t n = log2_vector(registers, shared, bits / 8), vec = 1u << n,
           waves = layout_bank_conflicts(registers, shared, bits, vec),
           least = vec * bits > BANKS ? vec * bits / BANKS : 1;
  return arena_printf(g->arena, "%s: %u bytes at once, %u wavefront%s for a warp%s", what, vec * bits / 8, waves,
                      waves == 1 ? "" : "s",
                      waves > least ? arena_printf(g->arena, " where %u would do: bank conflicts", least)
                                    : ", no bank conflicts");
}

static void add_access(Gallery *g, const Op *op) {
  const bool is_load = op->opcode == OP_LOCAL_LOAD, is_store = op->opcode == OP_LOCAL_STORE;
  const Value *buffer = op_operand(op, is_store ? 1 : 0), *tensor = is_load ? &op->results[0] : op_operand(op, 0);
  if (op->opcode == OP_ASYNC_COPY) tensor = op_operand(op, op_operand(op, 2) ? 2 : 1);   // of addresses
  if (!buffer->type->layout || !tensor->type->layout || tensor->type->kind != TYPE_TENSOR ||
      (!is_wanted(g, buffer) && !is_wanted(g, tensor)))
    return;
  Picture *p = picture_of(g, buffer->type);
  const char *what = arena_printf(g->arena, "%s of %%%u %s %%%u%s", op_info[op->opcode].name, tensor->number,
                                  is_load ? "from" : "to", buffer->number, where(g, op));
  vec_push(g->arena, &p->lines,
           access_text(g, what, tensor->type->layout, buffer->type->layout, elem_bits(buffer->type)));
}

static void add_conversion(Gallery *g, const Op *op) {
  static const char *const ways[] = {
      [CONVERT_NONE] = "nothing moves",
      [CONVERT_REGISTERS] = "within each thread",
      [CONVERT_SHUFFLE] = "by shuffles between the lanes of each warp",
      [CONVERT_WARP] = "through shared memory, within each warp",
      [CONVERT_SHARED] = "through shared memory",
  };
  const Type *from = op_operand(op, 0)->type, *to = op->results[0].type;
  if (!from->layout || !to->layout || !is_wanted(g, &op->results[0])) return;
  const ConvertKind kind = scratch_convert_kind(from, to);
  Picture *p = picture_of(g, to);
  vec_push(g->arena, &p->lines,
           arena_printf(g->arena, "made of %%%u by convert_layout%s: %s", op_operand(op, 0)->number, where(g, op),
                        ways[kind]));
  if (kind < CONVERT_WARP) return;
  uint32_t vec;
  const Layout *scratch = scratch_convert_layout(g->module->ctx, from, to, &vec);
  vec_push(g->arena, &p->lines, access_text(g, "  its stores", from->layout, scratch, elem_bits(to)));
  vec_push(g->arena, &p->lines, access_text(g, "  its loads", to->layout, scratch, elem_bits(to)));
}

static void visit(Op *op, void *user) {
  Gallery *g = user;
  for (uint32_t i = 0; i < op->num_results; i++) add_value(g, &op->results[i], op);
  if (op->opcode == OP_LOCAL_LOAD || op->opcode == OP_LOCAL_STORE || op->opcode == OP_ASYNC_COPY) add_access(g, op);
  if (op->opcode == OP_CONVERT_LAYOUT) add_conversion(g, op);
}

// ---- drawing ----

typedef struct { uint32_t rows, columns, all_rows, all_columns; } Window;

static Window window_of(const Layout *l) {
  uint32_t columns = 1u << l->log2_size[l->rank - 1], rows = l->rank > 1 ? 1u << l->log2_size[l->rank - 2] : 1;
  Window w = {rows, columns, rows, columns};
  // The elements of a tensor with one axis fill several rows.
  if (l->rank == 1 && columns > MAX_COLUMNS) w.columns = MAX_COLUMNS, w.rows = columns / MAX_COLUMNS;
  if (w.columns > MAX_COLUMNS) w.columns = MAX_COLUMNS;
  if (w.rows > MAX_ROWS) w.rows = MAX_ROWS;
  return w;
}

static uint32_t element_at(const Layout *l, const Window *w, uint32_t row, uint32_t column) {
  return l->rank == 1 ? row * w->columns + column : row << l->log2_size[l->rank - 1] | column;
}

// The first place of each element that the picture shows.
static uint32_t *places_of(Arena *a, const Layout *l, const Window *w) {
  const uint32_t bits = layout_total_bits(l), count = 1u << layout_tensor_bits(l),
                 shown = element_at(l, w, w->rows - 1, w->columns - 1) + 1;
  uint32_t *places = arena_array(a, uint32_t, shown);
  memset(places, 0xff, shown * sizeof *places);
  for (uint32_t p = 0; p < 1u << (bits < MAX_PLACE_BITS ? bits : MAX_PLACE_BITS); p++) {
    uint32_t e = layout_apply_bits(l, p);
    if (e < shown && e < count && places[e] == UINT32_MAX) places[e] = p;
  }
  return places;
}

static void put_cell(Buf *b, const Picture *p, uint32_t place, double x, double y) {
  const Layout *l = p->layout;
  uint32_t hue, light;
  const char *text;
  if (l->kind == LAYOUT_SHARED) {
    uint32_t offset = layout_address(l, layout_part(l, place, LAYOUT_OFFSET));
    uint32_t bank = offset * (p->elem_bits / 8) / 4 % BANKS;
    hue = bank * 360 / BANKS, light = 78;
    text = arena_printf(b->arena, "%u", offset);
  } else {
    uint32_t lane = layout_part(l, place, LAYOUT_LANE), warp = layout_part(l, place, LAYOUT_WARP),
             reg = layout_part(l, place, LAYOUT_REG);
    hue = warp * 137 % 360, light = 90 - lane;
    text = arena_printf(b->arena, "%u:%u", lane, reg);
  }
  buf_printf(b,
             "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"hsl(%u,65%%,%u%%)\" stroke=\"white\"/>\n",
             x, y, CELL_WIDTH, CELL_HEIGHT, hue, light);
  svg_text(b, x + CELL_WIDTH / 2.0, y + CELL_HEIGHT - 5, " text-anchor=\"middle\" font-size=\"10\"", text);
}

static uint32_t num_lines(const Picture *p) { return p->lines.count < MAX_LINES ? p->lines.count : MAX_LINES; }
static double height_of(const Picture *p) {
  Window w = window_of(p->layout);
  return w.rows * CELL_HEIGHT + (num_lines(p) + 7) * LINE + MARGIN;
}

// Appends a text, cut so that it does not run into the next column.
static void put_line(Buf *b, double x, double y, const char *attributes, const char *s) {
  size_t n = 0, shown = 0;
  for (; s[n] && shown < TEXT_COLUMNS; n++) shown += ((unsigned char)s[n] & 0xc0) != 0x80;   // characters of UTF-8
  while (((unsigned char)s[n] & 0xc0) == 0x80) n++;
  svg_text(b, x, y, attributes, s[n] ? arena_printf(b->arena, "%.*s…", (int)n, s) : s);
}

// "a, b: registers" or "shared memory"
static const char *heading_of(Arena *a, const Picture *p) {
  enum { MOST = 8 };
  Buf b = buf_make(a);
  for (uint32_t i = 0; i < p->names.count && i < MOST; i++) buf_printf(&b, "%s%s", i ? ", " : "", p->names.data[i]);
  if (p->names.count > MOST) buf_puts(&b, ", …");
  buf_printf(&b, "%s%s", p->names.count ? ": " : "", p->layout->kind == LAYOUT_SHARED ? "shared memory" : "registers");
  return buf_str(&b);
}

static const char *legend_of(Arena *a, const Layout *l, const Window *w) {
  const uint32_t copies = 1u << (layout_total_bits(l) - layout_rank(l));
  const bool is_part = w->rows * w->columns < w->all_rows * w->all_columns || l->rank > 2;
  Buf b = buf_make(a);
  const bool is_shared = l->kind == LAYOUT_SHARED;
  buf_puts(&b, is_shared ? "cell: offset in elements; colour: bank" : "cell: lane:register; colour: warp");
  if (copies > 1) buf_printf(&b, "; each element is held %u times, the first is shown", copies);
  if (is_part) buf_printf(&b, "; %u x %u of %u x %u", w->rows, w->columns, w->all_rows, w->all_columns);
  if (l->rank > 2) buf_puts(&b, ", first of each further axis");
  else if (l->rank == 1 && w->rows > 1) buf_printf(&b, "; rows of %u", w->columns);
  return buf_str(&b);
}

static void put_indices(Buf *b, const Layout *l, const Window *w, double x, double y) {
  const char *grey = " text-anchor=\"end\" font-size=\"10\" fill=\"#777777\"",
             *centred = " text-anchor=\"middle\" font-size=\"10\" fill=\"#777777\"";
  for (uint32_t c = 0; c < w->columns; c++)
    svg_text(b, x + (c + 0.5) * CELL_WIDTH, y - 4, centred, arena_printf(b->arena, "%u", c));
  for (uint32_t r = 0; r < w->rows && w->rows > 1; r++)
    svg_text(b, x - 4, y + (r + 1) * CELL_HEIGHT - 5, grey,
             arena_printf(b->arena, "%u", l->rank == 1 ? r * w->columns : r));
}

static void put_picture(Buf *b, const Picture *p, double x, double y) {
  const Layout *l = p->layout;
  Window w = window_of(l);
  Buf text = buf_make(b->arena);
  layout_print(&text, l);
  svg_text(b, x, y + LINE, " font-weight=\"bold\"", heading_of(b->arena, p));
  put_line(b, x, y + 2 * LINE, "", buf_str(&text));
  svg_text(b, x, y + 3 * LINE, " fill=\"#555555\"", legend_of(b->arena, l, &w));
  const uint32_t *places = places_of(b->arena, l, &w);
  y += 4.5 * LINE;
  for (uint32_t row = 0; row < w.rows; row++)
    for (uint32_t column = 0; column < w.columns; column++) {
      uint32_t place = places[element_at(l, &w, row, column)];
      if (place != UINT32_MAX) put_cell(b, p, place, x + INDEX + column * CELL_WIDTH, y + row * CELL_HEIGHT);
    }
  put_indices(b, l, &w, x + INDEX, y);
  y += w.rows * CELL_HEIGHT + LINE;
  for (uint32_t i = 0; i < num_lines(p); i++, y += LINE) put_line(b, x, y, "", p->lines.data[i]);
  if (p->lines.count > MAX_LINES)
    svg_text(b, x, y, "", arena_printf(b->arena, "and %u more", p->lines.count - MAX_LINES));
}

// Places the pictures: one below the other, in as many columns as the bounded height needs.
typedef struct { double x, y; } Position;
static Position *place_pictures(const Gallery *g, uint32_t shown, double *width, double *height) {
  enum { COLUMN_WIDTH = INDEX + MAX_COLUMNS * CELL_WIDTH + MARGIN };
  Position *at = arena_array(g->arena, Position, shown);
  double x = MARGIN, y = HEAD;
  *height = HEAD;
  for (uint32_t i = 0; i < shown; i++) {
    const double h = height_of(&g->pictures.data[i]);
    if (y > HEAD && y + h > MAX_HEIGHT) x += COLUMN_WIDTH, y = HEAD;
    at[i] = (Position){x, y};
    y += h;
    if (y > *height) *height = y;
  }
  *width = x + COLUMN_WIDTH;
  return at;
}

static void put_title(const Gallery *g, Buf *b, uint32_t shown) {
  const Module *m = g->module;
  Buf title = buf_make(g->arena);
  for (const Func *f = m->funcs; f; f = f->next) buf_printf(&title, "%s%s", f == m->funcs ? "" : ", ", f->name);
  buf_printf(&title, " for %s, num_warps=%u: %u layout%s", m->target->name, m->num_warps, g->pictures.count,
             g->pictures.count == 1 ? "" : "s");
  if (g->value) buf_printf(&title, " of %s", g->value);
  if (shown < g->pictures.count) buf_printf(&title, ", of which %u are shown; --layout-of=NAME chooses", shown);
  svg_text(b, MARGIN, 26, " font-size=\"16\"", buf_str(&title));
}

bool layout_svg(const Module *m, const char *value, Buf *b) {
  Gallery g = {.module = m, .value = value, .arena = b->arena};
  ir_number_values((Module *)(uintptr_t)m);
  for (Func *f = m->funcs; f; f = f->next) {
    for (uint32_t i = 0; i < f->body->num_args; i++) add_value(&g, f->body->args[i], NULL);
    block_walk(f->body, visit, &g);
  }
  if (!g.pictures.count) return false;
  const uint32_t shown = g.pictures.count < MAX_PICTURES ? g.pictures.count : MAX_PICTURES;
  double width, height;
  const Position *at = place_pictures(&g, shown, &width, &height);
  buf_printf(
      b,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      width, height);
  put_title(&g, b, shown);
  for (uint32_t i = 0; i < shown; i++) put_picture(b, &g.pictures.data[i], at[i].x, at[i].y);
  buf_puts(b, "</svg>\n");
  return true;
}
