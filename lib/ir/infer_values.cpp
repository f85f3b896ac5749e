// Storage, constants and element-wise ops.
#include <algorithm>
#include <array>

#include "ir/infer.h"

namespace uop {

Inferrer::R Inferrer::storage() {
  node_.dtype = static_cast<DType>(attrs_.get(AttrKey::DTypeKey));
  if (!isValue(node_.dtype)) return fail(Diag::WantsKind, name(op_), "a dtype of values", name(node_.dtype));
  setShape(dims(AttrKey::Shape));
  node_.place = op_ != Op::Param || !dims(AttrKey::Shape).empty();
  bool bounded = attrs_.has(AttrKey::Min) || attrs_.has(AttrKey::Max);
  if (bounded && (node_.place || !isInteger(node_.dtype))) return fail(Diag::WantsKind, "min= and max= of PARAM", "an integer scalar", name(node_.dtype));
  if (attrs_.has(AttrKey::Min) && attrs_.has(AttrKey::Max) && attrs_.get(AttrKey::Min) > attrs_.get(AttrKey::Max))
    return fail(Diag::MinMax, attrs_.get(AttrKey::Min), attrs_.get(AttrKey::Max), "expected min <= max");
  return {};
}

Inferrer::R Inferrer::constant() {
  node_.dtype = static_cast<DType>(attrs_.get(AttrKey::DTypeKey));
  if (!isValue(node_.dtype)) return fail(Diag::WantsKind, name(op_), "a dtype of values", name(node_.dtype));
  setShape({});
  return {};
}

Inferrer::R Inferrer::cast() {
  node_.dtype = static_cast<DType>(attrs_.get(AttrKey::DTypeKey));
  if (!isValue(node_.dtype)) return fail(Diag::WantsKind, name(op_), "a dtype of values", name(node_.dtype));
  return {};
}

Inferrer::R Inferrer::bitcast() {
  DType from = s(0).dtype;
  if (auto r = cast(); !r) return r;
  if (from == DType::Bool || node_.dtype == DType::Bool) return fail(Diag::BitcastBool);
  if (byteSize(from) != byteSize(node_.dtype)) return fail(Diag::BitcastSize, name(from), name(node_.dtype));
  return {};
}

// Operands have one dtype; `index` beside a CONST of integer type gives `index`.
Inferrer::R Inferrer::sameDtypes(size_t first) {
  DType d = s(first).dtype;
  for (size_t i = first + 1; i < srcs_.size(); ++i) {
    DType e = s(i).dtype;
    if (d == e) continue;
    bool fits = (d == DType::Index && isInteger(e) && s(i).op == Op::Const) || (e == DType::Index && isInteger(d) && s(first).op == Op::Const);
    if (!fits) return fail(Diag::DTypesDiffer, name(op_), name(d), name(e));
    d = DType::Index;
  }
  node_.dtype = d;
  return {};
}

Inferrer::R Inferrer::broadcast() {
  std::array<Dim, kMaxRank> out;
  size_t rank = 0;
  for (size_t i = 0; i < srcs_.size(); ++i) rank = std::max(rank, shp(i).size());
  std::fill_n(out.begin(), rank, Dim{1});
  for (size_t i = 0; i < srcs_.size(); ++i) {
    auto shape = shp(i);
    for (size_t k = 0; k < shape.size(); ++k) {
      Dim& at = out[rank - shape.size() + k];
      if (at == 1) at = shape[k];
      else if (shape[k] != 1 && shape[k] != at) return fail(Diag::NoBroadcast, name(op_), shpText(i == 0 ? 0 : i - 1), shpText(i));
    }
  }
  setShape(std::span(out.data(), rank));
  return {};
}

Inferrer::R Inferrer::elementwise() {
  TypeRule rule = info(op_).rule;
  if (rule == TypeRule::Where)
    if (auto r = wantKind(s(0).dtype, s(0).dtype == DType::Bool, "a bool condition"); !r) return r;
  if (auto r = sameDtypes(rule == TypeRule::Where ? 1 : 0); !r) return r;
  DType d = node_.dtype;
  if (op_ == Op::Add && d == DType::Bool) return fail(Diag::AddOfBool, name(op_));
  R kind = {};
  if (rule == TypeRule::Number) kind = wantKind(d, isNumber(d), "a number");
  if (rule == TypeRule::Float) kind = wantKind(d, isFloat(d), "a float");
  if (rule == TypeRule::Integer) kind = wantKind(d, isInteger(d), "an integer");
  if (rule == TypeRule::IntegerOrBool) kind = wantKind(d, isInteger(d) || d == DType::Bool, "an integer or bool");
  if (!kind) return kind;
  if (rule == TypeRule::Compare) node_.dtype = DType::Bool;
  if (srcs_.size() > 1) return broadcast();
  return {};
}

}  // namespace uop
