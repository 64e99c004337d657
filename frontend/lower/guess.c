// Suggestions for an undefined name: what to write for a name from another language or library, a missing import, or
// the nearest defined name of the kind that its use calls for.
#include "frontend/lower/hints.h"
#include "frontend/lower/statements.h"
#include "frontend/lower/term.h"

#include <ctype.h>
#include <string.h>

#include "frontend/prelude/prelude.h"

// ---- names that exist ----
void lower_add_language_functions(Lower *L, NameVec *names) {
  const BuiltinRow *row;
  for (uint32_t i = 0; (row = builtin_at(i)); i++)
    if (row->name[0] != '_' && !strchr(row->name, '.')) vec_push(L->arena, names, row->name);
  const PreludeFile *f;
  for (uint32_t i = 0; (f = prelude_file(i)); i++) {
    size_t length;
    for (const char *at = f->text, *found; (found = prelude_next_function(&at, &length));) {
      bool directed = *found == '_' && memcmp(found + length - 2, "_r", 2) == 0;
      if (*found != '_') vec_push(L->arena, names, arena_strndup(L->arena, found, length));
      for (const char *d = directed ? PRELUDE_DIRECTIONS : ""; *d; d++)
        vec_push(L->arena, names, arena_printf(L->arena, "%.*s%c", (int)length - 1, found + 1, *d));
    }
  }
}

static void add_gluon_functions(Lower *L, NameVec *names) {
  const BuiltinRow *row;
  for (uint32_t i = 0; (row = builtin_at_gluon(i)); i++)
    if (row->name[0] != '_') vec_push(L->arena, names, row->name);
}

static const char *nearest(const char *name, const NameVec *names) {
  return nearest_name(name, names->data, names->count);
}

static const char *nearest_function(Lower *L, const char *name) {
  NameVec names = {0};
  lower_add_language_functions(L, &names);
  return nearest(name, &names);
}

// name: gl.FUNCTION, or gl.….MODULE.FUNCTION. Returns the nearest function of that module.
static const char *nearest_gluon(Lower *L, const char *name) {
  const char *last = strrchr(name, '.'), *module = last;
  while (module > name && module[-1] != '.') module--;
  const size_t size = (size_t)(last + 1 - module);   // of "mbarrier."
  const bool is_top = module == name;
  NameVec all = {0}, names = {0};
  add_gluon_functions(L, &all);
  for (uint32_t i = 0; i < all.count; i++) {
    const char *dot = strrchr(all.data[i], '.');
    const bool fits = is_top ? !dot : dot && !strncmp(all.data[i], module, size);
    if (fits) vec_push(L->arena, &names, is_top ? all.data[i] : dot + 1);
  }
  return nearest(last + 1, &names);
}

// The longest function name with which `name` begins or ends, in whole words: barrier for local_barrier.
static const char *part_of(Lower *L, const char *name, bool is_gluon) {
  NameVec names = {0};
  lower_add_language_functions(L, &names);
  if (is_gluon) add_gluon_functions(L, &names);
  const char *found = NULL;
  const size_t size = strlen(name);
  for (uint32_t i = 0; i < names.count; i++) {
    const char *f = names.data[i];
    const size_t n = strlen(f);
    const bool is_part = n > 3 && n + 1 < size && ((name[n] == '_' && !memcmp(name, f, n)) ||
                                                   (name[size - n - 1] == '_' && !strcmp(name + size - n, f)));
    if (is_part && (!found || n > strlen(found))) found = f;
  }
  return found;
}

static bool is_callable(const CtValue *v) {
  return v->kind == CT_FUNCTION || v->kind == CT_BUILTIN || v->kind == CT_CLASS || v->kind == CT_METHOD ||
         v->kind == CT_MISSING;
}

// The user's own names that this function sees and that can be called, or that cannot.
static NameVec own_names(Lower *L, bool callable) {
  NameVec names = {0};
  const Frame *f = L->frame;
  for (uint32_t i = 0; i < f->scope.count; i++) {
    const Var *v = &f->scope.vars[i];
    if (v->term && (term_is_const(v->term) && is_callable(v->term->ct)) == callable)
      vec_push(L->arena, &names, v->name);
  }
  for (const CtEnv *e = f->fn->env; e; e = e->parent)
    for (uint32_t i = 0; i < e->count; i++)
      if (is_callable(e->bindings[i].value) == callable) vec_push(L->arena, &names, e->bindings[i].name);
  return names;
}

// ---- hints ----
bool lower_hint_foreign(Lower *L, ForeignUse use, const char *name) {
  const char *instead = comptime_foreign(use, name);
  if (instead) lower_hint(L, "%s", instead);
  return instead != NULL;
}

// Suggests `near` in place of `name`.
bool lower_hint_nearest(Lower *L, const char *name, const char *near) {
  if (!near) return false;
  diag_rename(L->ctx, name, near);
  lower_hint(L, "did you mean `%s`?", near);
  return true;
}

bool lower_hint_comment(Lower *L, Span span, bool after_call) {
  const SourceFile *f = source_locate(L->ctx, span.begin).file;
  if (!f) return false;
  const char *end = f->text + (span.end - f->base), *at = end;
  while (at > f->text && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) at--;
  while (at > f->text && at[-1] == ' ') at--;
  end += strspn(end, " \t\r");
  if (at - f->text < 2 || at[-1] != '/' || at[-2] != '/' || (*end && *end != '\n' && *end != '#')) return false;
  for (at -= 2; at > f->text && at[-1] == ' ';) at--;
  if (after_call && (at == f->text || at[-1] != ')')) return false;
  lower_hint(L, "a comment begins with #");
  return true;
}

bool lower_hint_dtype(Lower *L, const char *name) {
  const char *dtype = comptime_foreign_dtype(name);
  if (dtype) lower_hint(L, "write tl.%s", dtype);
  return dtype != NULL;
}

bool lower_hint_function(Lower *L, const char *name, const Term *argument) {
  const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
  if (lower_hint_foreign(L, FOREIGN_FUNCTION, last)) return true;
  if (!dot || !lower_is_language_name(last)) return false;
  const bool is_int = argument && argument->kind == TERM_VALUE && ct_is_int(term_t(argument));
  lower_hint(L, is_int ? "on run-time values write tl.%s(x.to(tl.float32))" : "on run-time values write tl.%s(…)", last);
  return true;
}

static const char *about_module(const char *name) {
  const char *about = comptime_foreign(FOREIGN_MODULE, name);
  return about ? about : comptime_foreign(FOREIGN_FORK, name);
}

// A use of module.member, where the module does not exist or is the host's.
static void hint_member(Lower *L, const char *module, const char *member) {
  static const char *const ours[] = {"tl", "language", "triton", "libdevice"};
  const char *about = about_module(module);
  for (uint32_t i = 0; i < countof(ours); i++) {
    if (strcmp(module, ours[i]) != 0) continue;
    if (i < 2 && member && L->frame->fn->is_bare && comptime_lookup(L->ct, L->frame->fn->env, member))
      lower_hint(L, "builtins have no prefix in a @kernel: write `%s`", member);
    else lower_hint(L, "%s", about);
    return;
  }
  DtypeKind kind;
  const bool is_math = strcmp(module, "math") == 0;
  if (member && !(is_math && !lower_is_language_name(member))) {
    if (dtype_find(member, &kind) && lower_hint_dtype(L, member)) return;
    if (lower_is_language_name(member)) {
      lower_hint(L, "write tl.%s", member);
      return;
    }
    if (lower_hint_foreign(L, FOREIGN_FUNCTION, member) || lower_hint_foreign(L, FOREIGN_VALUE, member)) return;
    if (comptime_foreign(FOREIGN_DTYPE, member) && lower_hint_dtype(L, member)) return;
  }
  if (about) lower_hint(L, "%s", about);
}

// Whether the name, as written, means a module that exists where the current function is.
static bool is_imported(Lower *L, const char *module) {
  const CtValue *v = comptime_lookup(L->ct, L->frame->fn->env, intern(L->ctx, module));
  return v && v->kind != CT_MISSING;
}

// A name that an import of triton's modules could not bind, such as triton.language.extra.tlx.
static void hint_import(Lower *L, const char *name, const char *member) {
  const char *last = strrchr(name, '.') + 1;
  if (!strcmp(last, "libdevice")) {
    lower_hint(L, "write `from triton.language.extra import libdevice`");
    return;
  }
  for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
    const char *part = arena_strndup(L->arena, dot + 1, strcspn(dot + 1, "."));
    if (comptime_foreign(FOREIGN_FORK, part)) {
      hint_member(L, part, member);
      return;
    }
  }
  if (member && lower_hint_foreign(L, FOREIGN_FUNCTION, member)) return;
  if (!strncmp(name, "triton.language.", 16))
    lower_hint(L, "docs/reference-builtins.md lists the functions of the language");
}

bool lower_is_call_of_language(const CtValue *missing) {
  const char *name = missing->missing.name, *call = strchr(name, '(');
  return call && (!strncmp(name, "tl.", 3) || !strncmp(name, "gl.", 3)) && !strcmp(call, "(...)");
}

void lower_hint_missing(Lower *L, const CtValue *missing, NameUse use) {
  const char *name = missing->missing.name, *last = strrchr(name, '.');
  const char *module = arena_strndup(L->arena, name, strcspn(name, ".("));
  const char *call = strchr(name, '(');
  if (lower_is_call_of_language(missing)) {
    lower_hint(L, "it runs in kernels: call it there, or in a function with %s", lower_decorator(L));
    return;
  }
  if (call && last > call) {
    // torch.finfo(…).max: the member belongs to what the call returns, so only the function has a hint.
    name = arena_strndup(L->arena, name, (size_t)(call - name));
    last = strrchr(name, '.');
  }
  const bool is_ours = !strcmp(module, "tl") || !strcmp(module, "triton");
  const char *member = use.kind == USE_BASE ? use.member : last ? last + 1 : NULL;
  if (!strcmp(module, "triton") && last && !call) hint_import(L, name, use.kind == USE_BASE ? use.member : NULL);
  else if (is_ours && is_imported(L, module)) return;
  else if (about_module(module)) hint_member(L, module, member);
  else lower_hint_function(L, arena_strndup(L->arena, name, strcspn(name, "(")), NULL);
}

// ---- unknown names ----
static void hint_called(Lower *L, const char *name) {
  const NameVec own = own_names(L, true);
  const char *dtype = comptime_foreign(FOREIGN_DTYPE, name);
  if (lower_hint_foreign(L, FOREIGN_FUNCTION, name) || lower_hint_foreign(L, FOREIGN_VALUE, name)) return;
  if (dtype) lower_hint(L, "write x.to(tl.%s)", dtype);
  else if (!lower_hint_nearest(L, name, nearest(name, &own))) lower_hint_nearest(L, name, nearest_function(L, name));
}

static void hint_value(Lower *L, const char *name, NameUse use, Span span) {
  const NameVec own = own_names(L, false), functions = own_names(L, true);
  if (use.kind == USE_BASE && about_module(name)) {
    hint_member(L, name, use.member);
    return;
  }
  if (lower_hint_foreign(L, FOREIGN_VALUE, name)) return;
  if (lower_hint_nearest(L, name, nearest(name, &own))) return;
  for (uint32_t i = 0; i < own.count; i++) {
    const size_t a = strlen(own.data[i]), b = strlen(name), least = a < b ? a : b;
    if (least >= 3 && !strncmp(own.data[i], name, least) && lower_hint_nearest(L, name, own.data[i])) return;
  }
  if (lower_hint_comment(L, span, false)) return;
  if (lower_hint_nearest(L, name, nearest_name(name, comptime_constants, countof(comptime_constants)))) return;
  if (use.kind == USE_DTYPE && lower_hint_dtype(L, name)) return;
  if (use.kind == USE_VALUE && lower_hint_nearest(L, name, nearest(name, &functions))) return;
  if (lower_hint_foreign(L, FOREIGN_FUNCTION, name)) return;
  if (comptime_foreign(FOREIGN_DTYPE, name)) lower_hint_dtype(L, name);
  else if (comptime_foreign(FOREIGN_MODULE, name)) hint_member(L, name, NULL);
}

Term *lower_unknown_name(Lower *L, const char *name, Span span, NameUse use) {
  lower_error(L, span, "`%s` is not defined", name);
  const LostName *lost = scope_note_lost(L, name);
  if (lost)
    return lower_hint(L, lost->why ? "also give it a value before that"
                                   : "remove the `del`, or move it below the last use of the name");
  if (scope_hint_left_out(L, name)) return NULL;
  if (use.kind == USE_CALLED) hint_called(L, name);
  else hint_value(L, name, use, span);
  return NULL;
}

// ---- names that the language lacks ----
// Of libdevice.max and libdevice.min, which the language has under other names.
static bool hint_libdevice(Lower *L, const char *name, const char *last) {
  if (strncmp(name, "libdevice.", 10) != 0 || (strcmp(last, "max") != 0 && strcmp(last, "min") != 0)) return false;
  return !lower_hint(L, "write tl.%simum(x, y)", last);
}

// Whether a row says what to write for tl.….last or gl.….last.
static bool hint_known(Lower *L, const char *name, const char *last) {
  DtypeKind kind;
  if (hint_libdevice(L, name, last) || lower_hint_foreign(L, FOREIGN_LANGUAGE, last)) return true;
  if (lower_hint_foreign(L, FOREIGN_FUNCTION, last) || lower_hint_foreign(L, FOREIGN_VALUE, last)) return true;
  return (dtype_find(last, &kind) || comptime_foreign(FOREIGN_DTYPE, last)) && lower_hint_dtype(L, last);
}

// Whether the name, such as gl.amd.cdna3.buffer_load, is of a module that only another machine has.
static bool hint_modules(Lower *L, const char *name) {
  for (const char *dot = strchr(name, '.'); dot && strchr(dot + 1, '.'); dot = strchr(dot + 1, '.')) {
    const char *part = arena_strndup(L->arena, dot + 1, strcspn(dot + 1, "."));
    if (lower_hint_foreign(L, FOREIGN_FORK, part)) return true;
  }
  return false;
}

void lower_hint_near(Lower *L, const char *name) {
  const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
  const bool is_gluon = !strncmp(name, "gl.", 3);
  if (strstr(last, "tensormap")) {
    lower_hint(L, "tensor maps are made by tl.make_tensor_descriptor(base, shape, strides, block_shape)");
    return;
  }
  if (hint_known(L, name, last) || hint_modules(L, name)) return;
  const char *near = is_gluon ? nearest_gluon(L, name) : NULL;
  if (!near) near = nearest_function(L, last);
  const char *dtype = near ? NULL : comptime_foreign_dtype(last);
  if (!near && !dtype) near = part_of(L, last, is_gluon);
  if (near || dtype) {
    diag_rename(L->ctx, last, near ? near : dtype);
    lower_hint(L, "the nearest name is `%s`", near ? near : dtype);
  } else if (is_gluon || !strncmp(name, "tl.", 3) || !strncmp(name, "libdevice.", 10)) {
    lower_hint(L, "docs/reference-builtins.md lists the functions of the language");
  }
}

Term *lower_no_builtin(Lower *L, const char *name, Span span) {
  lower_error(L, span, "there is no builtin `%s`", name);
  lower_hint_near(L, name);
  return NULL;
}

bool lower_is_foreign_member(Lower *L, const CtValue *v) {
  if (v->kind != CT_BUILTIN || strncmp(v->builtin.name, "tl.", 3) != 0) return false;
  if (builtin_row_of(v->builtin.name)) return false;   // most names
  const char *last = strrchr(v->builtin.name, '.') + 1;
  DtypeKind kind;
  if (!comptime_foreign(FOREIGN_VALUE, last) && !comptime_foreign(FOREIGN_DTYPE, last) && !dtype_find(last, &kind))
    return false;
  return !comptime_has_function(v->builtin.name) && !builtin_resolve(L, v->builtin.name);
}

// ---- keyword arguments ----
void lower_hint_param(Lower *L, const char *key, const char *params, const char *const *names, uint32_t count) {
  const char *instead = comptime_foreign(FOREIGN_PARAM, key), *near = nearest_name(key, names, count);
  bool fits = instead && strncmp(instead, "write ", 6) != 0;
  for (uint32_t i = 0; instead && i < count && !fits; i++)
    fits = strncmp(instead + 6, names[i], strlen(names[i])) == 0 && instead[6 + strlen(names[i])] == '=';
  for (uint32_t i = 0; i < count && !near && strlen(key) > 3; i++)
    if (strncmp(key, names[i], strlen(key)) == 0) near = names[i];
  const bool is_pair = count >= 2 && !strcmp(names[0], "x") && !strcmp(names[1], "y");
  if (is_pair && (!strcmp(key, "axis") || !strcmp(key, "dim")))
    lower_hint(L, "it combines two tensors; tl.max, tl.min and tl.sum reduce one along an axis");
  else if (fits) lower_hint(L, "%s", instead);
  else if (near) lower_hint_nearest(L, key, near);
  else lower_hint(L, "its parameters: %s", params);
}

// ---- types that differ ----
// The element type that loses less of the other's values: a float before an integer, then the one of more bits.
static DtypeKind wider(const CtType *a, const CtType *b) {
  const bool a_wins = ct_is_float(a) != ct_is_float(b) ? ct_is_float(a) : ct_bits(a) >= ct_bits(b);
  return ct_scalar_of(a_wins ? a : b)->scalar;
}

static bool has_shape(const Type *t, const CtType *like) {
  bool same = t->rank == ct_rank(like);
  for (uint32_t i = 0; same && i < t->rank; i++) same = t->shape[i] == like->shape[i];
  return same;
}

// A value as it was before the op's broadcasting.
static const Value *before_broadcast(const Value *v, const Op *op) {
  while (v->def && (v->def->opcode == OP_BROADCAST ||
                    (v->def->opcode == OP_EXPAND_DIMS && v->def->span.begin == op->span.begin &&
                     v->def->span.end == op->span.end)))
    v = op_operand(v->def, 0);
  return v;
}

// Of an accumulator that grew because it was combined with a value of another shape: what that needs.
static bool hint_growth(Lower *L, const Term *acc, const Term *grown) {
  const Op *op = term_v(grown)->def;
  const CtType *t = term_t(acc);
  if (!op || op->num_operands != 2 || !op_is(op, TRAIT_ELEMENTWISE)) return false;
  const Value *sides[2];
  for (uint32_t i = 0; i < 2; i++) sides[i] = before_broadcast(op_operand(op, i), op);
  const bool first = has_shape(sides[0]->type, t);
  if (first == has_shape(sides[1]->type, t)) return false;
  const Value *other = sides[first];
  int64_t have = 1, gets = 1;
  Buf shape = buf_make(L->arena);
  for (uint32_t i = 0; i < ct_rank(t); i++) have *= t->shape[i];
  for (uint32_t i = 0; i < other->type->rank; i++) {
    gets *= other->type->shape[i];
    buf_printf(&shape, "%s%lld", i ? ", " : "", (long long)other->type->shape[i]);
  }
  if (have != gets || other->type->rank >= ct_rank(t))
    lower_hint(L, "a value of shape [%s] makes it grow: begin with what it grows to, tl.zeros(%s, tl.%s)",
               buf_str(&shape), lower_shape_text(L, term_t(grown)), dtype_info[ct_scalar_of(t)->scalar].name);
  else if (other->def && other->def->opcode == OP_REDUCE)
    lower_hint(L, "a value of shape [%s] makes it grow: keep_dims=True gives the reduction the shape %s; or begin with "
               "[%s]", buf_str(&shape), lower_shape_text(L, t), buf_str(&shape));
  else
    lower_hint(L, "a value of shape [%s] makes it grow: index that with None to have the shape %s; or begin with [%s]",
               buf_str(&shape), lower_shape_text(L, t), buf_str(&shape));
  return true;
}

void term_note_types_differ(Lower *L, const Term *a, const Term *b, const char *otherwise) {
  const char *open;
  bool is_desc = a->kind == TERM_DESC || b->kind == TERM_DESC,
       is_block = a->kind == TERM_BLOCK_PTR || b->kind == TERM_BLOCK_PTR;
  if (is_desc)
    otherwise = "make each access where its descriptor is known, or choose base, shape and strides first and make one "
                "descriptor from them";
  else if (is_block)
    otherwise = "make each access where its block pointer is known, or choose base, shape, strides and offsets first";
  else if (a->kind == TERM_BUFFER || b->kind == TERM_BUFFER) otherwise = "give each buffer a name of its own";
  else if (a->kind == TERM_VALUE && b->kind == TERM_VALUE) {
    const CtType *ta = term_t(a), *tb = term_t(b);
    const bool one_is_scalar = !ct_rank(ta) != !ct_rank(tb);
    if (ct_is_ptr(ta) != ct_is_ptr(tb))
      otherwise = "an address is not a number: load the element with tl.load(…), or use two names";
    else if (ct_is_ptr(ta) && one_is_scalar)
      otherwise = "give the moved pointers another name, or add tl.arange(…) to both";
    else if (one_is_scalar) {
      const CtType *t = ct_rank(ta) ? ta : tb;
      otherwise = arena_printf(L->arena,
                               "give both one shape: tl.full(%s, …, tl.%s) makes a tensor, tl.sum and tl.max a "
                               "scalar", lower_shape_text(L, t), dtype_info[ct_scalar_of(t)->scalar].name);
    } else if (ta->rank != tb->rank || memcmp(ta->shape, tb->shape, ta->rank * sizeof *ta->shape) != 0) {
      if (lower_hint_axis(L, a, tb) || lower_hint_axis(L, b, ta)) return;
      if (hint_growth(L, a, b)) return;
      otherwise = "give the value of the other shape another name";
    } else if (!ct_is_ptr(ta) && (open = strstr(otherwise, "(…)")))
      otherwise = arena_printf(L->arena, "%.*s(tl.%s)%s", (int)(open - otherwise), otherwise,
                               dtype_info[wider(ta, tb)].name, open + strlen("(…)"));
  }
  lower_hint(L, "%s", otherwise);
}

// ---- annotations ----
const char *frontend_guess_type(Arena *a, const char *text) {
  char word[40];
  size_t n = 0;
  bool is_pointer = strpbrk(text, "*&") != NULL || strstr(text, "ptr") || strstr(text, "pointer");
  for (const char *s = text; *s && n + 1 < sizeof word; s++) {
    if (*s == '_' || *s == '.' || (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z'))
      word[n++] = *s;
    else if (n && (strncmp(word, "const", n) == 0 || strncmp(word, "ptr", n) == 0 || strncmp(word, "pointer", n) == 0))
      n = 0;
    else if (n) break;
  }
  word[n] = 0;
  const char *dot = strrchr(word, '.'), *last = dot ? dot + 1 : word;
  static const char *const arrays[] = {"Tensor", "tensor", "ndarray", "NDArray", "array", "Array",
                                       "pointer", "Pointer", "ptr", "PointerType", "pointer_type"};
  for (uint32_t i = 0; i < countof(arrays); i++)
    if (strcmp(last, arrays[i]) == 0) return "*fp32";
  const char *dtype = *last ? comptime_foreign_dtype(last) : NULL;
  DtypeKind kind;
  if (!dtype || !dtype_find(dtype, &kind)) return NULL;
  return arena_printf(a, "%s%s", is_pointer ? "*" : "", dtype_info[kind].short_name);
}

static const char *guess_type(Frontend *fe, const Node *n) {
  Arena *a = &fe->ctx->arena;
  const char *inner = NULL;
  switch (n->kind) {
  case NODE_NAME: return frontend_guess_type(a, n->name.id);
  case NODE_STR: return frontend_guess_type(a, n->str.data);
  case NODE_ATTRIBUTE: return frontend_guess_type(a, n->attr.name);
  case NODE_BINARY:   // const *fp32
    if (n->op != PYOP_MUL) return NULL;
    inner = guess_type(fe, n->binary.right);
    break;
  case NODE_POINTER_TYPE: inner = guess_type(fe, n->unary.value); break;
  case NODE_SUBSCRIPT: inner = guess_type(fe, n->pair.second); break;
  case NODE_CALL: inner = n->call.args.count ? guess_type(fe, n->call.args.data[0]) : NULL; break;
  default: return NULL;
  }
  return !inner ? NULL : *inner == '*' ? inner : arena_printf(a, "*%s", inner);
}

// tensordesc[…], tl.tensor_descriptor, TensorDescriptor, "tensordesc".
static bool is_descriptor(const Node *n) {
  const char *name = n->kind == NODE_NAME ? n->name.id : n->kind == NODE_ATTRIBUTE ? n->attr.name
                     : n->kind == NODE_STR ? n->str.data : "";
  return !strncmp(name, "tensordesc", 10) || !strcmp(name, "tensor_descriptor") || !strcmp(name, "TensorDescriptor");
}

const char *lower_guess_annotation(Frontend *fe, const CtFunction *fn, const Node *n) {
  const Node *root = n;
  while (root->kind == NODE_ATTRIBUTE || root->kind == NODE_SUBSCRIPT)
    root = root->kind == NODE_ATTRIBUTE ? root->attr.first : root->pair.first;
  const bool is_unknown = root->kind == NODE_NAME && root != n && !comptime_lookup(fe->ct, fn->env, root->name.id);
  if (is_unknown && (strcmp(root->name.id, "tl") == 0 || strcmp(root->name.id, "triton") == 0))
    return comptime_foreign(FOREIGN_MODULE, root->name.id);
  if (is_descriptor(n->kind == NODE_SUBSCRIPT ? n->pair.first : n))
    return "write `\"tensordesc<fp16[64, 64]>\"`, with the type and shape of its blocks";
  const char *type = guess_type(fe, n);
  return type ? arena_printf(&fe->ctx->arena, "write `%s`", type) : NULL;
}
