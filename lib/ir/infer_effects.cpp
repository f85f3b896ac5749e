// Memory, order, loops, reductions and calls.
#include <algorithm>

#include "ir/infer.h"

namespace uop {

Inferrer::R Inferrer::gate(size_t at) {
  if (auto r = wantKind(s(at).dtype, s(at).dtype == DType::Bool, "a bool gate"); !r) return r;
  if (!shp(at).empty() && !std::ranges::equal(shp(at), shp(0))) return fail(Diag::GateShape, name(op_), shpText(at), shpText(0));
  return {};
}

Inferrer::R Inferrer::load() {
  if (!s(0).place) return fail(Diag::WantsPlace, name(op_), name(s(0).dtype));
  if (srcs_.size() == 1) return {};
  if (s(1).dtype != s(0).dtype || (!shp(1).empty() && !std::ranges::equal(shp(1), shp(0))))
    return fail(Diag::LoadAlt, name(s(1).dtype), shpText(1), name(s(0).dtype), shpText(0));
  return gate(2);
}

Inferrer::R Inferrer::store() {
  if (!s(0).place) return fail(Diag::WantsPlace, name(op_), name(s(0).dtype));
  if (g_.op(s(0).base) == Op::Stage) return fail(Diag::StoreReadOnly, "a STAGE");
  if (s(0).stretched) return fail(Diag::StoreExpanded);
  if (s(1).dtype != s(0).dtype) return fail(Diag::StoreDType, name(s(1).dtype), name(s(0).dtype));
  if (!std::ranges::equal(shp(1), shp(0))) return fail(Diag::StoreShape, shpText(1), shpText(0));
  if (srcs_.size() == 3)
    if (auto r = gate(2); !r) return r;
  node_.dtype = DType::Void;
  setShape({});
  return {};
}

Inferrer::R Inferrer::after() {
  if (s(0).dtype == DType::Void) return fail(Diag::WantsValue, name(op_), name(s(0).dtype));
  view();
  return {};
}

Inferrer::R Inferrer::range() {
  if (auto r = wantKind(s(0).dtype, isInteger(s(0).dtype), "an integer bound"); !r) return r;
  if (!shp(0).empty()) return fail(Diag::NotScalar, name(op_), "bound", shpText(0));
  node_.dtype = DType::Index;
  return {};
}

Inferrer::R Inferrer::closers() {
  for (size_t i = 1; i < srcs_.size(); ++i) {
    if (s(i).op != Op::Range) return fail(Diag::WantsRange, name(op_), name(s(i).op));
    for (size_t k = 1; k < i; ++k)
      if (srcs_[k] == srcs_[i]) return fail(Diag::RangeTwice, name(op_), g_.attr(srcs_[i], AttrKey::Id));
  }
  if (op_ != Op::End) return {};
  if (s(0).dtype == DType::Tuple || (s(0).dtype != DType::Void && s(0).op != Op::Call)) return fail(Diag::WantsKind, name(op_), "a STORE, END, CALL or SINK", name(s(0).op));
  node_.dtype = DType::Void;
  setShape({});
  return {};
}

Inferrer::R Inferrer::reduce() {
  if (auto r = closers(); !r) return r;
  if (attrs_.get(AttrKey::ReduceKey) == static_cast<int64_t>(ReduceOp::Add) && s(0).dtype == DType::Bool) return fail(Diag::AddOfBool, "REDUCE op=ADD");
  int64_t n = attrs_.get(AttrKey::N);
  if (n < 0 || n > static_cast<int64_t>(shp(0).size())) return fail(Diag::ReduceN, n, shpText(0), shp(0).size());
  if (n > 0 && srcs_.size() > 1) return fail(Diag::ReduceRangesN, n);
  setShape(shp(0).subspan(static_cast<size_t>(n)));
  return {};
}

Inferrer::R Inferrer::stage() {
  if (auto r = closers(); !r) return r;
  std::vector<Dim> out;
  for (size_t i = 1; i < srcs_.size(); ++i) {
    auto bound = g_.constInt(s(i).srcs[0]);
    if (!bound || *bound < 0) return fail(Diag::StageBound);
    out.push_back(*bound);
  }
  out.insert(out.end(), shp(0).begin(), shp(0).end());
  setShape(out);
  node_.place = true;
  return {};
}

// What needs the body's whole cone (slots, writes) is checked by verifyProgram.
Inferrer::R Inferrer::call() {
  for (size_t i = 1; i < srcs_.size(); ++i)
    if (!isValue(s(i).dtype)) return fail(Diag::WantsValue, name(op_), name(s(i).dtype));
  if (s(0).dtype == DType::Tuple) node_.base = s(0).base;
  return {};
}

Inferrer::R Inferrer::get() {
  if (s(0).dtype != DType::Tuple) return fail(Diag::GetTuple, name(s(0).op));
  auto items = g_.srcs(s(0).base);
  int64_t at = attrs_.get(AttrKey::IndexKey);
  if (at < 0 || at >= static_cast<int64_t>(items.size())) return fail(Diag::GetRange, at, items.size());
  const Node& item = g_[items[static_cast<size_t>(at)]];
  node_.dtype = item.dtype;
  node_.shapeList = item.shapeList;
  return {};
}

}  // namespace uop
