// The certificate on the GPU, one instance for all solvers: it knows the problem and nothing of them.
#include "contact/solve.cuh"

namespace garra::contact {

template <int N>
void certify_on_device(const CertifyBody<N>& certify, std::int64_t count) {
  cuda::for_each(count, certify);
}
template void certify_on_device(const CertifyBody<1>&, std::int64_t);
template void certify_on_device(const CertifyBody<2>&, std::int64_t);
template void certify_on_device(const CertifyBody<3>&, std::int64_t);
template void certify_on_device(const CertifyBody<4>&, std::int64_t);
template void certify_on_device(const CertifyBody<5>&, std::int64_t);
template void certify_on_device(const CertifyBody<6>&, std::int64_t);
template void certify_on_device(const CertifyBody<7>&, std::int64_t);
template void certify_on_device(const CertifyBody<8>&, std::int64_t);

}  // namespace garra::contact
