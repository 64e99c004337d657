// The cache of compiled kernels; cache.h says what it promises.
#define _GNU_SOURCE
#include "runtime/jit/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "runtime/rt/device.h"

#define SUFFIX ".tilebin"
enum { FORMAT = 1, PATH_BYTES = 4096, STALE_SECONDS = 3600, KEEP_PERCENT = 70, MAX_ENTRY = 256 << 20 };
#define DEFAULT_LIMIT (UINT64_C(1) << 30)

struct Cache {
  char dir[PATH_BYTES - 256];
  char read_only[PATH_BYTES - 256];   // "" without
  bool writable;
  uint64_t limit;
};

typedef struct {
  char magic[8];
  uint32_t format, reserved;
  uint64_t key_size, payload_size, key_sum, payload_sum;
} Header;
static const char magic[8] = "tilebin";

// Eight bytes a step, mixed by a multiplication with folded halves. Good against accidents. An entry holds its key:
// a collision costs a miss and nothing else.
static uint64_t mix(uint64_t a, uint64_t b) {
  unsigned __int128 p = (unsigned __int128)(a ^ UINT64_C(0x9e3779b97f4a7c15)) * (b | 1);
  return (uint64_t)p ^ (uint64_t)(p >> 64);
}

uint64_t cache_hash(const void *data, size_t size, uint64_t seed) {
  const unsigned char *p = data;
  uint64_t h = mix(seed + size, UINT64_C(0xd1342543de82ef95));
  for (size_t i = 0; i < size; i += 8) {
    uint64_t word = 0;
    memcpy(&word, p + i, size - i < 8 ? size - i : 8);
    h = mix(h ^ word, UINT64_C(0xa0761d6478bd642f)) + word;
  }
  return mix(h, UINT64_C(0xe7037ed1a0b428db));
}

// ---- opening ----

static bool make_folders(char *path) {
  for (char *p = path + 1; *p; p++) {
    if (*p != '/') continue;
    *p = 0;
    bool ok = mkdir(path, 0700) == 0 || errno == EEXIST;
    *p = '/';
    if (!ok) return false;
  }
  return mkdir(path, 0700) == 0 || errno == EEXIST;
}

// The folder keeps one name wherever the host goes: what is trusted here must be what is read later.
static bool make_absolute(char *dir, size_t size) {
  char *real = realpath(dir, NULL);
  bool ok = real && strlen(real) < size;
  if (ok) strcpy(dir, real);
  free(real);
  return ok;
}

// Entries are code: a folder that others can write to is not trusted.
static bool is_trusted(const char *dir, bool ours) {
  struct stat st;
  if (stat(dir, &st) || !S_ISDIR(st.st_mode)) return false;
  return (st.st_mode & 022) == 0 && (!ours || st.st_uid == geteuid());
}

// "512M". False if what is meant is not clear.
static bool parse_limit(const char *s, uint64_t *limit) {
  char *end;
  *limit = DEFAULT_LIMIT;
  if (!s || !*s) return true;
  double v = strtod(s, &end);
  if (end == s || !(v >= 0)) return false;
  while (*end == ' ') end++;
  static const char units[] = "KMGT";
  const char *unit = *end ? strchr(units, *end & ~32) : NULL;
  if (*end && (!unit || !*unit || end[1])) return false;
  for (long i = unit ? unit - units : -1; i >= 0; i--) v *= 1024;
  *limit = v < 1e18 ? (uint64_t)v : UINT64_C(1000000000000000000);
  return true;
}

static const char size_variable[] = "TILE_CACHE_SIZE";

tile_status cache_check_environment(tile_error **error) {
  const char *size = getenv(size_variable);
  uint64_t limit;
  return parse_limit(size, &limit) ? TILE_OK
                                   : error_set(error, TILE_ERROR_USAGE,
                                               "%s=%s: a number of bytes is needed, as in 512M or 2G",
                                               size_variable, size);
}

static bool open_folder(char *dir, size_t size, bool make) {
  struct stat st;
  if (make ? !make_folders(dir) : stat(dir, &st) != 0) return !make && errno == ENOENT;
  return make_absolute(dir, size) && is_trusted(dir, true);
}

static Cache *open_cache(const char *dir, bool make) {
  Cache *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  const char *own = getenv("TILE_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"),
             *read_only = getenv("TILE_CACHE_RO");
  if (!dir && own && *own) dir = own;
  int n = 0;
  if (dir) n = snprintf(c->dir, sizeof c->dir, "%s", dir);
  else if (xdg && *xdg == '/') n = snprintf(c->dir, sizeof c->dir, "%s/tilec", xdg);
  else if (home && *home == '/') n = snprintf(c->dir, sizeof c->dir, "%s/.cache/tilec", home);
  bool usable = n > 0 && (size_t)n < sizeof c->dir && open_folder(c->dir, sizeof c->dir, make);
  if (!usable) c->dir[0] = 0;
  c->writable = usable && (access(c->dir, W_OK) == 0 || errno == ENOENT);
  parse_limit(getenv(size_variable), &c->limit);
  if (read_only && *read_only && strlen(read_only) < sizeof c->read_only) {
    strcpy(c->read_only, read_only);
    if (!make_absolute(c->read_only, sizeof c->read_only) || !is_trusted(c->read_only, false)) c->read_only[0] = 0;
  }
  if (c->dir[0] || c->read_only[0]) return c;
  free(c);
  return NULL;
}

Cache *cache_open(const char *dir) { return open_cache(dir, true); }
Cache *cache_look(void) { return open_cache(NULL, false); }
bool cache_is_writable(const Cache *c) { return c->writable; }
void cache_close(Cache *c) { free(c); }

// ---- entries ----

static void entry_path(char *out, const char *dir, const void *key, size_t key_size) {
  uint64_t a = cache_hash(key, key_size, 1), b = cache_hash(key, key_size, 2);
  snprintf(out, PATH_BYTES, "%s/%02x/%014llx%016llx" SUFFIX, dir, (unsigned)(a >> 56),
           (unsigned long long)(a & (~UINT64_C(0) >> 8)), (unsigned long long)b);
}

static bool read_all(int fd, void *to, size_t size) {
  for (char *p = to; size;) {
    ssize_t n = read(fd, p, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    size -= (size_t)n;
  }
  return true;
}

static bool write_all(int fd, const void *from, size_t size) {
  for (const char *p = from; size;) {
    ssize_t n = write(fd, p, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    p += n;
    size -= (size_t)n;
  }
  return true;
}

typedef enum { ENTRY_ABSENT, ENTRY_OTHER_KEY, ENTRY_DAMAGED, ENTRY_GOOD } EntryState;

static EntryState read_entry(int fd, const struct stat *st, const void *key, size_t key_size, char **payload,
                             size_t *size) {
  Header h;
  if (!S_ISREG(st->st_mode) || st->st_size < (off_t)sizeof h || st->st_size > MAX_ENTRY || !read_all(fd, &h, sizeof h))
    return ENTRY_DAMAGED;
  uint64_t rest = (uint64_t)st->st_size - sizeof h;
  if (memcmp(h.magic, magic, sizeof magic) || h.format != FORMAT || h.key_size > rest ||
      h.payload_size != rest - h.key_size)
    return ENTRY_DAMAGED;
  char *bytes = malloc(rest ? rest : 1);
  if (!bytes) return ENTRY_ABSENT;
  EntryState state = ENTRY_DAMAGED;
  if (read_all(fd, bytes, rest) && cache_hash(bytes, h.key_size, 3) == h.key_sum &&
      cache_hash(bytes + h.key_size, h.payload_size, 4) == h.payload_sum)
    state = h.key_size == key_size && !memcmp(bytes, key, key_size) ? ENTRY_GOOD : ENTRY_OTHER_KEY;
  if (state == ENTRY_GOOD) {
    memmove(bytes, bytes + h.key_size, h.payload_size);
    *payload = bytes;
    *size = h.payload_size;
  } else {
    free(bytes);
  }
  return state;
}

static void *get_from(const char *dir, bool writable, const void *key, size_t key_size, size_t *size) {
  char path[PATH_BYTES];
  entry_path(path, dir, key, key_size);
  // O_NONBLOCK: a pipe of this name must not make the reader wait.
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return NULL;
  struct stat st;
  char *payload = NULL;
  EntryState state = fstat(fd, &st) ? ENTRY_ABSENT : read_entry(fd, &st, key, key_size, &payload, size);
  if (writable && state == ENTRY_DAMAGED) unlink(path);
  // The time of last use, for trimming; not written at every use.
  if (writable && state == ENTRY_GOOD && st.st_mtime + STALE_SECONDS < time(NULL)) futimens(fd, NULL);
  close(fd);
  return payload;
}

void *cache_get(const Cache *c, const void *key, size_t key_size, size_t *size) {
  void *p = c && c->dir[0] ? get_from(c->dir, c->writable, key, key_size, size) : NULL;
  return p || !c || !c->read_only[0] ? p : get_from(c->read_only, false, key, key_size, size);
}

// Whoever comes first checks the limit, once an hour: the marker's time says when that was.
static void trim_if_due(const Cache *c) {
  char path[PATH_BYTES];
  snprintf(path, sizeof path, "%s/trimmed", c->dir);
  struct stat st;
  time_t now = time(NULL);
  if (stat(path, &st) == 0 && st.st_mtime <= now && st.st_mtime + STALE_SECONDS > now) return;
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (fd < 0) return;
  futimens(fd, NULL);
  close(fd);
  // Within the limit, only what killed writers left is deleted.
  cache_trim(c, cache_stats(c).bytes > c->limit ? c->limit / 100 * KEEP_PERCENT : UINT64_MAX);
}

void cache_put(const Cache *c, const void *key, size_t key_size, const void *payload, size_t size) {
  if (!c || !c->writable || key_size + size > MAX_ENTRY - sizeof(Header)) return;
  char path[PATH_BYTES], folder[PATH_BYTES], temporary[PATH_BYTES + 8];
  entry_path(path, c->dir, key, key_size);
  snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(path, '/') - path), path);
  if (mkdir(folder, 0700) && errno != EEXIST) return;
  snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
  int fd = mkostemp(temporary, O_CLOEXEC);
  if (fd < 0) return;
  Header h = {.format = FORMAT,
              .key_size = key_size,
              .payload_size = size,
              .key_sum = cache_hash(key, key_size, 3),
              .payload_sum = cache_hash(payload, size, 4)};
  memcpy(h.magic, magic, sizeof magic);
  bool ok = write_all(fd, &h, sizeof h) && write_all(fd, key, key_size) && write_all(fd, payload, size);
  ok = close(fd) == 0 && ok;
  if (!ok || rename(temporary, path)) unlink(temporary);
  else trim_if_due(c);
}

// ---- all entries ----

typedef struct { char *path; uint64_t bytes; time_t used; } Found;
typedef struct { Found *data; size_t count, capacity; } FoundList;

static void add_found(FoundList *list, const char *path, const struct stat *st, time_t now) {
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? list->capacity * 2 : 256;
    Found *bigger = realloc(list->data, capacity * sizeof *bigger);
    if (!bigger) return;
    list->data = bigger;
    list->capacity = capacity;
  }
  char *copy = strdup(path);
  // A time in the future (another machine's clock) counts as now.
  if (copy) list->data[list->count++] = (Found){copy, (uint64_t)st->st_size, st->st_mtime < now ? st->st_mtime : now};
}

static void find_in(const char *folder, FoundList *list, bool remove_stale) {
  DIR *d = opendir(folder);
  if (!d) return;
  time_t now = time(NULL);
  for (struct dirent *e; (e = readdir(d));) {
    char path[PATH_BYTES * 2];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    const char *suffix = strstr(e->d_name, SUFFIX);
    if (!suffix || lstat(path, &st) || !S_ISREG(st.st_mode)) continue;
    if (!suffix[strlen(SUFFIX)]) add_found(list, path, &st, now);
    else if (remove_stale && st.st_mtime + STALE_SECONDS < now) unlink(path);   // a writer that was killed
  }
  closedir(d);
}

static FoundList find_all(const Cache *c, bool remove_stale) {
  FoundList list = {0};
  for (unsigned i = 0; i < 256; i++) {
    char folder[PATH_BYTES];
    snprintf(folder, sizeof folder, "%s/%02x", c->dir, i);
    find_in(folder, &list, remove_stale);
  }
  return list;
}

static void free_found(FoundList *list) {
  for (size_t i = 0; i < list->count; i++) free(list->data[i].path);
  free(list->data);
}

CacheStats cache_stats(const Cache *c) {
  CacheStats s = {.folder = c->dir, .limit = c->limit};
  if (!c->dir[0]) return s;
  FoundList list = find_all(c, false);
  for (size_t i = 0; i < list.count; i++) s.entries++, s.bytes += list.data[i].bytes;
  free_found(&list);
  return s;
}

static int by_use(const void *a, const void *b) {
  const Found *x = a, *y = b;
  return (x->used > y->used) - (x->used < y->used);
}

CacheStats cache_trim(const Cache *c, uint64_t limit) {
  CacheStats removed = {.folder = c->dir, .limit = limit};
  if (!c->writable) return removed;
  FoundList list = find_all(c, true);
  uint64_t total = 0;
  for (size_t i = 0; i < list.count; i++) total += list.data[i].bytes;
  if (list.count) qsort(list.data, list.count, sizeof *list.data, by_use);
  for (size_t i = 0; i < list.count && total > limit; i++) {
    if (unlink(list.data[i].path)) continue;
    total -= list.data[i].bytes;
    removed.entries++;
    removed.bytes += list.data[i].bytes;
  }
  free_found(&list);
  return removed;
}
