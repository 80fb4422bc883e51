// A tensor in the memory of the GPU that is not there, as cheap to ask as torch's are.
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

typedef struct {
  PyObject_HEAD
  unsigned long long address;
  PyObject *dtype, *device;
  long index;
  char is_cuda;
  uint8_t code, bits; // DLPack's, of the dtype.
  long long shape[2], strides[2]; // In elements: rows may be apart.
} Tensor;

static PyObject *data_ptr(Tensor *self, PyObject *unused) {
  return PyLong_FromUnsignedLongLong(self->address);
}
static PyObject *get_device(Tensor *self, PyObject *unused) { return PyLong_FromLong(self->index); }
static int init(Tensor *self, PyObject *args, PyObject *keywords) {
  static char *names[] = {"address", "dtype", "index", "rows", "columns", "pitch", NULL};
  PyObject *dtype;
  self->index = 0;
  self->shape[0] = 1, self->shape[1] = 16;
  self->strides[0] = 16, self->strides[1] = 1;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "KO|lLLL", names, &self->address, &dtype,
                                   &self->index, &self->shape[0], &self->shape[1],
                                   &self->strides[0]))
    return -1;
  self->dtype = Py_NewRef(dtype);
  const char *name;
  PyObject *text = PyObject_Str(dtype);
  if (!text || !(name = PyUnicode_AsUTF8(text)))
    return -1;
  self->code = name[0] == 'f' ? 2 : 0;
  self->bits = (uint8_t)atoi(name + strcspn(name, "0123456789"));
  Py_DECREF(text);
  self->is_cuda = self->index >= 0;
  self->device = self->index >= 0 ? PyUnicode_FromFormat("cuda:%ld", self->index)
                                  : PyUnicode_FromString("cpu");
  return 0;
}
static void dealloc(Tensor *self) {
  Py_XDECREF(self->dtype);
  Py_XDECREF(self->device);
  Py_TYPE(self)->tp_free((PyObject *)self);
}
static PyMethodDef methods[] = {{"data_ptr", (PyCFunction)data_ptr, METH_NOARGS, NULL},
                                {"get_device", (PyCFunction)get_device, METH_NOARGS, NULL},
                                {NULL}};
static PyMemberDef members[] = {{"dtype", T_OBJECT, offsetof(Tensor, dtype), 0, NULL},
                                {"device", T_OBJECT, offsetof(Tensor, device), 0, NULL},
                                {"is_cuda", T_BOOL, offsetof(Tensor, is_cuda), 0, NULL},
                                {NULL}};
static PyTypeObject type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fake_tensor.FakeTensor",
                            .tp_basicsize = sizeof(Tensor),
                            .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                            .tp_new = PyType_GenericNew,
                            .tp_init = (initproc)init,
                            .tp_dealloc = (destructor)dealloc,
                            .tp_methods = methods,
                            .tp_members = members};
// The same with DLPack's table of functions, as torch's tensors have one.
typedef struct {
  void *data;
  int32_t device_type, device_index, rank;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} View;
static int view(Tensor *self, View *out) {
  if (self->bits == 64 && self->index < 0) { // Some tensors cannot be described.
    PyErr_SetString(PyExc_BufferError, "no view of this tensor");
    return -1;
  }
  // Half of the address is in the offset: it counts.
  View made = {(void *)(uintptr_t)(self->address / 2), self->index < 0 ? 1 : 2,
               self->index < 0 ? 0 : (int32_t)self->index, 2, self->code, self->bits, 1, (int64_t *)self->shape, (int64_t *)self->strides, self->address - self->address / 2};
  *out = made;
  return 0;
}
static struct {
  uint32_t major, minor;
  void *older, *allocate, *from, *to;
  int (*view)(Tensor *, View *);
  void *stream;
} table = {1, 3, NULL, NULL, NULL, NULL, view, NULL};
static PyTypeObject viewed_type = {PyVarObject_HEAD_INIT(NULL, 0).tp_name = "fake_tensor.Viewed",
                                   .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                                   .tp_base = &type};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "fake_tensor", NULL, -1, NULL};
PyMODINIT_FUNC PyInit_fake_tensor(void) {
  PyObject *module = PyModule_Create(&definition);
  if (!module || PyType_Ready(&type) || PyType_Ready(&viewed_type))
    return NULL;
  PyObject *capsule = PyCapsule_New(&table, "dlpack_exchange_api", NULL);
  PyDict_SetItemString(viewed_type.tp_dict, "__dlpack_c_exchange_api__", capsule);
  PyModule_AddObject(module, "FakeTensor", Py_NewRef((PyObject *)&type));
  PyModule_AddObject(module, "Viewed", Py_NewRef((PyObject *)&viewed_type));
  return module;
}
