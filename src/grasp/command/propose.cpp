// `garra grasp propose`: reads an object, writes candidate grasps of it.
#include "grasp/command/propose.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/core_seconds.hpp"
#include "base/cuda_device.hpp"
#include "cli/answer_parts.hpp"
#include "cli/flags.hpp"
#include "cli/progress.hpp"
#include "cli/terminal.hpp"
#include "garra/core/error.hpp"
#include "garra/core/version.hpp"
#include "garra/grasp_propose.hpp"
#include "garra/io/grasp_set.hpp"
#include "garra/io/mesh_file.hpp"

namespace garra::cli {
namespace {

using grasp::Proposal;
using grasp::RejectionReason;
using Json = nlohmann::ordered_json;

struct ProposeArguments : BatchFlags {
  grasp::ProposeOptions options;
  std::string object, output;
  double scale = 0;
};

/// A proposal with the words for its answer.
struct ProposeAnswer {
  Proposal proposal;
  io::Object object;
  double seconds = 0;
  std::string device;
};

std::int64_t count_rejections(const Proposal& p, RejectionReason rejection) {
  return p.rejection[static_cast<std::size_t>(rejection)];
}

/// Replaces rounding noise by zero.
double shown_number(double x) { return std::abs(x) < 1e-12 ? 0 : x; }

std::string object_text(const ProposeAnswer& a) {
  const mesh::Body& body = a.proposal.body;
  std::string out = "\nObject             ";
  if (a.object.is_mesh()) {
    const mesh::Report& r = a.object.report;
    out += format("%lld triangles, %s, %.3g x %.3g x %.3g m\n                   ", static_cast<long long>(r.faces),
                  r.watertight() ? "watertight" : "not watertight", r.high[0] - r.low[0], r.high[1] - r.low[1],
                  r.high[2] - r.low[2]);
    if (r.flipped) out += "its faces looked inwards and were turned over\n                   ";
  }
  return out + format("%.4g kg, center of mass (%.4g, %.4g, %.4g) m\n", body.mass, shown_number(body.com[0]),
                      shown_number(body.com[1]), shown_number(body.com[2]));
}

std::string format_answer(const ProposeArguments& a, const ProposeAnswer& answer) {
  const Proposal& p = answer.proposal;
  const auto grasps = static_cast<long long>(p.set.count());
  std::string out = std::filesystem::path(a.object).filename().string() +
                    format(": %lld grasps of %d fingers", grasps, a.options.fingers);
  if (p.set.count() < a.options.count)
    out += format(", not %lld: %lld samples are the most to be drawn (--max-samples)",
                  static_cast<long long>(a.options.count), static_cast<long long>(p.samples));
  out += "\n" + object_text(answer) + "\nSamples            " + std::to_string(p.samples) + "\n";
  const auto names = names_of(RejectionReason{});
  for (std::size_t k = 0; k < names.size(); ++k)
    // "Open" is also a contact state.
    if (p.rejection[k] > 0)
      out += counted(k == static_cast<std::size_t>(RejectionReason::kOpen) ? "no force closure" : words(names[k]),
                     p.rejection[k], static_cast<double>(p.samples));
  out += "\nSpeed              " + short_number(static_cast<double>(p.set.count()) / std::max(answer.seconds, 1e-9)) +
         " grasps/s on " + answer.device + "\n";
  out += "Set                " + a.output + "\n";
  if (a.options.fingers == 2 && a.options.pad_radius == 0 && a.options.torsion_radius == 0)
    out +=
        "Two point contacts let the object turn about their line: --pad-radius makes them pads, --torsion-radius "
        "soft.\n";
  out += "Which is the best  garra grasp rank " + a.output + " -o ranking.h5\n";
  return out;
}

std::string json(const ProposeArguments& a, const ProposeAnswer& answer) {
  const Proposal& p = answer.proposal;
  Json out = {{"object", a.object},           {"grasps", p.set.count()}, {"wanted", a.options.count},
              {"fingers", a.options.fingers}, {"samples", p.samples},    {"seed", a.options.seed}};
  const auto names = names_of(RejectionReason{});
  for (std::size_t k = 0; k < names.size(); ++k) out["rejections"][names[k]] = p.rejection[k];
  const mesh::Body& b = p.body;
  out["mass"] = b.mass;
  out["com"] = {b.com[0], b.com[1], b.com[2]};
  out["inertia"] = std::vector<double>(b.inertia.m, b.inertia.m + 9);
  if (answer.object.is_mesh()) {
    const mesh::Report& r = answer.object.report;
    out["mesh"] = {{"vertices", r.vertices},
                   {"faces", r.faces},
                   {"merged", r.merged},
                   {"dropped", r.dropped},
                   {"open_edges", r.open_edges},
                   {"watertight", r.watertight()},
                   {"turned_faces", r.turned},
                   {"flipped", r.flipped},
                   {"inverted_bodies", r.inverted},
                   {"area", r.area},
                   {"volume", r.volume},
                   {"low", r.low},
                   {"high", r.high}};
  }
  out["seconds"] = answer.seconds;
  out["device"] = answer.device;
  out["output"] = a.output;
  return out.dump(1) + "\n";
}

void run_propose(const ProposeArguments& a) {
  check_output(a.object, a.output, "the object");
  ProposeAnswer answer;
  const Device device =
      parse_device_for_arrays(a.device, a.threads, core_seconds::proposals(a.options.count, a.options.fingers));
  answer.object = io::read_object(a.object, a.scale);
  if (!answer.object.warning.empty())
    std::fprintf(stderr, "garra: warning: %s\n", printable(answer.object.warning).c_str());
  const auto start = std::chrono::steady_clock::now();
  Progress bar("auto", a.options.count);
  answer.proposal =
      grasp::propose(*answer.object.surface, a.options, device, [&](std::int64_t grasps, std::int64_t samples) {
        bar.show_step(grasps, std::to_string(grasps) + " grasps of " + std::to_string(samples) + " samples");
      });
  bar.clear();
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  answer.device = describe(device);
  io::write_grasp_set(
      a.output, answer.proposal.set,
      {answer.object.surface->picture(), answer.proposal.sample, {{"object", a.object}, {"version", version()}}});
  std::fputs((a.format == "json" ? json(a, answer) : printable(format_answer(a, answer))).c_str(), stdout);
  std::fflush(stdout);
  const std::int64_t open = count_rejections(answer.proposal, RejectionReason::kUndecided);
  check_unsolved(a.max_unsolved, {open, answer.proposal.samples}, "samples were not decided",
                 "--max-unsolved allows more.");
}

void add_hand_options(Command command, grasp::ProposeOptions& o) {
  command.add_option("--fingers", o.fingers, "contacts of each grasp, 2 to 8").capture_default_str();
  command.add_option("--friction", o.friction, "coefficient with which forces have to close").capture_default_str();
  command.add_option("--max-opening", o.max_opening, "largest distance between two contacts [m]");
  command.add_option("--force-limit", o.force_limit, "of each finger's normal force [N], for the set");
  command.add_option(
      "--torsion-radius", o.torsion_radius,
      "soft fingertips: the moment about the normal that friction holds, over its force [m], for the set");
  command.add_option("--pad-radius", o.pad_radius,
                     "each finger is a flat pad: three contacts on a circle as large [m]");
  command.add_option("--finger-radius", o.finger_radius,
                     "fingertips are balls of this radius, and touch the contact alone [m]");
  command.add_option("--clearance", o.clearance, "so far out along the normal nothing of the object may be [m]");
  command
      .add_numbers(
          "--approach", [&o](const std::vector<double>& x) { o.approach = vec3(x[0], x[1], x[2]); },
          "fingers come straight along this direction, as 0,0,-1: the object is not in their way")
      .delimiter(',')
      .expected(3)
      .type_name("X,Y,Z");
  command.add_option("--floor", o.floor, "the object stands at this z, below which no fingertip is [m]");
}

}  // namespace

void add_propose_command(Command grasp) {
  Command command = grasp.add_subcommand("propose", "Candidate grasps of an object, for `garra grasp rank`");
  const auto a = std::make_shared<ProposeArguments>();
  grasp::ProposeOptions& o = a->options;
  command
      .add_option("object", a->object,
                  ".stl, .obj, or sphere:radius, box:x,y,z, cylinder:radius,height, capsule:radius,height, "
                  "ellipsoid:a,b,c, superquadric:a,b,c,e1,e2 [m]")
      .required()
      .type_name("OBJECT");
  command.add_option("-o,--output", a->output, "grasp set").required().type_name("SET.h5");
  command.add_option("-n,--count", o.count, "grasps wanted").transform(whole_number()).capture_default_str();
  add_hand_options(command, o);
  Option mass = command.add_option("--mass", o.mass, "of the object [kg]").check(positive_number());
  command.add_option("--density", o.density, "of the object, in place of its mass [kg/m^3]")
      .capture_default_str()
      .excludes(mass);
  command.add_option("--scale", a->scale, "factor on the object's lengths, 0.001 for millimeters")
      .check(positive_number());
  command
      .add_option("--max-samples", o.max_samples,
                  "drawn at most; if not given 1e6, and 1000 for each grasp once there is one")
      .transform(whole_number());
  command.add_option("--seed", o.seed, "another seed, other grasps").transform(seed()).capture_default_str();
  add_batch_flags(command, *a, "of the samples is not decided");
  command.footer(
      "Examples:\n"
      "  garra grasp propose part.stl --fingers 3 -n 10000 -o set.h5 && garra grasp rank set.h5 -o ranking.h5\n"
      "  garra grasp propose box:0.05,0.04,0.1 --pad-radius 0.006 --max-opening 0.08 --mass 0.2 -o set.h5");
  command.callback([a] { run_propose(*a); });
}

}  // namespace garra::cli
