// The cache on disk: what comes back is what was put or nothing, whatever happens to the files and however many write.
#include "unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/jit/cache.h"

static char dir[64];
static int set_up(void **state) {
  (void)state;
  strcpy(dir, "/tmp/tile-cache-XXXXXX");
  return mkdtemp(dir) ? 0 : -1;
}
static int tear_down(void **state) {
  (void)state;
  char command[160];
  snprintf(command, sizeof command, "chmod -R u+w %s && rm -r %s", dir, dir);
  return system(command);
}

enum { ENTRIES = 24, MAX_PAYLOAD = 5000 };
static size_t payload_of(int i, char *out) {
  size_t n = (size_t)(i * 199 % MAX_PAYLOAD);
  for (size_t k = 0; k < n; k++) out[k] = (char)(i * 31 + (int)k * 7);
  return n;
}
static size_t key_of(int i, char *out) { return (size_t)sprintf(out, "key %d with more than eight bytes", i); }

static void put_entry(const Cache *c, int i) {
  char key[64], payload[MAX_PAYLOAD];
  size_t n = key_of(i, key);
  cache_put(c, key, n, payload, payload_of(i, payload));
}
// 1: right, 0: a miss, −1: wrong.
static int get_entry(const Cache *c, int i) {
  char key[64], payload[MAX_PAYLOAD];
  size_t n = key_of(i, key), size = payload_of(i, payload), got;
  char *p = cache_get(c, key, n, &got);
  int result = !p ? 0 : got == size && !memcmp(p, payload, size) ? 1 : -1;
  free(p);
  return result;
}

// The path of the only entry.
static void only_entry(char *path, size_t size) {
  for (int i = 0; i < 256; i++) {
    char folder[128];
    snprintf(folder, sizeof folder, "%s/%02x", dir, i);
    DIR *d = opendir(folder);
    for (struct dirent *e; d && (e = readdir(d));)
      if (e->d_name[0] != '.') snprintf(path, size, "%s/%s", folder, e->d_name);
    if (d) closedir(d);
  }
}

TEST(put_and_get) {
  Cache *c = cache_open(dir);
  for (int i = 0; i < ENTRIES; i++) assert_int_equal(get_entry(c, i), 0);
  for (int i = 0; i < ENTRIES; i++) put_entry(c, i);
  for (int i = 0; i < ENTRIES; i++) assert_int_equal(get_entry(c, i), 1);
  assert_int_equal(cache_stats(c).entries, ENTRIES);
  uint64_t bytes = cache_stats(c).bytes;
  CacheStats removed = cache_trim(c, bytes / 2);
  assert_true(removed.bytes >= bytes / 2 && removed.entries < ENTRIES && cache_stats(c).bytes <= bytes / 2);
  cache_trim(c, 0);
  assert_int_equal(cache_stats(c).entries, 0);
  cache_close(c);
}

TEST(damage) {
  Cache *c = cache_open(dir);
  char path[512];
  put_entry(c, 3);
  only_entry(path, sizeof path);
  struct stat st;
  assert_int_equal(stat(path, &st), 0);
  for (off_t at = 0; at < st.st_size; at++) {
    // Reserved bytes of the header mean nothing.
    if (at >= 12 && at < 16) continue;
    put_entry(c, 3);
    int fd = open(path, O_RDWR);
    char byte;
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte ^= (char)(1 << at % 8);
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
    assert_int_equal(get_entry(c, 3), 0);
    assert_int_equal(access(path, F_OK), -1);   // a damaged entry is not kept
  }
  for (off_t size = 0; size < st.st_size; size += 13) {
    put_entry(c, 3);
    assert_int_equal(truncate(path, size), 0);
    assert_int_equal(get_entry(c, 3), 0);
  }
  put_entry(c, 3);
  assert_int_equal(get_entry(c, 3), 1);
  cache_close(c);
}

TEST(racing_processes) {
  enum { PROCESSES = 16 };
  pid_t pids[PROCESSES];
  for (int p = 0; p < PROCESSES; p++) {
    if ((pids[p] = fork())) continue;
    Cache *c = cache_open(dir);
    int wrong = 0;
    for (int round = 0; round < 20; round++)
      for (int i = 0; i < ENTRIES; i++) {
        int mine = (i * 5 + p) % ENTRIES;
        if (get_entry(c, mine) < 0) wrong = 1;
        put_entry(c, mine);
        if (round == 10 && i == p && p % 4 == 0) cache_trim(c, 0);
      }
    _exit(wrong);
  }
  // Some are killed in the middle.
  usleep(3000);
  for (int p = 1; p < PROCESSES; p += 4) kill(pids[p], SIGKILL);
  for (int p = 0; p < PROCESSES; p++) {
    int status;
    waitpid(pids[p], &status, 0);
    assert_true(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
  }
  Cache *c = cache_open(dir);
  for (int i = 0; i < ENTRIES; i++) assert_true(get_entry(c, i) >= 0);
  cache_close(c);
}

TEST(layers_and_trust) {
  char shared[96], own[96];
  snprintf(shared, sizeof shared, "%s/shared", dir);
  snprintf(own, sizeof own, "%s/a/b/own", dir);
  Cache *c = cache_open(shared);
  put_entry(c, 5);
  cache_close(c);
  setenv("TILE_CACHE_RO", shared, 1);
  c = cache_open(own);
  assert_int_equal(get_entry(c, 5), 1);   // from below
  put_entry(c, 6);
  cache_close(c);
  unsetenv("TILE_CACHE_RO");
  c = cache_open(own);
  assert_int_equal(get_entry(c, 5), 0);
  assert_int_equal(get_entry(c, 6), 1);
  cache_close(c);
  // Others could write to it.
  chmod(own, 0777);
  assert_null(cache_open(own));
  chmod(own, 0700);
  // A file where the folder should be, and no folder at all.
  char path[128];
  snprintf(path, sizeof path, "%s/file", dir);
  fclose(fopen(path, "w"));
  assert_null(cache_open(path));
}

TEST(read_only_folder) {
  if (geteuid() == 0) skip();   // root writes everywhere
  char own[96];
  snprintf(own, sizeof own, "%s/own", dir);
  Cache *c = cache_open(own);
  put_entry(c, 6);
  cache_close(c);
  chmod(own, 0500);
  c = cache_open(own);
  put_entry(c, 7);
  assert_int_equal(get_entry(c, 6), 1);
  assert_int_equal(get_entry(c, 7), 0);
  cache_close(c);
}

// A relative name means what it meant when the cache was opened.
TEST(change_of_folder) {
  char before[4096];
  assert_non_null(getcwd(before, sizeof before));
  assert_int_equal(chdir(dir), 0);
  Cache *c = cache_open("here");
  put_entry(c, 5);
  assert_int_equal(mkdir("there", 0777), 0);
  assert_int_equal(chdir("there"), 0);
  assert_int_equal(get_entry(c, 5), 1);
  put_entry(c, 6);
  assert_int_not_equal(access("here", F_OK), 0);
  cache_close(c);
  assert_int_equal(chdir(before), 0);
}

// What a killed writer left goes some time, even where all is within the limit.
TEST(left_behind) {
  Cache *c = cache_open(dir);
  put_entry(c, 5);
  char path[512], left[540];
  only_entry(path, sizeof path);
  snprintf(left, sizeof left, "%s.AbCdEf", path);
  fclose(fopen(left, "w"));
  const struct timespec old[2] = {{.tv_sec = time(NULL) - 7200}, {.tv_sec = time(NULL) - 7200}};
  assert_int_equal(utimensat(AT_FDCWD, left, old, 0), 0);
  snprintf(path, sizeof path, "%s/trimmed", dir);
  assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
  put_entry(c, 6);
  assert_int_not_equal(access(left, F_OK), 0);
  assert_int_equal(get_entry(c, 5), 1);
  cache_close(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(put_and_get, set_up, tear_down), cmocka_unit_test_setup_teardown(damage, set_up, tear_down),
                                     cmocka_unit_test_setup_teardown(racing_processes, set_up, tear_down), cmocka_unit_test_setup_teardown(layers_and_trust, set_up, tear_down),
                                     cmocka_unit_test_setup_teardown(read_only_folder, set_up, tear_down),
                                     cmocka_unit_test_setup_teardown(change_of_folder, set_up, tear_down), cmocka_unit_test_setup_teardown(left_behind, set_up, tear_down)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
