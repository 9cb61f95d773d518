// A grasp study in progress: the model, its counts, and chunks of samples. Host only.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "garra/batch/device.hpp"
#include "garra/grasp.hpp"
#include "garra/grasp_set.hpp"
#include "garra/study/engine.hpp"
#include "garra/study/tally.hpp"
#include "grasp/sample/grasp_model.hpp"
#include "grasp/study/counting.hpp"

namespace garra::grasp {

/// Words of the outcomes of samples with contacts that slide (docs/theory/grasp-sliding.md).
inline constexpr auto kSlidingWords = [] {
  auto words = kOutcomeWords;
  words[static_cast<int>(Outcome::kHeld)] = {"held", "contact maintained", "held",
                                             "every contact goes on, and none opens: all a_n = 0",
                                             study::Evidence::kFor};
  words[static_cast<int>(Outcome::kSeparating)] = {"separating", "breaks", "break", "some contact opens: a_n > 0"};
  words[static_cast<int>(Outcome::kSeveral)] = {"non_unique", "several solutions", "muted",
                                                "proved where all contacts slide: more than one solution"};
  for (const auto none : {Outcome::kNotResisted, Outcome::kCommandInsufficient, Outcome::kSlipping})
    words[static_cast<int>(none)].evidence = study::Evidence::kNone;
  return words;
}();

/// Data of one sample for replay.
struct Replay {
  std::vector<double> inputs;
  std::vector<double> A, b, mu, c, a;  ///< row-major, contact-major (n, t, o); A, b of soft contacts: with moment / r
  std::vector<double> moment;          ///< of soft contacts about their normals [N m]; empty: there are none
  std::vector<std::uint8_t> mode;      ///< of contact::Problems; empty: none slides
  std::vector<double> slip_velocity;   ///< likewise
  std::vector<int> states;             ///< grasp::ContactState
  Outcome outcome;
  double residual, iterations;
  double resisted;  ///< 1: forces can balance the wrench, 0: none can; NaN: not decided
  bool several;     ///< another certified solution moves otherwise
  int opens;        ///< contacts that open
  double metric[kMetrics];
};

struct GroupModel;  // grasp/group/model.hpp

/// Study of one grasp at an instant.
class Study final : public study::Study {
 public:
  /// Resolves the scenario: nominal poses, balance of the weight. Throws Error if the nominal grasp is impossible.
  explicit Study(const Scenario& scenario);
  /// The same samples with another plan; the resolved model serves both.
  Study(const Study& resolved, const study::Plan& plan);
  [[nodiscard]] const study::Plan& plan() const override { return scenario_.plan; }
  [[nodiscard]] study::Shape shape() const override;
  [[nodiscard]] std::vector<study::RowColumn> columns() const override;
  [[nodiscard]] study::Tally run(std::int64_t first, std::int64_t count, const Device& device) const override;
  [[nodiscard]] std::string gpu_refusal() const override;
  [[nodiscard]] std::string summary(const study::Total& total, const std::string& stopped_by) const override;
  /// P(every contact sticks), P(forces can balance the wrench).
  [[nodiscard]] study::Estimate no_slip(const study::Total& total) const;
  /// Samples out of reach count as neither.
  [[nodiscard]] study::Estimate resisted(const study::Total& total) const;
  /// P(object k of a group is held).
  [[nodiscard]] study::Estimate object_held(const study::Total& total, int k) const;
  [[nodiscard]] study::Estimate named_estimate(const study::Total& total, const std::string& quantity) const override;
  [[nodiscard]] std::span<const study::OutcomeWords> outcome_words() const override;
  [[nodiscard]] Replay replay(std::int64_t sample) const { return replay(*model_, sample); }
  /// The same for a model with other draws (make_nominal); of a group: the nominal grasp.
  [[nodiscard]] Replay replay(const GraspModel& model, std::int64_t sample) const;
  /// The model of a group of objects; null: one object with a contact for each finger.
  [[nodiscard]] const GroupModel* group() const { return group_.get(); }
  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] const GraspModel& model() const { return *model_; }
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  [[nodiscard]] const std::vector<Input>& inputs() const { return inputs_; }

 private:
  Scenario scenario_;
  std::vector<Input> inputs_;
  std::shared_ptr<const GraspModel> model_;  ///< of a group: numbers of contacts and draws, criteria
  std::shared_ptr<const GroupModel> group_;
  Layout layout_;
};

/// Nominal inputs: every distribution at its median, no random wrench.
[[nodiscard]] Inputs<double> nominal_inputs(const GraspModel& model);
/// Builds the shared numbers of a scenario (exposed for tests).
[[nodiscard]] std::unique_ptr<GraspModel> make_model(const Scenario& scenario);
/// Builds what counting needs of the scenario of a group. Throws Error for too many uncertain inputs.
[[nodiscard]] std::unique_ptr<GraspModel> make_group_counts(const Scenario& scenario);
/// Removes all draws: every input at its nominal value, no random loads.
void make_nominal(GraspModel& grasp);

}  // namespace garra::grasp
