// Plots lines over one axis as SVG. The series come from the caller and from CSV files of other programs.
#ifndef TILE_RUNTIME_PLOT_H
#define TILE_RUNTIME_PLOT_H

#include "ir/buf.h"
#include "runtime/tile/tile.h"

typedef struct { double x, y, low, high; } PlotPoint;   // low and high: the band around y; equal if there is none
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

// Adds the series of a file whose first line names its columns: the first is x, each other one is a series in the
// plot's unit. If a column has the plot's unit as its name, as `tilec run --sweep` writes it, it is the only series and
// has the file's name.
tile_status plot_read_csv(Arena *a, const char *path, Plot *plot, tile_error **error);
void plot_svg(const Plot *plot, Buf *out);

#endif
