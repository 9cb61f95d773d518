#include "contact/solve.cuh"

template void garra::batch::on_device(const garra::Device&, const garra::contact::FischerBurmeisterMethod&,
                                      const garra::contact::HostTiles&);
