#include "runtime/executor.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>

#include "runtime/cpu_features.h"
#include "runtime/library.h"
#include "support/file.h"

namespace uop {

struct Artifact::Data {
  Manifest manifest;
  std::filesystem::path folder;  // empty for one in memory
  KernelResolver resolver;
  std::string program;
};

Result<Artifact> Artifact::open(const std::string& folder) {
  std::filesystem::path root(folder);
  auto text = readFile((root / "manifest.json").string());
  if (!text) return std::unexpected(text.error());
  auto manifest = parseManifest(*text);
  if (!manifest) return std::unexpected(manifest.error());
  if (auto good = checkManifestFiles(*manifest, root); !good) return std::unexpected(good.error());
  Artifact out;
  out.data_ = std::make_shared<Data>(Data{std::move(*manifest), std::move(root), nullptr, ""});
  return out;
}

Result<Artifact> Artifact::inMemory(Manifest manifest, KernelResolver resolver, std::string program) {
  if (auto good = checkManifest(manifest, ManifestForm::InMemory, "the artifact in memory"); !good) return std::unexpected(good.error());
  Artifact out;
  out.data_ = std::make_shared<Data>(Data{std::move(manifest), {}, std::move(resolver), std::move(program)});
  return out;
}

const Manifest& Artifact::manifest() const { return data_->manifest; }

Result<std::string> Artifact::program() const {
  if (data_->folder.empty()) return data_->program;
  return readFile((data_->folder / data_->manifest.program.file).string());
}

namespace {

using Clock = std::chrono::steady_clock;

std::optional<size_t> positionOf(const auto& list, std::string_view name) {
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name) return i;
  return std::nullopt;
}

struct PreparedLaunch {
  KernelFn fn = nullptr;
  std::vector<void*> places;
  std::vector<int64_t> scalars;
  std::array<std::optional<Expression>, 3> grid;
  std::array<std::optional<Expression>, 2> work;  // flops, bytes
};

int64_t elapsed(Clock::time_point since) { return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - since).count(); }

}  // namespace

struct Session::Impl {
  std::shared_ptr<Artifact::Data> artifact;
  std::map<std::string, Library> libraries;
  std::vector<KernelFn> kernels;
  ThreadPool pool;
  std::shared_ptr<std::byte[]> state, arena, scratch;
  std::vector<Tensor> arguments;
  std::vector<bool> argumentBound, bufferBound;
  std::vector<int64_t> scalarArgs;  // by argument: its bits, for grids
  std::vector<PreparedLaunch> once, launches;
  std::vector<LaunchTime> times;
  std::vector<std::pair<std::byte*, Tensor>> kept;
  bool prepared = false, onceDone = false, timing = false;

  explicit Impl(std::shared_ptr<Artifact::Data> a, int threads) : artifact(std::move(a)), pool(threads) {}
  const Manifest& m() const { return artifact->manifest; }
  Result<void> loadKernels();
  Result<void> allocate();
  std::byte* address(const Place& p);
  Result<PreparedLaunch> prepare(const Launch& l);
  Result<void> prepareAll();
  Result<void> runList(const std::vector<Launch>& list, std::vector<PreparedLaunch>& prepared, bool timed);
  Result<Tensor> copyOut(DType dtype, const Shape& shape, const std::byte* from) const;
  std::vector<std::string_view> names() const;
  Result<void> checkBound(const std::string& name, const Tensor& value, DType dtype, const Shape& shape) const;
};

Result<void> Session::Impl::loadKernels() {
  for (const KernelInfo& k : m().kernels) {
    if (artifact->resolver) {
      auto fn = artifact->resolver(k);
      if (!fn) return std::unexpected(fn.error());
      kernels.push_back(*fn);
      continue;
    }
    auto it = libraries.find(k.file);
    if (it == libraries.end()) {
      auto library = Library::open(std::filesystem::absolute(artifact->folder / k.file).string());
      if (!library) return std::unexpected(library.error());
      it = libraries.emplace(k.file, std::move(*library)).first;
    }
    auto symbol = it->second.symbol(k.symbol);
    if (!symbol) return std::unexpected(symbol.error());
    kernels.push_back(reinterpret_cast<KernelFn>(*symbol));
  }
  return {};
}

Result<void> Session::Impl::allocate() {
  auto take = [](std::shared_ptr<std::byte[]>& to, uint64_t bytes, std::string_view what) -> Result<void> {
    auto block = allocateBlock(bytes, what);
    if (!block) return std::unexpected(block.error());
    to = std::move(*block);
    return {};
  };
  const MemoryPlan& plan = m().memory;
  if (auto r = take(state, static_cast<uint64_t>(plan.stateBytes), "buffers and constants"); !r) return r;
  if (auto r = take(arena, static_cast<uint64_t>(plan.arenaBytes), "temporaries"); !r) return r;
  auto workers = static_cast<uint64_t>(pool.threads());
  auto each = (static_cast<uint64_t>(plan.scratchBytesPerThread) + kAlignment - 1) / kAlignment * kAlignment;
  if (auto r = take(scratch, workers * each, "scratch"); !r) return r;
  for (const ConstantInfo& c : m().constants) {
    if (c.file.empty()) continue;
    auto data = readFile((artifact->folder / c.file).string());
    if (!data) return std::unexpected(data.error());
    std::memcpy(state.get() + c.offset, data->data() + c.fileOffset, *byteCount(c.dtype, c.shape));
  }
  arguments.resize(m().arguments.size());
  argumentBound.resize(m().arguments.size());
  scalarArgs.resize(m().arguments.size());
  bufferBound.resize(m().buffers.size());
  return {};
}

std::byte* Session::Impl::address(const Place& p) {
  auto i = static_cast<size_t>(p.index);
  switch (p.base) {
    case Base::Argument: return arguments[i].data() + p.offset;
    case Base::Buffer: return state.get() + m().buffers[i].offset + p.offset;
    case Base::Constant: return state.get() + m().constants[i].offset + p.offset;
    case Base::Arena: return arena.get() + p.offset;
    case Base::Result: {
      Place inner = m().results[i].place;
      inner.offset += p.offset;
      return address(inner);
    }
  }
  return nullptr;
}

Result<PreparedLaunch> Session::Impl::prepare(const Launch& l) {
  PreparedLaunch out;
  out.fn = kernels[static_cast<size_t>(l.kernel)];
  for (const LaunchArg& a : l.args) {
    if (a.kind == LaunchArg::Kind::Place) out.places.push_back(address(a.place));
    else out.scalars.push_back(scalarArgs[static_cast<size_t>(a.index)]);
  }
  auto parse = [](const Amount& a, std::optional<Expression>& to) -> Result<void> {
    if (a.expr.empty()) return {};
    auto e = Expression::parse(a.expr);
    if (!e) return std::unexpected(e.error());
    to = std::move(*e);
    return {};
  };
  for (size_t i = 0; i < 3; ++i)
    if (auto r = parse(l.grid[i], out.grid[i]); !r) return std::unexpected(r.error());
  if (auto r = parse(l.flops, out.work[0]); !r) return std::unexpected(r.error());
  if (auto r = parse(l.bytes, out.work[1]); !r) return std::unexpected(r.error());
  return out;
}

Result<void> Session::Impl::prepareAll() {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentInfo& a = m().arguments[i];
    if (!argumentBound[i]) return fail(Diag::Unbound, a.name, name(a.dtype), shapeText(a.shape), a.name);
    if (a.isScalar()) scalarArgs[i] = arguments[i].bits(0);
  }
  once.clear(), launches.clear();
  auto all = [&](const std::vector<Launch>& list, std::vector<PreparedLaunch>& to) -> Result<void> {
    for (const Launch& l : list) {
      auto p = prepare(l);
      if (!p) return std::unexpected(p.error());
      to.push_back(std::move(*p));
    }
    return {};
  };
  if (auto r = all(m().once, once); !r) return r;
  if (auto r = all(m().launches, launches); !r) return r;
  times.resize(launches.size());
  // Here rather than between launches, where nothing is allocated.
  auto parallel = [](const Launch& l) { return l.threads != 1 && (l.grid[0].value > 1 || l.grid[1].value > 1 || l.grid[2].value > 1); };
  if (std::ranges::any_of(m().once, parallel) || std::ranges::any_of(m().launches, parallel)) pool.start();
  prepared = true;
  return {};
}

Result<void> Session::Impl::runList(const std::vector<Launch>& list, std::vector<PreparedLaunch>& ready, bool timed) {
  auto start = Clock::now();
  size_t each = (static_cast<size_t>(m().memory.scratchBytesPerThread) + kAlignment - 1) / kAlignment * kAlignment;
  auto valueOf = [&](const Amount& a, const std::optional<Expression>& e) { return e ? e->evaluate(scalarArgs).value_or(-1) : a.value; };
  for (size_t i = 0; i < list.size(); ++i) {
    const Launch& l = list[i];
    PreparedLaunch& p = ready[i];
    int64_t tasks = 1;
    for (size_t k = 0; k < 3; ++k) {
      int64_t n = valueOf(l.grid[k], p.grid[k]);
      if (n < 0 || n > l.grid[k].value) return fail(Diag::RuntimeFault, fmt::format("launch {} of '{}' asks for {} tasks, its maximum is {}", i, m().kernels[static_cast<size_t>(l.kernel)].name, n, l.grid[k].value));
      tasks *= n;
    }
    int64_t begin = timed ? elapsed(start) : 0;
    auto task = [&](int64_t t, int worker) { p.fn(p.places.data(), p.scalars.data(), t, each ? scratch.get() + static_cast<size_t>(worker) * each : nullptr); };
    pool.run(tasks, task, static_cast<int>(std::min<int64_t>(l.threads, ThreadPool::kMaxThreads)));
    if (timed) times[i] = {begin, elapsed(start), valueOf(l.flops, p.work[0]), valueOf(l.bytes, p.work[1]), tasks};
  }
  return {};
}

Result<Tensor> Session::Impl::copyOut(DType dtype, const Shape& shape, const std::byte* from) const {
  auto t = Tensor::zeros(dtype, shape);
  if (t && t->bytes) std::memcpy(t->data(), from, t->bytes);
  return t;
}

std::vector<std::string_view> Session::Impl::names() const {
  std::vector<std::string_view> out;
  for (const auto& a : m().arguments) out.push_back(a.name);
  for (const auto& b : m().buffers) out.push_back(b.name);
  return out;
}

Result<void> Session::Impl::checkBound(const std::string& name, const Tensor& value, DType dtype, const Shape& shape) const {
  bool same = value.dtype == dtype || (dtype == DType::Index && value.dtype == DType::I64) || (dtype == DType::BF16 && value.dtype == DType::U16);
  if (same && value.shape == shape) return {};
  return fail(Diag::BindType, name, uop::name(value.dtype), shapeText(value.shape), uop::name(dtype), shapeText(shape));
}

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::create(const Artifact& artifact, const SessionOptions& options) {
  auto impl = std::make_unique<Impl>(artifact.data_, options.threads);
  const Target& target = impl->m().target;
  if (!artifact.data_->resolver && target.name != "cpu") return fail(Diag::Unsupported, "the artifact is for target '" + target.name + "', which this machine cannot run");
  if (auto r = requireCpuFeatures(target.features); !r) return std::unexpected(r.error());
  if (auto r = impl->loadKernels(); !r) return std::unexpected(r.error());
  if (auto r = impl->allocate(); !r) return std::unexpected(r.error());
  return Session(std::move(impl));
}

const Manifest& Session::manifest() const { return impl_->m(); }
int Session::threads() const { return impl_->pool.threads(); }

Result<void> Session::bind(std::string_view name, Tensor value) {
  Impl& s = *impl_;
  if (auto i = positionOf(s.m().arguments, name)) {
    const ArgumentInfo& a = s.m().arguments[*i];
    if (auto r = s.checkBound(a.name, value, a.dtype, a.shape); !r) return r;
    value.dtype = a.dtype;
    for (int64_t k = 0; (a.min || a.max) && k < value.elements(); ++k) {
      int64_t v = value.asInt(k);
      if ((a.min && v < *a.min) || (a.max && v > *a.max)) return fail(Diag::BindRange, a.name, v, a.min.value_or(minValue(a.dtype)), a.max.value_or(static_cast<int64_t>(maxValue(a.dtype))));
    }
    if (value.storage.use_count() > 1) {
      auto own = value.clone();
      if (!own) return std::unexpected(own.error());
      value = std::move(*own);
    }
    // What snapshot kept of the old block has nowhere to go back to.
    std::erase_if(s.kept, [&](const auto& k) { return s.argumentBound[*i] && k.first == s.arguments[*i].data(); });
    s.arguments[*i] = std::move(value);
    s.argumentBound[*i] = true;
    s.prepared = false;
    return {};
  }
  auto i = positionOf(s.m().buffers, name);
  if (!i) return fail(Diag::UnknownName, name, suggest(name, s.names()));
  const BufferInfo& b = s.m().buffers[*i];
  if (auto r = s.checkBound(b.name, value, b.dtype, b.shape); !r) return r;
  if (value.bytes) std::memcpy(s.state.get() + b.offset, value.data(), value.bytes);
  s.bufferBound[*i] = true;
  if (b.isConst) s.onceDone = false;
  return {};
}

std::vector<std::string> Session::unboundArguments() const {
  std::vector<std::string> out;
  for (size_t i = 0; i < impl_->argumentBound.size(); ++i)
    if (!impl_->argumentBound[i]) out.push_back(impl_->m().arguments[i].name);
  return out;
}

std::vector<std::string> Session::unboundBuffers() const {
  std::vector<std::string> out;
  for (size_t i = 0; i < impl_->bufferBound.size(); ++i)
    if (!impl_->bufferBound[i]) out.push_back(impl_->m().buffers[i].name);
  return out;
}

Result<void> Session::run() {
  Impl& s = *impl_;
  if (!s.prepared)
    if (auto r = s.prepareAll(); !r) return r;
  if (!s.onceDone)
    if (auto r = s.runList(s.m().once, s.once, false); !r) return r;
  s.onceDone = true;
  return s.runList(s.m().launches, s.launches, s.timing);
}

Result<Tensor> Session::result(std::string_view name) const {
  auto i = positionOf(impl_->m().results, name);
  if (!i) return fail(Diag::UnknownName, name, "");
  const ResultInfo& r = impl_->m().results[*i];
  if (r.place.base == Base::Argument && !impl_->argumentBound[static_cast<size_t>(r.place.index)]) return argument(impl_->m().arguments[static_cast<size_t>(r.place.index)].name);
  return impl_->copyOut(r.dtype, r.shape, impl_->address(r.place));
}

Result<Tensor> Session::state(std::string_view name) const {
  auto i = positionOf(impl_->m().buffers, name);
  if (!i) return fail(Diag::UnknownName, name, suggest(name, impl_->names()));
  const BufferInfo& b = impl_->m().buffers[*i];
  return impl_->copyOut(b.dtype, b.shape, impl_->state.get() + b.offset);
}

Result<Tensor> Session::argument(std::string_view name) const {
  auto i = positionOf(impl_->m().arguments, name);
  if (!i) return fail(Diag::UnknownName, name, suggest(name, impl_->names()));
  const ArgumentInfo& a = impl_->m().arguments[*i];
  if (!impl_->argumentBound[*i]) return fail(Diag::Unbound, a.name, uop::name(a.dtype), shapeText(a.shape), a.name);
  return impl_->copyOut(a.dtype, a.shape, impl_->arguments[*i].data());
}

Result<void> Session::snapshot() {
  Impl& s = *impl_;
  s.kept.clear();
  auto keep = [&](DType dtype, const Shape& shape, std::byte* at) -> Result<void> {
    auto copy = s.copyOut(dtype, shape, at);
    if (!copy) return std::unexpected(copy.error());
    s.kept.emplace_back(at, std::move(*copy));
    return {};
  };
  for (const BufferInfo& b : s.m().buffers)
    if (!b.isConst)
      if (auto r = keep(b.dtype, b.shape, s.state.get() + b.offset); !r) return r;
  std::vector<bool> written(s.arguments.size());
  for (const Launch& l : s.m().launches)
    for (const LaunchArg& a : l.args) {
      if (a.kind != LaunchArg::Kind::Place || !a.write) continue;
      const Place& real = a.place.base == Base::Result ? s.m().results[static_cast<size_t>(a.place.index)].place : a.place;
      if (real.base == Base::Argument) written[static_cast<size_t>(real.index)] = true;
    }
  for (size_t i = 0; i < written.size(); ++i)
    if (written[i] && s.argumentBound[i])
      if (auto r = keep(s.m().arguments[i].dtype, s.m().arguments[i].shape, s.arguments[i].data()); !r) return r;
  return {};
}

void Session::restore() {
  for (auto& [at, copy] : impl_->kept)
    if (copy.bytes) std::memcpy(at, copy.data(), copy.bytes);
}

void Session::setTiming(bool on) { impl_->timing = on; }
std::span<const LaunchTime> Session::timings() const { return impl_->timing ? std::span<const LaunchTime>(impl_->times) : std::span<const LaunchTime>{}; }

}  // namespace uop
