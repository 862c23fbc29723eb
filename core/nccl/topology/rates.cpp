#include "core/nccl/topology/rates.h"

#include <array>
#include <optional>
#include <utility>

namespace tutti::core::nccl {

namespace {

constexpr std::array<float, 13> kInside{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
constexpr std::array<float, 19> kAcross{48, 30, 28, 24, 20, 18,   15,   12,    10,   9,
                                        7,  6,  5,  4,  3,  2.4F, 1.2F, 0.24F, 0.12F};
constexpr std::array<float, 11> kInsideSm90{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
constexpr std::array<float, 17> kAcrossSm90{48, 45, 42, 40, 30,   24,   22,    20,   17.5F,
                                            15, 12, 6,  3,  2.4F, 1.2F, 0.24F, 0.12F};
constexpr std::array<float, 11> kInsideSm100{90, 80, 70, 60, 50, 40, 30, 24, 20, 19, 18};
constexpr std::array<float, 18> kAcrossSm100{96,    48, 45.1F, 42, 40, 30,   24,   22,    20,
                                             17.5F, 15, 12,    6,  3,  2.4F, 1.2F, 0.24F, 0.12F};

// The rate of one PCIe lane in units of 100 Mb/s, for each text with which the Linux kernel
// describes the speed (up to Linux 5.6, without " PCIe").
constexpr std::array<std::pair<std::string_view, int>, 10> kPcieSpeeds{{{"2.5 GT/s", 15},
                                                                        {"5 GT/s", 30},
                                                                        {"8 GT/s", 60},
                                                                        {"16 GT/s", 120},
                                                                        {"32 GT/s", 240},
                                                                        {"5.0 GT/s PCIe", 30},
                                                                        {"8.0 GT/s PCIe", 60},
                                                                        {"16.0 GT/s PCIe", 120},
                                                                        {"32.0 GT/s PCIe", 240},
                                                                        {"64.0 GT/s PCIe", 480}}};

std::optional<int> lane_rate(std::string_view speed) {
  for (const auto& [text, rate] : kPcieSpeeds) {
    if (speed.starts_with(text)) return rate;
  }
  return std::nullopt;
}

}  // namespace

float nvlink_gb_per_s(int sm) {
  if (sm >= 100) return 40.1F;
  if (sm >= 90) return 20.6F;
  if (sm == 86) return 12;
  if (sm >= 60 && sm < 70) return 18;
  return 20;
}

float socket_gb_per_s(const CpuFacts& cpu) {
  if (cpu.arch == CpuArch::kPower) return 32;
  if (cpu.arch == CpuArch::kArm) return 6;
  if (cpu.arch != CpuArch::kX86) return kLocGbPerS;
  switch (cpu.vendor) {
    case CpuVendor::kIntel:
      if (cpu.family != 6 || cpu.model < 0x55) return 6;  // Broadwell and older
      if (cpu.model < 0x8f) return 10;                    // Skylake to Ice Lake
      return cpu.model < 0xcf ? 22 : 40;                  // Sapphire Rapids; Emerald Rapids
    case CpuVendor::kAmd: return 16;
    case CpuVendor::kZhaoxin: return cpu.family == 7 && cpu.model == 0x5b ? 9 : 6;
    case CpuVendor::kOther: break;
  }
  return kLocGbPerS;
}

float pcie_gb_per_s(std::string_view speed, int lanes) {
  return static_cast<float>((lanes == 0 ? 16 : lanes) * lane_rate(speed).value_or(60) / 80.0);
}

bool is_pcie_speed(std::string_view speed) { return lane_rate(speed).has_value(); }

std::span<const float> channel_speeds(bool over_nodes, int min_sm) {
  if (min_sm >= 100) return over_nodes ? std::span<const float>(kAcrossSm100) : kInsideSm100;
  if (min_sm >= 90) return over_nodes ? std::span<const float>(kAcrossSm90) : kInsideSm90;
  return over_nodes ? std::span<const float>(kAcross) : kInside;
}

}  // namespace tutti::core::nccl
