// Draws a picture from top to bottom. `y_` is the upper edge of the next row; each function that
// draws a row adds the row's height to `y_`. x() maps the last training step to the width of the
// picture. Spans are clipped to this step. To stay legible, the picture has at most 4 devices, 6
// rows of packs per device and 3 links, and GPUs come before CPUs. Blocks are not read if their
// spans are not drawn or end before the step begins. The time axis is drawn after the rows, because
// its vertical lines extend to the last row. Shapes and escaping are in core/text/svg.h.

#include "core/timeline/export_svg.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/plan/compute_kind.h"
#include "core/text/shown.h"
#include "core/text/svg.h"
#include "core/timeline/summary.h"

namespace tutti::core {
namespace {

constexpr double kWidth = 1200;
constexpr double kLeft = 150;
constexpr double kRight = 20;
constexpr double kRow = 18;
constexpr double kGap = 6;
constexpr int kMaxDevices = 4;
constexpr int kMaxPackRows = 6;
constexpr int kMaxLinks = 3;

constexpr const char* kForward = palette::kSkyBlue;
constexpr const char* kBackward = palette::kBlue;
constexpr const char* kOther = palette::kGrey;
constexpr const char* kUpdate = palette::kGreen;
constexpr const char* kPack = palette::kOrange;
constexpr const char* kPath = palette::kVermilion;
constexpr const char* kLoad = palette::kPurple;

const char* colour(std::int32_t kind) {
  if (kind >= SpanKind::kPackInFlight) return kPack;
  switch (static_cast<ComputeKind>(kind - SpanKind::kFirstCompute)) {
    case ComputeKind::kForward: return kForward;
    case ComputeKind::kBackward: return kBackward;
    case ComputeKind::kUpdate: return kUpdate;
    default: return kOther;
  }
}

class Drawing {
 public:
  explicit Drawing(const TimelineReader& timeline) : timeline_(timeline) {}

  Expected<std::string> draw() {
    if (timeline_.steps().empty())
      return fail("no training step ended in this timeline, so there is nothing to draw");
    start_ = timeline_.steps().back().start;
    end_ = timeline_.steps().back().end;
    if (auto read = read_spans(); !read) return tl::make_unexpected(read.error());
    if (rows_.empty())
      return fail("no computation or packs were recorded; simulate with --record packs or steps");
    heading();
    axis_top_ = y_;
    y_ += kRow;
    for (const Track* track : rows_) row(*track);
    path_row();
    link_rows();
    axis();
    legend();
    return picture_.document(kWidth, y_ + kGap);
  }

 private:
  tl::unexpected<Error> fail(const char* text) {
    return tl::make_unexpected(Error::request({ProblemCode::kMissing}, text));
  }

  /// Reads the spans of the last training step that are drawn: the computation and some of the
  /// packs of the first devices.
  Expected<void> read_spans() {
    std::map<std::pair<std::int32_t, std::string>, int> pack_rows;
    std::vector<const Track*> candidates;
    for (const Track& track : timeline_.tracks()) {
      if (track.kind != TrackKind::kLane) candidates.push_back(&track);
    }
    std::stable_sort(candidates.begin(), candidates.end(), [](const Track* a, const Track* b) {
      return std::tuple(a->worker, a->device.starts_with("cpu"), a->device.size(), a->device,
                        a->kind, a->slot) < std::tuple(b->worker, b->device.starts_with("cpu"),
                                                       b->device.size(), b->device, b->kind,
                                                       b->slot);
    });
    for (const Track* track : candidates) {
      const auto [count, fresh] = pack_rows.try_emplace({track->worker, track->device}, 0);
      if (static_cast<int>(pack_rows.size()) > kMaxDevices) break;
      if (track->kind == TrackKind::kPacks && count->second++ >= kMaxPackRows) continue;
      rows_.push_back(track);
    }
    std::set<TrackId> wanted;
    for (const Track* track : rows_) wanted.insert(track->id);
    for (const TimelineReader::SpanBlock& block : timeline_.span_blocks()) {
      if (!wanted.contains(block.track) || block.last_end < start_) continue;
      const auto spans = timeline_.read(block);
      if (!spans) return tl::make_unexpected(spans.error());
      for (const Span& span : *spans) {
        if (span.start < end_ && span.start + span.duration > start_)
          spans_[block.track].push_back(span);
      }
    }
    return {};
  }

  [[nodiscard]] double x(Time t) const {
    const double share = static_cast<double>((t - start_).count()) /
                         static_cast<double>(std::max<std::int64_t>(1, (end_ - start_).count()));
    return kLeft + std::clamp(share, 0.0, 1.0) * (kWidth - kLeft - kRight);
  }

  void box(Time from, Time to, double height, const char* fill, const std::string& title,
           const std::string& label = "") {
    const double left = x(from);
    const double width = std::max(0.4, x(to) - left);
    picture_.add(
        fmt::format("<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{:.1f}\" "
                    "fill=\"{}\"><title>{}</title></rect>\n",
                    left, y_, width, height, fill, as_xml(title)));
    if (!label.empty() && width > 8.0 * static_cast<double>(label.size()))
      picture_.text(left + 3, y_ + 13, label, " fill=\"white\"");
  }

  void heading() {
    const RunInfo& run = timeline_.run();
    const StepRecord& step = timeline_.steps().back();
    y_ = 20;
    picture_.text(10, y_,
                  fmt::format("{}: step {} of {}, {}", run.scenario, step.step, run.steps,
                              show(step.end - step.start)),
                  " font-size=\"15\" font-weight=\"bold\"");
    y_ += 17;
    picture_.text(10, y_,
                  fmt::format("{} · {} · {} · exposed communication {}", run.cluster, run.workload,
                              run.strategy, show(step.exposed)),
                  " fill=\"#555\"");
    y_ += 12;
  }

  void row(const Track& track) {
    const bool compute = track.kind == TrackKind::kCompute;
    if (compute) y_ += kGap;
    picture_.text(10, y_ + 13,
                  compute ? fmt::format("w{}/{} compute", track.worker, track.device)
                          : (track.slot == 0 ? "packs in flight" : ""),
                  compute ? "" : " fill=\"#555\" dx=\"12\"");
    for (const Span& span : spans_[track.id]) {
      const bool pack = span.kind == SpanKind::kPackInFlight;
      const std::string what = pack ? fmt::format("pack {}", span.pack) : span_name(span.kind);
      box(span.start, span.start + span.duration, kRow - 3, colour(span.kind),
          fmt::format("{}: {}", what, show(span.duration)),
          pack || span.kind == SpanKind::kFirstCompute ? what : "");
    }
    y_ += kRow;
  }

  void path_row() {
    if (timeline_.path().empty()) return;
    y_ += kGap;
    picture_.text(10, y_ + 13, "critical path", " font-weight=\"bold\"");
    for (const PathPiece& piece : timeline_.path()) {
      const bool pack = piece.kind == SpanKind::kPackInFlight;
      const std::string what = pack ? fmt::format("pack {} in flight", piece.pack)
                                    : fmt::format("{} on {}", span_name(piece.kind), piece.device);
      box(piece.start, piece.end, kRow - 3, pack ? kPath : colour(piece.kind),
          fmt::format("{}: {}", what, show(piece.end - piece.start)));
    }
    y_ += kRow;
  }

  void link_rows() {
    Summary summary;
    for (const LinkRecord& link : timeline_.links()) summary.link(link);
    int drawn = 0;
    for (const LinkRecord& link : summary.busiest_links()) {
      if (drawn == kMaxLinks) break;
      if (link.bins.empty() || link.bin_width.count() <= 0 || link.bandwidth.count() <= 0) continue;
      ++drawn;
      y_ += kGap;
      picture_.text(10, y_ + 13, link.name);
      const double full = static_cast<double>(link.bandwidth.count()) *
                          static_cast<double>(link.bin_width.count()) * 1e-12;
      std::string points = fmt::format("{:.1f},{:.1f}", kLeft, y_ + kRow);
      for (std::size_t bin = 0; bin < link.bins.size(); ++bin) {
        const Time from = static_cast<std::int64_t>(bin) * link.bin_width;
        if (from + link.bin_width < start_ || from > end_) continue;
        const double height =
            (kRow - 2) * std::clamp(static_cast<double>(link.bins[bin]) / full, 0.0, 1.0);
        points += fmt::format(" {:.1f},{:.1f} {:.1f},{:.1f}", x(from), y_ + kRow - height,
                              x(from + link.bin_width), y_ + kRow - height);
      }
      points += fmt::format(" {:.1f},{:.1f}", kWidth - kRight, y_ + kRow);
      picture_.add(
          fmt::format("<polygon points=\"{}\" fill=\"{}\"><title>load of {}; full height is "
                      "{}</title></polygon>\n",
                      points, kLoad, as_xml(link.name), show(link.bandwidth)));
      y_ += kRow;
    }
  }

  void axis() {
    const Time length = end_ - start_;
    const std::int64_t tick = round_step(length.count() / 8);
    for (std::int64_t t = 0; t <= length.count(); t += tick) {
      const double at = x(start_ + Time(t));
      picture_.add(
          fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\" "
                      "stroke=\"#ddd\" stroke-width=\"0.5\"/>\n",
                      at, axis_top_ + 14, y_));
      picture_.text(at, axis_top_ + 11, show(Time(t)),
                    " fill=\"#555\" font-size=\"10\" text-anchor=\"middle\"");
    }
  }

  void legend() {
    y_ += 22;
    double at = kLeft;
    const std::vector<std::pair<const char*, const char*>> entries{
        {kForward, "forward"}, {kBackward, "backward"}, {kPack, "pack in flight"},
        {kUpdate, "update"},   {kOther, "copies"},      {kPath, "pack on the critical path"},
        {kLoad, "link load"}};
    for (const auto& [fill, name] : entries) {
      picture_.add(
          fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n",
                      at, y_ - 10, fill));
      picture_.text(at + 16, y_, name);
      at += 34 + 7.0 * static_cast<double>(std::string_view(name).size());
    }
    y_ += 4;
  }

  const TimelineReader& timeline_;
  Time start_, end_;
  std::vector<const Track*> rows_;
  std::map<TrackId, std::vector<Span>> spans_;
  SvgPicture picture_;
  double y_ = 0;
  double axis_top_ = 0;
};

}  // namespace

Expected<std::string> export_svg(const TimelineReader& timeline) {
  return Drawing(timeline).draw();
}

}  // namespace tutti::core
