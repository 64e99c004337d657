// Runs ptxas as a process, with temporary files for PTX and cubin. The error holds its messages.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/compile/compile.h"
#include "runtime/compile/temporary.h"
#include "runtime/compile/tool.h"

const char *ptxas_find(Arena *a) { return tool_find(a, "TILE_PTXAS", "ptxas"); }

const char *ptxas_version(Arena *a) {
  const char *ptxas = ptxas_find(a), *said = "", *found;
  char *argv[] = {arena_printf(a, "%s", ptxas ? ptxas : ""), arena_printf(a, "--version"), NULL};
  const int rc = ptxas ? tool_ask(a, argv, &said) : -1;
  found = rc == 0 || rc == TOOL_UNKNOWN ? strstr(said, ", V") : NULL;
  return found ? arena_printf(a, "ptxas %.*s", (int)strcspn(found + 3, " \n"), found + 3) : "ptxas";
}

typedef struct { const char *arch, *extra_options; } Request;

static tile_status failure(const char *ptxas, int rc, const char *ptx, const char *said, tile_error **error) {
  if (rc == -1) return error_set(error, TILE_ERROR_FILE, "cannot run %s: is it a program for this machine?", ptxas);
  if (rc == TOOL_KILLED + SIGKILL)
    return error_set(error, TILE_ERROR_FILE, "%s was killed, probably for lack of memory", ptxas);
  if (rc > TOOL_KILLED)
    return error_set(error, TILE_ERROR_FILE, "%s was ended by signal %d (%s)", ptxas, rc - TOOL_KILLED,
                     strsignal(rc - TOOL_KILLED));
  if (assembler_lacks_registers(ptx, said, error)) return TILE_ERROR_RESOURCES;
  if (assembler_refuses_asm(ptx, said, "this target", error)) return TILE_ERROR_ASSEMBLER;
  if (rc == TOOL_UNKNOWN) return error_set(error, TILE_ERROR_ASSEMBLER, "%s refused our PTX:\n%s", ptxas, said);
  if (!said[strspn(said, " \t\r\n")])
    return error_set(error, TILE_ERROR_FILE, "%s ended with status %d and said nothing: is it ptxas?", ptxas, rc);
  return error_set(error, TILE_ERROR_ASSEMBLER, "%s refused our PTX (exit %d):\n%s", ptxas, rc, said);
}

static tile_status assemble_once(void *user, Arena *a, const char *ptx, MachineCode *code, tile_error **error) {
  const Request *r = user;
  const char *ptxas = ptxas_find(a);
  RETURN_IF_FAILED(tool_check_named("TILE_PTXAS", error));
  if (!ptxas)
    return error_set(error, TILE_ERROR_FILE,
                     "a cubin needs ptxas, which was not found; put it on PATH, name it in TILE_PTXAS, or emit PTX");
  char *folder = tool_temporary(a);
  // All memory is allocated before the folder exists, so that a lack of memory leaves none. mkdtemp fills in its name.
  enum { ROOM = 16 };
  const size_t room = strlen(folder) + ROOM;
  char *in = arena_alloc(a, room), *out = arena_alloc(a, room), *log = arena_alloc(a, room);
  VEC(char *) argv = {0};
  char *fixed[] = {arena_printf(a, "%s", ptxas), arena_printf(a, "-arch=%s", r->arch), in, arena_printf(a, "-o"), out};
  for (uint32_t i = 0; i < countof(fixed); i++) vec_push(a, &argv, fixed[i]);
  StrList extra = options_list(a, r->extra_options ? r->extra_options : "", ' ');
  for (uint32_t i = 0; i < extra.count; i++) vec_push(a, &argv, arena_printf(a, "%s", extra.data[i]));
  vec_push(a, &argv, NULL);
  const Temporary temporaries[] = {{.path = folder}, {.path = in}, {.path = out}, {.path = log}};
  sigset_t mask;
  temporary_hold(&mask);
  const bool has_folder = mkdtemp(folder);
  snprintf(in, room, "%s/in.ptx", folder);
  snprintf(out, room, "%s/out.cubin", folder);
  snprintf(log, room, "%s/log", folder);
  for (uint32_t i = 0; has_folder && i < countof(temporaries); i++) temporary_register(&temporaries[i]);
  temporary_release(&mask);
  if (!has_folder)
    return error_set(error, TILE_ERROR_FILE, "cannot make a temporary folder %s: %s", folder, strerror(errno));

  int rc = -1;
  tile_status status = file_write(a, in, ptx, strlen(ptx), error);
  FILE *f = status == TILE_OK ? fopen(log, "w+b") : NULL;
  if (f) rc = tool_run(argv.data, fileno(f)), fclose(f);
  const bool made = rc == TOOL_UNKNOWN && access(out, R_OK) == 0;   // ptxas leaves no file when it fails
  size_t n = 0;
  code->said = "";
  if (status == TILE_OK && rc != -1) file_read(a, log, &code->said, &n, NULL);
  if (status == TILE_OK && rc != 0 && !made) status = failure(ptxas, rc, ptx, code->said, error);
  if (status == TILE_OK && access(out, R_OK) != 0)
    status = error_set(error, TILE_ERROR_FILE, "%s ended with status 0 and made no machine code: is it a ptxas?",
                       ptxas);
  if (status == TILE_OK) status = file_read(a, out, &code->cubin, &code->size, error);
  unlink(in), unlink(out), unlink(log), rmdir(folder);
  for (uint32_t i = 0; i < countof(temporaries); i++) temporary_forget(&temporaries[i]);
  return status;
}

tile_status ptxas_assemble(Arena *a, const char *ptx, const char *arch, const char *extra_options, MachineCode *code,
                           tile_error **error) {
  return assemble_checked(assemble_once, &(Request){arch, extra_options}, a, ptx, code, error);
}
