// Compile-time values: what module level, constexpr functions, decorators' arguments and constexprs compute with.
// Python's data model as far as kernel files need it. Values live in the arena. None, True and False are unique:
// `is` compares pointers. (`Value` is the IR's run-time value.)
#ifndef TILE_FRONTEND_VALUE_H
#define TILE_FRONTEND_VALUE_H

#include "frontend/syntax/syntax.h"
#include "ir/dtype.h"
#include "ir/layout.h"

typedef enum {
  CT_NONE, CT_BOOL, CT_INT, CT_FLOAT, CT_STR, CT_BYTES, CT_ELLIPSIS,
  CT_TUPLE, CT_LIST, CT_SET, CT_DICT, CT_RANGE, CT_SLICE,
  CT_ITERATOR,     // of zip, map, iter, a generator, …: all computed at once; taking an element removes it
  CT_DTYPE,        // tl.float32, pointer and block types
  CT_FUNCTION,     // def or lambda, with its decorators' data: kernels too
  CT_BUILTIN,      // something with a canonical name: "len", "tl.load", "libdevice.tanh", "triton.cdiv"
  CT_METHOD,       // a function or builtin bound to a value
  CT_MODULE,       // a built-in module or an imported file
  CT_CLASS,        // a class of the file, a namedtuple, an aggregate
  CT_INSTANCE,     // of a CT_CLASS, or of a built-in class such as triton.Config
  CT_CONSTEXPR,    // tl.constexpr(v)
  // an import that is not found, or what is computed from one: an error only if a kernel uses it
  CT_MISSING,
  NUM_CT_KINDS
} CtKind;

// A type as a value: scalar, pointer to one, or block (tensor) of either.
typedef enum { CT_TYPE_SCALAR, CT_TYPE_POINTER, CT_TYPE_BLOCK } CtTypeKind;
enum { CT_MAX_RANK = 16 };   // the IR's MAX_RANK: no shape has more
typedef struct CtType CtType;
struct CtType {
  CtTypeKind kind;
  DtypeKind scalar;            // of the innermost element
  const CtType *elem;          // POINTER, BLOCK
  bool is_const;               // POINTER: stores are refused
  uint32_t address_space;      // POINTER: 1 is global memory
  uint32_t rank;               // BLOCK
  int64_t shape[CT_MAX_RANK];
  const Layout *layout;        // BLOCK, in Gluon: where its elements are; NULL: not known yet
  const struct CtValue *spelled;   // BLOCK with a layout: as the user wrote it; NULL: it was inferred
};

typedef struct CtValue CtValue;
typedef struct CtEnv CtEnv;
typedef struct CtModule CtModule;
typedef struct CtFunction CtFunction;
typedef struct CtClass CtClass;
typedef struct CtInstance CtInstance;
typedef struct CtDict CtDict;

typedef struct { CtValue **data; uint32_t count, capacity; } CtList;     // a VEC(CtValue *)

struct CtValue {
  CtKind kind;
  union {
    bool b;
    Int128 i;
    double f;
    struct { const char *data; size_t size; } str;                       // STR, BYTES; NUL-terminated beside its size
    CtList list;                                                         // TUPLE, LIST; ITERATOR: what is left
    struct { CtList items; uint64_t hash; } tuple;                       // TUPLE: list, and its hash once it is known
    struct { CtList items; const char *name; } iterator;                 // list, and the name of its type
    CtDict *dict;                                                        // DICT; SET (values are NULL)
    struct { Int128 start, stop, step; } range;
    struct { CtValue *lower, *upper, *step; } slice;                     // None where left out
    const CtType *type;
    CtFunction *fn;
    struct { const char *name; } builtin;                                // interned
    struct { CtValue *self, *fn; } method;
    CtModule *module;
    CtClass *cls;
    CtInstance *instance;
    CtValue *inner;                                                      // CONSTEXPR
    // is_construct: name describes a piece of code
    struct { const char *name, *why; Span span; bool is_construct; } missing;
  };
};

// Insertion order, by Python equality. Deleted entries leave no hole.
typedef struct { CtValue *key, *value; uint32_t hash; } CtEntry;
struct CtDict {
  CtEntry *entries;
  uint32_t count, capacity;
  Map index;                   // key → its number in entries + 1
};

// A scope: names (interned) to values. Function scopes chain to the scope they were defined in, ending at the module's.
typedef struct { const char *name; CtValue *value; } CtBinding;
struct CtEnv {
  CtEnv *parent;               // NULL for a module's scope
  CtModule *module;
  CtBinding *bindings;         // in the order of first binding
  uint32_t count, capacity;
  Map index;                   // name → its number in bindings + 1, once a scope has many names
  NameList globals, nonlocals; // names declared global and nonlocal here
  // built-in and missing modules imported with *: their names are looked up in them
  CtList stars;
  bool is_class;               // class bodies are skipped by lookups from the functions in them
  bool is_comprehension;       // `:=` binds outside
};
CtValue *ct_env_get_local(const CtEnv *env, const char *name);              // NULL if unbound here
CtValue *ct_env_lookup(const CtEnv *env, const char *name);                 // up the chain; NULL if unbound

// A module. Built-in ones have a canonical prefix ("tl", "triton", "libdevice", "gl", "math", …) and no scope: an
// attribute they do not bind themselves becomes the builtin "prefix.attribute". Files have a scope.
struct CtModule {
  const char *name;            // dotted, as imported
  const char *prefix;          // built-in modules only
  CtEnv *env;                  // files only
  const SourceFile *file;
  const char *real_path;       // the file's path as the system resolves it; NULL if the system has no such file
  Node *tree;
  bool is_loading;             // an import of it now is circular, and gets the names bound until now
  VEC(CtBinding) awaited;      // names that circular imports asked for: missing until the module has run
  bool is_imported;            // by another module
  bool failed;
};

typedef struct {
  const char *name;
  ParamKind kind;
  const Node *node;
  CtValue *annotation;         // evaluated; NULL if there is none or it cannot be evaluated (torch.Tensor)
  // signature spelling: "*fp32", "fp16:16", "i64", "tensordesc<fp16[BM, BK]>"; NULL if open
  const char *type_text;
  CtValue *default_value;      // NULL if there is none
  bool is_constexpr;
  bool is_const;               // tl.const: a pointer that is only read
  bool do_not_specialize, do_not_specialize_on_alignment;
} CtParam;

typedef struct {
  CtDict *kwargs;              // name -> value
  int num_warps, num_stages, num_ctas;   // 4, 3, 1 unless the Config says otherwise
  int maxnreg;                           // 0: none
  CtValue *pre_hook;           // NULL or a function of the dict of arguments
  CtValue *object;             // the Config itself, for prune functions
} CtConfig;

typedef struct {
  CtConfig *configs;
  uint32_t num_configs;
  CtValue *key;                // list of parameter names
  CtValue *prune_configs_by;   // dict, or NULL
  CtValue *reset_to_zero, *restore_value;   // lists of parameter names, or NULL
  CtValue *pre_hook, *post_hook;            // or NULL
} CtAutotune;

typedef struct { const char *name; CtValue *fn; } CtHeuristic;

typedef enum {
  FN_PLAIN,                    // host code: runs when code at compile time calls it
  FN_JIT,                      // @triton.jit, @kernel, @jit, @gluon.jit
  FN_CONSTEXPR,                // @triton.constexpr_function
} FnRole;

// How an attribute lookup on an instance treats a function found in its class.
typedef enum { BIND_SELF, BIND_NOTHING, BIND_CLASS, BIND_PROPERTY } FnBinding;

struct CtFunction {
  const char *name;            // "<lambda>" for a lambda
  const Node *def;             // FUNCTION_DEF or LAMBDA
  CtEnv *env;                  // the scope it was defined in
  FnRole role;
  FnBinding binding;           // @staticmethod, @classmethod, @property
  bool is_kernel;              // declared with @kernel
  bool is_bare;                // in the spelling without `tl.`, where max(x, 0) is tl.max
  bool is_gluon;
  bool is_generator;           // yields
  bool debug;
  const char *must_use_result;   // why, "" without a reason; NULL: the result may be left unused
  CtParam *params;
  uint32_t num_params;
  CtAutotune *autotune;        // NULL unless autotuned
  CtHeuristic *heuristics;     // in the order of running
  uint32_t num_heuristics;
};

typedef enum { CLASS_PLAIN, CLASS_NAMEDTUPLE, CLASS_AGGREGATE, CLASS_DATACLASS, CLASS_ENUM, CLASS_EXCEPTION } ClassForm;
typedef struct { const char *name; CtValue *default_value; } CtField;
struct CtClass {
  const char *name;
  const Node *def;             // NULL for built-in classes and collections.namedtuple(…)
  ClassForm form;
  const char *plain;           // ENUM: "int", "str" or "float", if its members are such values, as in IntEnum; or NULL
  bool is_flag;                // ENUM: Flag or IntFlag; a Flag is an integer here
  CtClass *base;               // or NULL
  CtEnv *env;                  // attributes and methods
  CtField *fields;             // namedtuple, aggregate, dataclass: in declaration order
  uint32_t num_fields;
};
struct CtInstance {
  CtClass *cls;
  CtEnv *attrs;                // of a namedtuple: its fields, in order
  const Layout *map;           // of a layout that comes from a tensor or a buffer; otherwise NULL
};

// ---- construction ----
CtValue *ct_new(Context *ctx, CtKind kind);
CtValue *ct_none(void);
CtValue *ct_bool(bool b);
CtValue *ct_int(Context *ctx, Int128 i);
CtValue *ct_float(Context *ctx, double f);
CtValue *ct_str(Context *ctx, const char *s);
CtValue *ct_str_n(Context *ctx, const char *s, size_t n);
CtValue *ct_tuple(Context *ctx, CtValue *const *items, uint32_t count);
CtValue *ct_list(Context *ctx, CtValue *const *items, uint32_t count);
CtValue *ct_iterator(CtValue *list, const char *name);                   // turns a list with no other owner into one
CtValue *ct_dict(Context *ctx);
CtValue *ct_dtype(Context *ctx, const CtType *type);
CtValue *ct_builtin(Context *ctx, const char *name);
CtValue *ct_constexpr(Context *ctx, CtValue *inner);
const CtType *ct_type_scalar(Context *ctx, DtypeKind kind);
const CtType *ct_type_pointer(Context *ctx, const CtType *elem, bool is_const);
const CtType *ct_type_block(Context *ctx, const CtType *elem, const int64_t *shape, uint32_t rank);
const CtType *ct_type_with_layout(Context *ctx, const CtType *block, const Layout *layout, const CtValue *spelled);
bool ct_type_equal(const CtType *a, const CtType *b);           // layouts compare as maps
const char *ct_type_text(Context *ctx, const CtType *type);     // as a signature spells it
const char *ct_type_name(Context *ctx, const CtType *type);     // Triton's `.name`: "fp32", "int32", "pointer<int8>"
// The element of a block type, else t itself.
const CtType *ct_scalar_of(const CtType *t);
static inline uint32_t ct_rank(const CtType *t) { return t->kind == CT_TYPE_BLOCK ? t->rank : 0; }
int64_t ct_numel(const CtType *t);
// These look at the element of a block type. A pointer is neither float nor int, and of no kind.
bool ct_is_ptr(const CtType *t);
bool ct_is_float(const CtType *t);
bool ct_is_int(const CtType *t);                                // int1 too
bool ct_is_signed(const CtType *t);
bool ct_is_bool(const CtType *t);
bool ct_is_fp8(const CtType *t);
bool ct_is_kind(const CtType *t, DtypeKind k);
uint32_t ct_bits(const CtType *t);
bool ct_int_fits(Int128 v, const CtType *t);                    // t: of integers

// ---- access ----
const char *ct_kind_name(const CtValue *v);                     // Python's type name: "int", "NoneType", "function"
CtValue *ct_unwrap(CtValue *v);                                 // a constexpr's inner value, any other value itself
static inline bool ct_has_list(const CtValue *v) {
  return v->kind == CT_TUPLE || v->kind == CT_LIST || v->kind == CT_ITERATOR;
}
CtValue *ct_plain(CtValue *v);                                  // what a member of IntEnum or StrEnum is; others: v
const CtValue *ct_integer(const CtValue *v);                    // ct_plain, if that is an INT or BOOL; otherwise NULL
Int128 ct_range_length(const CtValue *v);
bool ct_is_true(const CtValue *v);                              // Python truth
bool ct_equal(const CtValue *a, const CtValue *b);              // Python ==
enum { CT_UNORDERED = 2 };
// of bools, ints and floats, exactly: -1, 0, 1, or CT_UNORDERED with a NaN
int ct_number_order(const CtValue *a, const CtValue *b);
bool ct_is_hashable(const CtValue *v);
CtValue *ct_dict_get(const CtDict *d, const CtValue *key);         // NULL if absent
CtValue *ct_dict_get_str(const CtDict *d, const char *key);
void ct_dict_set(Context *ctx, CtDict *d, CtValue *key, CtValue *value);
void ct_dict_set_str(Context *ctx, CtDict *d, const char *key, CtValue *value);
void ct_dict_update(Context *ctx, CtDict *d, const CtDict *from);
void ct_dict_update_bindings(Context *ctx, CtDict *d, const CtBinding *from, uint32_t count);
bool ct_dict_remove(Context *ctx, CtDict *d, const CtValue *key);
void ct_env_set(Context *ctx, CtEnv *env, const char *name, CtValue *value);   // name interned
CtValue *ct_instance_get(const CtInstance *in, const char *name);              // own attribute only; name interned
const char *ct_repr(Context *ctx, const CtValue *v);            // Python's repr()
const char *ct_to_str(Context *ctx, const CtValue *v);          // Python's str()

bool ct_has_word(const char *words, const char *word);   // of words separated by blanks (builtins.c)

#endif
