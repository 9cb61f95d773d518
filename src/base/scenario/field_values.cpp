#include "base/scenario/field_values.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/files/number.hpp"
#include "base/scenario/field_reader.hpp"
#include "base/scenario/field_schema.hpp"
#include "base/scenario/field_writer.hpp"

namespace garra::io {

namespace {

using Json = nlohmann::ordered_json;
using study::Distribution;

/// A string that begins with a number; the program checks its unit with better messages than a pattern could.
const char* const kNumberAndUnit = R"(^\s*[-+]?(\d|\.\d))";
const char* const kPositiveAndUnit = R"(^\s*\+?(\d|\.\d))";

Json quantity_schema(const Wanted& wanted) {
  Json number = {{"type", "number"}};
  const Bounds& b = wanted.bounds;
  if (std::isfinite(b.low)) number[b.above_low ? "exclusiveMinimum" : "minimum"] = b.low;
  if (std::isfinite(b.high)) number["maximum"] = b.high;
  return {{"anyOf", {number, {{"type", "string"}, {"pattern", b.low >= 0 ? kPositiveAndUnit : kNumberAndUnit}}}}};
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
    // Nine digits: 90 deg must not read as 90.00000000000001.
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

/// A value that may be absent: then nothing is written.
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
    // A placeholder to refer to during description; it is never read or written.
    static Thing any{};
    return inner_(any);
  }

  std::optional<Thing>& value_;
  Inner inner_;
};

std::int64_t read_in(const Node& node, const std::string& key, const Range& range) {
  const std::int64_t n = read_integer(node, key);
  if (n >= range.low && n <= range.high) return n;
  if (range.low == 0)
    fail(node.place, key, "must be from 0 to " + std::to_string(range.high) + ", found " + std::to_string(n),
         range.remedy);
  // A positive number that is too small has its own reason, given in the remedy.
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

class ListValue final : public Value {
 public:
  explicit ListValue(ListOf list) : list_(std::move(list)) {}
  void read(const Node& node, const std::string& key) override {
    const std::vector<Node>& items = read_array(node, key, list_.count);
    for (std::size_t k = 0; k < list_.count; ++k) list_.one(k).read(items[k], item(key, k));
  }
  [[nodiscard]] std::string text() const override {
    std::string out;
    for (std::size_t k = 0; k < list_.count; ++k) out += (k == 0 ? "[" : ", ") + list_.one(k).text();
    return out.empty() ? "" : out + "]";
  }
  [[nodiscard]] std::string unit() const override {
    return list_.count == 0 || !list_.has_unit ? "" : list_.one(0).unit();
  }
  [[nodiscard]] std::string takes() const override { return list_.takes; }
  [[nodiscard]] Json schema() const override {
    if (list_.count == 0) return {{"type", "array"}};
    return list_schema(list_.one(0).schema(), static_cast<int>(list_.count));
  }

 private:
  ListOf list_;
};

class MapValue final : public Value {
 public:
  explicit MapValue(MapOf map) : map_(std::move(map)) {}
  void read(const Node& node, const std::string& key) override {
    FieldReader f(node, key);
    for (const Node::Member& member : node.members) f.key(member.key, map_.one(member.key), {});
    f.finish();
  }
  [[nodiscard]] std::string text() const override {
    std::string out;
    for (const std::string& key : map_.keys)
      out += (out.empty() ? "{ " : ", ") + io::text(key) + " = " + map_.one(key).text();
    return out.empty() ? "" : out + " }";
  }
  [[nodiscard]] std::string takes() const override { return map_.takes; }
  [[nodiscard]] Json schema() const override {
    return {{"type", "object"}, {"additionalProperties", map_.one("").schema()}};
  }

 private:
  MapOf map_;
};

class TableValue final : public Value {
 public:
  TableValue(std::function<void(Fields& f)> fields, std::string takes)
      : fields_(std::move(fields)), takes_(std::move(takes)) {}
  void read(const Node& node, const std::string& key) override {
    // A separate reader, since the table is a value: its errors propagate as one FileErrors.
    FieldReader f(node, key);
    fields_(f);
    f.finish();
  }
  [[nodiscard]] std::string text() const override {
    Writer w(true);
    FieldWriter f(w);
    fields_(f);
    return w.take();
  }
  [[nodiscard]] std::string takes() const override {
    if (!takes_.empty()) return takes_;
    std::string keys;
    const Json properties = schema()["properties"];
    for (const auto& [key, unused] : properties.items()) keys += (keys.empty() ? "" : ", ") + key;
    return "`{ " + keys + " }`";
  }
  [[nodiscard]] Json schema() const override {
    FieldSchema f;
    fields_(f);
    return f.schema();
  }

 private:
  std::function<void(Fields& f)> fields_;
  std::string takes_;
};

class EitherValue final : public Value {
 public:
  EitherValue(Node::Kind kind, AnyValue of_kind, AnyValue other)
      : kind_(kind), of_kind_(std::move(of_kind)), other_(std::move(other)) {}
  void read(const Node& node, const std::string& key) override {
    (node.kind == kind_ ? of_kind_ : other_).read(node, key);
  }
  [[nodiscard]] std::string text() const override {
    const std::string first = of_kind_.text();
    return first.empty() ? other_.text() : first;
  }
  [[nodiscard]] std::string unit() const override { return of_kind_.text().empty() ? other_.unit() : of_kind_.unit(); }
  [[nodiscard]] std::string takes() const override { return other_.takes() + ", or " + of_kind_.takes(); }
  [[nodiscard]] Json schema() const override {
    Json any = Json::array();
    for (const Json& one : {other_.schema(), of_kind_.schema()})
      if (one.contains("anyOf"))
        any.insert(any.end(), one["anyOf"].begin(), one["anyOf"].end());
      else
        any.push_back(one);
    return {{"anyOf", any}};
  }

 private:
  Node::Kind kind_;
  AnyValue of_kind_, other_;
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
  return AnyValue(std::make_shared<Kind>(std::forward<Arguments>(arguments)...));
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
AnyValue vector(Vec3<double>& value, const Wanted& wanted) {
  const std::string words = quantity_words(wanted);
  const auto one = [&value, wanted](std::size_t k) { return quantity(value[static_cast<int>(k)], wanted); };
  return list_value({3, one, wanted.dimension == kRatio ? "[x, y, z]" : "[x, y, z], " + words});
}
AnyValue distribution(Distribution& value, const Wanted& wanted) { return make<DistributionValue>(value, wanted); }
AnyValue distribution(std::optional<Distribution>& value, const Wanted& wanted) {
  return make_optional_value(value, [wanted](Distribution& inner) { return distribution(inner, wanted); });
}
AnyValue distributions(Distribution* values, int count, const Wanted& wanted) {
  return list_value({static_cast<std::size_t>(count),
                     [values, wanted](std::size_t k) { return distribution(values[k], wanted); },
                     std::to_string(count) + " of D, " + quantity_words(wanted)});
}
AnyValue count(std::int64_t& value, const Range& range) { return make<CountValue<std::int64_t>>(value, range); }
AnyValue count(int& value, const Range& range) { return make<CountValue<int>>(value, range); }
AnyValue boolean(bool& value) { return make<BooleanValue>(value); }
AnyValue string(std::string& value, bool none) { return make<StringValue>(value, none); }
AnyValue choice(std::string& value, const std::vector<std::string>& choices) {
  return make<ChoiceValue>([&value] { return value; }, [&value](const std::string& name) { value = name; }, choices);
}
AnyValue list_value(ListOf list) { return make<ListValue>(std::move(list)); }
AnyValue map_value(MapOf map) { return make<MapValue>(std::move(map)); }
AnyValue inlined(std::function<void(Fields& f)> fields, const std::string& takes) {
  return make<TableValue>(std::move(fields), takes);
}
AnyValue either(Node::Kind kind, AnyValue of_kind, AnyValue other) {
  return make<EitherValue>(kind, std::move(of_kind), std::move(other));
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
