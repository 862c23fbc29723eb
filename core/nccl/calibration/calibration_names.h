#pragma once

// The names that a calibration file uses for GPU generations and for connections between GPUs.

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "core/nccl/system.h"

namespace tutti::core::nccl {

inline constexpr std::array<std::pair<GpuGeneration, std::string_view>, 7> kGenerationNames = {
    {{GpuGeneration::kPascal, "pascal"},
     {GpuGeneration::kVolta, "volta"},
     {GpuGeneration::kTuring, "turing"},
     {GpuGeneration::kAmpere, "ampere"},
     {GpuGeneration::kAda, "ada"},
     {GpuGeneration::kHopper, "hopper"},
     {GpuGeneration::kBlackwell, "blackwell"}}};

inline constexpr std::array<std::pair<Inside, std::string_view>, 5> kInsideNames = {
    {{Inside::kAlone, "none"},
     {Inside::kNvswitch, "nvswitch"},
     {Inside::kPairs, "pairs"},
     {Inside::kCubeMesh, "cube_mesh"},
     {Inside::kPcie, "pcie"}}};

template <class Names, class Value>
constexpr std::string_view name_in(const Names& names, Value value) {
  for (const auto& [one, name] : names) {
    if (one == value) return name;
  }
  return "";
}
constexpr std::string_view name_of(GpuGeneration generation) {
  return name_in(kGenerationNames, generation);
}
constexpr std::string_view name_of(Inside inside) { return name_in(kInsideNames, inside); }

}  // namespace tutti::core::nccl
