// Python's exceptions: the built-in types' hierarchy, the objects, and which handler catches what.
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

static const struct { const char *name, *base; } exceptions[] = {
    {"BaseException", NULL}, {"Exception", "BaseException"}, {"ArithmeticError", "Exception"},
    {"ZeroDivisionError", "ArithmeticError"},
    {"OverflowError", "ArithmeticError"}, {"AssertionError", "Exception"}, {"AttributeError", "Exception"},
    {"ImportError", "Exception"},
    {"ModuleNotFoundError", "ImportError"}, {"LookupError", "Exception"}, {"IndexError", "LookupError"},
    {"KeyError", "LookupError"},
    {"MemoryError", "Exception"}, {"NameError", "Exception"}, {"UnboundLocalError", "NameError"},
    {"RuntimeError", "Exception"},
    {"NotImplementedError", "RuntimeError"}, {"RecursionError", "RuntimeError"}, {"StopIteration", "Exception"},
    {"TypeError", "Exception"},
    {"ValueError", "Exception"}, {"UnicodeError", "ValueError"}, {"OSError", "Exception"},
    {"FileNotFoundError", "OSError"}, {"IOError", "OSError"},
    {"KeyboardInterrupt", "BaseException"}, {"SystemExit", "BaseException"}, {"Warning", "Exception"},
    {"UserWarning", "Warning"},
    {"DeprecationWarning", "Warning"}, {"FutureWarning", "Warning"}, {"RuntimeWarning", "Warning"},
    {"EnvironmentError", "OSError"},
    {"ImportWarning", "Warning"}, {"ResourceWarning", "Warning"}, {"SyntaxWarning", "Warning"},
    {"PendingDeprecationWarning", "Warning"},
    {"UnicodeWarning", "Warning"}, {"BytesWarning", "Warning"}, {"PermissionError", "OSError"},
    {"TimeoutError", "OSError"},
    {"ConnectionError", "OSError"}, {"EOFError", "Exception"}, {"BufferError", "Exception"},
    {"FloatingPointError", "ArithmeticError"},
    {"SyntaxError", "Exception"}, {"SystemError", "Exception"}, {"StopAsyncIteration", "Exception"},
    {"GeneratorExit", "BaseException"}};

bool ct_is_exception_name(const char *name) {
  for (size_t i = 0; i < countof(exceptions); i++)
    if (!strcmp(exceptions[i].name, name)) return true;
  return false;
}

bool ct_exception_matches(const char *type, const char *handler) {
  while (type) {
    if (!strcmp(type, handler)) return true;
    const char *base = NULL;
    for (size_t i = 0; i < countof(exceptions) && !base; i++)
      if (!strcmp(exceptions[i].name, type)) base = exceptions[i].base;
    type = base;
  }
  return false;
}

CtValue *ct_exception_new(Comptime *ct, const char *name, const CtArgs *a) {
  CtClass *cls = arena_new(ct->arena, CtClass);
  cls->name = name;
  cls->form = CLASS_EXCEPTION;
  CtValue *v = ct_instance_new(ct, cls);
  ct_attr_set(ct, v, "args", ct_tuple(ct->ctx, a->args, a->num_args));
  return v;
}

// ---- handlers ----

static const char *class_exception_base(const CtClass *cls) {
  while (cls->base) cls = cls->base;
  return cls->form == CLASS_EXCEPTION && !cls->def ? cls->name : "Exception";
}

bool ct_handler_matches(Comptime *ct, const CtError *e, const Node *type, CtEnv *env) {
  if (!type) return true;
  CtValue *v = ct_eval_quietly(ct, type, env);
  if (!v) return false;
  CtList types = {0};
  if (v->kind == CT_TUPLE) types = v->list; else vec_push(ct->arena, &types, v);
  for (uint32_t i = 0; i < types.count; i++) {
    const CtValue *t = types.data[i];
    if (t->kind == CT_BUILTIN) {
      const char *raised = e->exception && e->exception->kind == CT_INSTANCE
                               ? class_exception_base(e->exception->instance->cls)
                               : e->type;
      if (ct_exception_matches(raised, t->builtin.name)) return true;
    }
    if (t->kind == CT_CLASS && e->exception && e->exception->kind == CT_INSTANCE &&
        ct_class_is_subclass(e->exception->instance->cls, t->cls))
      return true;
  }
  return false;
}

CtValue *ct_exception_value(Comptime *ct, const CtError *e) {
  if (e->exception) return e->exception;
  CtClass *cls = arena_new(ct->arena, CtClass);
  cls->name = e->type;
  cls->form = CLASS_EXCEPTION;
  CtValue *v = ct_instance_new(ct, cls), *message = e->argument ? e->argument : ct_str(ct->ctx, e->message);
  ct_attr_set(ct, v, "args", ct_tuple(ct->ctx, &message, 1));
  return v;
}
