#include "cmd/uopc/svg.h"

#include <graphviz/gvc.h>

#include <memory>

namespace uop::uopc {

Result<std::string> renderSvg(const std::string& dot) {
  std::unique_ptr<GVC_t, int (*)(GVC_t*)> context(gvContext(), gvFreeContext);
  std::unique_ptr<Agraph_t, int (*)(Agraph_t*)> graph(agmemread(dot.c_str()), agclose);
  if (!context || !graph) internalError("Graphviz does not read the graph");
  if (gvLayout(context.get(), graph.get(), "dot") != 0) return fail(Diag::Unsupported, "Graphviz cannot lay out the graph; use --dump-format=dot");
  char* data = nullptr;
  unsigned length = 0;
  int failed = gvRenderData(context.get(), graph.get(), "svg", &data, &length);
  std::string svg = failed ? "" : std::string(data, length);
  if (data) gvFreeRenderData(data);
  gvFreeLayout(context.get(), graph.get());
  if (failed) return fail(Diag::Unsupported, "Graphviz cannot write SVG here (its plugins are not installed); use --dump-format=dot");
  return svg;
}

std::string graphvizVersion() {
  std::unique_ptr<GVC_t, int (*)(GVC_t*)> context(gvContext(), gvFreeContext);
  return context ? gvcVersion(context.get()) : "";
}

}  // namespace uop::uopc
