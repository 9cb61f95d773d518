// The steps of a map as bodies that every executor runs: sample, measure, find the near ones' singularities. Host and
// device.
#pragma once

#include "garra/batch/tiles.hpp"
#include "garra/core/log10.hpp"
#include "garra/systems/singularity/arrival.hpp"
#include "singularity/map/layout.hpp"
#include "singularity/map/sampling.hpp"

namespace garra::singularity {

/// Step 1 of a block: samples first + i, whose joint values are drawn.
template <int J>
struct DrawKernel {
  const Sampler* sampler;
  std::int64_t first;
  double* q;  ///< tiles of Vec<double, J>

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    batch::store<S>(q, i, draw_joints<S, J>(*sampler, first + i));
  }
};

/// The same, of any sampler.
template <int J>
struct SampleKernel {
  const Arm<J>* arm;
  const Sampler* sampler;
  std::int64_t first;
  double* q;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    batch::store<S>(q, i, sample_joints<S, J>(*arm, *sampler, first + i));
  }
};

/// What the first pass says of a configuration. NaN where a joint value is not finite.
template <class S>
struct Measured {
  S sigma, inverse_condition, manipulability;
  S log_sigma, log_condition;  ///< to the base of 10
  Vec3<S> tool;                ///< world axes and origin [m]
};

template <int G, Joints K, class S, class T, int J>
GARRA_HD Measured<S> measured(const Arm<J, T>& arm, const Vec<S, J>& q) {
  S spoilt = S(RealOf<S>(0));  // NaN where a joint value is not finite; the last one turns no screw
  for_each_index<J>([&](auto j) { spoilt += q[j] - q[j]; });
  const Posture<S, J> at = posture<K>(arm, q);
  const auto sigma = extremes<G>(at.screws, numerical_rank<G>(arm.dims));
  Measured<S> out;
  out.sigma = sigma.smallest + spoilt;
  out.inverse_condition = sigma.smallest / sigma.largest + spoilt;
  // Added, not selected: NaN reaches every output, and finite values get 0.
  out.manipulability = sigma.product + spoilt;
  out.log_sigma = log10(out.sigma);
  out.log_condition = -log10(out.inverse_condition);
  const Vec3<S> base = cast<S>(arm.model.base.p);
  for_each_index<3>([&](auto k) { out.tool[k] = at.tool[k] + base[k] + spoilt; });
  return out;
}

/// Step 2: the first pass.
template <int J, int G, Joints K = Joints::kMixed>
struct MeasureKernel {
  const Arm<J>* arm;
  const double* q;
  double* measured;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    batch::store<S>(measured, i, singularity::measured<G, K>(*arm, batch::load<S, Vec<S, J>>(q, i)));
  }
};

/// Step 2 in single precision, from and to numbers in double.
template <int J, int G, Joints K = Joints::kMixed>
struct SingleMeasureKernel {
  const Arm<J, float>* arm;
  const double* q;
  double* measured;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    Vec<S, J> x;
    const double* from = batch::tile_at<double, Vec<double, J>>(q, i);
    for_each_index<J>([&](auto j) {
      x[j] = map_kernel::from_lanes<S>([&](int lane) { return static_cast<float>(from[j * batch::kTile + lane]); });
    });
    const Measured<S> m = singularity::measured<G, K>(*arm, x);
    const S* fields = reinterpret_cast<const S*>(&m);
    double* to = const_cast<double*>(batch::tile_at<double, Measured<double>>(measured, i));
    for (int f = 0; f < batch::kFields<S, Measured<S>>; ++f) {
      if constexpr (kWidth<S> == 1)
        to[f * batch::kTile] = static_cast<double>(fields[f]);
      else
        for (int l = 0; l < kWidth<S>; ++l) to[f * batch::kTile + l] = static_cast<double>(fields[f][l]);
    }
  }
};

/// Step 4: one part of the near ones' way to a configuration that lacks D freedoms. States are changed in place.
template <int J, int G, int D>
struct SearchKernel {
  const Arm<J>* arm;
  RefineOptions options;
  SearchPart part;
  double* states;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    auto s = batch::load<S, Search<S, J>>(states, i);
    search_on<G, D>(*arm, options, part, s);
    batch::store<S>(states, i, s);
  }
};

/// Between steps 4 and 5: further searches in place of those that may have missed something nearer.
template <int J, int G, bool Around>
struct LookElsewhereKernel {
  Look look;
  const Arm<J>* arm;
  RefineOptions options;
  double* states;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    batch::store<S>(states, i, look_elsewhere<G, Around>(look, *arm, batch::load<S, Search<S, J>>(states, i), options));
  }
};

/// Step 5: what is lost there, and what leads out.
template <int J, int G>
struct AnalyzeKernel {
  const Arm<J>* arm;
  RefineOptions options;
  const double* states;
  double* results;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
    batch::store<S>(results, i, analyze_arrival<G>(*arm, batch::load<S, Search<S, J>>(states, i), options));
  }
};

}  // namespace garra::singularity
