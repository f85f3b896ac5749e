// For driver tests: a program run in this process, and a folder of its own for its files.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace uop::testing {

struct Outcome {
  int status;
  std::string out, err;
};

template <class Run>
Outcome call(Run run, std::string program, std::vector<std::string> args) {
  std::ostringstream out, err;
  args.insert(args.begin(), std::move(program));
  int status = run(args, out, err, false);
  return {status, out.str(), err.str()};
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "uopc-test-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return *this / name;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  bool has(const std::string& name) const { return std::filesystem::exists(path_ / name); }
  std::vector<std::string> list(const std::string& name = ".") const {
    std::vector<std::string> names;
    for (const auto& e : std::filesystem::directory_iterator(path_ / name)) names.push_back(e.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace uop::testing
