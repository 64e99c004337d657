#include "runtime/cli/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/compile/compile.h"

// ---- CSV ----

typedef struct { const char *at, *end; } Fields;   // the rest of a line

// Returns the next field without its quotes; NULL after the last.
static const char *next_field(Arena *a, Fields *f) {
  if (!f->at) return NULL;
  const char *s = f->at;
  bool quoted = s < f->end && *s == '"';
  if (quoted) s++;
  const char *stop = s, *comma;
  while (stop < f->end && *stop != (quoted ? '"' : ',')) stop++;
  for (comma = stop; comma < f->end && *comma != ','; comma++) {}
  f->at = comma < f->end ? comma + 1 : NULL;
  while (stop > s && (stop[-1] == ' ' || stop[-1] == '\r')) stop--;
  while (s < stop && *s == ' ') s++;
  return arena_strndup(a, s, (size_t)(stop - s));
}

static Fields next_line(const char **text, const char *end) {
  const char *s = *text, *stop = memchr(s, '\n', (size_t)(end - s));
  *text = stop ? stop + 1 : end;
  return (Fields){s, stop ? stop : end};
}

static const char *stem_of(Arena *a, const char *path) {
  const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
  return arena_strndup(a, base, dot ? (size_t)(dot - base) : strlen(base));
}

tile_status plot_read_csv(Arena *a, const char *path, Plot *plot, tile_error **error) {
  enum { MAX_COLUMNS = 64 };
  const char *text, *names[MAX_COLUMNS];
  size_t size;
  tile_status status = file_read(a, path, &text, &size, error);
  if (status != TILE_OK) return status;
  const char *end = text + size;
  Fields head = next_line(&text, end);
  uint32_t columns = 0, own = 0;
  for (const char *name; columns < MAX_COLUMNS && (name = next_field(a, &head)); columns++) {
    names[columns] = name;
    if (columns && !strcmp(name, plot->y_name)) own = columns;
  }
  PlotSeries series[MAX_COLUMNS] = {0};
  for (uint32_t line = 2; text < end; line++) {
    Fields row = next_line(&text, end);
    const char *x = next_field(a, &row);
    if (!x || !*x) continue;
    char *rest;
    const PlotPoint at = {.x = strtod(x, &rest)};
    if (rest == x || *rest) return error_set(error, TILE_ERROR_FILE, "%s:%u: '%s' is not a number", path, line, x);
    for (uint32_t c = 1; c < columns; c++) {
      const char *y = next_field(a, &row);
      PlotPoint p = at;
      p.y = p.low = p.high = y ? strtod(y, &rest) : 0;
      if (!y || rest == y || *rest || !isfinite(p.y)) continue;   // this point was not measured
      vec_push(a, &series[c], p);
    }
  }
  uint32_t taken = 0;
  for (uint32_t c = 1; c < columns; c++) {
    if ((own && c != own) || !series[c].count) continue;
    series[c].name = own ? stem_of(a, path) : names[c];
    vec_push(a, plot, series[c]);
    taken++;
  }
  return taken ? TILE_OK
               : error_set(error, TILE_ERROR_FILE,
                           "%s holds no series: its first line must name the columns, the others must hold numbers",
                           path);
}

// ---- SVG ----

#define MIDDLE " text-anchor=\"middle\""
enum { WIDTH = 760, HEIGHT = 460, LEFT = 80, RIGHT = 180, TOP = 46, BOTTOM = 60, Y_TICKS = 6 };
static const char *const colors[] = {"#0b62a4", "#d9541e", "#3a8a3a", "#7a3fa0",
                                     "#b8860b", "#c2185b", "#00838f", "#5d4037"};

typedef struct { double x0, x1, y1; bool is_log; } Frame;

static double place_x(const Frame *f, double x) {
  double lo = f->is_log ? log2(f->x0) : f->x0, hi = f->is_log ? log2(f->x1) : f->x1, v = f->is_log ? log2(x) : x;
  return LEFT + (WIDTH - LEFT - RIGHT) * (hi > lo ? (v - lo) / (hi - lo) : 0.5);
}
static double place_y(const Frame *f, double y) { return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y / f->y1; }

// The least number at or above v that is 1, 2, 2.5 or 5 times a power of ten.
static double round_up(double v) {
  static const double steps[] = {1, 2, 2.5, 5, 10};
  double power = pow(10, floor(log10(v)));
  for (int i = 0; i < 5; i++)
    if (steps[i] * power >= v * (1 - 1e-9)) return steps[i] * power;
  return 10 * power;
}

static Frame frame_of(const Plot *plot) {
  Frame f = {.x0 = INFINITY, .x1 = -INFINITY, .is_log = plot->is_log};
  for (uint32_t s = 0; s < plot->count; s++)
    for (uint32_t i = 0; i < plot->data[s].count; i++) {
      const PlotPoint p = plot->data[s].data[i];
      f.x0 = fmin(f.x0, p.x);
      f.x1 = fmax(f.x1, p.x);
      f.y1 = fmax(f.y1, fmax(p.y, p.high));
    }
  if (!(f.x0 <= f.x1)) f.x0 = 0, f.x1 = 1;
  if (f.x0 <= 0) f.is_log = false;
  if (!(f.y1 > 0)) f.y1 = 1;
  return f;
}

// The power of a thousand by which numbers up to `most` are divided to have few digits, and its name before a unit.
static double scale_of(double most, const char **name) {
  static const struct { double least, scale; const char *name; } scales[] = {
      {1e15, 1e15, "10¹⁵ "}, {1e12, 1e12, "10¹² "}, {1e9, 1e9, "10⁹ "},      {1e5, 1e6, "10⁶ "},
      {1e-2, 1, ""},         {1e-5, 1e-3, "10⁻³ "}, {1e-8, 1e-6, "10⁻⁶ "}, {0, 1e-9, "10⁻⁹ "}};
  uint32_t i = 0;
  while (most < scales[i].least) i++;
  *name = scales[i].name;
  return scales[i].scale;
}

// With the digits after the point that multiples of step need.
static const char *tick_text(Arena *a, double v, double step) {
  int digits = 0;
  while (digits < 6 && fabs(step - round(step * pow(10, digits)) / pow(10, digits)) > step * 1e-6) digits++;
  return arena_printf(a, "%.*f", digits, v);
}

static void put_axes(const Plot *plot, Frame *f, Buf *b) {
  enum { MOST_X_TICKS = 10 };
  double step = round_up(f->y1 / Y_TICKS);
  f->y1 = step * ceil(f->y1 / step * (1 - 1e-9));
  const char *power;
  const double scale = scale_of(f->y1, &power);
  for (double y = 0; y <= f->y1 * (1 + 1e-9); y += step) {
    buf_printf(b, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n", LEFT, place_y(f, y),
               WIDTH - RIGHT, place_y(f, y));
    svg_text(b, LEFT - 8, place_y(f, y) + 4, " text-anchor=\"end\"", tick_text(b->arena, y / scale, step / scale));
  }
  double x_step = f->is_log ? exp2(ceil(log2(f->x1 / f->x0) / MOST_X_TICKS)) : round_up(fmax(f->x1 - f->x0, 1) / 8);
  if (f->is_log && x_step < 2) x_step = 2;
  for (double x = f->is_log ? f->x0 : ceil(f->x0 / x_step) * x_step; x <= f->x1 * (1 + 1e-9);
       x = f->is_log ? x * x_step : x + x_step) {
    buf_printf(b, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#888888\"/>\n", place_x(f, x),
               HEIGHT - BOTTOM, place_x(f, x), HEIGHT - BOTTOM + 5);
    svg_text(b, place_x(f, x), HEIGHT - BOTTOM + 19, MIDDLE, arena_printf(b->arena, "%.0f", x));
  }
  buf_printf(b, "<path d=\"M%d %d V%d H%d\" fill=\"none\" stroke=\"#888888\"/>\n", LEFT, TOP, HEIGHT - BOTTOM,
             WIDTH - RIGHT);
  svg_text(b, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 18, MIDDLE, plot->x_name);
  const double middle = (TOP + HEIGHT - BOTTOM) / 2.0;
  svg_text(b, 20, middle, arena_printf(b->arena, MIDDLE " transform=\"rotate(-90 20 %.1f)\"", middle),
           arena_printf(b->arena, "%s%s", power, plot->y_name));
  svg_text(b, LEFT, TOP - 18, " font-size=\"15\"", plot->title);
}

// Between the low and the high ends of the points.
static void put_band(Buf *b, const Frame *f, const PlotSeries *s, const char *color) {
  bool any = false;
  for (uint32_t i = 0; i < s->count; i++) any |= s->data[i].low < s->data[i].high;
  if (!any || s->count < 2) return;
  buf_puts(b, "<polygon points=\"");
  for (uint32_t i = 0; i < s->count; i++)
    buf_printf(b, "%.1f,%.1f ", place_x(f, s->data[i].x), place_y(f, s->data[i].high));
  for (uint32_t i = s->count; i-- > 0;)
    buf_printf(b, "%.1f,%.1f ", place_x(f, s->data[i].x), place_y(f, s->data[i].low));
  buf_printf(b, "\" fill=\"%s\" fill-opacity=\"0.15\"><title>p10 to p90</title></polygon>\n", color);
}

void plot_svg(const Plot *plot, Buf *b) {
  Frame f = frame_of(plot);
  buf_printf(
      b,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n",
      WIDTH, HEIGHT, WIDTH, HEIGHT);
  buf_printf(b, "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", WIDTH, HEIGHT);
  put_axes(plot, &f, b);
  for (uint32_t s = 0; s < plot->count; s++) {
    const PlotSeries *series = &plot->data[s];
    const char *color = colors[s % countof(colors)];
    put_band(b, &f, series, color);
    buf_puts(b, "<polyline points=\"");
    for (uint32_t i = 0; i < series->count; i++)
      buf_printf(b, "%s%.1f,%.1f", i ? " " : "", place_x(&f, series->data[i].x), place_y(&f, series->data[i].y));
    buf_printf(b, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", color);
    for (uint32_t i = 0; i < series->count; i++)
      buf_printf(b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"><title>%g: %.4g</title></circle>\n",
                 place_x(&f, series->data[i].x), place_y(&f, series->data[i].y), color, series->data[i].x,
                 series->data[i].y);
    buf_printf(b, "<rect x=\"%d\" y=\"%u\" width=\"14\" height=\"3\" fill=\"%s\"/>\n", WIDTH - RIGHT + 14,
               TOP + 4 + 20 * s, color);
    svg_text(b, WIDTH - RIGHT + 34, TOP + 10 + 20.0 * s, "", series->name);
  }
  buf_puts(b, "</svg>\n");
}
