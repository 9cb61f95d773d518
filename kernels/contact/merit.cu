// Values and gradients of merit functions on the GPU: one kernel a function, for all sizes.
#include "contact/any_size.cuh"
#include "contact/merit/op.hpp"
#include "garra/batch/rows.cuh"

namespace garra::contact {
namespace {

/// MeritOp on row i of the tiles.
template <Merit M>
struct MeritKernel {
  using Op = MeritOp<M, kThreadContacts>;
  static constexpr std::int64_t kRoom = 2 * sizeof(Mat<double, 4 * kThreadContacts, 4 * kThreadContacts>);
  batch::RowsKernel<Op> rows;
  int contacts;
  unsigned char* room;  ///< kRoom bytes of each thread
  std::int64_t first;

  template <class S>
  GARRA_HD void operator()(std::int64_t i) const {
#if defined(__CUDA_ARCH__)
    thread_memory() = {contacts, room + i * kRoom, room + (i + 1) * kRoom};
#endif
    rows.template operator()<S>(first + i);
  }
};

}  // namespace

template <Merit M>
void run_kernels(const Device&, const DeviceMerit<M>& what, const batch::ResidentRows& job) {
  using Kernel = MeritKernel<M>;
  constexpr std::int64_t kAtOnce = std::int64_t{1} << 16;
  for_contacts<kThreadCapacity>(what.contacts, [&](auto n) {
    using Op = MeritOp<M, n>;
    batch::run_resident_chunks<typename Op::template In<double>, typename Op::template Out<double>>(
        job, [&](const batch::RowRange& rows, const double* in, double* out) {
          const std::int64_t together = std::min(rows.count, kAtOnce);
          const cuda::Buffer<unsigned char> room(together * Kernel::kRoom);
          for (std::int64_t first = 0; first < rows.count; first += together)
            cuda::for_each(std::min(together, rows.count - first),
                           Kernel{{{what.of_forces}, in, out}, what.contacts, room.data(), first});
        });
  });
}

template <Merit M>
void run_kernels(const Device& device, const DeviceMerit<M>& what, const batch::Rows& job) {
  if (what.contacts > kThreadCapacity)
    throw Error(ExitCode::kNoDevice, "merit functions of " + std::to_string(what.contacts) + " contacts have no kernel",
                "there is one for up to " + std::to_string(kThreadCapacity) + "; use --device cpu");
  batch::run_staged(
      job, batch::as_many_as_fit(device, batch::kDeviceChunk, cuda::measure_stack<MeritKernel<M>>(device.index)),
      [&](const batch::ResidentRows& rows) { run_kernels(device, what, rows); });
}

}  // namespace garra::contact

template struct garra::batch::Kernels<garra::contact::DeviceMerit<garra::contact::Merit::kPapers>, garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::DeviceMerit<garra::contact::Merit::kProducts>,
                                      garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::DeviceMerit<garra::contact::Merit::kFischerBurmeister>,
                                      garra::batch::Rows>;
template struct garra::batch::Kernels<garra::contact::DeviceMerit<garra::contact::Merit::kSecondOrderCone>,
                                      garra::batch::Rows>;
