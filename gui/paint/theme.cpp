#include "gui/paint/theme.h"

#include <cmath>

#include "core/plan/compute_kind.h"
#include "core/schedule/step.h"

namespace tutti::gui {

using core::ComputeKind;
using core::SpanKind;
using core::StepKind;

namespace {

constexpr Pixel kOrange = 0xffe69f00, kSky = 0xff56b4e9, kGreen = 0xff009e73, kYellow = 0xfff0e442,
                kBlue = 0xff0072b2, kVermilion = 0xffd55e00, kPurple = 0xffcc79a7,
                kGrey = 0xff999999;

/// Returns the appearance of spans on this background colour, by kind.
SpanLooks span_looks(Pixel background) {
  SpanLooks looks;
  looks.fill({kGrey, 0, 8});
  const auto set = [&looks](auto kind, SpanLook look) {
    looks[static_cast<std::size_t>(kind)] = look;
  };
  const auto compute = [&](ComputeKind kind, SpanLook look) {
    set(SpanKind::kFirstCompute + static_cast<int>(kind), look);
  };
  compute(ComputeKind::kForward, {kSky, 0, 8});
  compute(ComputeKind::kBackward, {kBlue, 0, 8});
  compute(ComputeKind::kUpdate, {kGreen, 0, 8});
  // Copies and conversions towards the pack fill the upper part of the row, those back from the
  // pack the lower part.
  compute(ComputeKind::kCopyIn, {kYellow, 0, 6});
  compute(ComputeKind::kCopyOut, {kYellow, 2, 8});
  compute(ComputeKind::kConvert, {kPurple, 0, 6});
  compute(ComputeKind::kConvertBack, {kPurple, 2, 8});
  compute(ComputeKind::kOperation, {kPurple, 0, 8});
  compute(ComputeKind::kHostGap, {kGrey, 3, 5});
  set(SpanKind::kPackInFlight, {kOrange, 0, 8});
  set(SpanKind::kChannel, {kOrange, 0, 8});
  set(SpanKind::kExchange, {kYellow, 0, 8});
  // Spans that send fill the upper part of the row, and spans that receive fill the lower part.
  // Spans that both send and receive fill the whole row.
  set(StepKind::kSend, {kOrange, 0, 6});
  set(StepKind::kMulticast, {kYellow, 0, 6});
  set(StepKind::kReceive, {kSky, 2, 8});
  set(StepKind::kReceiveAny, {kBlue, 2, 8});
  set(StepKind::kReceiveReduce, {kGreen, 2, 8});
  set(StepKind::kReceiveSend, {kPurple, 0, 8});
  set(StepKind::kReceiveReduceSend, {kVermilion, 0, 8});
  set(StepKind::kReceiveReduceCopySend, {kGreen, 0, 8});
  // Spans of schedule steps without a message fill the middle of the row.
  set(StepKind::kCopy, {kYellow, 2, 6});
  set(StepKind::kReduce, {kGreen, 2, 6});
  set(StepKind::kScale, {kPurple, 2, 6});
  set(StepKind::kUpdate, {kBlue, 2, 6});
  set(StepKind::kSwitchReduce, {kVermilion, 0, 6});
  for (SpanLook& look : looks) look.waiting = blend(background, look.colour, 0.4);
  return looks;
}

}  // namespace

const Theme& light_theme() {
  static const Theme theme{.background = 0xffffffff,
                           .band = 0xfff7f8fa,
                           .group = 0xffe9ecf1,
                           .text = 0xff1b1f24,
                           .faint_text = 0xff5c6470,
                           .line = 0xffd5d9e0,
                           .selection = 0xff111111,
                           .path = 0xffb3261e,
                           .load = 0xff7aa5c9,
                           .full_load = 0xffd55e00,
                           .longer = 0xffe08a4f,
                           .shorter = 0xff6fa8d6,
                           .sides = {0xff5f6874, 0xff8e44ad},
                           .mark = 0xff6a3d9a,
                           .cursor = 0xff006d4f,
                           .spans = span_looks(0xffffffff)};
  return theme;
}

const Theme& dark_theme() {
  static const Theme theme{.background = 0xff16191d,
                           .band = 0xff1b1f24,
                           .group = 0xff262b32,
                           .text = 0xffe6e9ee,
                           .faint_text = 0xff9aa3af,
                           .line = 0xff353b44,
                           .selection = 0xffffffff,
                           .path = 0xffff8a80,
                           .load = 0xff4d7da5,
                           .full_load = 0xffe69f00,
                           .longer = 0xffb3541e,
                           .shorter = 0xff2f6ea5,
                           .sides = {0xff9aa3af, 0xffc78be0},
                           .mark = 0xffc9a8f0,
                           .cursor = 0xff4fd6a8,
                           .spans = span_looks(0xff16191d)};
  return theme;
}

double contrast(Pixel a, Pixel b) {
  const auto luminance = [](Pixel colour) {
    const auto part = [&](int shift) {
      const double value = (colour >> shift & 0xff) / 255.0;
      return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * part(16) + 0.7152 * part(8) + 0.0722 * part(0);
  };
  const double one = luminance(a) + 0.05, other = luminance(b) + 0.05;
  return one > other ? one / other : other / one;
}

Pixel text_on(Pixel background) {
  constexpr Pixel kBlack = 0xff000000, kWhite = 0xffffffff;
  return contrast(background, kBlack) > contrast(background, kWhite) ? kBlack : kWhite;
}

Pixel blend(Pixel background, Pixel colour, double share) {
  const auto part = [&](int shift) {
    const double a = background >> shift & 0xff, b = colour >> shift & 0xff;
    return static_cast<Pixel>(std::lround(a + (b - a) * share)) << shift;
  };
  return 0xff000000 | part(16) | part(8) | part(0);
}

}  // namespace tutti::gui
