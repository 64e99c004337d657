// Warns of environment variables that look like misspelled ones of tilec: they have no effect.
#include <string.h>

#include "ir/nearest.h"
#include "runtime/cli/cli.h"

extern char **environ;

static const char prefix[] = "TILE_";

static bool is_known(const char *name) {
  for (uint32_t i = 0; i < NUM_OWN_VARIABLES; i++)
    if (!strcmp(option_variables[i].name, name)) return true;
  return false;
}

// The known name that differs from this one by few letters after the prefix, or NULL.
static const char *nearest_variable(const char *name) {
  const char *rests[NUM_OWN_VARIABLES];
  for (uint32_t i = 0; i < NUM_OWN_VARIABLES; i++) rests[i] = option_variables[i].name + sizeof prefix - 1;
  const char *rest = nearest_name(name + sizeof prefix - 1, rests, countof(rests));
  return rest ? rest - (sizeof prefix - 1) : NULL;
}

// Other programs use the prefix TILE_, too; TILE_SIM_ and TILE_CACHE_ are ours alone.
static bool is_surely_meant(const char *name) {
  return !strncmp(name, "TILE_SIM_", 9) || !strncmp(name, "TILE_CACHE_", 11);
}

void cli_warn_environment(const Options *o) {
  for (char **e = environ; !o->quiet && *e; e++) {
    const char *end = strchr(*e, '=');
    if (!end || strncmp(*e, prefix, sizeof prefix - 1)) continue;
    const char *name = arena_strndup(o->arena, *e, (size_t)(end - *e));
    if (is_known(name)) continue;
    const char *near = nearest_variable(name);
    if (near)
      cli_say(o, TILE_LEVEL_WARNING, "the environment has %s, which nothing reads; did you mean %s?", name, near);
    else if (is_surely_meant(name))
      cli_say(o, TILE_LEVEL_WARNING, "the environment has %s, which nothing reads; `man tilec` lists what is read",
              name);
  }
}
