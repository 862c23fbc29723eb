#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/timeline/join.h"
#include "gui/comparison/alignment.h"
#include "gui/comparison/comparison_rows.h"
#include "gui/trace/trace.h"

namespace tutti::gui {

using ComparedTraces = std::array<std::shared_ptr<const Trace>, 2>;

/// Gives the trace of a comparison access to the two source traces.
class ComparisonParts : public TraceParts {
 public:
  ComparisonParts(ComparedTraces sources, Alignment alignment,
                  std::shared_ptr<const ComparisonRows> rows, core::Numbers packs,
                  std::array<std::string, 2> names, std::vector<std::string> differences)
      : sources_(std::move(sources)),
        alignment_(std::move(alignment)),
        rows_(std::move(rows)),
        packs_(std::move(packs)),
        names_(std::move(names)),
        differences_(std::move(differences)) {}

  [[nodiscard]] core::Expected<std::vector<core::Span>> spans(std::size_t row, SpanRow::Index first,
                                                              SpanRow::Index end) const override;
  [[nodiscard]] std::pair<const Trace*, SpanId> origin(SpanId span) const override {
    return {sources_[rows_->rows()[span.row].side].get(), rows_->origin(span)};
  }
  [[nodiscard]] SpanId place(std::size_t side, SpanId own) const override {
    return rows_->place(side, own);
  }
  [[nodiscard]] std::vector<SpanId> partners(SpanId span) const override;
  [[nodiscard]] Facts facts(SpanId span) const override;
  [[nodiscard]] Facts facts() const override;
  [[nodiscard]] const std::shared_ptr<const Trace>& source(std::size_t side) const override {
    return sources_[side];
  }
  [[nodiscard]] core::Time own(std::size_t side, core::Time shown) const override {
    return alignment_.delays[side].own(shown);
  }

 private:
  [[nodiscard]] std::vector<SpanId> of_pack(std::size_t side, const core::Track& like,
                                            std::int32_t step, std::int32_t pack,
                                            bool any_lane) const;
  [[nodiscard]] std::vector<SpanId> with_index(std::size_t side, const std::vector<SpanId>& own,
                                               std::optional<std::int64_t> index, int kind) const;
  [[nodiscard]] std::size_t lanes_in(const std::vector<SpanId>& own, std::size_t side) const;
  [[nodiscard]] std::optional<std::int64_t> index_of_layer(std::size_t from,
                                                           std::int64_t index) const;

  ComparedTraces sources_;
  Alignment alignment_;
  std::shared_ptr<const ComparisonRows> rows_;
  core::Numbers packs_;
  std::array<std::string, 2> names_;
  std::vector<std::string> differences_;
};

}  // namespace tutti::gui
