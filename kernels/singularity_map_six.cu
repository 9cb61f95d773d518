#include "singularity_map.cuh"

namespace garra::singularity {

template struct CudaMap<6, 6>;

}  // namespace garra::singularity
