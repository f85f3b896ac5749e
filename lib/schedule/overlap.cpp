#include "schedule/overlap.h"

#include <numeric>

namespace uop::schedule {
namespace {

// Equal constants of different dtypes are one index.
std::vector<uint64_t> keyOf(const Graph& g, const PlaceRef& place) {
  std::vector<uint64_t> key = {place.root};
  for (NodeId i : place.indices) {
    auto constant = g.constInt(i);
    key.push_back(constant ? 1 : 0);
    key.push_back(constant ? static_cast<uint64_t>(*constant) : i);
  }
  return key;
}

}  // namespace

Groups::Groups(const Nest& nest) : nest_(nest) {
  std::map<std::vector<uint64_t>, GroupId> known;
  for (const Access& access : nest.tree.accesses) {
    auto [at, fresh] = known.try_emplace(keyOf(nest.g, access.place), static_cast<GroupId>(groups_.size()));
    if (fresh) {
      Group group{access.place.root, access.place.indices, {}, {}, true};
      for (NodeId i : group.indices) group.forms.push_back(affineOf(nest.g, i)), group.constant &= nest.g.isConst(i);
      groups_.push_back(std::move(group));
    }
    if (access.write) groups_[at->second].stores.push_back(access.node);
    ofAccess_.push_back(at->second);
  }
  for (GroupId id = 0; id < groups_.size(); ++id) {
    if (groups_[id].stores.empty()) continue;
    Root& root = roots_[groups_[id].root];
    (groups_[id].constant ? root.constant : root.varied).push_back(id);
  }
}

std::vector<GroupId> Groups::overlapping(GroupId id, uint32_t level) {
  const Group& group = groups_[id];
  std::vector<GroupId> out;
  auto found = roots_.find(group.root);
  if (found == roots_.end()) return out;
  auto take = [&](GroupId other) {
    if (other != id && mayOverlap(group, groups_[other], level)) out.push_back(other);
  };
  if (!group.stores.empty()) out.push_back(id);
  for (GroupId other : found->second.varied) take(other);
  if (!group.constant)  // two tuples of constants are equal or apart
    for (GroupId other : found->second.constant) take(other);
  return out;
}

bool Groups::mayOverlap(const Group& a, const Group& b, uint32_t level) const {
  for (size_t axis = 0; axis < a.forms.size(); ++axis)
    if (!mayMeet(a.forms[axis], b.forms[axis], level)) return false;
  return true;
}

// a − b = constant + Σ coefficient · atom. Atoms of `level` and around it have one value in both and cancel; others are
// any integers, so their sum is any multiple of the coefficients' greatest common divisor.
bool Groups::mayMeet(const Affine& a, const Affine& b, uint32_t level) const {
  if (!a.exact || !b.exact) return true;
  int64_t step = 0;
  size_t i = 0, k = 0;
  while (i < a.terms.size() || k < b.terms.size()) {
    const bool inA = i < a.terms.size() && (k == b.terms.size() || a.terms[i].first <= b.terms[k].first);
    const bool inB = k < b.terms.size() && (i == a.terms.size() || b.terms[k].first <= a.terms[i].first);
    const NodeId atom = inA ? a.terms[i].first : b.terms[k].first;
    const int64_t ca = inA ? a.terms[i++].second : 0, cb = inB ? b.terms[k++].second : 0;
    const bool same = nest_.tree.encloses(nest_.tree.levels[atom], level);
    step = std::gcd(step, same ? ca - cb : std::gcd(ca, cb));
  }
  const int64_t apart = a.constant - b.constant;
  return step == 0 ? apart == 0 : apart % step == 0;
}

}  // namespace uop::schedule
