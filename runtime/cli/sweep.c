// `tilec run --bench --sweep NAME=FROM:TO:STEP`: times the kernel at each value; prints a table and writes CSV, JSON
// and plots.
#include "runtime/cli/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/cli/cli.h"
#include "runtime/compile/compile.h"
#include "runtime/cli/plot.h"
#include "runtime/cli/session.h"

enum { MAX_POINTS = 10000 };

// ---- axes ----

typedef struct {
  const char *names;           // one, or several with commas
  int64_t *values;
  uint32_t count;
  bool is_geometric;
} Axis;
typedef VEC(Axis) AxisVec;

static bool read_int(const char **s, int64_t *v) {
  char *end;
  *v = strtoll(*s, &end, 10);
  bool ok = end != *s;
  *s = end;
  return ok;
}

// NAME[,NAME…]=FROM:TO[:[*]STEP] or =V,V,…
static tile_status read_axis(Arena *a, const char *text, Axis *out, tile_error **error) {
  const char *eq = strchr(text, '='), *s = eq ? eq + 1 : "";
  VEC(int64_t) values = {0};
  int64_t from, to = 0, step = 1;
  bool ok = eq && eq != text && read_int(&s, &from);
  *out = (Axis){.names = ok ? arena_strndup(a, text, (size_t)(eq - text)) : ""};
  if (ok && *s == ':') {
    s++;
    ok = read_int(&s, &to);
    if (ok && *s == ':') {
      out->is_geometric = s[1] == '*';
      s += 1 + out->is_geometric;
      ok = read_int(&s, &step) && step > out->is_geometric;
    }
    ok = ok && from <= to && (!out->is_geometric || from > 0);
    for (int64_t v = from; ok && v <= to && values.count <= MAX_POINTS; ) {
      vec_push(a, &values, v);
      if (out->is_geometric ? __builtin_mul_overflow(v, step, &v) : __builtin_add_overflow(v, step, &v)) break;
    }
  } else if (ok) {
    vec_push(a, &values, from);
    while (ok && *s == ',') {
      s++;
      if ((ok = read_int(&s, &from))) vec_push(a, &values, from);
    }
  }
  out->values = values.data;
  out->count = values.count;
  if (!ok || *s)
    return error_set(
        error, TILE_ERROR_USAGE,
        "--sweep %s: write NAME=FROM:TO, NAME=FROM:TO:STEP, NAME=FROM:TO:*FACTOR or NAME=V,V,…; "
        "several names may share values: M,N=…",
        text);
  return values.count <= MAX_POINTS
             ? TILE_OK
             : error_set(error, TILE_ERROR_USAGE, "--sweep %s: more than %d values", text, MAX_POINTS);
}

// ---- points ----

typedef struct { const int64_t *values; BenchResult result; const char *failure; } Point;
typedef struct {
  const Options *options;
  Arena *arena;
  AxisVec axes;
  Point *points;
  uint32_t num_points;
  bool is_flops;               // the unit is TFLOP/s, otherwise GB/s
  bool is_gpu;                 // otherwise times are the host's, in ms, and there are no rates
  const char *kernel, *device;
  FileUses uses;
} Sweep;

static const char *unit(const Sweep *s) { return !s->is_gpu ? "host_ms" : s->is_flops ? "TFLOP/s" : "GB/s"; }
static double in_unit(const Sweep *s, double milliseconds) { return s->is_gpu ? milliseconds * 1e3 : milliseconds; }
static const char *const time_names[2][3] = {{"host_ms", "host_p10_ms", "host_p90_ms"},
                                             {"median_us", "p10_us", "p90_us"}};

static double rate(const Sweep *s, const Point *p) {
  if (!s->is_gpu) return p->result.median;
  double amount = s->is_flops ? p->result.flops * 1e-12 : p->result.bytes * 1e-9;
  return p->failure ? 0 : amount / (p->result.median * 1e-3);
}

// Fails only if no point can be measured, because an output is a file that every point reads, or no point differs.
static tile_status measure(Sweep *s, Point *p, tile_error **fatal) {
  Arena scratch;
  arena_init_with(&scratch, (ArenaMemory){0}, s->arena->on_empty);
  Options o = *s->options;
  o.arena = &scratch;
  StrList swept = {0};
  for (uint32_t i = 0; i < s->axes.count; i++) {
    StrList names = run_spec_split(&scratch, s->axes.data[i].names, strlen(s->axes.data[i].names));
    for (uint32_t n = 0; n < names.count; n++)
      vec_push(&scratch, &swept, arena_printf(&scratch, "%s=%lld", names.data[n], (long long)p->values[i]));
  }
  tile_error *error = NULL;
  tile_status status = session_measure(&o, &scratch, &swept, &s->uses, &p->result, &error);
  if (status != TILE_OK) p->failure = arena_printf(s->arena, "%s", tile_error_message(error));
  else if (!s->kernel)
    s->kernel = arena_printf(s->arena, "%s", p->result.kernel),
    s->device = arena_printf(s->arena, "%s", p->result.device);
  if (s->uses.has_conflict || p->result.has_unused_sweep) error_pass_on(fatal, error);
  else tile_error_free(error), status = TILE_OK;
  arena_free(&scratch);
  return status;
}

// ---- results ----

static void print_head(const Sweep *s) {
  for (uint32_t i = 0; i < s->axes.count; i++) printf("%-12s", s->axes.data[i].names);
  printf("%12s %12s %12s", s->is_gpu ? "median us" : "ms (host)", "p10", "p90");
  printf(s->is_gpu ? " %12s\n" : "\n", unit(s));
}

static void print_row(const Sweep *s, const Point *p) {
  for (uint32_t i = 0; i < s->axes.count; i++) printf("%-12lld", (long long)p->values[i]);
  if (p->failure) printf("skipped: %.*s\n", (int)strcspn(p->failure, "\n"), p->failure);
  else
    printf("%12.3f %12.3f %12.3f", in_unit(s, p->result.median), in_unit(s, p->result.low), in_unit(s, p->result.high));
  if (!p->failure && s->is_gpu) printf(" %12.4g", rate(s, p));
  if (!p->failure) putchar('\n');
  fflush(stdout);
}

// Puts quotes around names with a comma.
static void put_csv(Buf *b, const char *text) { buf_printf(b, strpbrk(text, ",\"") ? "\"%s\"" : "%s", text); }

static void write_csv(const Sweep *s, Buf *b) {
  for (uint32_t i = 0; i < s->axes.count; i++) put_csv(b, s->axes.data[i].names), buf_putc(b, ',');
  for (int i = 0; i < 3; i++) buf_printf(b, "%s%s", i ? "," : "", time_names[s->is_gpu][i]);
  if (s->is_gpu) buf_printf(b, ",%s", unit(s));
  buf_putc(b, '\n');
  for (uint32_t k = 0; k < s->num_points; k++) {
    const Point *p = &s->points[k];
    if (p->failure) continue;
    for (uint32_t i = 0; i < s->axes.count; i++) buf_printf(b, "%lld,", (long long)p->values[i]);
    buf_printf(b, "%.6g,%.6g,%.6g", in_unit(s, p->result.median), in_unit(s, p->result.low),
               in_unit(s, p->result.high));
    if (s->is_gpu) buf_printf(b, ",%.6g", rate(s, p));
    buf_putc(b, '\n');
  }
}

static void write_json(const Sweep *s, Buf *b) {
  JsonWriter w = json_writer(b);
  json_begin_object(&w, false);
  json_put_string(&w, "kernel", s->kernel ? s->kernel : "");
  json_put_string(&w, "device", s->device ? s->device : "");
  json_put_string(&w, "unit", unit(s));
  json_put_array(&w, "points", false);
  for (uint32_t k = 0; k < s->num_points; k++) {
    const Point *p = &s->points[k];
    json_begin_object(&w, true);
    for (uint32_t i = 0; i < s->axes.count; i++) {
      json_put_int(&w, s->axes.data[i].names, p->values[i]);
    }
    if (p->failure) {
      json_put_string(&w, "skipped", p->failure);
    } else {
      const double times[] = {p->result.median, p->result.low, p->result.high};
      for (int i = 0; i < 3; i++) json_put_double(&w, time_names[s->is_gpu][i], in_unit(s, times[i]));
      if (s->is_gpu) json_put_double(&w, "rate", rate(s, p));
      json_put_int(&w, "runs", p->result.runs);
    }
    json_end_object(&w);
  }
  json_end_array(&w);
  json_end_object(&w);
  buf_putc(b, '\n');
}

// Adds a line per combination of values of the axes after the first.
static void add_own_series(const Sweep *s, Plot *plot) {
  for (uint32_t first = 0, inner = s->num_points / s->axes.data[0].count; first < inner; first++) {
    Buf name = buf_make(s->arena);
    buf_puts(&name, s->kernel ? s->kernel : "kernel");
    for (uint32_t i = 1; i < s->axes.count; i++)
      buf_printf(&name, "%s%s=%lld", i == 1 ? ", " : " ", s->axes.data[i].names, (long long)s->points[first].values[i]);
    PlotSeries series = {.name = buf_str(&name)};
    for (uint32_t k = first; k < s->num_points; k += inner) {
      if (s->points[k].failure) continue;
      const BenchResult *r = &s->points[k].result;
      const double y = rate(s, &s->points[k]), a = r->low / r->median, z = r->high / r->median;
      // A rate is the higher the shorter the time is.
      const PlotPoint at = {(double)s->points[k].values[0], y, s->is_gpu ? y / z : y * a, s->is_gpu ? y / a : y * z};
      vec_push(s->arena, &series, at);
    }
    vec_push(s->arena, plot, series);
  }
}

static tile_status write_plot(const Sweep *s, Buf *b, tile_error **error) {
  Plot plot = {.title = arena_printf(s->arena, "%s on %s", s->kernel ? s->kernel : "", s->device ? s->device : ""),
               .x_name = s->axes.data[0].names,
               .y_name = unit(s),
               .is_log = s->axes.data[0].is_geometric};
  add_own_series(s, &plot);
  for (uint32_t i = 0; i < s->options->peers.count; i++)
    RETURN_IF_FAILED(plot_read_csv(s->arena, s->options->peers.data[i], &plot, error));
  plot_svg(&plot, b);
  return TILE_OK;
}

static tile_status write_outputs(const Sweep *s, tile_error **error) {
  for (uint32_t i = 0; i < s->options->bench_outs.count; i++) {
    const char *path = s->options->bench_outs.data[i];
    Buf b = buf_make(s->arena);
    if (file_has_suffix(path, ".csv")) write_csv(s, &b);
    else if (file_has_suffix(path, ".json")) write_json(s, &b);
    else RETURN_IF_FAILED(write_plot(s, &b, error));
    RETURN_IF_FAILED(file_write(s->arena, path, buf_str(&b), b.size, error));
  }
  return TILE_OK;
}

static tile_status check_options(const Options *o, FileUses *uses, tile_error **error) {
  RETURN_IF_FAILED(file_uses_add_inputs(uses, o, error));
  for (uint32_t i = 0; i < o->peers.count; i++)
    RETURN_IF_FAILED(file_uses_add(uses, o->arena, NULL, o->peers.data[i], error));
  for (uint32_t i = 0; i < o->bench_outs.count; i++) {
    const char *path = o->bench_outs.data[i];
    if (!file_has_suffix(path, ".csv") && !file_has_suffix(path, ".json") && !file_has_suffix(path, ".svg"))
      return error_set(error, TILE_ERROR_USAGE, "--bench-out %s: the name must end in .csv, .json or .svg", path);
    RETURN_IF_FAILED(file_uses_add(uses, o->arena, "--bench-out", path, error));
  }
  return TILE_OK;
}

static void make_points(Sweep *s) {
  s->num_points = s->axes.data[0].count;
  for (uint32_t i = 1; i < s->axes.count; i++) s->num_points *= s->axes.data[i].count;
  s->points = arena_array(s->arena, Point, s->num_points + 1);
  for (uint32_t k = 0; k < s->num_points; k++) {
    int64_t *values = arena_array(s->arena, int64_t, s->axes.count);
    for (uint32_t i = s->axes.count, rest = k; i-- > 0; rest /= s->axes.data[i].count)
      values[i] = s->axes.data[i].values[rest % s->axes.data[i].count];
    s->points[k].values = values;
  }
}

static tile_status read_axes(Sweep *s, tile_error **error) {
  uint64_t total = 1;
  for (uint32_t i = 0; i < s->options->sweeps.count; i++) {
    Axis axis;
    RETURN_IF_FAILED(read_axis(s->arena, s->options->sweeps.data[i], &axis, error));
    vec_push(s->arena, &s->axes, axis);
    if ((total *= axis.count) > MAX_POINTS)
      return error_set(error, TILE_ERROR_USAGE, "--sweep: more than %d points", MAX_POINTS);
  }
  return TILE_OK;
}

static tile_status sweep(Sweep *s, tile_device **device, tile_error **error) {
  const Options *o = s->options;
  RETURN_IF_FAILED(check_options(o, &s->uses, error));
  RETURN_IF_FAILED(read_axes(s, error));
  RETURN_IF_FAILED(session_set_up_simulator(o, s->arena, error));
  RETURN_IF_FAILED(cli_open_device(o->device, device, error));
  s->is_gpu = !strcmp(tile_device_kind(*device), "gpu");
  make_points(s);
  bool any = false;
  for (uint32_t k = 0; k < s->num_points; k++) {
    RETURN_IF_FAILED(measure(s, &s->points[k], error));
    any = any || !s->points[k].failure;
    if (!k) print_head(s);
    print_row(s, &s->points[k]);
  }
  if (!any)
    return error_set(error, TILE_ERROR_RUN, "no point of the sweep could be measured; the first: %s",
                     s->points[0].failure);
  return write_outputs(s, error);
}

int sweep_main(const Options *o, Arena *arena) {
  tile_error *error = NULL;
  Sweep s = {.options = o, .arena = arena, .is_flops = o->flops != NULL};
  tile_device *device = NULL;   // held open, so that each point opens it cheaply
  tile_status status = sweep(&s, &device, &error);
  tile_device_close(device);
  return cli_finish(status, error, o);
}
