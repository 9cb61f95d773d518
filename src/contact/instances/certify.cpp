// The certificate on the host, one instance for all solvers.
#include "contact/batch/run.hpp"

namespace garra::contact {

template <int N>
void certify_tiles(Executor executor, const CertifyBody<N>& certify, std::int64_t count) {
  batch::for_each(executor, count, certify);
}
template void certify_tiles(Executor, const CertifyBody<1>&, std::int64_t);
template void certify_tiles(Executor, const CertifyBody<2>&, std::int64_t);
template void certify_tiles(Executor, const CertifyBody<3>&, std::int64_t);
template void certify_tiles(Executor, const CertifyBody<4>&, std::int64_t);
template void certify_tiles(Executor, const CertifyBody<5>&, std::int64_t);
template void certify_tiles(Executor, const CertifyBody<6>&, std::int64_t);
template void certify_tiles(Executor, const CertifyBody<7>&, std::int64_t);
template void certify_tiles(Executor, const CertifyBody<8>&, std::int64_t);
template void certify_tiles(Executor, const CertifyBody<12>&, std::int64_t);
template void certify_tiles(Executor, const CertifyBody<16>&, std::int64_t);
template void certify_tiles(Executor, const CertifyBody<24>&, std::int64_t);
template void certify_tiles(Executor, const CertifyBody<32>&, std::int64_t);

}  // namespace garra::contact
