#include "contact/solve.cuh"

template void garra::batch::on_device(const garra::Device&, const garra::contact::ProjectedLmMethod&,
                                      const garra::contact::HostTiles&);
