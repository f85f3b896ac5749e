// Ops and attribute keys as tables. Passes ask traits and attribute accessors; none lists ops.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "support/dtype.h"

namespace uop {

enum class Op : uint8_t {
#define OP(id, ...) id,
#include "ir/ops.def"
};
inline constexpr size_t kOpCount = 0
#define OP(...) +1
#include "ir/ops.def"
    ;

enum class AttrKey : uint8_t {
#define ATTR(id, ...) id,
#include "ir/attrs.def"
};
enum class AttrType : uint8_t { Int, SignedInt, DType, Dims, Pairs, String, Bool, Space, Kind, ReduceOp, Scalar };

enum class TypeRule : uint8_t {
  Storage, Constant, Cast, Bitcast, Number, Float, NumberOrBool, IntegerOrBool, Integer, Compare, Where, Same,
  Reshape, Expand, Permute, Flip, Pad, Shrink, Index, Load, Store, After, Range, End, Reduce, Stage, Call, Tuple, Get, Sink
};

// Storage classes of ALLOC and STAGE; kinds of RANGE; operators of REDUCE.
enum class Space : uint8_t { Global, Local, Reg };
enum class Kind : uint8_t { Loop, Thread, Global, Local, Warp, Reduce, Group, Upcast, Unroll };
enum class ReduceOp : uint8_t { Add, Mul, Max };
inline constexpr std::array<std::string_view, 3> kSpaceNames = {"global", "local", "reg"};
inline constexpr std::array<std::string_view, 9> kKindNames = {"loop", "thread", "global", "local", "warp", "reduce", "group", "upcast", "unroll"};
inline constexpr std::array<std::string_view, 3> kReduceNames = {"ADD", "MUL", "MAX"};
// Iterations of a dependent kind run in order and may carry values through memory (format, section 5).
inline bool isSequential(Kind k) { return k == Kind::Loop || k == Kind::Reduce || k == Kind::Unroll; }
Op opOf(ReduceOp);  // the binary op that a reduction repeats

namespace trait {
enum : uint16_t {
  None = 0,
  Leaf = 1,             // no sources, nothing to compute
  Elementwise = 2,      // shape-preserving, one scalar meaning (eval.h), broadcasts
  Commutative = 4,
  Associative = 8,      // exactly so on integers and bool
  Idempotent = 16,
  Transcendental = 32,  // worth computing once
  Movement = 64,        // rearranges elements
  Effect = 128,         // void: changes memory
  ClosesRanges = 256,   // its sources after the first are RANGEs that it closes
};
}

inline constexpr uint32_t kMany = ~0u;
inline constexpr size_t kMaxAttrs = 6;

struct OpInfo {
  std::string_view name;
  uint32_t minSrc, maxSrc;  // maxSrc may be kMany
  TypeRule rule;
  uint16_t traits;
  std::string_view c;       // see ops.def
  uint8_t attrCount;
  std::array<AttrKey, kMaxAttrs> attrs;  // in canonical order
  std::array<bool, kMaxAttrs> optional;
};

extern const std::array<OpInfo, kOpCount> kOpInfos;
inline const OpInfo& info(Op op) { return kOpInfos[static_cast<size_t>(op)]; }
inline std::string_view name(Op op) { return info(op).name; }
inline bool hasTrait(Op op, uint16_t t) { return (info(op).traits & t) != 0; }
// Arithmetic on floats, as counted in FLOPs: NEG is none.
inline bool isFlop(Op op, DType result) {
  TypeRule rule = info(op).rule;
  return isFloat(result) && op != Op::Neg && (rule == TypeRule::Number || rule == TypeRule::Float || rule == TypeRule::NumberOrBool);
}
std::optional<Op> opByName(std::string_view);
std::span<const std::string_view> opNames();  // by Op's value

std::string_view attrName(AttrKey);
AttrType attrType(AttrKey);
std::optional<AttrKey> attrByName(std::string_view);
inline constexpr size_t kAttrKeyCount = 0
#define ATTR(...) +1
#include "ir/attrs.def"
    ;
extern const std::array<std::array<int8_t, kAttrKeyCount>, kOpCount> kAttrPositions;
inline int attrPosition(Op op, AttrKey key) { return kAttrPositions[static_cast<size_t>(op)][static_cast<size_t>(key)]; }  // its place in info(op).attrs, -1 if the op has no such attribute

}  // namespace uop
