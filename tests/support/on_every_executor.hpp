// One operation on every executor of this machine: whatever it answers on scalar, it answers on lanes with any number
// of threads and, where there is one, on a GPU, to the last bit. Executors.AGpuIsAmongThem (tests/batch) says where
// there is none.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "base/cuda_device.hpp"
#include "garra/batch/device.hpp"
#ifdef GARRA_CUDA_SIMULATED
#include "simulated_gpu/control.hpp"
#endif

namespace garra::test {

/// The executor that all others are compared with.
inline const Device kReference{Executor::kScalar, 1, 0};

[[nodiscard]] inline bool gpu_here() { return cuda_device_count() > 0; }

/// Every other one of the processor, with as many threads as make a difference: one, and one too many for an even
/// share.
[[nodiscard]] inline std::vector<Device> other_host_executors() {
  return {{Executor::kScalar, 2, 0}, {Executor::kLanes, 1, 0}, {Executor::kLanes, 3, 0}};
}
[[nodiscard]] inline std::vector<Device> other_executors() {
  std::vector<Device> all = other_host_executors();
  if (gpu_here()) all.push_back({Executor::kCuda, 0, 0});
  return all;
}

template <class Owner, class Type>
struct Member {
  const char* name;
  Type Owner::*at;
};
template <class Owner, class Type>
Member(const char*, Type Owner::*) -> Member<Owner, Type>;  // clang 14 does not find it

/// What an operation answered: arrays by name.
class Answer {
 public:
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) Answer& add(const std::string& name,
                                                                     const std::vector<T>& values) {
    return add_bytes(name, values.data(), values.size(), sizeof(T), std::is_same_v<T, double>);
  }
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) Answer& add(const std::string& name, const T& value) {
    return add_bytes(name, &value, 1, sizeof(T), std::is_same_v<T, double>);
  }
  Answer& add(const std::string& name, const std::string& text) {
    return add_bytes(name, text.data(), text.size(), 1, false);
  }
  template <class T>
  Answer& add(const std::string& name, const std::vector<std::vector<T>>& lists) {
    for (const std::vector<T>& list : lists) add(name, list);
    return *this;
  }
  template <class Poses>
  requires requires(const Poses& p) { p.position.size() + p.quaternion.size(); }
  Answer& add(const std::string& name, const Poses& poses) {
    return add(name + ".position", poses.position).add(name + ".quaternion", poses.quaternion);
  }
  /// All of another answer.
  Answer& add(const std::string& name, const Answer& other) {
    for (Part part : other.parts_) {
      part.name = name + "." + part.name;
      parts_.push_back(part);
    }
    return *this;
  }

  /// Where `other` is not the same; empty: nowhere. Any NaN is as good as any other where `any_nan` (processors differ
  /// in theirs).
  [[nodiscard]] std::string difference(const Answer& other, bool any_nan) const {
    if (parts_.size() != other.parts_.size()) return "another number of arrays";
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const Part &a = parts_[k], &b = other.parts_[k];
      if (a.name != b.name || a.count != b.count)
        return a.name + " of " + std::to_string(a.count) + ", " + b.name + " of " + std::to_string(b.count);
      for (std::size_t i = 0; i < a.count; ++i)
        if (!a.same(b, i, any_nan)) return a.name + "[" + std::to_string(i) + "]: " + a.text(i) + ", " + b.text(i);
    }
    return "";
  }
  [[nodiscard]] bool empty() const { return parts_.empty(); }

 private:
  struct Part {
    std::string name, bytes;
    std::size_t count, each;
    bool real;

    [[nodiscard]] double number(std::size_t i) const {
      double x;
      std::memcpy(&x, bytes.data() + i * sizeof x, sizeof x);
      return x;
    }
    [[nodiscard]] bool same(const Part& other, std::size_t i, bool any_nan) const {
      return std::memcmp(bytes.data() + i * each, other.bytes.data() + i * each, each) == 0 ||
             (any_nan && real && std::isnan(number(i)) && std::isnan(other.number(i)));
    }
    [[nodiscard]] std::string text(std::size_t i) const {
      if (each == 1) return "..." + bytes.substr(i > 20 ? i - 20 : 0, 60) + "...";
      if (real) return testing::PrintToString(number(i));
      std::int64_t whole = 0;
      std::memcpy(&whole, bytes.data() + i * each, std::min(each, sizeof whole));
      return std::to_string(whole);
    }
  };

  Answer& add_bytes(const std::string& name, const void* from, std::size_t count, std::size_t each, bool real) {
    parts_.push_back(
        {name, std::string(static_cast<const char*>(count == 0 ? "" : from), count * each), count, each, real});
    return *this;
  }

  std::vector<Part> parts_;
};

/// Answer of a struct, member by member. One that is left out does not compile: the sizes (in words of 8 bytes) must
/// add up.
template <class Owner, class... Types>
[[nodiscard]] Answer every_member(const Owner& of, const Member<Owner, Types>&... members) {
  static_assert((((sizeof(Types) + 7) / 8) + ...) * 8 == sizeof(Owner), "a member of the struct is missing");
  Answer out;
  (out.add(members.name, of.*members.at), ...);
  return out;
}

/// `answer` gives the Answer on a Device.
template <std::invocable<const Device&> Operation>
void expect_same_on(const std::vector<Device>& devices, const Operation& answer) {
  const Answer reference = answer(kReference);
  EXPECT_FALSE(reference.empty()) << "nothing to compare";
  for (const Device& device : devices) {
    const std::string found = reference.difference(answer(device), device.executor == Executor::kCuda);
    EXPECT_EQ(found, "") << "on " << describe(device) << " (" << device.threads << " threads) against scalar";
#ifdef GARRA_CUDA_SIMULATED
    EXPECT_EQ(simulated_gpu::bytes_in_use(), 0u) << "memory of the GPU that nobody gave back";
#endif
  }
}
template <std::invocable<const Device&> Operation>
void expect_same_on_every_executor(const Operation& answer) {
  expect_same_on(other_executors(), answer);
}
/// For templates that a test instantiates itself: no kernel of the library runs them.
template <std::invocable<const Device&> Operation>
void expect_same_on_every_host_executor(const Operation& answer) {
  expect_same_on(other_host_executors(), answer);
}

}  // namespace garra::test
