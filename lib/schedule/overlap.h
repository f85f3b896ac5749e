// May two accesses of one root touch the same element?
#pragma once
#include <map>
#include <unordered_map>

#include "schedule/tree_builder.h"

namespace uop::schedule {

using GroupId = uint32_t;

// The accesses of one root at one tuple of indices.
struct Group {
  NodeId root;
  std::vector<NodeId> indices;
  std::vector<Affine> forms;     // one an axis
  std::vector<NodeId> stores;    // ascending
  bool constant = true;          // every index is
};

class Groups {
 public:
  explicit Groups(const Nest&);
  GroupId of(size_t access) const { return ofAccess_[access]; }
  const Group& operator[](GroupId id) const { return groups_[id]; }
  // Groups with STOREs of g's root that may overlap g when both are of one iteration of the loop `level`, whatever the
  // iterations of the loops inside it.
  std::vector<GroupId> overlapping(GroupId g, uint32_t level);

 private:
  struct Root {
    std::vector<GroupId> constant, varied;  // groups with STOREs
  };
  bool mayOverlap(const Group&, const Group&, uint32_t level) const;
  bool mayMeet(const Affine&, const Affine&, uint32_t level) const;

  const Nest& nest_;
  std::vector<Group> groups_;
  std::vector<GroupId> ofAccess_;
  std::unordered_map<NodeId, Root> roots_;
};

}  // namespace uop::schedule
