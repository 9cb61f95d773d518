// garra._core: the library for Python. The package (python/garra) gives these functions shapes, defaults and words;
// what is here takes checked arrays of one leading axis and returns dictionaries of arrays.
#include <regex>
#include <string>

#include "arrays.hpp"
#include "base/instruction_set.hpp"
#include "garra/core/error.hpp"
#include "garra/core/status.hpp"
#include "garra/core/version.hpp"

namespace garra::python {

namespace {

/// garra.Error and its kinds, each also the exception that Python has for it.
struct Exceptions {
  nb::object error, usage, file, input_output, device;

  explicit Exceptions(nb::module_& m) {
    error = made(m, "Error", nb::borrow(PyExc_Exception));
    usage = made(m, "UsageError", nb::make_tuple(error, nb::borrow(PyExc_ValueError)));
    file = made(m, "FileError", nb::make_tuple(error, nb::borrow(PyExc_ValueError)));
    input_output = made(m, "InputOutputError", nb::make_tuple(error, nb::borrow(PyExc_OSError)));
    device = made(m, "DeviceError", nb::make_tuple(error, nb::borrow(PyExc_RuntimeError)));
  }

  [[nodiscard]] const nb::object& of(ExitCode code) const {
    switch (code) {
      case ExitCode::kUsage:
        return usage;
      case ExitCode::kInvalidFile:
        return file;
      case ExitCode::kInputOutput:
        return input_output;
      case ExitCode::kNoDevice:
        return device;
      default:
        return error;
    }
  }

 private:
  static nb::object made(nb::module_& m, const char* name, const nb::object& bases) {
    const std::string full = std::string("garra.") + name;
    nb::object type = nb::steal(PyErr_NewException(full.c_str(), bases.ptr(), nullptr));
    m.attr(name) = type;
    return type;
  }
};

/// "--device cuda:7" of the program as the keyword of a call: device="cuda:7".
std::string with_keywords(const std::string& text) {
  static const std::regex flag("--device ([a-z0-9:,]*[a-z0-9])");
  return std::regex_replace(text, flag, "device=\"$1\"");
}

void translate(const std::exception_ptr& thrown, void* exceptions) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& e) {
    const std::string text = with_keywords(e.what());
    PyErr_SetString(static_cast<Exceptions*>(exceptions)->of(e.code()).ptr(), text.c_str());
  }
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The compiled part of garra; see the package's own functions.";
  // Never freed: exceptions may be raised while the interpreter ends.
  static auto* exceptions = new Exceptions(m);
  nb::register_exception_translator(translate, exceptions);
  require_wanted_instruction_set();
  m.attr("version") = version();
  m.attr("isa") = instruction_set();
  m.attr("statuses") = to_tuple<Status>(kStatusCount);
  add_contact(m);
  add_contact_in_jax(m);
  add_contact_on_gpu(m);
  add_on_gpu(m);
  add_chain(m);
  add_grasp_set(m);
  add_grasp_matrices(m);
  add_grasp_propose(m);
  add_grasp_touch(m);
  add_mcp(m);
  add_mncp(m);
  add_singularity(m);
  add_platform(m);
  add_platform_dynamics(m);
}

}  // namespace garra::python
