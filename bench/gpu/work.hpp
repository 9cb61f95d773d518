// What bench_gpu measures: an operation on n problems, from arrays of the host on any device, and on arrays of the GPU.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"

namespace garra::bench {

/// Answers as bytes, to compare; every NaN is the same.
class Bytes {
 public:
  template <class T>
  Bytes& add(const std::vector<T>& values) {
    for (T x : values) {
      if constexpr (std::is_floating_point_v<T>)
        if (std::isnan(x)) x = std::nan("");
      const std::size_t at = bytes_.size();
      bytes_.resize(at + sizeof x);
      std::memcpy(bytes_.data() + at, &x, sizeof x);
    }
    return *this;
  }
  Bytes& add(const std::string& text) {
    bytes_ += text;
    return *this;
  }
  bool operator==(const Bytes&) const = default;
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  std::string bytes_;
};

/// n problems, ready to be solved again and again.
struct Work {
  std::function<void(const Device&)> run;  ///< from arrays of the host, to arrays of the host
  std::function<Bytes()> answer;           ///< what it left
  double bytes = 0;                        ///< of one problem's arrays, in and out
  double flops = 0;                        ///< of one problem, counted; 0: not known
  // On arrays of the GPU; empty where the operation has no such entry.
  std::function<void()> resident;  ///< until it is done
  std::function<Bytes()> resident_answer;
};

struct Operation {
  std::string name;
  std::int64_t most;  ///< problems: more take too long or too much memory
  std::function<Work(std::int64_t n)> make;
  bool from_host = true;  ///< false: from arrays of the host only the CPU does it
};

/// Every operation that has a kernel (docs/howto/gpu.md).
[[nodiscard]] std::vector<Operation> all_operations();

}  // namespace garra::bench
