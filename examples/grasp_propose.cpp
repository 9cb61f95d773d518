// Candidate grasps of a box, three fingers each, and the one that holds best when friction is uncertain. Give a mesh in
// its place: grasp_propose part.stl
#include "garra/grasp_propose.hpp"

#include <algorithm>
#include <cstdio>

#include "garra/io/mesh_file.hpp"

int main(int argc, char** argv) {
  const garra::io::Object object = garra::io::read_object(argc > 1 ? argv[1] : "box:0.05,0.04,0.1");
  const garra::grasp::Proposal p = garra::grasp::propose(*object.surface, {.fingers = 3, .count = 200});

  garra::grasp::SetStudy study;
  study.friction = garra::study::Distribution::uniform(0.4, 1.2);  // of 0.5
  study.samples = 200;
  study.friction_samples = 10;
  const garra::grasp::Ranking r = garra::grasp::rank(p.set, study);

  const auto best = static_cast<std::size_t>(std::find(r.rank.begin(), r.rank.end(), 1) - r.rank.begin());
  std::printf("%lld samples; grasp %zu is the best, P(held) = %g\n", static_cast<long long>(p.samples), best,
              r.p_held[best]);
  for (std::size_t j = 3 * best; j < 3 * best + 3; ++j)
    std::printf("  contact at (%7.4f, %7.4f, %7.4f) m\n", p.set.point[3 * j], p.set.point[3 * j + 1],
                p.set.point[3 * j + 2]);
}
