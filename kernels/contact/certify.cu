// The certificate, the summary of a solution, and given forces on the GPU: one instance for all
// solvers, since they depend on the problem only.
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
template void certify_on_device(const CertifyBody<12>&, std::int64_t);
template void certify_on_device(const CertifyBody<16>&, std::int64_t);
template void certify_on_device(const CertifyBody<24>&, std::int64_t);
template void certify_on_device(const CertifyBody<32>&, std::int64_t);

template <int N>
void verdicts_on_device(const VerdictBody<N>& verdicts, std::int64_t count) {
  cuda::for_each(count, verdicts);
}
template void verdicts_on_device(const VerdictBody<1>&, std::int64_t);
template void verdicts_on_device(const VerdictBody<2>&, std::int64_t);
template void verdicts_on_device(const VerdictBody<3>&, std::int64_t);
template void verdicts_on_device(const VerdictBody<4>&, std::int64_t);
template void verdicts_on_device(const VerdictBody<5>&, std::int64_t);
template void verdicts_on_device(const VerdictBody<6>&, std::int64_t);
template void verdicts_on_device(const VerdictBody<7>&, std::int64_t);
template void verdicts_on_device(const VerdictBody<8>&, std::int64_t);
template void verdicts_on_device(const VerdictBody<12>&, std::int64_t);
template void verdicts_on_device(const VerdictBody<16>&, std::int64_t);
template void verdicts_on_device(const VerdictBody<24>&, std::int64_t);
template void verdicts_on_device(const VerdictBody<32>&, std::int64_t);

template <int N>
void given_on_device(const GivenBody<N>& given, std::int64_t count) {
  cuda::for_each(count, given);
}
template void given_on_device(const GivenBody<1>&, std::int64_t);
template void given_on_device(const GivenBody<2>&, std::int64_t);
template void given_on_device(const GivenBody<3>&, std::int64_t);
template void given_on_device(const GivenBody<4>&, std::int64_t);
template void given_on_device(const GivenBody<5>&, std::int64_t);
template void given_on_device(const GivenBody<6>&, std::int64_t);
template void given_on_device(const GivenBody<7>&, std::int64_t);
template void given_on_device(const GivenBody<8>&, std::int64_t);
template void given_on_device(const GivenBody<12>&, std::int64_t);
template void given_on_device(const GivenBody<16>&, std::int64_t);
template void given_on_device(const GivenBody<24>&, std::int64_t);
template void given_on_device(const GivenBody<32>&, std::int64_t);

}  // namespace garra::contact

template struct garra::batch::Kernels<garra::contact::GivenForces, garra::contact::DeviceBatch>;
