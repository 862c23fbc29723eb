#include "core/base/quantity.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace tutti::core {
namespace {

enum class Dimension { kBytes, kTime, kRate };

struct Unit {
  std::string_view name;
  Dimension dimension;
  double scale;  ///< value of the unit in bytes, seconds or bytes per second
};
constexpr Unit kUnits[] = {
    {"B", Dimension::kBytes, 1},
    {"KB", Dimension::kBytes, 1e3},
    {"MB", Dimension::kBytes, 1e6},
    {"GB", Dimension::kBytes, 1e9},
    {"TB", Dimension::kBytes, 1e12},
    {"KiB", Dimension::kBytes, 1024.0},
    {"MiB", Dimension::kBytes, 1048576.0},
    {"GiB", Dimension::kBytes, 1073741824.0},
    {"TiB", Dimension::kBytes, 1099511627776.0},
    {"ns", Dimension::kTime, 1e-9},
    {"us", Dimension::kTime, 1e-6},
    {"µs", Dimension::kTime, 1e-6},
    {"ms", Dimension::kTime, 1e-3},
    {"s", Dimension::kTime, 1},
    {"KB/s", Dimension::kRate, 1e3},
    {"MB/s", Dimension::kRate, 1e6},
    {"GB/s", Dimension::kRate, 1e9},
    {"TB/s", Dimension::kRate, 1e12},
    {"Mbit/s", Dimension::kRate, 1e6 / 8},
    {"Gbit/s", Dimension::kRate, 1e9 / 8},
    {"Tbit/s", Dimension::kRate, 1e12 / 8},
};

const Unit* find_unit(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kUnits), std::end(kUnits),
                                         [&](const Unit& unit) { return unit.name == name; });
  return found == std::end(kUnits) ? nullptr : found;
}

/// Returns the unit in the field's name if values of the field may be written in other units;
/// otherwise null.
const Unit* convertible_unit(std::string_view field) {
  return find_unit(unit_of_field(field) == "bytes" ? "B" : unit_of_field(field));
}

const char* examples(Dimension dimension) {
  switch (dimension) {
    case Dimension::kBytes: return "a size, such as 64KiB, 25MiB or 1GB";
    case Dimension::kTime: return "a time, such as 500ns, 10us, 1.5ms or 2s";
    case Dimension::kRate: return "a rate, such as 25GB/s or 200Gbit/s";
  }
  return "";
}

/// Returns the unit that a misspelled unit probably means: "mb" is MB, and "Gbps" and "Gb/s" are
/// Gbit/s. Returns null if there is none.
const Unit* similar_unit(std::string_view written) {
  const auto lower = [](std::string_view name) {
    std::string text(name);
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return text;
  };
  std::string name = lower(written);
  // A lower-case b after an upper-case prefix stands for bits.
  if (written.size() == 4 && written.ends_with("b/s") && written[0] != name[0])
    name.replace(1, 1, "bit");
  if (name.ends_with("bps")) name.replace(name.size() - 2, 2, "it/s");
  const auto* const found =
      std::find_if(std::begin(kUnits), std::end(kUnits),
                   [&](const Unit& unit) { return lower(unit.name) == name; });
  return found == std::end(kUnits) ? nullptr : found;
}

}  // namespace

std::string quantity_hint(std::string_view field, std::string_view written) {
  const Unit* const own = convertible_unit(field);
  if (own == nullptr) return "";
  double value = 0;
  const char* const end = written.data() + written.size();
  const auto [stop, status] = std::from_chars(written.data(), end, value);
  if (status == std::errc() && stop != end) {
    const Unit* const unit = similar_unit({stop, static_cast<std::size_t>(end - stop)});
    if (unit != nullptr && unit->dimension == own->dimension)
      return fmt::format("; did you mean {}{}?",
                         written.substr(0, static_cast<std::size_t>(stop - written.data())),
                         unit->name);
  }
  return fmt::format("; write {}", examples(own->dimension));
}

std::string_view unit_of_field(std::string_view field) {
  constexpr std::pair<std::string_view, std::string_view> kEndings[] = {
      {"_us", "µs"},       {"_ms", "ms"},     {"gb_per_s", "GB/s"},
      {"_bytes", "bytes"}, {"_percent", "%"}, {"tflops", "TFLOP/s"}};
  for (const auto& [ending, unit] : kEndings) {
    if (field.ends_with(ending)) return unit;
  }
  return field.starts_with("bytes_per_") || field == "bytes" ? "bytes" : "";
}

bool is_unit(std::string_view text) { return find_unit(text) != nullptr; }

bool resembles_unit(std::string_view text) { return similar_unit(text) != nullptr; }

std::string without_space(std::string_view written) {
  const std::size_t space = written.find(' ');
  const bool quantity = space != std::string_view::npos && space > 0 && written[space - 1] >= '0' &&
                        written[space - 1] <= '9' && is_unit(written.substr(space + 1));
  std::string text(written);
  return quantity ? text.erase(space, 1) : text;
}

tl::expected<std::optional<double>, std::string> in_unit_of(std::string_view field,
                                                            std::string_view written) {
  double value = 0;
  const char* const end = written.data() + written.size();
  const auto [stop, status] = std::from_chars(written.data(), end, value);
  if (status != std::errc() || stop == end || !std::isfinite(value)) return std::nullopt;
  const Unit* const unit = find_unit({stop, static_cast<std::size_t>(end - stop)});
  if (unit == nullptr) return std::nullopt;
  const Unit* const own = convertible_unit(field);
  if (own == nullptr)
    return tl::make_unexpected(fmt::format(
        "{} has no unit, so {} cannot be converted; write a plain number", field, unit->name));
  if (own->dimension != unit->dimension)
    return tl::make_unexpected(fmt::format("{} is not {}", written, examples(own->dimension)));
  // The ratio of two units is a product of powers of ten and of two, divided by 8 if a unit counts
  // bits. The exact ratio is therefore a multiple of 1/8, and rounding to eighths removes the
  // floating-point error. Thus 1.5ms and 1500us give the same number.
  if (unit->scale >= own->scale) return value * (std::round(unit->scale / own->scale * 8) / 8);
  return value / (std::round(own->scale / unit->scale * 8) / 8);
}

}  // namespace tutti::core
