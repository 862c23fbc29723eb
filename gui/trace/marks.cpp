#include "gui/trace/marks.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/text/bind.h"
#include "gui/proto/marks.pb.h"

namespace tutti::gui {

using core::Time;

core::Expected<Marks> Marks::read(const std::string& text, const std::string& path) {
  core::Problems problems;
  const core::Document document = core::parse_document(text, path, problems);
  proto::Marks written;
  core::SourceMap sources(path);
  core::bind(document.root, written, sources, problems);
  for (const proto::Mark& mark : written.mark()) {
    if (mark.from_ps() < 0)
      problems.add({core::ProblemCode::kTooSmall, "Mark.from_ps"}, sources.at(mark, "from_ps"),
                   "this mark is before the start of the run");
    if (mark.to_ps() != 0 && mark.to_ps() < mark.from_ps())
      problems.add({core::ProblemCode::kConflict, "Mark.to_ps"}, sources.at(mark, "to_ps"),
                   "to_ps {} is before from_ps {}", mark.to_ps(), mark.from_ps());
  }
  if (!problems.empty()) return problems.take();
  Marks marks;
  for (const proto::Mark& mark : written.mark()) {
    const Time from(mark.from_ps());
    marks.add({{from, mark.to_ps() == 0 ? from : Time(mark.to_ps())}, mark.text()});
  }
  return marks;
}

std::string Marks::write() const {
  proto::Marks written;
  for (const Mark& mark : all_) {
    proto::Mark& one = *written.add_mark();
    one.set_from_ps(mark.at.from.count());
    if (mark.at.to > mark.at.from) one.set_to_ps(mark.at.to.count());
    one.set_text(mark.text);
  }
  google::protobuf::TextFormat::Printer printer;
  printer.SetUseUtf8StringEscaping(true);
  std::string text;
  printer.PrintToString(written, &text);
  return text;
}

Marks Marks::merged(const Marks& base, const Marks& mine, const Marks& theirs) {
  const auto without = [](std::vector<Mark> from, const std::vector<Mark>& removed) {
    for (const Mark& mark : removed) {
      const auto there = std::find(from.begin(), from.end(), mark);
      if (there != from.end()) from.erase(there);
    }
    return from;
  };
  const std::vector<Mark> removed = without(base.all_, mine.all_),
                          added = without(mine.all_, base.all_);
  Marks result;
  for (const Mark& mark : without(theirs.all_, removed)) result.add(mark);
  for (const Mark& mark : without(added, without(theirs.all_, base.all_))) result.add(mark);
  return result;
}

std::size_t Marks::add(Mark mark) {
  const auto place =
      std::upper_bound(all_.begin(), all_.end(), mark,
                       [](const Mark& a, const Mark& b) { return a.at.from < b.at.from; });
  const auto there = all_.insert(place, std::move(mark));
  return static_cast<std::size_t>(there - all_.begin());
}

void Marks::remove(std::size_t i) {
  TUTTI_CHECK(i < all_.size(), "mark {} of {}", i, all_.size());
  all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
}

void Marks::rename(std::size_t i, std::string text) {
  TUTTI_CHECK(i < all_.size(), "mark {} of {}", i, all_.size());
  all_[i].text = std::move(text);
}

std::optional<std::size_t> Marks::next(Time t) const {
  if (all_.empty()) return std::nullopt;
  const auto mark =
      std::find_if(all_.begin(), all_.end(), [&](const Mark& m) { return m.at.from > t; });
  return mark == all_.end() ? 0 : static_cast<std::size_t>(mark - all_.begin());
}

std::optional<std::size_t> Marks::previous(Time t) const {
  if (all_.empty()) return std::nullopt;
  const auto mark =
      std::find_if(all_.rbegin(), all_.rend(), [&](const Mark& m) { return m.at.from < t; });
  return mark == all_.rend() ? all_.size() - 1 : static_cast<std::size_t>(all_.rend() - mark) - 1;
}

}  // namespace tutti::gui
