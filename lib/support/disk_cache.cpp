#include "support/disk_cache.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "support/file.h"
#include "support/hash.h"

namespace uop {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kTally = "tally";
constexpr uint64_t kLongTally = 64 * 1024;
constexpr auto kAbandoned = std::chrono::hours(1);  // the age of a temporary file whose writer must be dead

// "SHA-256 of key, length and contents" "\n" contents.
std::string seal(std::string_view key, std::string_view data) { return sha256Hex(fmt::format("{} {}\n{}", key, data.size(), data)) + "\n"; }

// Only this user writes here: what lies in the folder is run as code.
bool makeFolder(const fs::path& folder) {
  std::error_code ec;
  if (fs::is_directory(folder, ec)) return true;
  if (!fs::create_directories(folder, ec)) return fs::is_directory(folder, ec);
  fs::permissions(folder, fs::perms::owner_all, ec);
  return true;
}

void append(const fs::path& file, std::string_view text) {
  int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  // A tally that lacks a line is as good as one that is out of date: the next trim counts anew.
  [[maybe_unused]] ssize_t written = ::write(fd, text.data(), text.size());
  ::close(fd);
}

struct Entry {
  fs::path path;
  fs::file_time_type used;
  uint64_t bytes;
};

// Entries, after removing what dead writers left. Other processes add and remove meanwhile.
std::vector<Entry> entriesOf(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code ec;
  for (auto shard = fs::directory_iterator(folder, ec); !ec && shard != fs::directory_iterator(); shard.increment(ec)) {
    std::error_code inner;
    if (!shard->is_directory(inner)) continue;
    for (auto it = fs::directory_iterator(shard->path(), inner); !inner && it != fs::directory_iterator(); it.increment(inner)) {
      std::error_code gone;
      auto used = it->last_write_time(gone);
      if (gone) continue;
      auto bytes = it->file_size(gone);
      if (gone) continue;
      if (!it->path().filename().string().starts_with('.')) entries.push_back({it->path(), used, bytes});
      else if (fs::file_time_type::clock::now() - used > kAbandoned) fs::remove(it->path(), gone);
    }
  }
  return entries;
}

}  // namespace

fs::path DiskCache::pathOf(std::string_view key) const { return folder_ / key.substr(0, 2) / key.substr(2); }

std::optional<std::string> DiskCache::get(std::string_view key) {
  fs::path path = pathOf(key);
  auto text = readFile(path.string());
  if (!text) return std::nullopt;
  size_t head = text->find('\n');
  std::error_code ignored;
  if (head == std::string::npos || text->substr(0, head + 1) != seal(key, std::string_view(*text).substr(head + 1))) {
    fs::remove(path, ignored);
    return std::nullopt;
  }
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  return text->substr(head + 1);
}

void DiskCache::put(std::string_view key, std::string_view data) {
  fs::path path = pathOf(key);
  std::string text = seal(key, data);
  text += data;
  if (text.size() > limit_ || !makeFolder(folder_) || !makeFolder(path.parent_path())) return;
  if (writeFileAtomically(path.string(), text)) added_ += text.size();
}

void DiskCache::close() {
  uint64_t added = added_.exchange(0);
  if (added == 0) return;
  fs::path file = folder_ / kTally;
  append(file, fmt::format("{}\n", added));
  auto text = readFile(file.string());
  if (!text) return;
  std::istringstream lines(*text);
  uint64_t sum = 0;
  for (uint64_t n; lines >> n;) sum += n;
  // A line that is no number: damage, to be counted anew.
  if (sum > limit_ || !lines.eof()) return trim();
  if (text->size() > kLongTally) (void)writeFileAtomically(file.string(), fmt::format("{}\n", sum));
}

void DiskCache::trim() {
  std::vector<Entry> entries = entriesOf(folder_);
  uint64_t sum = 0;
  for (const Entry& e : entries) sum += e.bytes;
  uint64_t goal = sum > limit_ ? limit_ - limit_ / 5 : sum;
  std::ranges::sort(entries, {}, [](const Entry& e) { return std::pair(e.used, e.path); });
  for (const Entry& e : entries) {
    if (sum <= goal) break;
    std::error_code gone;
    fs::remove(e.path, gone);
    sum -= e.bytes;
  }
  (void)writeFileAtomically((folder_ / kTally).string(), fmt::format("{}\n", sum));
}

std::optional<fs::path> userCacheFolder() {
  // A relative path in XDG_CACHE_HOME is to be ignored, says the specification.
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg == '/') return fs::path(xdg);
  if (const char* home = std::getenv("HOME"); home && *home == '/') return fs::path(home) / ".cache";
  return std::nullopt;
}

}  // namespace uop
