// Several processes and threads that add to one file of tuning results at the same time: nobody's result is lost, and whoever reads meanwhile
// finds a whole file. Also by a symbolic link, where the file is another folder's.
#include "tile_case.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/jit/jit_impl.h"

static const char source[] =
  "import triton\nimport triton.language as tl\n"
  "@triton.autotune(configs=[triton.Config({'B': b}) for b in (64, 32)], key=['n'])\n"
  "@triton.jit\n"
  "def tuned(out, n, B: tl.constexpr):\n"
  "    tl.store(out, n)\n";

enum { PROCESSES = 4, THREADS = 2, RESULTS = 25, READS = 200 };

typedef struct { const char *file; int first; bool ok; } Writer;

// Nothing here asserts: it is in threads and other processes.
static tile_jit *open_jit(tile_device *d, const char *file) {
  tile_jit *jit = NULL;
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.no_cache = true;
  o.tune = TILE_TUNE_ON;
  o.tune_file = file;
  tile_error *error = NULL;
  if (tile_jit_open_memory(d, "tuned.py", source, strlen(source), &o, &jit, &error) != TILE_OK) fprintf(stderr, "%s\n", tile_error_message(error));
  tile_error_free(error);
  return jit;
}

static void *write_results(void *user) {
  Writer *w = user;
  tile_device *d = NULL;
  tile_jit *jit = NULL;
  tile_jit_kernel *k = NULL;
  w->ok = tile_device_open("interp", &d, NULL) == TILE_OK && (jit = open_jit(d, w->file)) && tile_jit_get_kernel(jit, "tuned", &k, NULL) == TILE_OK;
  for (int i = 0; w->ok && i < RESULTS; i++) {
    char key[32];
    snprintf(key, sizeof key, "*i32, n=%d", w->first + i);
    w->ok = jit_keep_result(k, key, (uint32_t)(w->first + i) % 2, 1, NULL) == TILE_OK;
  }
  tile_jit_close(jit);
  tile_device_close(d);
  return NULL;
}

static int write_from_threads(const char *file, int first) {
  pthread_t ids[THREADS];
  Writer all[THREADS];
  bool ok = true;
  for (int i = 0; i < THREADS; i++) {
    all[i] = (Writer){file, first + i * RESULTS, false};
    ok = pthread_create(&ids[i], NULL, write_results, &all[i]) == 0 && ok;
  }
  for (int i = 0; i < THREADS; i++) ok = pthread_join(ids[i], NULL) == 0 && all[i].ok && ok;
  return ok ? 0 : 1;
}

static int read_often(const char *file) {
  tile_device *d = NULL;
  bool ok = tile_device_open("interp", &d, NULL) == TILE_OK;
  for (int i = 0; ok && i < READS; i++) {
    tile_jit *jit = open_jit(d, file);
    ok = jit != NULL;
    tile_jit_close(jit);
  }
  tile_device_close(d);
  return ok ? 0 : 1;
}

static void write_together(const char *file) {
  for (int i = 0; i <= PROCESSES; i++)
    if (fork() == 0) _exit(i < PROCESSES ? write_from_threads(file, i * THREADS * RESULTS) : read_often(file));
  for (int i = 0; i <= PROCESSES; i++) {
    int how = -1;
    wait(&how);
    assert_int_equal(how, 0);
  }
  tile_device *d = case_device("interp");
  tile_jit *jit = open_jit(d, file);
  assert_non_null(jit);
  tile_jit_kernel *k = case_kernel(jit, "tuned");
  for (int n = 0; n < PROCESSES * THREADS * RESULTS; n++) {
    char key[32];
    snprintf(key, sizeof key, "*i32, n=%d", n);
    assert_int_equal(jit_find_result(k, key), n % 2);
  }
  tile_jit_close(jit);
  tile_device_close(d);
}

TEST(together) {
  char folder[] = "/tmp/tile-tune-XXXXXX", file[64], link[128], beside[64], command[256];
  assert_non_null(mkdtemp(folder));
  snprintf(file, sizeof file, "%s/tuned.json", folder);
  write_together(file);

  snprintf(beside, sizeof beside, "%s/beside", folder);
  snprintf(link, sizeof link, "%s/tuned.json", beside);
  unlink(file);
  assert_int_equal(mkdir(beside, 0777), 0);
  assert_int_equal(symlink("../tuned.json", link), 0);
  FILE *f = fopen(file, "w");
  fputs("{\"tile_tuning\": 1, \"results\": []}\n", f);
  fclose(f);
  write_together(link);
  struct stat st;
  assert_true(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
  snprintf(command, sizeof command, "ls %s %s | wc -l", folder, beside);   // nothing is left behind: two names, two headings, a blank line, a folder
  FILE *names = popen(command, "r");
  int lines = 0;
  assert_int_equal(fscanf(names, "%d", &lines), 1);
  pclose(names);
  assert_int_equal(lines, 6);
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

static void write_text(const char *file, const char *text) {
  FILE *f = fopen(file, "w");
  assert_true(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

// Two keys that differ in a byte that is no UTF-8 would be one in the file that is written: it is refused, and stays.
TEST(foreign) {
  static const char text[] = "{\"tile_tuning\": 1, \"results\": [\n"
                             "{\"kernel\": \"tuned\", \"device\": \"d\", \"key\": \"n=1\xd0\", \"config\": \"B=64\"},\n"
                             "{\"kernel\": \"tuned\", \"device\": \"d\", \"key\": \"n=1\xd4\", \"config\": \"B=32\"}]}\n";
  char file[] = "/tmp/tile-tune-XXXXXX", wanted[256], now[sizeof text + 1] = "";
  close(mkstemp(file));
  write_text(file, "{\"tile_tuning\": 1, \"results\": []}\n");
  tile_device *d = case_device("interp");
  tile_jit *jit = open_jit(d, file), *none = NULL;
  assert_non_null(jit);
  tile_jit_kernel *k = case_kernel(jit, "tuned");
  write_text(file, text);
  snprintf(wanted, sizeof wanted, "%s:2:47: here it is not JSON in UTF-8, so it is neither used nor overwritten; correct it, or remove it and tune again", file);
  REFUSED(jit_keep_result(k, "*i32, n=7", 1, 1, &error), TILE_ERROR_FILE, wanted);
  assert_int_equal(jit_find_result(k, "*i32, n=7"), 1);   // the process has its result
  tile_jit_options o = TILE_JIT_OPTIONS_INIT;
  o.tune = TILE_TUNE_SAVED;
  o.tune_file = file;
  REFUSED(tile_jit_open_memory(d, "tuned.py", source, strlen(source), &o, &none, &error), TILE_ERROR_FILE, wanted);
  FILE *f = fopen(file, "r");
  assert_int_equal(fread(now, 1, sizeof now, f), sizeof text - 1);
  fclose(f);
  assert_string_equal(now, text);
  write_text(file, "{\"results\": 1}\n");
  snprintf(wanted, sizeof wanted, "%s holds no tuning results; `tilec tune` writes such files", file);
  REFUSED(jit_keep_result(k, "*i32, n=8", 1, 1, &error), TILE_ERROR_FILE, wanted);
  tile_jit_close(jit);
  tile_device_close(d);
  unlink(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(together), cmocka_unit_test(foreign)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
