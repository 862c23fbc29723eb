#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/text/printable.h"

namespace tutti::real {

/// Length limits of texts from peers, in bytes.
inline constexpr std::size_t kLongestHostName = 253;  ///< limit of RFC 1035
inline constexpr std::size_t kLongestActivity = 200;
inline constexpr std::size_t kLongestStandstill = 600;
inline constexpr std::size_t kLongestNote = 1000;
inline constexpr std::size_t kLongestFailure = 4096;

/// Converts a text from another process to a form that is safe to print and at most `longest` bytes
/// long.
std::string peer_text(std::string_view text, std::size_t longest,
                      core::LineBreaks breaks = core::LineBreaks::kBecomeSpaces);

/// Returns true if the text can be an IPv4 address or the name of a host, because it consists of
/// letters, digits, '-', '_' and '.' only.
bool is_host_name(std::string_view text);

}  // namespace tutti::real
