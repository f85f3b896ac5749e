#include "cmd/uoprun/runner.h"

namespace uop::uoprun {
namespace {

class SessionRunner final : public Runner {
 public:
  explicit SessionRunner(Session session) : session_(std::move(session)) {
    const Manifest& m = session_.manifest();
    signature_ = {m.arguments, m.buffers, m.results};
  }
  const Signature& signature() const override { return signature_; }
  Result<void> bind(std::string_view name, Tensor value) override { return session_.bind(name, std::move(value)); }
  std::vector<std::string> unboundArguments() const override { return session_.unboundArguments(); }
  std::vector<std::string> unboundBuffers() const override { return session_.unboundBuffers(); }
  Result<void> run() override { return session_.run(); }
  Result<Tensor> result(std::string_view name) override { return session_.result(name); }
  Result<Tensor> state(std::string_view name) override { return session_.state(name); }
  Result<void> snapshot() override { return session_.snapshot(); }
  void restore() override { session_.restore(); }
  Session* session() override { return &session_; }

 private:
  Session session_;
  Signature signature_;
};

}  // namespace

Result<std::unique_ptr<Runner>> sessionRunner(const Artifact& artifact, int threads) {
  auto session = Session::create(artifact, {threads});
  if (!session) return std::unexpected(session.error());
  return std::make_unique<SessionRunner>(std::move(*session));
}

}  // namespace uop::uoprun
