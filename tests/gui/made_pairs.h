#pragma once

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gui/comparison/comparison.h"

namespace tutti::gui {

/// What is to be made up.
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
  int longest_us = 400;  ///< of a piece of computation; packs take up to three times as long
};

/// The file of it: devices with computation, packs in two slots that overlap, each with the steps
/// of two lanes.
std::string bytes_of(const Recipe& recipe);
std::shared_ptr<const Trace> trace_of(const std::string& bytes);
std::shared_ptr<const Trace> made(const Recipe& recipe);

inline constexpr std::array<Align, 3> kAll{Align::kStart, Align::kStep, Align::kPack};

Comparison comparison(const Recipe& a, const Recipe& b, Align align);
/// Different packs, layers, lengths and seeds.
std::vector<std::pair<Recipe, Recipe>> pairs();

/// Calls with each span of a side: its own trace's row and number, as it is in its file, and where
/// it is shown.
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
