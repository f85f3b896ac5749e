#include "support/disk_cache.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <thread>
#include <unistd.h>
#include <vector>

#include "support/file.h"
#include "support/hash.h"

namespace uop {
namespace {
namespace fs = std::filesystem;

constexpr uint64_t kPlenty = 1 << 20;

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "uopc-cache-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()));
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

std::string key(int i) { return sha256Hex(std::to_string(i)); }
fs::path entry(const fs::path& folder, const std::string& key) { return folder / key.substr(0, 2) / key.substr(2); }

size_t filesIn(const fs::path& folder) {
  size_t n = 0;
  for (const auto& e : fs::recursive_directory_iterator(folder)) n += e.is_regular_file() && e.path().filename() != "tally";
  return n;
}
uint64_t bytesIn(const fs::path& folder) {
  uint64_t n = 0;
  for (const auto& e : fs::recursive_directory_iterator(folder)) n += e.is_regular_file() && e.path().filename() != "tally" ? e.file_size() : 0;
  return n;
}
void write(const fs::path& file, std::string_view text) { std::ofstream(file, std::ios::binary) << text; }

TEST_CASE("a cache gives back what was put, to other processes too") {
  Folder dir;
  DiskCache cache(dir.path / "a/b", kPlenty);
  CHECK_FALSE(cache.get(key(1)));
  CHECK_FALSE(fs::exists(dir.path / "a"));  // reading makes nothing
  std::string data("with\0zero\nand lines\n", 20);
  cache.put(key(1), data);
  cache.put(key(2), "");
  CHECK(cache.get(key(1)) == data);
  CHECK(DiskCache(dir.path / "a/b", kPlenty).get(key(1)) == data);
  CHECK(cache.get(key(2)) == "");
  cache.put(key(1), "newer");
  CHECK(cache.get(key(1)) == "newer");
  CHECK((fs::status(dir.path / "a/b").permissions() & fs::perms::all) == fs::perms::owner_all);
}

TEST_CASE("a damaged entry is absent, and removed") {
  Folder dir;
  DiskCache cache(dir.path, kPlenty);
  cache.put(key(1), "some contents");
  const fs::path file = entry(dir.path, key(1));
  const std::string whole = readFile(file.string()).value();
  auto refused = [&](std::string text) {
    INFO(text);
    write(file, text);
    CHECK_FALSE(cache.get(key(1)));
    CHECK_FALSE(fs::exists(file));
  };
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string flipped = whole;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    refused(flipped);
    refused(whole.substr(0, i));
  }
  refused(whole + "x");
  write(file, whole);
  CHECK(cache.get(key(1)) == "some contents");
  // A whole entry under another's name.
  fs::create_directories(entry(dir.path, key(2)).parent_path());
  fs::copy_file(file, entry(dir.path, key(2)));
  CHECK_FALSE(cache.get(key(2)));
}

TEST_CASE("the least recently used entries go when the limit is passed") {
  Folder dir;
  const std::string data(1000, 'x');
  const uint64_t limit = 20'000;
  const auto now = fs::file_time_type::clock::now();
  {
    DiskCache cache(dir.path, limit);
    for (int i = 0; i < 18; ++i) {
      cache.put(key(i), data);
      fs::last_write_time(entry(dir.path, key(i)), now - std::chrono::minutes(100 - i));
    }
  }
  CHECK(filesIn(dir.path) == 18);
  {
    DiskCache cache(dir.path, limit);
    CHECK(cache.get(key(0)));  // now the most recently used
    for (int i = 18; i < 21; ++i) cache.put(key(i), data);
    CHECK(filesIn(dir.path) == 21);
  }
  CHECK(bytesIn(dir.path) <= limit - limit / 5);
  DiskCache cache(dir.path, limit);
  CHECK(cache.get(key(0)));
  CHECK(cache.get(key(20)));
  for (int i = 1; i < 7; ++i) CHECK_FALSE(cache.get(key(i)));
  cache.put(key(30), std::string(limit, 'y'));  // one that no limit leaves room for is not kept
  CHECK_FALSE(cache.get(key(30)));
  CHECK(cache.get(key(0)));
}

TEST_CASE("a tally that is lost or damaged is counted anew") {
  Folder dir;
  const std::string data(1000, 'x');
  for (int i = 0; i < 5; ++i) DiskCache(dir.path, kPlenty).put(key(i), data);
  write(dir.path / "tally", "nonsense");
  DiskCache(dir.path, kPlenty).put(key(6), data);
  CHECK(readFile((dir.path / "tally").string()).value() == fmt::format("{}\n", bytesIn(dir.path)));
  fs::remove(dir.path / "tally");
  DiskCache(dir.path, kPlenty).put(key(7), data);
  CHECK(DiskCache(dir.path, kPlenty).get(key(0)));
}

TEST_CASE("what dead writers left goes with the next trim, what live ones write stays") {
  Folder dir;
  DiskCache cache(dir.path, 1500);
  cache.put(key(1), "x");
  const fs::path shard = entry(dir.path, key(1)).parent_path();
  write(shard / ".old.tmp1.0", "x");
  write(shard / ".new.tmp2.0", "x");
  fs::last_write_time(shard / ".old.tmp1.0", fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache.put(key(2), std::string(1000, 'x'));
  cache.put(key(3), std::string(1000, 'x'));
  cache.close();
  CHECK_FALSE(fs::exists(shard / ".old.tmp1.0"));
  CHECK(fs::exists(shard / ".new.tmp2.0"));
}

TEST_CASE("a folder that cannot be made holds nothing") {
  Folder dir;
  write(dir.path / "file", "");
  for (const fs::path& folder : {dir.path / "file", dir.path / "file/below", fs::path("/proc/none")}) {
    DiskCache cache(folder, kPlenty);
    cache.put(key(1), "x");
    CHECK_FALSE(cache.get(key(1)));
    cache.close();
  }
}

TEST_CASE("many threads write, read and trim one folder") {
  Folder dir;
  std::atomic<int> wrong{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int round = 0; round < 40; ++round) {
          DiskCache cache(dir.path, 8000);
          for (int i = 0; i < 12; ++i) {
            const int k = (i * 7 + round + t) % 16;
            const std::string data(static_cast<size_t>(400 + k), static_cast<char>('a' + k));
            if (auto found = cache.get(key(k))) wrong += *found != data;
            else cache.put(key(k), data);
          }
        }
      });
  }
  CHECK(wrong == 0);
}

TEST_CASE("the user's caches lie where XDG says") {
  const auto old = [](const char* name) { const char* v = std::getenv(name); return v ? std::optional<std::string>(v) : std::nullopt; };
  const auto restore = [](const char* name, const std::optional<std::string>& v) { v ? ::setenv(name, v->c_str(), 1) : ::unsetenv(name); };
  const auto xdg = old("XDG_CACHE_HOME"), home = old("HOME");
  ::setenv("HOME", "/home/me", 1);
  ::setenv("XDG_CACHE_HOME", "/var/mine", 1);
  CHECK(userCacheFolder() == "/var/mine");
  ::setenv("XDG_CACHE_HOME", "relative", 1);
  CHECK(userCacheFolder() == "/home/me/.cache");
  ::unsetenv("XDG_CACHE_HOME");
  CHECK(userCacheFolder() == "/home/me/.cache");
  ::unsetenv("HOME");
  CHECK_FALSE(userCacheFolder());
  restore("XDG_CACHE_HOME", xdg);
  restore("HOME", home);
}

}  // namespace
}  // namespace uop
