// A merit function with every minimizer, for the files that instantiate it.
#pragma once

#include "contact/batch/solve_batch.hpp"

namespace garra::contact {

template <Merit M>
void run_merit(const MethodCall& call) {
  switch (pair_of(call.options).value().minimizer) {
    case Minimizer::kBoxQuacan:
      return call.by_pair<M, Minimizer::kBoxQuacan>();
    case Minimizer::kSpg:
      return call.by_pair<M, Minimizer::kSpg>();
    case Minimizer::kSpgNewton:
      return call.by_pair<M, Minimizer::kSpgNewton>();
    case Minimizer::kProjectedLm:
      return call.by_pair<M, Minimizer::kProjectedLm>();
  }
}

}  // namespace garra::contact
