#include "cmd/uopc/svg.h"

#include <graphviz/gvc.h>

#include <memory>

namespace uop::uopc {

namespace {

// One context for the process: Graphviz's text plugin remembers a font of the first context after that is freed, and reads
// it in the next.
GVC_t* graphviz() {
  static GVC_t* const context = gvContext();
  return context;
}

}  // namespace

Result<std::string> renderSvg(const std::string& dot) {
  GVC_t* context = graphviz();
  std::unique_ptr<Agraph_t, int (*)(Agraph_t*)> graph(agmemread(dot.c_str()), agclose);
  if (!context || !graph) internalError("Graphviz does not read the graph");
  if (gvLayout(context, graph.get(), "dot") != 0) return fail(Diag::Unsupported, "Graphviz cannot lay out the graph; use --dump-format=dot");
  char* data = nullptr;
  unsigned length = 0;
  int failed = gvRenderData(context, graph.get(), "svg", &data, &length);
  std::string svg = failed ? "" : std::string(data, length);
  if (data) gvFreeRenderData(data);
  gvFreeLayout(context, graph.get());
  if (failed) return fail(Diag::Unsupported, "Graphviz cannot write SVG here (its plugins are not installed); use --dump-format=dot");
  return svg;
}

std::string graphvizVersion() {
  return graphviz() ? gvcVersion(graphviz()) : "";
}

}  // namespace uop::uopc
