#include "ir/program.h"

namespace uop {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += {'\\', c};
    else if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (c == '\r') out += "\\r";
    else if (byte < 32 || byte == 127) out += fmt::format("\\u{{{:x}}}", byte);
    else out += c;
  }
  return out + '"';
}

void appendPairs(std::string& out, std::span<const int64_t> flat) {
  out += '[';
  for (size_t i = 0; i < flat.size(); i += 2) out += fmt::format("{}[{},{}]", i ? "," : "", flat[i], flat[i + 1]);
  out += ']';
}

void appendAttr(std::string& out, const Graph& g, NodeId n, AttrKey key) {
  int64_t v = g.attr(n, key);
  out += fmt::format(" {}=", attrName(key));
  switch (attrType(key)) {
    case AttrType::Int:
    case AttrType::SignedInt: out += isUnsigned(g.dtype(n)) && key == AttrKey::Max ? std::to_string(static_cast<uint64_t>(v)) : std::to_string(v); break;
    case AttrType::DType: out += name(static_cast<DType>(v)); break;
    case AttrType::Dims: out += shapeText(g.listById(v)); break;
    case AttrType::Pairs: appendPairs(out, g.listById(v)); break;
    case AttrType::String: out += quoted(g.stringById(v)); break;
    case AttrType::Bool: out += v ? "true" : "false"; break;
    case AttrType::Space: out += kSpaceNames[static_cast<size_t>(v)]; break;
    case AttrType::Kind: out += kKindNames[static_cast<size_t>(v)]; break;
    case AttrType::ReduceOp: out += kReduceNames[static_cast<size_t>(v)]; break;
    case AttrType::Scalar: out += scalarText({static_cast<uint64_t>(v)}, g.dtype(n)); break;
  }
}

template <class IdOf>
void appendNode(std::string& out, const Graph& g, NodeId n, std::optional<std::string_view> tag, IdOf idOf) {
  out += fmt::format("%{} = {}", idOf(n), name(g.op(n)));
  for (NodeId s : g.srcs(n)) out += fmt::format(" %{}", idOf(s));
  const OpInfo& row = info(g.op(n));
  for (size_t i = 0; i < row.attrCount; ++i)
    if (g.hasAttr(n, row.attrs[i])) appendAttr(out, g, n, row.attrs[i]);
  if (tag) out += " tag=" + quoted(*tag);
  if (auto dotted = g.dotted(n); !dotted.empty()) out += fmt::format(" {}", dotted);
}

}  // namespace

std::string printProgram(const Program& p) {
  const Graph& g = p.graph;
  std::string out = "uop 1\n";
  std::vector<NodeId> number(g.size(), kNoNode);
  NodeId next = 0;
  auto roots = p.roots();
  for (NodeId n : postOrder(g, roots)) {
    number[n] = next++;
    appendNode(out, g, n, p.hasTag(n) ? std::optional(p.tag(n)) : std::nullopt, [&](NodeId s) { return number[s]; });
    out += '\n';
  }
  out += "return";
  for (const ResultDef& r : p.results) out += fmt::format(" {}=%{}", r.name, number[r.node]);
  return out + "\n";
}

std::string nodeText(const Graph& g, NodeId n) {
  std::string out;
  appendNode(out, g, n, std::nullopt, [](NodeId s) { return s; });
  return fmt::format("{} : {}{}", out, name(g.dtype(n)), shapeText(g.shape(n)));
}

}  // namespace uop
