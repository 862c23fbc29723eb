#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "tools/python/table.h"

namespace tutti::python {

struct SweepTable {
  std::vector<std::string> fields;  ///< names of the fields that vary
  /// A row for each completed point: `point`, the fields (numbers if all values are), `status`,
  /// `message`, the times in microseconds (NaN where there are none), `packs`, `seed`.
  Table points;
};

/// Reads the file of a sweep. ERRORS: as SweepStore::open() and each().
core::Expected<SweepTable> read_sweep(const std::string& path);

}  // namespace tutti::python
