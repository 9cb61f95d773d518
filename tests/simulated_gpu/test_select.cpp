// Selection on the device, against loops of the host: sizes around those of warps, blocks and tiles, and blocks in any
// order. CUB's blocks wait for those before them, which others then run.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "garra/batch/select.hpp"
#include "simulated_gpu/control.hpp"

namespace garra::cuda {
namespace {

/// Numbers in device memory.
template <class T>
class There {
 public:
  explicit There(const std::vector<T>& from) : bytes_(from.size() * sizeof(T)) {
    EXPECT_EQ(cudaMalloc(&at_, std::max<std::size_t>(bytes_, 1)), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(at_, from.data(), bytes_, cudaMemcpyHostToDevice), cudaSuccess);
  }
  There(const There&) = delete;
  There& operator=(const There&) = delete;
  ~There() { cudaFree(at_); }
  [[nodiscard]] T* data() const { return static_cast<T*>(at_); }
  [[nodiscard]] std::vector<T> first(std::size_t count) const {
    std::vector<T> out(count);
    EXPECT_EQ(cudaMemcpy(out.data(), at_, count * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
    return out;
  }

 private:
  void* at_ = nullptr;
  std::size_t bytes_;
};

constexpr int kSizes[] = {1, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 5000, 70000};

struct Selection : testing::TestWithParam<std::uint64_t> {
  Selection() { simulated_gpu::shuffle_blocks(GetParam()); }
  ~Selection() override { simulated_gpu::shuffle_blocks(0); }
  std::mt19937 random{5};
};

TEST_P(Selection, ListsWhatIsMarkedInOrder) {
  for (const int n : kSizes) {
    const auto size = static_cast<std::size_t>(n);
    std::vector<std::uint8_t> marks(size);
    std::vector<int> want;
    for (int i = 0; i < n; ++i)
      if ((marks[static_cast<std::size_t>(i)] = random() % 8 == 0) != 0) want.push_back(i);
    const There<std::uint8_t> mark(marks);
    const There<int> item(std::vector<int>(size, -1)), length({-1});
    select(n, reinterpret_cast<const bool*>(mark.data()), {item.data(), length.data()});
    EXPECT_EQ(length.first(1)[0], static_cast<int>(want.size())) << n;
    EXPECT_EQ(item.first(want.size()), want) << n;
  }
}

TEST_P(Selection, ListsNumbersThatAreNotZeroWithTheirPlaces) {
  using Number = unsigned long long;
  for (const int n : kSizes) {
    std::vector<Number> numbers(static_cast<std::size_t>(n)), want;
    std::vector<int> places;
    for (int i = 0; i < n; ++i)
      if (random() % 8 == 0) {
        want.push_back(numbers[static_cast<std::size_t>(i)] = Number{1} << random() % 64);
        places.push_back(i);
      }
    const There<Number> from(numbers), number(numbers), length({99});
    const There<int> place(std::vector<int>(numbers.size(), -1));
    select(n, from.data(), {place.data(), number.data(), length.data()});
    EXPECT_EQ(length.first(1)[0], want.size()) << n;
    EXPECT_EQ(place.first(want.size()), places) << n;
    EXPECT_EQ(number.first(want.size()), want) << n;
  }
}

TEST_P(Selection, FindsTheLeastKeysOfEachRow) {
  constexpr int kRows = 2, kSize = 10;
  for (const int n : kSizes) {
    std::vector<double> keys(static_cast<std::size_t>(kRows * n));
    for (double& key : keys) {
      const auto what = random() % 50;
      key = what < 15 ? INFINITY : what == 15 ? std::nan("") : static_cast<double>(random() % 97) - 40;  // with ties
    }
    std::vector<int> want;
    for (int row = 0; row < kRows; ++row) {
      const double* key = keys.data() + row * n;
      std::vector<int> order;
      for (int i = 0; i < n; ++i)
        if (key[i] < INFINITY) order.push_back(i);
      std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key[a] < key[b]; });
      order.resize(kSize, -1);
      want.insert(want.end(), order.begin(), order.end());
    }
    const There<double> key(keys);
    const There<int> place(std::vector<int>(kRows * kSize, -7));
    find_least(key.data(), {kRows, n}, {place.data(), kSize});
    EXPECT_EQ(place.first(kRows * kSize), want) << n;
  }
}

INSTANTIATE_TEST_SUITE_P(BlocksInOrderAndShuffled, Selection, testing::Values(0, 7, 11));

}  // namespace
}  // namespace garra::cuda
