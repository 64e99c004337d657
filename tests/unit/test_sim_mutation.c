// The checkers against a correct TMA + wgmma + mbarrier kernel: silent on it for many seeds, and each synchronisation
// instruction taken away or weakened is reported. Prints the verdicts.
#include "tests/unit/sim_matmul.h"

static const char *const kernel = "tests/sim/recorded/tma_wgmma.ptx";
enum { MUTANT_SEEDS = 12, CLEAN_SEEDS = 12 };

// The nth line (from 1) that contains `line` has `from` replaced by `to`; from NULL: the whole line becomes `to`.
typedef struct { const char *what, *line; int nth; const char *from, *to; bool needed; } Mutation;
static const Mutation mutations[] = {
  {"no init of full[0]", "mbarrier.init", 1, NULL, "", true},
  {"no init of empty[0]", "mbarrier.init", 2, NULL, "", true},
  {"no init of full[1]", "mbarrier.init", 3, NULL, "", true},
  {"no init of empty[1]", "mbarrier.init", 4, NULL, "", true},
  {"full[0] expects 2 arrivals", "mbarrier.init", 1, "%r16", "2", true},
  {"empty[0] expects 3 arrivals", "mbarrier.init", 2, "%r18", "3", true},
  {"empty[1] expects 5 arrivals", "mbarrier.init", 4, "%r18", "5", true},
  {"no fence after init", "fence.mbarrier_init", 1, NULL, "", true},
  {"no barrier after init", "bar.sync \t0", 1, NULL, "", true},
  {"producer does not wait for empty", "mbarrier.try_wait", 1, NULL, "setp.eq.u32 done, 0, 0;", true},
  {"producer tests empty once", "bra WAIT_", 1, NULL, "", true},
  {"no expect_tx, no arrival", "expect_tx", 1, NULL, "", true},
  {"arrival without expect_tx", "expect_tx", 1, NULL, "mbarrier.arrive.shared::cta.b64 _, [%r88];", true},
  {"expect_tx without arrival", "expect_tx", 1, "arrive.expect_tx.shared::cta.b64 _,", "expect_tx.relaxed.cta.shared::cta.b64", true},
  {"16 bytes too many expected", "expect_tx", 1, "%r89", "16400", true},
  {"16 bytes too few expected", "expect_tx", 1, "%r89", "16368", true},
  {"load of A missing", "cp.async.bulk.tensor", 1, NULL, "", true},
  {"consumer does not wait for full", "mbarrier.try_wait", 2, NULL, "setp.eq.u32 done, 0, 0;", true},
  {"consumer tests full once", "bra WAIT_", 2, NULL, "", true},
  {"consumer waits for the wrong phase", "mbarrier.try_wait", 2, "%r23", "1", true},
  {"producer waits for the wrong phase", "mbarrier.try_wait", 1, "%r87", "0", true},
  {"no wgmma.fence", "wgmma.fence", 1, NULL, "", true},
  {"no wgmma commit", "wgmma.commit_group", 1, NULL, "", true},
  {"no wgmma wait in the loop", "wgmma.wait_group", 1, NULL, "", true},
  {"wgmma wait leaves 2 groups", "wgmma.wait_group", 1, "aligned 1", "aligned 2", true},
  {"wgmma wait leaves none", "wgmma.wait_group", 1, "aligned 1", "aligned 0", false},
  {"no arrival on empty", "mbarrier.arrive.shared", 1, NULL, "", true},
  {"no last wgmma wait", "wgmma.wait_group", 2, NULL, "", true},
  {"last wgmma wait leaves a group", "wgmma.wait_group", 2, "aligned 0", "aligned 1", true},
  {"accumulator copied across the wait", "wgmma.wait_group", 2, NULL, "{ .reg .f32 x; mov.f32 x, ACC; wgmma.wait_group.sync.aligned 0; mov.f32 ACC, x; }", false},
  {"copy of an accumulator used before the wait", "wgmma.wait_group", 2, NULL, "{ .reg .f32 x; mov.f32 x, ACC; add.f32 x, x, x; wgmma.wait_group.sync.aligned 0; }", true},
  {"no proxy fence before the store", "fence.proxy.async", 1, NULL, "", true},
  {"proxy fence by the issuing warp only", "fence.proxy.async", 1, "fence", "@%p_issuer fence", true},
  {"no barrier before the store", "bar.sync \t1", 1, NULL, "", true},
  {"no commit of the store", "cp.async.bulk.commit_group", 1, NULL, "", true},
  {"no wait for the store", "cp.async.bulk.wait_group", 1, NULL, "", true},
  {"wait leaves the store", "cp.async.bulk.wait_group", 1, "wait_group 0", "wait_group 1", true},
  {"wait for the store's reads only", "cp.async.bulk.wait_group", 1, "wait_group 0", "wait_group.read 0", false},
};

// Lines are compared with runs of blanks as one space.
static bool contains(const char *line, size_t n, const char *what) {
  char flat[256];
  size_t k = 0;
  for (size_t i = 0; i < n && k + 1 < sizeof flat; i++) {
    char c = line[i] == '\t' ? ' ' : line[i];
    if (c != ' ' || (k && flat[k - 1] != ' ')) flat[k++] = c;
  }
  flat[k] = 0;
  char want[64];
  k = 0;
  for (const char *s = what; *s; s++) {
    char c = *s == '\t' ? ' ' : *s;
    if (c != ' ' || (k && want[k - 1] != ' ')) want[k++] = c;
  }
  want[k] = 0;
  return strstr(flat, want);
}

// ACC stands for the first accumulator register.
static void name_accumulator(const char *text, const char *what, char *out, size_t size) {
  const char *at = strstr(text, "wgmma.mma_async");
  at = strchr(at, '{') + 1;
  size_t n = 0;
  for (const char *s = what; *s && n + 32 < size; s++) {
    if (strncmp(s, "ACC", 3)) {
      out[n++] = *s;
      continue;
    }
    n += (size_t)snprintf(out + n, size - n, "%.*s", (int)strcspn(at, ","), at);
    s += 2;
  }
  out[n] = 0;
}

static char *mutate(const char *text, const Mutation *m) {
  char *out = malloc(strlen(text) + 1024), *to = out, replacement[512];
  name_accumulator(text, m->to, replacement, sizeof replacement);
  int seen = 0;
  bool done = false;
  for (const char *line = text; *line;) {
    size_t n = strcspn(line, "\n");
    const char *end = line + n;
    if (contains(line, n, m->line) && ++seen == m->nth) {
      const char *at = m->from ? strstr(line, m->from) : line;
      assert_true(at && at < end);
      const char *rest = m->from ? at + strlen(m->from) : end;
      to += sprintf(to, "%.*s%s%.*s\n", (int)(at - line), line, replacement, (int)(end - rest), rest);
      done = true;
    } else {
      to += sprintf(to, "%.*s\n", (int)n, line);
    }
    line = *end ? end + 1 : end;
  }
  *to = 0;
  if (!done) fail_msg("%s: no such line", m->what);
  if (strstr(m->to, "%p_issuer")) {  // a predicate that holds in warp 0
    char *at = strstr(out, "fence.proxy.async");
    while (at > out && at[-1] != '\n') at--;
    static const char set[] = "{ .reg .pred p; .reg .b32 t; mov.u32 t, %tid.x; setp.lt.u32 p, t, 32; @p fence.proxy.async.shared::cta; }\n";
    char *line_end = strchr(at, '\n');
    memmove(at + sizeof set - 1, line_end + 1, strlen(line_end + 1) + 1);
    memcpy(at, set, sizeof set - 1);
  }
  return out;
}

TEST(test_clean) {
  Matmul m;
  matmul_open(&m);
  size_t size;
  char *text = read_text(kernel, &size);
  PtxModule *mod = ptx_module_load(m.device, text, size);
  assert_null(mod->error);
  const char *more = getenv("TILE_TEST_SEEDS");
  int seeds = more ? atoi(more) : CLEAN_SEEDS, wrong;
  for (int s = 0; s < seeds; s++) {
    CUresult rc = matmul_run(&m, mod, (uint64_t)s, &wrong);
    if (rc || wrong) fail_msg("seed %d: %d elements differ; %s", s, wrong, rc ? m.sim.report : "no report");
  }
  ptx_module_free(mod);
  free(text);
  matmul_close(&m);
}

TEST(test_mutants) {
  Matmul m;
  matmul_open(&m);
  m.sim.max_steps = 2000000;
  size_t size;
  char *text = read_text(kernel, &size);
  int failures = 0;
  for (size_t i = 0; i < sizeof mutations / sizeof mutations[0]; i++) {
    const Mutation *mu = &mutations[i];
    char *changed = mutate(text, mu);
    PtxModule *mod = ptx_module_load(m.device, changed, strlen(changed));
    if (mod->error) fail_msg("%s: %s", mu->what, mod->error);
    int reported = 0, runs = 0;
    char first[100] = "nothing";
    for (; runs < MUTANT_SEEDS && (!mu->needed || !reported); runs++) {
      int wrong;
      CUresult rc = matmul_run(&m, mod, (uint64_t)runs, &wrong);
      if (!rc && wrong) snprintf(first, sizeof first, "wrong result without a report, seed %d", runs);
      if (!rc) continue;
      if (!reported++) snprintf(first, sizeof first, "%.*s", (int)strcspn(m.sim.report, "\n"), m.sim.report);
    }
    bool right = mu->needed == (reported > 0);
    print_message("%-40s %-10s %s, %d seeds: %s\n", mu->what, mu->needed ? "needed" : "not needed", reported ? "reported" : "silent", runs, first);
    if (!right) failures++;
    ptx_module_free(mod);
    free(changed);
  }
  free(text);
  matmul_close(&m);
  assert_int_equal(failures, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_clean), cmocka_unit_test(test_mutants)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
