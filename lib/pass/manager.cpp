#include "pass/manager.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "pass/form.h"
#include "pass/probe.h"
#include "rewrite/engine.h"

namespace uop {
namespace {

bool selected(const std::vector<std::string>& names, std::string_view instance) {
  return std::ranges::any_of(names, [&](const std::string& n) { return n == instance || n == "all"; });
}

int64_t nanoseconds() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

Result<void> requireInstance(const Pipeline& p, std::string_view option, std::string_view instance) {
  if (instance.empty() || p.find(instance)) return {};
  return fail(Diag::Usage, fmt::format("{} {}: the pipeline '{}' has no such pass{}", option, instance, p.name, suggest(instance, p.instances())));
}

// Index of the item of the list that is the instance; nullopt inside a repeat.
std::optional<size_t> topLevel(const Pipeline& p, std::string_view instance) {
  for (size_t i = 0; i < p.items.size(); ++i)
    if (!p.items[i].isRepeat() && p.steps[p.items[i].step].instance == instance) return i;
  return std::nullopt;
}

size_t firstItem(const Pipeline& p, const ManagerOptions& o) {
  if (!o.startAt.empty()) return topLevel(p, o.startAt).value_or(0);
  if (!o.startAfter.empty()) return topLevel(p, o.startAfter).value_or(0) + 1;
  return 0;
}

size_t endItem(const Pipeline& p, const ManagerOptions& o) {
  return o.stopAfter.empty() ? p.items.size() : topLevel(p, o.stopAfter).value_or(p.items.size()) + 1;
}

Form itemForm(const Pipeline& p, size_t item) {
  return item < p.items.size() ? formBefore(p, p.steps[p.items[item].step].instance) : finalForm(p);
}

}  // namespace

Result<void> checkManagerOptions(const Pipeline& p, const ManagerOptions& o) {
  using Named = std::pair<std::string_view, std::string_view>;
  if (!o.startAt.empty() && !o.startAfter.empty()) return fail(Diag::Usage, "give --start-at or --start-after, not both");
  for (auto [option, instance] : {Named{"--start-at", o.startAt}, Named{"--start-after", o.startAfter}, Named{"--stop-after", o.stopAfter}}) {
    if (auto ok = requireInstance(p, option, instance); !ok) return ok;
    if (!instance.empty() && !topLevel(p, instance))
      return fail(Diag::Usage, fmt::format("{} {}: this pass runs inside a repeat; only a place between passes of the list will do", option, instance));
  }
  for (const auto& n : o.dumpBefore)
    if (auto ok = n == "all" ? Result<void>{} : requireInstance(p, "--dump-before", n); !ok) return ok;
  for (const auto& n : o.dumpAfter)
    if (auto ok = n == "all" ? Result<void>{} : requireInstance(p, "--dump-after", n); !ok) return ok;
  if (firstItem(p, o) > endItem(p, o)) return fail(Diag::Usage, fmt::format("--stop-after {} stands before the start", o.stopAfter));
  return {};
}

Form startForm(const Pipeline& p, const ManagerOptions& o) { return itemForm(p, firstItem(p, o)); }
Form endForm(const Pipeline& p, const ManagerOptions& o) { return itemForm(p, endItem(p, o)); }

double PassManager::now() const { return static_cast<double>(nanoseconds() - startNs_) * 1e-3; }

Result<Program> PassManager::run(Program program) {
  startNs_ = nanoseconds();
  form_ = startForm(pipeline_, options_);
  if (form_ != Form::Tensor)
    if (auto text = formProblem(program, form_); !text.empty())
      return fail(Diag::PassError, fmt::format("the program must have form {} to start here, but {}", describeForm(form_), text));
  program_ = std::move(program);
  size_t first = firstItem(pipeline_, options_), end = endItem(pipeline_, options_);
  skipped_ = first < pipeline_.items.size() ? pipeline_.items[first].step : pipeline_.steps.size();
  std::vector<PipelineItem> items(pipeline_.items.begin() + static_cast<ptrdiff_t>(std::min(first, end)), pipeline_.items.begin() + static_cast<ptrdiff_t>(end));
  if (auto ok = runItems(items); !ok) return std::unexpected(ok.error());
  return std::move(*program_);
}

Result<Program> PassManager::runUpTo(Program program, size_t count) {
  most_ = count;
  options_.dump = nullptr;
  options_.verify = Verify::Never;
  return run(std::move(program));
}

Result<void> PassManager::runItems(const std::vector<PipelineItem>& items) {
  for (const PipelineItem& item : items) {
    if (ran_ >= most_) return {};
    auto ok = item.isRepeat() ? runRepeat(item) : runStep(pipeline_.steps[item.step]);
    if (!ok) return ok;
  }
  return {};
}

Result<void> PassManager::runRepeat(const PipelineItem& item) {
  std::string text = printProgram(*program_);
  for (int64_t round = 0; round < item.limit; ++round) {
    if (auto ok = runItems(item.body); !ok) return ok;
    std::string after = printProgram(*program_);
    if (after == text) return {};
    text = std::move(after);
  }
  if (!records_.empty()) records_.back().remarks.push_back(fmt::format("the repeat still changed the program in its last round, {}", item.limit));
  return {};
}

Result<void> PassManager::runStep(const PassStep& step) {
  if (auto ok = dump(step, true); !ok) return ok;
  std::string textBefore = options_.verify == Verify::Run ? printProgram(*program_) : "";
  PassRecord record{step.instance, now(), 0, program_->graph.size(), 0, {}, {}};
  RewriteStats stats;
  PassContext context{step.options, pipeline_.fp, &stats, {}};
  try {
    auto done = step.pass->run(std::move(*program_), context);
    if (!done) return std::unexpected(done.error());
    program_ = compacted(*done);
  } catch (const std::exception& e) {
    throw PassFault(step.instance, ran_, e.what());
  }
  record.durationUs = now() - record.startUs;
  record.nodesOut = program_->graph.size();
  record.remarks = std::move(context.remarks);
  record.hits = std::move(stats.hits);
  records_.push_back(std::move(record));
  form_ = formAfter(form_, step.pass->leaves);
  verify(step, textBefore);
  if (auto ok = dump(step, false); !ok) return ok;
  ++ran_;
  return {};
}

Result<void> PassManager::dump(const PassStep& step, bool before) {
  if (!options_.dump || !selected(before ? options_.dumpBefore : options_.dumpAfter, step.instance)) return {};
  std::string text = printProgram(*program_);
  bool unchanged = dumped_ && text == lastDump_;
  lastDump_ = std::move(text);
  dumped_ = true;
  return options_.dump({skipped_ + ran_ + 1, step.instance, before, *program_, unchanged});
}

void PassManager::verify(const PassStep& step, const std::string& textBefore) {
  if (options_.verify == Verify::Never) return;
  Diagnostics diags;
  verifyProgram(*program_, diags);
  if (diags.errorCount()) throw PassFault(step.instance, ran_, fmt::format("{} left a program that breaks the format:\n{}", step.instance, diags.render()));
  if (auto text = formProblem(*program_, form_); !text.empty())
    throw PassFault(step.instance, ran_, fmt::format("{} left a program that lacks the form {}: {}", step.instance, describeForm(form_), text));
  if (options_.verify != Verify::Run || printProgram(*program_) == textBefore) return;
  if (auto text = compareRuns(textBefore, *program_, options_.seed); !text.empty())
    throw PassFault(step.instance, ran_, fmt::format("{} changed a result: {}", step.instance, text));
}

}  // namespace uop
