// The running interpreter's stable interface by weak symbols: libtile neither links nor includes Python.
#ifndef TILE_RUNTIME_JIT_PYTHON_H
#define TILE_RUNTIME_JIT_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct { intptr_t refs; void *type; } Object;   // an object's head; python_is_here checks it
typedef struct {
  const char *name;
  Object *(*call)(Object *self, Object *const *args, intptr_t n, Object *names);
  int flags;
  const char *doc;
} MethodDef;
enum { METH_KEYWORDS = 2, METH_FASTCALL = 0x80 };
static const size_t ARGUMENTS_OFFSET = (size_t)1 << (8 * sizeof(size_t) - 1);   // args[-1] may be written to

// What is needed of the interpreter. Weak: all of it is there if the process runs Python, and NULL otherwise.
#define PYTHON_FUNCTIONS(F) \
  F(Object *, PyCFunction_NewEx, MethodDef *, Object *, Object *) \
  F(Object *, PyCapsule_New, void *, const char *, void (*)(Object *)) \
  F(void *, PyCapsule_GetPointer, Object *, const char *) \
  F(Object *, PyDict_Copy, Object *) \
  F(Object *, PyDict_New, void) \
  F(Object *, PyDict_GetItemWithError, Object *, Object *) \
  F(int, PyDict_Next, Object *, intptr_t *, Object **, Object **) \
  F(int, PyDict_SetItem, Object *, Object *, Object *) \
  F(intptr_t, PyDict_Size, Object *) \
  F(int, PyCallable_Check, Object *) \
  F(int, PyErr_BadArgument, void) \
  F(void, PyErr_Clear, void) \
  F(int, PyErr_GivenExceptionMatches, Object *, Object *) \
  F(Object *, PyErr_Occurred, void) \
  F(void *, PyEval_SaveThread, void) \
  F(void, PyEval_RestoreThread, void *) \
  F(double, PyFloat_AsDouble, Object *) \
  F(Object *, PyInstanceMethod_New, Object *) \
  F(Object *, PyList_GetItem, Object *, intptr_t) \
  F(intptr_t, PyList_Size, Object *) \
  F(long long, PyLong_AsLongLongAndOverflow, Object *, int *) \
  F(unsigned long long, PyLong_AsUnsignedLongLong, Object *) \
  F(Object *, PyLong_FromLong, long) \
  F(Object *, PyLong_FromVoidPtr, void *) \
  F(Object *, PyObject_GenericGetDict, Object *, void *) \
  F(Object *, PyObject_GetAttr, Object *, Object *) \
  F(int, PyObject_IsTrue, Object *) \
  F(Object *, PyObject_Str, Object *) \
  F(Object *, PyObject_Vectorcall, Object *, Object *const *, size_t, Object *) \
  F(Object *, PyObject_VectorcallMethod, Object *, Object *const *, size_t, Object *) \
  F(Object *, PyTuple_GetItem, Object *, intptr_t) \
  F(Object *, PyTuple_New, intptr_t) \
  F(int, PyTuple_SetItem, Object *, intptr_t, Object *) \
  F(intptr_t, PyTuple_Size, Object *) \
  F(int, PyUnicode_Compare, Object *, Object *) \
  F(Object *, PyUnicode_InternFromString, const char *) \
  F(void, Py_DecRef, Object *) \
  F(void, Py_IncRef, Object *)
#define PYTHON_OBJECTS(F) \
  F(PyBool_Type) F(PyDict_Type) F(PyFloat_Type) F(PyList_Type) F(PyLong_Type) F(PyTuple_Type) F(PyUnicode_Type) \
  F(_Py_FalseStruct) F(_Py_NoneStruct) F(_Py_TrueStruct)
#define DECLARE(result, name, ...) extern result name(__VA_ARGS__) __attribute__((weak));
PYTHON_FUNCTIONS(DECLARE)
#undef DECLARE
#define DECLARE(name) extern Object name __attribute__((weak));
PYTHON_OBJECTS(DECLARE)
#undef DECLARE
extern Object *PyExc_Exception __attribute__((weak)), *PyExc_KeyError __attribute__((weak)),
    *PyExc_AttributeError __attribute__((weak)), *PyExc_IndexError __attribute__((weak)),
    *PyExc_TypeError __attribute__((weak));

bool python_is_here(void);   // with all of that, of a kind that libtile knows

static inline void drop(Object *o) {
  if (o) Py_DecRef(o);
}
static inline Object *keep(Object *o) {
  Py_IncRef(o);
  return o;
}

// Clears what the quick way has raised, which the slow way meets again. False: that does not come again, such as an
// interrupt or an exit; it stays set.
static inline bool clear_error(void) {
  Object *type = PyErr_Occurred();
  if (type && !PyErr_GivenExceptionMatches(type, PyExc_Exception)) return false;
  PyErr_Clear();
  return true;
}

#endif
