// A folder of entries by key that many processes share: what is in it may be lost at any time, never wrong.
#pragma once
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace uop {

// An entry appears whole, by a rename. It carries a hash of its key and contents: one that is damaged is removed and counts
// as absent. Nothing here fails: a folder that cannot be read holds nothing, one that cannot be written stays as it is.
// Safe from several threads.
class DiskCache {
 public:
  // `limit`: bytes that the entries may take. It holds from close to close: in between, writers may exceed it.
  DiskCache(std::filesystem::path folder, uint64_t limit) : folder_(std::move(folder)), limit_(limit) {}
  ~DiskCache() { close(); }
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  const std::filesystem::path& folder() const { return folder_; }

  // `key`: hex digits, at least three. An entry that is found counts as just used.
  std::optional<std::string> get(std::string_view key);
  void put(std::string_view key, std::string_view data);

  // Adds what was put to the folder's tally; where that exceeds the limit, removes the least recently used entries until a
  // fifth of the limit is free.
  void close();

 private:
  std::filesystem::path pathOf(std::string_view key) const;
  void trim();

  std::filesystem::path folder_;
  uint64_t limit_;
  std::atomic<uint64_t> added_{0};
};

// Where the user's caches lie (XDG base directory specification): $XDG_CACHE_HOME, else $HOME/.cache; nullopt without.
std::optional<std::filesystem::path> userCacheFolder();

}  // namespace uop
