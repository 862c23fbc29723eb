#pragma once

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gui/comparison/comparison.h"

namespace tutti::gui {

/// The parameters of a generated timeline.
struct Recipe {
  std::uint64_t seed = 1;
  int workers = 2;
  int steps = 3;
  int first_step = 0;
  std::vector<std::string> packs{"a", "b", "c", "d"};
  std::vector<std::string> layers{"l1", "l2", "l3"};
  std::string executor = "simulated";
  std::string strategy = "ring, mean";
  bool links = true;
  /// The maximum duration of a piece of computation. Packs take up to three times as long.
  int longest_us = 400;
};

/// Returns the file of a generated timeline. Its devices have computation, and overlapping packs in
/// two slots, each with the steps of two lanes.
std::string bytes_of(const Recipe& recipe);
std::shared_ptr<const Trace> trace_of(const std::string& bytes);
std::shared_ptr<const Trace> made(const Recipe& recipe);

inline constexpr std::array<Align, 3> kAll{Align::kStart, Align::kStep, Align::kPack};

Comparison comparison(const Recipe& a, const Recipe& b, Align align);
/// Returns pairs of recipes that differ in packs, layers, lengths or seeds.
std::vector<std::pair<Recipe, Recipe>> pairs();

/// Calls `take` for each span of a side with the row and the index in its source trace, the span as
/// stored in the file, and the span that shows it in the comparison.
template <class Take>
void for_each_span(const Comparison& b, std::size_t side, Take take) {
  std::map<std::pair<std::size_t, SpanRow::Index>, SpanId> shown;
  for (std::size_t r = 0; r < b.trace->rows().size(); ++r) {
    if (b.trace->rows()[r].side != side) continue;
    for (SpanRow::Index i = 0; i < b.trace->rows()[r].spans.size(); ++i) {
      const auto [source, own] = b.trace->parts()->origin({r, i});
      ASSERT_EQ(source, b.sources[side].get());
      ASSERT_TRUE(shown.emplace(std::pair(own.row, own.index), SpanId{r, i}).second)
          << "shown twice";
    }
  }
  for (std::size_t r = 0; r < b.sources[side]->rows().size(); ++r) {
    const auto spans = b.sources[side]->spans(r, 0, b.sources[side]->rows()[r].spans.size());
    ASSERT_TRUE(spans);
    for (SpanRow::Index i = 0; i < spans->size(); ++i) {
      ASSERT_TRUE(shown.contains({r, i})) << "not shown";
      take(b.sources[side]->rows()[r], SpanId{r, i}, (*spans)[i], shown.at({r, i}));
    }
  }
}

}  // namespace tutti::gui
