// The built-in sets: classes of problems with their number of contacts.
#include "contact/problems/sets.hpp"

#include <algorithm>

#include "contact/problems/classes.hpp"

namespace garra::contact {
namespace {

template <int N>
Problems random_set(const SetDraw& set) {
  return bench::random_grasps({N, set.count, set.seed});
}
template <int N, bench::ManufacturedClass Kind>
Problems manufactured_set(const SetDraw& set) {
  return bench::manufactured(Kind, bench::Mode::mixed, {N, set.count, set.seed}).problems;
}
template <int N, bench::Sliding Kind>
Problems sliding_set(const SetDraw& set) {
  return bench::sliding_grasps(Kind, {N, set.count, set.seed});
}

constexpr auto kCompliant = bench::ManufacturedClass::compliant, kRigid = bench::ManufacturedClass::rigid;
constexpr ProblemSet kSets[] = {
    {"random_n3", "random grasps of 3 contacts, compliant fingers, of no known answer", random_set<3>},
    {"random_n4", "random grasps of 4 contacts", random_set<4>},
    {"random_n8", "random grasps of 8 contacts", random_set<8>},
    {"compliant_n3", "manufactured from an answer, 3 compliant fingers: A has full rank",
     manufactured_set<3, kCompliant>},
    {"rigid_n3", "manufactured, 3 rigid fingers: A has rank 6 of 9", manufactured_set<3, kRigid>},
    {"rigid_n5", "manufactured, 5 rigid fingers: A has rank 6 of 15", manufactured_set<5, kRigid>},
    {"rigid_n8", "manufactured, 8 rigid fingers: A has rank 6 of 24", manufactured_set<8, kRigid>},
    {"mixed_n3", "random grasps, 1 or 2 of 3 contacts slide already: unsymmetric",
     sliding_set<3, bench::Sliding::some>},
    {"sliding_n3", "random grasps, all 3 contacts slide already: LCPs", sliding_set<3, bench::Sliding::all>},
};

}  // namespace

std::span<const ProblemSet> problem_sets() { return kSets; }

const ProblemSet* find_problem_set(const std::string& name) {
  const auto found =
      std::find_if(std::begin(kSets), std::end(kSets), [&](const ProblemSet& s) { return s.name == name; });
  return found == std::end(kSets) ? nullptr : found;
}

}  // namespace garra::contact
