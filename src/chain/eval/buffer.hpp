// A job, and the tiles that lie between its plain arrays and the bodies.
#pragma once

#include <memory>
#include <new>
#include <vector>

#include "chain/eval/evaluate_kernel.hpp"

namespace garra::chain {

/// What is to be evaluated, how and where, and where the answers go. `out` has its sizes already.
struct EvalJob {
  const Robot& robot;
  const StateView& in;
  const Outputs& wanted;
  const EvalOptions& options;
  const Device& device;
  Results& out;
};

/// Inputs and outputs of `tiles` tiles for chains of J joints, padded or not.
class EvalBuffer {
 public:
  EvalBuffer(const EvalJob& job, int J, std::int64_t tiles);
  [[nodiscard]] const EvalTiles& tiles() const { return tiles_; }
  /// Takes tile `t` of this buffer from the states `first` on, or gives the results back; `count` <= 32.
  void fill(std::int64_t t, std::int64_t first, int count);
  void drain(std::int64_t t, std::int64_t first, int count);

 private:
  /// An input array of the job and where its tiles are.
  struct Given {
    const double* rows;  ///< [n][given]
    double* tile;
    int given, padded;  ///< fields in the rows and in the tile
  };
  /// The next `fields` numbers of every state.
  double* take(std::int64_t fields);
  /// Null where the input is not needed, even if it is there.
  const double* add_input(std::span<const double> rows, bool needed, int given, int padded);
  /// Status of each state; NaN for all that an invalid one was to give.
  void check_rows(std::int64_t t, std::int64_t first, int count);

  /// The memory is aligned for the widest register.
  struct Free {
    void operator()(double* p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  const EvalJob& job_;
  int joints_, J_;
  std::int64_t count_, used_ = 0;
  std::unique_ptr<double[], Free> data_;
  std::vector<Given> inputs_;
  double* parameters_ = nullptr;
  double* invalid_ = nullptr;  ///< [1] NaN where a number of the state is not finite
  EvalTiles tiles_{};
};

/// What the wanted outputs read.
[[nodiscard]] Needs collect_needs(const Outputs& wanted);

/// The columns of parameters, checked. Throws Error.
std::vector<Column> make_columns(const StateView& in, const Robot& robot);
std::vector<Column> make_columns(std::span<const DeviceParameter> parameters, const Robot& robot);

/// Chains of J joints, or of any number of them, on lanes. Each in one of chain/instances.
template <int J>
void evaluate_on_lanes(const EvalJob& job);
/// Chains of any number of joints one by one: the reference.
void evaluate_on_scalar(const EvalJob& job);

/// Chains where each state has numbers of its own. In chain/instances/eval_varying.cpp.
void evaluate_varying(const EvalJob& job, const std::vector<Column>& columns);

}  // namespace garra::chain
