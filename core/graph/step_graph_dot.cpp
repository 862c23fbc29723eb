#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/graph/step_graph.h"
#include "core/text/shown.h"

namespace tutti::core {
namespace {

/// Returns a text in double quotes, in the syntax of Graphviz.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : as_utf8(text)) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out + '"';
}

constexpr const char* kPathAttributes = "color=\"#d55e00\" penwidth=2.4";

}  // namespace

std::string to_dot(const StepGraph& graph) {
  std::string label = graph.title + "\n" + graph.subtitle;
  for (const std::string& caption : graph.captions) label += "\n" + caption;
  for (const StepGraph::Frame& frame : graph.frames)
    label +=
        fmt::format("\nRows {} to {} run {} times.", frame.first_row, frame.last_row, frame.repeat);
  std::string text = fmt::format(
      "digraph step {{\n  label={};\n  fontname=\"Helvetica\";\n  newrank=true;\n"
      "  node [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\", fontsize=11, "
      "color=\"#666666\"];\n"
      "  edge [color=\"#444444\"];\n",
      quoted(label));
  for (std::size_t lane = 0; lane < graph.lanes.size(); ++lane) {
    text += fmt::format("  subgraph cluster_{} {{\n    label={};\n    color=\"#cccccc\";\n", lane,
                        quoted(graph.lanes[lane]));
    for (std::size_t b = 0; b < graph.boxes.size(); ++b) {
      const StepGraph::Box& box = graph.boxes[b];
      if (box.lane != static_cast<std::int32_t>(lane)) continue;
      text += fmt::format("    b{} [label={}, tooltip={}, fillcolor=\"{}\"{}{}];\n", b,
                          quoted(box.title + "\n" + box.detail), quoted(box.tooltip),
                          fill_of(box.look), box.on_path ? ", " : "",
                          box.on_path ? "color=\"#d55e00\", penwidth=2.4" : "");
    }
    text += "  }\n";
  }
  for (const StepGraph::Arrow& arrow : graph.arrows) {
    text += fmt::format("  b{} -> b{}", arrow.from, arrow.to);
    std::string attributes = arrow.on_path ? kPathAttributes : "";
    const auto add = [&](const char* more) {
      attributes += (attributes.empty() ? "" : " ") + std::string(more);
    };
    if (arrow.kind == StepGraph::Arrow::Kind::kAlternating) add("dir=both");
    if (arrow.kind == StepGraph::Arrow::Kind::kStream) add("style=dashed");
    text += attributes.empty() ? ";\n" : fmt::format(" [{}];\n", attributes);
  }
  return text + "}\n";
}

}  // namespace tutti::core
