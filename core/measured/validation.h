#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/measured/collective_tables.h"
#include "core/measured/quality.h"
#include "core/nccl/calibration/spread.h"
#include "core/nccl/time/error_bands.h"
#include "core/nccl/time/parameters.h"
#include "core/nccl/tuning/choice.h"

namespace tutti::core::nccl {

/// A measurement and its prediction.
struct ValidatedRow {
  std::int64_t bytes = 0;
  double measured_us = 0;
  bool outlier = false;  ///< true if the table's record marks the row as an outlier; the statistics
                         ///< then ignore it
  double predicted_us = 0;
  ErrorBand band;                ///< error band of the prediction
  std::optional<Choice> choice;  ///< empty for sends and receives
};

struct ValidatedTable {
  const CollectiveTable* table = nullptr;
  std::vector<ValidatedRow> rows;  ///< empty if the table cannot be modelled
  std::string reason;  ///< the reason why the table cannot be modelled or is not counted, or why
                       ///< rows cannot be read; otherwise empty
  std::optional<ProblemKind> about;  ///< subject of the first reason
  std::vector<std::string> assumed;
  bool given = false;  ///< true if a calibration of its system uses the table; the statistics then
                       ///< ignore its rows
  Quality quality;     ///< quality of all rows except outliers
  BandQuality bands;
};

/// The statistics of a part of the tables.
struct ValidatedPart {
  std::string by;    ///< criterion of the division: "size", "collective", "GPU", "nodes"
  std::string name;  ///< "64 KiB to 1 MiB", …
  Quality quality;
  BandQuality bands;
};

struct Validation {
  std::vector<ValidatedTable> tables;
  /// The number of rows of healthy tables, without outliers, but including rows that cannot be
  /// read.
  std::size_t rows = 0;
  std::size_t outliers = 0;  ///< number of outliers in healthy tables
  /// The number of rows of tables that are not healthy or have no record. The statistics ignore
  /// them.
  std::size_t other_rows = 0;
  Quality overall;  ///< quality of the modelled rows; every config has the same weight
  BandQuality overall_bands;
  /// The statistics of the same rows without the calibration, if there is one.
  Quality overall_before;
  BandQuality overall_bands_before;
  std::vector<ValidatedPart> parts;
};

/// The tables with which predictions are calibrated. The calibration of a system corrects the
/// predictions for its other tables, and the statistics count only those tables.
struct CalibrateOn {
  std::vector<std::string> tables;  ///< table_id of each table
  Spread spread;
};

/// Predicts every row of every table from the table's facts alone. `bands` has the error bands.
/// REQUIRES: the tables outlive the result.
Validation validate(const std::vector<CollectiveTable>& tables, const Parameters& parameters,
                    const ErrorBands& bands);
/// Does the same with a calibration for each system that has tables in `given`. ERRORS: `given`
/// names an unknown table, or a table that cannot be modelled.
Expected<Validation> validate(const std::vector<CollectiveTable>& tables,
                              const Parameters& parameters, const ErrorBands& bands,
                              const CalibrateOn& given);

}  // namespace tutti::core::nccl
