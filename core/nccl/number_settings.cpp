#include "core/nccl/number_settings.h"

#include <cerrno>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

namespace tutti::core::nccl {
namespace {

constexpr int kWarp = 32;
constexpr std::int64_t kSlotsOfBuffer = 8;
constexpr std::int64_t kMovedAtOnce = 16;
/// The value with which NCCL represents "use the default".
constexpr std::int64_t kUnset = -2;

struct Read {
  std::int64_t value = 0;
  bool as_written = false;
};

/// Reads a number as strtoll does with base 0 (decimal, octal or hexadecimal). Text after the
/// number is ignored. If the text does not begin with a number, the result is 0. Returns nullopt if
/// the number does not fit into 64 bits.
std::optional<Read> read(const std::string& text) {
  errno = 0;
  char* end = nullptr;
  const std::int64_t value = std::strtoll(text.c_str(), &end, 0);
  if (errno != 0) return std::nullopt;
  return Read{value, end == text.c_str() + text.size() && text == fmt::format("{}", value)};
}

/// Returns the setting and NCCL's interpretation for messages: "NCCL_NTHREADS=1e2, which NCCL reads
/// as 1,".
std::string written(const std::string& name, const std::string& text, const Read& read) {
  const std::string set = fmt::format("{}={}", name, text);
  return read.as_written ? set : fmt::format("{}, which NCCL reads as {},", set, read.value);
}

/// Returns the number truncated to 32 bits, as NCCL stores it.
Read kept(const Read& read) {
  const std::int64_t value = static_cast<std::int32_t>(read.value);
  return {value, read.as_written && value == read.value};
}

bool is_of_ll(const std::string& name) { return name != "NCCL_BUFFSIZE"; }

/// Returns the minimum size of a buffer. With a smaller buffer, some chunks would be empty. Since
/// 2.22, LL128 transfers units of 1920 bytes, each of which occupies 2 KiB of a slot.
std::int64_t min_buffer(const std::string& name, Version version) {
  return name == "NCCL_LL128_BUFFSIZE" && version >= Version{2, 22, 0} ? 16384 : 4096;
}

}  // namespace

std::optional<std::int64_t> threads_as_taken(const std::string& name, const std::string& text,
                                             int least, int most, std::vector<std::string>& notes) {
  const auto whole = read(text);
  if (!whole) {
    notes.push_back(fmt::format("{}={} exceeds 64 bits, so NCCL uses its default", name, text));
    return std::nullopt;
  }
  const Read known = kept(*whole);
  const std::string what = written(name, text, known);
  const std::int64_t requested = known.value;
  if (requested <= 0) {
    notes.push_back(fmt::format("the setting {} is not positive, so NCCL uses its default", what));
    return std::nullopt;
  }
  const auto instead = [&](const std::string& why, int taken) {
    notes.push_back(fmt::format("{} is {}: NCCL takes {}", what, why, taken));
    return taken;
  };
  if (requested % kWarp != 0) return instead(fmt::format("no multiple of {}", kWarp), most);
  if (requested > most) return instead(fmt::format("above {}", most), most);
  if (requested < least) return instead(fmt::format("below {}", least), least);
  if (!known.as_written)
    notes.push_back(fmt::format("{}={}: NCCL reads {}", name, text, requested));
  return requested;
}

std::optional<std::int64_t> buffer_as_taken(const std::string& name, const std::string& text,
                                            Version version, std::vector<std::string>& notes,
                                            Problems& problems) {
  if (is_of_ll(name) && version < Version{2, 7, 0}) {
    notes.push_back(
        fmt::format("{}={}: NCCL {} does not have this variable", name, text, to_string(version)));
    return std::nullopt;
  }
  const auto known = read(text);
  if (!known || (known->value == kUnset && known->as_written)) {
    notes.push_back(fmt::format("{}={}: NCCL takes its default", name, text));
    return std::nullopt;
  }
  const std::string what = written(name, text, *known);
  const std::int64_t least = min_buffer(name, version);
  if (known->value > std::numeric_limits<std::int32_t>::max()) {
    problems.add(
        {ProblemCode::kTooLarge, name}, {},
        "the setting {} does not fit into 32 bits, which NCCL does not check; expected {} to "
        "{} bytes",
        what, least, std::numeric_limits<std::int32_t>::max());
    return std::nullopt;
  }
  if (known->value < least) {
    problems.add({ProblemCode::kTooSmall, name}, {},
                 "the setting {} is too small for a buffer with eight slots, which NCCL does not "
                 "check; expected at least {} bytes",
                 what, least);
    return std::nullopt;
  }
  const std::int64_t slot = known->value / kSlotsOfBuffer;
  if (known->value % (kSlotsOfBuffer * kMovedAtOnce) != 0) {
    notes.push_back(
        fmt::format("the setting {} makes the buffer's slots {} bytes long; NCCL accepts this, "
                    "although the size of a slot should be a multiple of {} bytes",
                    what, slot, kMovedAtOnce));
  } else if (!known->as_written) {
    notes.push_back(fmt::format("{}={}: NCCL reads {}", name, text, known->value));
  }
  return known->value;
}

}  // namespace tutti::core::nccl
