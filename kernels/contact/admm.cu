#include "contact/solve.cuh"

template void garra::batch::on_device(const garra::Device&, const garra::solvers::FrictionAdmm&,
                                      const garra::contact::HostTiles&);
