#include "core/schedule/violation.h"

#include <array>

namespace tutti::core {

std::string_view to_string(ViolationKind kind) {
  static constexpr std::array<std::string_view, static_cast<std::size_t>(ViolationKind::kCount)>
      kNames = {"deadlock", "untaken",   "no-such-lane", "outside", "never-written",
                "length",   "no-inputs", "twice",        "unlike",  "unheard",
                "race",     "wrong-sum", "wrong-element"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::ostream& operator<<(std::ostream& out, const Violation& violation) {
  return out << to_string(violation.kind) << ": " << violation.text;
}

}  // namespace tutti::core
