// A pass: a function over a program, with its record. Passes neither log, time, verify nor dump: the manager does.
#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"
#include "support/diagnostics.h"

namespace uop {

struct RewriteStats;  // lib/rewrite
enum class FpMode : uint8_t { Strict, Default, Fast };

// What form a program has. Each form from Tensor to Lowered is reached from the one before; a pass states what it needs
// and what it leaves, and a pipeline whose passes do not follow is refused before anything runs.
enum class Form : uint8_t {
  Any,        // of `needs`: every form; of `leaves`: the form stays what it is
  Tensor,     // as read
  Canonical,  // broadcasts explicit
  Flat,       // CALLs are void, on places as a whole
  Ranges,     // no value has a shape
  Kernels,    // kernels are void CALLs ordered by AFTER
  Lowered,    // kernel bodies are what the emitters take
};
std::string_view formName(Form);

// type: "int" (a count or a size: at least 0), "bool", "string" or "strings" (a JSON array, or in --set a comma-separated list); "rules" for rules in line.
// def is JSON text: "0", "false", "\"\"", "[]".
struct OptionSpec {
  std::string_view name, type, def, help;
};

// The options of one instance of a pass: every option of its record has a value of the right type.
class PassOptions {
 public:
  explicit PassOptions(nlohmann::ordered_json values = nlohmann::ordered_json::object()) : values_(std::move(values)) {}
  // An option that the pass does not declare is an InternalError.
  int64_t integer(std::string_view name) const;
  bool boolean(std::string_view name) const;
  std::string string(std::string_view name) const;
  std::vector<std::string> strings(std::string_view name) const;
  const nlohmann::ordered_json& json(std::string_view name) const;
  const nlohmann::ordered_json& all() const { return values_; }

 private:
  nlohmann::ordered_json values_;
};

struct PassContext {
  const PassOptions& options;
  FpMode fp = FpMode::Default;
  RewriteStats* stats = nullptr;     // may be null
  std::vector<std::string> remarks;  // shown by -v
};

// Errors are the user's: Diag::PassError, Diag::FuelSpent, ...; the compiler's own faults are InternalErrors.
using PassFn = Result<Program> (*)(Program, PassContext&);

struct PassInfo {
  std::string_view name;
  PassFn run;
  Form needs, leaves;
  std::string_view help;
  std::vector<OptionSpec> options;
  // Checks the options' values when the pipeline is read; an error names the place, which begins with `place`. May be null.
  Result<void> (*check)(const PassOptions&, std::string_view place) = nullptr;
};

using PassTable = std::span<const PassInfo>;
const PassInfo* findPass(PassTable, std::string_view name);

}  // namespace uop
