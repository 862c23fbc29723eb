// Texts of the timeline are readable in both themes.

#include "gui/paint/theme.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "core/plan/compute_kind.h"
#include "core/schedule/step.h"
#include "core/timeline/timeline.h"

namespace tutti::gui {
namespace {

constexpr double kReadable = 4.5;  // WCAG 2.1, level AA

TEST(Theme, ContrastMatchesTheGuidelinesFormula) {
  EXPECT_DOUBLE_EQ(contrast(0xff000000, 0xffffffff), 21);
  EXPECT_DOUBLE_EQ(contrast(0xff336699, 0xff336699), 1);
  EXPECT_NEAR(contrast(0xff767676, 0xffffffff), 4.54, 0.01) << "the faintest readable grey";
}

TEST(Theme, EveryStepThatMovesDataHasItsOwnLook) {
  using core::StepKind;
  for (const Theme* const theme : {&light_theme(), &dark_theme()}) {
    const SpanLook& unknown = theme->spans.back();
    std::set<std::tuple<Pixel, int, int>> looks;
    int kinds = 0;
    for (int kind = 0; kind <= static_cast<int>(StepKind::kSwitchReduce); ++kind) {
      if (kind == static_cast<int>(StepKind::kNop)) continue;  // takes no time
      const SpanLook& look = theme->spans[static_cast<std::size_t>(kind)];
      EXPECT_NE(look.colour, unknown.colour) << core::span_name(kind);
      looks.emplace(look.colour, look.from, look.to);
      ++kinds;
    }
    EXPECT_EQ(static_cast<int>(looks.size()), kinds);
    // Computation has rows of its own. Only gaps of the host are grey.
    looks.clear();
    constexpr int kComputations = static_cast<int>(core::ComputeKind::kHostGap);
    for (int kind = 0; kind < kComputations; ++kind) {
      const SpanLook& look =
          theme->spans[static_cast<std::size_t>(core::SpanKind::kFirstCompute + kind)];
      EXPECT_NE(look.colour, unknown.colour) << kind;
      looks.emplace(look.colour, look.from, look.to);
    }
    EXPECT_EQ(static_cast<int>(looks.size()), kComputations);
  }
}

TEST(Theme, EveryTextIsReadableOnItsBackground) {
  for (const Theme* const theme : {&light_theme(), &dark_theme()}) {
    const char* const name = theme == &light_theme() ? "light" : "dark";
    for (const Pixel background : {theme->background, theme->band, theme->group}) {
      for (const Pixel text : {theme->text, theme->faint_text})
        EXPECT_GE(contrast(text, background), kReadable) << name << std::hex << ' ' << text;
    }
    for (const Pixel text : {theme->path, theme->sides[0], theme->sides[1], theme->cursor})
      EXPECT_GE(contrast(text, theme->background), kReadable) << name << std::hex << ' ' << text;
    for (const SpanLook& look : theme->spans)
      EXPECT_GE(contrast(text_on(look.colour), look.colour), kReadable) << std::hex << look.colour;
  }
}

}  // namespace
}  // namespace tutti::gui
