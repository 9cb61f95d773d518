#include "contact/solve.cuh"

template void garra::batch::on_device(const garra::Device&, const garra::solvers::FrictionNsgs&,
                                      const garra::contact::HostTiles&);
