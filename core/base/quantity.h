#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace tutti::core {

// Numbers with a unit, as people write them: "25MiB", "1.5ms", "25GB/s". Fields state their unit at
// the end of their names (latency_us), and a number with a unit is converted to it.

/// Returns the unit of a field by its name, as people read it: "µs", "ms", "GB/s", "bytes", "%",
/// "TFLOP/s"; "" if the name states none.
std::string_view unit_of_field(std::string_view field);

/// True if `text` is a unit that a number may have: B, KiB, MB, us, ms, GB/s, Gbit/s, ….
bool is_unit(std::string_view text);

/// Converts a number with a unit to the unit of the field; nullopt if `written` is no number with a
/// unit (a plain number, or something else).
/// ERRORS: the field counts something else; the text says how to write it.
tl::expected<std::optional<double>, std::string> in_unit_of(std::string_view field,
                                                            std::string_view written);

}  // namespace tutti::core
