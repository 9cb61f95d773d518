#include "singularity_map.cuh"

namespace garra::singularity {

template struct CudaMap<7, 6>;

}  // namespace garra::singularity
