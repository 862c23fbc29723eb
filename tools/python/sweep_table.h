#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "tools/python/table.h"

namespace tutti::python {

struct SweepTable {
  std::vector<std::string> fields;  ///< names of the fields that vary
  /// A table with one row per completed point. The columns are `point`, one column for each field
  /// (numeric if all values are numbers), `status`, `message`, the times in microseconds (NaN if
  /// the point has no times), `packs` and `seed`.
  Table points;
};

/// Reads the file of a sweep. ERRORS: those of SweepStore::open() and SweepStore::each().
core::Expected<SweepTable> read_sweep(const std::string& path);

}  // namespace tutti::python
