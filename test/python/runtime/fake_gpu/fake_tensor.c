// A tensor in the memory of the GPU that is not there, as cheap to ask as torch's are.
#include <Python.h>
#include <structmember.h>

typedef struct {
  PyObject_HEAD
  unsigned long long address;
  PyObject *dtype, *device;
  long index;
  char is_cuda;
} Tensor;

static PyObject *data_ptr(Tensor *self, PyObject *unused) {
  return PyLong_FromUnsignedLongLong(self->address);
}
static PyObject *get_device(Tensor *self, PyObject *unused) { return PyLong_FromLong(self->index); }
static int init(Tensor *self, PyObject *args, PyObject *keywords) {
  static char *names[] = {"address", "dtype", "index", NULL};
  PyObject *dtype;
  self->index = 0;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "KO|l", names, &self->address, &dtype,
                                   &self->index))
    return -1;
  self->dtype = Py_NewRef(dtype);
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
                            .tp_flags = Py_TPFLAGS_DEFAULT,
                            .tp_new = PyType_GenericNew,
                            .tp_init = (initproc)init,
                            .tp_dealloc = (destructor)dealloc,
                            .tp_methods = methods,
                            .tp_members = members};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "fake_tensor", NULL, -1, NULL};
PyMODINIT_FUNC PyInit_fake_tensor(void) {
  PyObject *module = PyModule_Create(&definition);
  if (module && PyType_Ready(&type) == 0)
    PyModule_AddObject(module, "FakeTensor", Py_NewRef((PyObject *)&type));
  return module;
}
