// Writes the graph of a step as SVG: lanes are columns, and time runs down. An arrow between
// neighbouring lanes stays in the space between the two lanes. An arrow within a lane goes around
// the boxes that are between its two ends. Arrows are drawn before boxes, so that no arrow covers a
// text.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/graph/step_graph.h"
#include "core/text/shown.h"
#include "core/text/svg.h"

namespace tutti::core {
namespace {

constexpr double kMargin = 24;
constexpr double kTimes = 78;  ///< width of the left column, which has the start times
constexpr double kBoxWidth = 208, kBoxHeight = 38;
constexpr double kGutter = 96, kPitch = 58;
constexpr double kRight = 64;  ///< width of the space to the right of the last lane, which has
                               ///< arrows and repeat counts
constexpr double kMinimumWidth = 700;

const char* outline_of(StepGraph::Look look) {
  switch (look) {
    case StepGraph::Look::kForward: return palette::kSkyBlue;
    case StepGraph::Look::kBackward: return palette::kBlue;
    case StepGraph::Look::kCopy: return palette::kGrey;
    case StepGraph::Look::kUpdate: return palette::kGreen;
    case StepGraph::Look::kPack: return palette::kOrange;
    case StepGraph::Look::kExchange: return palette::kPurple;
    case StepGraph::Look::kEnd: return "#333333";
  }
  return "";
}
constexpr const char* kEdge = "#444444";
constexpr const char* kStreamEdge = "#b0b0b0";

/// Returns an upper bound on the width of a text in a common sans-serif font of 12 pixels.
double width_of(std::string_view text) {
  double width = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) width += 6.7;
  }
  return width;
}

class StepPicture {
 public:
  explicit StepPicture(const StepGraph& graph) : graph_(graph) {
    const double room = std::max(kMinimumWidth, lanes_end() + kRight) - 2 * kMargin;
    std::string line;
    for (std::size_t at = 0; at < graph.subtitle.size();) {
      const std::size_t end = std::min(graph.subtitle.find(' ', at), graph.subtitle.size());
      const std::string word = graph.subtitle.substr(at, end - at);
      if (!line.empty() && width_of(line + ' ' + word) > room)
        subtitle_.push_back(std::exchange(line, ""));
      line += (line.empty() ? "" : " ") + word;
      at = end + 1;
    }
    if (!line.empty()) subtitle_.push_back(line);
  }

  std::string draw() {
    picture_.add("<defs>\n" + arrowhead("dependency", kEdge) +
                 arrowhead("path", palette::kVermilion) + arrowhead("stream", kStreamEdge) +
                 "</defs>\n");
    headings();
    for (const StepGraph::Frame& frame : graph_.frames) draw(frame);
    for (const StepGraph::Arrow& arrow : graph_.arrows) {
      if (!arrow.on_path) draw(arrow);
    }
    for (const StepGraph::Arrow& arrow : graph_.arrows) {
      if (arrow.on_path) draw(arrow);
    }
    for (const StepGraph::Box& box : graph_.boxes) draw(box);
    const double bottom = legend();
    return picture_.document(std::ceil(width()), std::ceil(bottom + 14));
  }

 private:
  static std::string arrowhead(const char* name, const char* colour) {
    return fmt::format(
        "<marker id=\"{}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
        "markerHeight=\"7\" "
        "markerUnits=\"userSpaceOnUse\" orient=\"auto-start-reverse\"><path d=\"M0,0.6 L7.4,4 "
        "L0,7.4 z\" "
        "fill=\"{}\"/></marker>\n",
        name, colour);
  }

  [[nodiscard]] double left_of(std::int32_t lane) const {
    return kMargin + kTimes + lane * (kBoxWidth + kGutter);
  }
  [[nodiscard]] double top_of(std::int32_t row) const { return lanes_top() + 26 + row * kPitch; }
  [[nodiscard]] double lanes_top() const { return 71 + 15 * static_cast<double>(subtitle_.size()); }
  [[nodiscard]] double lanes_end() const {
    return left_of(static_cast<std::int32_t>(graph_.lanes.size()) - 1) + kBoxWidth;
  }
  [[nodiscard]] double width() const {
    double text = kMinimumWidth;
    for (const std::string& caption : graph_.captions)
      text = std::max(text, kMargin * 2 + width_of(caption) * 0.93);
    text = std::max(text, kMargin * 2 + width_of(graph_.title) * 1.35);
    return std::max(text, lanes_end() + kRight);
  }

  void headings() {
    picture_.text(kMargin, 30, graph_.title, " font-size=\"16\" font-weight=\"bold\"");
    double y = 50;
    for (const std::string& line : subtitle_) {
      picture_.text(kMargin, y, line, " fill=\"#555555\"");
      y += 15;
    }
    for (std::int32_t lane = 0; lane < std::ssize(graph_.lanes); ++lane) {
      picture_.text(left_of(lane) + kBoxWidth / 2, lanes_top(), graph_.lanes[lane],
                    " font-weight=\"bold\" fill=\"#333333\" text-anchor=\"middle\"");
      picture_.line(left_of(lane), lanes_top() + 8, left_of(lane) + kBoxWidth, lanes_top() + 8,
                    "#cccccc");
    }
    picture_.text(kMargin, lanes_top(), "starts at", " fill=\"#777777\" font-size=\"11\"");
  }

  void draw(const StepGraph::Frame& frame) {
    const double top = top_of(frame.first_row) - 10,
                 bottom = top_of(frame.last_row) + kBoxHeight + 6;
    picture_.add(
        fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"8\" "
                    "fill=\"#f7f7f7\" "
                    "stroke=\"#888888\" "
                    "stroke-dasharray=\"5 4\"/>\n",
                    left_of(0) - 12, top, lanes_end() - left_of(0) + 24, bottom - top));
    picture_.text(lanes_end() + 18, (top + bottom) / 2 + 4, fmt::format("×{}", frame.repeat),
                  " font-weight=\"bold\" fill=\"#555555\"");
  }

  void draw(const StepGraph::Box& box) {
    const double x = left_of(box.lane), y = top_of(box.row);
    const bool end = box.look == StepGraph::Look::kEnd;
    picture_.add(fmt::format(
        "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"{}\" "
        "fill=\"{}\" stroke=\"{}\" "
        "stroke-width=\"{}\"/>\n",
        as_xml(box.tooltip), x, y, kBoxWidth, kBoxHeight, end ? 19 : 4, fill_of(box.look),
        box.on_path ? palette::kVermilion : outline_of(box.look), box.on_path ? "2.4" : "1"));
    if (box.tasks > 1) {  // draw a pile of boxes
      picture_.add(
          fmt::format("<path d=\"M{:.1f},{:.1f} h{:.1f} v{:.1f}\" fill=\"none\" stroke=\"{}\"/>\n",
                      x + 5, y - 3, kBoxWidth - 2, kBoxHeight - 3, outline_of(box.look)));
    }
    picture_.text(x + kBoxWidth / 2, y + 16, box.title,
                  " text-anchor=\"middle\" font-weight=\"bold\"");
    picture_.text(x + kBoxWidth / 2, y + 31, box.detail,
                  " text-anchor=\"middle\" font-size=\"11\" fill=\"#333333\"");
    picture_.add("</g>\n");
    if (graph_.lanes[box.lane] == "compute stream")
      picture_.text(kMargin, y + 23, show(box.time.start), " fill=\"#777777\" font-size=\"11\"");
  }

  /// True if the lane has another box in a row between the two given rows.
  [[nodiscard]] bool passes(std::int32_t lane, std::int32_t above, std::int32_t below) const {
    return std::any_of(graph_.boxes.begin(), graph_.boxes.end(), [&](const StepGraph::Box& box) {
      return box.lane == lane && box.row > above && box.row < below;
    });
  }

  void draw(const StepGraph::Arrow& arrow) {
    const StepGraph::Box& from = graph_.boxes[arrow.from];
    const StepGraph::Box& to = graph_.boxes[arrow.to];
    const double x1 = left_of(from.lane), x2 = left_of(to.lane);
    std::string path;
    if (from.lane == to.lane && from.row < to.row && !passes(from.lane, from.row, to.row)) {
      path =
          fmt::format("M{0:.1f},{1:.1f} L{0:.1f},{2:.1f}", x1 + kBoxWidth / 2,
                      top_of(from.row) + kBoxHeight + 1, top_of(to.row) - (to.tasks > 1 ? 4 : 1));
    } else if (from.lane == to.lane) {
      // An arrow goes around the boxes between its two ends: on the right in the lane of packs, on
      // the left in the lane of computation.
      const bool right = from.lane + 1 == std::ssize(graph_.lanes) && from.lane > 0;
      const double side = right ? x1 + kBoxWidth + 1 : x1 - 1;
      const double out =
          side + (right ? 1 : -1) * std::min(34.0, 14.0 + 2.0 * std::abs(to.row - from.row));
      path = fmt::format("M{0:.1f},{1:.1f} C{2:.1f},{3:.1f} {2:.1f},{4:.1f} {0:.1f},{5:.1f}", side,
                         top_of(from.row) + 28, out, top_of(from.row) + 40, top_of(to.row) - 2,
                         top_of(to.row) + 11);
    } else {
      const bool to_right = to.lane > from.lane;
      const double begin = to_right ? x1 + kBoxWidth + 1 : x1 - 1;
      const double end = to_right ? x2 - 1 : x2 + kBoxWidth + 1;
      const double reach = (to_right ? 1 : -1) * kGutter * 0.55;
      const bool level = from.row == to.row;
      path = fmt::format(
          "M{:.1f},{:.1f} C{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}", begin,
          top_of(from.row) + (level ? 19 : 27), begin + reach, top_of(from.row) + (level ? 19 : 27),
          end - reach, top_of(to.row) + (level ? 19 : 12), end, top_of(to.row) + (level ? 19 : 12));
    }
    const bool stream = arrow.kind == StepGraph::Arrow::Kind::kStream;
    const char* name = arrow.on_path ? "path" : stream ? "stream" : "dependency";
    const char* colour = arrow.on_path ? palette::kVermilion : stream ? kStreamEdge : kEdge;
    picture_.add(
        fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{} "
                    "marker-end=\"url(#{})\"{}/>\n",
                    path, colour, arrow.on_path ? "2.4" : "1.1",
                    stream ? " stroke-dasharray=\"4 3\"" : "", name,
                    arrow.kind == StepGraph::Arrow::Kind::kAlternating
                        ? fmt::format(" marker-start=\"url(#{})\"", name)
                        : ""));
  }

  /// Draws the legend and the captions. Returns the y coordinate below the legend and the captions.
  double legend() {
    std::int32_t rows = 0;
    for (const StepGraph::Box& box : graph_.boxes) rows = std::max(rows, box.row + 1);
    double y = top_of(rows) + 6;
    double x = kMargin;
    const double end = width() - kMargin;
    picture_.line(kMargin, y - 16, end, y - 16, "#dddddd");
    const auto fits = [&](double length) {
      if (x + length > end && x > kMargin) x = kMargin, y += 22;
    };
    const auto word = [&](double symbol, const std::string& text) {
      picture_.text(x + symbol + 7, y + 4, text);
      x += symbol + 7 + width_of(text) + 16;
    };
    const std::vector<std::pair<StepGraph::Look, const char*>> looks{
        {StepGraph::Look::kForward, "forward"},     {StepGraph::Look::kBackward, "backward"},
        {StepGraph::Look::kCopy, "copies"},         {StepGraph::Look::kUpdate, "update"},
        {StepGraph::Look::kPack, "pack in flight"}, {StepGraph::Look::kExchange, "exchange"}};
    for (const auto& [look, name] : looks) {
      const auto has = [wanted = look](const StepGraph::Box& box) { return box.look == wanted; };
      if (std::none_of(graph_.boxes.begin(), graph_.boxes.end(), has)) continue;
      fits(30 + width_of(name));
      picture_.add(
          fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"18\" height=\"12\" rx=\"2\" "
                      "fill=\"{}\" stroke=\"{}\"/>\n",
                      x, y - 6, fill_of(look), outline_of(look)));
      word(18, name);
    }
    const auto arrow = [&](const char* name, const char* colour, const char* width,
                           const char* more, const std::string& text) {
      fits(48 + width_of(text));
      picture_.add(
          fmt::format("<path d=\"M{:.1f},{:.1f} h30\" stroke=\"{}\" stroke-width=\"{}\" "
                      "marker-end=\"url(#{})\"{}/>\n",
                      x, y, colour, width, name, more));
      word(30, text);
    };
    const auto has = [&](StepGraph::Arrow::Kind kind) {
      return std::any_of(graph_.arrows.begin(), graph_.arrows.end(),
                         [&](const StepGraph::Arrow& one) { return one.kind == kind; });
    };
    const bool path = std::any_of(graph_.boxes.begin(), graph_.boxes.end(),
                                  [](const StepGraph::Box& box) { return box.on_path; });
    if (path) arrow("path", palette::kVermilion, "2.4", "", "critical path");
    arrow("dependency", kEdge, "1.1", "", "starts after");
    if (has(StepGraph::Arrow::Kind::kAlternating))
      arrow("dependency", kEdge, "1.1", " marker-start=\"url(#dependency)\"",
            "runs one at a time, in this order");
    if (has(StepGraph::Arrow::Kind::kStream))
      arrow("stream", kStreamEdge, "1.1", " stroke-dasharray=\"4 3\"", "order of the stream");
    if (!graph_.frames.empty()) {
      const std::string text = "×n: the block runs n times, one iteration after the other";
      fits(38 + width_of(text));
      picture_.add(fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"24\" height=\"13\" rx=\"3\" fill=\"#f7f7f7\" "
          "stroke=\"#888888\" stroke-dasharray=\"4 3\"/>\n",
          x, y - 7));
      word(24, text);
    }
    y += 8;
    for (const std::string& caption : graph_.captions) {
      y += 17;
      picture_.text(kMargin, y, caption, " fill=\"#555555\" font-size=\"11\"");
    }
    return y;
  }

  const StepGraph& graph_;
  std::vector<std::string> subtitle_;  ///< lines of the subtitle
  SvgPicture picture_;
};

}  // namespace

const char* fill_of(StepGraph::Look look) {
  switch (look) {
    case StepGraph::Look::kForward: return "#d6ecfa";
    case StepGraph::Look::kBackward: return "#b3d4ea";
    case StepGraph::Look::kCopy: return "#e6e6e6";
    case StepGraph::Look::kUpdate: return "#bfe5d8";
    case StepGraph::Look::kPack: return "#fae3b3";
    case StepGraph::Look::kExchange: return "#f2dbe8";
    case StepGraph::Look::kEnd: return "#ffffff";
  }
  return "";
}

std::string to_svg(const StepGraph& graph) { return StepPicture(graph).draw(); }

}  // namespace tutti::core
