#include "io/field_values.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "io/number.hpp"

namespace garra::io {

namespace {

using Json = nlohmann::ordered_json;
using study::Distribution;

/// A string that begins with a number: what its unit may be, the program says better than a pattern could.
const char* const kNumberAndUnit = R"(^\s*[-+]?(\d|\.\d))";

Json quantity_schema(const Wanted& wanted) {
  Json number = {{"type", "number"}};
  const Bounds& b = wanted.bounds;
  if (std::isfinite(b.low)) number[b.above_low ? "exclusiveMinimum" : "minimum"] = b.low;
  if (std::isfinite(b.high)) number["maximum"] = b.high;
  return {{"anyOf", {number, {{"type", "string"}, {"pattern", kNumberAndUnit}}}}};
}

Json distribution_schema(const Wanted& wanted) {
  Json schema = quantity_schema(wanted);
  schema["anyOf"].push_back({{"$ref", "#/definitions/distribution"}});
  return schema;
}

Json list_schema(const Json& item, int count) {
  return {{"type", "array"}, {"items", item}, {"minItems", count}, {"maxItems", count}};
}

/// "m", "at least 0 m", "0 to 90 deg", "a number"
std::string quantity_words(const Wanted& wanted) {
  const Bounds& b = wanted.bounds;
  const std::string unit = si_unit(wanted.dimension), bounds = in_words(wanted);
  if (wanted.dimension == kAngle && std::isfinite(b.high)) {
    const auto degrees = [](double angle) { return shortest(rounded(angle * 180 / M_PI, 9)); };
    return (b.above_low ? "above " : "") + degrees(b.low) + " to " + degrees(b.high) + " deg";
  }
  if (!bounds.empty()) return bounds;
  return unit.empty() ? "a number" : unit;
}

class QuantityValue final : public Value {
 public:
  QuantityValue(double& value, const Wanted& wanted, std::optional<double> none)
      : value_(value), wanted_(wanted), none_(none) {}
  void read(const Node& node, const std::string& key) override { value_ = read_bounded(node, key, wanted_); }
  [[nodiscard]] std::string text() const override {
    return none_ && value_ == *none_ ? "" : io::text(value_, wanted_.dimension);
  }
  [[nodiscard]] std::string unit() const override { return si_unit(wanted_.dimension); }
  [[nodiscard]] std::string takes() const override { return quantity_words(wanted_); }
  [[nodiscard]] Json schema() const override { return quantity_schema(wanted_); }

 private:
  double& value_;
  Wanted wanted_;
  std::optional<double> none_;
};

class DistributionValue final : public Value {
 public:
  DistributionValue(Distribution& value, const Wanted& wanted) : value_(value), wanted_(wanted) {}
  void read(const Node& node, const std::string& key) override { value_ = read_distribution(node, key, wanted_); }
  [[nodiscard]] std::string text() const override { return io::text(value_, wanted_.dimension); }
  [[nodiscard]] std::string unit() const override { return si_unit(wanted_.dimension); }
  [[nodiscard]] std::string takes() const override { return "D, " + quantity_words(wanted_); }
  [[nodiscard]] Json schema() const override { return distribution_schema(wanted_); }

 private:
  Distribution& value_;
  Wanted wanted_;
};

/// A value that may be none: then nothing is written.
template <class Inner, class Thing>
class OptionalValue final : public Value {
 public:
  OptionalValue(std::optional<Thing>& value, Inner inner) : value_(value), inner_(inner) {}
  void read(const Node& node, const std::string& key) override {
    Thing thing{};
    inner_(thing).read(node, key);
    value_ = thing;
  }
  [[nodiscard]] std::string text() const override {
    if (!value_) return "";
    Thing thing = *value_;
    return inner_(thing).text();
  }
  [[nodiscard]] std::string unit() const override { return of_any().unit(); }
  [[nodiscard]] std::string takes() const override { return of_any().takes(); }
  [[nodiscard]] Json schema() const override { return of_any().schema(); }

 private:
  [[nodiscard]] AnyValue of_any() const {
    static Thing any{};
    return inner_(any);
  }

  std::optional<Thing>& value_;
  Inner inner_;
};

class DistributionsValue final : public Value {
 public:
  DistributionsValue(Distribution* values, int count, const Wanted& wanted)
      : values_(values), count_(count), wanted_(wanted) {}
  void read(const Node& node, const std::string& key) override {
    const std::vector<Node>& items = read_array(node, key, static_cast<std::size_t>(count_));
    for (std::size_t k = 0; k < items.size(); ++k) values_[k] = read_distribution(items[k], item(key, k), wanted_);
  }
  [[nodiscard]] std::string text() const override { return list(values_, count_, wanted_.dimension); }
  [[nodiscard]] std::string unit() const override { return si_unit(wanted_.dimension); }
  [[nodiscard]] std::string takes() const override {
    return std::to_string(count_) + " of D, " + quantity_words(wanted_);
  }
  [[nodiscard]] Json schema() const override { return list_schema(distribution_schema(wanted_), count_); }

 private:
  Distribution* values_;
  int count_;
  Wanted wanted_;
};

class VectorValue final : public Value {
 public:
  VectorValue(Vec3<double>& value, const Dimension& dimension) : value_(value), dimension_(dimension) {}
  void read(const Node& node, const std::string& key) override { value_ = read_vector(node, key, dimension_); }
  [[nodiscard]] std::string text() const override { return io::text(value_, dimension_); }
  [[nodiscard]] std::string unit() const override { return si_unit(dimension_); }
  [[nodiscard]] std::string takes() const override {
    const std::string unit = si_unit(dimension_);
    return "[x, y, z]" + (unit.empty() ? "" : ", " + unit);
  }
  [[nodiscard]] Json schema() const override { return list_schema(quantity_schema({dimension_}), 3); }

 private:
  Vec3<double>& value_;
  Dimension dimension_;
};

std::int64_t read_in(const Node& node, const std::string& key, const Range& range) {
  const std::int64_t n = read_integer(node, key);
  if (n >= range.low && n <= range.high) return n;
  if (range.low == 0)
    fail(node.place, key, "must be from 0 to " + std::to_string(range.high) + ", found " + std::to_string(n),
         range.remedy);
  if (n < range.low && n > 0)
    fail(node.place, key, "must be at least " + std::to_string(range.low) + ", found " + std::to_string(n),
         range.remedy);
  fail(node.place, key,
       "must be " + std::to_string(range.low) + " to " + std::to_string(range.high) + ", found " + std::to_string(n),
       "Write a whole number, such as 100_000.");
}

Json range_schema(const Range& range) { return {{"type", "integer"}, {"minimum", range.low}, {"maximum", range.high}}; }

std::string range_words(const Range& range) { return std::to_string(range.low) + " to " + std::to_string(range.high); }

template <class Whole>
class CountValue final : public Value {
 public:
  CountValue(Whole& value, const Range& range) : value_(value), range_(range) {}
  void read(const Node& node, const std::string& key) override {
    value_ = static_cast<Whole>(read_in(node, key, range_));
  }
  [[nodiscard]] std::string text() const override { return std::to_string(value_); }
  [[nodiscard]] std::string takes() const override { return range_words(range_); }
  [[nodiscard]] Json schema() const override { return range_schema(range_); }

 private:
  Whole& value_;
  Range range_;
};

template <class Whole>
class CountsValue final : public Value {
 public:
  CountsValue(std::array<Whole, 3>& values, const Range& range) : values_(values), range_(range) {}
  void read(const Node& node, const std::string& key) override {
    const std::vector<Node>& items = read_array(node, key, 3);
    for (std::size_t k = 0; k < 3; ++k) values_[k] = static_cast<Whole>(read_in(items[k], item(key, k), range_));
  }
  [[nodiscard]] std::string text() const override {
    return "[" + std::to_string(values_[0]) + ", " + std::to_string(values_[1]) + ", " + std::to_string(values_[2]) +
           "]";
  }
  [[nodiscard]] std::string takes() const override { return "[nx, ny, nz], each " + range_words(range_); }
  [[nodiscard]] Json schema() const override { return list_schema(range_schema(range_), 3); }

 private:
  std::array<Whole, 3>& values_;
  Range range_;
};

class BooleanValue final : public Value {
 public:
  explicit BooleanValue(bool& value) : value_(value) {}
  void read(const Node& node, const std::string& key) override { value_ = read_boolean(node, key); }
  [[nodiscard]] std::string text() const override { return io::text(value_); }
  [[nodiscard]] std::string takes() const override { return "true, false"; }
  [[nodiscard]] Json schema() const override { return {{"type", "boolean"}}; }

 private:
  bool& value_;
};

class StringValue final : public Value {
 public:
  StringValue(std::string& value, bool none) : value_(value), none_(none) {}
  void read(const Node& node, const std::string& key) override { value_ = read_string(node, key); }
  [[nodiscard]] std::string text() const override { return none_ && value_.empty() ? "" : io::text(value_); }
  [[nodiscard]] std::string takes() const override { return "a string"; }
  [[nodiscard]] Json schema() const override { return {{"type", "string"}}; }

 private:
  std::string& value_;
  bool none_;
};

class ChoiceValue final : public Value {
 public:
  ChoiceValue(std::function<std::string()> get, std::function<void(const std::string&)> set,
              std::vector<std::string> choices)
      : get_(std::move(get)), set_(std::move(set)), choices_(std::move(choices)) {}
  void read(const Node& node, const std::string& key) override { set_(read_choice(node, key, choices_)); }
  [[nodiscard]] std::string text() const override { return io::text(get_()); }
  [[nodiscard]] std::string takes() const override {
    std::string out;
    for (const std::string& choice : choices_) out += (out.empty() ? "`\"" : ", `\"") + choice + "\"`";
    return out;
  }
  [[nodiscard]] Json schema() const override { return {{"enum", choices_}}; }

 private:
  std::function<std::string()> get_;
  std::function<void(const std::string&)> set_;
  std::vector<std::string> choices_;
};

class Custom final : public Value {
 public:
  explicit Custom(CustomValue value) : value_(std::move(value)) {}
  void read(const Node& node, const std::string& key) override { value_.read(node, key); }
  [[nodiscard]] std::string text() const override { return value_.text(); }
  [[nodiscard]] std::string takes() const override { return value_.takes; }
  [[nodiscard]] Json schema() const override { return Json::parse(value_.schema); }

 private:
  CustomValue value_;
};

template <class Kind, class... Arguments>
AnyValue make(Arguments&&... arguments) {
  return AnyValue(std::make_unique<Kind>(std::forward<Arguments>(arguments)...));
}

template <class Thing, class Inner>
AnyValue make_optional_value(std::optional<Thing>& value, Inner inner) {
  return make<OptionalValue<Inner, Thing>>(value, inner);
}

}  // namespace

Json AnyValue::schema() const { return value_->schema(); }

AnyValue quantity(double& value, const Wanted& wanted, std::optional<double> none) {
  return make<QuantityValue>(value, wanted, none);
}
AnyValue quantity(std::optional<double>& value, const Wanted& wanted) {
  return make_optional_value(value, [wanted](double& inner) { return quantity(inner, wanted); });
}
AnyValue vector(Vec3<double>& value, const Dimension& dimension) { return make<VectorValue>(value, dimension); }
AnyValue distribution(Distribution& value, const Wanted& wanted) { return make<DistributionValue>(value, wanted); }
AnyValue distribution(std::optional<Distribution>& value, const Wanted& wanted) {
  return make_optional_value(value, [wanted](Distribution& inner) { return distribution(inner, wanted); });
}
AnyValue distributions(Distribution* values, int count, const Wanted& wanted) {
  return make<DistributionsValue>(values, count, wanted);
}
AnyValue count(std::int64_t& value, const Range& range) { return make<CountValue<std::int64_t>>(value, range); }
AnyValue count(int& value, const Range& range) { return make<CountValue<int>>(value, range); }
AnyValue counts(std::array<int, 3>& values, const Range& range) { return make<CountsValue<int>>(values, range); }
AnyValue counts(std::array<std::int64_t, 3>& values, const Range& range) {
  return make<CountsValue<std::int64_t>>(values, range);
}
AnyValue boolean(bool& value) { return make<BooleanValue>(value); }
AnyValue string(std::string& value, bool none) { return make<StringValue>(value, none); }
AnyValue choice(std::string& value, const std::vector<std::string>& choices) {
  return make<ChoiceValue>([&value] { return value; }, [&value](const std::string& name) { value = name; }, choices);
}
AnyValue custom(CustomValue value) { return make<Custom>(std::move(value)); }
AnyValue numbered_choice(std::function<int()> get, std::function<void(int)> set, std::vector<std::string> names) {
  return make<ChoiceValue>([get, names] { return names[static_cast<std::size_t>(get())]; },
                           [set, names](const std::string& name) {
                             set(static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin()));
                           },
                           names);
}

}  // namespace garra::io
