// `between` of a contact: the names of an object and of what touches it.
#include <algorithm>
#include <array>

#include "base/files/number.hpp"
#include "base/files/suggest.hpp"
#include "grasp/files/contact_fields.hpp"

namespace garra::io {

namespace {

using grasp::Partner;
using grasp::Scenario;
using Kind = Partner::Kind;

constexpr std::array kFixtures = {"palm", "table"};

std::vector<std::string> object_names(const Scenario& s) {
  std::vector<std::string> names;
  for (int k = 0; k <= static_cast<int>(s.others.size()); ++k) {
    const std::string& name = grasp::nth_object(s, k).name;
    names.push_back(name.empty() ? "object" : name);
  }
  return names;
}

/// Number of the object of that name; -1: none.
int object_named(const Scenario& s, const std::string& name) {
  const std::vector<std::string> names = object_names(s);
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : static_cast<int>(at - names.begin());
}

/// The whole number behind `word` at the beginning of the text, which loses both; empty if they are not there.
std::optional<int> numbered(std::string& text, const std::string& word) {
  if (!text.starts_with(word + " ")) return std::nullopt;
  const std::size_t end = std::min(text.find(' ', word.size() + 1), text.size());
  const auto number = whole_number(text.substr(word.size() + 1, end - word.size() - 1));
  if (!number || *number > grasp::kMaxGroupContacts) return std::nullopt;
  text.erase(0, std::min(end + 1, text.size()));
  return static_cast<int>(*number);
}

std::optional<Partner> partner_named(const Scenario& s, const std::string& text) {
  Partner out;
  if (const int object = object_named(s, text); object >= 0) {
    out.kind = Kind::kObject;
    out.number = object;
    return out;
  }
  if (std::find(kFixtures.begin(), kFixtures.end(), text) != kFixtures.end()) {
    out.kind = Kind::kFixture;
    return out;
  }
  std::string rest = text;
  const auto finger = numbered(rest, "finger");
  if (!finger) return std::nullopt;
  out.number = *finger;
  if (rest.empty()) return out;
  const auto link = numbered(rest, "link");
  if (!link || !rest.empty()) return std::nullopt;
  out.link = *link;
  return out;
}

std::string name_of_partner(const Scenario& s, const Partner& p, std::size_t j) {
  if (p.kind == Kind::kObject) return object_names(s)[static_cast<std::size_t>(p.number)];
  if (p.kind == Kind::kFixture) return kFixtures[1];
  const std::string finger = "finger " + std::to_string(p.number < 0 ? static_cast<int>(j) : p.number);
  return p.link < 0 ? finger : finger + " link " + std::to_string(p.link);
}

}  // namespace

AnyValue between(Scenario& s, std::size_t j) {
  const auto read = [&s, j](const Node& node, const std::string& key) {
    const std::vector<Node>& items = read_array(node, key, 2);
    const std::string first = read_string(items[0], item(key, 0)), second = read_string(items[1], item(key, 1));
    std::vector<std::string> known = object_names(s);
    grasp::Contact& contact = s.contacts[j];
    contact.object = object_named(s, first);
    if (contact.object < 0)
      fail(items[0].place, item(key, 0), "no object is named " + quoted(first), suggest(first, known, "Objects"));
    for (std::size_t k = 0; k < s.fingers.size(); ++k) known.push_back("finger " + std::to_string(k));
    known.insert(known.end(), kFixtures.begin(), kFixtures.end());
    const auto partner = partner_named(s, second);
    if (!partner)
      fail(items[1].place, item(key, 1), "nothing is named " + quoted(second), suggest(second, known, "Names"));
    if (partner->kind == Kind::kObject && partner->number == contact.object)
      fail(items[1].place, item(key, 1), "an object cannot touch itself", "Name two different objects.");
    contact.partner = *partner;
  };
  const auto write = [&s, j] {
    const grasp::Contact& contact = s.contacts[j];
    return "[" + quoted(object_names(s)[static_cast<std::size_t>(contact.object)]) + ", " +
           quoted(name_of_partner(s, contact.partner, j)) + "]";
  };
  return custom({read, write,
                 "two names: of an `[[object]]`, then of another one, `\"finger 0\"`, `\"finger 0 link 1\"`, "
                 "`\"palm\"` or `\"table\"`",
                 R"({"type": "array", "minItems": 2, "maxItems": 2, "items": {"type": "string"}})"});
}

}  // namespace garra::io
