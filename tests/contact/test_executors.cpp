// Every method of contact::solve on every executor: the same bits, for every number of contacts that it takes.
#include <gtest/gtest.h>

#include "answers.hpp"
#include "contact/problems/classes.hpp"

namespace garra {
namespace {

using contact::Method;
using contact::Problems;

class ContactExecutors : public testing::TestWithParam<int> {};

TEST_P(ContactExecutors, GiveTheSameBits) {
  contact::Options options;
  options.method = static_cast<Method>(GetParam());
  options.starts = 2;
  options.count_solutions = options.method == Method::kLemke;
  for (int contacts = 1; contacts <= contact::most_contacts(options.method); ++contacts) {
    SCOPED_TRACE(contacts);
    const bool merit = contact::most_contacts(options.method) < contact::kMaxContacts;
    const auto sliding = options.method == Method::kLemke ? bench::Sliding::all : bench::Sliding::some;
    // One more than whole tiles and groups of lanes; merit methods take milliseconds for a problem.
    const Problems p =
        contacts == 1 ? bench::random_grasps({1, 33, 0}) : bench::sliding_grasps(sliding, {contacts, merit ? 33 : 257});
    if (contacts == 1 && options.method == Method::kLemke) continue;  // they may roll
    const int on_gpu = merit ? 3 : contacts;  // merit methods have kernels for up to three contacts
    test::expect_same_on(contacts <= on_gpu ? test::other_executors() : test::other_host_executors(),
                         [&](const Device& d) { return test::answer_of(contact::solve(p, options, d)); });
    if (merit && contacts > 3 && test::gpu_here()) {
      EXPECT_THROW((void)contact::solve(p, options, {Executor::kCuda, 0, 0}), Error) << "no kernel";
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Methods, ContactExecutors, testing::Range(0, contact::kMethodCount), [](const auto& info) {
  return std::string(contact::to_string(static_cast<Method>(info.param))).substr(0, 3) + std::to_string(info.param);
});

TEST(ContactExecutorsOfAnySize, GiveTheSameBits) {
  const Problems all = bench::random_grasps({3, 300, 0});
  for (const std::int64_t n : {0, 1, 7, 8, 9, 31, 32, 33, 255, 256, 257}) {
    SCOPED_TRACE(n);
    const Problems p{3,
                     n,
                     {all.A.begin(), all.A.begin() + n * 81},
                     {all.b.begin(), all.b.begin() + n * 9},
                     {all.mu.begin(), all.mu.begin() + n * 3}};
    test::expect_same_on_every_executor([&](const Device& d) { return test::answer_of(contact::solve(p, {}, d)); });
  }
}

}  // namespace
}  // namespace garra
