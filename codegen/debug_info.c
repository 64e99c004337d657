// Line tables: every LLVM instruction carries the source position of the op that it came from, with the chain of calls
// that inlining dissolved. An op of the prelude has the position of the user's call. Codegen writes no other DWARF.
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "codegen/cg.h"

enum { BUCKETS = 256, DWARF_VERSION = 3 };

typedef struct ScopeEntry {
  const char *name;
  const SourceFile *file;
  LLVMMetadataRef scope;
  struct ScopeEntry *next;
} ScopeEntry;
typedef struct CallEntry { const CallSite *site; LLVMMetadataRef at; struct CallEntry *next; } CallEntry;
typedef struct FileEntry { const SourceFile *file; LLVMMetadataRef di; struct FileEntry *next; } FileEntry;

struct DebugLines {
  Cg *cg;
  LLVMDIBuilderRef di;
  LLVMMetadataRef unit, kernel, function_type;
  FileEntry *files;
  ScopeEntry *scopes;
  CallEntry *calls[BUCKETS];
  Span last_span;
  const CallSite *last_site;
};

static LLVMMetadataRef file_of(DebugLines *d, const SourceFile *f) {
  for (FileEntry *e = d->files; e; e = e->next)
    if (e->file == f) return e->di;
  const char *path = f ? f->path : "unknown", *slash = strrchr(path, '/');
  const char *base = slash ? slash + 1 : path;
  LLVMMetadataRef di = LLVMDIBuilderCreateFile(d->di, base, strlen(base), path, slash ? (size_t)(slash - path) : 0);
  FileEntry *e = arena_new(d->cg->arena, FileEntry);
  *e = (FileEntry){f, di, d->files};
  d->files = e;
  return e->di;
}

static LLVMMetadataRef make_function(DebugLines *d, const char *name, LineCol at) {
  LLVMMetadataRef file = file_of(d, at.file);
  return LLVMDIBuilderCreateFunction(d->di, file, name, strlen(name), name, strlen(name), file, at.line,
                                     d->function_type, false, true, at.line, LLVMDIFlagZero, true);
}

static LLVMMetadataRef scope_of(DebugLines *d, const char *name, LineCol at) {
  for (ScopeEntry *e = d->scopes; e; e = e->next)
    if (e->name == name && e->file == at.file) return e->scope;
  ScopeEntry *e = arena_new(d->cg->arena, ScopeEntry);
  *e = (ScopeEntry){name, at.file, make_function(d, name, at), d->scopes};
  d->scopes = e;
  return e->scope;
}

DebugLines *debug_lines_new(Cg *c) {
  DebugLines *d = arena_new(c->arena, DebugLines);
  d->cg = c;
  return d;
}

static void start(DebugLines *d, const SourceFile *f) {
  Cg *c = d->cg;
  d->di = LLVMCreateDIBuilder(c->mod);
  d->unit = LLVMDIBuilderCreateCompileUnit(d->di, LLVMDWARFSourceLanguageC, file_of(d, f), "tilec", 5, true, "", 0, 0,
                                           "", 0, LLVMDWARFEmissionLineTablesOnly, 0, false, false, "", 0, "", 0);
  d->function_type = LLVMDIBuilderCreateSubroutineType(d->di, file_of(d, f), NULL, 0, LLVMDIFlagZero);
  LLVMAddModuleFlag(c->mod, LLVMModuleFlagBehaviorWarning, "Debug Info Version", 18,
                    LLVMValueAsMetadata(cg_i32(c, DWARF_VERSION)));
}

static LLVMMetadataRef make_location(DebugLines *d, LineCol at, LLVMMetadataRef scope, LLVMMetadataRef inlined_at) {
  return LLVMDIBuilderCreateDebugLocation(d->cg->ll, at.line, at.col, scope, inlined_at);
}

void debug_lines_begin_func(DebugLines *d, Func *f) {
  LineCol at = source_locate(d->cg->ctx, f->span.begin);
  if (!d->di) start(d, at.file);
  d->kernel = make_function(d, f->name, at);
  LLVMSetSubprogram(d->cg->fn, d->kernel);
  // Scopes and call chains belong to a kernel.
  memset(d->calls, 0, sizeof d->calls);
  d->last_site = NULL;
  d->last_span = f->span;
  LLVMSetCurrentDebugLocation2(d->cg->b, make_location(d, at, d->kernel, NULL));
}

static LLVMMetadataRef call_location(DebugLines *d, const CallSite *site) {
  if (!site) return NULL;
  CallEntry **bucket = &d->calls[((uintptr_t)site >> 4) % BUCKETS];
  for (CallEntry *e = *bucket; e; e = e->next)
    if (e->site == site) return e->at;
  LineCol at = source_locate(d->cg->ctx, site->span.begin);
  LLVMMetadataRef scope = site->outer ? scope_of(d, site->outer->function, at) : d->kernel;
  LLVMMetadataRef loc = make_location(d, at, scope, call_location(d, site->outer));
  CallEntry *e = arena_new(d->cg->arena, CallEntry);
  *e = (CallEntry){site, loc, *bucket};
  *bucket = e;
  return loc;
}

void debug_lines_set(DebugLines *d, const Op *op) {
  if (op->span.begin == d->last_span.begin && op->inlined_at == d->last_site) return;
  d->last_span = op->span;
  d->last_site = op->inlined_at;
  const CallSite *site;
  LineCol at = source_locate(d->cg->ctx, op_user_place(d->cg->ctx, op, &site).begin);
  if (site) cg_require_ptx(d->cg, 72);   // inlined_at in .loc
  LLVMMetadataRef scope = site ? scope_of(d, site->function, at) : d->kernel;
  LLVMSetCurrentDebugLocation2(d->cg->b, make_location(d, at, scope, call_location(d, site)));
}

void debug_lines_free(DebugLines *d) {
  if (d->di) LLVMDisposeDIBuilder(d->di);
  d->di = NULL;
}

void debug_lines_finish(DebugLines *d) {
  if (!d->di) return;
  LLVMDIBuilderFinalize(d->di);
  debug_lines_free(d);
}
