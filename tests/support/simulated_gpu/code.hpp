// A kernel as the simulated GPU runs it: PTX, decoded into instructions for a warp of 32 threads at once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "memory.hpp"

namespace simulated_gpu {

using Word = std::uint64_t;
inline constexpr int kLanes = 32;

/// One register of all threads of a warp. Integers are stored zero-extended, predicates as all ones or zero.
struct alignas(64) Words {
  Word at[kLanes];
};

struct Warp;
struct Instruction;
struct Function;
using Run = void (*)(Warp&, const Instruction&);

/// What the counts of instructions tell apart: arithmetic on doubles by what it does, all on floats together.
enum class Class : std::uint8_t {
  kFma,
  kAdd,
  kMul,
  kDivide,
  kRoot,
  kCompare,
  kSingle,
  kLocal,
  kGlobal,
  kShared,
  kBranch,
  kOther
};
inline constexpr int kClasses = 12;
inline constexpr const char* kClassNames[kClasses] = {"fma",    "add",   "mul",    "divide", "root",   "compare",
                                                      "single", "local", "global", "shared", "branch", "other"};

enum class Kind : std::uint8_t { kData, kBranch, kSwitch, kCall, kReturn, kBarrier, kBlockBarrier };

/// An operand is a register of the function (>= 0), one of its constants (~operand), or none.
inline constexpr int kNone = INT32_MIN;

struct Instruction {
  Run run = nullptr;  ///< of kData, and of a barrier at which something is handed over
  int to = kNone, a = kNone, b = kNone, c = kNone;
  int guard = kNone;    ///< only threads where this predicate holds take part
  bool unless = false;  ///< ... does not hold
  Kind kind = Kind::kData;
  Class counted = Class::kOther;
  int alignment = 1;        ///< of an address [bytes]
  Word width = ~Word{0};    ///< bits of the register `to`
  std::int64_t number = 0;  ///< offset of an address, target of a branch, ...
  const Function* callee = nullptr;
  bool computes = false;           ///< with floating-point numbers
  std::string_view text;           ///< in the PTX
  std::vector<std::int64_t> list;  ///< targets of a switch; offsets of arguments in the caller's frame
};

/// A parameter of a function: `bytes` at `offset` of its frame (of the parameter space, for a kernel).
struct Parameter {
  std::string_view name;
  std::size_t bytes, offset;
};

struct Function {
  std::string_view name, body;
  bool is_kernel = false;
  int most_threads = 1024;  ///< of a block
  bool has_block_barriers = false;
  std::vector<Parameter> parameters;  ///< results of a function first
  std::size_t parameter_bytes = 0;
  // What decode() adds.
  bool decoded = false;
  std::vector<Instruction> code;
  std::vector<Words> constants;
  int predicates = 0, registers = 0;  ///< predicates are the first of the registers
  std::size_t frame = 0;              ///< local memory: parameters, arrays, arguments of calls [bytes]
  std::size_t shared = 0;             ///< memory that the threads of a block share [bytes]
};

/// What the threads of a block share: variables by their offset, and the bytes of all.
struct Shared {
  std::map<std::string_view, Word> places;
  std::size_t bytes = 0;

  void add(std::string_view name, std::size_t size) {
    bytes = (bytes + 15) / 16 * 16;
    places[name] = bytes;
    bytes += size;
  }
};

/// One file of PTX. Its text must outlive it.
class Module {
 public:
  /// Finds functions and variables; the variables get their memory.
  Module(std::string_view text, Memory& memory);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Decoded on first use. Throws Fault for what this GPU does not know; null where there is no such function.
  [[nodiscard]] const Function* function(std::string_view name);
  /// Address of a variable; 0 where there is none.
  [[nodiscard]] std::uint64_t variable(std::string_view name) const;
  /// Variables outside of the functions, which every kernel has.
  [[nodiscard]] const Shared& shared() const { return shared_; }

 private:
  std::map<std::string_view, Function> functions_;
  std::map<std::string_view, std::uint64_t> variables_;
  Shared shared_;
};

/// Fills in `code` and what belongs to it.
void decode(Function& function, Module& module);

/// Lets registers that are never needed at the same time share a place: PTX has a new one for each value. Sets their
/// numbers and rewrites the operands.
void share_registers(Function& function, const std::vector<bool>& is_predicate);

/// What an arithmetic instruction does ("add.rn.f64"); null where there is no such instruction.
[[nodiscard]] Run operation(std::string_view name);
/// The same for what the decoder takes apart.
enum class Space { kGlobal, kLocal, kShared, kGeneric, kFrame, kKernelParameters, kParameters };
[[nodiscard]] Run load(Space space, int bytes, bool is_signed);
[[nodiscard]] Run store(Space space, int bytes);
/// In global memory, or in what a block shares.
[[nodiscard]] Run atomic(Space space, std::string_view what, std::string_view type);
[[nodiscard]] Run convert(std::string_view to, std::string_view from, std::string_view rounding);
[[nodiscard]] Run compare(std::string_view relation, std::string_view type, std::string_view combined);
/// to = a shifted right by `number` and cut to the register's width; to = a | b << number.
[[nodiscard]] Run extract();
[[nodiscard]] Run combine();
/// to = of predicate b, in the threads that take part and are of the mask a: whether "any" or "all" hold, or the
/// "ballot".
[[nodiscard]] Run vote(std::string_view how);
/// to = b of the thread that the low half of c names ("up", "down", "bfly", "idx"), within the limits in its high half.
[[nodiscard]] Run shuffle(std::string_view how);
/// to = whether there is such a thread, for a as that c.
[[nodiscard]] Run shuffles(std::string_view how);
/// Blocks that others wait for run first.
[[nodiscard]] Run let_others_run();
/// to = address of byte `number` of the frame.
[[nodiscard]] Run frame_address();
[[nodiscard]] Run trap();
/// to = a register of the machine ("%tid.x"); null where it has none of this name.
[[nodiscard]] Run special(std::string_view name);

}  // namespace simulated_gpu
