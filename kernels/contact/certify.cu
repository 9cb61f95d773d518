// The certificate, the summary of a solution, and given forces on the GPU: one instance for all
// solvers, since they depend on the problem only.
#include "contact/solve.cuh"

namespace garra::contact {

template <int N>
void certify_on_device(const CertifyKernel<N>& certify, std::int64_t count) {
  cuda::for_each(count, certify);
}
template void certify_on_device(const CertifyKernel<1>&, std::int64_t);
template void certify_on_device(const CertifyKernel<2>&, std::int64_t);
template void certify_on_device(const CertifyKernel<3>&, std::int64_t);
template void certify_on_device(const CertifyKernel<4>&, std::int64_t);
template void certify_on_device(const CertifyKernel<5>&, std::int64_t);
template void certify_on_device(const CertifyKernel<6>&, std::int64_t);
template void certify_on_device(const CertifyKernel<7>&, std::int64_t);
template void certify_on_device(const CertifyKernel<8>&, std::int64_t);
template void certify_on_device(const CertifyKernel<12>&, std::int64_t);
template void certify_on_device(const CertifyKernel<16>&, std::int64_t);
template void certify_on_device(const CertifyKernel<24>&, std::int64_t);
template void certify_on_device(const CertifyKernel<32>&, std::int64_t);

template <int N>
void diagnostics_on_device(const DiagnosticsKernel<N>& diagnostics, std::int64_t count) {
  cuda::for_each(count, diagnostics);
}
template void diagnostics_on_device(const DiagnosticsKernel<1>&, std::int64_t);
template void diagnostics_on_device(const DiagnosticsKernel<2>&, std::int64_t);
template void diagnostics_on_device(const DiagnosticsKernel<3>&, std::int64_t);
template void diagnostics_on_device(const DiagnosticsKernel<4>&, std::int64_t);
template void diagnostics_on_device(const DiagnosticsKernel<5>&, std::int64_t);
template void diagnostics_on_device(const DiagnosticsKernel<6>&, std::int64_t);
template void diagnostics_on_device(const DiagnosticsKernel<7>&, std::int64_t);
template void diagnostics_on_device(const DiagnosticsKernel<8>&, std::int64_t);
template void diagnostics_on_device(const DiagnosticsKernel<12>&, std::int64_t);
template void diagnostics_on_device(const DiagnosticsKernel<16>&, std::int64_t);
template void diagnostics_on_device(const DiagnosticsKernel<24>&, std::int64_t);
template void diagnostics_on_device(const DiagnosticsKernel<32>&, std::int64_t);

template <int N>
void given_on_device(const GivenKernel<N>& given, std::int64_t count) {
  cuda::for_each(count, given);
}
template void given_on_device(const GivenKernel<1>&, std::int64_t);
template void given_on_device(const GivenKernel<2>&, std::int64_t);
template void given_on_device(const GivenKernel<3>&, std::int64_t);
template void given_on_device(const GivenKernel<4>&, std::int64_t);
template void given_on_device(const GivenKernel<5>&, std::int64_t);
template void given_on_device(const GivenKernel<6>&, std::int64_t);
template void given_on_device(const GivenKernel<7>&, std::int64_t);
template void given_on_device(const GivenKernel<8>&, std::int64_t);
template void given_on_device(const GivenKernel<12>&, std::int64_t);
template void given_on_device(const GivenKernel<16>&, std::int64_t);
template void given_on_device(const GivenKernel<24>&, std::int64_t);
template void given_on_device(const GivenKernel<32>&, std::int64_t);

}  // namespace garra::contact

template struct garra::batch::Kernels<garra::contact::GivenForces, garra::contact::DeviceBatch>;
