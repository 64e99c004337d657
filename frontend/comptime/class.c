// Classes and their instances: plain ones, namedtuples, dataclasses, aggregates, enumerations, exceptions.
#include <string.h>

#include "frontend/comptime/comptime_impl.h"

CtValue *ct_class_lookup(const CtClass *cls, const char *name) {
  for (const CtClass *c = cls; c; c = c->base) {
    CtValue *v = c->env ? ct_env_get_local(c->env, name) : NULL;
    if (v) return v;
  }
  return NULL;
}

CtValue *ct_class_special(Comptime *ct, const CtValue *v, const char *name) {
  return v->kind == CT_INSTANCE ? ct_class_lookup(v->instance->cls, intern(ct->ctx, name)) : NULL;
}

bool ct_class_is_subclass(const CtClass *cls, const CtClass *base) {
  for (; cls; cls = cls->base)
    if (cls == base) return true;
  return false;
}

CtValue *ct_instance_new(Comptime *ct, CtClass *cls) {
  CtValue *v = ct_new(ct->ctx, CT_INSTANCE);
  v->instance = arena_new(ct->arena, CtInstance);
  v->instance->cls = cls;
  v->instance->attrs = ct_env_new(ct, NULL, NULL);
  return v;
}

CtValue *comptime_namedtuple(Comptime *ct, CtClass *cls, CtValue *const *items) {
  CtValue *v = ct_instance_new(ct, cls);
  for (uint32_t i = 0; i < cls->num_fields; i++) ct_env_set(ct->ctx, v->instance->attrs, cls->fields[i].name, items[i]);
  return v;
}

CtValue *ct_object_new(Comptime *ct, const char *class_name) {
  CtClass *cls = arena_new(ct->arena, CtClass);
  cls->name = class_name;
  return ct_instance_new(ct, cls);
}

CtValue *ct_instance_copy(Comptime *ct, const CtValue *instance) {
  const CtEnv *attrs = instance->instance->attrs;
  CtValue *v = ct_instance_new(ct, instance->instance->cls);
  for (uint32_t i = 0; i < attrs->count; i++)
    ct_env_set(ct->ctx, v->instance->attrs, attrs->bindings[i].name, attrs->bindings[i].value);
  return v;
}

CtValue *ct_attr(Comptime *ct, const CtValue *instance, const char *name) {
  return ct_instance_get(instance->instance, intern(ct->ctx, name));
}

void ct_attr_set(Comptime *ct, CtValue *instance, const char *name, CtValue *value) {
  ct_env_set(ct->ctx, instance->instance->attrs, intern(ct->ctx, name), value);
}

static void inherit_fields(Context *ctx, CtClass *cls) {
  if (!cls->base || !cls->base->num_fields) return;
  CtField *fields = arena_array(&ctx->arena, CtField, cls->base->num_fields + cls->num_fields);
  memcpy(fields, cls->base->fields, cls->base->num_fields * sizeof *fields);
  if (cls->num_fields) memcpy(fields + cls->base->num_fields, cls->fields, cls->num_fields * sizeof *fields);
  cls->fields = fields;
  cls->num_fields += cls->base->num_fields;
}

static void collect_fields(Comptime *ct, const Node *n, CtClass *cls) {
  struct { CtField *data; uint32_t count, capacity; } fields = {0};
  for (uint32_t i = 0; i < n->cls.body.count; i++) {
    const Node *s = n->cls.body.data[i];
    if (s->kind != NODE_ANN_ASSIGN || s->ann.target->kind != NODE_NAME) continue;
    const char *name = s->ann.target->name.id;
    CtValue *default_value = s->ann.value ? ct_env_get_local(cls->env, name) : NULL;
    vec_push(ct->arena, &fields, ((CtField){name, default_value}));
  }
  cls->fields = fields.data;
  cls->num_fields = fields.count;
}

// What enum.auto() gives after a value: the next number, or the next bit.
static Int128 next_value(const CtClass *cls, Int128 value) {
  Int128 bit = 1;
  while (cls->is_flag && bit <= value && bit < INT64_MAX) bit *= 2;
  return cls->is_flag ? bit : value + 1;
}

// Plain attributes of an Enum class become its members.
static void make_members(Comptime *ct, CtValue *cls) {
  Int128 next = 1;
  const bool is_text = cls->cls->plain && !strcmp(cls->cls->plain, "str");
  for (uint32_t i = 0; i < cls->cls->env->count; i++) {
    CtBinding *b = &cls->cls->env->bindings[i];
    if (b->value->kind == CT_FUNCTION || b->name[0] == '_') continue;
    if (b->value->kind == CT_MISSING && !strcmp(b->value->missing.name, "enum.auto"))
      b->value = is_text ? ct_call_method(ct, ct_str(ct->ctx, b->name), "lower", &(CtArgs){0}) : ct_int(ct->ctx, next);
    if (b->value->kind == CT_INT) next = next_value(cls->cls, b->value->i);
    CtValue *member = ct_instance_new(ct, cls->cls);
    ct_attr_set(ct, member, "name", ct_str(ct->ctx, b->name));
    ct_attr_set(ct, member, "value", b->value);
    b->value = member;
  }
}

// Tells the objects in a class body that want to know it what they are called there.
static bool name_descriptors(Comptime *ct, CtValue *cls, Span span) {
  for (uint32_t i = 0; i < cls->cls->env->count; i++) {
    const CtBinding *b = &cls->cls->env->bindings[i];
    CtValue *method = b->value->kind == CT_INSTANCE ? ct_class_special(ct, b->value, "__set_name__") : NULL;
    if (method && !ct_call(ct, method, CT_ARGS(span, b->value, cls, ct_str(ct->ctx, b->name)))) return false;
  }
  return true;
}

// What a base class, in the file or built in, makes of the class.
static void inherit(Comptime *ct, CtClass *cls, const CtValue *base) {
  if (base->kind == CT_CLASS) {
    if (!cls->base) cls->base = base->cls;
    if (cls->form == CLASS_PLAIN) {
      cls->form = base->cls->form;
      cls->plain = base->cls->plain;
      cls->is_flag = base->cls->is_flag;
    }
  }
  if (base->kind != CT_BUILTIN) return;
  const char *name = base->builtin.name;
  if (!strcmp(name, "typing.NamedTuple")) cls->form = CLASS_NAMEDTUPLE;
  else if (!strncmp(name, "enum.", 5)) {
    cls->form = CLASS_ENUM;
    cls->is_flag = !strcmp(name, "enum.Flag") || !strcmp(name, "enum.IntFlag");
    if (cls->is_flag || !strcmp(name, "enum.IntEnum")) cls->plain = "int";
    if (!strcmp(name, "enum.StrEnum")) cls->plain = "str";
  } else if (ct_is_exception_name(name)) {
    cls->base = ct_object_new(ct, name)->instance->cls;
    cls->form = cls->base->form = CLASS_EXCEPTION;
  }
}

CtValue *ct_class_new(Comptime *ct, const Node *n, CtEnv *env) {
  CtValue *v = ct_new(ct->ctx, CT_CLASS);
  CtClass *cls = v->cls = arena_new(ct->arena, CtClass);
  cls->name = n->cls.name;
  cls->def = n;
  for (uint32_t i = 0; i < n->cls.bases.count; i++) {
    CtValue *base = ct_eval(ct, n->cls.bases.data[i], env);
    if (!base) return NULL;
    if (base->kind == CT_MISSING) return ct_missing_from(ct, base, "%s", cls->name);
    inherit(ct, cls, base);
  }
  for (uint32_t i = 0; cls->form == CLASS_ENUM && i < n->cls.bases.count; i++) {   // class Mode(str, Enum)
    const Node *base = n->cls.bases.data[i];
    if (base->kind == NODE_NAME && ct_has_word("int str float", base->name.id)) cls->plain = base->name.id;
  }
  cls->env = ct_env_new(ct, env, env->module);
  cls->env->is_class = true;
  if (!ct_exec_statements(ct, &n->cls.body, cls->env) || !name_descriptors(ct, v, n->span)) return NULL;
  if (cls->form == CLASS_ENUM) make_members(ct, v);
  collect_fields(ct, n, cls);
  inherit_fields(ct->ctx, cls);
  return v;
}

// A field's default value; NULL where it is declared by dataclasses.field(…) without one. False after a failure.
static bool default_of(Comptime *ct, const CtField *f, Span span, CtValue **out) {
  CtValue *v = f->default_value;
  *out = v;
  if (v->kind != CT_INSTANCE || v->instance->cls->env || strcmp(v->instance->cls->name, "dataclasses.Field"))
    return true;
  CtValue *factory = ct_attr(ct, v, "default_factory");
  *out = factory ? ct_call(ct, factory, &(CtArgs){.span = span}) : NULL;
  return *out || !factory;
}

// The arguments of a class that lists its fields, bound to them.
static bool bind_fields(Comptime *ct, CtClass *cls, CtInstance *in, const CtArgs *a) {
  if (a->num_args > cls->num_fields) {
    ct_fail(ct, a->span, "TypeError", "%s takes %u values, not %u", cls->name, cls->num_fields, a->num_args);
    return false;
  }
  for (uint32_t i = 0; i < a->num_kwargs; i++) {
    bool known = false;
    for (uint32_t k = 0; k < cls->num_fields; k++) known |= cls->fields[k].name == a->kwargs[i].name;
    if (!known) return ct_fail(ct, a->span, "TypeError", "%s has no field '%s'", cls->name, a->kwargs[i].name) != NULL;
  }
  for (uint32_t k = 0; k < cls->num_fields; k++) {
    const CtField *f = &cls->fields[k];
    CtValue *v = k < a->num_args ? a->args[k] : NULL;
    for (uint32_t i = 0; i < a->num_kwargs && !v; i++)
      if (a->kwargs[i].name == f->name) v = a->kwargs[i].value;
    if (!v && f->default_value && !default_of(ct, f, a->span, &v)) return false;
    if (!v) return ct_fail(ct, a->span, "TypeError", "%s needs a value for '%s'", cls->name, f->name) != NULL;
    ct_env_set(ct->ctx, in->attrs, f->name, v);
  }
  return true;
}

CtValue *ct_instantiate(Comptime *ct, CtValue *cls, const CtArgs *a) {
  CtClass *c = cls->cls;
  if (c->form == CLASS_ENUM) {
    CtList members;
    if (!ct_iterate(ct, cls, a->span, &members)) return NULL;
    for (uint32_t i = 0; i < members.count && a->num_args == 1; i++)
      if (members.data[i] == a->args[0] ||
          ct_equal(ct_instance_get(members.data[i]->instance, intern(ct->ctx, "value")), a->args[0]))
        return members.data[i];
    if (c->is_flag && a->num_args == 1 && is_int(a->args[0]))   // several flags
      return ct_int(ct->ctx, int_of(a->args[0]));
    return ct_fail(ct, a->span, "ValueError", "%s has no member with the value %s", c->name,
                   a->num_args ? ct_repr(ct->ctx, a->args[0]) : "()");
  }
  CtValue *v = ct_instance_new(ct, c);
  CtValue *init = ct_class_lookup(c, intern(ct->ctx, "__init__"));
  if (init) return ct_call(ct, ct_bind(ct, v, init), a) ? v : NULL;
  if (c->form == CLASS_EXCEPTION) {
    ct_attr_set(ct, v, "args", ct_tuple(ct->ctx, a->args, a->num_args));
    return v;
  }
  if (c->form == CLASS_NAMEDTUPLE || c->form == CLASS_DATACLASS || c->form == CLASS_AGGREGATE) {
    if (!bind_fields(ct, c, v->instance, a)) return NULL;
    CtValue *post = ct_class_lookup(c, intern(ct->ctx, "__post_init__"));
    return !post || ct_call1(ct, post, v, a->span) ? v : NULL;
  }
  if (a->num_args || a->num_kwargs) return ct_fail(ct, a->span, "TypeError", "%s takes no arguments", c->name);
  return v;
}
