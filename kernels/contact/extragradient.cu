#include "contact/solve.cuh"

template void garra::batch::on_device(const garra::Device&, const garra::solvers::FrictionExtragradient&,
                                      const garra::contact::HostTiles&);
