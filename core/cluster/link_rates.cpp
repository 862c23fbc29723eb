#include "core/cluster/link_rates.h"

#include <array>

namespace tutti::core {
namespace {

constexpr std::array<LaneRate, kNvlinkGenerations> kNvlink{{
    {Bandwidth(20'000'000'000), Bandwidth(18'000'000'000)},
    {Bandwidth(25'000'000'000), Bandwidth(20'000'000'000)},
    {Bandwidth(25'000'000'000), Bandwidth(20'000'000'000)},
    {Bandwidth(25'000'000'000), Bandwidth(20'600'000'000)},
    {Bandwidth(50'000'000'000), Bandwidth(40'100'000'000)},
}};

constexpr std::array<LaneRate, kPcieGenerations> kPcie{{
    {Bandwidth(250'000'000), Bandwidth(187'500'000)},
    {Bandwidth(500'000'000), Bandwidth(375'000'000)},
    {Bandwidth(984'615'384), Bandwidth(750'000'000)},
    {Bandwidth(1'969'230'769), Bandwidth(1'500'000'000)},
    {Bandwidth(3'938'461'538), Bandwidth(3'000'000'000)},
    {Bandwidth(7'562'500'000), Bandwidth(6'000'000'000)},
}};

}  // namespace

std::optional<LaneRate> lane_rate(LinkKind kind, int generation) {
  if (generation < 1) return std::nullopt;
  const auto index = static_cast<std::size_t>(generation) - 1;
  if (kind == LinkKind::kNvlink && index < kNvlink.size()) return kNvlink[index];
  if (kind == LinkKind::kPcie && index < kPcie.size()) return kPcie[index];
  return std::nullopt;
}

}  // namespace tutti::core
