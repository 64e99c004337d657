// Prints the options: help and man page of a subcommand, and all rows as JSON.
#include <string.h>

#include "runtime/compile/options_rows.h"

typedef struct {
  const char *usage, *does;
  const char *about;           // for the man page; a blank line parts paragraphs
  const char *const *examples;
} CommandText;

static const char *const compile_examples[] = {
    "tilec add.tile -o add.ptx",
    "tilec softmax.py -n softmax -s \"*fp32:16, *fp32:16, i32, 1024\" --arch=sm_100a --report",
    "tilec add.tile --remarks=missed -o add.ptx", NULL};
static const char *const run_examples[] = {
    "tilec run add.tile -k add --grid \"cdiv(n,BLOCK)\" --arg x=fp32[1000]=randn:1 --arg y=fp32[1000]=randn:2 "
    "--arg out=fp32[1000]=zeros --arg n=1000 --expect \"out=x + y\"",
    "tilec run add.tile … --device=sim --check --report", NULL};
static const char *const tune_examples[] = {
    "tilec tune matmul.py --grid \"cdiv(M,BM)*cdiv(N,BN)\" --arg a=fp16[M,K]=randn:1 … --tune-file matmul.json",
    NULL};
static const char *const pack_examples[] = {
    "tilec pack add.tile --arch=sm_80,sm_90a -s \"add(*fp32:16, *fp32:16, *fp32:16, i32, 1024)\" -o kernels.h", NULL};
static const char *const cache_examples[] = {"tilec cache", "TILE_CACHE_SIZE=500M tilec cache trim", NULL};

static const CommandText commands[NUM_COMMANDS] = {
    [COMMAND_COMPILE] = {"[options] FILE", "compile tile kernels to PTX",
                         "Compiles the kernels of a .tile or .py file, written in Triton\'s language, or the IR of a "
                         ".tir file.",
                         compile_examples},
    [COMMAND_RUN] = {"[options] FILE --grid X --arg NAME=SPEC …", "compile a kernel and run it",
                     "Compiles a kernel for its arguments, as a JIT does, runs it on a GPU, the simulator or the "
                     "interpreter, and prints, saves, compares or times the result.",
                     run_examples},
    [COMMAND_TUNE] = {"[options] FILE --grid X --arg NAME=SPEC …",
                      "time the configurations of an autotuned kernel",
                      "Compiles all configurations of a kernel with @triton.autotune, compares and times them, and "
                      "prints a table.",
                      tune_examples},
    [COMMAND_PACK] = {"[options] FILE… -o FILE.tilepack|FILE.h",
                      "put several architectures and signatures in one file",
                      "Makes a package, or a C header with typed launch functions, for programs without a compiler.",
                      pack_examples},
    [COMMAND_CACHE] = {"stats|trim|clear", "look after the JIT\'s cache of compiled kernels",
                       "stats (the default) tells where the cache is and how large, trim removes what was not used for "
                       "longest until it is within its limit, clear removes all.",
                       cache_examples}};

static const char *const group_titles[NUM_GROUPS] = {
    "Compiling", "Output", "Launching (run and tune)", "Running", "Tuning", "Packing", "General"};

// Groups in the order of a subcommand's help: its own come first.
static const OptionGroup order[NUM_GROUPS] = {GROUP_TUNE,    GROUP_PACK,   GROUP_LAUNCH, GROUP_RUN,
                                              GROUP_COMPILE, GROUP_OUTPUT, GROUP_INFO};

// `tilec --help` has the options about compiling; the help of a subcommand refers to it.
static bool is_shown(OptionGroup g, Command c) {
  return option_is_of(g, c) && (g != GROUP_COMPILE || c == COMMAND_COMPILE) && (g != GROUP_OUTPUT || c != COMMAND_TUNE);
}

static const struct { const char *text, *meaning; } specs[] = {
    {"3  2.5  true  none  i64:3  fp16:2.5", "a scalar, typed if need be"},
    {"fp16[512,512]=randn:SEED",
     "a buffer; also zeros ones arange fill:V uniform:SEED randint:SEED:LO:HI (LO ≤ x < HI)"},
    {"@in.npy[:bf16|fp8e4nv|fp8e5|…]", "a buffer from a file"},
    {"NAME  NAME+OFFSET", "the buffer of another argument, OFFSET elements in"},
    {"(SPEC, SPEC, …)  CLS(SPEC, …)", "a tuple or namedtuple; its items are NAME_0, NAME_1, …"},
    {"constexpr(EXPR)", "a constant, as in (fp32[8]=arange, constexpr(tl.float16))"},
    {"desc(NAME|SPEC,[BLOCK…][,shape=[…]][,strides=[…]][,nan][,layout=…])", "a tensor descriptor"}};

static const struct { int status; const char *meaning; } statuses[] = {
    {0, "ok"}, {1, "error in the program"}, {2, "usage"}, {3, "file"}, {4, "the assembler refused the PTX"},
    {5, "the run failed or its result is wrong"}, {10, "the kernel does not fit the machine"}, {70, "internal error"}};

const OptionVariable option_variables[NUM_VARIABLES] = {
#define VARIABLE(name, meaning) {name, meaning},
#include "runtime/compile/variables.def"
    {"NO_COLOR", "no colour in messages"}, {"TMPDIR", "temporary files"}};

// ---- help ----

static void put_spellings(Buf *b, const OptionRow *r) {
  if (option_has_one_dash(r)) {
    buf_printf(b, "-%s", r->name);
    if (r->arg[0]) buf_printf(b, " %s", r->arg);
    return;
  }
  if (r->kind == KIND_FLAGS) buf_printf(b, "-%s[%s], --%s[=…]", r->shorts, r->arg, r->name);
  if (r->kind == KIND_FLAGS) return;
  for (const char *s = r->shorts; *s; s++) buf_printf(b, "-%c, ", *s);
  buf_printf(b, "--%s", r->name);
  if (r->arg[0]) buf_printf(b, r->kind == KIND_OPT ? "[=%s]" : "=%s", r->arg);
}

enum { INDENT = 30, WIDTH = 100 };

// A name in the first column and text in the second, in lines that are not too long. start: of the name's line.
static void put_columns(Buf *out, size_t start, const char *text) {
  if (out->size - start > INDENT - 2) buf_putc(out, '\n'), buf_fill(out, ' ', INDENT);
  else buf_fill(out, ' ', INDENT - (out->size - start));
  uint32_t col = INDENT;
  for (const char *w = text; *w;) {
    const size_t n = strcspn(w, " ");
    if (col > INDENT && col + n + 1 > WIDTH) buf_putc(out, '\n'), buf_fill(out, ' ', INDENT), col = INDENT;
    if (col > INDENT) buf_putc(out, ' '), col++;
    buf_write(out, w, n);
    col += (uint32_t)n;
    w += n;
    while (*w == ' ') w++;
  }
  buf_putc(out, '\n');
}

static void put_usage(Buf *out, Command c) {
  const char *name = options_command_name(c);
  buf_printf(out, "usage: tilec %s%s%s\n       %s\n", name ? name : "", name ? " " : "", commands[c].usage,
             commands[c].does);
  if (c != COMMAND_COMPILE) return;
  buf_puts(out, "\nSubcommands; `tilec NAME --help` has the options of each:\n");
  for (Command k = COMMAND_RUN; k < NUM_COMMANDS; k++) {
    const size_t start = out->size;
    buf_printf(out, "  tilec %s", options_command_name(k));
    put_columns(out, start, commands[k].does);
  }
}

static const char warnings_title[] = "Warnings";

// What a warning reports, and whether it must be asked for.
static const char *warning_text(Arena *a, uint32_t i) {
  return arena_printf(a, "%s%s", warning_info[i].text, warning_info[i].is_default ? "" : " (with -Wall)");
}

static void put_warnings(Buf *out) {
  buf_printf(out, "\n%s:\n", warnings_title);
  for (uint32_t i = 0; i < NUM_WARNINGS; i++) {
    const size_t start = out->size;
    buf_printf(out, "  -W%s", warning_info[i].name);
    put_columns(out, start, warning_text(out->arena, i));
  }
}

static void print_help(Buf *out, Command c) {
  put_usage(out, c);
  for (uint32_t k = 0; k < NUM_GROUPS; k++) {
    const OptionGroup g = order[k];
    if (!is_shown(g, c)) continue;
    buf_printf(out, "\n%s:\n", group_titles[g]);
    for (uint32_t i = 0; i < NUM_OPTION_ROWS; i++) {
      if (option_rows[i].group != g) continue;
      const size_t start = out->size;
      buf_puts(out, "  ");
      put_spellings(out, &option_rows[i]);
      put_columns(out, start, option_rows[i].help);
    }
  }
  if (c == COMMAND_COMPILE) put_warnings(out);
  if (option_is_of(GROUP_COMPILE, c) && c != COMMAND_COMPILE)
    buf_puts(out, "\nThe options about compiling that `tilec --help` lists may be given, too.\n");
  if (option_is_of(GROUP_LAUNCH, c)) {
    buf_puts(out, "\nSPEC of --arg and --buf:\n");
    for (uint32_t i = 0; i < countof(specs); i++) {
      const size_t start = out->size;
      buf_printf(out, "  %s", specs[i].text);
      put_columns(out, start, specs[i].meaning);
    }
  }
  buf_puts(out, "\nExit status:\n");
  for (uint32_t i = 0; i < countof(statuses); i++)
    buf_printf(out, "  %-4d%s\n", statuses[i].status, statuses[i].meaning);
}

// ---- man page ----

static void put_roff(Buf *b, const char *s) {
  static const struct { const char *text, *roff; } others[] = {{"…", "..."}, {"≤", "\\(<="}};
  for (; *s; s++) {
    const bool is_other = (*s & 0x80) != 0;
    for (uint32_t i = 0; is_other && i < countof(others); i++)
      if (!strncmp(s, others[i].text, strlen(others[i].text))) buf_puts(b, others[i].roff);
    if (is_other) continue;
    if (*s == '-') buf_puts(b, "\\-");
    else if (*s == '\\') buf_puts(b, "\\e");
    else if (*s == '\'') buf_puts(b, "\\(aq");
    else buf_putc(b, *s);
  }
}

static void put_entry(Buf *out, const char *name, const char *text) {
  buf_puts(out, ".TP\n.B ");
  put_roff(out, name);
  buf_putc(out, '\n');
  put_roff(out, text);
  buf_putc(out, '\n');
}

static const char *upper(Arena *a, const char *s) {
  char *t = arena_strndup(a, s, strlen(s));
  for (char *p = t; *p; p++) *p -= *p >= 'a' && *p <= 'z' ? 'a' - 'A' : 0;
  return t;
}

static void put_see_also(Buf *out, Command c) {
  buf_puts(out, ".SH SEE ALSO\n");
  for (Command k = COMMAND_COMPILE, n = 0; k < NUM_COMMANDS; k++)
    if (k != c) buf_printf(out, "%s.BR tilec%s%s (1)", n++ ? ",\n" : "", options_command_name(k) ? "\\-" : "",
                           options_command_name(k) ? options_command_name(k) : "");
  buf_putc(out, '\n');
}

static void print_man(Buf *out, Command c) {
  const CommandText *t = &commands[c];
  const char *own = options_command_name(c), *dash = own ? "-" : "", *name = own ? own : "";
  buf_printf(out, ".TH TILEC%s%s 1 \"\" \"tilec %s\"\n.SH NAME\ntilec%s%s \\- ", dash, upper(out->arena, name),
             tile_version(), own ? "\\-" : "", name);
  put_roff(out, t->does);
  buf_printf(out, "\n.SH SYNOPSIS\n.B tilec%s%s\n", own ? " " : "", name);
  put_roff(out, t->usage);
  buf_puts(out, "\n.SH DESCRIPTION\n");
  put_roff(out, t->about);
  buf_putc(out, '\n');
  if (!own) {
    buf_puts(out, ".SH SUBCOMMANDS\n");
    for (Command k = COMMAND_RUN; k < NUM_COMMANDS; k++)
      put_entry(out, arena_printf(out->arena, "tilec %s", options_command_name(k)), commands[k].does);
  }
  for (uint32_t k = 0; k < NUM_GROUPS; k++) {
    if (!is_shown(order[k], c)) continue;
    buf_printf(out, ".SH %s\n", upper(out->arena, group_titles[order[k]]));
    for (uint32_t i = 0; i < NUM_OPTION_ROWS; i++) {
      if (option_rows[i].group != order[k]) continue;
      Buf spelled = buf_make(out->arena);
      put_spellings(&spelled, &option_rows[i]);
      put_entry(out, buf_str(&spelled), option_rows[i].help);
    }
  }
  if (c == COMMAND_COMPILE) {
    buf_printf(out, ".SH %s\n", upper(out->arena, warnings_title));
    for (uint32_t i = 0; i < NUM_WARNINGS; i++)
      put_entry(out, arena_printf(out->arena, "-W%s", warning_info[i].name), warning_text(out->arena, i));
  }
  if (option_is_of(GROUP_COMPILE, c) && c != COMMAND_COMPILE)
    buf_puts(out, ".PP\nThe options about compiling of\n.BR tilec (1)\nmay be given, too.\n");
  if (option_is_of(GROUP_LAUNCH, c)) {
    buf_puts(out, ".SH SPEC OF \\-\\-arg AND \\-\\-buf\n");
    for (uint32_t i = 0; i < countof(specs); i++) put_entry(out, specs[i].text, specs[i].meaning);
  }
  buf_puts(out, ".SH EXIT STATUS\n");
  for (uint32_t i = 0; i < countof(statuses); i++)
    put_entry(out, arena_printf(out->arena, "%d", statuses[i].status), statuses[i].meaning);
  buf_puts(out, ".SH ENVIRONMENT\n");
  for (uint32_t i = 0; i < NUM_VARIABLES; i++) put_entry(out, option_variables[i].name, option_variables[i].meaning);
  buf_puts(out, ".SH FILES\n");
  put_entry(out, "~/.cache/tilec",
            "the cache of compiled kernels, unless XDG_CACHE_HOME or TILE_CACHE_DIR says otherwise");
  put_entry(out, "@FILE", "on the command line: the arguments in that file");
  buf_puts(out, ".SH EXAMPLES\n");
  for (const char *const *e = t->examples; *e; e++) {
    buf_puts(out, e == t->examples ? ".EX\n" : ".PP\n.EX\n");
    put_roff(out, *e);
    buf_puts(out, "\n.EE\n");
  }
  put_see_also(out, c);
}

static void print_json(Buf *out) {
  static const char *const kinds[] = {"bool", "int", "string", "list", "optional", "flags"};
  static const char *const groups[NUM_GROUPS] = {"compile", "output", "launch", "run", "tune", "pack", "info"};
  buf_puts(out, "[\n");
  for (uint32_t i = 0; i < NUM_OPTION_ROWS; i++) {
    const OptionRow *r = &option_rows[i];
    buf_printf(out, "  {\"name\": \"%s\", \"shorts\": \"%s\", \"kind\": \"%s\", \"group\": \"%s\", \"argument\": ",
               r->name, option_has_one_dash(r) ? "" : r->shorts, kinds[r->kind], groups[r->group]);
    buf_quote(out, r->arg, strlen(r->arg));
    buf_puts(out, ", \"help\": ");
    buf_quote(out, r->help, strlen(r->help));
    buf_puts(out, i + 1 < NUM_OPTION_ROWS ? "},\n" : "}\n");
  }
  buf_puts(out, "]\n");
}

void options_print(Buf *out, OptionsForm form, Command command) {
  switch (form) {
  case OPTIONS_MAN: print_man(out, command); return;
  case OPTIONS_JSON: print_json(out); return;
  case OPTIONS_BASH: options_print_bash(out); return;
  case OPTIONS_ZSH: options_print_zsh(out); return;
  case OPTIONS_FISH: options_print_fish(out); return;
  default: print_help(out, command);
  }
}
