#include "core/schedule/reduction.h"

namespace tutti::core {

std::string_view to_string(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum: return "sum";
    case Reduction::kMean: return "mean";
    case Reduction::kMin: return "min";
    case Reduction::kMax: return "max";
    case Reduction::kProduct: return "prod";
  }
  return "";
}

}  // namespace tutti::core
