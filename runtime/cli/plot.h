// Lines over one axis, as SVG. Series come from the caller and from CSV files of others.
#ifndef TILE_RUNTIME_PLOT_H
#define TILE_RUNTIME_PLOT_H

#include "ir/buf.h"
#include "runtime/tile/tile.h"

typedef struct { double x, y; } PlotPoint;
typedef struct {
  const char *name;
  PlotPoint *data;
  uint32_t count, capacity;
} PlotSeries; // a VEC(PlotPoint) with a name
typedef struct {
  const char *title, *x_name, *y_name;
  bool is_log;                 // the x axis, in powers of two
  PlotSeries *data;            // a VEC(PlotSeries)
  uint32_t count, capacity;
} Plot;

// A file whose first line names its columns: the first is x, each other one a series in the plot's unit. One that
// `tilec run --sweep` wrote has the plot's unit as a column: that one alone is taken, and named after the file.
tile_status plot_read_csv(Arena *a, const char *path, Plot *plot, tile_error **error);
void plot_svg(const Plot *plot, Buf *out);

#endif
