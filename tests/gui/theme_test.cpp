// Texts of the timeline are readable in both themes.

#include "gui/paint/theme.h"

#include <gtest/gtest.h>

namespace tutti::gui {
namespace {

constexpr double kReadable = 4.5;  // WCAG 2.1, level AA

TEST(Theme, ContrastMatchesTheGuidelinesFormula) {
  EXPECT_DOUBLE_EQ(contrast(0xff000000, 0xffffffff), 21);
  EXPECT_DOUBLE_EQ(contrast(0xff336699, 0xff336699), 1);
  EXPECT_NEAR(contrast(0xff767676, 0xffffffff), 4.54, 0.01) << "the faintest readable grey";
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
