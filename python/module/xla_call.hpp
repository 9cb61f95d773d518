// C structures that XLA passes to a function of another library, as far as they are read here: its
// foreign function interface, version 0.1 and later (openxla/xla, xla/ffi/api/c_api.h; JAX:
// jax.ffi).
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace garra::python::xla {

enum Type : int { kBytes = 6, kSingle = 11, kDouble = 12 };

struct Extension {
  std::size_t size;
  int type;
  Extension* next;
};
struct Version {
  std::size_t size;
  Extension* extension;
  int major, minor;
};
/// Asked for once, when a function is registered: what it was written for.
struct Metadata {
  std::size_t size;
  Version version;
  std::uint32_t traits;
};
struct MetadataExtension {
  static constexpr int kType = 1;
  Extension base;
  Metadata* metadata;
};

struct ErrorArguments {
  std::size_t size;
  Extension* extension;
  const char* message;
  int code;
};
struct Api {
  std::size_t size;
  Extension* extension;
  Version version;
  const void* internal;
  void* (*create_error)(ErrorArguments*);  // and more
};

struct Buffer {
  std::size_t size;
  Extension* extension;
  int type;
  void* data;
  std::int64_t rank;
  std::int64_t* shape;

  [[nodiscard]] std::int64_t axis(std::int64_t from_last) const { return shape[rank - 1 - from_last]; }
  [[nodiscard]] std::size_t count() const {
    std::size_t count = 1;
    for (std::int64_t i = 0; i < rank; ++i) count *= static_cast<std::size_t>(shape[i]);
    return count;
  }
};
struct Buffers {
  std::size_t size;
  Extension* extension;
  std::int64_t count;
  int* types;
  Buffer** at;
};

struct Text {
  const char* at;
  std::size_t count;
};
struct Scalar {
  int type;
  void* value;
};
struct Attributes {
  std::size_t size;
  Extension* extension;
  std::int64_t count;
  int* types;
  Text** names;
  void** values;

  /// The value of this name: a Scalar or a Text.
  template <class T>
  [[nodiscard]] const T& find(std::string_view name) const {
    for (std::int64_t i = 0; i < count; ++i)
      if (std::string_view(names[i]->at, names[i]->count) == name) return *static_cast<const T*>(values[i]);
    throw std::invalid_argument("garra: the call has no attribute " + std::string(name));
  }
  [[nodiscard]] std::string text(std::string_view name) const {
    const Text& found = find<Text>(name);
    return {found.at, found.count};
  }
  template <class Number>
  [[nodiscard]] Number number(std::string_view name) const {
    return *static_cast<const Number*>(find<Scalar>(name).value);
  }
};

struct Call {
  std::size_t size;
  Extension* extension;
  const Api* api;
  void* context;
  int stage;
  Buffers arguments, results;
  Attributes attributes;
};

/// Numbers of an argument; single precision is converted into `room`.
inline std::span<const double> numbers(const Buffer& from, std::vector<double>& room) {
  if (from.type == kDouble) return {static_cast<const double*>(from.data), from.count()};
  const auto* single = static_cast<const float*>(from.data);
  room.assign(single, single + from.count());
  return room;
}

/// Numbers to a result of either precision.
inline void put(const std::vector<double>& values, const Buffer& to) {
  if (to.type == kDouble)
    std::ranges::copy(values, static_cast<double*>(to.data));
  else
    std::ranges::transform(values, static_cast<float*>(to.data), [](double x) { return static_cast<float>(x); });
}

/// Calls run(call) without exceptions, as XLA requires. The version that it reports is 0.1, the
/// first one.
template <class Run>
void* answer(Call* call, const Run& run) {
  if (call->extension != nullptr && call->extension->type == MetadataExtension::kType) {
    Metadata& metadata = *reinterpret_cast<MetadataExtension*>(call->extension)->metadata;
    metadata.version.major = 0;
    metadata.version.minor = 1;
    return nullptr;
  }
  constexpr int kInvalidArgument = 3;
  try {
    run(*call);
    return nullptr;
  } catch (const std::exception& error) {
    ErrorArguments arguments{sizeof(ErrorArguments), nullptr, error.what(), kInvalidArgument};
    return call->api->create_error(&arguments);
  }
}

}  // namespace garra::python::xla
