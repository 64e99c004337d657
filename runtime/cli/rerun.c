#include "runtime/cli/rerun.h"

#include <string.h>

#include "ir/clock.h"
#include "runtime/cli/cli.h"

enum { PATIENCE_MS = 4000 };

static bool step_once(void *user, const InterpStep *step) {
  enum { LOOK_EVERY = 64 };
  Rerun *r = user;
  if (r->steps++ % LOOK_EVERY == 0 && clock_ms() > r->deadline) return false;
  const bool is_watched = !r->has_writer || !memcmp(r->writes.program, step->program, sizeof r->writes.program);
  return !is_watched || !r->watch || r->watch(r->user, step);
}

static bool start(Rerun *r, tile_error **error) {
  Session *s = &r->session;
  CompileJob job = *s->run->job;
  job.emit = 0;
  job.stops = false;
  job.printed = job.times = NULL;
  if (cli_open_device("interp", &s->device, error) || session_compile(s, &job, s->run->config, error)) return false;
  device_debug_interp(s->device, &(Debugger){.watch = step_once, .user = r});
  if (session_prepare(s, error)) return false;
  s->kernel->alike = 0;        // the first run has told of it
  return true;
}

bool rerun_open(Rerun *r, Run *run) {
  *r = (Rerun){.session = {.run = run}, .deadline = clock_ms() + PATIENCE_MS};
  r->kept = arena_array(run->arena, RunBuffer, run->num_buffers + 1);
  memcpy(r->kept, run->buffers, run->num_buffers * sizeof *r->kept);
  for (uint32_t i = 0; i < run->num_buffers; i++) run->buffers[i].block = 0;   // they belong to another device
  tile_error *error = NULL;
  const bool ok = start(r, &error);
  tile_error_free(error);
  return ok;
}

bool rerun_launch(Rerun *r, bool (*watch)(void *user, const InterpStep *step), void *user) {
  Session *s = &r->session;
  tile_error *error = NULL;
  r->watch = watch;
  r->user = user;
  bool ok = clock_ms() < r->deadline;
  for (uint32_t i = 0; ok && i < s->run->num_buffers; i++) {
    const RunBuffer *b = &s->run->buffers[i];
    ok = !tile_memory_upload(s->device, b->address, b->initial.data, host_bytes(&b->initial), &error);
  }
  ok = ok && !session_launch(s, &error);
  if (error && tile_error_status(error) == TILE_ERROR_RUN)
    r->error = arena_printf(s->run->arena, "%s", tile_error_message(error));
  tile_error_free(error);
  return ok;
}

static bool note_writes(void *user, const InterpStep *step) {
  Rerun *r = user;
  writes_note(&r->writes, r->session.run, step);
  return true;
}

bool rerun_find(Rerun *r, const RunBuffer *b, uint64_t index) {
  writes_begin(&r->writes, r->session.run->arena, b, index);
  if (!rerun_launch(r, note_writes, r)) return false;
  r->held = rerun_bits(r);
  r->has_writer = r->writes.op != NULL;
  return true;
}

uint64_t rerun_bits(const Rerun *r) { return writes_bits(&r->writes); }

static double number_of(const Rerun *r, uint64_t bits) {
  const HostTensor t = {.dtype = r->writes.buffer->initial.dtype, .count = 1, .data = (uint8_t *)&bits};
  return host_get(&t, 0);
}

double rerun_number(const Rerun *r) { return number_of(r, rerun_bits(r)); }
double rerun_held(const Rerun *r) { return number_of(r, r->held); }

void rerun_close(Rerun *r) {
  Run *run = r->session.run;
  session_close(&r->session);
  memcpy(run->buffers, r->kept, run->num_buffers * sizeof *r->kept);
}
