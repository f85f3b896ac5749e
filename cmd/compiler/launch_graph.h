// Launches and the temporaries that they touch: what the memory plan is made from.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace uop {

struct LaunchGraph {
  struct Temp {
    int64_t bytes = 0;
    bool before = false, after = false;  // live before the first launch, after the last
  };
  // The launch may write `born` where it reads `dying`, if it is the last to touch the one and the first to touch the other.
  struct Reuse {
    uint32_t dying, born;
    bool operator==(const Reuse&) const = default;
  };
  struct Launch {
    std::vector<uint32_t> temps;  // each once
    std::vector<uint32_t> deps;   // launches that come first: smaller numbers
    std::vector<Reuse> reuse;     // at most one of them happens
  };
  std::vector<Temp> temps;
  std::vector<Launch> launches;
};

// The same launches from the last to the first, numbered so. What dies is born, and the other way round.
LaunchGraph reversed(const LaunchGraph& graph);

// Which temporaries are live as launches run, in any order that keeps `deps`.
class Liveness {
 public:
  explicit Liveness(const LaunchGraph& graph);

  struct Change {
    int64_t allocated = 0, freed = 0, saved = 0;     // bytes; saved by a reuse
    std::optional<LaunchGraph::Reuse> reuse;
    int64_t net() const { return allocated - freed; }
    int64_t transient() const { return allocated - saved; }  // what is live during the launch, beyond what was before it
  };
  Change change(uint32_t launch) const;
  void run(uint32_t launch);

  int64_t live() const { return live_; }
  int64_t peak() const { return peak_; }
  bool isLive(uint32_t temp) const { return isLive_[temp]; }
  uint32_t usersLeft(uint32_t temp) const { return left_[temp]; }

 private:
  const LaunchGraph& graph_;
  std::vector<uint32_t> left_;
  std::vector<bool> isLive_;
  int64_t live_ = 0, peak_ = 0;
};

// The most bytes that are live at once.
int64_t peakBytes(const LaunchGraph& graph, std::span<const uint32_t> order);

}  // namespace uop
