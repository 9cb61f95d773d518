// From the text of a function to instructions.
#include <algorithm>
#include <bit>
#include <iterator>
#include <map>

#include "text.hpp"

namespace simulated_gpu {

namespace {

struct Address {
  int base = kNone;  ///< register, or none: the place is known
  std::int64_t offset = 0;
  Space space = Space::kGeneric;
};

std::vector<std::string_view> count_parts(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t dot; (dot = name.find('.')) != name.npos; name.remove_prefix(dot + 1))
    parts.push_back(name.substr(0, dot));
  parts.push_back(name);
  return parts;
}

bool has(const std::vector<std::string_view>& parts, std::string_view word) {
  return std::find(parts.begin(), parts.end(), word) != parts.end();
}

/// What is between the brackets of "[x]", "{x}", "(x)"; `text` itself where there are none.
std::string_view inside(std::string_view text) {
  return !text.empty() && std::string_view("[{(").find(text[0]) != text.npos ? trim(text.substr(1, text.size() - 2))
                                                                             : text;
}

bool is_arithmetic(std::string_view name) {
  constexpr std::string_view kNames[] = {"fma", "add", "sub", "mul", "div", "rcp", "sqrt", "setp", "min", "max"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

Class class_of(const std::vector<std::string_view>& parts) {
  const std::string_view name = parts[0], type = parts.back();
  if (name == "ld" || name == "st" || name == "atom" || name == "red")
    return has(parts, "local")    ? Class::kLocal
           : has(parts, "shared") ? Class::kShared
           : has(parts, "param")  ? Class::kOther
                                  : Class::kGlobal;
  if (name == "bra" || name == "brx" || name == "call" || name == "ret") return Class::kBranch;
  if (type == "f32") return is_arithmetic(name) ? Class::kSingle : Class::kOther;
  if (type != "f64") return Class::kOther;
  if (name == "fma") return Class::kFma;
  if (name == "add" || name == "sub") return Class::kAdd;
  if (name == "mul") return Class::kMul;
  if (name == "div" || name == "rcp") return Class::kDivide;
  if (name == "sqrt") return Class::kRoot;
  if (name == "setp" || name == "min" || name == "max") return Class::kCompare;
  return Class::kOther;
}

class Decoder {
 public:
  Decoder(Function& function, Module& module) : f_(function), module_(module), shared_(module.shared()) {
    for (const Parameter& p : f_.parameters) places_[p.name] = static_cast<std::int64_t>(p.offset);
    if (!f_.is_kernel) f_.frame = top_ = f_.parameter_bytes;
  }

  void decode() {
    const std::vector<Statement> all = statements(f_.body);
    for (std::size_t k = 0; k < all.size(); ++k) {
      const Statement& s = all[k];
      const bool is_table = k + 1 < all.size() && all[k + 1].name == ".branchtargets";
      if (s.is_label && is_table) {
        tables_[s.name] = all[k + 1].operands;
      } else if (s.is_label) {
        labels_[s.name] = static_cast<std::int64_t>(f_.code.size());
      } else if (s.name == "{") {
        scopes_.push_back(top_);
      } else if (s.name == "}") {
        top_ = scopes_.back();
        scopes_.pop_back();
      } else if (s.name.starts_with('.')) {
        declare(s);
      } else {
        add(s);
      }
    }
    emit({});  // the end of the text is an end of the function
    f_.code.back().kind = Kind::kReturn;
    read_machine_registers();
    set_targets();
    f_.frame = (f_.frame + 15) / 16 * 16;
    f_.shared = shared_.bytes;
    f_.registers = static_cast<int>(types_.size());
    std::vector<bool> is_predicate;
    for (Type type : types_) is_predicate.push_back(type.letter == 'p');
    share_registers(f_, is_predicate);
  }

 private:
  // Declarations.

  void declare(const Statement& s) {
    if (s.name == ".reg") {
      for (std::string_view text : s.operands) declare_registers(text);
    } else if (s.name == ".local" || s.name == ".param") {
      const Declaration d = declaration(s.operands.at(0));
      top_ = (top_ + 15) / 16 * 16;
      places_[d.name] = static_cast<std::int64_t>(top_);
      top_ += d.bytes();
      f_.frame = std::max(f_.frame, top_);
    } else if (s.name == ".shared") {
      const Declaration d = declaration(s.operands.at(0));
      shared_.add(d.name, d.bytes());
    } else if (s.name != ".branchtargets") {
      throw Fault("PTX: unknown directive " + std::string(s.name));
    }
  }

  /// ".f64 %fd<20>" or, behind a comma, only "%r2"; a name that is declared again in another scope is the same
  /// register.
  void declare_registers(std::string_view text) {
    if (text.starts_with('.')) {
      const std::size_t end = text.find_first_of(" \t");
      declared_ = type_of(text.substr(1, end - 1));
      text = trim(text.substr(end));
    }
    const std::size_t open = text.find('<');
    const std::int64_t count = open == text.npos ? 0 : whole(text.substr(open + 1, text.find('>') - open - 1));
    const std::string_view name = text.substr(0, open);
    if (registers_.contains(name)) return;
    registers_[name] = static_cast<int>(types_.size());
    types_.insert(types_.end(), static_cast<std::size_t>(std::max<std::int64_t>(count, 1)), declared_);
  }

  /// A register by its name: "%fd12" is number 12 of those declared as "%fd<...>".
  int register_of(std::string_view name) {
    if (const auto found = registers_.find(name); found != registers_.end()) return found->second;
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    const auto found = registers_.find(name.substr(0, digits));
    if (found != registers_.end() && digits < name.size())
      return found->second + static_cast<int>(whole(name.substr(digits)));
    if (special(name) == nullptr) throw Fault("PTX: unknown register " + std::string(name));
    registers_[name] = static_cast<int>(types_.size());
    machine_.push_back(name);
    types_.push_back({'u', 32});
    return registers_[name];
  }
  bool is_register(std::string_view text) const { return text.starts_with('%') || registers_.contains(text); }

  int constant_of(Word word) {
    const auto [found, is_new] = constants_.try_emplace(word, static_cast<int>(f_.constants.size()));
    if (is_new) {
      f_.constants.emplace_back();
      std::fill_n(f_.constants.back().at, kLanes, word);
    }
    return ~found->second;
  }

  // Operands.

  int operand(std::string_view text, Type type) {
    if (is_register(text)) return register_of(text);
    if (type.letter == 'p') return constant_of(whole(text) != 0 ? ~Word{0} : 0);
    if (const std::uint64_t address = module_.variable(text); address != 0) return constant_of(address);
    return constant_of(constant(text) & type.width());
  }

  Address address(std::string_view text, Space space) {
    text = inside(text);
    Address a;
    const std::size_t plus = text.find('+');
    if (plus != text.npos) a.offset = whole(trim(text.substr(plus + 1)));
    const std::string_view base = trim(text.substr(0, plus));
    a.space = space;
    if (is_register(base)) {
      a.base = register_of(base);
    } else if (const auto place = places_.find(base); place != places_.end()) {
      const bool of_kernel = f_.is_kernel && is_parameter(base);
      a.space = of_kernel ? Space::kKernelParameters : Space::kFrame;
      a.offset += place->second;
    } else if (const auto its = shared_.places.find(base); its != shared_.places.end()) {
      a.base = constant_of(its->second);
    } else {
      a.base = operand(base, {});
      a.space = Space::kGlobal;
    }
    return a;
  }
  bool is_parameter(std::string_view name) const {
    return std::any_of(f_.parameters.begin(), f_.parameters.end(), [&](const Parameter& p) { return p.name == name; });
  }

  // Instructions.

  Instruction& emit(const Instruction& instruction) {
    f_.code.push_back(instruction);
    f_.code.back().counted = counted_;
    f_.code.back().guard = guard_;
    f_.code.back().unless = unless_;
    f_.code.back().text = text_;
    return f_.code.back();
  }
  Instruction& emit(Run run, std::string_view to, int a = kNone, int b = kNone, int c = kNone) {
    Instruction i;
    i.run = run;
    if (!to.empty() && to != "_") {
      i.to = register_of(to);
      i.width = types_[static_cast<std::size_t>(i.to)].width();
    }
    i.a = a;
    i.b = b;
    i.c = c;
    return emit(i);
  }

  void add(const Statement& s) {
    const std::vector<std::string_view> parts = count_parts(s.name);
    counted_ = class_of(parts);
    const auto first = static_cast<std::size_t>(s.name.data() - f_.body.data());
    text_ = f_.body.substr(first, std::min(f_.body.find(';', first), f_.body.size()) - first);
    guard_ = s.guard.empty() ? kNone : register_of(s.guard);
    unless_ = s.unless;
    const std::string_view name = parts[0];
    if (name == "bra" || name == "brx") return add_branch(s, name == "brx");
    if (name == "ret" || name == "exit") {
      emit({}).kind = Kind::kReturn;
    } else if (name == "call") {
      add_call(s);
    } else if (name == "trap") {
      emit({}).run = trap();
    } else if (name == "bar" && has(parts, "warp")) {
      Instruction& i = emit({});
      i.kind = Kind::kBarrier;
      i.a = operand(s.operands.at(0), {'b', 32});
    } else if (s.name == "bar.sync" || s.name == "barrier.sync") {
      if (s.operands.size() != 1) checked(nullptr, s);  // for a part of the block
      emit({}).kind = Kind::kBlockBarrier;
      f_.has_block_barriers = true;
    } else if (name == "vote") {
      Instruction& i = emit(checked(has(parts, "sync") ? vote(parts.at(2)) : nullptr, s), s.operands.at(0),
                            operand(s.operands.at(2), {'b', 32}), operand(s.operands.at(1), {'p', 64}));
      i.kind = Kind::kBarrier;
    } else if (name == "shfl") {
      add_shuffle(s, parts);
    } else if (name == "nanosleep" || name == "membar" || name == "fence") {
      // Blocks run on threads of an x86 processor, which keeps the order of loads and that of stores.
    } else if (name == "ld" || name == "ldu" || name == "st") {
      add_access(s, parts);
    } else if (name == "atom" || name == "red") {
      add_atomic(s, parts);
    } else if (name == "mov" || name == "cvta") {
      add_move(s, parts);
    } else if (name == "setp") {
      const bool combined = parts.size() == 4;
      const Type type = type_of(parts.back());
      emit(checked(compare(parts[1], parts.back(), combined ? parts[2] : ""), s), s.operands.at(0),
           operand(s.operands.at(1), type), operand(s.operands.at(2), type),
           combined ? operand(s.operands.at(3), {'p', 64}) : kNone);
    } else if (name == "cvt") {
      const std::string_view rounding = parts.size() == 4 ? parts[1] : "";
      if (parts.size() > 4) checked(nullptr, s);
      const Type to = type_of(parts[parts.size() - 2]);
      emit(checked(convert(parts[parts.size() - 2], parts.back(), rounding), s), s.operands.at(0),
           operand(s.operands.at(1), type_of(parts.back())))
          .number = to.is_signed() ? -to.bits : to.bits;
    } else {
      add_operation(s, parts);
    }
  }

  static Run checked(Run run, const Statement& s) {
    if (run == nullptr) throw Fault("PTX: the simulated GPU has no instruction " + std::string(s.name));
    return run;
  }

  /// Type of operand k (0: the result): that of the instruction, with three exceptions.
  static Type type_of_operand(const std::vector<std::string_view>& parts, std::size_t k) {
    const Type type = type_of(parts.back());
    if (k == 2 && (parts[0] == "shl" || parts[0] == "shr")) return {'u', 32};
    if (k == 3 && parts[0] == "selp") return {'p', 64};
    if (k == 3 && parts[0] == "mad" && has(parts, "wide")) return {type.letter, 2 * type.bits};
    return type;
  }

  void add_operation(const Statement& s, const std::vector<std::string_view>& parts) {
    int in[3] = {kNone, kNone, kNone};
    const std::size_t most = parts[0] == "bfi" ? 3 : 4;
    for (std::size_t k = 1; k < s.operands.size() && k < most; ++k)
      in[k - 1] = operand(s.operands[k], type_of_operand(parts, k));
    Instruction& i = emit(checked(operation(s.name), s), s.operands.at(0), in[0], in[1], in[2]);
    i.computes = type_of(parts.back()).is_float() && parts[0] != "selp";
    if (parts[0] == "lop3") i.number = whole(s.operands.at(4));                                // the table
    if (parts[0] == "bfi") i.number = whole(s.operands.at(3)) | whole(s.operands.at(4)) << 8;  // the first, how many
  }

  void add_move(const Statement& s, const std::vector<std::string_view>& parts) {
    const std::string_view to = s.operands.at(0), from = s.operands.at(1);
    const Type type = type_of(parts.back());
    if (parts[0] == "cvta" && has(parts, "shared")) throw Fault("PTX: an address of shared memory that may be of any");
    if (to.starts_with('{')) {
      const std::vector<std::string_view> registers = split(inside(to), ',');
      const int a = operand(from, type), bits = type.bits / static_cast<int>(registers.size());
      for (std::size_t k = 0; k < registers.size(); ++k)
        if (registers[k] != "_") emit(extract(), registers[k], a).number = static_cast<int>(k) * bits;
    } else if (from.starts_with('{')) {
      const std::vector<std::string_view> registers = split(inside(from), ',');
      const int bits = type.bits / static_cast<int>(registers.size());
      int a = operand(registers[0], type);
      for (std::size_t k = 1; k < registers.size(); ++k) {
        emit(combine(), to, a, operand(registers[k], type)).number = static_cast<int>(k) * bits;
        a = register_of(to);
      }
    } else if (const auto its = shared_.places.find(from); its != shared_.places.end()) {
      emit(operation("mov.b64"), to, constant_of(its->second));
    } else if (const auto place = places_.find(from); place != places_.end()) {
      if (f_.is_kernel && is_parameter(from)) {
        emit(operation("mov.b64"), to, constant_of(kParameters + static_cast<Word>(place->second)));
      } else {
        emit(frame_address(), to).number = place->second;
      }
    } else {
      emit(checked(operation("mov.b64"), s), to, operand(from, type));
    }
  }

  int new_register(int bits) {
    types_.push_back({'b', bits});
    return static_cast<int>(types_.size()) - 1;
  }
  Instruction& emit_to(int to, Run run, int a, int b = kNone) {
    Instruction i;
    i.run = run;
    i.to = to;
    i.width = types_[static_cast<std::size_t>(to)].width();
    i.a = a;
    i.b = b;
    return emit(i);
  }

  /// result|is_there, value, lane, limits, mask.
  void add_shuffle(const Statement& s, const std::vector<std::string_view>& parts) {
    const Type word{'b', 32};
    const int how = new_register(64), mask = operand(s.operands.at(4), word);
    emit_to(how, combine(), operand(s.operands.at(2), word), operand(s.operands.at(3), word)).number = 32;
    const std::vector<std::string_view> results = split(s.operands.at(0), '|');
    if (results.size() == 2) emit(shuffles(parts.at(2)), results[1], how);
    emit(checked(has(parts, "sync") ? shuffle(parts.at(2)) : nullptr, s), results[0], mask,
         operand(s.operands.at(1), word), how)
        .kind = Kind::kBarrier;
  }

  /// Two words that other blocks see at once, or not at all. A block that reads them may wait for the other blocks.
  void add_access_to_both(const Statement& s, bool loads) {
    const std::vector<std::string_view> values = split(inside(s.operands.at(loads ? 0 : 1)), ',');
    const Address at = address(s.operands.at(loads ? 1 : 0), Space::kGlobal);
    const int both = new_register(64);
    if (!loads) emit_to(both, combine(), operand(values[0], {'b', 32}), operand(values[1], {'b', 32})).number = 32;
    if (loads) emit({}).run = let_others_run();
    Instruction& i =
        loads ? emit_to(both, load(at.space, 8, false), at.base) : emit(store(at.space, 8), "", at.base, both);
    i.number = at.offset;
    i.alignment = 8;
    for (int k = 0; loads && k < 2; ++k) emit(extract(), values[static_cast<std::size_t>(k)], both).number = 32 * k;
  }

  void add_access(const Statement& s, const std::vector<std::string_view>& parts) {
    const bool loads = parts[0] != "st";
    if (has(parts, "relaxed") || has(parts, "acquire") || has(parts, "release")) {
      if (has(parts, "v2") && parts.back().ends_with("32")) return add_access_to_both(s, loads);
      if (has(parts, "v2") || has(parts, "v4")) checked(nullptr, s);
    }
    const Type type = type_of(parts.back());
    const Space space = has(parts, "global") || has(parts, "const") ? Space::kGlobal
                        : has(parts, "local")                       ? Space::kLocal
                        : has(parts, "shared")                      ? Space::kShared
                        : has(parts, "param")                       ? Space::kParameters
                                                                    : Space::kGeneric;
    const Address at = address(s.operands.at(loads ? 1 : 0), space);
    const std::vector<std::string_view> values = split(inside(s.operands.at(loads ? 0 : 1)), ',');
    const int bytes = static_cast<int>(type.bytes());
    for (std::size_t k = 0; k < values.size(); ++k) {
      Instruction& i = loads ? emit(load(at.space, bytes, type.is_signed()), values[k], at.base)
                             : emit(store(at.space, bytes), "", at.base, operand(values[k], type));
      i.number = at.offset + static_cast<int>(k) * bytes;
      i.alignment = k == 0 ? bytes * static_cast<int>(values.size()) : bytes;
    }
  }

  void add_atomic(const Statement& s, const std::vector<std::string_view>& parts) {
    const bool returns = parts[0] == "atom";
    const std::size_t first = returns ? 1 : 0;
    const Type type = type_of(parts.back());
    const Address at = address(s.operands.at(first), has(parts, "shared") ? Space::kShared : Space::kGlobal);
    const bool swaps = s.operands.size() > first + 2;
    Instruction& i =
        emit(checked(atomic(at.space, parts[parts.size() - 2], parts.back()), s), returns ? s.operands[0] : "", at.base,
             operand(s.operands.at(first + 1), type), swaps ? operand(s.operands[first + 2], type) : kNone);
    i.number = at.offset;
    i.alignment = static_cast<int>(type.bytes());
  }

  void add_branch(const Statement& s, bool is_switch) {
    Instruction& i = emit({});
    i.kind = is_switch ? Kind::kSwitch : Kind::kBranch;
    jumps_.push_back({f_.code.size() - 1, s.operands.at(is_switch ? 1 : 0)});
    if (is_switch) i.a = operand(s.operands[0], {'u', 32});
  }

  /// call (result), name, (arguments); with none of them, without its parentheses.
  void add_call(const Statement& s) {
    std::vector<std::string_view> arguments;
    std::string_view name;
    for (std::string_view text : s.operands) {
      if (text.starts_with('(')) {
        for (std::string_view argument : split(inside(text), ',')) arguments.push_back(argument);
      } else {
        name = text;
      }
    }
    const Function* callee = module_.function(name);
    if (callee == nullptr) throw Fault("PTX: calls " + std::string(name) + ", which is not in the file");
    Instruction& i = emit({});
    i.kind = Kind::kCall;
    i.callee = callee;
    for (std::string_view argument : arguments) i.list.push_back(places_.at(argument));
  }

  // When all is known.

  /// Registers of the machine are set at the front of the function.
  void read_machine_registers() {
    guard_ = kNone;
    std::vector<Instruction> first;
    for (std::string_view name : machine_) {
      Instruction i;
      i.run = special(name);
      i.to = registers_[name];
      first.push_back(i);
    }
    f_.code.insert(f_.code.begin(), first.begin(), first.end());
    for (auto& [name, at] : labels_) at += static_cast<std::int64_t>(first.size());
    for (auto& [at, name] : jumps_) at += first.size();
  }

  void set_targets() {
    for (const auto& [at, name] : jumps_) {
      Instruction& i = f_.code[at];
      if (i.kind == Kind::kBranch) {
        i.number = labels_.at(name);
      } else {
        for (std::string_view label : tables_.at(name)) i.list.push_back(labels_.at(label));
      }
    }
  }

  Function& f_;
  Module& module_;
  std::map<std::string_view, int> registers_;  ///< the first of a range
  std::vector<Type> types_;                    ///< of each register
  Type declared_;
  std::vector<std::string_view> machine_;
  std::map<Word, int> constants_;
  std::map<std::string_view, std::int64_t> places_;  ///< of parameters and arrays, in their space
  Shared shared_;                                    ///< variables of the file, then those of the function
  std::size_t top_ = 0;  ///< of the frame, in this scope; what an inner one takes is free behind it
  std::vector<std::size_t> scopes_;
  std::map<std::string_view, std::int64_t> labels_;
  std::map<std::string_view, std::vector<std::string_view>> tables_;
  std::vector<std::pair<std::size_t, std::string_view>> jumps_;
  std::string_view text_;
  Class counted_ = Class::kOther;
  int guard_ = kNone;
  bool unless_ = false;
};

}  // namespace

void decode(Function& function, Module& module) {
  function.decoded = true;  // before its callees are: it may call itself
  Decoder(function, module).decode();
}

}  // namespace simulated_gpu
