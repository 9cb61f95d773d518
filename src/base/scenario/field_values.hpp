// The kinds of values of scenario keys. Each function states which member a key stands for, and its allowed values.
#pragma once

#include <cstdint>
#include <memory>

#include "base/scenario/distribution_reader.hpp"
#include "base/scenario/fields.hpp"
#include "base/scenario/text.hpp"
#include "garra/core/names.hpp"

namespace garra::io {

/// A value of any kind.
class AnyValue final : public Value {
 public:
  explicit AnyValue(std::shared_ptr<Value> value) : value_(std::move(value)) {}
  void read(const Node& node, const std::string& key) override { value_->read(node, key); }
  [[nodiscard]] std::string text() const override { return value_->text(); }
  [[nodiscard]] std::string unit() const override { return value_->unit(); }
  [[nodiscard]] std::string takes() const override { return value_->takes(); }
  [[nodiscard]] nlohmann::ordered_json schema() const override;

 private:
  std::shared_ptr<Value> value_;
};

/// A number with a unit. `none`, if given, is the number that represents absence; it is not written.
[[nodiscard]] AnyValue quantity(double& value, const Wanted& wanted, std::optional<double> none = {});
[[nodiscard]] AnyValue quantity(std::optional<double>& value, const Wanted& wanted);
[[nodiscard]] AnyValue vector(Vec3<double>& value, const Wanted& wanted);
[[nodiscard]] AnyValue distribution(study::Distribution& value, const Wanted& wanted);
[[nodiscard]] AnyValue distribution(std::optional<study::Distribution>& value, const Wanted& wanted);
/// A list of `count` distributions.
[[nodiscard]] AnyValue distributions(study::Distribution* values, int count, const Wanted& wanted);

/// A list of `count` values; any length is read if `count` is 0.
struct ListOf {
  std::size_t count;
  std::function<AnyValue(std::size_t)> one;  ///< from 0
  std::string takes;                         ///< in Markdown
  bool has_unit = true;                      ///< whether the unit is that of the first one
};
[[nodiscard]] AnyValue list_value(ListOf list);
/// A table in one line whose keys the file chooses.
struct MapOf {
  std::vector<std::string> keys;                    ///< keys to write
  std::function<AnyValue(const std::string&)> one;  ///< value of a key; "" for the description of any key
  std::string takes;                                ///< in Markdown
};
[[nodiscard]] AnyValue map_value(MapOf map);
/// A table in one line, with its own list of fields. `takes` describes it in place of its keys.
[[nodiscard]] AnyValue inlined(std::function<void(Fields& f)> fields, const std::string& takes = "");
/// Read as `of_kind` if the file has this kind of value, else as `other`. The first of them that has a text is written.
[[nodiscard]] AnyValue either(Node::Kind kind, AnyValue of_kind, AnyValue other);

/// Range of whole numbers from `low` to `high`.
struct Range {
  std::int64_t low = 1, high = 1;
  std::string remedy = {};  ///< if the number is below `low`, and that is not 1
};
[[nodiscard]] AnyValue count(std::int64_t& value, const Range& range);
[[nodiscard]] AnyValue count(int& value, const Range& range);
/// A list of three whole numbers.
template <class Whole>
[[nodiscard]] AnyValue counts(std::array<Whole, 3>& values, const Range& range) {
  return list_value({3, [&values, range](std::size_t k) { return count(values[k], range); },
                     "[nx, ny, nz], each " + std::to_string(range.low) + " to " + std::to_string(range.high)});
}
[[nodiscard]] AnyValue boolean(bool& value);
/// A string; an empty one is not written if `none` is true.
[[nodiscard]] AnyValue string(std::string& value, bool none = false);
/// One of these strings.
[[nodiscard]] AnyValue choice(std::string& value, const std::vector<std::string>& choices);

/// A value that fits no other kind.
struct CustomValue {
  std::function<void(const Node& node, const std::string& key)> read;
  std::function<std::string()> text;
  std::string takes;          ///< in Markdown
  std::string schema = "{}";  ///< as JSON text; {} takes anything
};
[[nodiscard]] AnyValue custom(CustomValue value);
/// A number with a unit, or a distribution.
inline constexpr const char* kDistributionSchema =
    R"({"anyOf": [{"type": ["number", "string"]}, {"$ref": "#/definitions/distribution"}]})";

/// An enumerator by its name.
[[nodiscard]] AnyValue numbered_choice(std::function<int()> get, std::function<void(int)> set,
                                       std::vector<std::string> names);
template <class Enum>
[[nodiscard]] AnyValue choice(Enum& value) {
  const auto all = names_of(Enum{});
  return numbered_choice([&value] { return static_cast<int>(value); },
                         [&value](int i) { value = static_cast<Enum>(i); }, {all.begin(), all.end()});
}

}  // namespace garra::io
