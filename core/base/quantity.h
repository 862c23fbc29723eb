#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace tutti::core {

// Parsing of numbers with a unit, such as "25MiB", "1.5ms" and "25GB/s". The name of a field ends
// with the field's unit (latency_us); values in other units are converted to the field's unit.

/// Returns the unit that a field's name states: "µs", "ms", "GB/s", "bytes", "%" or "TFLOP/s";
/// empty if the name states no unit.
std::string_view unit_of_field(std::string_view field);

/// True if `text` is a unit that may follow a number: B, KiB, MB, us, ms, GB/s, Gbit/s, ….
bool is_unit(std::string_view text);

/// True if `text` is a unit or a misspelled unit, such as "mb" or "Gbps".
bool resembles_unit(std::string_view text);

/// Removes the space that reports print between a number and its unit: "25 MiB" becomes "25MiB".
/// Other texts are returned unchanged.
std::string without_space(std::string_view written);

/// Converts a number with a unit to the unit of the field. Returns nullopt if `written` is not a
/// number with a unit, for example a plain number. ERRORS (texts): the unit and the field measure
/// different quantities. The error text suggests a correct unit or value.
tl::expected<std::optional<double>, std::string> in_unit_of(std::string_view field,
                                                            std::string_view written);

/// Returns a suffix for a message about a value that is not valid for the field. If a unit is
/// misspelled (25mb, 100Gbps), the suffix is of the form `; did you mean 25MB?`. Otherwise, if
/// values of the field may have units, the suffix is of the form `; write a size, such as …`. In
/// all other cases, the result is empty.
std::string quantity_hint(std::string_view field, std::string_view written);

}  // namespace tutti::core
