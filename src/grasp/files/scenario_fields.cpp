// [load], [held], [motion], [solver] of a grasp scenario: loads, criteria and solver.

#include "base/scenario/field_values.hpp"
#include "base/scenario/parts.hpp"
#include "garra/contact.hpp"
#include "grasp/files/tables.hpp"

namespace garra::io {

namespace {

using grasp::Scenario;
using study::Distribution;

constexpr std::int64_t kMaxIterations = 1'000'000;

/// The radius of a ball to draw from.
AnyValue ball(Distribution& into, const Wanted& wanted) {
  const auto read = [&into, wanted](const Node& node, const std::string& key) {
    into = Distribution::ball(read_bounded(node, key, wanted));
  };
  return custom({read, [&into, wanted] { return text(into.a, wanted.dimension); }, "a radius",
                 R"({"type": ["number", "string"]})"});
}

/// The random part's magnitude: the radius of a ball, or a distribution of its own.
void magnitude_fields(Fields& f, const std::string& what, const Dimension& dimension, Distribution& into) {
  const Wanted wanted{dimension, Bounds::not_negative()};
  const std::string radius = what + "_radius", magnitude = what + "_magnitude";
  const bool is_ball = into.kind == Distribution::Kind::kBallRadius;
  const bool in_ball = f.has(radius, is_ball), own = f.has(magnitude, !is_ball);
  f.check(!in_ball || !own, magnitude, "both " + radius + " and " + magnitude, "Keep one of them.");
  if (in_ball) f.key(radius, ball(into, wanted));
  if (own) f.key(magnitude, distribution(into, wanted));
}

AnyValue wrench(Scenario& s) {
  const auto fields = [&s](Fields& f) {
    magnitude_fields(f, "force", kForce, s.force_magnitude);
    magnitude_fields(f, "torque", kTorque, s.torque_magnitude);
    f.key("force", vector(s.force, {kForce}));
    f.key("torque", vector(s.torque, {kTorque}));
  };
  return inlined(fields, "`{ force_radius, torque_radius, force, torque }`");
}

/// Whether a grip force is required: not if every contact has its own command.
bool needs_grip_force(const Scenario& s) {
  for (std::size_t j = 0; j < s.contacts.size(); ++j) {
    const int finger = grasp::contact_finger(s, j);
    if (finger < 0 || finger >= static_cast<int>(s.fingers.size())) continue;
    if (!s.contacts[j].grip_force && !s.contacts[j].force && s.fingers[static_cast<std::size_t>(finger)].tau.empty())
      return true;
  }
  return false;
}

}  // namespace

void load_fields(Fields& f, Scenario& s) {
  f.key("gravity", vector(s.gravity, {kAcceleration}), {.doc = "in the palm's frame"});
  // Checked for sound contacts only; else their own error suffices.
  const bool needed = f.reading() && f.good() && needs_grip_force(s);
  if (f.reading()) {
    s.grip_force = Distribution::constant(0);
    s.nominal_mass = s.object.mass.nominal();
  }
  f.key("grip_force", distribution(s.grip_force, {kForce, Bounds::not_negative()}),
        {.doc = "commanded normal force per contact",
         .required = needed ? "Give the commanded normal force per contact: grip_force = \"15 N\"." : "",
         .otherwise = "required, unless every contact has a `grip_force`, `force` or `tau` of its own"});
  f.key("compensation", distribution(s.compensation, {kRatio}),
        {.comment = "factor on the fingers' gravity compensation"});
  double mass = s.nominal_mass > 0 ? s.nominal_mass : s.object.mass.nominal();
  f.key("nominal_mass", quantity(mass, {kMass, Bounds::positive()}),
        {.doc = "that the controller balances", .otherwise = "median of the mass"});
  if (f.reading()) s.nominal_mass = mass;
  f.key("wrench", wrench(s),
        {.doc = "on the object: uniform in a ball; constant part. `force_magnitude` D, `torque_magnitude` D instead of "
                "the balls",
         .comment = "N, N*m",
         .otherwise = "`0`"});
}

void held_fields(Fields& f, Scenario& s) {
  f.key("imbalance", quantity(s.held_imbalance, {kRatio, Bounds::positive()}),
        {.doc = "held: what the command leaves unbalanced is at most this share of weight and external wrench "
                "([grasp-model.md](../theory/grasp-model.md), section 7); not with `[simulation]`",
         .comment = "of weight and external wrench, that the command may leave unbalanced"});
  f.key("acceleration", quantity(s.held_acceleration, {kAcceleration, Bounds::positive()}),
        {.doc = "held: contacts at rest have at most this acceleration, one that opens has more "
                "([grasp-model.md](../theory/grasp-model.md), section 7). A numerical tolerance: 0.0981 m/s², 0.01 g, "
                "would be 5 cm in a second if it lasted; not with `[simulation]`",
         .comment = "of a contact at rest"});
}

void motion_fields(Fields& f, Scenario& s) {
  f.key("velocity", vector(s.velocity, {kVelocity}), {.doc = "of the object"});
  f.key("angular_velocity", vector(s.angular_velocity, {kAngularVelocity}), {.doc = "of the object"});
}

void solver_fields(Fields& f, Scenario& s) {
  // The scenario holds a merit function and its minimizer as one name, "papers/spg".
  contact::Options options;
  contact::set_method(options, s.method);
  std::string method = contact::to_string(options.method);
  f.key("method", choice(method, contact::friction_methods()),
        {.doc = "of the contact problem ([friction-merit.md](../theory/friction-merit.md), "
                "[friction-cone-solvers.md](../theory/friction-cone-solvers.md))"});
  f.when({method == "merit", "`method = \"merit\"`"}, [&] {
    f.key("merit", choice(options.merit),
          {.doc = "function that is minimized ([friction-merit.md](../theory/friction-merit.md))"});
    f.key("minimizer", choice(options.minimizer),
          {.doc = "its minimizer in the box ([minimizers.md](../theory/minimizers.md))"});
  });
  s.method = method == "merit" ? std::string(name_of(options.merit)) + "/" + name_of(options.minimizer) : method;
  f.key("tolerance", quantity(s.tolerance, {kRatio, {.low = 0, .high = 1e-2, .above_low = true}}),
        {.doc = "of its certificate"});
  f.key("max_iterations", count(s.max_iterations, {.high = kMaxIterations}),
        {.doc = "of one solve, over all stages; 1000: the own limit of methods other than `auto`"});
  f.key("effort", choice(s.effort, {"bounded", "full"}),
        {.doc = "`\"full\"`: every solver of `auto` goes to its own limit "
                "([contact-solver.md](../theory/contact-solver.md))"});
  max_unsolved_field(f, s.plan);
  f.when({!s.time, "without `[simulation]`", "is not used with [simulation]: no step looks for a second solution",
          "Leave it out, or leave [simulation] out for a study of one instant."},
         [&] {
           f.key("check_uniqueness", boolean(s.check_uniqueness),
                 {.doc = "solve again from another start and report a second solution"});
         });
}

}  // namespace garra::io
