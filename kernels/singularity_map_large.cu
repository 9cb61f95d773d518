#include "singularity_map.cuh"

namespace garra::singularity {

template struct CudaMap<16, 6>;

}  // namespace garra::singularity
